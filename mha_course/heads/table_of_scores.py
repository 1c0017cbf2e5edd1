"""From scores and habits to a HeadTable, with intervals for every head and every question at once."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from mha_course.heads.habits import BROAD, HABITS, SPECIAL, Habits
from mha_course.heads.head_table import HeadTable
from mha_course.heads.measured import Measured
from mha_course.heads.roles import RoleScores

PICKS, JUDGES = slice(0, None, 2), slice(1, None, 2)
_KINDS = {SPECIAL: "special", BROAD: "broad"}


def head_table(
    *scores: RoleScores,
    habits: Habits | None = None,
    control_habits: Habits | None = None,
    nearest: Mapping[str, float] | None = None,
    model: str = "",
    source: str = "",
    note: str = "",
    resamples: int = 400,
    seed: int = 0,
) -> HeadTable:
    """Put everything that was scored into one table.

    scores: of one model; several when some questions were asked of words and others of pieces (the first
    that asked a question is taken). habits: for special tokens and broad heads; control_habits: the same of
    an untrained model. nearest: for each question what the nearest word of the right part of speech hits
    (see `nearest_word.py`). model, source, note: words for the caption.

    Raises: ValueError when there are no scores.
    """
    if not scores:
        raise ValueError("head_table needs scores: RoleScores from score_roles.")
    measures: dict[str, Measured] = {}
    for table in scores:
        for measure in _measures(table, nearest or {}, resamples, seed):
            if measure.total_asked:
                measures.setdefault(measure.name, measure)
    if habits is not None:
        for name in (SPECIAL, BROAD):
            measures[name] = _habit(habits, control_habits, name, resamples, seed)
    return HeadTable(model, source, len(scores[0].hits.asked), note, tuple(measures.values()))


def intervals(hits: Tensor, asked: Tensor, resamples: int, seed: int) -> tuple[Tensor, Tensor]:
    """The middle 95 % of many shares at once when sentences are drawn again, with replacement.

    hits: (sentences, ..., questions). asked: (sentences, questions). Returns: low and high, each
    (..., questions), nan where nothing was asked.
    Source: Efron 1979.
    """
    g = torch.Generator().manual_seed(seed)
    n = len(hits)
    drawn = torch.randint(n, (resamples, n), generator=g)
    # How often each sentence was drawn: all sums of all resamples are then one matrix product.
    times = torch.zeros(resamples, n).scatter_add_(1, drawn, torch.ones(resamples, n))
    sums = (times @ hits.reshape(n, -1)).reshape(resamples, *hits.shape[1:])
    total = (times @ asked).reshape(resamples, *(1,) * (hits.ndim - 2), asked.shape[1])
    shares = sums / total.clamp(min=1)
    ordered = shares.sort(0).values
    low, high = (ordered[round(q * (resamples - 1))] for q in (0.025, 0.975))
    unasked = (asked.sum(0) == 0).expand(low.shape)
    nan = float("nan")
    return low.masked_fill(unasked, nan), high.masked_fill(unasked, nan)


def _measures(scores: RoleScores, nearest: Mapping[str, float], resamples: int, seed: int) -> list[Measured]:
    hits, control = scores.hits, scores.control
    low, high = intervals(hits.heads[JUDGES], hits.asked[JUDGES], resamples, seed)
    parts = [hits.heads[part].sum(0) / hits.asked[part].sum(0) for part in (JUDGES, PICKS, slice(None))]
    untrained = None if control is None else control.heads[JUDGES].sum(0) / control.asked[JUDGES].sum(0)
    found = []
    for i, criterion in enumerate(scores.criteria):
        baseline, rule = scores.baseline(i, JUDGES)
        found.append(
            Measured(
                criterion.name,
                criterion.kind,
                *(part[..., i] for part in (*parts, low, high)),
                None if untrained is None else untrained[..., i],
                baseline,
                rule,
                scores.baseline(i, slice(None))[0],
                nearest.get(criterion.name, float("nan")),
                int(hits.asked[JUDGES, i].sum()),
                int(hits.asked[:, i].sum()),
            )
        )
    return found


def _habit(habits: Habits, control: Habits | None, name: str, resamples: int, seed: int) -> Measured:
    i = HABITS.index(name)
    totals, rows = habits.totals[..., i], habits.rows

    def mean(of: Habits, part: slice) -> Tensor:
        return of.totals[part][..., i].sum(0) / of.rows[part].sum()

    low, high = intervals(totals[JUDGES][..., None], rows[JUDGES][:, None], resamples, seed)
    untrained = None if control is None else mean(control, JUDGES)
    baseline = float("nan") if untrained is None else float(untrained.mean())
    return Measured(
        name,
        _KINDS[name],
        *(mean(habits, part) for part in (JUDGES, PICKS, slice(None))),
        low[..., 0],
        high[..., 0],
        untrained,
        baseline,
        "untrained model",
        float("nan") if control is None else float(mean(control, slice(None)).mean()),
        float("nan"),
        int(rows[JUDGES].sum()),
        int(rows.sum()),
    )
