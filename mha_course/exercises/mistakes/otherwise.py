"""A right answer with some of its steps done otherwise: a mistake whose steps can be looked up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Otherwise:
    """`make` with other steps. A recipe finds them in `steps`, to try each beside others."""

    def __init__(self, make: Callable[..., Any], **steps: Callable[..., Any]) -> None:
        self.make, self.steps = make, steps

    def __call__(self, *arguments: Any) -> Any:
        return self.make(*arguments, **self.steps)
