"""What a HeadMap shows of a HeadTable: the roles with their strips of dots, and each head's bars."""

from __future__ import annotations

import math
from collections.abc import Mapping

from torch import Tensor

from mha_course.heads.head_table import NO_SYNTAX, HeadRole, HeadTable
from mha_course.heads.measured import Measured
from mha_course.heads.roles import FEWEST_ASKED

MOST_BARS, FEWEST_BARS = 5, 3  # relations
LEAST_SHOWN = (
    0.3  # share from which a position or the rarest word gets a bar at a head that is best elsewhere
)
_COUNTED = ("positional", "syntactic", "rare")  # measures that count largest weights
_ROLE_OF_KIND = {"syntactic": "syntactic", "rare": "rare", "special": "special", "broad": "broad"}
_WORDS = {
    "previous": "previous token",
    "next": "next token",
    "rarest": "rarest word",
    "special tokens": "on special tokens",
    "broad": "evenness",
}
_MEANS = {
    "special": "weight on special tokens, mean over words",
    "broad": "how even the rows are, mean over words (entropy / log n)",
}
_SIGNS = str.maketrans("-", "−")


def chart_of(table: HeadTable, words: str = "words") -> dict[str, object]:
    """The table as lists and numbers for the view.

    words: what is asked, "words" or "pieces". Raises: ValueError for a table without a role.
    """
    roles = table.roles()
    if not roles:
        raise ValueError("the table has no role to show: too little was asked.")
    layers, heads = table.n_layers, table.n_heads
    total = layers * heads
    return {
        "layers": layers,
        "heads": heads,
        "title": f"Head map: what each of {total} heads does"
        if total > 1
        else "Head map: what one head does",
        "measured": f"{_count(layers, 'layer')} × {_count(heads, 'head')} · {table.sentences:,} sentences"
        + (f" of {table.source.partition(',')[0]}" if table.source else ""),
        "note": _ended(table.note) + (f" Sentences: {table.source}." if "," in table.source else ""),
        "roles": [_role(role) for role in roles],
        "strips_note": _strips_note(roles),
        "rows": [_bars(table, layer, head) for layer in range(1, layers + 1) for head in range(1, heads + 1)],
    }


def question_of(table: HeadTable, layer: int, head: int, role: str | None) -> Measured | None:
    """What a head is asked on an example: of its role what it is best at, else what it is best at of all.

    layer, head: from 1. role: a key of the table's roles, or None. Broad heads and those that look at
    special tokens are asked nothing of their own.
    """
    for own in table.roles():
        if own.key == role == "syntactic":
            return own.of[layer - 1][head - 1]
    rows = [row for row in _bars(table, layer, head) if row["kind"] == "share"]
    rows = [row for row in rows if row["role"] == role] or rows
    return table.measure(rows[0]["name"]) if rows else None


def roles_at(table: HeadTable, thresholds: Mapping[str, float]) -> dict[str, list[tuple[int, int]]]:
    """For each role in words the heads (layer, head) that have it, counted from 1."""
    found = {}
    for role in table.roles():
        having = role.having(thresholds.get(role.key, role.threshold) - 1e-9)
        found[role.name] = [(layer + 1, head + 1) for layer, head in having.nonzero().tolist()]
    return found


def most_telling(table: HeadTable) -> tuple[int, int]:
    """The head whose best relation is most above its baseline; without relations, the first role's best."""
    roles = {role.key: role for role in table.roles()}
    values = (roles.get("syntactic") or next(iter(roles.values()))).values.nan_to_num(-1.0)
    layer, head = divmod(int(values.argmax()), table.n_heads)
    return layer + 1, head + 1


def words_of(measure: Measured) -> str:
    """What a measure is called in the map: a few words."""
    return _WORDS.get(measure.name, measure.short)


def _role(role: HeadRole) -> dict[str, object]:
    points = role.unit == "points"
    values = [number for number in _flat(role.values) if number is not None]
    low = min(-0.1, math.floor(10 * min(values, default=0)) / 10) if points else 0
    high = max(0.2, math.ceil(10 * max(values, default=0)) / 10) if points else 1
    control = None if role.control is None else _number(float(role.control.nan_to_num(-1.0).max()))
    baseline = _number(role.baseline)
    known = [number for number in (control, baseline) if number is not None]
    # What a head has to be above: for a position the better of chance and an untrained model.
    line = 0.0 if points else baseline if role.key == "rare" else max(known, default=None)
    if role.key == "broad":
        line = baseline if baseline is not None else control
    of = [measure for row in role.of for measure in row]
    return {
        "role": role.key,
        "words": role.name,
        "unit": role.unit,
        "threshold": role.threshold,
        "low": low,
        "high": high,
        "scores": _flat(role.values),
        "names": [measure.short for measure in of] if points else None,
        "baselines": [_number(measure.baseline) for measure in of] if points else None,
        "rules": [_rule(measure.rule) for measure in of] if points else None,
        "baseline": baseline if role.key == "rare" or control is None else line,
        "rule": _rule(role.rule) if role.key == "rare" or control is None else "untrained model",
        # A broad head is below what an untrained model reaches: there is no ground to rise above.
        "ground": None if role.key == "broad" else line,
        "ground_line": line,
    }


def _bars(table: HeadTable, layer: int, head: int) -> list[dict[str, object]]:
    """One head's bars: what it is best at among the questions, then where its weight lies."""
    at = (layer - 1, head - 1)
    shares, means = [], []
    for measure in table.measures:
        if measure.asked < FEWEST_ASKED or measure.relation in NO_SYNTAX:
            continue
        if measure.kind not in _COUNTED:
            means.append(_bar(measure, at))
        elif measure.kind == "syntactic" or measure.name in ("previous", "next", "rarest"):
            shares.append(_bar(measure, at))
    roles = {role.key: role for role in table.roles()}
    limits = {key: role.threshold for key, role in roles.items()}
    order = list(limits)
    picked = roles["syntactic"].of[at[0]][at[1]].name if "syntactic" in roles else ""

    def key(row: Mapping[str, object]) -> tuple[bool, int, bool, float]:
        passes = _passes(row, limits)
        return not passes, order.index(row["role"]) if passes else 0, row["name"] != picked, -row["gain"]

    shares.sort(key=key)
    syntactic = [row for row in shares if row["role"] == "syntactic"]
    above = sum(row["gain"] > 0 for row in syntactic)
    kept = syntactic[: max(FEWEST_BARS, min(MOST_BARS, above))]
    return [row for row in shares if row in kept or _worth_a_bar(row)] + means


def _passes(row: Mapping[str, object], limits: Mapping[str, float]) -> bool:
    limit = limits.get(row["role"], math.inf)
    return (row["gain"] if row["role"] == "syntactic" else row["score"]) >= limit


def _worth_a_bar(row: Mapping[str, object]) -> bool:
    return row["role"] != "syntactic" and row["score"] >= LEAST_SHOWN


def _bar(measure: Measured, at: tuple[int, int]) -> dict[str, object]:
    counted = measure.kind in _COUNTED
    baseline = _number(measure.baseline) if counted else None
    score = _number(float(measure.values[at])) or 0.0
    nearest = _number(measure.nearest)
    control = None
    if measure.control is not None:
        held = measure.control.nan_to_num(-1.0)
        control = _number(float(held.max() if counted else held.mean()))
    return {
        "role": measure.name if measure.kind == "positional" else _ROLE_OF_KIND[measure.kind],
        "kind": "share" if counted else "mean",
        "name": measure.name,
        "words": words_of(measure),
        "full": measure.full if counted else _MEANS[measure.kind],
        "score": score,
        "low": _number(float(measure.low[at])),
        "high": _number(float(measure.high[at])),
        "baseline": baseline,
        "rule": _rule(measure.rule),
        "rule_kind": _rule_kind(measure),
        "control": control,
        "asked": measure.asked if counted else None,
        "gain": None if baseline is None else round(score - baseline, 3),
        "tougher": None
        if nearest is None
        else {"rule": "the nearest word of the right part of speech", "score": nearest},
    }


def _rule(rule: str) -> str:
    if rule.startswith("always"):
        return f"best fixed offset ({rule.split()[-1].translate(_SIGNS)})"
    return "the longest word" if rule == "longest word" else rule


def _rule_kind(measure: Measured) -> str:
    if measure.kind == "syntactic":
        return "best fixed offset"
    return "chance" if measure.kind == "positional" else _rule(measure.rule)


def _strips_note(roles: tuple[HeadRole, ...]) -> list[str]:
    """The sentence below the strips; every second part is bold."""
    keys = {role.key: role for role in roles}
    untrained = any(role.control is not None for role in roles)
    parts = ["Dashed line: " + ("the best head of an untrained model" if untrained else "chance")]
    if "broad" in keys and untrained:
        parts[0] += " (for "
        parts += ["~", " its mean head)"]
    exceptions = [("syntactic", "dep", "the best fixed offset"), ("rare", "rare", "the longest word")]
    for key, mark, words in exceptions:
        if key in keys:
            parts[-1] += "; for " if parts[-1] else ""
            parts += [mark, f" {words}"]
    parts[-1] += ". Hatched: what that reaches without the head. Ring: the chosen head."
    return parts


def _flat(values: Tensor) -> list[float | None]:
    return [_number(value) for value in values.flatten().tolist()]


def _number(value: float | None) -> float | None:
    """Three places; None for nan, which JSON doesn't know."""
    return None if value is None or value != value else round(value, 3)


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _ended(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."
