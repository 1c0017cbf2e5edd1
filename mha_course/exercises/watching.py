"""Watching an answer work: which step of PyTorch stops it, and where the tensors in it come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

_TURNS = {"transpose", "permute", "swapaxes", "swapdims", "t", "movedim", "moveaxis", "adjoint", "__get__"}
_PRODUCTS = {"matmul", "__matmul__", "bmm", "mm", "einsum", "mv"}
_SHRINKING = {
    *("sum", "mean", "max", "min", "amax", "amin", "any", "all", "prod", "norm", "logsumexp", "nansum"),
    *("std", "var", "median", "argmax", "argmin", "count_nonzero"),
}


@dataclass(frozen=True)
class Dropped:
    """An axis that a sum, a maximum, ... took away: by which step, which axis, from which shape."""

    step: str
    axis: int
    before: tuple[int, ...]

    def kept(self) -> tuple[int, ...]:
        """The shape, had the axis been kept with size 1."""
        return tuple(1 if i == self.axis else size for i, size in enumerate(self.before))


@dataclass(frozen=True)
class Origin:
    """Where a tensor comes from.

    argument: its name when it is an argument as it came. names: the arguments that it was made of.
    turned: its axes were moved. product: the arguments in the first and the second factor of the product
    in it. softened: it went through a softmax. dropped: an axis that is gone.
    """

    argument: str = ""
    names: frozenset[str] = frozenset()
    turned: bool = False
    product: tuple[frozenset[str], frozenset[str]] | None = None
    softened: bool = False
    dropped: Dropped | None = None


@dataclass
class Step:
    """A call of a PyTorch function that stopped: its name, all its arguments, and the tensors among them."""

    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    tensors: list[Tensor] = field(default_factory=list)


class Watch(TorchFunctionMode):
    """While it is entered, PyTorch functions leave a trace; the last one that raised stays in `stopped`."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        super().__init__()
        self.stopped: Step | None = None
        self._origins: dict[int, Origin] = {}
        self._alive: list[Tensor] = []  # an id means something only as long as its tensor lives
        for name, argument in arguments.items():
            if isinstance(argument, Tensor):
                self._remember(argument, Origin(argument=name, names=frozenset([name])))

    def origin(self, tensor: Tensor) -> Origin:
        """What is known about a tensor that was seen; an empty Origin for others."""
        return self._origins.get(id(tensor), Origin())

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        options = kwargs or {}
        name = getattr(func, "__name__", "")
        tensors = list(_tensors((args, tuple(options.values()))))
        try:
            result = func(*args, **options)
        except Exception:
            self.stopped = Step(name, args, options, tensors)
            raise
        for made in _tensors(result if isinstance(result, tuple) else (result,)):
            if id(made) not in self._origins and tensors:
                self._remember(made, self._made(name, tensors, made, options, args))
        return result

    def _remember(self, tensor: Tensor, origin: Origin) -> None:
        self._origins[id(tensor)] = origin
        self._alive.append(tensor)

    def _made(
        self, step: str, tensors: list[Tensor], made: Tensor, options: dict[str, Any], args: tuple[Any, ...]
    ) -> Origin:
        parents = [self.origin(tensor) for tensor in tensors]
        names = frozenset().union(*(parent.names for parent in parents))
        first, source = parents[0], tensors[0]
        if step in _PRODUCTS and len(tensors) >= 2:
            return Origin(names=names, product=(first.names, parents[1].names))
        shape, before = tuple(made.shape), tuple(source.shape)
        moved = step in _TURNS and sorted(shape) == sorted(before) and shape != before
        alike = [
            parent for tensor, parent in zip(tensors, parents, strict=True) if tensor.shape == made.shape
        ]
        dropped = alike[0].dropped if len(alike) == 1 else None
        if step in _SHRINKING and made.ndim == source.ndim - 1 > 0:
            axis = options.get("dim", options.get("axis", args[1] if len(args) > 1 else None))
            axis = axis[0] if isinstance(axis, (tuple, list)) and len(axis) == 1 else axis
            if isinstance(axis, int):
                dropped = Dropped(step, axis % source.ndim, before)
        with_product = next((parent.product for parent in parents if parent.product), None)
        return Origin(
            names=names,
            turned=moved or (len(alike) > 0 and any(parent.turned for parent in alike)),
            product=with_product,
            softened=step == "softmax" or any(parent.softened for parent in parents),
            dropped=dropped,
        )


def fits(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether tensors of these shapes broadcast. PyTorch has a function for it that takes long to load."""
    ends = zip(reversed(one), reversed(other), strict=False)
    return all(a == b or 1 in (a, b) for a, b in ends)


def _tensors(parts: Any) -> Iterator[Tensor]:
    for part in parts:
        if isinstance(part, Tensor):
            yield part
        elif isinstance(part, (tuple, list)):
            yield from _tensors(part)
