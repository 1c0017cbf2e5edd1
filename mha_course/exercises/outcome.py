"""Running a student's function: whatever it does, an Outcome comes back and the world is as before."""

from __future__ import annotations

import contextlib
import inspect
import io
import linecache
import numbers
import random
import re
import reprlib
import sysconfig
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mha_course.exercises.unchanged import frozen, unchanged
from mha_course.exercises.world import left_alone, world_as_before

PACKAGE = str(Path(__file__).resolve().parents[1])
_LIBRARIES = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {str(Path(torch.__file__).parent)}
)

# Where the named pairs live that `max`, `sort`, ... along an axis give.
_PAIRS = "torch.return_types"


@dataclass(frozen=True)
class Outcome:
    """What one call gave: leaves (the result as tensors), or an error with the student's own line.

    odd: what is unusual about the result's type: nothing, ellipsis, numpy, list, another type's name, ...
    shown: the result as short text, where it holds no tensor.
    stray: the first entry of a list that is no number, in words.
    changed: position of the first argument that the call changed, or None.
    """

    leaves: tuple[Tensor, ...] = ()
    odd: tuple[str, ...] = ()
    shown: str = ""
    stray: str = ""
    error: BaseException | None = None
    error_text: str = ""
    line: str = ""
    changed: int | None = None

    @cached_property
    def form(self) -> tuple[Any, ...]:
        """What has to be the same before numbers are worth comparing: what was not read, shapes, kinds."""
        return (*_unread(self), *((leaf.shape, kind_of(leaf)) for leaf in self.leaves))

    @cached_property
    def last(self) -> tuple[float | None, ...]:
        """The last number of each leaf of floats: a glance at it tells most results apart."""
        leaves = self.leaves
        return tuple(
            float(x.detach().flatten()[-1]) if x.is_floating_point() and x.numel() else None for x in leaves
        )

    @cached_property
    def plain_error(self) -> str:
        """An error's text without places in memory. Its sizes stay: they tell which axes met."""
        return re.sub(r"0x[0-9a-fA-F]+", "#", self.error_text)


def run(
    fn: Callable[..., Any],
    arguments: tuple[Any, ...],
    results: int = 1,
    quiet: bool = False,
    seed: int | None = None,
) -> Outcome:
    """Call fn on the arguments given (it may keep or change them) and read what it returned.

    results: how many things it should return; 0 means one list of numbers. quiet: swallow what it prints.
    seed: for the random numbers that it may draw; where they stand when left out.
    Nothing that it raises gets through, except KeyboardInterrupt: a student may stop an endless loop.
    """
    __tracebackhide__ = True
    before = tuple(frozen(argument) for argument in arguments)
    alone = left_alone()
    silent = contextlib.redirect_stdout(io.StringIO()) if quiet and not alone else contextlib.nullcontext()
    with torch.enable_grad() if alone else world_as_before(), silent:
        if seed is not None and not alone:
            torch.default_generator.manual_seed(seed)  # the one that is restored, and no GPU's
            random.seed(seed)
            np.random.seed(seed)
        try:
            result = fn(*arguments)
            leaves, odd = _read(result, results)
            shown, stray = _shown(result), _stray(result)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            line = _own_line(error.__traceback__)
            error.__traceback__ = None  # it would keep every tensor of the call alive
            return Outcome(error=error, error_text=_in_one_line(error), line=line)
        changed = next((i for i, old in enumerate(before) if not unchanged(old, arguments[i])), None)
    return Outcome(leaves, odd, shown, stray, changed=changed)


def _in_one_line(error: BaseException) -> str:
    """Kind and text of an error; its own text may be broken, too."""
    try:
        # Some errors of PyTorch's go on with a list of its own C++ calls.
        text = " ".join(str(error).partition("Exception raised from")[0].split())
    except Exception:
        text = ""
    text = text if len(text) <= 300 else text[:299] + "…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _read(result: Any, results: int) -> tuple[tuple[Tensor, ...], tuple[str, ...]]:
    """The result as a tuple of tensors, each with a word about its type ("" when there is nothing to say)."""
    if results == 0 and isinstance(result, (tuple, range)):
        result = list(result)
    if results > 1 and isinstance(result, list) and len(result) == results:
        result = tuple(result)
    several = isinstance(result, tuple) and type(result).__module__ != _PAIRS
    parts = result if several else (result,)
    if results == 1 and len(parts) == 1 and several:
        return (torch.empty(0),), ("tuple of one",)
    leaves, odd = [], []
    for part in parts:
        leaf, word = _leaf(part)
        leaves.append(leaf)
        odd.append(word)
    return tuple(leaves), tuple(odd)


def _leaf(part: Any) -> tuple[Tensor, str]:
    nothing = torch.empty(0)
    if part is ...:
        return nothing, "ellipsis"
    if part is None:
        return nothing, "nothing"
    if isinstance(part, Tensor):
        if part.device.type != "cpu":
            return nothing, f"on {part.device}"
        part = part.detach().as_subclass(Tensor)  # a subclass may compare in its own way
        part = part.to_dense() if part.layout != torch.strided else part
        return part.resolve_conj().clone(), ""
    if isinstance(part, (bool, np.bool_)):
        return torch.tensor(bool(part)), "bool"
    if isinstance(part, (int, np.integer)):
        small = abs(int(part)) < 2**62
        return torch.tensor(int(part), dtype=torch.int64) if small else torch.tensor(float(part)), "number"
    if isinstance(part, numbers.Number) and not isinstance(part, (complex, np.complexfloating)):
        return torch.tensor(float(part), dtype=torch.float64), "number"
    if isinstance(part, np.ndarray):
        return torch.from_numpy(np.array(part)), "numpy"
    if isinstance(part, list):
        if _holds_ellipsis(part):
            return nothing, "ellipsis"
        leaf = _from_list(part)
        return (nothing, "mixed list") if leaf is None else (leaf, "list")
    if inspect.iscoroutine(part):
        part.close()  # it would complain later that nobody waited for it
    if isinstance(part, BaseException) or (isinstance(part, type) and issubclass(part, BaseException)):
        return nothing, "exception"
    if inspect.isgenerator(part) and part.gi_code.co_name == "<genexpr>":
        return nothing, "generator expression"
    if type(part).__module__ == _PAIRS:
        return nothing, f"pair of {type(part).__name__}"
    return nothing, type(part).__name__


def _from_list(part: list[Any]) -> Tensor | None:
    """A list as a tensor; None when it holds other things than numbers."""
    with contextlib.suppress(Exception):
        if part and all(isinstance(item, Tensor) for item in part):
            return torch.stack([item.detach() for item in part])
        # None among numbers becomes NaN, so that such an answer can be told from others.
        return torch.tensor([float("nan") if item is None else item for item in part])
    return None


def _shown(result: Any) -> str:
    parts = result if isinstance(result, (tuple, list)) else (result,)
    if any(isinstance(part, (Tensor, np.ndarray)) for part in parts):
        return ""
    try:
        return " ".join(reprlib.repr(result).split())
    except Exception:
        return type(result).__name__


def _stray(result: Any) -> str:
    numbers = (bool, int, float, np.generic, Tensor, type(None))
    for i, item in enumerate(result if isinstance(result, (list, tuple)) else ()):
        if not isinstance(item, numbers):
            what = f"the text `{_shown(item)}`" if isinstance(item, str) else f"a `{type(item).__name__}`"
            return f"Entry `[{i}]` is {what}"
    return ""


def _holds_ellipsis(part: Any) -> bool:
    return part is ... or (isinstance(part, (list, tuple)) and any(_holds_ellipsis(item) for item in part))


def _own_line(trace: TracebackType | None) -> str:
    """The last line of the student's own that was running, with its number in the cell or file."""
    for frame in reversed(traceback.extract_tb(trace)):
        if not frame.filename.startswith((PACKAGE, *_LIBRARIES, "<frozen")):
            text = (linecache.getline(frame.filename, frame.lineno or 0) or frame.line or "").strip()
            return f"line {frame.lineno}: {text}" if text else f"line {frame.lineno}"
    return ""


def agree(one: Outcome, other: Outcome) -> bool:
    """Whether two calls gave the same: equal up to rounding, or the same kind of error."""
    if one.error is not None or other.error is not None:
        return one.error is not None and other.error is not None and one.plain_error == other.plain_error
    if one.form != other.form:
        return False
    pairs = list(zip(one.leaves, other.leaves, strict=True))
    # Most comparisons are of things far apart, and one entry shows that.
    for (a, b), x, y in zip(pairs, one.last, other.last, strict=True):
        if x is not None and y is not None and _far_apart(a, b, x, y):
            return False
    return all(_close_everywhere(a, b) for a, b in pairs)


def _unread(out: Outcome) -> list[str]:
    """Kinds of results that hold no numbers: their leaves are empty and say nothing."""
    return [word if word not in ("number", "bool", "numpy", "list") else "" for word in out.odd]


def kind_of(leaf: Tensor) -> str:
    """bool, whole, float or complex."""
    if leaf.dtype == torch.bool:
        return "bool"
    return "complex" if leaf.is_complex() else "float" if leaf.is_floating_point() else "whole"


def tolerance(a: Tensor, b: Tensor) -> tuple[float, float]:
    """Relative and absolute tolerance for two results, from the coarser of their dtypes."""
    coarsest = min((t.dtype for t in (a, b) if t.is_floating_point()), key=_digits, default=torch.float64)
    return {torch.float64: (1e-7, 1e-9), torch.float32: (2e-4, 2e-5)}.get(coarsest, (2e-2, 2e-3))


def close(a: Tensor, b: Tensor) -> bool:
    """Equal in every entry up to rounding; NaN equals NaN. The shapes must be the same."""
    if a.dtype == b.dtype and a.is_floating_point() and a.numel():
        if _far_apart(a, b, float(a.detach().flatten()[-1]), float(b.detach().flatten()[-1])):
            return False
    return _close_everywhere(a, b)


def _far_apart(a: Tensor, b: Tensor, one: float, other: float) -> bool:
    """Whether two entries, one of each result, differ by more than rounding; NaN shows nothing here."""
    if a.dtype != b.dtype or one == other:
        return False
    rtol, atol = tolerance(a, b)
    return abs(one - other) > 2 * (atol + rtol * abs(other))


def _close_everywhere(a: Tensor, b: Tensor) -> bool:
    return (a.dtype == b.dtype and torch.equal(a, b)) or not bool(differing(a, b).any())


def differing(a: Tensor, b: Tensor) -> Tensor:
    """Where two results of the same shape differ by more than rounding."""
    if a.is_complex() or b.is_complex():
        return ~torch.isclose(a.to(torch.complex128), b.to(torch.complex128))
    if not a.is_floating_point() and not b.is_floating_point():
        return a != b  # counts and ids are exact, however large
    rtol, atol = tolerance(a, b)
    return ~torch.isclose(a.double(), b.double(), rtol=rtol, atol=atol, equal_nan=True)


def _digits(dtype: torch.dtype) -> float:
    return -torch.finfo(dtype).eps
