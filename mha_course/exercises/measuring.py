"""What an answer takes: its matrix products, and the size of every tensor that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from mha_course.exercises.outcome import run

_PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "addmv", "dot", "vdot"}
_FUSED = ("_scaled_dot_product", "_flash_attention", "_efficient_attention", "_native_multi_head_attention")


@dataclass(frozen=True)
class Made:
    """A tensor of floats that a step made: the step's name and the tensor's shape."""

    step: str
    shape: tuple[int, ...]

    @property
    def numbers(self) -> int:
        """How many numbers it holds."""
        return torch.Size(self.shape).numel()


@dataclass(frozen=True)
class Measured:
    """What one call took.

    products: matrix products that PyTorch was asked for. steps: everything that it was asked for and that
    computes, views left out. largest: the largest tensor of floats that was made, None without any; complex
    numbers count as floats. largest_product: the largest that a matrix product gave. peak: the most floats,
    beside the arguments, that were kept at once. masks: the shapes of all boolean tensors, views as well.
    queries_of_fused: for each call of PyTorch's own attention the number of queries that it was given.
    """

    products: int = 0
    steps: int = 0
    largest: Made | None = None
    largest_product: Made | None = None
    peak: int = 0
    masks: frozenset[tuple[int, ...]] = frozenset()
    queries_of_fused: tuple[int, ...] = ()


def measure(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Measured | None:
    """Call fn on the arguments and measure; None where it stops with an error.

    What is done outside of PyTorch, in NumPy say, isn't seen.
    """
    scale = _Scale(list(_tensors(arguments)))

    def watched(*given: Any) -> Any:
        with scale:
            return fn(*given)

    out = run(watched, arguments, quiet=True)
    return scale.measured if out.error is None else None


class _Scale(TorchDispatchMode):
    """While it is entered, every step of PyTorch below autograd is weighed."""

    def __init__(self, given: list[Tensor]) -> None:
        super().__init__()
        self.measured = Measured()
        # What the arguments lie in was there before; a place in memory may be used again, so they are kept.
        self._given = {tensor.untyped_storage().data_ptr() for tensor in given}
        self._kept = given
        self._alive: dict[int, tuple[StorageWeakRef, int]] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No: to be kept from PyTorch's compiler it would first be loaded, which takes seconds."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func._schema.name.partition("::")[2]
        now = self.measured
        fresh = [tensor for tensor in _tensors((result,)) if self._is_new(tensor)]
        floats = [Made(name, tuple(tensor.shape)) for tensor in fresh if _holds_floats(tensor)]
        made = [tensor for tensor in _tensors((result,)) if tensor.dtype == torch.bool]
        product = name in _PRODUCTS
        self.measured = Measured(
            now.products + product,
            now.steps + bool(fresh),
            _larger(now.largest, *floats),
            _larger(now.largest_product, *(floats if product else ())),
            max(now.peak, self._floats_alive()),
            now.masks.union(tuple(tensor.shape) for tensor in made),
            now.queries_of_fused + self._queries(name, args),
        )
        return result

    def _is_new(self, tensor: Tensor) -> bool:
        """Whether a tensor lies in memory that was not seen before; from now on it is looked after."""
        storage = tensor.untyped_storage()
        place = storage.data_ptr()
        known = self._alive.get(place)
        if place in self._given or (known is not None and not known[0].expired()):
            return False
        count = storage.nbytes() // tensor.element_size() if _holds_floats(tensor) else 0
        self._alive[place] = (StorageWeakRef(storage), count)
        return True

    def _floats_alive(self) -> int:
        self._alive = {place: kept for place, kept in self._alive.items() if not kept[0].expired()}
        return sum(count for _, count in self._alive.values())

    @staticmethod
    def _queries(name: str, args: tuple[Any, ...]) -> tuple[int, ...]:
        if name.startswith(_FUSED) and "backward" not in name and args and isinstance(args[0], Tensor):
            return (args[0].shape[-2],)
        return ()


def _holds_floats(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _larger(*made: Made | None) -> Made | None:
    return max((one for one in made if one), key=lambda one: one.numbers, default=None)


def _tensors(parts: Any) -> Iterator[Tensor]:
    for part in parts:
        if isinstance(part, Tensor):
            yield part
        elif isinstance(part, (tuple, list)):
            yield from _tensors(part)
        elif isinstance(part, dict):
            yield from _tensors(part.values())
