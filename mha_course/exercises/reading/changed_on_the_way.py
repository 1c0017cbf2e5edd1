"""A layer that is right but for one thing done on the way: to the input, queries, keys, values or heads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import close
from mha_course.exercises.reading.layer_probes import Call

Change = Callable[[Tensor], Tensor]

_STAGES = {
    "x": "the input",
    "q": "the queries",
    "k": "the keys",
    "v": "the values",
    "qk": "queries and keys",
    "qkv": "queries, keys and values",
    "z": "the heads' results",
    "concat": "the concatenation",
}
_MANY = {"q", "k", "v", "qk", "qkv", "z"}
# "{is}" becomes "is" or "are".
_CHANGES: tuple[tuple[str, Change], ...] = (
    ("{go} through a ReLU: negative numbers become 0", F.relu),
    ("{go} through a tanh", torch.tanh),
    ("{go} through a sigmoid", torch.sigmoid),
    ("{go} through a GELU", F.gelu),
    ("{go} through a softmax", lambda y: y.softmax(-1)),
    ("{go} through a softmax over the tokens", lambda y: y.softmax(-2)),
    ("{is} normalised (LayerNorm)", lambda y: F.layer_norm(y, y.shape[-1:])),
    ("{is} scaled to length 1", lambda y: F.normalize(y, dim=-1)),
    ("lose{s} the mean over the features", lambda y: y - y.mean(-1, keepdim=True)),
    ("lose{s} the mean over the tokens", lambda y: y - y.mean(-2, keepdim=True)),
    ("lose{s} the signs (an absolute value)", torch.abs),
    ("{is} squared", torch.square),
    ("{is} rounded", torch.round),
    ("{is} doubled", lambda y: 2 * y),
    ("{is} multiplied by the root of the last axis", lambda y: y * math.sqrt(y.shape[-1])),
    ("{is} divided by the root of the last axis", lambda y: y / math.sqrt(y.shape[-1])),
    ("{is} divided by the number of tokens", lambda y: y / y.shape[-2]),
    ("{have} the features in reversed order", lambda y: y.flip(-1)),
    ("{have} the tokens in reversed order", lambda y: y.flip(-2)),
    ("{is} moved on by one token", lambda y: y.roll(1, -2)),
    ("{is} moved back by one token", lambda y: y.roll(-1, -2)),
    ("{is} those of the first token for all", lambda y: y[..., :1, :].expand_as(y)),
    ("{is} summed up along the tokens", lambda y: y.cumsum(-2)),
    ("{is} averaged over the tokens", lambda y: y.mean(-2, keepdim=True).expand_as(y)),
    ("{have} the sentences in reversed order", lambda y: y.flip(0)),
    ("{is} those of the first sentence for all", lambda y: y[:1].expand_as(y)),
    ("{have} the heads in reversed order", lambda y: y.flip(1) if y.ndim == 4 else y),
    ("{is} summed over the heads", lambda y: y.sum(1, True).expand_as(y) if y.ndim == 4 else y),
    ("{is} averaged over the heads", lambda y: y.mean(1, True).expand_as(y) if y.ndim == 4 else y),
    ("{have} 1 added to it", lambda y: y + 1),
)


def changed_on_the_way(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """One thing too much on the way through the layer (with or without W_O), or another number of heads."""
    if len(evidence.got[i].leaves) != 1 or not evidence.got[i].leaves[0].is_floating_point():
        return None
    # Nothing of these leaves an ordinary case right: where one is, they need not be tried.
    untouched = any(evidence.right[k] and _ordinary(evidence.cases[k].sizes) for k in _others(evidence, i))
    for words, layer in () if untouched else _layers():
        if _gives(evidence, i, layer) and all(_gives(evidence, k, layer) for k in _others(evidence, i)):
            return Finding("changed-on-the-way", words, look="what else is done on the way.")
    return _other_number_of_heads(evidence, i)


def _ordinary(sizes: dict[str, int]) -> bool:
    return min(sizes.get("b", 1), sizes.get("h", 1), sizes.get("n", 1)) > 1


def _layers() -> Iterator[tuple[str, Callable[..., Tensor]]]:
    for stage, name in _STAGES.items():
        many = stage in _MANY
        for words, change in _CHANGES:
            text = words.replace("{is}", "are" if many else "is").replace("{go}", "go" if many else "goes")
            text = text.replace("{have}", "have" if many else "has").replace("{s}", "" if many else "s")
            text = text.replace("to it", "to them" if many else "to it")
            says = f"The layer is right but for one thing: {name} {text}.{_or(stage, words)}"
            yield says, lambda *a, stage=stage, change=change: layer(a, {stage: change})
    yield (
        "Tokens of all sentences attend to each other: the batch was folded into the tokens.",
        lambda *a: layer((a[0].reshape(1, -1, a[0].shape[-1]), *a[1:]), {}).reshape(a[0].shape),
    )
    yield (
        "Axis 0 is taken for the tokens and axis 1 for the batch: x is `(b, n, d_model)`.",
        lambda *a: layer((a[0].transpose(0, 1), *a[1:]), {}).transpose(0, 1),
    )


def _or(stage: str, words: str) -> str:
    """Another reading that the numbers can't tell apart from this one."""
    if stage == "k" and "token" in words:
        return " (Or the values, which then change places with the keys.)"
    if stage in ("q", "k") and ("doubled" in words or "multiplied" in words or "divided" in words):
        return " (Or the scores.)"
    return ""


def layer(arguments: tuple[Any, ...], changes: dict[str, Change], h: int | None = None) -> Tensor:
    """The right layer on the arguments of a case, with changes by the name of their stage.

    arguments: x, w_q, w_k, w_v, then w_o where there is one, h, and a mask where there is one.
    """
    x, w_q, w_k, w_v, *rest = arguments
    w_o = rest.pop(0) if isinstance(rest[0], Tensor) else None
    h = h or rest[0]
    mask = rest[1] if len(rest) > 1 else None
    nothing: Change = lambda y: y  # noqa: E731 - the change that is none
    x = changes.get("x", nothing)(x)
    b, n, d_model = x.shape
    q, k, v = (
        changes.get("qkv", nothing)((x @ w).reshape(b, n, h, d_model // h).transpose(1, 2))
        for w in (w_q, w_k, w_v)
    )
    q, k = (changes.get("qk", nothing)(y) for y in (q, k))
    q, k, v = (changes.get(name, nothing)(y) for name, y in (("q", q), ("k", k), ("v", v)))
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_model // h)
    scores = scores if mask is None else scores.masked_fill(~mask, -1e9)
    heads = changes.get("z", nothing)(scores.softmax(-1) @ v)
    concat = changes.get("concat", nothing)(heads.transpose(1, 2).reshape(b, n, d_model))
    return concat if w_o is None else concat @ w_o


def _gives(evidence: Evidence, k: int, made: Callable[..., Tensor]) -> bool:
    """Whether an answer gave what a changed layer gives, in case k."""
    have = evidence.got[k].leaves
    if len(have) != 1:
        return False
    try:
        out = made(*evidence.cases[k].arguments)
    except (RuntimeError, ValueError, IndexError):
        return False
    return out.shape == have[0].shape and close(out, have[0])


def _others(evidence: Evidence, i: int) -> list[int]:
    """The other cases by which a finding is confirmed: those that count and stopped with no error."""
    counted = [k for k, counts in enumerate(evidence.counts) if counts and k != i]
    return [k for k in counted if evidence.got[k].error is None][:2]


def _other_number_of_heads(evidence: Evidence, i: int) -> Finding | None:
    used = {}
    for k in (i, *_others(evidence, i)):
        sizes = evidence.cases[k].sizes
        for h in range(1, sizes["d_model"] + 1):
            if sizes["d_model"] % h == 0 and _gives(evidence, k, lambda *a, h=h: layer(a, {}, h)):
                used[k] = (sizes["h"], h)
                break
    if i not in used or used[i][0] == used[i][1]:
        return None
    h, cut = used[i]
    always = ", whatever h is" if len({pair[1] for pair in used.values()}) == 1 and len(used) > 1 else ""
    says = f"The projections are cut into {cut} heads{always}; here h = {h}."
    return Finding("another-number-of-heads", says, look="where `h` should stand, and what stands there.")
