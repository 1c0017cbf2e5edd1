"""Roofline: what each stage of a layer costs, and what limits it on a machine, under sliders."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from mha_course import cost
from mha_course.attention import divisor_at_most, divisors, multi_head_sizes
from mha_course.plots import axes, numerals
from mha_course.plots.roofline import (
    intensity_limits,
    roofline,
    roofline_in_words,
    roofline_note,
    speed_limits,
)
from mha_course.sizes import check_sizes, is_whole_number
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.roofline_words import fits_the_peak, moved_in_words, stage_rows, told

__all__ = ["Roofline"]

PHASES = ("decode", "prefill")
BYTES = (4, 2, 1)
CHOICES = {
    "b": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
    "length": (1, 16, 64, 256, 1024, 4096, 16384, 65536),
    "d_model": (64, 128, 256, 512, 768, 1024, 2048, 4096, 8192),
}
LARGEST = {"b": 1_000_000, "length": 10_000_000, "d_model": 1_000_000}
MOST_HEADS = 128  # offered by the slider


class Roofline(CourseWidget):
    """The stages of one attention layer on the roof of a machine, and a table of what they cost.

    machine: one's own, as `models.own_machine.measure_machine` gives it; with it the picture begins there, at
    4 bytes a number. It stands beside the machines of `cost.PUBLISHED`; device: from 0, in that order. phase:
    "decode", one new token for each of b sequences with `length` tokens in their caches, or "prefill", b
    texts of `length` tokens read at once. fused: scores, softmax and weighted sum as one stage.
    `costs()` gives what is drawn, `on` the machine that it is drawn for.
    Raises: TypeError for a machine that isn't one; ValueError for sizes that no such layer can have, sizes
    below 1 or beyond what is drawn, and a phase, bytes_per_number, fused or device that there isn't.
    Source: roofline model, Williams, Waterman and Patterson 2009.
    """

    js = ("svg_pieces.js", "cell_tips.js", "roofline_chart.js", "roofline_table.js", "roofline.js")
    css = ("pieces.css", "cost_pieces.css", "roofline.css")
    root = "mha-roof"
    settings = ("b", "length", "d_model", "h", "n_kv_heads", "bytes_per_number", "phase", "fused", "device")

    b = traitlets.Int(1).tag(sync=True)
    length = traitlets.Int(4096).tag(sync=True)
    d_model = traitlets.Int(4096).tag(sync=True)
    h = traitlets.Int(32).tag(sync=True)
    n_kv_heads = traitlets.Int(32).tag(sync=True)
    bytes_per_number = traitlets.Enum(BYTES, 2).tag(sync=True)
    phase = traitlets.Enum(PHASES, "decode").tag(sync=True)
    fused = traitlets.Bool(False).tag(sync=True)
    device = traitlets.Int(0).tag(sync=True)
    devices = traitlets.List(Text()).tag(sync=True)

    def __init__(
        self,
        machine: cost.Machine | None = None,
        b: int = 1,
        length: int = 4096,
        d_model: int = 4096,
        h: int = 32,
        n_kv_heads: int | None = None,
        bytes_per_number: int | None = None,
        phase: str = "decode",
        fused: bool = False,
        device: int = 0,
    ) -> None:
        if machine is not None and not isinstance(machine, cost.Machine):
            raise TypeError(
                f"machine must be a cost.Machine, as measure_machine() gives; got {type(machine).__name__}."
            )
        _, _, kv = multi_head_sizes(d_model, h, None, None, n_kv_heads)
        for name, size in (("b", b), ("length", length), ("d_model", d_model)):
            _check_size(name, size)
        if phase not in PHASES:
            raise ValueError(f"phase={phase!r} must be {' or '.join(PHASES)}.")
        if bytes_per_number is None:
            bytes_per_number = 2 if machine is None else 4
        if not is_whole_number(bytes_per_number) or bytes_per_number not in BYTES:
            raise ValueError(f"bytes_per_number={bytes_per_number!r} must be 4, 2 or 1.")
        if not isinstance(fused, bool):
            raise ValueError(f"fused={fused!r} must be True or False.")
        self.machines = (*(() if machine is None else (machine,)), *cost.PUBLISHED)
        self._measured = machine is not None
        self._wished = {"h": int(h), "n_kv_heads": int(kv)}
        self._plain, self._fitting = kv == h, False
        self._offered = {
            name: sorted({*CHOICES[name], int(size)})
            for name, size in (("b", b), ("length", length), ("d_model", d_model))
        }
        self._check_device(device)
        super().__init__(
            b=int(b),
            length=int(length),
            d_model=int(d_model),
            h=int(h),
            n_kv_heads=int(kv),
            bytes_per_number=int(bytes_per_number),
            phase=phase,
            fused=fused,
            device=int(device),
            devices=[one.name for one in self.machines],
        )

    @property
    def on(self) -> cost.Machine:
        """The machine on show."""
        return self.machines[self.device]

    def costs(self) -> dict[str, cost.StageCost]:
        """FLOPs and bytes by stage, as they are drawn."""
        decode = self.phase == "decode"
        return cost.stage_costs(
            self.b,
            1 if decode else self.length,
            self.d_model,
            self.h,
            self.n_kv_heads,
            self.length if decode else 0,
            self.bytes_per_number,
            fused=self.fused,
        )

    @traitlets.validate("b", "length", "d_model")
    def _size_can_be_shown(self, proposal: Mapping) -> int:
        _check_size(proposal["trait"].name, proposal["value"])
        return proposal["value"]

    @traitlets.validate("h", "n_kv_heads", "bytes_per_number")
    def _count(self, proposal: Mapping) -> int:
        check_sizes(**{proposal["trait"].name: proposal["value"]})
        return proposal["value"]

    @traitlets.validate("device")
    def _is_there(self, proposal: Mapping) -> int:
        self._check_device(proposal["value"])
        return proposal["value"]

    def _check_device(self, device: int) -> None:
        check_sizes(0, device=device)
        if device >= len(self.machines):
            raise ValueError(f"device={device}: there are {len(self.machines)} machines, counted from 0.")

    @traitlets.observe("h", "n_kv_heads")
    def _wish(self, change: Mapping) -> None:
        if not self._fitting:
            self._wished[change["name"]] = change["new"]
            if change["name"] == "n_kv_heads":
                self._plain = change["new"] == self.h

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Ranges and ticks of the axes, the stages with their places and texts, the stops, what was moved."""
        moved = self._fit_heads()
        machine, costs = self.on, self.costs()
        parameters = cost.stage_parameters(self.d_model, self.h, n_kv_heads=self.n_kv_heads)
        x_range = intensity_limits(machine, costs)
        y_range = speed_limits(machine)
        x_ticks, y_ticks = axes.log_ticks(*x_range), axes.log_ticks(*y_range)
        rows = stage_rows(costs, parameters, machine)
        self.alt = f"{self._setting()}. {roofline_in_words(machine, costs, {})}"
        header = {
            "x": {"range": x_range, "ticks": list(zip(x_ticks, axes.tick_texts(x_ticks, True), strict=True))},
            "y": {"range": y_range, "ticks": [(value, numerals.prefixed(value)) for value in y_ticks]},
            "machine": {
                "peak": machine.peak,
                "bandwidth": machine.bandwidth,
                "ridge": machine.ridge,
                "peak_text": f"peak {numerals.prefixed(machine.peak, 'FLOP/s')}",
                "bandwidth_text": f"bandwidth {numerals.prefixed(machine.bandwidth, 'B/s')}",
                "ridge_text": f"ridge {numerals.three_digits(machine.ridge)}",
                "note": roofline_note(machine),
            },
            "rows": rows,
            "words": told(
                self.phase, self.b, self.length, self.d_model, self.bytes_per_number, costs, machine
            ),
            "cache": self._cache_in_words(),
            "notice": fits_the_peak(machine, self.bytes_per_number, self._measured and self.device == 0),
            "moved": moved,
            "stops": {
                **self._offered,
                "h": sorted({*(k for k in divisors(self.d_model) if k <= MOST_HEADS), self.h}),
                "n_kv_heads": divisors(self.h),
            },
        }
        return header, b""

    def still_png(self) -> bytes | None:
        """The roof with its points."""
        setting = self._setting()
        note = f"{setting[0].upper()}{setting[1:]}. {roofline_note(self.on)}"
        return roofline(self.on, self.costs(), note=note).png()

    def _setting(self) -> str:
        how = f"decode, {self.length:,} tokens in the cache" if self.phase == "decode" else "prefill"
        n = "" if self.phase == "decode" else f", n = {self.length:,}"
        return (
            f"{how}, b = {self.b:,}{n}, d_model = {self.d_model:,}, h = {self.h}, "
            f"n_kv_heads = {self.n_kv_heads}, {self.bytes_per_number} bytes a number"
        ).replace("1 bytes", "1 byte")

    def _cache_in_words(self) -> str:
        kept = cost.kv_cache_bytes(
            self.b, self.length, self.d_model, self.h, self.n_kv_heads, 1, self.bytes_per_number
        )
        return numerals.prefixed(kept, "B")

    def _fit_heads(self) -> list[str]:
        """Move h and n_kv_heads to divisors; say so for as long as they differ from what was wished for.

        Plain heads stay plain: where n_kv_heads was h, it follows h.
        """
        wished_h = self._wished["h"]
        h = divisor_at_most(self.d_model, wished_h)
        kv = h if self._plain else divisor_at_most(h, self._wished["n_kv_heads"])
        self._fitting = True
        try:
            self.h, self.n_kv_heads = h, kv
        finally:
            self._fitting = False
        said = [moved_in_words("h", wished_h, h, "d_model", self.d_model)]
        if not self._plain:
            said.append(moved_in_words("n_kv_heads", self._wished["n_kv_heads"], kv, "h", h))
        return [one for one in said if one]


def _check_size(name: str, size: int) -> None:
    check_sizes(**{name: size})
    if size > LARGEST[name]:
        raise ValueError(f"{name}={size}: at most {LARGEST[name]:,} can be drawn.")
