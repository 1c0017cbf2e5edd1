"""PositionHead: a head set by hand from the sinusoids, under sliders."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import traitlets

from mha_course.models.position_head import PositionFacts, position_facts, position_head
from mha_course.sizes import check_sizes
from mha_course.widgets.base import CourseWidget

__all__ = ["PositionHead"]

OFFSETS = tuple(range(-4, 5))
SHARPNESSES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
LENGTHS = (6, 8, 12, 16, 24, 32, 48, 64)
WIDEST = 512


class PositionHead(CourseWidget):
    """A head that looks `offset` positions away, as a live map, with the kernel that makes its scores.

    beta: the sharpness; d_k: two columns for each frequency that is compared, the fastest first (None: all
    d_model of them); n: the number of positions. Read out: the least weight on a target, the gap between the
    target's score and the next best (for beta = 1), the confidence, and a beta that is surely enough.
    Raises: ValueError for an odd d_model or one above 512, an odd d_k or one above d_model, a beta that is
    negative or not finite, n outside 2 .. 64, and an offset of n or more.
    Source: Vaswani et al. 2017, section 3.5 (a shift is linear); Voita et al. 2019 (confidence).
    """

    js = (
        "token_labels.js",
        "heatmap.js",
        "tooltip.js",
        "svg_pieces.js",
        "position_chart.js",
        "position_head.js",
    )
    css = ("heatmap.css", "pieces.css", "position_head.css")
    root = "mha-pos"
    settings = ("offset", "beta", "d_k", "n")

    offset = traitlets.Int(-1).tag(sync=True)
    beta = traitlets.Float(16.0).tag(sync=True)
    d_k = traitlets.Int(16).tag(sync=True)
    n = traitlets.Int(12).tag(sync=True)
    d_model = traitlets.Int(16, read_only=True).tag(sync=True)
    stops = traitlets.Dict().tag(sync=True)

    def __init__(
        self, offset: int = -1, beta: float = 16.0, d_k: int | None = None, n: int = 12, d_model: int = 16
    ) -> None:
        check_sizes(2, d_model=d_model)
        if d_model > WIDEST:
            raise ValueError(f"d_model={d_model}: at most {WIDEST} columns are drawn.")
        _check_n(n)
        d_k = d_model if d_k is None else d_k
        _check_d_k(d_k, d_model)
        position_head(offset, beta, d_model, d_k // 2)
        if abs(offset) >= n:
            raise ValueError(f"offset={offset}: of n={n} positions none has a target so far away.")
        self.set_trait("d_model", int(d_model))
        # Whatever is chosen, some query has a target: no offset is as far as the fewest positions.
        lengths = {*(length for length in LENGTHS if length > max(4, abs(offset))), int(n)}
        super().__init__(
            offset=int(offset),
            beta=float(beta),
            d_k=int(d_k),
            n=int(n),
            stops={
                "offset": sorted({*(k for k in OFFSETS if abs(k) < min(lengths)), int(offset)}),
                "beta": sorted({*SHARPNESSES, float(beta)}),
                "d_k": sorted({*_widths(d_model), int(d_k)}),
                "n": sorted(lengths),
            },
        )

    @traitlets.validate("beta", "d_k", "n")
    def _drawable(self, proposal: Mapping) -> float:
        name, value = proposal["trait"].name, proposal["value"]
        if name == "beta":
            position_head(0, value, self.d_model)
        elif name == "n":
            _check_n(value)
        else:
            _check_d_k(value, self.d_model)
        return value

    def readout(self) -> PositionFacts:
        """What the head does as it stands."""
        return position_facts(self.n, self.offset, self.beta, self.d_model, self.d_k // 2)

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """The map as 16-bit weights, the kernel, and the readouts."""
        found = self.readout()
        self.alt = self._in_words(found)
        weights = (found.weights * 65535).round().to(torch.int32).numpy().astype("<u2")
        header = {
            "n": self.n,
            "offset": self.offset,
            "beta": self.beta,
            "d_k": self.d_k,
            "kernel": [round(value, 6) for value in found.kernel.tolist()],
            "gap": found.gap,
            "rival": found.rival,
            "least": found.least,
            "queries": found.queries,
            "confidence": found.confidence,
            "enough": found.enough if found.enough < 1e9 else None,
        }
        return header, weights.tobytes()

    def still_png(self) -> bytes | None:
        """The map as a picture."""
        from mha_course.plots import heatmap

        found = self.readout()
        note = (
            f"β = {self.beta:g}, d_k = {self.d_k} of d_model = {self.d_model}; least weight on a target "
            f"{found.least:.3f}, gap {found.gap:.3f}."
        )
        title = f"Set by hand: the head looks {_where(self.offset)}"
        return heatmap(found.weights, [str(p) for p in range(self.n)], title=title, note=note).png()

    def _in_words(self, found: PositionFacts) -> str:
        return (
            f"Attention map of {self.n} positions by a head set by hand that looks {_where(self.offset)}, "
            f"with sharpness {self.beta:g} and d_k = {self.d_k}: least weight on a target "
            f"{found.least:.3f} over {found.queries} queries, gap {found.gap:.3f} at a distance of "
            f"{found.rival}, confidence {found.confidence:.3f}."
        )


def _check_n(n: int) -> None:
    check_sizes(2, n=n)
    if n > LENGTHS[-1]:
        raise ValueError(f"n={n}: at most {LENGTHS[-1]} positions are drawn.")


def _check_d_k(d_k: int, d_model: int) -> None:
    check_sizes(2, d_k=d_k)
    if d_k % 2 or d_k > d_model:
        raise ValueError(f"d_k={d_k}: two columns a frequency, so d_k is even and at most {d_model}.")


def _where(offset: int) -> str:
    """An offset in words."""
    if offset == 0:
        return "at its own position"
    places = "one position" if abs(offset) == 1 else f"{abs(offset)} positions"
    return f"{places} {'back' if offset < 0 else 'ahead'}"


def _widths(d_model: int) -> list[int]:
    """Widths to choose from: every even one of a small model, then doubling ones, and the full width."""
    if d_model <= 16:
        return list(range(2, d_model + 1, 2))
    return [2, 4, 6, 8, *(w for w in (16, 32, 64, 128, 256, 512) if w < d_model), d_model]
