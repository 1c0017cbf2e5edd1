"""Heads of the main model with a nearly perfect pattern, beside what their removal costs.

The rule: a pattern is clear when, on the sentences that pick, the head hits at least 95 % of at least 100
questions, and ten points above the best simple rule. A head is idle when its removal costs no part of the
gloss more than 0.2 points. Every second sentence picks, the others judge, for patterns and for answers alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mha_course.heads.ablation import Head
from mha_course.heads.head_table import NO_SYNTAX, HeadTable
from mha_course.heads.measured import HeadScore, Measured, score_of

CLEAR_SHARE, CLEAR_GAIN, FEWEST_QUESTIONS = 0.95, 0.10, 100
IDLE_POINTS = 0.2


@dataclass(frozen=True)
class ClearPattern:
    """The clearest pattern of one head.

    head: (layer, head) from 1. picked: share of hits on the sentences that pick. score: what the others say
    of it, beside its baseline, its interval and the best untrained head.
    """

    head: Head
    picked: float
    score: HeadScore

    @property
    def holds(self) -> bool:
        """Whether the pattern is as clear on the sentences that judge."""
        return self.score.value >= CLEAR_SHARE and self.score.gain >= CLEAR_GAIN


def clear_patterns(table: HeadTable) -> Iterator[ClearPattern]:
    """All heads with a clear pattern by the rule above, layer after layer.

    Of several patterns of a head the one furthest above its simple rule is taken. table: such as
    `head_tables.scored(model, "grammar")`.
    """
    asked = [
        m
        for m in table.measures
        if m.kind in ("positional", "syntactic", "rare")
        and m.relation not in NO_SYNTAX
        and m.total_asked - m.asked >= FEWEST_QUESTIONS
    ]
    for layer in range(table.n_layers):
        for head in range(table.n_heads):
            clear = [(_gain(m, layer, head), i) for i, m in enumerate(asked) if _is_clear(m, layer, head)]
            if clear:
                found = asked[max(clear)[1]]
                picked = float(found.picked[layer, head])
                yield ClearPattern((layer + 1, head + 1), picked, score_of(found, layer + 1, head + 1))


def _gain(measure: Measured, layer: int, head: int) -> float:
    return float(measure.picked[layer, head]) - measure.total_baseline


def _is_clear(measure: Measured, layer: int, head: int) -> bool:
    share = float(measure.picked[layer, head])
    return share >= CLEAR_SHARE and _gain(measure, layer, head) >= CLEAR_GAIN
