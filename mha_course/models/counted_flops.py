"""The formula for FLOPs beside PyTorch's own counter, which watches every product that a layer makes.

The counter knows matrix products and nothing else, and it knows them by the name of the kernel that does
them. The fused attention kernel of the processor isn't among the names, and so counts as 0: scores and
weighted sum seem to be free. Under the MATH backend they are two products again, and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mha_course.layers import MultiHeadAttention
from mha_course.models.own_machine import Setting

PRODUCTS = ("projections", "scores", "weighted_sum", "output_projection")


@dataclass(frozen=True)
class Counted:
    """FLOPs of one layer. formula: by stage, matrix products only; plain: what PyTorch's counter finds under
    the MATH backend; fused: what it finds when the fused kernel does scores, softmax and weighted sum.
    """

    setting: Setting
    formula: Mapping[str, int]
    plain: int
    fused: int

    @property
    def total(self) -> int:
        """All stages of the formula."""
        return sum(self.formula.values())

    @property
    def unseen(self) -> int:
        """What the counter misses with the fused kernel."""
        return self.plain - self.fused


@torch.no_grad()
def counted_flops(setting: Setting) -> Counted:
    """Count the FLOPs of a layer in a setting by formula and by watching it.

    With tokens in a cache, their keys and values are there already: only those of new tokens are projected.
    """
    layer = MultiHeadAttention(setting.d_model, setting.h, n_kv_heads=setting.n_kv_heads)
    g = torch.Generator().manual_seed(0)
    x = torch.randn(setting.b, setting.n, setting.d_model, generator=g)
    before = torch.randn(setting.b, setting.cached + setting.n, setting.d_model, generator=g)
    known = layer.keys_and_values(before)

    def watched(backend: SDPBackend) -> int:
        with sdpa_kernel(backend), FlopCounterMode(display=False) as counter:
            layer(x, known)
            layer.shared_keys_and_values(x, x)
        return counter.get_total_flops()

    costs = setting.costs()
    return Counted(
        setting,
        {name: costs[name].flops for name in PRODUCTS},
        watched(SDPBackend.MATH),
        watched(SDPBackend.FLASH_ATTENTION),
    )
