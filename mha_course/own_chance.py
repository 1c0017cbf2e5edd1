"""Layers drawn from a generator of their own: nobody else's chance moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

_IN_INIT = (nn.init.uniform_, nn.init.normal_, nn.init.kaiming_uniform_, nn.init.kaiming_normal_)
_DRAWS = (torch.rand, torch.randn, Tensor.uniform_, Tensor.normal_, *_IN_INIT)


class OwnChance(TorchFunctionMode):
    """Whatever this thread draws inside comes from the given generator; the global one stays as it is."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self.generator = generator

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        more = {"generator": self.generator} if func in _DRAWS else {}
        return func(*args, **{**(kwargs or {}), **more})
