"""ShapeTracer: the eight steps of the layer with their shapes, drawn from a real run of the chosen sizes."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from mha_course.attention import divisor_at_most, divisors, divisors_in_words, head_size
from mha_course.sizes import check_sizes, is_whole_number
from mha_course.widgets.base import CourseWidget
from mha_course.widgets.shape_frame import STEP_NAMES, shape_frame

B_CHOICES = (1, 2, 3, 4, 5)
N_CHOICES = (1, 2, 3, 4, 5, 6, 7, 8, 10)
D_MODEL_CHOICES = (6, 8, 12, 16, 24, 32, 64, 512)
LARGEST = {"b": 64, "n": 64, "d_model": 1024}


class ShapeTracer(CourseWidget):
    """The steps x, project, split, scores, weights, heads, concat, output, as sizes move.

    b sentences, n tokens, d_model features, h heads (divisors of d_model only); step from 1 to 8, or its
    name. The blocks come from one run of a MultiHeadAttention with weights drawn from the seed on the
    course's sentences.
    Raises: ValueError for sizes that cannot be (h must divide d_model) or are larger than a notebook can
    carry.
    """

    js = (
        "svg_pieces.js",
        "number_grid.js",
        "cell_tips.js",
        "shape_steps.js",
        "shape_counts.js",
        "shape_products.js",
        "shape_parts.js",
        "shape_tracer.js",
    )
    css = ("pieces.css", "number_grid.css", "shape_tracer.css")
    root = "mha-shape"
    settings = ("b", "n", "d_model", "h")

    b = traitlets.Int(2).tag(sync=True)
    n = traitlets.Int(5).tag(sync=True)
    d_model = traitlets.Int(12).tag(sync=True)
    h = traitlets.Int(3).tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)
    token = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    part = traitlets.Enum(("q", "k", "v"), "q").tag(sync=True)

    def __init__(
        self,
        b: int = 2,
        n: int = 5,
        d_model: int = 12,
        h: int = 3,
        step: int | str = 1,
        seed: int = 0,
    ) -> None:
        check_sizes(b=b, n=n, d_model=d_model)
        for name, size in (("b", b), ("n", n), ("d_model", d_model)):
            if not 1 <= size <= LARGEST[name]:
                raise ValueError(f"{name}={size}: this picture can show 1 to {LARGEST[name]}")
        head_size(d_model, h)
        if isinstance(step, str):
            if step not in STEP_NAMES:
                raise ValueError(f"step={step!r}: the steps are {', '.join(STEP_NAMES)}")
            step = STEP_NAMES.index(step) + 1
        if not is_whole_number(step) or not 1 <= step <= len(STEP_NAMES):
            raise ValueError(f"step={step}: there are {len(STEP_NAMES)} steps, counted from 1")
        self._seed, self._wished_h, self._fitting = seed, h, False
        self._offered = {
            "b": sorted({*B_CHOICES, b}),
            "n": sorted({*N_CHOICES, n}),
            "d_model": sorted({*D_MODEL_CHOICES, d_model}),
        }
        super().__init__(
            b=int(b),
            n=int(n),
            d_model=int(d_model),
            h=int(h),
            step=int(step),
            token=min(2, n - 1),
            head=min(1, h - 1),
        )

    @traitlets.validate("b", "n", "d_model")
    def _size_can_be_shown(self, proposal: Mapping) -> int:
        name, size = proposal["trait"].name, proposal["value"]
        if not 1 <= size <= LARGEST[name]:
            raise traitlets.TraitError(f"{name}={size}: this picture can show 1 to {LARGEST[name]}")
        return size

    @traitlets.validate("h", "step", "token", "head")
    def _kept_in_range(self, proposal: Mapping) -> int:
        lowest = {"h": 1, "step": 1, "token": 0, "head": 0}[proposal["trait"].name]
        highest = {"h": LARGEST["d_model"], "step": len(STEP_NAMES)}.get(
            proposal["trait"].name, proposal["value"]
        )
        return max(lowest, min(proposal["value"], highest))

    @traitlets.observe("h")
    def _wish(self, change: Mapping) -> None:
        if not self._fitting:
            self._wished_h = change["new"]

    def refresh(self, force: bool = False) -> None:
        """Answer the present settings; not while h is being moved, which is part of an answer."""
        with self._lock:
            if not self._fitting:
                super().refresh(force)

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """All numbers of the picture (see `shape_frame`), the sliders' stops, and what was moved."""
        moved = self._fit_h()
        frame = shape_frame(self.b, self.n, self.d_model, self.h, self._seed)
        steps = "; ".join(f"{step['name']} {step['shape']}" for step in frame["steps"])
        self.alt = (
            f"The eight steps of multi-head attention with b={self.b}, n={self.n}, d_model={self.d_model}, "
            f"h={self.h} and their shapes: {steps}."
        )
        return {**frame, "choices": {**self._offered, "h": divisors(self.d_model)}, "moved": moved}, b""

    def still_png(self) -> bytes | None:
        """The layer's steps with the lit one, as a still drawing."""
        from mha_course.widgets.shape_still import shape_still

        return shape_still(self.answer, self.step).png()

    def _fit_h(self) -> str:
        """Move h to the next divisor below what was wished for; say so for as long as they differ."""
        fitting = divisor_at_most(self.d_model, self._wished_h)
        if fitting != self.h:
            self._fitting = True
            try:
                self.h = fitting
            finally:
                self._fitting = False
        if fitting == self._wished_h:
            return ""
        wished = self._wished_h
        return (
            f"h moved from {wished} to {fitting}: {wished} does not divide d_model = {self.d_model}. "
            f"h can be {divisors_in_words(self.d_model)}."
        )
