"""Encoder and decoder layers against PyTorch's own, on copied weights."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from mha_course.masks import causal_mask, padding_mask
from mha_course.transformer import Decoder, DecoderLayer, Encoder, EncoderLayer

B, N, N_SOURCE, D_MODEL, H, D_FF = 3, 5, 7, 12, 4, 20


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def torch_layer(kind: type, norm: str, bias: bool = True) -> nn.Module:
    torch.manual_seed(1)
    layer = kind(
        D_MODEL,
        H,
        D_FF,
        dropout=0.0,
        batch_first=True,
        norm_first=norm == "pre",
        bias=bias,
        dtype=torch.float64,
    )
    for parameter in layer.parameters():  # biases and norms start at 0 and 1, which would hide a swap
        nn.init.normal_(parameter, std=0.4)
    return layer


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_an_encoder_layer_gives_what_torch_gives(norm: str, bias: bool) -> None:
    theirs, x = torch_layer(nn.TransformerEncoderLayer, norm, bias), drawn(B, N, D_MODEL)
    ours = EncoderLayer.from_torch(theirs)
    open_ = padding_mask(torch.tensor([5, 2, 4]), N)
    hidden = ~open_[:, 0, 0]
    torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours(x, open_), theirs(x, src_key_padding_mask=hidden))
    causal = causal_mask(N)
    torch.testing.assert_close(ours(x, causal), theirs(x, src_mask=~causal))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_decoder_layer_gives_what_torch_gives(norm: str) -> None:
    theirs = torch_layer(nn.TransformerDecoderLayer, norm)
    ours = DecoderLayer.from_torch(theirs)
    y, memory = drawn(B, N, D_MODEL), drawn(B, N_SOURCE, D_MODEL, seed=2)
    open_ = padding_mask(torch.tensor([7, 3, 6]), N_SOURCE)
    future = ~causal_mask(N)
    torch.testing.assert_close(ours(y, memory), theirs(y, memory, tgt_mask=future))
    expected = theirs(y, memory, tgt_mask=future, memory_key_padding_mask=~open_[:, 0, 0])
    torch.testing.assert_close(ours(y, memory, memory_mask=open_), expected)
    everything = torch.ones(N, N, dtype=torch.bool)
    torch.testing.assert_close(ours(y, memory, mask=everything), theirs(y, memory))


def test_gradients_are_those_of_torch() -> None:
    theirs, x = torch_layer(nn.TransformerEncoderLayer, "post"), drawn(B, N, D_MODEL)
    ours = EncoderLayer.from_torch(theirs)
    ours(x).pow(3).sum().backward()
    theirs(x).pow(3).sum().backward()
    in_proj = torch.cat([getattr(ours.attention, name).weight.grad for name in ("w_q", "w_k", "w_v")])
    torch.testing.assert_close(in_proj, theirs.self_attn.in_proj_weight.grad)
    torch.testing.assert_close(ours.around_feed_forward.norm.weight.grad, theirs.norm2.weight.grad)
    torch.testing.assert_close(ours.feed_forward.w_1.weight.grad, theirs.linear1.weight.grad)


def test_stacks_give_what_torch_gives() -> None:
    layer = torch_layer(nn.TransformerEncoderLayer, "pre")
    theirs = nn.TransformerEncoder(
        layer, 3, nn.LayerNorm(D_MODEL, dtype=torch.float64), enable_nested_tensor=False
    )
    for i, parameter in enumerate(theirs.parameters()):
        nn.init.normal_(parameter, std=0.1 + 0.01 * i)
    ours = Encoder(3, D_MODEL, H, D_FF).double()
    ours.layers = nn.ModuleList(EncoderLayer.from_torch(each) for each in theirs.layers)
    ours.last_norm.load_state_dict(theirs.norm.state_dict())
    x = drawn(B, N, D_MODEL)
    torch.testing.assert_close(ours(x), theirs(x))


def test_post_norm_stacks_end_without_another_norm_and_pre_norm_ones_with_it() -> None:
    for stack in (Encoder, Decoder):
        assert isinstance(stack(2, D_MODEL, H, norm="post").last_norm, nn.Identity)
        assert isinstance(stack(2, D_MODEL, H, norm="pre").last_norm, nn.LayerNorm)


def test_another_activation_is_refused() -> None:
    with pytest.raises(ValueError, match="gelu"):
        EncoderLayer.from_torch(nn.TransformerEncoderLayer(D_MODEL, H, D_FF, activation="gelu"))
    with pytest.raises(ValueError, match="gelu"):
        DecoderLayer.from_torch(nn.TransformerDecoderLayer(D_MODEL, H, D_FF, activation="gelu"))


def test_mode_and_dropout_come_along() -> None:
    layer = nn.TransformerEncoderLayer(D_MODEL, H, D_FF, dropout=0.25, batch_first=True).eval()
    ours = EncoderLayer.from_torch(layer)
    assert not ours.training and ours.attention.dropout == 0.25 and ours.around_attention.dropout.p == 0.25
    ours.train()
    x = torch.ones(B, N, D_MODEL)
    assert not torch.equal(ours(x), ours(x))
