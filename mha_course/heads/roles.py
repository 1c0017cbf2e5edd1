"""Roles of heads: every head's score for every criterion, beside its baselines, control and held-out half.

Definitions: Voita et al. 2019 (positional, syntactic, rare words), Clark et al. 2019 (relations in both
directions, best fixed offset). A head is picked on one half of the sentences and judged on the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.heads.criteria import OFFSETS, Criterion, criteria_of
from mha_course.heads.hits import Hits, count_hits
from mha_course.text.parsed_sentence import ParsedSentence

POSITIONAL_SHARE = 0.9  # Voita et al. 2019: at one offset for at least 90 % of the words
SYNTACTIC_GAIN = 0.10  # Voita et al. 2019: 10 points above the best fixed offset
RARE_GAIN, RARE_TIMES_CHANCE = 0.10, 3.0  # above the longest word, and this many times chance
FEWEST_ASKED = 30  # held-out questions below which nothing is claimed


@dataclass(frozen=True)
class FoundRole:
    """The best head for a criterion, picked on one half of the sentences and judged on the other.

    layer, head: count from 1. picked: its score on the half on which it was picked. held: its score on the
    held-out half; low, high: the 95 % interval of that score (bootstrap over sentences). baseline: the best
    simple rule on the held-out half, rule: its name. control: the best head of an untrained model, picked
    and judged alike, nan without one. asked: held-out questions. verdict: "yes", "no" or "too few".
    """

    criterion: Criterion
    layer: int
    head: int
    picked: float
    held: float
    low: float
    high: float
    baseline: float
    rule: str
    control: float
    asked: int
    verdict: str

    @property
    def gain(self) -> float:
        """Held-out score above the best simple rule."""
        return self.held - self.baseline


@dataclass(frozen=True, eq=False)
class RoleScores:
    """The table: one row a head, one column a criterion, and behind it the hits of every sentence.

    hits: of the model; control: of an untrained one, or None. Sentences at even places pick, those at odd
    places judge.
    """

    criteria: tuple[Criterion, ...]
    hits: Hits
    control: Hits | None = None

    @property
    def scores(self) -> Tensor:
        """(layers, heads, criteria): the share of hits over all sentences; nan where nothing was asked."""
        return _share(self.hits, slice(None))

    @property
    def held(self) -> Tensor:
        """The same over the held-out half."""
        return _share(self.hits, slice(1, None, 2))

    def column(self, criterion: Criterion) -> Tensor:
        """(layers, heads): the scores of one criterion."""
        return self.scores[..., self.criteria.index(criterion)]

    def found(self, resamples: int = 1_000, seed: int = 0) -> list[FoundRole]:
        """The best head for each criterion, with everything that its score has to be seen beside."""
        return [self._found(i, resamples, seed) for i in range(len(self.criteria))]

    def roles(self) -> list[FoundRole]:
        """What holds: the criteria whose best head passes on the held-out half."""
        return [found for found in self.found() if found.verdict == "yes"]

    def passing(self) -> Tensor:
        """(layers, heads, criteria) bool: which heads pass a criterion on both halves of the sentences."""
        halves = [self._passes(half) for half in (slice(0, None, 2), slice(1, None, 2))]
        return halves[0] & halves[1]

    def _passes(self, half: slice) -> Tensor:
        share = _share(self.hits, half)
        columns = []
        for i, criterion in enumerate(self.criteria):
            if float(self.hits.asked[half, i].sum()) < FEWEST_ASKED:
                columns.append(torch.zeros_like(share[..., i], dtype=torch.bool))
                continue
            chance = _ratio(self.hits.chance[half, i], self.hits.asked[half, i])
            baseline = self.baseline(i, half)[0]
            columns.append(_enough(criterion, share[..., i], baseline, chance))
        return torch.stack(columns, -1)

    def _found(self, i: int, resamples: int, seed: int) -> FoundRole:
        criterion, judge = self.criteria[i], slice(1, None, 2)
        layer, head, picked = _picked(self.hits, i)
        hits, asked = self.hits.heads[judge, layer, head, i], self.hits.asked[judge, i]
        held, count = _ratio(hits, asked), int(asked.sum())
        low, high = bootstrap_interval(hits, asked, resamples, seed)
        baseline, rule = self.baseline(i, judge)
        control = float("nan")
        if self.control is not None:
            where = _picked(self.control, i)[:2]
            control = _ratio(self.control.heads[(judge, *where, i)], self.control.asked[judge, i])
        chance = _ratio(self.hits.chance[judge, i], asked)
        enough = bool(_enough(criterion, torch.tensor(held), baseline, chance))
        verdict = "too few" if count < FEWEST_ASKED else "yes" if enough else "no"
        return FoundRole(
            criterion, layer + 1, head + 1, picked, held, low, high, baseline, rule, control, count, verdict
        )

    def baseline(self, i: int, judge: slice = slice(1, None, 2)) -> tuple[float, str]:
        """The best simple rule for one criterion on a part of the sentences: its score there, and its name.

        i: place of the criterion. judge: slice(1, None, 2) is the half that judges; the offset is picked on
        the other half, like the head. slice(None) picks and judges on all sentences.
        """
        pick = {1: slice(0, None, 2), 0: slice(1, None, 2), None: slice(None)}[judge.start]
        asked = self.hits.asked[judge, i]
        chance = _ratio(self.hits.chance[judge, i], asked)
        if self.criteria[i].kind == "positional":
            return chance, "chance"
        if self.criteria[i].kind == "rare":
            longest = _ratio(self.hits.longest[judge, i], asked)
            return max((longest, "longest word"), (chance, "chance"))
        best = int(self.hits.offsets[pick, i].sum(0).argmax())
        return _ratio(self.hits.offsets[judge, i, best], asked), f"always {OFFSETS[best]:+d}"


def score_roles(
    weights: Iterable[Tensor],
    sentences: Sequence[ParsedSentence],
    counts: Mapping[str, int] | None = None,
    control: Iterable[Tensor] | None = None,
    self_counts: Sequence[str] = ("rare",),
    rivals: Iterable[Tensor] | None = None,
    control_rivals: Iterable[Tensor] | None = None,
) -> RoleScores:
    """Score all heads of a model on parsed sentences.

    weights: for each sentence (layers, heads, n, n), over words only. counts: how often each word occurs in
    the language, for the rare-word scores; None leaves them out. control: the weights of an untrained model
    of the same sizes on the same sentences.

    self_counts: kinds of criteria ("positional", "syntactic", "rare") in which a word may answer with
    itself; in the others its own weight is left out. rivals: for each sentence (layers, heads, n), the
    largest weight of each word on a special token; with it special tokens may win, and where one does the
    word's answer is no hit. None: they don't compete. control_rivals: the same of the untrained model.
    Words at the edge are not asked for a neighbour that they haven't got.

    Raises: ValueError for fewer than two sentences, and when sentences and weights don't go together.
    Source: Voita et al. 2019, section 5; Clark et al. 2019, section 4.
    """
    if len(sentences) < 2:
        raise ValueError("one half of the sentences picks, the other judges: at least two are needed.")
    criteria = criteria_of(sentences, rare=counts is not None)
    own = count_hits(weights, sentences, criteria, counts, self_counts, rivals)
    other = None
    if control is not None:
        other = count_hits(control, sentences, criteria, counts, self_counts, control_rivals)
    return RoleScores(tuple(criteria), own, other)


def bootstrap_interval(hits: Tensor, asked: Tensor, resamples: int, seed: int) -> tuple[float, float]:
    """The middle 95 % of the share of hits when sentences are drawn again, with replacement.

    hits, asked: (sentences,). Returns: low and high; nan when nothing was asked.
    Source: Efron 1979.
    """
    if not float(asked.sum()):
        return float("nan"), float("nan")
    g = torch.Generator().manual_seed(seed)
    drawn = torch.randint(len(hits), (resamples, len(hits)), generator=g)
    shares = hits[drawn].sum(1) / asked[drawn].sum(1).clamp(min=1)
    low, high = shares.quantile(torch.tensor([0.025, 0.975])).tolist()
    return low, high


def _picked(hits: Hits, i: int) -> tuple[int, int, float]:
    """The head with the most hits on the sentences that pick."""
    share = _share(hits, slice(0, None, 2))[..., i].nan_to_num(-1.0)
    layer, head = divmod(int(share.argmax()), share.shape[1])
    return layer, head, float(share[layer, head])


def _share(hits: Hits, half: slice) -> Tensor:
    return hits.heads[half].sum(0) / hits.asked[half].sum(0)


def _ratio(hits: Tensor, asked: Tensor) -> float:
    total = float(asked.sum())
    return float(hits.sum()) / total if total else float("nan")


def _enough(criterion: Criterion, score: Tensor, baseline: float, chance: float) -> Tensor:
    """Whether a score makes a role of its kind."""
    if criterion.kind == "positional":
        return score >= POSITIONAL_SHARE
    if criterion.kind == "syntactic":
        return score >= baseline + SYNTACTIC_GAIN
    return (score >= baseline + RARE_GAIN) & (score >= RARE_TIMES_CHANCE * chance)
