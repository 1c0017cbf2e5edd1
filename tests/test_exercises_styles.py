"""Known mistakes written in other styles, and two at once, get their own diagnosis."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from mha_course.exercises import check


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # tiny tensors: waiting for a second thread costs more than the sums
    yield
    torch.set_num_threads(threads)


def einsum_layer(x, w_q, w_k, w_v, w_o, h, mask=None, *, hidden=float("-inf"), turn=False, out="bqm,md->bqd"):
    q, k, v = (torch.einsum("bnd,dhk->bnhk", x, w.unflatten(1, (h, -1))) for w in (w_q, w_k, w_v))
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = torch.where(~mask if turn else mask, scores, hidden)
    heads = torch.einsum("bhqk,bkhd->bqhd", scores.softmax(3), v)
    return torch.einsum(out, heads.flatten(2), w_o)


def view_only_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    b, n, d = x.shape
    q, k, v = (F.linear(x, w.T).view(b, h, n, d // h) for w in (w_q, w_k, w_v))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_o.T)


STYLES: list[tuple[str, str, Callable]] = [
    (
        "head_contributions",
        "columns-for-rows",
        lambda z, w: torch.stack([z[:, i] @ c.T for i, c in enumerate(w.chunk(z.shape[1], 1))], 1),
    ),
    (
        "head_contributions",
        "first-block-for-all",
        lambda z, w: torch.einsum("bhnd,dm->bhnm", z, w[: z.shape[3]]),
    ),
    ("fold_value_bias", "transposed", lambda b_v, w_o, b_o: F.linear(b_v, w_o, b_o)),
    ("fold_value_bias", "w_o-left-out", lambda b_v, w_o, b_o: torch.stack([b_v, b_o]).sum(0)),
    ("parameter_count", "w_o-left-out-bias-in", lambda d, h, bias: 3 * d**2 + 4 * d * bias),
    ("parameter_count", "times-h", lambda d, h, bias: sum(4 * d * d for _ in range(h)) + 4 * d * bias),
    (
        "flop_count",
        "multiply-adds",
        lambda n, d, h: sum(n * d * d for _ in range(4)) + h * 2 * n * n * (d // h),
    ),
    ("flop_count", "w_o-left-out", lambda n, d, h: 3 * 2 * n * d * d + 2 * (2 * n * n * d)),
    ("multi_head_attention", "view-without-transpose", view_only_layer),
    ("multi_head_attention", "w_o-transposed", functools.partial(einsum_layer, out="bqm,dm->bqd")),
    ("multi_head_attention", "mask-polarity", functools.partial(einsum_layer, turn=True)),
    ("multi_head_attention", "mask-polarity", functools.partial(einsum_layer, turn=True, hidden=-1e9)),
    ("multi_head_attention", "mask-zero-score", functools.partial(einsum_layer, hidden=0.0)),
    ("multi_head_attention", "mask-zero-score", functools.partial(einsum_layer, hidden=1e-9)),
]


@pytest.mark.parametrize(
    ("name", "id_", "fn"), STYLES, ids=[f"{n}-{i}-{k}" for k, (n, i, _) in enumerate(STYLES)]
)
def test_mistakes_are_recognised_in_another_style(name: str, id_: str, fn: Callable) -> None:
    verdict = check(name, fn)
    assert verdict.diagnosis == id_, verdict


PAIRS: list[tuple[str, str, Callable]] = [
    (
        "multi_head_attention",
        "w_o-left-out+scale-sqrt-d_model",
        lambda x, w_q, w_k, w_v, w_o, h, mask=None: chunked(x, w_q, w_k, w_v, h, mask, x.shape[-1] ** -0.5),
    ),
]


def chunked(x, w_q, w_k, w_v, h, mask, scale):
    parts = zip(*((x @ w).chunk(h, -1) for w in (w_q, w_k, w_v)), strict=True)
    return torch.cat([F.scaled_dot_product_attention(*p, attn_mask=mask, scale=scale) for p in parts], -1)


@pytest.mark.parametrize(("name", "id_", "fn"), PAIRS, ids=[i for _, i, _ in PAIRS])
def test_two_mistakes_at_once_are_both_named(name: str, id_: str, fn: Callable) -> None:
    verdict = check(name, fn)
    assert verdict.diagnosis == id_, verdict
    assert " And: " in verdict.message
