"""Why two tensors don't go together, in words: which ones they are, which axes meet, and which should."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mha_course.exercises.exercise import Case
from mha_course.exercises.reading.meeting_tensors import Known, Met, recognised, where_it_stopped

_PRODUCTS = {"matmul", "__matmul__", "__rmatmul__", "bmm", "mm", "baddbmm", "dot", "mv"}
_SHAPES = {"view", "reshape", "unflatten"}
_BY_FEATURES = "Queries and keys are compared feature by feature: `d_k` should meet `d_k`."
_COLUMNS = "A head owns columns of the matrix: its first axis meets the features of `x`."
_BLOCKS = "Each head meets its own rows of W_O, as many as it has features."


def do_not_meet(
    case: Case, known: Callable[[tuple[Any, ...]], list[Known]], call: Callable[[tuple[Any, ...]], Any]
) -> str:
    """What stood in the step that failed, and why it doesn't fit; "" when that can't be told."""
    step, tensors, numbers = where_it_stopped(lambda: call(case.fresh()))
    sizes = {"d_k": case.sizes["d_model"] // case.sizes["h"]} if {"h", "d_model"} <= set(case.sizes) else {}
    sizes |= case.sizes
    there = known(case.fresh())
    if step in _SHAPES and len(tensors) == 1:
        return _asked(recognised(tensors[0], there, sizes), numbers, sizes)
    if len(tensors) < 2:
        return ""
    a, b = (recognised(tensor, there, sizes) for tensor in tensors[:2])
    if step in _PRODUCTS:
        return _product(a, b)
    if a.known is None or b.known is None:
        return ""
    if {a.role, b.role} == {"positions", "lengths"}:
        return (
            "The positions `(n)` and the lengths `(b)` lie along the same axis. Each position is to meet "
            "each length: the lengths need an axis of their own."
        )
    if b.role == "mask" and a.role == "scores":
        return (
            f"{_upper(a.known.words)} stand as {a.shown}, the mask as {b.shown}. Axes meet from the last one "
            "on: an axis that was put into the mask (or turned) is in the way."
        )
    return ""


def _asked(a: Met, numbers: tuple[int, ...], sizes: dict[str, int]) -> str:
    """A shape asked for, with a size that the tensor doesn't have."""
    if a.known is None:
        return ""
    within = {symbol for axis in a.axes for symbol in axis.split(" * ")}
    within |= {"h", "d_k"} if "d_model" in within else set()
    for number in numbers:
        names = [name for name, size in sizes.items() if size == number]
        if number > 1 and len(names) == 1 and names[0] not in within:
            there = f"{a.known.words}, {a.shown}, has none"
            return f"The shape asked for has `{names[0]}` = {number}, and {there}."
    return ""


def _product(a: Met, b: Met) -> str:
    why = _why(a, b)
    if a.known is None and b.known is None:
        return why
    met = ""
    if a.tensor.ndim and b.tensor.ndim > 1 and a.tensor.shape[-1] != b.tensor.shape[-2]:
        met = f": `{a.axes[-1]}` meets `{b.axes[-2]}`"
    left = a.known.words if a.known else "something"
    right = b.known.words if b.known else "something"
    return f"On the left: {left}, {a.shown}; on the right: {right}, {b.shown}{met}. {why}".rstrip()


def _why(a: Met, b: Met) -> str:
    """The rule that is broken."""
    for rule in (_queries_and_keys, _weights_and_values, _projection, _fusing):
        words = rule(a, b)
        if words:
            return words
    return ""


def _queries_and_keys(a: Met, b: Met) -> str:
    if not {a.role, b.role} <= {"q", "k"} or not a.role or not b.role:
        return ""
    forms = {a.form, b.form}
    if "whole" in forms and forms != {"whole"}:
        one = a if a.form == "whole" else b
        what = "queries" if one.role == "q" else "keys"
        return f"The {what} are not cut: they are d_model wide, the others d_k."
    if a.role == b.role:
        what = "Queries meet queries" if a.role == "q" else "Keys meet keys"
        return f"{what}, and each query should meet each key."
    said = []
    if a.role == "k":
        said.append("Queries and keys have changed places in the product.")
    if b.axes[-2:] in (("n", "d_k"), ("n", "d_model")):
        what = "keys" if b.role == "k" else "queries"
        said.append(f"The {what} are not transposed (or twice): tokens stand where features should.")
    else:
        said.append("The axes that have changed places are not the last two.")
    return " ".join([*said, _BY_FEATURES])


def _weights_and_values(a: Met, b: Met) -> str:
    if a.role in ("weights", "scores") and b.role == "v":
        if a.axes[-2:] == ("n_k", "n_q"):
            return (
                "The weights are transposed: their last axis, the keys, should meet the tokens of the values."
            )
        if b.form == "whole" and a.form == "all heads":
            return "The values are not cut into heads: each head's weights should meet its own."
        return "The last axis of the weights, the keys, should meet the tokens of the values."
    if a.role == "v" and b.role in ("weights", "scores"):
        return "Values and weights have changed places in the product: each row of weights mixes values."
    return ""


def _projection(a: Met, b: Met) -> str:
    if a.role == "w" and b.role == "x":
        return "The matrix stands on the left of the input. Matrices multiply from the right here."
    if b.role != "w":
        return ""
    if a.role == "x" and b.form == "rows":
        return f"These are rows. {_COLUMNS}"
    if a.role == "x" and b.form == "below":
        return "Joined below each other they have too many rows: side by side `x` would meet all three."
    if a.role == "x" and b.form == "all heads" and a.form == "whole":
        return "In front of the last two axes `b` meets `h`: the input needs an axis for the heads, too."
    if a.role == "x" and a.form != "whole":
        return "The input is cut before it is projected. Every head reads the whole input."
    if a.role == "head" or (a.known is None and a.axes[-1:] == ("d_k",)):
        return (
            "What is projected is no longer the input: it has d_k features. Is the name `x` given to a "
            "head's result in the loop?"
        )
    return ""


def _fusing(a: Met, b: Met) -> str:
    if a.role == "w_o":
        return "W_O stands on the left. It multiplies from the right here."
    if b.role != "w_o":
        return ""
    if b.form == "rows":
        return f"The head has {a.tensor.shape[-1]} features and meets {len(b.tensor)} rows of W_O. {_BLOCKS}"
    if b.form == "columns":
        return f"These are columns of W_O. {_BLOCKS}"
    if a.form == "sum":
        return "The heads are averaged or added up; they should stand side by side when W_O comes."
    if a.form == "along tokens":
        return "The heads are joined along the tokens; features should stand side by side."
    if a.form in ("all heads", "one head", "folded"):
        whole = "all of W_O" if b.form == "whole" else "some rows of W_O"
        return f"Here a head meets {whole}. {_BLOCKS} (Or the heads are put side by side first.)"
    return ""


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]
