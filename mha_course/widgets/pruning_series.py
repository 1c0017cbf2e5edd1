"""What the PruningReplay draws: accuracy against heads kept, by each way to choose them, and runs told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mha_course.heads.criteria import NEXT, PREVIOUS
from mha_course.models.pruning_records import (
    GateRun,
    Removal,
    gate_runs,
    lost,
    removals,
    retrained,
    whole_accuracy,
)
from mha_course.text.course_language.gloss import PARTS

WORST = "worst"
MEASURES = (WORST, *PARTS)
GATES, IMPORTANCE, CONFIDENCE, RANDOM = BY = ("gates", "importance", "confidence", "random")
LEARN, STAY = WEIGHTS = ("learn", "stay")
# How much is gone that nobody would miss, in percentage points.
ALLOWED = 2.0
ROLE_NAMES = {PREVIOUS: "previous word", NEXT: "next word", "rare": "rarest word", "syntactic": "a relation"}
NO_ROLE = "no role"


def five(accuracy: Mapping[str, float]) -> list[float]:
    """The share of right answers as `MEASURES` names them: in the worst part, then in every part."""
    shares = [accuracy[part] for part in PARTS]
    return [min(shares), *shares]


def series(seed: int, weights: str) -> dict[str, dict[str, object]]:
    """For each way to choose heads its points, the one with most heads first.

    seed: of the training run. weights: "learn" (the model learns along with its gates; heads removed by other
    rules are followed by as much training) or "stay" (no weight moves). A point has kept, right (as `five`),
    of gates also price; of several random orders right is their mean, with low and high. orders: how many.
    Raises: ValueError for a run that was not recorded.
    """
    whole = five(whole_accuracy(seed))
    runs = [run for run in gate_runs(frozen=weights == STAY) if run.seed == seed]
    learned = [{"kept": run.kept, "price": run.strength, "right": five(run.accuracy)} for run in runs]
    found = {GATES: {"points": learned, "orders": 1}}
    for by in BY[1:]:
        if weights == STAY:
            orders = [one for one in removals() if one.seed == seed and _is(one.by, by)]
            found[by] = {"points": _spread(orders), "orders": len(orders)}
        else:
            after = [one for one in retrained() if one.seed == seed and _is(one.by, by)]
            after.sort(key=lambda one: -one.kept)
            start = [{"kept": len(runs[0].gates) * len(runs[0].gates[0]), "right": whole}]
            points = [{"kept": one.kept, "right": five(one.accuracy)} for one in after]
            found[by] = {"points": start + points if points else [], "orders": 1}
    return found


def told(run: GateRun) -> str:
    """One run in words: how many heads survive, what they do, and what the worst part of the gloss lost."""
    count = sum(len(row) for row in run.gates)
    doing: dict[str, list[str]] = {name: [] for name in (*ROLE_NAMES.values(), NO_ROLE)}
    for layer, head in run.survivors:
        doing[role_name(run.heads[layer - 1][head - 1])].append(f"L{layer} H{head}")
    roles = "; ".join(f"{name} {', '.join(heads)}" for name, heads in doing.items() if heads)
    gone = [name for name in ROLE_NAMES.values() if not doing[name]]
    part, points = max(lost(run).items(), key=lambda pair: pair[1])
    survive = "survives" if run.kept == 1 else "survive"
    said = f"At a price of {run.strength:g}, {run.kept} of {count} heads {survive}" + (
        f": {roles}." if roles else "."
    )
    if gone:
        said += f" Nobody is left for: {', '.join(gone)}."
    if points < 0.05:
        return f"{said} No part loses anything."
    if points <= ALLOWED:
        return f"{said} No part loses more than {ALLOWED:g} points: the {part} loses most, {points:.1f}."
    return f"{said} The {part} loses {points:.1f} points, more than {ALLOWED:g}."


def role_name(label: Mapping[str, object] | None) -> str:
    """What a recorded label is called in a sentence."""
    if label is None:
        return NO_ROLE
    return ROLE_NAMES[label["name"] if label["kind"] == "positional" else label["kind"]]


def _spread(orders: Sequence[Removal]) -> list[dict[str, object]]:
    """For each number of heads kept the mean over orders, and the least and most."""
    points = []
    for kept in range(len(orders[0].order), -1, -1):
        rows = list(zip(*(five(one.with_kept(kept)) for one in orders), strict=True))
        point: dict[str, object] = {"kept": kept, "right": [round(sum(row) / len(row), 4) for row in rows]}
        if len(orders) > 1:
            point |= {"low": _each(min, rows), "high": _each(max, rows)}
        points.append(point)
    return points


def _each(which: object, rows: Iterable[Sequence[float]]) -> list[float]:
    return [which(row) for row in rows]


def _is(name: str, by: str) -> bool:
    return name.split()[0] == by
