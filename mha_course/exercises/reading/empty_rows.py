"""What a wrong answer made of empty rows and of the others, told apart: each half is read by itself."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading.attention import read_attention

_LOOK = "which rows are set to 0, and when."


def read_empty_rows(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """Rows with something to attend to as in any attention; empty ones by what stands in them."""
    case, want, got = evidence.cases[i], evidence.expected[i].leaves, evidence.got[i].leaves
    if len(got) != 2 or not all(leaf.is_floating_point() for leaf in got):
        return None
    shapes = _shapes(evidence, i)
    if shapes or [leaf.shape for leaf in got] != [leaf.shape for leaf in want]:
        return shapes
    full = case.arguments[3].any(-1)
    fine = [close(a[..., full, :], b[..., full, :]) for a, b in zip(want, got, strict=True)]
    empty_fine = [close(a[..., ~full, :], b[..., ~full, :]) for a, b in zip(want, got, strict=True)]
    if all(fine):
        return _of_empty(evidence, i, full, empty_fine)
    if any(bool(leaf[..., full, :].isnan().any()) for leaf in got):
        return _not_finite(case.arguments[3], got[1])
    start = "Empty rows are right."
    if not all(empty_fine):
        held = _holds(evidence, i, full, got[1], got[1]).replace("They", "The weights of empty rows")
        start = f"Empty rows are wrong, and so are others. {held}".rstrip()
    read = _otherwise(evidence, i, full) or _filled(evidence, i, full)
    if read:
        return Finding(read[0], f"{start} {read[1]}", look="the steps from scores to weights.")
    # The reader of attention gets the rows that it knows.
    found = read_attention(_without_empty(evidence), i, lambda arguments: Outcome())
    if found is not None and found.id in ("hidden-keys-get-weight", "keys-left-out"):
        # Which keys these are shows best where every row stands in its place.
        again = read_attention(evidence, i, call)
        worse = again is None or (again.id == "hidden-keys-get-weight" != found.id)
        found = found if worse else again
    if found is None:
        return (
            _not_finite(case.arguments[3], got[1])
            if not bool(got[1][..., full, :].isfinite().all())
            else None
        )
    if found.id in ("weights-are-wrong", "output-is-wrong"):
        return found
    return dataclasses.replace(found, says=f"{start} {found.says}")


def read_all_for_one(evidence: Evidence, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """Nothing but 0 or NaN, and right as soon as no row is empty."""
    i = evidence.first_wrong()
    got = evidence.got[i].leaves
    if len(got) != 2 or not all(leaf.is_floating_point() for leaf in got):
        return None
    zero, nan = not any(bool(x.any()) for x in got), all(bool(x.isnan().all()) for x in got)
    if not zero and not nan:
        return None
    q, k, v, mask = evidence.cases[i].fresh()
    mask[~mask.any(-1), 0] = True
    right = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf).softmax(-1)
    out = call((q, k, v, mask))
    if out.error is None and len(out.leaves) == 2 and out.leaves[1].shape == right.shape:
        if close(out.leaves[1], right):
            what = "0" if zero else "NaN"
            says = (
                f"Everything is {what}, and right as soon as no row is empty: one empty row spoils them all."
            )
            return Finding("all-rows-for-one", says, look="a condition for the whole mask: rows are meant.")
    return None


def _otherwise(evidence: Evidence, i: int, full: Tensor) -> tuple[str, str] | None:
    """Other weights in rows with something to attend to, where the output follows from them."""
    q, k, _, mask = evidence.cases[i].arguments
    have = evidence.got[i].leaves[1][..., full, :]
    mask, q = mask[full], q[..., full, :]

    def masked(scores: Tensor) -> Tensor:
        return scores.masked_fill(~mask, -math.inf)

    s = q @ k.mT / math.sqrt(q.shape[-1])
    right = masked(s).softmax(-1)
    tried = [
        ("All open keys get the same weight: the scores play no part.", masked(s * 0).softmax(-1)),
        ("The softmax is applied twice.", masked(right).softmax(-1)),
        ("The softmax is applied twice, and the second time hidden keys take part.", right.softmax(-1)),
        ("The softmax is applied twice, the mask only the second time.", masked(s.softmax(-1)).softmax(-1)),
    ]
    rows = evidence.cases[i].arguments[3]
    for r in range(len(rows)):
        words = f"Every query gets row {r} of the mask."
        tried.append((words, s.masked_fill(~rows[r], -math.inf).softmax(-1)))
    if k.ndim > 3:
        for words, other in (
            ("The queries of a head meet the keys of the next head.", k.roll(-1, 1)),
            ("The queries of a head meet the keys of the head before it.", k.roll(1, 1)),
            ("The queries of a head meet the keys of the heads in reversed order.", k.flip(1)),
            ("The keys of head 1 serve all heads.", k[:, :1].expand_as(k)),
        ):
            tried.append((words, masked(q @ other.mT / math.sqrt(q.shape[-1])).softmax(-1)))
    for words, weights in tried:
        if close(weights, have):
            return "other-weights", words
    return None


def _filled(evidence: Evidence, i: int, full: Tensor) -> tuple[str, str] | None:
    """Hidden scores that are a number, and not -inf: which one, read from the weights of hidden keys."""
    q, k, _, mask = evidence.cases[i].arguments
    have = evidence.got[i].leaves[1][..., full, :].double()
    mask, q = mask[full].expand(have.shape), q[..., full, :]
    if not bool((have > 0).all()) or bool(((have.sum(-1) - 1).abs() > 1e-4).any()):
        return None
    s = (q @ k.mT / math.sqrt(q.shape[-1])).double()
    level = torch.where(mask, have.log() - s, 0.0).sum(-1) / mask.sum(-1).clamp_min(1)
    gap = have.log() - s - level.unsqueeze(-1)
    if bool((gap[mask].abs() > 1e-3).any()) or bool(mask.all()):
        return None
    fill = (have.log() - level.unsqueeze(-1))[~mask]
    if bool((fill - fill[0]).abs().max() < 1e-3):
        smallest = abs(float(fill[0]) - float(s.min())) < 1e-3
        number = "the smallest score" if smallest else f"{float(fill[0]):.4g}"
        says = f"Hidden scores become {number}, whose exponential is not 0: hidden keys still get weight."
        return "hidden-scores-filled", says
    added = gap[~mask]
    if bool((added - added[0]).abs().max() < 1e-3):
        says = f"Only {float(added[0]):.4g} is added to hidden scores: they get less weight, and still some."
        return "hidden-scores-filled", says
    return None


def _shapes(evidence: Evidence, i: int) -> Finding | None:
    """Rows left out, heads averaged or merged."""
    case, (output, weights), (want, want_weights) = (
        evidence.cases[i],
        evidence.got[i].leaves,
        evidence.expected[i].leaves,
    )
    full = case.arguments[3].any(-1)
    count = int(full.sum())
    if output.ndim > 1 and output.shape == want[..., full, :].shape:
        says = f"The output has {count} rows, and there are {len(full)} queries: the empty ones are left out."
        return Finding(
            "rows-left-out", f"{says} They should be there, filled with 0.", look="the last index."
        )
    if case.sizes.get("h"):
        if weights.shape == want_weights.mean(1).shape:
            says = "The weights have lost the axis of heads"
            mean = close(weights, want_weights.mean(1))
            says += ": they are averaged over the heads." if mean else "."
            return Finding("weights-without-heads", says, look="what happens to the weights at the end.")
        if output.shape == want.transpose(1, 2).flatten(2).shape:
            says = "The heads of the output are put side by side. Here their axis stays, `(b, h, n_q, d_v)`."
            return Finding("heads-joined", says, look="what happens to the output at the end.")
    return None


def _of_empty(evidence: Evidence, i: int, full: Tensor, fine: list[bool]) -> Finding | None:
    """All other rows are right: what stands in the empty ones."""
    output, weights = evidence.got[i].leaves
    names = ["output", "weights"]
    wrong = [name for name, ok in zip(names, fine, strict=True) if not ok]
    places = (~full).nonzero()[:, 0].tolist()
    table = weights if "weights" in wrong else output
    bad = {p for p in places if bool((table[..., p, :] != 0).any())}
    start = f"Rows with something to attend to are right. In empty ones the {in_a_row(wrong)} should be 0."
    if len(wrong) == 1:
        start = f"{start} The {'weights' if wrong == ['output'] else 'output'} of such rows is right."
        start = start.replace("weights of such rows is", "weights of such rows are")
    if len(bad) < len(places):
        done = in_a_row([str(p) for p in places if p not in bad])
        left = in_a_row([str(p) for p in sorted(bad)])
        says = f"{start} Only row {done} is set to 0, and row {left} is empty as well."
        return Finding("some-empty-rows", says, look=_LOOK)
    for axis, name in ((0, "sentence"), (1, "head")):
        if axis == 1 and table.ndim < 4:
            continue
        lost = (table[..., ~full, :] != 0).movedim(axis, 0).flatten(1).any(1)
        if bool(lost.any()) and not bool(lost.all()):
            done = in_a_row([str(p + 1) for p in (~lost).nonzero()[:, 0].tolist()])
            says = f"{start} They are in {name} {done} only."
            return Finding("some-empty-rows", says, look=_LOOK)
    return Finding(
        "empty-rows-wrong", f"{start} {_holds(evidence, i, full, table, weights)}".strip(), look=_LOOK
    )


def _holds(evidence: Evidence, i: int, full: Tensor, table: Tensor, weights: Tensor) -> str:
    """What stands in the empty rows, in a sentence, or ""."""
    q, k, v, _ = evidence.cases[i].arguments
    rows = table[..., ~full, :]
    if bool(rows.isnan().any()):
        return "They hold NaN."
    if bool(rows.isinf().any()):
        return "They hold infinity."
    if close(rows, rows[..., :1].expand_as(rows)) and close(rows, rows.flatten()[0].expand_as(rows)):
        return f"They hold `{float(rows.flatten()[0]):.4g}` throughout."
    if table is not weights:
        mean = v.mean(-2, keepdim=True).expand_as(rows)
        if close(rows, mean):
            return "They hold the mean of all values: the weights were equal when they met them."
        if q.shape[-1] == rows.shape[-1] and close(rows, q[..., ~full, :]):
            return "They hold the queries."
        return ""
    if close(rows, ((q @ k.mT) / q.shape[-1] ** 0.5).softmax(-1)[..., ~full, :]):
        return "They attend to everything, as if there were no mask."
    alone = (rows - 1).abs() < 1e-6
    if bool(alone.any(-1).all()) and bool((alone == alone[..., :1, :]).all()):
        return f"All their weight is on key {int(alone.flatten(0, -2)[0].nonzero()[0])}."
    return ""


def _not_finite(mask: Tensor, weights: Tensor) -> Finding:
    """Rows with something to attend to that hold NaN or infinity."""
    bad = ~weights.isfinite().flatten(0, -3).all(0).all(-1)
    full = mask.any(-1)
    look = "0/0, inf - inf, 0 times inf, or exp of a large number."
    if bool(bad.all()):
        return Finding(
            "nothing-but-nan", "Every row holds NaN, those with something to attend to as well.", look=look
        )
    if torch.equal(bad, mask.all(-1)):
        says = "Rows in which every key is open are NaN: there, all scores were hidden."
        return Finding("full-rows-nan", says, look="which way round the mask is read.")
    rows = [str(p) for p in (bad & full).nonzero()[:, 0].tolist()]
    says = (
        f"Rows with something to attend to are NaN or infinite: row{'s' * (len(rows) > 1)} {in_a_row(rows)}."
    )
    return Finding("not-a-number", says, look=look)


def _without_empty(evidence: Evidence) -> Evidence:
    """The same answer, with the rows left out that have nothing to attend to."""
    cases, expected, got, right = [], [], [], []
    for case, want, have in zip(evidence.cases, evidence.expected, evidence.got, strict=True):
        q, k, v, mask = case.arguments
        full = mask.any(-1)
        cases.append(dataclasses.replace(case, arguments=(q[..., full, :], k, v, mask[full])))
        expected.append(_rows(want, full))
        got.append(
            _rows(have, full) if [x.shape for x in have.leaves] == [x.shape for x in want.leaves] else have
        )
        right.append(False)
    return dataclasses.replace(evidence, cases=cases, expected=expected, got=got, right=right)


def _rows(out: Outcome, full: Tensor) -> Outcome:
    return dataclasses.replace(out, leaves=tuple(leaf[..., full, :] for leaf in out.leaves))
