"""layers.py: the two layers against PyTorch's, against a loop over heads, and against their formulas."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from mha_course.attention import scaled_dot_product_attention
from mha_course.layers import MultiHeadAttention, SingleHeadAttention
from mha_course.masks import causal_mask, padding_mask

B, N_Q, N_K, D_MODEL, H = 2, 5, 7, 12, 3


def make_inputs(seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    draw = [torch.randn(B, n, D_MODEL, generator=g, dtype=torch.float64).to(dtype) for n in (N_Q, N_K)]
    return draw[0], draw[1]


def make_layer(seed: int = 1, dtype: torch.dtype = torch.float64, **options) -> MultiHeadAttention:
    torch.manual_seed(seed)
    layer = MultiHeadAttention(D_MODEL, H, **options).to(dtype)
    for p in layer.parameters():
        nn.init.normal_(p, std=0.4)
    return layer


def loop_over_heads(layer: MultiHeadAttention, query, key, mask=None) -> torch.Tensor:
    """The formula of the paper, head by head, with sliced weights: the independent reference."""
    total = 0 if layer.w_o.bias is None else layer.w_o.bias
    groups = layer.h // layer.n_kv_heads

    def cut(linear: nn.Linear, x: torch.Tensor, i: int, width: int) -> torch.Tensor:
        rows = slice(i * width, (i + 1) * width)
        y = x @ linear.weight[rows].T
        return y if linear.bias is None else y + linear.bias[rows]

    for i in range(layer.h):
        q = cut(layer.w_q, query, i, layer.d_k)
        k = cut(layer.w_k, key, i // groups, layer.d_k)
        v = cut(layer.w_v, key, i // groups, layer.d_v)
        scores = q @ k.transpose(1, 2) / layer.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        head = scores.softmax(-1) @ v
        total = total + head @ layer.w_o.weight[:, i * layer.d_v : (i + 1) * layer.d_v].T
    return total


@pytest.mark.parametrize(
    "options",
    [{}, {"bias": True}, {"d_k": 5, "d_v": 2}, {"n_kv_heads": 1, "bias": True}, {"d_v": 1}],
    ids=str,
)
@pytest.mark.parametrize("masked", [False, True])
def test_forward_trace_and_loop_agree(options, masked: bool) -> None:
    layer, (query, key) = make_layer(**options), make_inputs()
    mask = causal_mask(N_Q, N_K) if masked else None
    expected = loop_over_heads(layer, query, key, mask)
    trace = layer.trace(query, key, mask=mask)
    assert torch.allclose(layer(query, key, mask=mask), expected, atol=1e-12)
    assert torch.allclose(trace.output, expected, atol=1e-12)
    summed = trace.contributions.sum(dim=1) + (0 if trace.bias is None else trace.bias)
    assert torch.allclose(summed, expected, atol=1e-12)


def test_every_stage_has_its_name_and_shape() -> None:
    layer, (query, key) = make_layer(d_k=4, d_v=6), make_inputs()
    t = layer.trace(query, key)
    assert t.q.shape == (B, H, N_Q, 4)
    assert t.k.shape == (B, H, N_K, 4)
    assert t.v.shape == (B, H, N_K, 6)
    assert t.scores.shape == t.weights.shape == (B, H, N_Q, N_K)
    assert t.heads.shape == (B, H, N_Q, 6)
    assert t.concat.shape == (B, N_Q, H * 6)
    assert t.contributions.shape == (B, H, N_Q, D_MODEL)
    assert t.output.shape == (B, N_Q, D_MODEL)
    assert torch.allclose(t.weights, t.scores.softmax(-1))
    assert torch.allclose(t.heads, t.weights @ t.v)
    assert torch.equal(t.concat[1, 3, 6:12], t.heads[1, 1, 3])


def test_hidden_scores_are_minus_infinity_in_the_trace() -> None:
    layer, (query, key) = make_layer(), make_inputs()
    mask = causal_mask(N_Q, N_K)
    t = layer.trace(query, key, mask=mask)
    assert torch.equal(torch.isinf(t.scores[0, 1]), ~mask)
    assert (t.weights[0, 1][~mask] == 0).all()


@settings(max_examples=50, deadline=None)
@given(
    b=st.integers(1, 4),
    n=st.integers(1, 8),
    h=st.integers(1, 4),
    d_k=st.integers(1, 5),
    bias=st.booleans(),
    kind=st.sampled_from(["none", "causal", "padding", "both"]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 2**16),
)
def test_parity_with_torch_multihead_attention(b, n, h, d_k, bias, kind, dtype, seed) -> None:
    torch.manual_seed(seed)
    theirs = nn.MultiheadAttention(h * d_k, h, bias=bias, batch_first=True).to(dtype)
    for p in theirs.parameters():
        nn.init.normal_(p, std=0.5)
    ours = MultiHeadAttention.from_torch(theirs)
    x_ours = torch.randn(b, n, h * d_k, dtype=dtype, requires_grad=True)
    x_theirs = x_ours.detach().clone().requires_grad_()
    lengths = torch.randint(1, n + 1, (b,))
    padding = padding_mask(lengths, n)
    mask, blocked, blocked_keys = None, None, None
    if kind in ("causal", "both"):
        blocked = ~causal_mask(n)
        mask = causal_mask(n)[None, None]
    if kind in ("padding", "both"):
        blocked_keys = ~padding[:, 0, 0]
        mask = padding if mask is None else mask & padding
    y_theirs, weights = theirs(
        x_theirs,
        x_theirs,
        x_theirs,
        attn_mask=blocked,
        key_padding_mask=blocked_keys,
        need_weights=True,
        average_attn_weights=False,
    )
    y_ours, trace = ours(x_ours, mask=mask), ours.trace(x_ours, mask=mask)
    tolerance = 2e-4 if dtype == torch.float32 else 1e-10
    assert torch.allclose(y_ours, y_theirs, atol=tolerance)
    assert torch.allclose(trace.output, y_theirs, atol=tolerance)
    assert torch.allclose(trace.weights, weights, atol=tolerance)
    direction = torch.randn_like(y_ours)
    (y_ours * direction).sum().backward()
    (y_theirs * direction).sum().backward()
    assert torch.allclose(x_ours.grad, x_theirs.grad, atol=tolerance * 10)
    stacked = torch.cat([ours.w_q.weight.grad, ours.w_k.weight.grad, ours.w_v.weight.grad])
    assert torch.allclose(stacked, theirs.in_proj_weight.grad, atol=tolerance * 50)
    assert torch.allclose(ours.w_o.weight.grad, theirs.out_proj.weight.grad, atol=tolerance * 50)


def test_from_torch_keeps_mode_dropout_and_refuses_what_it_has_no_place_for() -> None:
    theirs = nn.MultiheadAttention(D_MODEL, H, dropout=0.2, batch_first=True).eval()
    ours = MultiHeadAttention.from_torch(theirs)
    assert ours.dropout == 0.2
    assert not ours.training
    with torch.no_grad():
        theirs.in_proj_weight.zero_()
    assert ours.w_q.weight.abs().sum() > 0
    for options in ({"kdim": 5}, {"vdim": 5}, {"add_bias_kv": True}, {"add_zero_attn": True}):
        with pytest.raises(ValueError, match="no counterpart"):
            MultiHeadAttention.from_torch(nn.MultiheadAttention(D_MODEL, H, **options))


def test_a_query_with_nothing_to_attend_to() -> None:
    layer, (query, key) = make_layer(), make_inputs()
    query.requires_grad_()
    mask = torch.ones(B, N_Q, N_K, dtype=torch.bool)
    mask[1, 3] = False
    for output in (layer(query, key, mask=mask), layer.trace(query, key, mask=mask).output):
        assert (output[1, 3] == 0).all()
        assert (output[1, 2] != 0).any()
        (gradient,) = torch.autograd.grad(output.pow(2).sum(), query)
        assert torch.isfinite(gradient).all()
        assert (gradient[1, 3] == 0).all()
        assert (gradient[1, 2] != 0).any()
    t = layer.trace(query, key, mask=mask)
    assert (t.weights[1, :, 3] == 0).all()


def test_gradients_of_both_paths_agree() -> None:
    layer, (query, key) = make_layer(bias=True), make_inputs()
    mask = torch.rand(B, H, N_Q, N_K, generator=torch.Generator().manual_seed(2)) < 0.5
    mask[0, 1, 2] = False
    gradients = []
    for output in (layer(query, key, mask=mask), layer.trace(query, key, mask=mask).output):
        gradients.append(torch.autograd.grad(output.pow(3).sum(), list(layer.parameters())))
    for fast, slow in zip(*gradients, strict=True):
        assert torch.allclose(fast, slow, atol=1e-9)


def test_defaults_of_key_and_value() -> None:
    layer, (query, key) = make_layer(), make_inputs()
    assert torch.equal(layer(query), layer(query, query, query))
    assert torch.equal(layer(query, key), layer(query, key, key))
    assert torch.equal(layer(query, value=2 * query), layer(query, query, 2 * query))


def test_order_of_tokens_does_not_matter_without_positions() -> None:
    layer, (query, _) = make_layer(), make_inputs()
    order = torch.tensor([3, 0, 4, 1, 2])
    assert torch.allclose(layer(query[:, order]), layer(query)[:, order], atol=1e-12)


def test_heads_may_change_places_together_with_their_rows_of_w_o() -> None:
    layer, (query, _) = make_layer(), make_inputs()
    before = layer(query)
    order = torch.tensor([2, 0, 1])
    rows = (order[:, None] * layer.d_k + torch.arange(layer.d_k)).flatten()
    with torch.no_grad():
        for linear in (layer.w_q, layer.w_k, layer.w_v):
            linear.weight.copy_(linear.weight[rows].clone())
        layer.w_o.weight.copy_(layer.w_o.weight[:, rows].clone())
    assert torch.allclose(layer(query), before, atol=1e-12)


def test_dropout_acts_in_training_only_and_never_on_the_reported_weights() -> None:
    layer, (query, _) = make_layer(dropout=0.5), make_inputs()
    calm = layer.eval()(query)
    assert torch.equal(layer(query), calm)
    layer.train()
    assert not torch.allclose(layer(query), calm)
    assert torch.allclose(layer.trace(query).weights.sum(-1), torch.ones(B, H, N_Q, dtype=torch.float64))


def test_one_head_equals_single_head_attention_with_w_o() -> None:
    _, (query, key) = make_layer(), make_inputs()
    torch.manual_seed(4)
    single = SingleHeadAttention(D_MODEL).double()
    many = MultiHeadAttention(D_MODEL, 1).double()
    many.load_state_dict(single.state_dict() | {"w_o.weight": many.w_o.weight})
    assert torch.allclose(many(query, key), many.w_o(single(query, key)), atol=1e-12)


def test_single_head_stages() -> None:
    torch.manual_seed(4)
    single = SingleHeadAttention(D_MODEL, d_k=4, d_v=6, bias=True).double()
    query, key = make_inputs()
    mask = causal_mask(N_Q, N_K)
    t = single.trace(query, key, mask=mask)
    assert t.q.shape == (B, N_Q, 4)
    assert t.k.shape == (B, N_K, 4)
    assert t.weights.shape == (B, N_Q, N_K)
    assert t.output.shape == (B, N_Q, 6)
    expected, weights = scaled_dot_product_attention(
        single.w_q(query), single.w_k(key), single.w_v(key), mask
    )
    assert torch.equal(t.output, expected)
    assert torch.equal(t.weights, weights)
    assert torch.isinf(t.scores[0][~mask]).all()
    assert torch.isfinite(t.scores[0][mask]).all()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: MultiHeadAttention(10, 3),
            "d_model=10 cannot be split into h=3 equal heads; h can be 1, 2, 5 or 10",
        ),
        (
            lambda: MultiHeadAttention(12, 6, n_kv_heads=4),
            "h=6 query heads cannot share n_kv_heads=4 .*1, 2, 3 or 6",
        ),
        (lambda: MultiHeadAttention(12, 3, d_k=0), "d_k=0"),
        (lambda: MultiHeadAttention(12, 3, n_kv_heads=0), "n_kv_heads=0"),
        (lambda: MultiHeadAttention(12, 3, dropout=1.0), "dropout=1.0"),
        (lambda: SingleHeadAttention(12, d_v=-1), "d_v=-1"),
        (lambda: SingleHeadAttention(0), "d_model=0"),
    ],
)
def test_impossible_layers_are_refused(make, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


@pytest.mark.parametrize(
    ("query", "key", "value", "says"),
    [
        ((5, 12), None, None, r"\(b, n, d_model\).*x\[None\]"),
        ((2, 5, 11), None, None, "11 features.*d_model=12"),
        ((2, 5, 12), (3, 7, 12), None, "batches of 2, 3 and 3"),
        ((2, 5, 12), (2, 7, 12), (2, 6, 12), "n_k=7, value has 6"),
        ((2, 5, 12), (2, 7, 13), None, "key has 13 features"),
    ],
)
@pytest.mark.parametrize("way", ["forward", "trace"])
@pytest.mark.parametrize("layer", [MultiHeadAttention(12, 3), SingleHeadAttention(12)], ids=["many", "one"])
def test_wrong_inputs_are_refused_by_name(query, key, value, says: str, way: str, layer: nn.Module) -> None:
    tensors = [None if shape is None else torch.zeros(shape) for shape in (query, key, value)]
    with pytest.raises(ValueError, match=says):
        getattr(layer, way)(*tensors)


def test_mixed_dtypes_are_refused_but_autocast_is_welcome() -> None:
    layer = MultiHeadAttention(12, 3)
    with pytest.raises(ValueError, match=r"float64.*float32"):
        layer(torch.zeros(2, 5, 12, dtype=torch.float64))
    with pytest.raises(ValueError, match="int64"):
        layer(torch.zeros(2, 5, 12, dtype=torch.long))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert layer(torch.zeros(2, 5, 12)).dtype == torch.bfloat16


def test_masks_of_every_rank_mean_the_same() -> None:
    layer, (query, key) = make_layer(), make_inputs()
    mask = torch.rand(N_Q, N_K, generator=torch.Generator().manual_seed(8)) < 0.7
    two = layer(query, key, mask=mask)
    assert torch.equal(layer(query, key, mask=mask.expand(B, N_Q, N_K)), two)
    assert torch.equal(layer(query, key, mask=mask.expand(B, H, N_Q, N_K)), two)
    with pytest.raises(ValueError, match=r"\(b, n_k\)"):
        layer(query, key, mask=torch.ones(B, N_K, dtype=torch.bool))


def test_printing_a_layer_names_its_sizes() -> None:
    assert "d_model=12, h=3, d_k=4, d_v=2, n_kv_heads=1" in repr(
        MultiHeadAttention(12, 3, d_v=2, n_kv_heads=1)
    )
