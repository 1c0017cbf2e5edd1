"""The tensors at which a call stopped: caught in the act, and recognised by what they hold.

An error's text gives sizes. The tensors themselves say more: these are the keys, and this axis holds tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode


@dataclass(frozen=True)
class Known:
    """A tensor that an answer may hold on its way, with the symbol of each axis.

    role: what it is made of ("q", "k", "v", "x", "w", "scores", "weights", "head", "mask", ...).
    form: how it is cut ("whole", "one head", "all heads", "rows", "columns", ...).
    """

    words: str
    role: str
    form: str
    axes: tuple[str, ...]
    tensor: Tensor = field(repr=False)


@dataclass(frozen=True)
class Met:
    """One tensor of the step that failed: what it is, where that was recognised, and its axes in order."""

    known: Known | None
    axes: tuple[str, ...]
    tensor: Tensor = field(repr=False)

    @property
    def role(self) -> str:
        """What it is made of; "" when that is not known."""
        return self.known.role if self.known else ""

    @property
    def form(self) -> str:
        """How it is cut; "" when that is not known."""
        return self.known.form if self.known else ""

    @property
    def shown(self) -> str:
        """The symbols of its axes, as they stand in a sentence."""
        return f"`({', '.join(self.axes)})`"


class _Caught(TorchFunctionMode):
    """Notes the first step of PyTorch that fails, and the tensors that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.step, self.tensors, self.numbers = "", (), ()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except Exception:
            if not self.step:
                self.step = getattr(func, "__name__", "")
                self.tensors = tuple(_tensors((*args, *(kwargs or {}).values())))
                self.numbers = tuple(_numbers((*args, *(kwargs or {}).values())))
            raise


def _tensors(things: Sequence[Any]) -> list[Tensor]:
    found = []
    for thing in things:
        if isinstance(thing, Tensor):
            found.append(thing.detach().as_subclass(Tensor))
        elif isinstance(thing, (list, tuple)):
            found += _tensors(thing)
    return found


def _numbers(things: Sequence[Any]) -> list[int]:
    found = []
    for thing in things:
        if isinstance(thing, (list, tuple)):
            found += _numbers(thing)
        elif isinstance(thing, int) and not isinstance(thing, bool):
            found.append(thing)
    return found


def where_it_stopped(call: Callable[[], Any]) -> tuple[str, tuple[Tensor, ...], tuple[int, ...]]:
    """The name of PyTorch's step that failed in a call, its tensors and numbers; "" when none did."""
    with _Caught() as caught:
        call()
    return caught.step, caught.tensors, caught.numbers


def recognised(tensor: Tensor, known: Sequence[Known], sizes: dict[str, int]) -> Met:
    """What a tensor is, whatever the order of its axes, up to a factor and axes of size 1."""
    for one in known:
        axes = _order(tensor, one)
        if axes:
            return Met(one, axes, tensor)
    for one in known:
        if one.form == "whole" and one.tensor.ndim == tensor.ndim == 2:
            part = _rows(tensor, one)
            if part:
                return Met(part, (str(len(tensor)), one.axes[1]), tensor)
    return Met(None, tuple(_symbol(size, sizes) for size in tensor.shape), tensor)


def _rows(tensor: Tensor, known: Known) -> Known | None:
    """Neighbouring rows of a matrix, however many."""
    whole, count = known.tensor, len(tensor)
    if tensor.shape[1] != whole.shape[1] or not 0 < count < len(whole):
        return None
    for start in range(len(whole) - count + 1):
        if torch.equal(tensor, whole[start : start + count]):
            words = f"{count} row{'s' * (count > 1)} of {known.words}"
            return Known(words, known.role, "rows", (str(count), known.axes[1]), tensor)
    return None


def _order(tensor: Tensor, known: Known) -> tuple[str, ...]:
    """The symbols of the axes in the order in which they stand in `tensor`; () when it is not this one."""
    base = known.tensor
    if base.dtype == torch.bool and tensor.dtype == torch.bool:
        pairs = ((base, tensor), (~base, tensor))
    elif base.is_floating_point() == tensor.is_floating_point() and tensor.dtype != torch.bool:
        pairs = ((base, tensor),)
    else:
        return ()
    slim = [size for size in tensor.shape if size != 1]
    if sorted(slim) != sorted(size for size in base.shape if size != 1):
        return ()
    for made, have in pairs:
        named = [(axis, size) for axis, size in zip(known.axes, made.shape, strict=True) if size != 1]
        made, have = made.squeeze().double(), have.squeeze().double()
        for order in permutations(range(made.ndim)):
            turned = made.permute(order)
            if turned.shape == have.shape and _alike(turned, have):
                left = iter([named[axis][0] for axis in order])
                return tuple("1" if size == 1 else next(left) for size in tensor.shape)
    return ()


def _alike(made: Tensor, have: Tensor) -> bool:
    """Equal up to one factor (a scale may have been applied) and rounding."""
    square = float((made * made).sum())
    if square == 0:
        return False
    factor = float((made * have).sum()) / square
    return factor != 0 and torch.allclose(have, factor * made, rtol=1e-3, atol=1e-4 * abs(factor))


def _symbol(size: int, sizes: dict[str, int]) -> str:
    names = [name for name, known in sizes.items() if known == size]
    return names[0] if len(names) == 1 else str(size)
