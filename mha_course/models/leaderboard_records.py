"""The leaderboard as it was recorded: its rows with their seeds, best first, and a table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from statistics import fmean

from mha_course.data_files import data_path
from mha_course.models.leaderboard_rows import THRESHOLD, Difference, RowRecord, RunRecord, difference
from mha_course.training.leaderboard import ROWS, Row, encoder_flops
from mha_course.training.record_leaderboard import FILE, read_record
from mha_course.training.train_digits import DIGIT_ROWS, DigitSetting, digit_model_of
from mha_course.variants.line_up import cached_numbers, variant

__all__ = [
    "REFERENCE",
    "TASKS",
    "THRESHOLD",
    "Difference",
    "RowRecord",
    "RunRecord",
    "difference",
    "leaderboard",
    "recorded_row",
    "steps_in_words",
    "table",
]

TASKS = {"gloss": ROWS, "digits": DIGIT_ROWS}
REFERENCE = Row("plain", 8)  # what every row is laid beside


def leaderboard(task: str = "gloss", path: Path | None = None) -> tuple[RowRecord, ...]:
    """The rows that have been run, best first: by held-out loss, of "digits" by the share told right.

    path: another record than the one that comes with the course. Raises: ValueError for another task;
    FileNotFoundError when data/ is missing; ValueError for a damaged record."""
    rows = _rows(task)
    record = read_record(path or data_path(f"models/{FILE}"))
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


def _range(values: list[float] | tuple[float, ...], shape: str) -> str:
    low, high = shape.format(min(values)), shape.format(max(values))
    return low if low == high else f"{low} to {high}"
