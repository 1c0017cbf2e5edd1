"""GateDraws: how often a hard-concrete gate is exactly 0, exactly 1 or between, under sliders."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
import traitlets

from mha_course.heads.hard_concrete import HardConcrete
from mha_course.sizes import check_number
from mha_course.widgets.base import CourseWidget

__all__ = ["GateDraws"]

LOG_ALPHAS = tuple(float(whole) for whole in range(-5, 6))
BETAS = (0.1, 0.2, 0.33, 0.5, 0.67, 1.0)
FURTHEST, SOFTEST = 50.0, 10.0
RANGES = 10


class GateDraws(CourseWidget):
    """The shares of all draws that are exactly 0, fall into ten ranges between, and are exactly 1.

    log_alpha: the gate's learned number; beta: the temperature. Limits are those of `HardConcrete`. Read out:
    the chance that the gate is open, its mean, and the gate without noise.
    Raises: ValueError for numbers that aren't finite, a log_alpha beyond ±50, and a beta outside (0, 10].
    Source: Louizos, Welling and Kingma 2018; Voita et al. 2019, section 6.
    """

    js = ("svg_pieces.js", "gate_draws.js")
    css = ("pieces.css", "gate_draws.css")
    root = "mha-gate"
    settings = ("log_alpha", "beta")

    log_alpha = traitlets.Float(0.0).tag(sync=True)
    beta = traitlets.Float(0.33).tag(sync=True)
    stops = traitlets.Dict().tag(sync=True)

    def __init__(self, log_alpha: float = 0.0, beta: float = 0.33) -> None:
        log_alpha, beta = _checked("log_alpha", log_alpha), _checked("beta", beta)
        super().__init__(
            log_alpha=log_alpha,
            beta=beta,
            stops={"log_alpha": sorted({*LOG_ALPHAS, log_alpha}), "beta": sorted({*BETAS, beta})},
        )

    @traitlets.validate("log_alpha", "beta")
    def _drawable(self, proposal: Mapping) -> float:
        return _checked(proposal["trait"].name, proposal["value"])

    @property
    def shares(self) -> tuple[float, ...]:
        """Of all draws: exactly 0, ten ranges of a tenth each, exactly 1; their sum is 1."""
        return gate_shares(self.log_alpha, HardConcrete(beta=self.beta))

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """The shares, and what is read out."""
        concrete, log_alpha = HardConcrete(beta=self.beta), torch.tensor(self.log_alpha, dtype=torch.float64)
        found = {
            "log_alpha": self.log_alpha,
            "beta": self.beta,
            "shares": [round(share, 6) for share in self.shares],
            "open": float(concrete.probability_open(log_alpha)),
            "without_noise": float(concrete.inference(log_alpha)),
        }
        zero, *between, one = found["shares"]
        self.alt = (
            f"Draws of a gate with log alpha {self.log_alpha:g} and beta {self.beta:g}: exactly 0 "
            f"in {zero:.3f}, between in {sum(between):.3f}, exactly 1 in {one:.3f} of them; open with "
            f"probability {found['open']:.3f}; without noise the gate is {found['without_noise']:.3f}."
        )
        return found, b""

    def still_png(self) -> bytes | None:
        """The shares as bars."""
        from mha_course.plots import bars

        labels = [
            "exactly 0",
            *(f"{i / RANGES:.1f} to {(i + 1) / RANGES:.1f}" for i in range(RANGES)),
            "exactly 1",
        ]
        title = f"A gate with log α = {self.log_alpha:g}, β = {self.beta:g}"
        return bars(labels, list(self.shares), title, "share of all draws", high=1.0, decimals=3).png()


def gate_shares(log_alpha: float, concrete: HardConcrete) -> tuple[float, ...]:
    """Of all draws of a gate: exactly 0, each of ten equal ranges between 0 and 1, exactly 1."""
    width = concrete.zeta - concrete.gamma
    below = []
    for i in range(RANGES + 1):
        s = (i / RANGES - concrete.gamma) / width  # the coin that is stretched to i / RANGES
        below.append(_sigmoid(concrete.beta * math.log(s / (1 - s)) - log_alpha))
    steps = (high - low for low, high in zip(below, below[1:], strict=False))
    return (below[0], *steps, 1 - below[-1])


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _checked(name: str, value: float) -> float:
    if name == "log_alpha":
        check_number(-FURTHEST, FURTHEST, log_alpha=value)
    else:
        check_number(above=0, most=SOFTEST, beta=value)
    return float(value)
