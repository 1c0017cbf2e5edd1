"""The sentences on which a head is at its best and at its worst for one question."""

from __future__ import annotations

from dataclasses import dataclass

from mha_course.heads.criteria import Criterion
from mha_course.heads.roles import RoleScores


@dataclass(frozen=True)
class SentenceHits:
    """One sentence: its place in the list, the hits in it, and how often the question came up."""

    place: int
    hits: int
    asked: int

    @property
    def share(self) -> float:
        """Share of hits."""
        return self.hits / self.asked


def best_and_worst(
    scores: RoleScores, layer: int, head: int, criterion: Criterion | str, count: int = 3, fewest: int = 1
) -> tuple[list[SentenceHits], list[SentenceHits]]:
    """The sentences with the most and with the fewest hits of one head, best and worst first.

    layer, head: count from 1. criterion: one of `scores.criteria`, or its name. count: how many of each.
    fewest: leave out sentences in which the question came up more rarely. Of equal shares the sentence with
    more questions comes first, then the earlier one. A sentence is in one list only; the best come first.

    Raises: ValueError for a criterion or a head that isn't there.
    """
    names = [known.name for known in scores.criteria]
    name = criterion if isinstance(criterion, str) else criterion.name
    if name not in names:
        raise ValueError(f"nobody asked {name!r}; there are {', '.join(names)}.")
    layers, heads = scores.hits.heads.shape[1:3]
    if not (1 <= layer <= layers and 1 <= head <= heads):
        raise ValueError(f"no head {head} in layer {layer}: {layers} layers of {heads}.")
    i = names.index(name)
    hits = scores.hits.heads[:, layer - 1, head - 1, i].tolist()
    asked = scores.hits.asked[:, i].tolist()
    able = [
        SentenceHits(place, int(hit), int(of))
        for place, (hit, of) in enumerate(zip(hits, asked, strict=True))
        if of >= max(1, fewest)
    ]
    best = sorted(able, key=lambda s: (-s.share, -s.asked, s.place))[:count]
    rest = [sentence for sentence in able if sentence not in best]
    return best, sorted(rest, key=lambda s: (s.share, -s.asked, s.place))[:count]


def head_to_head(
    scores: RoleScores, one: tuple[int, int], other: tuple[int, int], fewest: int = 30
) -> list[tuple[Criterion, float, float, float]]:
    """Two heads beside each other: for each criterion both shares and the baseline, on the held-out half.

    one, other: (layer, head), counted from 1. fewest: leave out what was asked more rarely. Those on which
    the heads differ most come first.

    Raises: IndexError for a head that isn't there.
    """
    held, asked = scores.held, scores.hits.asked[1::2].sum(0)
    rows = []
    for i, criterion in enumerate(scores.criteria):
        if float(asked[i]) >= fewest:
            a, b = (float(held[layer - 1, head - 1, i]) for layer, head in (one, other))
            rows.append((criterion, a, b, scores.baseline(i)[0]))
    return sorted(rows, key=lambda row: -abs(row[1] - row[2]))
