"""The hard concrete distribution: a gate that is often exactly 0 or 1, and through which gradients flow.

A smooth coin s between 0 and 1 is stretched a little beyond both ends and cut off there; what lay beyond
becomes exactly 0 or exactly 1. Every gate has one learned number, log_alpha: the larger, the more open.
Source: Louizos, Welling and Kingma 2018; for heads: Voita et al. 2019, section 6, with the constants of their
code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from mha_course.sizes import check_number


@dataclass(frozen=True)
class HardConcrete:
    """The distribution of a gate g for each log_alpha.

        s = sigmoid((ln u - ln(1 - u) + log_alpha) / beta),  u uniform in (0, 1)
        g = min(1, max(0, s (zeta - gamma) + gamma))

    beta: temperature; near 0 the coin is sharp. gamma < 0 and zeta > 1: how far it is stretched. eps: keeps u
    and probabilities off 0 and 1. The defaults are those of Voita's code; Louizos et al. take beta = 2/3.

    Raises: ValueError unless beta > 0, gamma < 0, zeta > 1 and 0 < eps < 1/2, all of them finite.
    """

    beta: float = 0.33
    gamma: float = -0.1
    zeta: float = 1.1
    eps: float = 1e-6

    def __post_init__(self) -> None:
        check_number(**vars(self))
        if not (self.beta > 0 and self.gamma < 0 and self.zeta > 1 and 0 < self.eps < 0.5):
            raise ValueError(
                f"a hard concrete needs beta > 0, gamma < 0, zeta > 1, 0 < eps < 1/2; got {self}."
            )

    def noise(self, log_alpha: Tensor, g: Generator | None = None) -> Tensor:
        """Uniform numbers from eps to 1 - eps, one for each gate. g: None draws from the global generator."""
        dtype = log_alpha.dtype if log_alpha.is_floating_point() else None  # a log_alpha of 2 is one of 2.0
        u = torch.rand(log_alpha.shape, generator=g, dtype=dtype)
        return self.eps + (1 - 2 * self.eps) * u.to(log_alpha.device)

    def coin(self, log_alpha: Tensor, u: Tensor) -> Tensor:
        """s, the smooth coin in (0, 1), before it is stretched. u: noise in (0, 1), one number a gate.

        Raises: ValueError for noise outside.
        """
        if not bool(((u >= 0) & (u <= 1)).all()):
            raise ValueError("u, the noise of a gate, must lie in (0, 1).")
        return torch.sigmoid((u.log() - torch.log1p(-u) + log_alpha) / self.beta)

    def stretched(self, s: Tensor) -> Tensor:
        """From (0, 1) to (gamma, zeta)."""
        return s * (self.zeta - self.gamma) + self.gamma

    def sample(self, log_alpha: Tensor, u: Tensor, hard: bool = False) -> Tensor:
        """Gates in [0, 1] for noise u, with gradients to log_alpha wherever they are not cut off.

        hard: rounds them at 1/2 on the way forward and takes the gradients of the soft ones (straight
        through; an option of Voita's code).
        """
        gate = self.stretched(self.coin(log_alpha, u)).clamp(0, 1)
        return gate + ((gate > 0.5).to(gate.dtype) - gate).detach() if hard else gate

    def probability_open(self, log_alpha: Tensor) -> Tensor:
        """P(g != 0) = sigmoid(log_alpha - beta ln(-gamma / zeta)), kept eps away from 0 and 1."""
        p = torch.sigmoid(log_alpha - self.beta * math.log(-self.gamma / self.zeta))
        return p.clamp(self.eps, 1 - self.eps)

    def probability_one(self, log_alpha: Tensor) -> Tensor:
        """P(g = 1) = sigmoid(log_alpha - beta ln((1 - gamma) / (zeta - 1)))."""
        return torch.sigmoid(log_alpha - self.beta * math.log((1 - self.gamma) / (self.zeta - 1)))

    def expected_l0(self, log_alpha: Tensor) -> Tensor:
        """How many gates are open on average: the sum of P(g != 0), the penalty that is learned with."""
        return self.probability_open(log_alpha).sum()

    def inference(self, log_alpha: Tensor) -> Tensor:
        """The gates without noise, as in Voita's code: sigmoid(log_alpha) stretched and cut off.

        No temperature here. With the default limits g = 0 up to log_alpha = -ln 11, and 1 from ln 11 on.
        """
        return self.stretched(torch.sigmoid(log_alpha)).clamp(0, 1)

    def rounded(self, log_alpha: Tensor) -> Tensor:
        """The gates without noise, as in the paper (footnote 7): 0 or 1, whichever is more probable.

        Where both are equally probable the head stays: 1. With limits as far from 0 as from 1 that is so at
        log_alpha = 0.
        """
        shift = math.log(-self.gamma / self.zeta) + math.log((1 - self.gamma) / (self.zeta - 1))
        return (log_alpha >= round(self.beta / 2 * shift, 12)).to(log_alpha.dtype)
