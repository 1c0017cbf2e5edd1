"""Every variant at one setting is the plain layer: outputs, gradients, masks; none looks into the future."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask, padding_mask
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.talking_heads import TalkingHeads

D_MODEL, H = 20, 4
B, N_Q, N_K = 3, 7, 6


def zero_routers(layer: MixtureOfHeads) -> MixtureOfHeads:
    with torch.no_grad():
        for router in (layer.router_shared, layer.router_routed, layer.router_types):
            if router is not None:
                router.weight.zero_()
    return layer


IDENTITIES: dict[str, Callable[[], MultiHeadAttention]] = {
    "collaborative": lambda: CollaborativeHeads(D_MODEL, H, bias=False),
    "overlapping": lambda: OverlappingHeads(D_MODEL, H, overlap=0),
    "talking": lambda: TalkingHeads(D_MODEL, H),
    "composable": lambda: DynamicallyComposableHeads(D_MODEL, H).identity(),
    "composable, not static": lambda: DynamicallyComposableHeads(D_MODEL, H, static=False, rank=3).identity(),
    "mixture, one shared": lambda: zero_routers(MixtureOfHeads(D_MODEL, H, 1, 3)),
    "mixture, none shared": lambda: zero_routers(MixtureOfHeads(D_MODEL, H, 0, 4)),
    "mixture, all shared": lambda: zero_routers(MixtureOfHeads(D_MODEL, H, 4, 0)),
}
OTHERS: dict[str, Callable[[], MultiHeadAttention]] = {
    "collaborative": lambda: CollaborativeHeads(D_MODEL, H, 9, mixing="normal", content_bias=True, bias=True),
    "overlapping": lambda: OverlappingHeads(D_MODEL, H, overlap=2, bias=True),
    "talking": lambda: TalkingHeads(D_MODEL, H, noise=0.5, bias=True),
    "composable": lambda: loud(DynamicallyComposableHeads(D_MODEL, H, bias=True)),
    "rotary composable": lambda: loud(DynamicallyComposableHeads(D_MODEL, H, d_k=6, rotary=500.0)),
    "mixture": lambda: MixtureOfHeads(D_MODEL, H, 1, 2, bias=True),
    "mixture of the paper": lambda: MixtureOfHeads(D_MODEL, H, 0, 2, "paper"),
}


def loud(layer: DynamicallyComposableHeads) -> DynamicallyComposableHeads:
    """Compositions as large as the maps they change."""
    with torch.no_grad():
        for part in (layer.before, layer.after):
            part.w_2 *= 20
            part.d *= 100
    return layer


def made(make: Callable[[], MultiHeadAttention], seed: int = 0) -> MultiHeadAttention:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return make().double()


def drawn(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def plain_like(layer: MultiHeadAttention) -> MultiHeadAttention:
    plain = MultiHeadAttention(D_MODEL, H).double()
    plain.load_state_dict({name: layer.state_dict()[name] for name in plain.state_dict()})
    return plain


@pytest.mark.parametrize("name", IDENTITIES)
@pytest.mark.parametrize("masked", [False, True])
def test_at_its_identity_it_is_the_plain_layer(name: str, masked: bool) -> None:
    layer = made(IDENTITIES[name])
    plain = plain_like(layer)
    x, y = drawn(B, N_Q, D_MODEL, seed=1), drawn(B, N_K, D_MODEL, seed=2)
    mask = padding_mask(torch.tensor([6, 1, 4]), N_K) if masked else None
    for got in (layer(x, y, mask=mask), layer.trace(x, y, mask=mask).output):
        assert torch.allclose(got, plain(x, y, mask=mask), atol=1e-9, rtol=0)
    weigh = drawn(B, N_Q, D_MODEL, seed=3)
    (layer(x, y, mask=mask) * weigh).sum().backward()
    (plain(x, y, mask=mask) * weigh).sum().backward()
    for parameter, expected in plain.named_parameters():
        got = layer.get_parameter(parameter).grad
        assert torch.allclose(got, expected.grad, atol=1e-9, rtol=0), parameter


@pytest.mark.parametrize("name", OTHERS)
def test_elsewhere_it_is_another_layer_and_both_ways_agree(name: str) -> None:
    layer = made(OTHERS[name])
    n_q = 5 if name.startswith("rotary") else N_Q
    x, y = drawn(B, n_q, D_MODEL, seed=1), drawn(B, N_K, D_MODEL, seed=2)
    mask = torch.rand(B, n_q, N_K, generator=torch.Generator().manual_seed(4)) < 0.6
    mask[1, 2] = False
    trace = layer.trace(x, y, mask=mask)
    assert torch.allclose(layer(x, y, mask=mask), trace.output, atol=1e-9, rtol=0)
    bias = 0 if trace.bias is None else trace.bias
    assert torch.allclose(trace.contributions.sum(1) + bias, trace.output, atol=1e-9)
    assert trace.q.shape[:3] == (B, H, n_q) and trace.weights.shape == (B, H, n_q, N_K)
    assert torch.allclose(trace.weights.sum(-1)[0], torch.ones(H, n_q, dtype=torch.float64))
    assert (trace.weights[1, :, 2] == 0).all() and (trace.heads[1, :, 2] == 0).all()
    assert (trace.weights[~mask[:, None].expand(-1, H, -1, -1)] == 0).all()
    widths = {"w_q", "w_k", "w_o"} & {
        part for part in ("w_q", "w_k", "w_o") if getattr(layer, part).weight.shape != (D_MODEL, D_MODEL)
    }
    if not widths:
        plain = MultiHeadAttention(D_MODEL, H, bias=layer.w_o.bias is not None).double()
        plain.load_state_dict({name: layer.state_dict()[name] for name in plain.state_dict()})
        assert not torch.allclose(plain(x, y, mask=mask), trace.output, atol=1e-3)
    layer(x, y, mask=mask).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in layer.parameters())


@pytest.mark.parametrize("name", OTHERS)
def test_the_future_never_changes_the_past(name: str) -> None:
    layer = made(OTHERS[name])
    x = drawn(B, N_Q, D_MODEL, seed=1)
    changed = x.clone()
    changed[:, 4:] = drawn(B, N_Q - 4, D_MODEL, seed=9)
    mask = causal_mask(N_Q)
    for way in (layer, lambda x, mask: layer.trace(x, mask=mask).output):
        before, after = way(x, mask=mask), way(changed, mask=mask)
        assert torch.allclose(before[:, :4], after[:, :4], atol=1e-12, rtol=0)
        assert not torch.allclose(before[:, 4:], after[:, 4:], atol=1e-3)


@pytest.mark.parametrize("name", OTHERS)
def test_it_refuses_what_the_plain_layer_refuses(name: str) -> None:
    layer = made(OTHERS[name])
    x = drawn(B, N_Q, D_MODEL, seed=1)
    for wrong in (x[0], x[..., :-1], x.float()):
        with pytest.raises(ValueError):
            layer(wrong)
    with pytest.raises(ValueError, match="mask"):
        layer(x, mask=torch.ones(N_Q, N_Q, dtype=torch.float64))
