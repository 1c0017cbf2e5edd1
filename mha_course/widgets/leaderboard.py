"""Leaderboard: plain heads and every variant on one task, seed by seed; any row can be trained again."""

from __future__ import annotations

import html
import string
from collections.abc import Mapping
from statistics import fmean

import traitlets

from mha_course.models.digit_model import DigitModel
from mha_course.models.gloss_model import GlossModel
from mha_course.models.leaderboard_records import REFERENCE, TASKS, leaderboard
from mha_course.models.leaderboard_rows import THRESHOLD
from mha_course.training.leaderboard import Setting
from mha_course.training.live_row import LOOK, STEPS, RowSettings, row_settings
from mha_course.training.live_row_run import RowRun, row_run
from mha_course.training.live_run import AT_WORK, FAILED, STOPPED
from mha_course.widgets.base import CourseWidget
from mha_course.widgets.beside_cells import heard_beside_cells
from mha_course.widgets.leaderboard_words import (
    NUMBERS,
    OF_TASK,
    THRESHOLDS,
    again,
    against,
    described,
    key_of,
    listed,
    numbers_of,
    ranked,
    told,
)
from mha_course.widgets.run_in_view import RunInView

__all__ = ["Leaderboard"]

ORDERS = ("", "start", "stop")


class Leaderboard(RunInView, CourseWidget):
    """Recorded rows with a dot a seed, one of them against plain heads in words, and any row trained again.

    task: "gloss", or "digits". variant, h: the row to begin with. seed: of a row that is trained again.
    number: what is shown, "loss", "right" (digits), "steps" (gloss), "parameters", "flops", "cache" or
    "seconds". Nothing starts by itself; but to run a cell again whose training was stopped goes on with it.
    Kernel → Interrupt stops it as the button does. The environment variable MHA_COURSE_STEPS sets a smaller
    number of updates: the beginning of the whole run.

    In a cell: `start()`, `wait()`, then `live()` and `model()`.
    Raises: ValueError for a task, row, seed or number that there isn't; FileNotFoundError when data/ is
    missing.
    """

    js = (
        "svg_pieces.js",
        "tooltip.js",
        "cell_tips.js",
        "live_chart.js",
        "live_controls.js",
        "leaderboard_rows.js",
        "leaderboard_chart.js",
        "leaderboard.js",
    )
    css = ("pieces.css", "live_training.css", "leaderboard.css")
    root = "mha-board"
    settings = ("order", "row", "seed", "number", "threshold")

    order = traitlets.Enum(ORDERS, "").tag(sync=True, echo_update=False)
    row = traitlets.Unicode().tag(sync=True)
    seed = traitlets.Int().tag(sync=True)
    number = traitlets.Unicode().tag(sync=True)
    threshold = traitlets.Float(THRESHOLD).tag(sync=True)
    record = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        task: str = "gloss",
        variant: str = "plain",
        h: int = 8,
        seed: int = 0,
        number: str | None = None,
    ) -> None:
        settings = row_settings(task, variant, h, seed)
        found = leaderboard(task)
        letters = dict(zip(TASKS[task], string.ascii_uppercase, strict=False))
        self._rows = {key_of(row): row for row in sorted(found, key=lambda row: letters[row.row])}
        self._task, self._obeyed, self._watched = task, 0, set()
        seeds = sorted({one for row in found for one in row.seeds} | {settings.seed})
        self.run = row_run(settings)
        super().__init__(
            row=_key(settings),
            seed=settings.seed,
            number=OF_TASK[task][0] if number is None else number,
            record={
                "task": task,
                "numbers": {name: NUMBERS[name] for name in OF_TASK[task]},
                "thresholds": list(THRESHOLDS),
                "reference": _PLAIN,
                "seeds": [*seeds, max(seeds) + 1] if seeds else [0],
                "steps": settings.steps,
                "whole": STEPS[task],
                "look": LOOK[task],
                "rows": [described(row, letters[row.row]) for row in self._rows.values()],
            },
        )
        # News may come at once: it is listened for only when there is a widget to tell it to.
        self._follow(self.run)
        self._on_news()
        heard_beside_cells(self)
        if self.run.state in (STOPPED, FAILED):
            self.start()

    @traitlets.validate("row")
    def _known(self, proposal: Mapping) -> str:
        variant, _, h = proposal["value"].rpartition("|")
        return _key(RowSettings(self._task, variant, int(h) if h.isdecimal() else 0))

    @traitlets.validate("number", "threshold")
    def _there(self, proposal: Mapping) -> object:
        name, value = proposal["trait"].name, proposal["value"]
        there = OF_TASK[self._task] if name == "number" else THRESHOLDS
        if value not in there:
            raise ValueError(f"{name}={value!r}: one of {', '.join(map(str, there))}.")
        return value

    @traitlets.validate("seed")
    def _possible(self, proposal: Mapping) -> int:
        return RowSettings(self._task, seed=proposal["value"]).seed

    def _follow(self, run: RowRun) -> None:
        """Show this run from now on, and hear its news."""
        self.run = run
        if run not in self._watched:
            self._watched.add(run)
            run.watch(self._on_news)

    def live(self) -> list[tuple[int, float]]:
        """(step, number) of the row trained here, at every look: held-out loss, of digits the share right."""
        key = "held" if self._task == "gloss" else "right"
        return [(report["step"], report[key]) for report in self.run.measured()]

    def model(self) -> GlossModel | DigitModel | None:
        """The model trained here as it was at the end or when it stopped; None before."""
        return self.run.model()

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Do what the view asked for; tell of the chosen row, and how its training stands."""
        variant, _, h = self.row.rpartition("|")
        wanted = row_settings(self._task, variant, int(h), self.seed)
        if wanted != self.run.settings and self.run.state not in AT_WORK:
            self._follow(row_run(wanted))
        if self.stamp != self._obeyed:
            self._obeyed = self.stamp
            if self.order:
                getattr(self, self.order)()
        run, latest, rows = self.run, dict(self.run.latest), tuple(self._rows.values())
        header = {
            "state": run.state,
            "trouble": run.trouble,
            "step": run.step,
            "seconds": latest.get("seconds", 0.0),
            "drawn": latest.get("drawn", 0) if self._task == "gloss" else 0,
            "sentences": Setting().recipe.sentences,
            "training": {"row": _key(run.settings), "seed": run.settings.seed},
            "live": [list(look) for look in self.live()],
            "told": self._told(),
            "against": {key: self._against(key) for key in self._rows},
            "again": again(run.settings, self.live(), self._rows.get(_key(run.settings))),
            "order": [key_of(row) for row in ranked(rows, self.number, self.threshold)],
        }
        best = listed(rows, self.number, self.threshold)
        self.alt = (
            f"Leaderboard, {NUMBERS[self.number]}, best first: {best or 'no row yet'}. {header['told']}"
        )
        return header, b""

    def _told(self) -> str:
        if self.row not in self._rows:
            return "This row has not been recorded yet. It can be trained here."
        return told(self._rows[self.row], self._rows.get(_PLAIN), self.number, self.threshold)

    def _against(self, key: str) -> str:
        plain = self._rows.get(_PLAIN)
        return "" if plain is None else against(self._rows[key], plain, self.number, self.threshold)

    def still_png(self) -> bytes | None:
        """A bar a row, best first, with the range over its seeds and plain heads with h = 8 as a tick."""
        from mha_course.plots import bars

        values = {
            row.name: numbers_of(row, self.number, self.threshold)
            for row in ranked(tuple(self._rows.values()), self.number, self.threshold)
        }
        values = {name: there for name, there in values.items() if None not in there}
        if not values:
            return None
        plain = self._rows.get(_PLAIN)
        beside = None if plain is None else numbers_of(plain, self.number, self.threshold)
        return bars(
            list(values),
            [fmean(one) for one in values.values()],
            title=f"The leaderboard of the {self._task}: {NUMBERS[self.number]}",
            y_label=NUMBERS[self.number],
            note=f"{self.answer['told']} Whisker: smallest and largest seed.",
            baseline=None if beside is None or None in beside else fmean(beside),
            baseline_label="plain, h = 8",
            errors=[[min(one) for one in values.values()], [max(one) for one in values.values()]],
        ).png()

    def _on_news(self) -> None:
        self.refresh(force=True)

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """The live view; where there is no front end, a picture if there is one, and a sentence."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        data.setdefault("text/html", f"<p>{html.escape(self.alt)}</p>")
        return data, metadata


_PLAIN = f"{REFERENCE.variant}|{REFERENCE.h}"


def _key(settings: RowSettings) -> str:
    return f"{settings.variant}|{settings.h}"
