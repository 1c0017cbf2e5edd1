"""GatesLive: a gate for every head of a trained model is learned while one looks on, and heads go."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import replace

import traitlets
from torch import Tensor

from mha_course.models.gloss_model import GlossModel
from mha_course.models.pruning_records import recorded_prices
from mha_course.models.training_records import forming
from mha_course.text.course_language.gloss import PARTS
from mha_course.training.live_gates import MEASURED_SENTENCES, STEPS, GateSettings, gate_settings
from mha_course.training.live_gates_run import GatesRun, gates_run
from mha_course.training.live_run import AT_WORK, FAILED, STOPPED
from mha_course.widgets.base import CourseWidget
from mha_course.widgets.beside_cells import heard_beside_cells
from mha_course.widgets.run_in_view import RunInView

__all__ = ["GatesLive"]

ORDERS = ("", "start", "stop")


class GatesLive(RunInView, CourseWidget):
    """A button that starts and stops learning, the gate of every head, how many are open, what is left.

    seed: of the model's training run, 0 to 2; price: of an open head, lambda; steps: updates. Nothing starts
    by itself; the price can be changed while nothing runs, and every price has a run of its own. To run a
    cell again whose learning was stopped goes on with it. Kernel → Interrupt stops it
    as the button does. The environment variable MHA_COURSE_STEPS sets a smaller number of updates.

    In a cell: `start()`, `wait()`, then `values`, `accuracy` and `pruned()`.
    Raises: ValueError for a seed, price or number of steps that can't be.
    """

    js = (
        "svg_pieces.js",
        "tooltip.js",
        "live_chart.js",
        "live_controls.js",
        "gloss_meters.js",
        "head_map_roles.js",
        "head_map_grid.js",
        "survivor_grid.js",
        "gates_live.js",
    )
    css = (
        "pieces.css",
        "live_training.css",
        "gloss_meters.css",
        "role_grid.css",
        "survivors.css",
        "gates_live.css",
    )
    root = "mha-gates"
    settings = ("order", "price")

    order = traitlets.Enum(ORDERS, "").tag(sync=True, echo_update=False)
    seed = traitlets.Int().tag(sync=True)
    price = traitlets.Float().tag(sync=True)
    steps = traitlets.Int().tag(sync=True)
    ramp = traitlets.Int().tag(sync=True)
    settle = traitlets.Int().tag(sync=True)
    heads = traitlets.List().tag(sync=True)
    prices = traitlets.List().tag(sync=True)

    def __init__(self, seed: int = 0, price: float = 0.05, steps: int = STEPS) -> None:
        chosen = gate_settings(seed, price, steps)
        self._obeyed, self._watched = 0, set()
        self._follow(gates_run(chosen))
        super().__init__(
            seed=chosen.seed,
            price=chosen.price,
            steps=chosen.steps,
            ramp=chosen.recipe.ramp,
            settle=chosen.recipe.settle,
            heads=[list(row) for row in forming(chosen.seed)[-1].heads],
            prices=sorted({*recorded_prices(), chosen.price}),
        )
        heard_beside_cells(self)
        if self.run.state in (STOPPED, FAILED):
            self.start()

    @traitlets.validate("price")
    def _possible(self, proposal: Mapping) -> float:
        return GateSettings(price=proposal["value"]).price

    def _follow(self, run: GatesRun) -> None:
        """Show this run from now on, and hear its news."""
        self.run = run
        if run not in self._watched:
            self._watched.add(run)
            run.watch(self._on_news)

    @property
    def values(self) -> tuple[Tensor, ...] | None:
        """For each layer (h,): the gates without noise as they are now; None before the first update."""
        return self.run.values

    @property
    def accuracy(self) -> Mapping[str, float] | None:
        """By part of the gloss, of what is left when the closed heads are gone; None before the end."""
        return self.run.left

    def pruned(self) -> GlossModel | None:
        """The model without its closed heads, taken out for good; None before the end."""
        return self.run.pruned()

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Do what the view asked for, and tell how the learning stands."""
        wanted = replace(self.run.settings, price=self.price)
        if wanted != self.run.settings:
            if self.run.state in AT_WORK:
                self.price = self.run.settings.price  # a price is for the whole of a run
            else:
                self._follow(gates_run(wanted))
        if self.stamp != self._obeyed:
            self._obeyed = self.stamp
            if self.order:
                getattr(self, self.order)()
        run = self.run
        latest, updates = dict(run.latest), [report for report in list(run.history) if report["gates"]]
        header = {
            "state": run.state,
            "trouble": run.trouble,
            "step": run.step,
            "seconds": latest.get("seconds", 0.0),
            "drawn": latest.get("drawn", 0),
            "sentences": run.settings.sentences,
            "measured_on": MEASURED_SENTENCES,
            "loss": next((one["loss"] for one in reversed(updates) if one["loss"] is not None), None),
            "open": [[one["step"], round(one["expected_open"], 2), _kept(one)] for one in updates],
            "gates": latest.get("gates"),
            "whole": run.whole,
            "left": run.left,
            "labels": run.labels,
        }
        self.alt = self._in_words(header)
        return header, b""

    def still_png(self) -> bytes | None:
        """The expected number of open heads and of those whose gate is not 0, by step; None at first."""
        from mha_course.plots import lines

        found = self.answer["open"]
        steps = sorted({step for step, _, _ in found})
        if len(steps) < 2:
            return None
        at = {step: (expected, kept) for step, expected, kept in found}
        count = sum(len(row) for row in self.heads)
        return lines(
            steps,
            {
                "expected number of open heads": [at[step][0] for step in steps],
                "heads whose gate is not 0": [at[step][1] for step in steps],
            },
            title=f"{found[-1][2]} of {count} heads are open after {found[-1][0]:,} steps",
            x_label="step",
            y_label="heads",
            y_limits=(0, count),
            note=self.alt,
            markers=False,
        ).png()

    def _on_news(self) -> None:
        self.refresh(force=True)

    def _in_words(self, header: Mapping) -> str:
        count = sum(len(row) for row in self.heads)
        told = f"Gates at a price of {self.price:g}, {header['state']}: "
        told += f"step {header['step']:,} of {self.steps:,}"
        if header["open"]:
            _, expected, kept = header["open"][-1]
            told += f"; {kept} of {count} heads open, {expected:.1f} expected"
        if header["left"]:
            right = ", ".join(f"{part} {header['left'][part]:.3f}" for part in PARTS)
            told += f"; right answers without the others: {right}"
        return told + "."

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """The live view; where there is no front end, a picture if there is one, and a sentence."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        data.setdefault("text/html", f"<p>{html.escape(self.alt)} A button in the notebook starts it.</p>")
        return data, metadata


def _kept(report: Mapping[str, list[list[float]]]) -> int:
    return sum(gate > 0 for layer in report["gates"] for gate in layer)
