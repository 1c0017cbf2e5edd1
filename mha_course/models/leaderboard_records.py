"""The leaderboard as it was recorded: rows with their seeds, differences against the spread, a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean

from mha_course.data_files import data_path
from mha_course.training.leaderboard import ROWS, Row, encoder_flops, steps_to
from mha_course.training.record_leaderboard import FILE
from mha_course.training.train_digits import DIGIT_ROWS, DigitSetting, digit_model_of
from mha_course.variants.line_up import cached_numbers, variant

TASKS = {"gloss": ROWS, "digits": DIGIT_ROWS}
THRESHOLD = 1.5  # held-out loss of a word; the "steps to" of the gloss are steps to this
BYTES = 4  # of a number in float32
REFERENCE = Row("plain", 8)  # what every row is laid beside


@dataclass(frozen=True)
class RunRecord:
    """One training run. losses: held out, every `look` steps, of the digits at the end only.

    parameters: of the whole model. accuracy: by part of the gloss, empty for digits; right: share of digits,
    None for the gloss; seconds: of processor time."""

    seed: int
    losses: tuple[float, ...]
    parameters: int
    seconds: float
    accuracy: Mapping[str, float]
    right: float | None = None

    @property
    def loss(self) -> float:
        """Held-out loss at the end."""
        return self.losses[-1]


@dataclass(frozen=True)
class RowRecord:
    """One line of the leaderboard, with a run for every seed.

    row: variant and h; words: what the variant is called; source: author and year. flops: of the encoder, for
    one sentence of 16 words or one picture of 16 patches. cached: numbers kept of a token in one layer, if
    the layer wrote word by word; layers: of the model. look: steps between two held-out losses."""

    task: str
    row: Row
    words: str
    source: str
    runs: tuple[RunRecord, ...]
    flops: int
    cached: int
    layers: int
    look: int

    @property
    def h(self) -> int:
        return self.row.h

    @property
    def name(self) -> str:
        """Variant and heads, short: "plain, h = 8"."""
        return f"{self.row.variant}, h = {self.h}"

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(run.seed for run in self.runs)

    @property
    def losses(self) -> tuple[float, ...]:
        """Held-out loss at the end, one a seed."""
        return tuple(run.loss for run in self.runs)

    @property
    def loss(self) -> float:
        """Held-out loss at the end, mean over the seeds."""
        return fmean(self.losses)

    @property
    def spread(self) -> float | None:
        """Largest minus smallest loss over the seeds; None with fewer than two."""
        return _spread(self.losses)

    @property
    def right(self) -> float | None:
        """Share of digits told right, mean over the seeds; None for the gloss."""
        return None if self.task == "gloss" else fmean(run.right for run in self.runs)

    @property
    def right_spread(self) -> float | None:
        """Largest minus smallest share of digits told right; None for the gloss and for one seed."""
        return None if self.task == "gloss" else _spread(tuple(run.right for run in self.runs))

    @property
    def accuracy(self) -> dict[str, float]:
        """By part of the gloss, mean over the seeds; empty for digits."""
        return {part: fmean(run.accuracy[part] for run in self.runs) for part in self.runs[0].accuracy}

    @property
    def parameters(self) -> int:
        """Of the whole model."""
        return self.runs[0].parameters

    @property
    def cache_bytes(self) -> int:
        """Of one token over all layers, in float32."""
        return BYTES * self.layers * self.cached

    @property
    def seconds(self) -> float:
        """Of processor time for one run, mean over the seeds."""
        return fmean(run.seconds for run in self.runs)

    @property
    def curve(self) -> tuple[tuple[int, float], ...]:
        """(step, held-out loss), mean over the seeds, at every look; of digits the end only."""
        return tuple(
            (self.look * (i + 1), fmean(losses))
            for i, losses in enumerate(zip(*(run.losses for run in self.runs), strict=True))
        )

    def steps_to(self, threshold: float = THRESHOLD) -> tuple[int | None, ...]:
        """For every seed the first step with a held-out loss at or below the threshold; None for never."""
        return tuple(steps_to(run.losses, threshold, self.look) for run in self.runs)


@dataclass(frozen=True)
class Difference:
    """One row against another. amount: of the means, above 0 where the first is better.

    spread: the larger one of both, None when a row has fewer than two seeds. measure: "loss" or "right"."""

    measure: str
    amount: float
    spread: float | None

    @property
    def told(self) -> bool:
        """Whether the difference is at least as large as the spread over seeds."""
        return self.spread is not None and abs(self.amount) >= self.spread and self.amount != 0

    @property
    def words(self) -> str:
        """ "no difference", "better by 0.105", "worse by 1.2 points", or that there are too few seeds."""
        if self.spread is None:
            return "too few seeds"
        if not self.told:
            return "no difference"
        size = abs(self.amount)
        by = f"{size:.3f}" if self.measure == "loss" else f"{100 * size:.1f} points"
        return f"{'better' if self.amount > 0 else 'worse'} by {by}"


def leaderboard(task: str = "gloss", path: Path | None = None) -> tuple[RowRecord, ...]:
    """The rows that have been run, best first: by held-out loss, of "digits" by the share told right.

    path: another record than the one that comes with the course. Raises: ValueError for another task;
    FileNotFoundError when data/ is missing."""
    rows = _rows(task)
    record = json.loads((path or data_path(f"models/{FILE}")).read_text(encoding="utf-8"))
    setting = record["settings"][task]
    found = []
    for row in rows:
        runs = [
            run
            for run in record["runs"]
            if (run["task"], run["variant"], run["h"]) == (task, row.variant, row.h)
        ]
        if runs:
            found.append(_row_record(task, row, sorted(runs, key=lambda run: run["seed"]), setting))
    return tuple(sorted(found, key=lambda row: row.loss if task == "gloss" else (-row.right, row.loss)))


def recorded_row(variant: str, h: int = 8, task: str = "gloss", path: Path | None = None) -> RowRecord:
    """One row of the leaderboard. Raises: ValueError that lists the rows there are, and as `leaderboard`."""
    found = leaderboard(task, path)
    for row in found:
        if row.row == Row(variant, h):
            return row
    there = "; ".join(row.name for row in found)
    raise ValueError(f"no row {variant!r} with h={h} was recorded for the {task}; there are {there}.")


def difference(one: RowRecord, other: RowRecord, measure: str | None = None) -> Difference:
    """How the first row does against the second. A difference of means below the larger spread is none.

    measure: "loss", or "right" for digits; None: what the task is ranked by. Raises: ValueError for rows of
    two tasks and for a measure that the task hasn't."""
    if one.task != other.task:
        raise ValueError(f"rows of two tasks can't be compared: {one.task} and {other.task}.")
    measures = ("loss",) if one.task == "gloss" else ("right", "loss")
    chosen = measures[0] if measure is None else measure
    if chosen not in measures:
        raise ValueError(f"measure={measure!r}: {' or '.join(map(repr, measures))} for the {one.task}.")
    if chosen == "right":
        amount, spreads = one.right - other.right, (one.right_spread, other.right_spread)
    else:
        amount, spreads = other.loss - one.loss, (one.spread, other.spread)
    return Difference(chosen, amount, None if None in spreads else max(spreads))


def table(task: str = "gloss", path: Path | None = None) -> str:
    """The whole leaderboard as a Markdown table that can also be read as it stands, best row first.

    Raises: as `leaderboard`."""
    rows = leaderboard(task, path)
    plain = next((row for row in rows if row.row == REFERENCE), None)
    columns: dict[str, Callable[[RowRecord], str]] = {
        "heads": lambda row: row.row.variant,
        "h": lambda row: str(row.h),
        "seeds": lambda row: str(len(row.runs)),
    }
    if task == "digits":
        columns |= {
            "right": lambda row: f"{100 * row.right:.1f} %",
            "over the seeds": lambda row: _range([100 * run.right for run in row.runs], "{:.1f}"),
        }
    columns |= {
        "held-out loss": lambda row: f"{row.loss:.3f}",
        "from, to": lambda row: _range(row.losses, "{:.3f}"),
        "against plain, h = 8": lambda row: _against(row, plain),
    }
    if task == "gloss":
        columns[f"steps to {THRESHOLD:g}"] = lambda row: steps_in_words(row.steps_to())
    columns |= {
        "parameters": lambda row: f"{row.parameters:,}",
        "FLOPs": lambda row: f"{row.flops:,}",
        "cache bytes a token": lambda row: f"{row.cache_bytes:,}",
        "seconds": lambda row: f"{row.seconds:.0f}",
    }
    cells = [list(columns), *([show(row) for show in columns.values()] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]

    def line(values: list[str]) -> str:
        # Words stand at the left, numbers at the right.
        first, *others = zip(values, widths, strict=True)
        return "| " + " | ".join([first[0].ljust(first[1]), *(text.rjust(w) for text, w in others)]) + " |"

    rule = "|" + "|".join(["-" * (widths[0] + 2), *("-" * (w + 1) + ":" for w in widths[1:])]) + "|"
    return "\n".join([line(cells[0]), rule, *map(line, cells[1:])])


def steps_in_words(steps: tuple[int | None, ...]) -> str:
    """Mean and range of the steps over the seeds, or in how many of them the threshold was never reached."""
    reached = [step for step in steps if step is not None]
    if not reached:
        return "never"
    if len(reached) < len(steps):
        return f"never in {len(steps) - len(reached)} of {len(steps)}"
    return f"{fmean(reached):,.0f} ({_range(reached, '{:,}')})"


def _against(row: RowRecord, plain: RowRecord | None) -> str:
    if plain is None:
        return "not run yet"
    return "–" if row.row == REFERENCE else difference(row, plain).words


def _rows(task: str) -> tuple[Row, ...]:
    if task not in TASKS:
        raise ValueError(f"task={task!r}: {' or '.join(map(repr, TASKS))}.")
    return TASKS[task]


def _row_record(task: str, row: Row, runs: list[dict], setting: Mapping[str, object]) -> RowRecord:
    told, layers = variant(row.variant), int(setting["n_layers"])
    records = tuple(_run_record(run) for run in runs)
    if task == "gloss":
        flops, cached, look = runs[0]["flops"], runs[0]["cached"], setting["look"]
    else:
        # Neither depends on what was learned: an untrained model tells both.
        flops, cached = _cost_of_digits(row, DigitSetting(**setting))
        look = setting["steps"]
    return RowRecord(task, row, told.words, told.source, records, flops, cached, layers, look)


def _run_record(run: Mapping[str, object]) -> RunRecord:
    losses = tuple(run["losses"]) if "losses" in run else (run["loss"],)
    return RunRecord(
        run["seed"], losses, run["parameters"], run["seconds"], run.get("accuracy", {}), run.get("right")
    )


@lru_cache(maxsize=32)
def _cost_of_digits(row: Row, setting: DigitSetting) -> tuple[int, int]:
    model = digit_model_of(row, setting, seed=0)
    return encoder_flops(model, 16), cached_numbers(model.encoder.layers[0].attention)


def _spread(values: tuple[float, ...]) -> float | None:
    return max(values) - min(values) if len(values) > 1 else None


def _range(values: list[float] | tuple[float, ...], shape: str) -> str:
    low, high = shape.format(min(values)), shape.format(max(values))
    return low if low == high else f"{low} to {high}"
