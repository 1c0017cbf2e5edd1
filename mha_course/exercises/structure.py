"""What came back, before any number is compared: its type, how many things, their shapes and dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from torch import Size, Tensor

from mha_course.exercises.causes import two_things
from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.exercise import Case, Returned
from mha_course.exercises.outcome import Outcome, close, kind_of
from mha_course.exercises.witness import number

# Types for which there is more to say: what is returned, and where to look.
_CALLED = ("It returns a function, and nobody calls it.", "", "the `return` line: a name without its `( )`.")
_INSTEAD = {
    "coroutine": ("`async def` gives a coroutine, not a result.", "", "the word in front of `def`."),
    "function": _CALLED,
    "method": _CALLED,
    "builtin_function_or_method": _CALLED,
    "Size": ("It returns a shape (`torch.Size`), not the tensor that has it.", "", "the `return` line."),
    "tuple of one": ("It returns a tuple with one thing in it.", "", "the comma in the `return` line."),
    "type": ("It returns a class, and makes no object of it.", "", "the `return` line."),
}


def structure(evidence: Evidence, i: int) -> Finding | None:
    """What is wrong with the type or the shape of the answer in case i, or None."""
    got = evidence.got[i]
    return _type(evidence.exercise.returns, got) or _structure(
        evidence, evidence.cases[i], evidence.expected[i], got
    )


def arrangement(evidence: Evidence) -> Finding | None:
    """Several results, but not these, or not in this order; None when each stands in its place.

    Told by types and shapes: whatever the numbers are, they can't be judged before that is mended.
    """
    if len(evidence.exercise.returns) < 2:
        return None
    judged = [i for i, out in enumerate(evidence.got) if evidence.counts[i] and out.error is None]
    # In a special case two results may have one shape, so that it says nothing of their places.
    judged = [i for i in judged if not evidence.cases[i].edge] or judged
    found = {i: finding for i in judged if (finding := _arranged(evidence, i))}
    if not found:
        return None
    first = min(found)
    finding, label = found[first], evidence.cases[first].label
    if len(found) < len(judged):
        says = f"{label[:1].upper()}{label[1:]} {finding.says[:1].lower()}{finding.says[1:]}"
        return Finding(finding.id, says, finding.witness, finding.look)
    return finding


def _arranged(evidence: Evidence, i: int) -> Finding | None:
    returns, got = evidence.exercise.returns, evidence.got[i]
    shapes = [leaf.shape for leaf in evidence.expected[i].leaves]
    names = [returned.name for returned in returns]
    wanted = f"wanted is `({', '.join(names)})`. Change that, then check again."
    look = "the `return` line."
    lone = len(got.odd) == 1 and got.odd[0] in ("", "numpy", "list", "mixed list", "number", "bool")
    fault = None if lone else _type(returns, got)
    if fault:
        return Finding(
            fault.id, f"{fault.says} Your function should return `({', '.join(names)})`.", look=look
        )
    have = [_name(leaf, k, shapes, names) for k, leaf in enumerate(got.leaves)]
    seen = " and ".join(f"`{tuple(leaf.shape)}`" for leaf in got.leaves[:4])
    seen = f"{'Its shape is' if len(got.leaves) == 1 else 'Their shapes are'} {seen}."
    if len(got.leaves) == 1:
        only = f"the {have[0]} alone" if have[0] else "one thing"
        id_ = f"{have[0]}-only" if have[0] else "wrong-number-of-results"
        return Finding(id_, f"You return {only}; {wanted}", seen, look)
    if len(got.leaves) != len(names):
        return Finding("wrong-number-of-results", f"You return {_count(len(have))}; {wanted}", seen, look)
    if _turned(got.leaves, shapes) in (1, len(names)):
        return None  # each in its place, and one or all of them transposed
    if all(have) and have != names:
        if not _twice(have, got.leaves):
            return None  # of the shape of another one, and not that one: told by what it holds
        id_ = "results-swapped" if sorted(have) == sorted(names) else "one-result-twice"
        return Finding(id_, f"You return `({', '.join(have)})`; {wanted}", seen, look)
    displaced = [name for name, place in zip(have, names, strict=True) if name not in ("", place)]
    if displaced and not any(a == b for a, b in zip(have, names, strict=True)):
        says = f"You return what has the shape of the {in_a_row(displaced)} in another place; {wanted}"
        return Finding("results-swapped", says, seen, look)
    return None


def _turned(leaves: Sequence[Tensor], shapes: Sequence[Size]) -> int:
    """How many are transposed, where all others have the shape that is wanted in their place; else 0."""
    pairs = [(leaf.shape, shape) for leaf, shape in zip(leaves, shapes, strict=True) if leaf.shape != shape]
    return len(pairs) if all(a == b[::-1] for a, b in pairs) else 0


def _twice(have: Sequence[str], leaves: Sequence[Tensor]) -> bool:
    """Whether results of one name hold the same numbers."""
    firsts: dict[str, Tensor] = {}
    return all(close(firsts.setdefault(name, leaf), leaf) for name, leaf in zip(have, leaves, strict=True))


def _name(leaf: Tensor, place: int, shapes: Sequence[Size], names: Sequence[str]) -> str:
    """Which result has this shape: the one that belongs in this place, where several have it."""
    if place < len(shapes) and leaf.shape == shapes[place]:
        return names[place]
    return names[shapes.index(leaf.shape)] if leaf.shape in shapes else ""


def _code(text: str) -> str:
    return text.replace("`", "'")


def _type(returns: Sequence[Returned], got: Outcome) -> Finding | None:
    if len(returns) == 1 and len(got.odd) > 1 and set(got.odd) != {""}:
        return _tuple(returns[0], got)
    for i, word in enumerate(got.odd):
        kind = returns[i].kind if i < len(returns) else "float"
        if word == "nothing" and len(got.odd) > 1 and i < len(returns):
            return Finding(
                "returned-nothing", f"You return `None` for the {returns[i].name}.", look="the `return` line."
            )
        if word == "nothing":
            return Finding(
                "returned-nothing",
                "It returns nothing (`None`).",
                look="whether every way through it ends in a `return`.",
            )
        if word.startswith("on "):
            return Finding("wrong-device", f"The result lies {word}; the input lies on the CPU.")
        if word in ("", "numpy") or (word == "list" and kind == "numbers"):
            continue
        if word in ("number", "bool") and kind in ("number", "share"):
            continue
        if word == "mixed list" and kind == "numbers":
            if "id" not in returns[i].name:
                says = f"{got.stray}, not a whole number."
                return Finding("not-a-whole-number", says, look="what is put into the list.")
            return Finding("not-an-id", f"{got.stray}, not an id.", look="what is put in for such a token.")
        if word == "exception":
            says = f"It returns an error as if it were a value: `{_code(got.shown)}`. Nothing stops."
            return Finding("returned-error", says, look="`return` and `raise`.")
        if word.startswith("pair of "):
            return Finding("a-pair", two_things(word.split()[-1]), look="which of the two is needed.")
        if word == "list" and got.leaves[i].numel() and bool(got.leaves[i].isnan().all()):
            says = f"It returns a list of `None`; {_wanted(kind)} is wanted."
            return Finding("a-list", says, look="what is collected: does each part give something back?")
        if word in ("list", "mixed list"):
            return Finding(
                "a-list", f"It returns a list; {_wanted(kind)} is wanted.", look="how parts are put together."
            )
        if word == "bool" and kind in ("float", "bool"):
            says = f"It returns `{bool(got.leaves[i])}`; a tensor is wanted."
            return Finding("a-number", says, look="the `return` line.")
        if word == "number" and kind in ("float", "bool"):
            return Finding(
                "a-number", "It returns one number; a tensor is wanted.", look="the `return` line."
            )
        if word in ("generator expression", "map", "filter", "zip", "dict_values"):
            kind_of_it = "generator" if word == "generator expression" else word
            around = "put `[ ]` or `list( )` around it" if kind == "numbers" else "a tensor is wanted"
            look = "the outermost brackets." if kind == "numbers" else "`torch.stack` and `torch.cat`."
            return Finding("a-generator", f"It is a `{kind_of_it}`; {around}.", look=look)
        if word == "generator":
            return Finding("a-generator", "It yields; it should return.", look="`yield` and `return`.")
        if word in _INSTEAD:
            return Finding("wrong-type", *_INSTEAD[word])
        return Finding(
            "wrong-type",
            f"It returns something of type `{word}`; {_wanted(kind)} is wanted.",
            look="the `return` line.",
        )
    return None


def _tuple(returned: Returned, got: Outcome) -> Finding:
    """Several things where one is wanted: a shape, numbers beside a tensor, `None`."""
    look = "the `return` line: a comma there makes a tuple."
    if set(got.odd) <= {"number", "bool"}:
        shown = f", `{_code(got.shown)}`" if got.shown else ""
        says = f"It returns a tuple of {len(got.odd)} numbers{shown}; {_wanted(returned.kind)} is wanted."
        return Finding("wrong-number-of-results", says, look=look)
    words = {
        "": "a tensor",
        "number": "a number",
        "bool": "a truth value",
        "nothing": "`None`",
        "Size": "a shape",
    }
    things = in_a_row([words.get(word, f"a `{word}`") for word in got.odd[:4]])
    says = f"It returns {len(got.odd)} things, {things}; {_wanted(returned.kind)} alone is wanted."
    return Finding("wrong-number-of-results", says, look=look)


def _structure(evidence: Evidence, case: Case, expected: Outcome, got: Outcome) -> Finding | None:
    returns = evidence.exercise.returns
    if len(got.leaves) != len(expected.leaves):
        shapes = {tuple(leaf.shape) for leaf in got.leaves}
        if len(returns) == 1 and len(got.leaves) > 1 and len(shapes) == 1:
            says = f"It returns {len(got.leaves)} things, tensors of shape `{shapes.pop()}` in a tuple. "
            says += f"One tensor of shape `{tuple(expected.leaves[0].shape)}` is wanted."
            look = "how parts are put together: `torch.stack` and `torch.cat`."
            return Finding("wrong-number-of-results", says, look=look)
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
    if returned.kind == "numbers" and have.ndim == 1:
        things = "ids, one for each token" if "id" in returned.name else "numbers, one for each word"
        says = f"There should be {want.numel()} {things}; yours are {have.numel()}."
        return Finding("wrong-length", says, look=f"what happens to each {things.rpartition(' ')[2]}.")
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
    if returned.kind == "number" and kind_of(have) == "bool":
        return Finding("not-a-whole-number", f"A whole number is wanted; yours is `{number(have)}`.")
    if kind_of(want) == "bool":
        alike = close(want.double(), have.double()) if not have.is_complex() else False
        says = "A mask is boolean here: True = may attend. Yours holds numbers"
        says += ", 1 where True is wanted and 0 where False is." if alike else "."
        return Finding(
            "numbers-for-booleans" if alike else "mask-of-numbers", says, look="the dtype of what you return."
        )
    if kind_of(want) == "whole" and kind_of(have) == "float":
        same = close(want.double(), have)
        says = "Whole numbers are wanted; yours are floats."
        if have.ndim == 0:
            yours = f"{number(have)}{'.0' if same else ''}"
            says = f"A whole number (`int`) is wanted; yours is the float `{yours}`."
        return Finding("not-a-whole-number", says, look="the kind of division that you use.")
    says = f"The dtype should be `{want.dtype}`; yours is `{have.dtype}`."
    if kind_of(want) == "float" and kind_of(have) == "whole" and not close(want, have):
        says += " Whole numbers come from counting, and from what is rounded."
    return Finding("wrong-dtype", says, look="conversions.")


def _count(n: int) -> str:
    return "one thing" if n == 1 else f"{n} things"


def _wanted(kind: str) -> str:
    words = {"number": "one whole number", "numbers": "a list of whole numbers", "share": "one number"}
    return words.get(kind, "a tensor")
