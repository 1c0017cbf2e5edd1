"""The step in which the first NaN came up, in words: a root of something negative, 0/0, a mean of nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from mha_course.exercises.exercise import Case

_AVERAGES = {"mean", "std", "var", "median", "nanmean"}


class _FirstNan(TorchFunctionMode):
    """Notes the first step that makes NaN of numbers without any, and what went into it."""

    def __init__(self) -> None:
        super().__init__()
        self.step, self.given = "", ()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        made = func(*args, **(kwargs or {}))
        if not self.step and isinstance(made, Tensor) and _spoilt(made):
            given = (*args, *(kwargs or {}).values())
            if not any(isinstance(one, Tensor) and _spoilt(one) for one in given):
                self.step, self.given = getattr(func, "__name__", ""), given
        return made


def first_nan(case: Case, call: Callable[[tuple[Any, ...]], Any]) -> str:
    """Where the first NaN comes from, in a sentence; "" when that is not seen."""
    with _FirstNan() as seen:
        call(case.fresh())
    step = seen.step.strip("_")
    tensors = [one.detach() for one in seen.given if isinstance(one, Tensor)]
    if not step or not tensors:
        return ""
    x = tensors[0]
    if step in ("sqrt", "rsqrt", "log", "log2", "log10") and bool((x < 0).any()):
        what = "A root" if "sqrt" in step else "A logarithm"
        return f"{what} is taken of negative numbers (`{step}`), and that is NaN."
    if step in ("pow", "rpow", "float_power") and bool((x < 0).any()):
        return "Negative numbers are raised to a broken power (a root), and that is NaN."
    if step in _AVERAGES and x.numel() == 0:
        return (
            f"`{step}` goes over nothing: it gets shape `{tuple(x.shape)}`. A slice that ends before it "
            "begins is empty."
        )
    if step == "softmax":
        if bool((x == torch.inf).any()):
            return "Scores of plus infinity go into the softmax, and inf / inf is NaN. A minus is missing?"
        if bool((x == -torch.inf).all(-1).any()):
            return "A row of nothing but -inf goes into the softmax, and 0 / 0 is NaN."
    other = tensors[1] if len(tensors) > 1 else None
    if step in ("div", "truediv", "true_divide", "rdiv") and other is not None:
        if bool(x.isinf().any()) and bool(other.isinf().any()):
            return "Infinity is divided by infinity, and that is NaN."
        return "0 is divided by 0, and that is NaN." if bool((other == 0).any()) else ""
    if step in ("mul", "rmul", "multiply", "matmul", "bmm", "einsum") and any(
        _infinite(one) for one in seen.given
    ):
        return "0 times infinity is taken (`0 * inf`), and that is NaN."
    if step in ("sub", "rsub", "add", "radd", "iadd", "isub") and bool(x.isinf().any()):
        return "Infinity is taken from infinity, and that is NaN."
    return ""


def _infinite(one: Any) -> bool:
    if isinstance(one, Tensor):
        return bool(one.isinf().any()) if one.is_floating_point() else False
    return isinstance(one, float) and one in (float("inf"), -float("inf"))


def _spoilt(tensor: Tensor) -> bool:
    return tensor.is_floating_point() and bool(tensor.isnan().any())
