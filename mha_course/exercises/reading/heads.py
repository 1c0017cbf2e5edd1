"""What a wrong answer did with its heads: how many there are, which ones meet, what each place holds."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.mistakes.workbench import heads_with, split
from mha_course.exercises.outcome import close
from mha_course.exercises.reading.factors import times_right
from mha_course.exercises.reading.heads_of_other_inputs import FUNCTIONS
from mha_course.exercises.reading.heads_otherwise import SETTINGS
from mha_course.exercises.reading.layer import read_heads
from mha_course.exercises.reading.layer_probes import Call

_VAGUE = {"values-bent", "tokens-mixed", "weights-of-heads", "scores-are-wrong", "values-another-way"}


def read_all_heads(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """What can be told of the concatenation of all heads, from the plainest on."""
    got, want = evidence.got[i].leaves, evidence.expected[i].leaves
    if len(got) != 1 or not got[0].is_floating_point():
        return None
    if not bool(got[0].isfinite().all()):
        return _not_finite(evidence, i)
    found = _otherwise(evidence, i)
    if found:
        return found
    if got[0].shape != want[0].shape:
        return _width(evidence, i)
    found = _number_of_heads(evidence, i) or _which_meet(evidence, i) or _sums(evidence, i)
    found = found or times_right(evidence) or read_heads(evidence, i, call)
    if found is None or found.id in _VAGUE:
        mixed = _sentences_mix(evidence, i, call)
        if mixed:
            says = f"{found.says} {mixed}" if found else mixed
            return Finding("sentences-mix", says, look="what happens to axis 0.")
    return found


def _not_finite(evidence: Evidence, i: int) -> Finding | None:
    """Which heads hold NaN or infinity, where some do and some don't."""
    have, h = evidence.got[i].leaves[0], evidence.cases[i].sizes["h"]
    if have.shape != evidence.expected[i].leaves[0].shape or h < 2:
        return None
    bad = ~split(have, h).isfinite().flatten(2).all(-1).all(0)
    places = bad.nonzero()[:, 0].tolist()
    if not places or len(places) == h:
        return None
    what = "holds" if len(places) == 1 else "hold"
    says = f"Of {h} heads, {_listed(places)} {what} NaN or infinity, the others numbers."
    if places == [0]:
        says += " In the first round of a loop the index is 0: is something divided by it?"
    return Finding("heads-not-finite", says, look="what differs between the rounds of the loop.")


def _ordinary(evidence: Evidence) -> Iterator[int]:
    """Cases that count, and are no special ones, in which numbers came back."""
    for i, case in enumerate(evidence.cases):
        if evidence.counts[i] and not case.edge and evidence.got[i].error is None and evidence.got[i].leaves:
            yield i


def _otherwise(evidence: Evidence, i: int) -> Finding | None:
    """Something from the table of rarer things that gives the same in every ordinary case."""
    tried = [(words, lambda *a, s=s: heads_with(*a, **s)) for words, s in SETTINGS]
    for (says, look), fn in [*tried, *FUNCTIONS]:
        if all(_gives(fn, evidence, j) for j in sorted({i, *_ordinary(evidence)}, key=lambda j: j != i)):
            return Finding("heads-otherwise", says, look=look)
    return None


def _gives(fn: object, evidence: Evidence, i: int) -> bool:
    have = evidence.got[i].leaves[0]
    try:
        made = fn(*evidence.cases[i].arguments)
    except (RuntimeError, ValueError):
        return False
    return made.shape == have.shape and close(made, have)


def _width(evidence: Evidence, i: int) -> Finding | None:
    """A result (b, n, something): what the number of features says about slices and heads."""
    case, have = evidence.cases[i], evidence.got[i].leaves[0]
    b, n, d_model, h = (case.sizes[name] for name in ("b", "n", "d_model", "h"))
    d_k, width = d_model // h, have.shape[-1]
    if have.ndim != 3 or tuple(have.shape[:2]) != (b, n) or width == d_model:
        return None
    wanted = f"`(b, n, d_model)` = `{(b, n, d_model)}`"
    start = f"The result should have shape {wanted}; yours has `{tuple(have.shape)}`."
    look = "where a slice starts and ends."
    if width == h * d_model:
        says = f"That is h times d_model: each of the {h} heads is d_model wide, not d_k = {d_k}."
        return Finding("heads-too-wide", f"{start} {says}", look="which of queries, keys and values are cut.")
    always = _always_wide(evidence)
    if always:
        says = f"The slices are {always} wide, whatever d_k is; here d_k = {d_k}."
        return Finding("slices-of-another-width", f"{start} {says}", look="where `d_k` takes part.")
    if width % h == 0 and width // h in (d_k - 1, d_k + 1):
        less = "one less" if width // h < d_k else "one more"
        says = (
            f"Each of the {h} heads is {width // h} wide, {less} than d_k = {d_k}. "
            "The end of a slice isn't part of it."
        )
        return Finding("slices-off-by-one", f"{start} {says}", look=look)
    if width == d_model + h - 1:
        says = "All slices but the last are one feature too wide: the end of a slice isn't part of it."
        return Finding("slices-off-by-one", f"{start} {says}", look=look)
    if width == d_k * h * (h + 1) // 2:
        says = (
            f"The slices grow: {d_k} wide, then {2 * d_k}, and so on. Each starts at one end of the features."
        )
        return Finding("slices-grow", f"{start} {says}", look="where a slice starts.")
    if width % d_k == 0:
        count = width // d_k
        says = f"That is room for {count} head{'s' * (count > 1)} of width d_k = {d_k}; there are {h}."
        return Finding("number-of-heads", f"{start} {says}", look="how often the loop runs.")
    if width % h == 0:
        says = f"Each of the {h} heads is {width // h} wide; d_k is {d_k}."
        return Finding("slices-of-another-width", f"{start} {says}", look=look)
    if width in (d_model - 1, d_model + 1):
        says = "One feature is missing" if width < d_model else "There is one feature too many"
        return Finding("slices-off-by-one", f"{start} {says}: a slice starts or ends one off.", look=look)
    says = f"The slices are not all d_k = {d_k} wide: together they have {width} features, not {d_model}."
    return Finding("slices-unlike", f"{start} {says}", look=f"{look} Brackets count.")


def _always_wide(evidence: Evidence) -> int | None:
    """The width of a head, where it is the same in cases that differ in d_k."""
    widths, wanted = set(), set()
    for j in _ordinary(evidence):
        sizes, have = evidence.cases[j].sizes, evidence.got[j].leaves[0]
        if have.ndim != 3 or sizes["h"] == 1 or have.shape[-1] % sizes["h"]:
            continue
        widths.add(have.shape[-1] // sizes["h"])
        wanted.add(sizes["d_model"] // sizes["h"])
    return widths.pop() if len(widths) == 1 < len(wanted) else None


def _number_of_heads(evidence: Evidence, i: int) -> Finding | None:
    """Right heads, but of another number than h."""
    counts = {j: _heads_in(evidence, j) for j in _ordinary(evidence)}
    mine = counts.get(i)
    if mine is None or mine == evidence.cases[i].sizes["h"]:
        return None
    sizes = evidence.cases[i].sizes
    says = f"This is what {mine} heads of width {sizes['d_model'] // mine} give; there are h = {sizes['h']}."
    look = "where `h` takes part, and numbers in the code."
    known = [count for count in counts.values() if count is not None]
    widths = {evidence.cases[j].sizes["d_model"] // c for j, c in counts.items() if c is not None}
    if len(known) > 1 and len(set(known)) == 1:
        says += f" It is always {mine}, whatever h is."
    elif len(known) > 1 and len(widths) == 1:
        says += f" The width of a head is always {widths.pop()}, whatever d_model and h are."
    return Finding("number-of-heads", says, look=look)


def _heads_in(evidence: Evidence, i: int) -> int | None:
    case, have = evidence.cases[i], evidence.got[i].leaves[0]
    d_model = case.sizes["d_model"]
    if have.shape != evidence.expected[i].leaves[0].shape:
        return None
    for h in range(1, d_model + 1):
        if d_model % h == 0 and close(heads_with(*case.arguments[:4], h), have):
            return h
    return None


def _which_meet(evidence: Evidence, i: int) -> Finding | None:
    """Which head's queries, keys and values each place of the concatenation is made of."""
    x, w_q, w_k, w_v, h = evidence.cases[i].arguments
    if h < 2:
        return None
    q, k, v = (split(x @ w, h) for w in (w_q, w_k, w_v))
    d_k = q.shape[-1]
    scores = torch.einsum("bpqd,brkd->prbqk", q, k) / d_k**0.5
    made = torch.einsum("prbqk,bskd->prsbqd", scores.softmax(-1), v)
    have = split(evidence.got[i].leaves[0], h)
    places = []
    for place in range(h):
        near = torch.isclose(made, have[:, place], rtol=2e-4, atol=2e-5).flatten(3).all(-1).nonzero()
        places.append(tuple(near[0].tolist()) if len(near) else None)
    right = [place for place, heads in enumerate(places) if heads == (place,) * 3]
    if len(right) == h:
        return None
    if None not in places:
        return Finding("heads-that-meet", _met(places), look="the index of each slice.")
    if not right:
        return None
    others = [place for place in range(h) if place not in right]
    what = [_held(have[:, place], places[place]) for place in others]
    says = f"Of {h} heads, {_these(right)} right, {_these(others)} wrong"
    if len(set(what)) == 1 and what[0]:
        says += f": {what[0]}"
    return Finding("some-heads-wrong", f"{says}.", look="what differs between the rounds of the loop.")


def _sums(evidence: Evidence, i: int) -> Finding | None:
    """Each query's output right up to a factor near 1: its weights nearly sum to 1."""
    h = evidence.cases[i].arguments[4]
    want, have = (split(out.leaves[0].double(), h) for out in (evidence.expected[i], evidence.got[i]))
    factor = (want * have).sum(-1) / (want * want).sum(-1)
    rest = (have - factor.unsqueeze(-1) * want).abs().max()
    low, high = float(factor.min()), float(factor.max())
    if float(rest) > 1e-4 or not (0.97 < low and high < 1.03) or high - low < 1e-6:
        return None
    says = (
        f"Weights nearly sum to 1, not quite: in one row they sum to `{low:.5f}`, in another to `{high:.5f}`."
    )
    return Finding("sums-near-one", says, look="what is added to the sum that divides, or left out of it.")


def _held(have: Tensor, heads: tuple[int, ...] | None) -> str:
    if not bool(have.any()):
        return "nothing but 0 stands in its place"
    if heads is not None and len(set(heads)) == 1:
        return f"head {heads[0] + 1} stands in its place"
    return ""


def _listed(places: list[int]) -> str:
    return in_a_row([str(place + 1) for place in places])


def _these(places: list[int]) -> str:
    return f"head {_listed(places)} is" if len(places) == 1 else f"heads {_listed(places)} are"


def _met(places: list[tuple[int, ...]]) -> str:
    """Sentences for places whose queries, keys and values are of these heads."""
    if all(len(set(heads)) == 1 for heads in places):
        order = in_a_row([str(heads[0] + 1) for heads in places])
        return f"The heads are right, and stand in another order (or some of them twice): {order}."
    said = []
    for place, heads in enumerate(places):
        if heads != (place,) * 3:
            parts = zip(("queries", "keys", "values"), heads, strict=True)
            said.append(
                f"in the place of head {place + 1} " + in_a_row([f"{w} of head {j + 1}" for w, j in parts])
            )
    return f"Queries, keys and values of different heads meet: {'; '.join(said)}."


def _sentences_mix(evidence: Evidence, i: int, call: Call) -> str:
    """A sentence about sentences that influence each other, or ""."""
    x, *others = evidence.cases[i].fresh()
    if len(x) < 2:
        return ""
    x[-1] = x[-1].flip(0) * 0.7 + 0.2
    new = call((x, *others))
    if new.error is not None or not new.leaves or new.leaves[0].shape != evidence.got[i].leaves[0].shape:
        return ""
    if close(new.leaves[0][0], evidence.got[i].leaves[0][0]):
        return ""
    return "Sentences influence each other: another last sentence changes the result for the first one."
