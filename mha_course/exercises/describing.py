"""The most specific true thing to say about an answer that is wrong in an unknown way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.exercise import Case, Returned
from mha_course.exercises.outcome import Outcome, close, differing, kind_of
from mha_course.exercises.witness import number, witness


def describe(evidence: Evidence) -> Finding:
    """Say what is known: about errors, types, shapes, then numbers, from the most specific on."""
    i = evidence.first_wrong()
    case, expected, got = evidence.cases[i], evidence.expected[i], evidence.got[i]
    if got.error is not None:
        return _error(evidence, case, got)
    if case.refuses:
        return Finding(
            "not-refused",
            f"`{_call(evidence, case)}` should raise a `ValueError`, and yours goes on.",
            look="the case in which no equal parts are possible.",
        )
    returns = evidence.exercise.returns
    finding = _type(returns, got) or _structure(evidence, case, expected, got)
    if finding:
        return _with_only_right(evidence, finding, i)
    for returned, want, have in zip(returns, expected.leaves, got.leaves, strict=True):
        seen = witness(case, returned, want, have, len(returns) > 1)
        found = _numbers(returned, want, have)
        if not close(want, have):
            where = found or _parts(returned, want, have)
            if where is None:
                where = Finding("different-numbers", "The shape is right, the numbers are not.")
            others = [
                r.name for r, a, b in zip(returns, expected.leaves, got.leaves, strict=True) if close(a, b)
            ]
            says = where.says + (f" The {others[0]} is right." if others else "")
            return _with_only_right(evidence, Finding(where.id, says, seen, where.look), i)
    return Finding("different-numbers", "The numbers are not right.")


def _error(evidence: Evidence, case: Case, got: Outcome) -> Finding:
    at = f"\nYour {got.line}" if got.line else ""
    at = f"\nIn your {_quoted(got.line)}" if got.line else at
    name, sizes = evidence.exercise.name, f" with {case.in_words()}" if case.sizes else ""
    error = got.error
    if isinstance(error, RecursionError):
        return Finding("endless-recursion", f"`{name}` calls itself without end.{at}")
    if isinstance(error, SystemExit):
        return Finding("exits", f"`{name}` ends the program (`exit`) instead of returning something.{at}")
    if isinstance(error, NameError):
        says = f"It stops because a name is not known here: `{_code(got.error_text)}`{at}"
        return Finding("unknown-name", says, look="the spelling of the name, and whether it is an argument.")
    right = evidence.labels(True)
    only = f" It is right {_listed(right)}." if right else ""
    when = case.label if right else sizes.strip()
    says = f"It stops with an error {when}: `{_code(got.error_text)}`{at}{only}"
    where = f"the line named, and the shapes that meet in it{f' ({case.in_words()})' if case.sizes else ''}."
    if case.refuses:
        return Finding(
            "refused-otherwise", f"It does stop, but not with a `ValueError`: `{_code(got.error_text)}`{at}"
        )
    return Finding("raised", says, look=where)


def _type(returns: Sequence[Returned], got: Outcome) -> Finding | None:
    for i, word in enumerate(got.odd):
        kind = returns[i].kind if i < len(returns) else "float"
        if word == "nothing":
            return Finding("returned-nothing", "It returns nothing (`None`).", look="the `return` line.")
        if word.startswith("on "):
            return Finding("wrong-device", f"The result lies {word}; the input lies on the CPU.")
        if word in ("", "numpy") or (word == "list" and kind == "numbers"):
            continue
        if word in ("number", "bool") and kind == "number":
            continue
        if word == "list":
            return Finding(
                "a-list", "It returns a list; a tensor is wanted.", look="how parts are put together."
            )
        if word in ("number", "bool") and kind in ("float", "bool"):
            return Finding(
                "a-number", "It returns one number; a tensor is wanted.", look="the `return` line."
            )
        if word == "generator":
            return Finding("a-generator", "It yields; it should return.", look="`yield` and `return`.")
        return Finding("wrong-type", f"It returns a thing of type `{word}`; {_wanted(kind)} is wanted.")
    return None


def _structure(evidence: Evidence, case: Case, expected: Outcome, got: Outcome) -> Finding | None:
    returns = evidence.exercise.returns
    if len(got.leaves) != len(expected.leaves):
        names = ", ".join(r.name for r in returns)
        return Finding(
            "wrong-number-of-results",
            f"It returns {_count(len(got.leaves))}; it should return {_count(len(returns))}: {names}.",
            look="the `return` line.",
        )
    for returned, want, have in zip(returns, expected.leaves, got.leaves, strict=True):
        if want.shape != have.shape:
            return _shape(case, returned, want, have, len(returns) > 1)
        if kind_of(want) != kind_of(have):
            return _kind(returned, want, have)
    return None


def _shape(case: Case, returned: Returned, want: Tensor, have: Tensor, several: bool) -> Finding:
    if want.ndim == 0:
        return Finding("wrong-shape", f"One number is wanted; yours has shape `{tuple(have.shape)}`.")
    the = f"The {returned.name}" if several else "The result"
    names = f"`({', '.join(returned.axes)})` = " if len(returned.axes) == want.ndim else ""
    says = f"{the} should have shape {names}`{tuple(want.shape)}`; yours has `{tuple(have.shape)}`."
    if names and have.ndim == want.ndim:
        for order in permutations(range(want.ndim)):
            turned = want.permute(order)
            if turned.shape == have.shape and kind_of(turned) == kind_of(have) and close(turned, have):
                says += " The numbers are right, the axes stand in another order."
                return Finding("axes-in-another-order", says, look="the order of the axes.")
    if (
        have.numel() == want.numel()
        and kind_of(have) == kind_of(want)
        and close(have.reshape(want.shape), want)
    ):
        says += " The numbers are right and in the right order."
        return Finding("axes-grouped-otherwise", says, look="the last step, which shapes the result.")
    by_size = {size: name for name, size in case.sizes.items()}
    yours = [by_size.get(size, str(size)) for size in have.shape]
    if names and all(size in by_size for size in have.shape):
        says += f" Read as symbols, yours is `({', '.join(yours)})`."
    return Finding("wrong-shape", says, look="the shape after each of your lines; print it.")


def _kind(returned: Returned, want: Tensor, have: Tensor) -> Finding:
    if kind_of(want) == "bool":
        alike = close(want.double(), have.double()) if not have.is_complex() else False
        says = "A mask is boolean here: True = may attend. Yours holds numbers"
        says += ", 1 where True is wanted and 0 where False is." if alike else "."
        return Finding("mask-of-numbers", says, look="the dtype of what you return.")
    if kind_of(want) == "whole" and kind_of(have) == "float":
        same = close(want.double(), have)
        says = f"A whole number (`int`) is wanted; yours is the float `{number(have)}{'.0' if same else ''}`."
        says = says if have.ndim == 0 else "Whole numbers are wanted; yours are floats."
        return Finding("not-a-whole-number", says, look="the kind of division that you use.")
    return Finding(
        "wrong-dtype", f"The dtype should be `{want.dtype}`; yours is `{have.dtype}`.", look="conversions."
    )


def _numbers(returned: Returned, want: Tensor, have: Tensor) -> Finding | None:
    if not want.is_floating_point():
        if want.dtype == torch.bool and torch.equal(want, ~have):
            return Finding("opposite", "Every entry is the opposite of what it should be.")
        return None
    if bool(have.isnan().any()) and not bool(want.isnan().any()):
        rows = "Some entries are" if not bool(have.isnan().all()) else "Everything is"
        return Finding("not-a-number", f"{rows} NaN.", look="0/0, inf - inf, or exp of a large number.")
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
    return _scaled(want, have) or _moved(want, have)


def _scaled(want: Tensor, have: Tensor) -> Finding | None:
    want, have = want.double(), have.double()
    scale = float((want * have).sum() / (want * want).sum().clamp_min(1e-30))
    if abs(scale) > 1e-6 and torch.allclose(have, want * scale, rtol=1e-3, atol=1e-5):
        if abs(scale + 1) < 1e-4:
            return Finding("opposite-sign", "Every number has the opposite sign.", look="a minus.")
        says = f"Every number is {scale:.4g} times what it should be."
        return Finding("scaled", says, look="the factor, and which size it is made of.")
    offset = float((have - want).mean())
    if torch.allclose(have, want + offset, rtol=1e-3, atol=1e-5):
        return Finding("shifted", f"Every number is off by the same amount, `{offset:.4g}`.", look="a sum.")
    return None


def _moved(want: Tensor, have: Tensor) -> Finding | None:
    if want.numel() and close(want.flatten().sort().values, have.flatten().sort().values):
        says = "Shape and numbers are right, but they stand in the wrong places."
        return Finding("numbers-in-wrong-places", says, look="which axis is moved, and which one is cut.")
    return None


def _parts(returned: Returned, want: Tensor, have: Tensor) -> Finding | None:
    """Right in one part (a head, a sentence, a position) and wrong in another?"""
    words = {"b": "sentence", "h": "head", "n": "position", "n_q": "query"}
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
            right = [i + 1 for i, no in enumerate(bad.tolist()) if not no]
            listed = ", ".join(str(i) for i in right)
            some = f"number {listed} is" if len(right) == 1 else f"numbers {listed} are"
            says = (
                f"The shape is right. Of {want.shape[axis]} {_plural(word)}, {some} right, the others wrong."
            )
            return Finding(
                f"some-{_plural(word)}-wrong", says, look=f"what differs between the {_plural(word)}."
            )
    return None


def _with_only_right(evidence: Evidence, finding: Finding, i: int) -> Finding:
    """Add under which circumstances the answer is right, when it is under some."""
    right = [label for label in evidence.labels(True) if label not in evidence.labels(False)]
    if not right:
        return finding
    says = f"It is right {_listed(right)}, and wrong {evidence.cases[i].label}. {finding.says}"
    id_ = finding.id if finding.id not in ("different-numbers",) else "right-in-some-cases"
    return Finding(id_, says, finding.witness, finding.look)


def _listed(labels: Sequence[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


def _call(evidence: Evidence, case: Case) -> str:
    return f"{evidence.exercise.name}({', '.join(str(a) for a in case.arguments)})"


def _quoted(line: str) -> str:
    place, _, text = line.partition(": ")
    return f"{place}: `{_code(text)}`" if text else place


def _code(text: str) -> str:
    return text.replace("`", "'").replace("\n", " ")


def _count(n: int) -> str:
    return "one thing" if n == 1 else f"{n} things"


def _plural(word: str) -> str:
    return "queries" if word == "query" else word + "s"


def _wanted(kind: str) -> str:
    return {"number": "one whole number", "numbers": "a list of whole numbers"}.get(kind, "a tensor")
