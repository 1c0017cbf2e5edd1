"""PruningReplay: recorded prunings of the course model, price by price: who survives, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from mha_course.models.pruning_records import GateRun, gate_runs, whole_accuracy
from mha_course.models.training_records import forming
from mha_course.widgets.base import CourseWidget
from mha_course.widgets.pruning_series import (
    BY,
    GATES,
    LEARN,
    MEASURES,
    STAY,
    WEIGHTS,
    WORST,
    series,
    told,
)

__all__ = ["PruningReplay"]


class PruningReplay(CourseWidget):
    """Survivors at every recorded price, coloured by role, beside right answers against heads kept.

    price: of an open head, one of those recorded; None takes the highest at which every run keeps every part
    within 2 points. seed: of the training run. part: "worst", or a part of the gloss. weights: "learn", the
    model learns along with its gates, and heads removed by other rules are followed by as much training;
    "stay", no weight moves. All four are traits. Nothing is computed: all of it was recorded.
    Raises: ValueError for what was not recorded; FileNotFoundError when data/ is missing.
    """

    js = (
        "svg_pieces.js",
        "tooltip.js",
        "cell_tips.js",
        "head_map_roles.js",
        "head_map_grid.js",
        "survivor_grid.js",
        "kept_chart.js",
        "pruning_replay.js",
    )
    css = ("pieces.css", "role_grid.css", "survivors.css", "pruning_replay.css")
    root = "mha-pruning"
    settings = ("price", "seed", "part", "weights")

    price = traitlets.Float().tag(sync=True)
    seed = traitlets.Int().tag(sync=True)
    part = traitlets.Unicode(WORST).tag(sync=True)
    weights = traitlets.Unicode(LEARN).tag(sync=True)
    record = traitlets.Dict().tag(sync=True)

    def __init__(
        self, price: float | None = None, seed: int = 0, part: str = WORST, weights: str = LEARN
    ) -> None:
        from mha_course.models.pruning_records import strongest_price

        runs = [*gate_runs(), *gate_runs(frozen=True)]
        self._runs = {(run.seed, run.strength, STAY if run.frozen else LEARN): run for run in runs}
        seeds, prices = (sorted({key[i] for key in self._runs}) for i in (0, 1))
        self._there = {"price": prices, "seed": seeds, "part": MEASURES, "weights": WEIGHTS}
        if price is None:
            price = strongest_price() or prices[0]
        chosen = {"price": price, "seed": seed, "part": part, "weights": weights}
        for name, value in chosen.items():
            self._check(name, value)
        record = {
            "prices": prices,
            "seeds": seeds,
            "measures": list(MEASURES),
            "by": list(BY),
            "whole": {str(one): [list(row) for row in forming(one)[-1].heads] for one in seeds},
            "right": {str(one): dict(whole_accuracy(one)) for one in seeds},
            "runs": {"|".join(map(str, key)): _described(run) for key, run in self._runs.items()},
            "series": {f"{one}|{how}": series(one, how) for one in seeds for how in WEIGHTS},
        }
        super().__init__(record=record, **chosen)

    @traitlets.validate("price", "seed", "part", "weights")
    def _recorded(self, proposal: Mapping) -> object:
        self._check(proposal["trait"].name, proposal["value"])
        return proposal["value"]

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Nothing but the picture in words; the view has all it needs."""
        self.alt = f"{self._heading()} {told(self._run())} {self._beside()}"
        return {}, b""

    def still_png(self) -> bytes | None:
        """Right answers against heads kept, all four ways, with the survivors at this price in words."""
        from mha_course.plots import lines

        found = {by: one["points"] for by, one in series(self.seed, self.weights).items() if one["points"]}
        at = MEASURES.index(self.part)
        kept = sorted({point["kept"] for points in found.values() for point in points})
        rows, bands = {}, {}
        for by, points in found.items():
            name = {GATES: "learned gates"}.get(by, f"by {by}" if by != "random" else "at random")
            rows[name] = _by_kept(kept, points, "right", at)
            if "low" in points[0]:
                bands[name] = tuple(_by_kept(kept, points, edge, at) for edge in ("low", "high"))
        measure = "the worst part" if self.part == WORST else f"the {self.part}"
        run = self._run()
        right = next(point["right"][at] for point in found[GATES] if point["price"] == self.price)
        return lines(
            kept,
            rows,
            title=f"{run.kept} heads kept at price {self.price:g}: {right:.3f} right in {measure}",
            x_label="heads kept",
            y_label="right answers",
            bands=bands,
            note=f"{self._heading()} {told(run)}",
            share=True,
            bridge=True,
        ).png()

    def _check(self, name: str, value: object) -> None:
        there = self._there[name]
        odd = isinstance(value, bool) or not isinstance(value, int | float | str)
        if odd or value not in there:
            raise ValueError(f"{name}={value!r} was not recorded; there are {', '.join(map(str, there))}.")

    def _run(self) -> GateRun:
        return self._runs[self.seed, self.price, self.weights]

    def _heading(self) -> str:
        how = "the weights learn along" if self.weights == LEARN else "no weight moves"
        return f"Pruning of training run {self.seed + 1}, {how}."

    def _beside(self) -> str:
        """What the other ways give with as many heads, where that was recorded."""
        at, kept = MEASURES.index(self.part), self._run().kept
        points = {
            by: next((p["right"][at] for p in one["points"] if p["kept"] == kept), None)
            for by, one in series(self.seed, self.weights).items()
        }
        others = ", ".join(f"{by} {right:.3f}" for by, right in points.items() if right is not None)
        return f"Right answers with {kept} heads, {self.part}: {others}."


def _described(run: GateRun) -> dict[str, object]:
    return {
        "kept": run.kept,
        "gates": [list(row) for row in run.gates],
        "labels": [list(row) for row in run.heads],
        "told": told(run),
    }


def _by_kept(kept: list[int], points: list[Mapping], name: str, at: int) -> list[float]:
    """One value for each number of heads; NaN where there is none, the last where there are several."""
    found = {point["kept"]: point[name][at] for point in points}
    return [found.get(number, float("nan")) for number in kept]
