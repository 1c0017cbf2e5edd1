"""What the Leaderboard shows of its rows: numbers for the view, and one row against plain heads in words."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from mha_course.models.leaderboard_rows import Difference, RowRecord, difference_of
from mha_course.training.live_row import RowSettings

# What a row can be ranked by: its name above the column.
NUMBERS = {
    "loss": "held-out loss",
    "right": "right answers, %",
    "steps": "steps to a held-out loss",
    "parameters": "parameters",
    "flops": "FLOPs of the encoder",
    "cache": "cache bytes a token",
    "seconds": "seconds to train",
}
OF_TASK = {
    "gloss": ("loss", "steps", "parameters", "flops", "cache", "seconds"),
    "digits": ("right", "loss", "parameters", "flops", "cache", "seconds"),
}
THRESHOLDS = (4.0, 3.0, 2.0, 1.5, 1.25, 1.0, 0.8)
_COSTS = {"parameters": "parameters", "flops": "FLOPs", "cache": "cache bytes a token"}


def key_of(row: RowRecord) -> str:
    """How a row is named between Python and the view."""
    return f"{row.row.variant}|{row.h}"


def numbers_of(row: RowRecord, number: str, threshold: float) -> tuple[float | None, ...]:
    """One number a seed, or a single one where seeds don't matter; None: the threshold was never reached."""
    if number == "steps":
        return row.steps_to(threshold)
    if number in ("loss", "right", "seconds"):
        return row.values(number)
    return ({"parameters": row.parameters, "flops": row.flops, "cache": row.cache_bytes}[number],)


def described(row: RowRecord, letter: str) -> dict[str, object]:
    """All that the view draws of a row."""
    low, high = (
        [extreme(run.losses[i] for run in row.runs) for i in range(len(row.curve))] for extreme in (min, max)
    )
    fixed = {name: numbers_of(row, name, 0.0) for name in OF_TASK[row.task] if name != "steps"}
    return {
        "key": key_of(row),
        "letter": letter,
        "variant": row.row.variant,
        "h": row.h,
        "words": row.words,
        "source": row.source,
        "seeds": list(row.seeds),
        "values": {name: list(values) for name, values in fixed.items()},
        "steps": {f"{one:g}": list(row.steps_to(one)) for one in THRESHOLDS} if row.task == "gloss" else {},
        "curve": [
            [step, round(mean, 4), a, b] for (step, mean), a, b in zip(row.curve, low, high, strict=True)
        ],
    }


def told(row: RowRecord, plain: RowRecord | None, number: str, threshold: float) -> str:
    """The row against plain heads with h = 8 in a few sentences."""
    own = numbers_of(row, number, threshold)
    said = f"{_named(row)}: {_amount(own, number, threshold)}."
    if plain is None:
        return f"{said} Plain heads with h = 8 have not been run yet."
    if row.row == plain.row:
        return f"{said} The other rows are laid beside this one."
    others = numbers_of(plain, number, threshold)
    said += f" Plain heads, h = 8: {_amount(others, number, threshold, short=True)}."
    if number in _COSTS:
        return f"{said} {_times(own[0], others[0])}"
    if None in own or None in others:
        return f"{said} Without a step for every seed there is nothing to compare."
    found = _difference(row, own, others, number)
    if found.spread is None:
        return f"{said} Too few seeds: with a single one there is no spread to lay the difference beside."
    size, spread = _plain(abs(found.amount), number), _plain(found.spread, number)
    said += f" The means differ by {size}, the larger spread over seeds is {spread}: {found.words}."
    return said + (" Seconds hang on the machine, and on what else it does." if number == "seconds" else "")


def against(row: RowRecord, plain: RowRecord, number: str, threshold: float) -> str:
    """The same in a few letters, for a column of the table; empty for plain heads with h = 8 themselves."""
    own, others = (numbers_of(one, number, threshold) for one in (row, plain))
    if row.row == plain.row:
        return ""
    if number in _COSTS:
        share = own[0] / others[0]
        return "the same" if abs(share - 1) < 0.002 else f"{share:.3g} times"
    return _difference(row, own, others, number).words


def again(settings: RowSettings, live: Sequence[tuple[int, float]], row: RowRecord | None) -> str:
    """What was trained here beside what was recorded; empty before the first look at it."""
    if not live:
        return ""
    step, number = live[-1]
    gloss = settings.task == "gloss"
    shown = f"a held-out loss of {number:.3f}" if gloss else f"{100 * number:.1f} % told right"
    which = f"{settings.variant}, h = {settings.h}, seed {settings.seed}"
    said = f"Trained here, {which}: {shown} after {step:,} steps."
    if row is None:
        return said
    at = [one for one, _ in row.curve].index(step) if step in (one for one, _ in row.curve) else None
    if at is None:
        return said + ("" if gloss else f" The recorded runs were looked at after {row.look:,} steps.")
    recorded = {run.seed: run.losses[at] if gloss else 100 * run.right for run in row.runs}
    text = "{:.3f}" if gloss else "{:.1f} %"
    low, high = min(recorded.values()), max(recorded.values())
    span = f"over {len(recorded)} seeds {text.format(low)} to {text.format(high)}"
    own = recorded.get(settings.seed)
    said += f" Recorded there: {'' if own is None else f'{text.format(own)} with this seed, '}{span}."
    if own is None:
        return said
    if text.format(own) == text.format(number):
        return said + " Equal seeds gave equal runs."
    return said + " The seed is the same; another machine rounds differently, and training enlarges that."


def listed(rows: Sequence[RowRecord], number: str, threshold: float) -> str:
    """All rows with their numbers, best first, for a screen reader."""
    return "; ".join(
        f"{row.name} {_amount(numbers_of(row, number, threshold), number, threshold, short=True)}"
        for row in ranked(rows, number, threshold)
    )


def ranked(rows: Sequence[RowRecord], number: str, threshold: float) -> list[RowRecord]:
    """Best first: by the mean, those that never reach the threshold behind the others."""
    return sorted(rows, key=lambda row: standing(numbers_of(row, number, threshold), number))


def standing(values: Sequence[float | None], number: str) -> tuple[int, float]:
    """What rows are sorted by: seeds without a number, then the mean, most first where more is better."""
    there = [value for value in values if value is not None]
    mean = fmean(there) if there else 0.0
    return len(values) - len(there), -mean if number == "right" else mean


def _difference(
    row: RowRecord, own: Sequence[float | None], others: Sequence[float | None], number: str
) -> Difference:
    return difference_of(own, others, number, row.look if number == "steps" else 0.0)


def _named(row: RowRecord) -> str:
    return f"{row.words[0].upper()}{row.words[1:]}, h = {row.h} ({row.source})"


def _amount(values: Sequence[float | None], number: str, threshold: float, short: bool = False) -> str:
    there = [value for value in values if value is not None]
    if len(there) < len(values):
        missing = len(values) - len(there)
        return f"a loss of {threshold:g} is never reached in {missing} of {len(values)} seeds"
    if number in _COSTS:
        return f"{there[0]:,} {_COSTS[number]}"
    mean, low, high = (_plain(one, number) for one in (round(fmean(there), 9), min(there), max(there)))
    what = {
        "loss": f"a held-out loss of {mean}",
        "right": f"{mean} % of the digits told right",
        "steps": f"{mean} steps to a held-out loss of {threshold:g}",
        "seconds": f"{mean} s of one core",
    }[number]
    if short:
        what = {"right": f"{mean} %", "steps": f"{mean} steps", "seconds": f"{mean} s"}.get(number, mean)
    if len(values) == 1:
        return f"{what} with one seed"
    if low == high:
        return f"{what} with each of {len(values)} seeds"
    return f"{what}, {low} to {high} over {len(values)} seeds"


def _plain(value: float, number: str) -> str:
    return {"loss": f"{value:.3f}", "steps": f"{value:,.0f}"}.get(number, f"{value:.1f}")


def _times(own: float, other: float) -> str:
    if own == other:
        return "As many."
    share = own / other
    if abs(share - 1) < 0.002:
        # Feed-forward parts are made wider or narrower by whole features; a few numbers are left over.
        return f"{abs(own - other):,} {'more' if own > other else 'fewer'}, {abs(share - 1):.2%}."
    return f"{share:.3g} times as many."
