"""What was measured of real heads, as plain text tables."""

from __future__ import annotations

from collections.abc import Sequence

from mha_course.heads.criteria import NEXT, PREVIOUS
from mha_course.heads.habits import FIRST_SPECIAL, LAST_SPECIAL, NEAR_ZERO
from mha_course.heads.head_table import HeadTable
from mha_course.heads.measured import Measured, score_of
from mha_course.heads.roles import FEWEST_ASKED, POSITIONAL_SHARE, SYNTACTIC_GAIN
from mha_course.models.real_head_roles import COUNTED_RELATIONS, RealHeadRoles

_COLUMNS = (
    *("question", "head", "score", "baseline", "picked", "held out", "interval", "baseline"),
    *("nearest", "untrained", "asked", "role"),
)


def report(roles: RealHeadRoles) -> str:
    """Everything as text: roles with their baselines, counts by choice, habits, resemblance.

    score and its baseline: the best head on all sentences. picked: the best head on the half that picks;
    held out, with its 95 % interval and the next baseline: that head on the other half. nearest: the nearest
    word of the right part of speech, held out. untrained: the best head of a model with random weights.
    role: whether the picked head passes, for a relation both on all sentences and held out.
    """
    table = roles.table
    parts = [
        f"{table.model}, {table.n_layers} layers of {table.n_heads} heads; {table.source}",
        f"{table.sentences:,} sentences, {roles.words:,} words, {roles.pieces:,} pieces. {table.note}",
        "",
        _as_table([_COLUMNS, *(_row(measure) for measure in _ordered(table))]),
        "",
        _few(table),
        "",
        _choices(roles),
        "",
        _others(roles),
    ]
    return "\n".join(parts)


def _ordered(table: HeadTable) -> list[Measured]:
    """Positions first, then relations by what the best head gains, then the rest."""
    enough = [measure for measure in table.measures if measure.asked >= FEWEST_ASKED]
    syntactic = [measure for measure in enough if measure.kind == "syntactic"]
    syntactic.sort(key=lambda m: m.total_baseline - float(m.total.max()))
    before = [measure for measure in enough if measure.kind == "positional"]
    after = [measure for measure in enough if measure.kind not in ("positional", "syntactic")]
    return before + syntactic + after


def _row(measure: Measured) -> tuple[str, ...]:
    heads = measure.total.shape[1]
    layer, head = divmod(int(measure.total.argmax()), heads)
    at = divmod(int(measure.picked.nan_to_num(-1).argmax()), heads)
    control = "" if measure.control is None else f"{float(measure.control.max()):.3f}"
    score = score_of(measure, at[0] + 1, at[1] + 1)
    passes = {
        "positional": lambda: float(measure.values[at]) >= POSITIONAL_SHARE,
        "syntactic": lambda: min(score.gain, score.total_gain) >= SYNTACTIC_GAIN,
    }.get(measure.kind)
    return (
        measure.name,
        f"L{layer + 1}H{head + 1}",
        f"{float(measure.total[layer, head]):.3f}",
        _number(measure.total_baseline),
        f"L{at[0] + 1}H{at[1] + 1}",
        f"{float(measure.values[at]):.3f}",
        f"{float(measure.low[at]):.3f} to {float(measure.high[at]):.3f}",
        _number(measure.baseline),
        _number(measure.nearest),
        control,
        f"{measure.total_asked:,}",
        "" if passes is None else "yes" if passes() else "no",
    )


def _few(table: HeadTable) -> str:
    few = [measure.name for measure in table.measures if measure.asked < FEWEST_ASKED]
    return f"Too few held-out questions (under {FEWEST_ASKED}): {', '.join(few) or 'none'}."


def _choices(roles: RealHeadRoles) -> str:
    rows = [("(head, relation) pairs 10 points above the best offset, held out", "counted", "all relations")]
    every = roles.pairs(None)
    rows += [(choice, str(count), str(every[choice])) for choice, count in roles.pairs().items()]
    lines = [_as_table(rows), f"counted: {', '.join(COUNTED_RELATIONS)}"]
    for name in (PREVIOUS, NEXT):
        known = (table for table in (roles.table, roles.special_allowed))
        dropped, won = (_best(table, name) for table in known)
        if dropped and won:
            lines.append(f"{name}: {dropped}; if special tokens may win, that head {_same(roles, name)}")
    return "\n".join(lines)


def _best(table: HeadTable, name: str) -> str:
    if name not in table.names():
        return ""
    total = table.measure(name).total
    layer, head = divmod(int(total.argmax()), total.shape[1])
    return f"L{layer + 1}H{head + 1} {float(total[layer, head]):.3f}"


def _same(roles: RealHeadRoles, name: str) -> str:
    best = int(roles.table.measure(name).total.argmax())
    return f"{float(roles.special_allowed.measure(name).total.flatten()[best]):.3f}"


def _others(roles: RealHeadRoles) -> str:
    first, last, zero = (roles.habits[habit] for habit in (FIRST_SPECIAL, LAST_SPECIAL, NEAR_ZERO))
    differ = roles.layers_differ
    return "\n".join(
        [
            f"Mean weight on the first special token {float(first.mean()):.3f}, on the last "
            f"{float(last.mean()):.3f}; share of weights below 0.01: {float(zero.mean()):.2f}.",
            f"Jensen-Shannon divergence of heads: {differ.within:.3f} within a layer, {differ.between:.3f} "
            f"between layers (p = {differ.p:.4f}).",
            "Rarest word over words, untrained model: "
            f"{_number(roles.rare_by_sum)} with the weights to a word's pieces summed, "
            f"{_number(roles.rare_by_mean)} with their mean.",
        ]
    )


def _number(value: float) -> str:
    return "" if value != value else f"{value:.3f}"


def _as_table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows
    )
