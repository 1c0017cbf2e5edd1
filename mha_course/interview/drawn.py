"""Layers for proofs, with weights from a generator of their own: nobody else's chance moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

Layer = TypeVar("Layer", bound=nn.Module)
_IN_INIT = (nn.init.uniform_, nn.init.normal_, nn.init.kaiming_uniform_, nn.init.kaiming_normal_)
_DRAWS = (torch.rand, torch.randn, Tensor.uniform_, Tensor.normal_, *_IN_INIT)


def drawn(make: Callable[[], Layer], seed: int = 0) -> Layer:
    """A layer in eval mode whose parameters are normal numbers of standard deviation 1 / sqrt(width).

    make: builds it, such as `lambda: TalkingHeads(24, 4)`. width: the last axis of a parameter, over which a
    linear map sums. LayerNorms keep gains of 1 and biases of 0. The global random state is not touched.
    """
    g = torch.Generator().manual_seed(seed)
    with _OwnChance(g):
        layer = make()
    layer = layer.eval().requires_grad_(False)
    for number in layer.parameters():
        number.normal_(0, number.shape[-1] ** -0.5, generator=g)
    for part in layer.modules():
        if isinstance(part, nn.LayerNorm):
            part.reset_parameters()
    return layer


class _OwnChance(TorchFunctionMode):
    """Whatever this thread draws inside comes from a generator of its own."""

    def __init__(self, g: torch.Generator) -> None:
        super().__init__()
        self.g = g

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        more = {"generator": self.g} if func in _DRAWS else {}
        return func(*args, **{**(kwargs or {}), **more})
