"""Where each part of a concatenation of heads comes from: which head, which token, or which mix of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome, close

Call = Callable[[tuple[Any, ...]], Outcome]
_LOOK = "the indices of `values`, and the order of the parts."


def read_targets_of_heads(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """From which head and token each part of a concatenation comes, seen by coded values."""
    values, targets = evidence.cases[i].arguments
    got = evidence.got[i].leaves
    h, _, d_v = values.shape
    if len(got) != 1 or not got[0].is_floating_point():
        return None
    # Numbers in no order: a largest or a sorted one would look like a place otherwise.
    order = torch.randperm(values.numel(), generator=torch.Generator().manual_seed(1))
    coded = (order + 1).to(values.dtype).reshape(values.shape)
    out = call((coded, list(targets)))
    if not bool(got[0].isfinite().all()):
        return None
    for says, look, made in _whole(values.double(), targets):
        if made.shape == got[0].shape and torch.allclose(made, got[0].double(), rtol=1e-3, atol=2e-5):
            return Finding("put-together-otherwise", says, look=look)
    if out.error is not None or len(out.leaves) != 1 or out.leaves[0].shape != got[0].shape:
        return None
    codes = out.leaves[0].double().flatten()
    if got[0].numel() % d_v:
        return None
    parts = got[0].double().reshape(-1, d_v)
    if got[0].ndim == 1 and len(parts) != h:
        return _other_number(values.double(), targets, parts)
    if got[0].ndim != 1:
        return None
    words, fine, mixes = [], [], _mixes(values, targets, got[0], call)
    for head, (part, code) in enumerate(zip(parts, codes.reshape(-1, d_v), strict=True)):
        if close(part, values[head, targets[head]].double()):
            fine.append(head)
            continue
        origin = _origin(values.double(), targets, part, code, order)
        origin = origin or mixes.get(head, "is no single value")
        should = f"head {head + 1}'s value at token {targets[head]}"
        words.append(f"Part {head + 1} {origin}; it should hold {should}.")
    tail = (
        f" Part{'' if len(fine) == 1 else 's'} {in_a_row([str(p + 1) for p in fine])} right." if fine else ""
    )
    tail = tail.replace(" right.", " is right." if len(fine) == 1 else " are right.")
    return Finding(
        "wrong-parts", " ".join(words) + tail, look="the indices of `values`, and the order of the parts."
    )


def _origin(values: Tensor, targets: list[int], part: Tensor, code: Tensor, order: Tensor) -> str:
    """Where one part of the result comes from, in words that follow "Part 2"."""
    h, n, _ = values.shape
    rows = values.reshape(h * n, -1)
    if not bool(part.abs().max() > 1e-9):
        return "is all 0"
    scale = (rows @ part) / (rows * rows).sum(-1)
    gaps = (part - scale[:, None] * rows).abs().amax(-1)
    best = int(gaps.argmin())
    if float(gaps[best]) < 2e-5:
        head, token = divmod(best, n)
        c = float(scale[best])
        times = "" if abs(c - 1) < 1e-3 else f"{c:.4g} times "
        return f"holds {times}head {head + 1}'s value at token {token}"
    for head, token in ((a, b) for a in range(h) for b in range(n)):
        row = values[head, token]
        for what, made in (
            ("with its features in reversed order", row.flip(0)),
            ("sorted", row.sort().values),
            ("after a softmax", row.softmax(0)),
            ("after a ReLU", row.relu()),
            ("divided by its length", row / row.norm()),
            ("rounded", row.round()),
            ("rounded to two decimals", row.round(decimals=2)),
            ("rounded to three decimals", row.round(decimals=3)),
            ("without the digits that float16 can't hold", row.half().double()),
            ("without the digits that bfloat16 can't hold", row.bfloat16().double()),
            ("after a tanh", row.tanh()),
            ("standardised", (row - row.mean()) / row.std()),
            (
                "with something added to each feature",
                row + (part - row).mean() if abs(float((part - row).mean())) > 1e-4 else row,
            ),
            ("without its sign", row.abs()),
        ):
            if torch.allclose(made, part, rtol=1e-3, atol=2e-5):
                return f"holds head {head + 1}'s value at token {token}, {what}"
    for head in range(h):
        for what, made in (
            ("the average of all tokens", values[head].mean(0)),
            ("the sum of all tokens", values[head].sum(0)),
            ("the average of all targets", values[head, targets].mean(0)),
            ("the sum of all targets", values[head, targets].sum(0)),
            ("the largest of all targets", values[head, targets].amax(0)),
            ("the largest of all tokens", values[head].amax(0)),
        ):
            if torch.allclose(made, part, rtol=1e-3, atol=2e-5):
                return f"holds {what} in head {head + 1}"
    for token in range(n):
        for what, made in (("average", values[:, token].mean(0)), ("sum", values[:, token].sum(0))):
            if torch.allclose(made, part, rtol=1e-3, atol=2e-5):
                return f"holds the {what} of all heads at token {token}"
    whole = code.round() - 1
    if close(whole + 1, code) and bool((whole >= 0).all()) and bool((whole < values.numel()).all()):
        at = torch.argsort(order)[whole.long()]
        places = [tuple(int(x) for x in np.unravel_index(int(c), values.shape)) for c in at]
        listed = in_a_row([f"head {a + 1} token {b} feature {c}" for a, b, c in places[:2]])
        return f"starts with {listed}"
    return ""


def _mixes(values: Tensor, targets: list[int], got: Tensor, call: Call) -> dict[int, str]:
    """For each part that is a weighted sum of values: of which, seen by values that name head and token."""
    h, n, d_v = values.shape
    names = torch.eye(h * n, dtype=values.dtype).reshape(h, n, h * n)
    out = call((names, list(targets)))
    if out.error is not None or len(out.leaves) != 1 or out.leaves[0].shape != (h * h * n,):
        return {}
    weights = out.leaves[0].reshape(h, h * n).double()
    if not torch.allclose(
        weights @ values.reshape(h * n, d_v).double(), got.double().reshape(h, d_v), atol=1e-3
    ):
        return {}
    said = {}
    for part, row in enumerate(weights):
        used = row.abs().argsort(descending=True)[: int((row.abs() > 1e-6).sum())].tolist()
        shown = [f"{float(row[at]):.3g} of head {at // n + 1} token {at % n}" for at in used[:3]]
        if shown:
            said[part] = f"is a mix: {in_a_row(shown)}" + (" and more" if len(used) > 3 else "")
    return said


def _whole(values: Tensor, targets: list[int]) -> Iterator[tuple[str, str, Tensor]]:
    """Results of other shapes that can be made of the right values."""
    h, n, d_v = values.shape
    right = torch.stack([values[i, t] for i, t in enumerate(targets)])
    together, index = "how the heads' results are put together.", "the indices of `values`."
    yield "In each feature the largest of the heads comes out.", together, right.amax(0)
    yield "In each feature the smallest of the heads comes out.", together, right.amin(0)
    yield "The heads are multiplied with each other.", together, right.prod(0)
    yield "The difference of the heads comes out.", together, right[0] - right[1:].sum(0)
    yield "The features of each head are added up.", together, right.sum(1)
    yield "The features of each head are averaged.", together, right.mean(1)
    yield "Everything is added up to one number.", together, right.sum()
    yield "Everything is averaged to one number.", together, right.mean()
    yield "The heads stand side by side as columns, with an axis of their own.", together, right.T
    yield "Only the first feature of each head comes out.", index, right[:, 0]
    yield "Each head gives its values at all targets, not at its own one.", index, values[:, targets]
    yield (
        "Every target is read from head 1, and the heads have an axis of their own.",
        index,
        values[0, targets],
    )
    merged = values.transpose(0, 1).reshape(n, h * d_v)
    yield "All heads come out side by side, for each target: a row each.", index, merged[targets]
    yield "All heads come out side by side, for each token: a row each.", index, merged
    if max(targets) < d_v:
        says = "The targets are looked up along the features, not along the tokens."
        yield says, index, torch.cat([values[i, :, t] for i, t in enumerate(targets)])
        yield says, index, torch.stack([values[i, :, t] for i, t in enumerate(targets)])
    one_hot = torch.zeros(h, n, dtype=values.dtype)
    one_hot[range(h), targets] = 1
    yield "These are the weights of the heads; they are not yet applied.", "the last step.", one_hot.flatten()
    yield "These are the weights of the heads; they are not yet applied.", "the last step.", one_hot
    for step, side in ((1, "after"), (-1, "before")):
        off = torch.stack([values[i, (t + step) % n] for i, t in enumerate(targets)])
        says = f"The tokens one {side} the targets come out. And: the heads are"
        yield f"{says} added up.", f"{index} And: {together}", off.sum(0)
        yield f"{says} averaged.", f"{index} And: {together}", off.mean(0)
        yield f"{says} left below each other.", f"{index} And: {together}", off
    flat = right.flatten()
    yield "A softmax is applied to the result.", "what comes after the concatenation.", flat.softmax(0)
    yield "The result is divided by its length.", "what comes after the concatenation.", flat / flat.norm()
    yield "The result is sorted.", "the order.", flat.sort().values
    yield "The result stands in reversed order, number by number.", "the order.", flat.flip(0)
    for more in range(1, 9):
        says = f"{more} number{'' if more == 1 else 's'} too many: zeros"
        yield f"{says} at the end.", "the length of the result.", torch.cat([flat, flat.new_zeros(more)])
        yield f"{says} in front.", "the length of the result.", torch.cat([flat.new_zeros(more), flat])
        if more < len(flat) and more % d_v:
            yield (
                f"The last {more} number(s) of the result are missing.",
                "the length of the result.",
                flat[:-more],
            )
            yield (
                f"The first {more} number(s) of the result are missing.",
                "the length of the result.",
                flat[more:],
            )


def _other_number(values: Tensor, targets: list[int], parts: Tensor) -> Finding | None:
    """A result with too many or too few parts."""
    h, n, _ = values.shape
    if not len(parts):
        says = "Nothing comes out: the result is empty."
        return Finding("empty-result", says, look="what `cat` gives back, and where it goes.")
    rows = values.reshape(h * n, -1)
    places = []
    for part in parts:
        gaps = (rows - part).abs().amax(-1)
        best = int(gaps.argmin())
        places.append(
            f"head {best // n + 1} token {best % n}" if float(gaps[best]) < 1e-4 else "another vector"
        )
    if "another vector" in places and len(set(places)) == 1:
        return None
    shown = in_a_row(places[:4]) + (" and so on" if len(places) > 4 else "")
    count = f"{len(parts)} part{'' if len(parts) == 1 else 's'}"
    says = f"The result has {count} of d_v numbers; with {h} heads there should be {h}. Yours: {shown}."
    return Finding("wrong-number-of-parts", says, look="what one head contributes.")
