"""Weight maps at other settings than the stored vectors: against the equations, written out once more here.

Weights are drawn at random under their authors' names. The expected numbers come from matrix products over
the names themselves, and use no layer of the course.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.masks import causal_mask
from mha_course.variants import weight_maps


def drawn(seed: int, dtype: torch.dtype = torch.float64, **shapes: tuple[int, ...]) -> dict[str, Tensor]:
    """Weights by name; "__" stands for a dot."""
    g = torch.Generator().manual_seed(seed)
    return {
        f"w.{name.replace('__', '.')}": 0.4 * torch.randn(shape, generator=g, dtype=torch.float64).to(dtype)
        for name, shape in shapes.items()
    }


def inputs(seed: int, n: int, d_model: int) -> Tensor:
    return torch.randn(2, n, d_model, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def by_head(x: Tensor, h: int) -> Tensor:
    return torch.stack(x.chunk(h, dim=-1), dim=1)


def side_by_side(heads: Tensor) -> Tensor:
    return torch.cat(list(heads.unbind(1)), dim=-1)


def softmaxed(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    return (scores if mask is None else scores.masked_fill(~mask, float("-inf"))).softmax(-1)


def near(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and bool(((a - b).abs() < 1e-10).all())


@pytest.mark.parametrize(
    ("h", "shared", "chosen", "head_dim", "bias"),
    [(6, 2, 3, 4, True), (5, 1, 2, 3, True), (4, 0, 3, 5, False), (3, 3, 0, 6, True), (5, 3, 1, 2, False)],
)
@pytest.mark.parametrize("gates", ["code", "paper"])
def test_mixtures(h: int, shared: int, chosen: int, head_dim: int, bias: bool, gates: str) -> None:
    d_model, routed, width = 9, h - shared, h * head_dim
    shapes = {"qkv__weight": (3 * width, d_model), "proj__weight": (d_model, width), "proj__bias": (d_model,)}
    if bias:
        shapes["qkv__bias"] = (3 * width,)
    if chosen:
        shapes["wg__weight"] = (routed, d_model)
    if chosen and shared:
        shapes["wg_0__weight"] = (2, d_model)
    if shared > 1:
        shapes["wg_1__weight"] = (shared, d_model)
    w, x = drawn(h + shared, **shapes), inputs(3, 7, d_model)
    q, k, v = (by_head(part, h) for part in F.linear(x, w["w.qkv.weight"], w.get("w.qkv.bias")).chunk(3, -1))
    heads = (q @ k.transpose(-2, -1) / head_dim**0.5).softmax(-1) @ v
    code, parts, types = gates == "code", [], torch.ones(2, 7, 2, dtype=x.dtype)
    if shared and chosen:
        types = (x @ w["w.wg_0.weight"].T).softmax(-1) * (2 if code else 1)
    if shared:
        own = torch.ones(2, 7, 1, dtype=x.dtype)
        if shared > 1:
            own = (x @ w["w.wg_1.weight"].T).softmax(-1) * (shared if code else 1)
        parts.append(types[..., :1] * own)
    if chosen:
        probabilities = (x @ w["w.wg.weight"].T).softmax(-1)
        least = probabilities.sort(-1, descending=True).values[..., chosen - 1 : chosen]
        own = probabilities * (probabilities >= least)
        parts.append(types[..., 1:] * (chosen * own / own.sum(-1, keepdim=True) if code else own))
    gated = heads * torch.cat(parts, -1).transpose(1, 2)[..., None]
    expected = F.linear(side_by_side(gated), w["w.proj.weight"], w["w.proj.bias"])
    layer = weight_maps.mixture_from_authors(w, h, chosen, gates)
    assert (layer.shared, layer.d_k) == (shared, head_dim)
    assert near(layer(x), expected) and near(layer.trace(x).output, expected)


def test_a_mixture_with_the_wrong_settings_is_refused() -> None:
    w = drawn(1, qkv__weight=(36, 12), proj__weight=(12, 12), wg__weight=(4, 12), wg_1__weight=(2, 12))
    with pytest.raises(ValueError, match="2 shared and 2 chosen heads needs wg_0"):
        weight_maps.mixture_from_authors(w, 6, 2)
    with pytest.raises(ValueError, match="0 shared and 2 chosen heads has no use for wg_1"):
        weight_maps.mixture_from_authors(w, 4, 2)


@pytest.mark.parametrize(
    ("h", "width", "dense"), [(3, 12, False), (3, 7, True), (4, 20, True), (2, 1, False)]
)
@pytest.mark.parametrize("own_width", [None, 5])
def test_collaborative_heads(h: int, width: int, dense: bool, own_width: int | None) -> None:
    d_model, d_v = 12, 12 // h
    shapes = {
        "query__weight": (width, d_model), "key__weight": (width, d_model), "mixing": (h, width),
        "content_bias__weight": (h, d_model), "value__weight": (h * d_v, d_model), "value__bias": (h * d_v,),
    }  # fmt: skip
    if dense:
        shapes |= {"dense__weight": (d_model, h * d_v), "dense__bias": (d_model,)}
    w, x, y = drawn(width, **shapes), inputs(4, 5, d_model), inputs(5, 8, d_model)
    q, k = x @ w["w.query.weight"].T, y @ w["w.key.weight"].T
    scores = torch.einsum("btr,ir,bsr->bits", q, w["w.mixing"], k)
    scores = scores + (y @ w["w.content_bias.weight"].T).transpose(1, 2)[:, :, None]
    scores = scores / (width / h if own_width is None else own_width) ** 0.5
    mask = torch.rand(2, 5, 8, generator=torch.Generator().manual_seed(6)) > 0.3
    mask[..., 0] = True
    v = by_head(F.linear(y, w["w.value.weight"], w["w.value.bias"]), h)
    expected = side_by_side(softmaxed(scores, mask[:, None]) @ v)
    if dense:
        expected = F.linear(expected, w["w.dense.weight"], w["w.dense.bias"])
    layer = weight_maps.collaborative_from_authors(w, "w.", own_width)
    assert near(layer(x, y, mask=mask), expected) and near(layer.trace(x, y, mask=mask).output, expected)


@pytest.mark.parametrize(("h", "each", "overlap"), [(3, 4, 0), (4, 3, 1), (2, 5, 3), (3, 2, 2)])
def test_overlapping_heads(h: int, each: int, overlap: int) -> None:
    d_model, wide = 11, each + 2 * overlap
    w = drawn(
        each,
        to_qkv__weight=(3 * h * each, d_model),
        to_out__0__weight=(d_model, h * wide),
        to_out__0__bias=(d_model,),
    )
    x = inputs(7, 6, d_model)
    padded = F.pad(torch.stack((x @ w["w.to_qkv.weight"].T).chunk(3, -1)), (overlap, overlap))
    q, k, v = torch.stack([padded[..., i * each : i * each + wide] for i in range(h)], dim=2)
    heads = (q @ k.transpose(-2, -1) * each**-0.5).softmax(-1) @ v
    layer = weight_maps.overlapping_from_authors(w, h)
    assert (layer.overlap, layer.own) == (overlap, each)
    assert near(layer(x), F.linear(side_by_side(heads), w["w.to_out.0.weight"], w["w.to_out.0.bias"]))


@pytest.mark.parametrize("masked", [False, True])
def test_talking_heads(masked: bool) -> None:
    h, each, d_model = 3, 5, 8
    w = drawn(
        9, to_q__weight=(15, d_model), to_kv__weight=(30, d_model), mix_heads_pre_attn=(h, h),
        mix_heads_post_attn=(h, h), to_out__0__weight=(d_model, 15), to_out__0__bias=(d_model,),
    )  # fmt: skip
    x, y = inputs(8, 6, d_model), inputs(9, 10, d_model)
    q, (k, v) = (
        by_head(x @ w["w.to_q.weight"].T, h),
        (by_head(part, h) for part in (y @ w["w.to_kv.weight"].T).chunk(2, -1)),
    )
    mask = causal_mask(6, 10) if masked else None
    raw = q @ k.transpose(-2, -1) * each**-0.5
    weights = softmaxed(torch.einsum("bits,ij->bjts", raw, w["w.mix_heads_pre_attn"]), mask)
    heads = torch.einsum("bits,ij->bjts", weights, w["w.mix_heads_post_attn"]) @ v
    expected = F.linear(side_by_side(heads), w["w.to_out.0.weight"], w["w.to_out.0.bias"])
    assert near(weight_maps.talking_from_authors(w)(x, y, mask=mask), expected)


@pytest.mark.parametrize("static", [None, "added", "alone", "twice", "sw"])
@pytest.mark.parametrize(("h", "rank", "inner"), [(4, 2, 16), (3, 3, 12)])
def test_composable_heads(static: str | None, h: int, rank: int, inner: int) -> None:
    each, d_model = 4, 4 * h
    w = drawn(
        10, wqkv__weight=(3 * d_model, d_model), wo__weight=(d_model, d_model), dw1=(d_model, 1, 4, inner),
        qkw=(1, 4, inner, 2 * rank, h), dd=(d_model, 1, 4 * h),
    )  # fmt: skip
    one, other = drawn(11, pre=(1, h, h), post=(1, h, h)).values()
    eye = torch.eye(h, dtype=torch.float64)
    based = {None: 1, "added": 1, "alone": 0, "twice": 2, "sw": 0}[static] * eye
    if static == "sw":
        w["w.sw"] = torch.cat([one, other])
    elif static:
        w |= {"w.pre_proj.w": one, "w.post_proj.w": other}
    x, mask = inputs(12, 6, d_model), causal_mask(6, 6)
    hidden = F.gelu(torch.einsum("btd,dgck->btgck", x, w["w.dw1"]))
    w_1, w_2 = torch.einsum("btgck,gckim->btcim", hidden, w["w.qkw"]).chunk(2, dim=-2)
    w_1 = w_1 / (w_1.square().mean(-1, keepdim=True) + 1e-6).sqrt()
    gates = torch.diag_embed(torch.tanh(x @ w["w.dd"][:, 0]).view(2, 6, 4, h))
    sides = torch.einsum("btcim,btcin->btcmn", w_1, w_2) + gates

    def composed(maps: Tensor, first: int, w_b: Tensor) -> Tensor:
        pairs = w_b + sides[:, :, None, first] + sides[:, None, :, first + 1]
        return torch.einsum("bmts,btsmn->bnts", maps, pairs)

    q, k, v = (by_head(part, h) for part in (x @ w["w.wqkv.weight"].T).chunk(3, -1))
    bases = [based + part[0] * (static is not None) for part in (one, other)]
    weights = softmaxed(composed(q @ k.transpose(-2, -1) * each**-0.5, 0, bases[0]), mask)
    expected = side_by_side(composed(weights, 2, bases[1]) @ v) @ w["w.wo.weight"].T
    kinds = static if static in ("added", "alone", "twice") else "added"
    layer = weight_maps.composable_from_authors(w, rotary=None, static=kinds)
    assert near(layer(x, mask=mask), expected)
    merged = {
        name.replace("w.", "w.dyn_w_proj.", 1) if name[2] in "dqps" else name: t for name, t in w.items()
    }
    merged["w.dyn_w_proj.dw_m"] = torch.zeros(1)
    assert near(weight_maps.composable_from_authors(merged, None, kinds)(x, mask=mask), expected)


@pytest.mark.parametrize(("h", "n_kv", "each"), [(6, 3, 4), (4, 1, 6), (2, 2, 8)])
def test_grouped_heads_and_both_layouts_of_pairs(h: int, n_kv: int, each: int) -> None:
    d_model, base = 10, 1_000.0
    w = drawn(
        13, q_proj__weight=(h * each, d_model), k_proj__weight=(n_kv * each, d_model),
        v_proj__weight=(n_kv * each, d_model), o_proj__weight=(d_model, h * each),
    )  # fmt: skip
    x = inputs(14, 7, d_model)
    angles = torch.outer(torch.arange(7.0).double(), base ** (-torch.arange(0, each, 2).double() / each))
    turn = torch.polar(torch.ones_like(angles), angles)

    def turned(heads: Tensor) -> Tensor:
        real, imaginary = heads.chunk(2, -1)
        made = torch.complex(real, imaginary) * turn
        return torch.cat([made.real, made.imag], -1)

    q = turned(by_head(x @ w["w.q_proj.weight"].T, h))
    k = turned(by_head(x @ w["w.k_proj.weight"].T, n_kv)).repeat_interleave(h // n_kv, 1)
    v = by_head(x @ w["w.v_proj.weight"].T, n_kv).repeat_interleave(h // n_kv, 1)
    weights = softmaxed(q @ k.transpose(-2, -1) / each**0.5, causal_mask(7, 7))
    expected = side_by_side(weights @ v) @ w["w.o_proj.weight"].T
    layer = weight_maps.grouped_from_llama(w, h, base)
    assert (layer.n_kv_heads, layer.d_k) == (n_kv, each) and near(layer(x), expected)
    # Meta's names and pairs of neighbours: the rows of every head in another order, the same function.
    order = torch.arange(each).view(2, -1).T.flatten()
    meta = {"w.wv.weight": w["w.v_proj.weight"], "w.wo.weight": w["w.o_proj.weight"]}
    for ours, heads in (("q", h), ("k", n_kv)):
        rows = w[f"w.{ours}_proj.weight"].view(heads, each, d_model)[:, order]
        meta[f"w.w{ours}.weight"] = rows.flatten(0, 1)
    assert near(weight_maps.grouped_from_llama(meta, h, base, pairs="neighbours")(x), expected)


def test_dtype_follows_the_weights_and_names_without_the_prefix_are_left_alone() -> None:
    w = drawn(15, torch.float32, to_qkv__weight=(18, 7), to_out__0__weight=(7, 6), to_out__0__bias=(7,))
    layer = weight_maps.overlapping_from_authors(w | {"x": torch.ones(1)}, 2)
    assert {p.dtype for p in layer.parameters()} == {torch.float32} and not layer.training


def test_what_the_maps_refuse() -> None:
    w = drawn(16, to_qkv__weight=(18, 7), to_out__0__weight=(7, 10), to_out__0__bias=(7,))
    assert weight_maps.overlapping_from_authors(w, 2).overlap == 1
    with pytest.raises(ValueError, match="this map has no place for more"):
        weight_maps.overlapping_from_authors(w | {"w.more": torch.ones(2)}, 2)
    with pytest.raises(ValueError, match=r"no w\.to_qkv\.weight among the weights; left are: to_out"):
        weight_maps.overlapping_from_authors({n: t for n, t in w.items() if "qkv" not in n}, 2)
    with pytest.raises(ValueError, match="to_out.0 reads 8 features"):
        weight_maps.overlapping_from_authors(w | {"w.to_out.0.weight": torch.ones(7, 8)}, 2)
    llama = drawn(
        17,
        q_proj__weight=(8, 6),
        k_proj__weight=(4, 6),
        v_proj__weight=(4, 6),
        o_proj__weight=(6, 8),
        q_proj__bias=(8,),
    )
    with pytest.raises(ValueError, match="have a bias, and this layer adds none"):
        weight_maps.grouped_from_llama(llama, 2)
    with pytest.raises(ValueError, match="static='both' can be 'added', 'alone', 'twice'"):
        weight_maps.composable_from_authors(
            drawn(
                18,
                wqkv__weight=(24, 8),
                wo__weight=(8, 8),
                dw1=(8, 1, 4, 8),
                qkw=(1, 4, 8, 4, 2),
                dd=(8, 1, 8),
                pre_proj__w=(1, 2, 2),
                post_proj__w=(1, 2, 2),
            ),  # fmt: skip
            static="both",
        )


def test_the_page_names_every_map_and_its_example_runs() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "weight_maps.md").read_text(encoding="utf-8")
    maps = [
        name
        for name, made in vars(weight_maps).items()
        if name[0].islower() and "_from_" in name and callable(made)
    ]
    assert len(maps) == 9
    assert [name for name in maps if f"`{name}(" not in page] == []
    code = (
        page.split("```python\n")[1]
        .split("```")[0]
        .replace("tests/vectors", (root / "tests/vectors").as_posix())
    )
    names: dict[str, object] = {}
    exec(code, names)  # noqa: S102 - the page's own lines
    assert torch.allclose(names["y"], names["weights"]["y"], atol=1e-5)
