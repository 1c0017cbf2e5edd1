"""Whether a call left its arguments as they were: tensors, lists, and dictionaries of tensors."""

from __future__ import annotations

from typing import Any

from torch import Tensor, equal


def frozen(argument: Any) -> Any:
    """The argument as it is now, whatever is done to it later."""
    if isinstance(argument, Tensor):
        return argument.detach().clone()
    if isinstance(argument, list):
        return list(argument)
    if isinstance(argument, dict):
        return {name: frozen(value) for name, value in argument.items()}
    return argument


def unchanged(before: Any, now: Any) -> bool:
    """Whether an argument is what `frozen` kept of it: the same shape, numbers, entries and keys."""
    if isinstance(before, Tensor):
        return before.shape == now.shape and equal(before, now)
    if isinstance(before, dict):
        return before.keys() == now.keys() and all(
            unchanged(kept, now[name]) for name, kept in before.items()
        )
    return bool(before == now)
