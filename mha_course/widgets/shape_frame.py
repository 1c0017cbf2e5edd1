"""The numbers behind one picture of the ShapeTracer: every step, run once and cut to what fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from mha_course.attention import merge_heads, split_heads
from mha_course.models.random_layer import random_layer
from mha_course.models.word_vectors import token_vectors
from mha_course.text.sentences import COURSE_SENTENCES
from mha_course.text.tokens import tokenize

__all__ = ["Drawn", "STEP_NAMES", "course_batch", "drawn_part", "shape_frame", "step_table"]

STEP_NAMES = ("x", "project", "split", "scores", "weights", "heads", "concat", "output")

_MAX_TOKENS = 10
_MAX_FEATURES = 16


@dataclass(frozen=True)
class Drawn:
    """How much of each axis is drawn: counts of heads, features a head, tokens, and plain columns."""

    heads: int
    features: int
    tokens: int
    columns: int

    def note(self, n: int, d_model: int, h: int) -> str:
        """Say what was left out; empty when everything is drawn."""
        parts = []
        d_k = d_model // h
        if self.features < d_k and self.heads < h:
            parts.append(
                f"the first {self.features} of {d_k} features of the first {self.heads} of {h} heads"
            )
        elif self.features < d_k:
            parts.append(f"the first {self.features} of {d_k} features of each head")
        elif self.heads < h:
            parts.append(f"the first {self.heads} of {h} heads")
        if self.columns < d_model:
            parts.append(f"the first {self.columns} of {d_model} features of x and of the output")
        if self.tokens < n:
            parts.append(f"the first {self.tokens} of {n} tokens")
        return "Drawn: " + "; ".join(parts) + ". The numbers come from the whole layer." if parts else ""


def drawn_part(n: int, d_model: int, h: int) -> Drawn:
    """Choose what is drawn for a layer of these sizes, so that single cells stay readable."""
    d_k = d_model // h
    heads = h if h <= 4 or (h <= 6 and d_k <= 2) else 4
    features = min(d_k, max(1, _MAX_FEATURES // heads))
    return Drawn(heads, features, min(n, _MAX_TOKENS), min(d_model, max(12, heads * features)))


def course_batch(b: int, n: int) -> list[list[str]]:
    """Return b lists of exactly n tokens; a sentence that is too short goes on with the next one."""
    sentences = [tokenize(sentence) for sentence in COURSE_SENTENCES]
    batch = []
    for i in range(b):
        tokens: list[str] = []
        j = i
        while len(tokens) < n:
            tokens += sentences[j % len(sentences)]
            j += 1
        batch.append(tokens[:n])
    return batch


def step_table(b: int, n: int, d_model: int, h: int) -> list[dict[str, str]]:
    """Return for each of the eight steps its name, formula, shape in symbols, shape in numbers, and code."""
    d_k = d_model // h
    wide, narrow = f"({b}, {n}, {d_model})", f"({b}, {h}, {n}, {d_k})"
    square, weight = f"({b}, {h}, {n}, {n})", f"({d_model}, {d_model})"
    rows = (
        ("input", "(b, n, d_model)", wide, f"x.shape == {wide}"),
        ("q, k, v = x W", "3×(b, n, d_model)", f"3×{wide}", f"x @ w_q   # {wide} @ {weight}"),
        ("view, transpose", "(b, h, n, d_k)", narrow, f"x.view({b}, {n}, {h}, {d_k}).transpose(1, 2)"),
        ("q kᵀ / √d_k", "(b, h, n, n)", square, f"q @ k.transpose(-2, -1) / math.sqrt({d_k})"),
        ("softmax by row", "(b, h, n, n)", square, f"scores.softmax(dim=-1)   # {square}"),
        ("weights · v", "(b, h, n, d_k)", narrow, f"weights @ v   # {square} @ {narrow}"),
        (
            "transpose, view",
            "(b, n, d_model)",
            wide,
            f"heads.transpose(1, 2).contiguous().view({b}, {n}, {d_model})",
        ),
        ("concat · W_O", "(b, n, d_model)", wide, f"concat @ w_o   # {wide} @ {weight}"),
    )
    keys = ("formula", "symbols", "shape", "code")
    return [
        {"name": name, **dict(zip(keys, row, strict=True))}
        for name, row in zip(STEP_NAMES, rows, strict=True)
    ]


def _numbers(values: torch.Tensor) -> Any:
    return (values.double() * 1e4).round().div(1e4).tolist()


def shape_frame(b: int, n: int, d_model: int, h: int, seed: int = 0) -> dict[str, Any]:
    """Run the layer on real sentences and return all that one picture needs, ready for JSON.

    Shapes inside: x and output (n, columns); q, k, v, heads (heads, n, features); scores and weights
    (heads, n, n); shares (n, heads + 1, columns), the last one the sum over the heads that are not drawn;
    w_q, w_k, w_v (columns, heads, features); w_o (heads, features, columns). All cut to `drawn_part`.
    `count_x`, `count_heads`, `count_merged` and `count_wrong` come from an arange input that was split and
    merged, so that the position of every number can be followed.
    Raises: ValueError where d_model cannot be split into h equal heads, or a size is below 1.
    """
    for name, size in (("b", b), ("n", n), ("d_model", d_model), ("h", h)):
        if size < 1:
            raise ValueError(f"{name}={size}: every size of the layer is at least 1")
    layer = random_layer(d_model, h, seed)
    batch = course_batch(b, n)
    with torch.no_grad():
        # Only the first sentence is drawn and sentences do not see each other, so the others need no run
        # here.
        trace = layer.trace(token_vectors(batch[0], d_model, seed=seed).unsqueeze(0))
    part = drawn_part(n, d_model, h)
    d_k, heads, tokens, columns = d_model // h, part.heads, part.tokens, part.columns
    x = token_vectors(batch[0], d_model, seed=seed)

    def narrow(stage: torch.Tensor) -> Any:
        return _numbers(stage[0, :heads, :tokens, : part.features])

    def bands(weight: torch.Tensor) -> Any:
        return _numbers(weight.T.reshape(d_model, h, d_k)[:columns, :heads, : part.features])

    tops = trace.scores[0, :heads, :tokens].amax(-1, keepdim=True)
    contributions = trace.contributions[0]
    shares = torch.cat([contributions[:heads], contributions[heads:].sum(0, keepdim=True)])
    count = torch.arange(b * n * d_model).view(b, n, d_model)
    count_heads = split_heads(count, h)

    def grouped(merged: torch.Tensor) -> Any:
        return merged[0].reshape(n, h, d_k)[:tokens, :heads, : part.features].tolist()

    return {
        "b": b, "n": n, "d_model": d_model, "h": h, "d_k": d_k,
        "drawn": {"heads": heads, "features": part.features, "tokens": tokens, "columns": columns},
        "note": part.note(n, d_model, h),
        "steps": step_table(b, n, d_model, h),
        "tokens": batch[0][:tokens],
        "x": _numbers(x[:tokens, :columns]),
        "q": narrow(trace.q), "k": narrow(trace.k), "v": narrow(trace.v),
        "scores": _numbers(trace.scores[0, :heads, :tokens, :tokens]),
        "weights": _numbers(trace.weights[0, :heads, :tokens, :tokens]),
        "row_sums": _numbers(trace.weights[0, :heads, :tokens].sum(-1)),
        "row_tops": _numbers(tops[..., 0]),
        "exp_sums": _numbers((trace.scores[0, :heads, :tokens] - tops).exp().sum(-1)),
        "heads": narrow(trace.heads),
        "shares": _numbers(shares[:, :tokens, :columns].transpose(0, 1)),
        "output": _numbers(trace.output[0, :tokens, :columns]),
        "w_q": bands(layer.w_q.weight), "w_k": bands(layer.w_k.weight), "w_v": bands(layer.w_v.weight),
        "w_o": _numbers(layer.w_o.weight.T.reshape(h, d_k, d_model)[:heads, : part.features, :columns]),
        "count_x": grouped(count),
        "count_heads": count_heads[0, :heads, :tokens, : part.features].tolist(),
        "count_merged": grouped(merge_heads(count_heads)),
        "count_wrong": grouped(count_heads.reshape(b, n, d_model)),
    }  # fmt: skip
