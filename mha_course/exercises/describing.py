"""The most specific true thing to say about an answer that is wrong in an unknown way."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.exercise import Returned
from mha_course.exercises.outcome import Outcome, close, differing
from mha_course.exercises.probing import probe
from mha_course.exercises.raised import raised
from mha_course.exercises.reading.changed_afterwards import changed_afterwards
from mha_course.exercises.reading.factors import factor_by_trying, scale_of, times_right
from mha_course.exercises.reading.first_nan import first_nan
from mha_course.exercises.reading.shapes import read_shape
from mha_course.exercises.reading.weights import nearly
from mha_course.exercises.refusing import not_refused
from mha_course.exercises.structure import structure
from mha_course.exercises.witness import counted, number, witness

# What may be said of a result's type when it holds numbers.
_NUMBERS = {"", "numpy", "list", "number", "bool"}
_NAN_LOOK = "0/0, 0 * inf, inf - inf, or exp of a large number."


def describe(evidence: Evidence, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding:
    """Say what is known: about errors, types, shapes, then numbers, from the most specific on.

    call: calls the answer once more, with other arguments.
    """
    i = evidence.first_wrong()
    case, got = evidence.cases[i], evidence.got[i]
    special = evidence.exercise.special
    finding = special(case, evidence.expected[i], got) if special else None
    if finding:
        return finding
    if got.error is None and not case.refuses and set(got.odd) <= _NUMBERS:
        finding = _blank(evidence, i, call) or _handed_back(evidence, i) or _read(evidence, i, call)
        if finding:
            return _with_only_right(evidence, finding, i)
    if got.error is not None:
        return raised(evidence, case, got, call)
    if case.refuses:
        return not_refused(evidence, case, got)
    finding = structure(evidence, i)
    if finding and finding.id == "wrong-shape":
        with contextlib.suppress(Exception):
            finding = dataclasses.replace(finding, says=f"{finding.says} {read_shape(evidence, i)}".rstrip())
    if finding and finding.id == "axes-grouped-otherwise" and _mask_turns_it(evidence):
        says = f"{finding.says} They come with the mask: axes put in front of it become axes of the result."
        finding = dataclasses.replace(
            finding, says=says, look="the shape of the mask where it meets the scores."
        )
    if finding is None:
        finding = _of_nan(evidence, i, call, _about_numbers(evidence, i))
        # NaN swallows every effect that an argument may have.
        probed = None if finding.id in ("not-a-number", "infinite") else probe(evidence, i, call)
        if probed:
            vague = finding.id == "different-numbers"
            says = probed.says if vague else f"{finding.says} {probed.says}"
            finding = Finding(
                probed.id if vague else finding.id, says, finding.witness, finding.look or probed.look
            )
    return _with_only_right(evidence, finding, i)


def _blank(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """Zeros or NaN everywhere: they fit any explanation, so that none is tried."""
    want, have = evidence.expected[i].leaves, evidence.got[i].leaves
    if [a.shape for a in want] != [b.shape for b in have] or not have or not have[0].is_floating_point():
        return None
    if all(bool(b.isnan().all()) for b in have):
        says = f"Everything is NaN.{_mask_turns_nan(evidence)}"
        return _of_nan(evidence, i, call, Finding("not-a-number", says, _entry(evidence, i), _NAN_LOOK))
    if have[0].numel() > 1 and all(not bool(b.any()) for b in have) and bool(want[0].any()):
        says = "Everything is 0: nothing of the input is in it."
        return Finding("all-zeros", says, _entry(evidence, i), "where the result gets its numbers.")
    return None


def _of_nan(
    evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome], finding: Finding
) -> Finding:
    """The finding, with the step in which the first NaN came up, where that is seen."""
    if finding.id != "not-a-number":
        return finding
    with contextlib.suppress(Exception):
        source = first_nan(evidence.cases[i], call)
        if source:
            says = f"{finding.says.partition(' That comes with')[0]} {source}"
            return dataclasses.replace(finding, says=says, look="the first step that gives NaN: print it.")
    return finding


def _handed_back(evidence: Evidence, i: int) -> Finding | None:
    """An argument that comes back as it went in, in whatever case."""
    names = list(inspect.signature(evidence.exercise.reference).parameters)
    for position, name in enumerate(names):
        pairs = [
            (case.arguments[position], out)
            for case, out, counts in zip(evidence.cases, evidence.got, evidence.counts, strict=True)
            if counts and position < len(case.arguments)
        ]
        if pairs and all(_same_tensor(argument, out) for argument, out in pairs):
            says = f"This is `{name}` as it came: nothing has been done to it."
            want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
            shapes = f"Wanted is the shape `{tuple(want.shape)}`; yours is `{tuple(have.shape)}`."
            seen = _entry(evidence, i) or (shapes if want.shape != have.shape else "")
            return Finding("handed-back", says, seen, "the `return` line.")
    return None


def _same_tensor(argument: Any, out: Outcome) -> bool:
    have = out.leaves[0] if len(out.leaves) == 1 else None
    if not isinstance(argument, Tensor) or have is None or argument.shape != have.shape:
        return False
    return argument.dtype == have.dtype and close(argument, have)


def _read(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """What the exercise's own readers see, with an entry that shows it."""
    for reader in evidence.exercise.readers:
        # A result can be stranger than a reader foresaw; then the others still have their say.
        with contextlib.suppress(Exception):
            finding = reader(evidence, i, call)
            if finding:
                return dataclasses.replace(finding, witness=finding.witness or _entry(evidence, i))
    return None


def _entry(evidence: Evidence, i: int) -> str:
    """One entry that shows the difference; "" where shapes or numbers of things differ."""
    returns, want, have = evidence.exercise.returns, evidence.expected[i].leaves, evidence.got[i].leaves
    seen = (
        witness(evidence.cases[i], returned, a, b, len(returns) > 1)
        for returned, a, b in zip(returns, want, have, strict=False)
    )
    return next((words for words in seen if words), "")


def _about_numbers(evidence: Evidence, i: int) -> Finding:
    case, expected, got = evidence.cases[i], evidence.expected[i], evidence.got[i]
    returns = evidence.exercise.returns
    leaves = list(zip(returns, expected.leaves, got.leaves, strict=True))
    returned, want, have = next(leaf for leaf in leaves if not close(leaf[1], leaf[2]))
    seen = witness(case, returned, want, have, len(returns) > 1)
    found = _counts(evidence) if returned.kind == "number" else _numbers(evidence, returned, want, have)
    if found is None and want.ndim:
        found = _parts(returned, want, have)
    found = found or _coarse(want, have)
    if found is None:
        what = "The number is not right." if want.ndim == 0 else "The shape is right, the numbers are not."
        found = Finding("different-numbers", what)
    right = [r.name for r, a, b in leaves if close(a, b)]
    return Finding(found.id, found.says + (f" The {right[0]} is right." if right else ""), seen, found.look)


def _counts(evidence: Evidence) -> Finding | None:
    """What several counts have in common: the same factor, the same difference, always the same number."""
    pairs = [
        (float(a.leaves[0]), float(b.leaves[0]))
        for a, b, counts in zip(evidence.expected, evidence.got, evidence.counts, strict=True)
        if counts and a.error is None and b.error is None and b.leaves[0].numel() == 1
    ]
    if len(pairs) < 2:
        return None
    if len({have for _, have in pairs}) == 1 < len({want for want, _ in pairs}):
        return Finding("always-the-same", "It gives the same number whatever the sizes are.")
    factors = {round(have / want, 9) for want, have in pairs if want}
    if len(factors) == 1:
        says = f"Every count is {factors.pop():.4g} times what it should be."
        return Finding("scaled", says, look="a factor: what is counted twice, or left out?")
    return None


def _numbers(evidence: Evidence, returned: Returned, want: Tensor, have: Tensor) -> Finding | None:
    if not want.is_floating_point():
        if want.dtype == torch.bool and torch.equal(want, ~have):
            return Finding("opposite", "Every entry is the opposite of what it should be.")
        return None
    if bool(have.isnan().any()) and not bool(want.isnan().any()):
        rows = "Some entries are" if not bool(have.isnan().all()) else "Everything is"
        return Finding("not-a-number", f"{rows} NaN.{_mask_turns_nan(evidence)}", look=_NAN_LOOK)
    if bool(have.isinf().any()) and not bool(want.isinf().any()):
        return Finding(
            "infinite", "Some entries are infinite.", look="a division by 0, or exp of a large number."
        )
    if returned.rows_sum_to_one:
        sums = have.sum(-1)
        if not close(sums, torch.ones_like(sums)):
            columns = have.sum(-2)
            if close(columns, torch.ones_like(columns)):
                says = f"The rows of the {returned.name} don't sum to 1; the columns do."
                return Finding("columns-sum-to-one", says, look="the axis that is normalised.")
            worst = sums.flatten()[(sums - 1).abs().argmax()]
            says = f"The shape is right, but the rows of the {returned.name} don't sum to 1: one sums to "
            return Finding(
                "rows-do-not-sum-to-one", f"{says}`{number(worst)}`.", look="what happens to a row."
            )
    return (
        _scaled(evidence, want, have)
        or changed_afterwards(want, have, returned.axes)
        or _moved(want, have)
        or factor_by_trying(evidence)
    )


def _mask_turns_nan(evidence: Evidence) -> str:
    """A hint where NaN comes with a mask alone."""
    if not _mask_turns_it(evidence):
        return ""
    return " That comes with the mask: `0 * inf` is NaN, and so is `inf - inf`."


def _mask_turns_it(evidence: Evidence) -> bool:
    """Whether the answer is right without a mask, and wrong only where there is one."""
    masked = [
        any(isinstance(a, Tensor) and a.dtype == torch.bool for a in c.arguments) for c in evidence.cases
    ]
    rows = list(zip(masked, evidence.right, evidence.counts, evidence.got, strict=True))
    bad = [mask for mask, ok, counts, _ in rows if counts and not ok]
    good = [mask for mask, ok, counts, _ in rows if counts and ok]
    return bool(bad) and bool(good) and all(bad) and not all(good)


def _scaled(evidence: Evidence, want: Tensor, have: Tensor) -> Finding | None:
    if scale_of(want, have) is not None:
        found = times_right(evidence)
        if found or want.numel() == 1:
            return found
        says = f"Every number is {scale_of(want, have):.4g} times what it should be."
        return Finding("scaled", says, look="the factor, and which size it is made of.")
    if want.numel() < 4:
        return None  # of two or three numbers some difference may be the same by chance
    want, have = want.double(), have.double()
    offset = float((have - want).mean())
    if torch.allclose(have, want + offset, rtol=1e-3, atol=1e-5):
        return Finding("shifted", f"Every number is off by the same amount, `{offset:.4g}`.", look="a sum.")
    return None


def _coarse(want: Tensor, have: Tensor) -> Finding | None:
    """Right up to two or three digits everywhere: something was rounded on the way."""
    if not want.is_floating_point() or want.numel() < 2:
        return None
    if nearly(want, have):
        says = "The numbers are nearly right, to two or three digits. Something is rounded on the way, goes "
        says += "through float16 or bfloat16, or a small number is added."
        return Finding("nearly-right", says, look="conversions, `round`, and small numbers added for safety.")
    return None


def _moved(want: Tensor, have: Tensor) -> Finding | None:
    if want.numel() and close(want.flatten().sort().values, have.flatten().sort().values):
        says = "Shape and numbers are right, but they stand in the wrong places."
        return Finding("numbers-in-wrong-places", says, look="which axis is moved, and which one is cut.")
    return None


def _parts(returned: Returned, want: Tensor, have: Tensor) -> Finding | None:
    """Right in one part (a head, a sentence, a position) and wrong in another?"""
    words = {"b": "sentence", "h": "head", "n": "token", "n_q": "query"}
    if len(returned.axes) != want.ndim:
        return None
    wrong = differing(want, have)
    for axis in sorted(
        range(want.ndim),
        key=lambda a: list(words).index(returned.axes[a]) if returned.axes[a] in words else 9,
    ):
        word = words.get(returned.axes[axis])
        other = [a for a in range(want.ndim) if a != axis]
        bad = wrong.any(dim=other) if other else wrong
        if word and want.shape[axis] > 1 and bool(bad.any()) and not bool(bad.all()):
            right = [str(counted(word, i)) for i, no in enumerate(bad.tolist()) if not no]
            one = len(right) == 1
            some = f"{word if one else _plural(word)} {in_a_row(right)} {'is' if one else 'are'} right"
            empty = have.movedim(axis, 0)[bad]
            if have.is_floating_point() and not bool(empty.any()):
                rest = "the other is" if int(bad.sum()) == 1 else "the others are"
                says = f"Of {want.shape[axis]} {_plural(word)}, {some}; {rest} all 0, and never filled."
                return Finding("never-filled", says, look="where a loop starts and ends.")
            what = "length" if returned.kind == "numbers" else "shape"
            says = f"The {what} is right. Of {want.shape[axis]} {_plural(word)}, {some}, the others wrong."
            return Finding(
                f"some-{_plural(word)}-wrong", says, look=f"what differs between the {_plural(word)}."
            )
    return None


def _with_only_right(evidence: Evidence, finding: Finding, i: int) -> Finding:
    """Add under which circumstances the answer is right, when it is under some."""
    right = [label for label in evidence.labels(True) if label not in evidence.labels(False)]
    # A wrong factor can come out right for some sizes; to call it right there would lead away from it.
    if not right or finding.id == "wrong-scale":
        return finding
    where = in_a_row(right) if len(right) < 4 else "elsewhere"
    says = f"It is right {where}, and wrong {evidence.cases[i].label}. {finding.says}"
    id_ = finding.id if finding.id not in ("different-numbers",) else "right-in-some-cases"
    return Finding(id_, says, finding.witness, finding.look)


def _plural(word: str) -> str:
    return "queries" if word == "query" else word + "s"
