"""Small trainings that are done once: the same call again, as when a cell is run again, answers at once."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache, wraps
from typing import ParamSpec, Protocol, TypeVar

Arguments = ParamSpec("Arguments")
Trained = TypeVar("Trained", covariant=True)


class Remembering(Protocol[Arguments, Trained]):
    """A training that remembers; `forget()` makes it train anew."""

    forget: Callable[[], None]

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Trained: ...


def trained_once(train: Callable[Arguments, Trained]) -> Remembering[Arguments, Trained]:
    """For a function whose result depends on its arguments alone, seeds included; they must be hashable.

    Each caller gets a copy of the result, to change as it likes. The last 64 results are kept.
    """
    kept = lru_cache(maxsize=64)(train)

    @wraps(train)
    def remembered(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Trained:
        return deepcopy(kept(*args, **kwargs))

    remembered.forget = kept.cache_clear
    return remembered
