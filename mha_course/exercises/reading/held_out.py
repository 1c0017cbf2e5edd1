"""What a wrong held-out score did: which sentences pick, which judge, and what is divided by what."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from torch import Tensor

from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

Step = Callable[..., Tensor]
EVEN, ODD = slice(0, None, 2), slice(1, None, 2)


def _sums(hits: Tensor, asked: Tensor) -> Tensor:
    return hits.sum(0)


def _ratio(hits: Tensor, asked: Tensor, head: int, all_hits: Tensor, all_asked: Tensor) -> Tensor:
    return hits[:, head].sum() / asked.sum()


def score_with(
    hits: Tensor,
    asked: Tensor,
    *,
    picks: Callable[[int], slice] = lambda s: EVEN,
    rank: Step = _sums,
    best: Callable[..., int] = lambda scores: int(scores.argmax()),
    judges: Callable[[int], slice] = lambda s: ODD,
    above: Callable[[int], slice] | None = None,
    below: Callable[[int], slice] | None = None,
    share: Step = _ratio,
) -> Tensor:
    """The held-out score with the steps given; without any it is right: one number."""
    s = len(hits)
    rows = picks(s)
    head = best(rank(hits[rows], asked[rows]))
    return share(hits[(above or judges)(s)], asked[(below or judges)(s)], head, hits, asked)


def _at(start: int | None, stop: int | None = None, step: int | None = None) -> Callable[[int], slice]:
    return lambda s: slice(start, stop, step)


_ROWS: tuple[tuple[str, Callable[[int], slice]], ...] = (
    ("all sentences", _at(None)),
    ("the odd sentences", _at(1, None, 2)),
    ("the even sentences", _at(0, None, 2)),
    ("the even sentences without sentence 0, 2::2", _at(2, None, 2)),
    ("the odd sentences without sentence 1, 3::2", _at(3, None, 2)),
    ("all sentences but the first", _at(1, None)),
    ("all sentences but the last", _at(0, -1)),
    ("every third sentence, 0::3", _at(0, None, 3)),
    ("every third sentence, 1::3", _at(1, None, 3)),
    ("every third sentence, 2::3", _at(2, None, 3)),
    ("every fourth sentence, 0::4", _at(0, None, 4)),
    ("every fourth sentence, 1::4", _at(1, None, 4)),
    ("every second odd sentence, 3::4", _at(3, None, 4)),
    ("the first half", lambda s: slice(None, s // 2)),
    ("the second half", lambda s: slice(s // 2, None)),
    ("sentence 0 alone", _at(0, 1)),
    ("sentence 1 alone", _at(1, 2)),
    ("the last sentence alone", _at(-1, None)),
    ("the first two sentences", _at(0, 2)),
    ("all sentences from the third on", _at(2, None)),
)
_COMMON = 7


def _ways(says: str, right: str) -> tuple[Way, ...]:
    return tuple(
        Way(says.format(words), rows, alone=k >= _COMMON)
        for k, (words, rows) in enumerate(_ROWS)
        if words != right
    )


_RANKS = (
    Way(
        "The head is picked by the mean of its shares, not by its hits in all.",
        lambda h, a: (h / a[:, None]).mean(0),
    ),
    rare("The head is picked by its hits in one sentence, the most.", lambda h, a: h.amax(0)),
    rare("The head is picked by the median of its hits.", lambda h, a: h.median(0).values),
    rare(
        "The head is picked by the sentences in which it is the best.",
        lambda h, a: torch.bincount(h.argmax(1), minlength=h.shape[1]),
    ),
    Way("The head with the fewest hits is picked.", lambda h, a: -h.sum(0)),
    rare("The place of the most hits in the flattened table is taken for a head.", lambda h, a: h.flatten()),
    rare("The head is picked by its hits in the last of these sentences.", lambda h, a: h[-1]),
    rare("The head is picked by its hits in the first of these sentences.", lambda h, a: h[0]),
    rare(
        "The hits are added up over the heads, so that a sentence is picked, not a head.",
        lambda h, a: h.sum(1)[: h.shape[1]],
    ),
    rare(
        "The largest single number of hits picks, its place in the flattened table taken for a head.",
        lambda h, a: torch.nn.functional.one_hot(h.argmax() % h.shape[1], h.shape[1]),
    ),
)
_BESTS = (
    Way("Head 1 (index 0) is judged, whatever was picked.", lambda scores: 0),
    rare("The last head is judged, whatever was picked.", lambda scores: len(scores) - 1),
    rare("The head with the fewest hits is judged.", lambda scores: int(scores.argmin())),
    rare("The second best head is judged.", lambda scores: int(scores.argsort()[-2])),
    rare("The head behind the best one is judged.", lambda scores: (int(scores.argmax()) + 1) % len(scores)),
    rare("The head before the best one is judged.", lambda scores: int(scores.argmax()) - 1),
)
_SHARES = (
    rare(
        "The head's own number is not used: the hits of all heads are added up.",
        lambda h, a, k, all_h, all_a: h.sum() / a.sum(),
    ),
    Way("The shares of all heads are averaged.", lambda h, a, k, all_h, all_a: (h.sum(0) / a.sum()).mean()),
    Way(
        "The best of all shares is returned: the head is picked where it is judged.",
        lambda h, a, k, all_h, all_a: (h.sum(0) / a.sum()).max(),
    ),
    rare(
        "In every sentence its own best head is counted.",
        lambda h, a, k, all_h, all_a: h.amax(1).sum() / a.sum(),
    ),
    Way("The hits are not divided.", lambda h, a, k, all_h, all_a: h[:, k].sum()),
    Way(
        "The mean number of hits is returned; a share of the asked words is wanted.",
        lambda h, a, k, all_h, all_a: h[:, k].mean(),
    ),
    Way("The mean of the sentences' shares is returned.", lambda h, a, k, all_h, all_a: (h[:, k] / a).mean()),
    Way("The sum of the sentences' shares is returned.", lambda h, a, k, all_h, all_a: (h[:, k] / a).sum()),
    rare(
        "The median of the sentences' shares is returned.",
        lambda h, a, k, all_h, all_a: (h[:, k] / a).median(),
    ),
    Way("This is the share of misses.", lambda h, a, k, all_h, all_a: 1 - h[:, k].sum() / a.sum()),
    Way(
        "Hits and asked words have changed places above and below the fraction bar.",
        lambda h, a, k, all_h, all_a: a.sum() / h[:, k].sum(),
    ),
    Way("These are per cent.", lambda h, a, k, all_h, all_a: 100 * h[:, k].sum() / a.sum()),
    rare(
        "The hits are divided by the number of all sentences.",
        lambda h, a, k, all_h, all_a: h[:, k].sum() / len(all_h),
    ),
    rare(
        "The hits are multiplied by the asked words; they should be divided.",
        lambda h, a, k, all_h, all_a: h[:, k].sum() * a.sum(),
    ),
    rare(
        "The mean of the hits is divided by the sum of the asked words.",
        lambda h, a, k, all_h, all_a: h[:, k].mean() / a.sum(),
    ),
    rare(
        "The sum of the hits is divided by the mean of the asked words.",
        lambda h, a, k, all_h, all_a: h[:, k].sum() / a.mean(),
    ),
    rare(
        "The result is rounded to a whole number.",
        lambda h, a, k, all_h, all_a: (h[:, k].sum() / a.sum()).round(),
    ),
    rare("The quotient is rounded down (`//`).", lambda h, a, k, all_h, all_a: h[:, k].sum() // a.sum()),
    rare(
        "1 is added above and below the fraction bar.",
        lambda h, a, k, all_h, all_a: (h[:, k].sum() + 1) / (a.sum() + 1),
    ),
    rare(
        "The score on the sentences that judge is taken off the one on those that pick.",
        lambda h, a, k, all_h, all_a: all_h[EVEN, k].sum() / all_a[EVEN].sum() - h[:, k].sum() / a.sum(),
    ),
    rare(
        "Sentences are counted in which every asked word is hit.",
        lambda h, a, k, all_h, all_a: (h[:, k] == a).to(h.dtype).mean(),
    ),
    rare("The share is squared.", lambda h, a, k, all_h, all_a: (h[:, k].sum() / a.sum()) ** 2),
    rare("The root of the share is taken.", lambda h, a, k, all_h, all_a: (h[:, k].sum() / a.sum()) ** 0.5),
    rare(
        "The hits are divided by sentences times heads.",
        lambda h, a, k, all_h, all_a: h[:, k].sum() / h.numel(),
    ),
    rare(
        "The hits of all heads in the sentence with the best head's number are counted.",
        lambda h, a, k, all_h, all_a: all_h[k].sum() / a.sum(),
    ),
    rare(
        "Sentence and head have changed places in the index.",
        lambda h, a, k, all_h, all_a: all_h[k, ODD].sum() / a.sum(),
    ),
    rare(
        "All hits of all sentences are divided by the odd sentences' asked words.",
        lambda h, a, k, all_h, all_a: all_h.sum() / a.sum(),
    ),
    rare(
        "The heads of odd number are added up, not the sentences.",
        lambda h, a, k, all_h, all_a: all_h[:, ODD].sum() / all_a.sum(),
    ),
    rare(
        "In every sentence the head that was best in the sentence before is counted.",
        lambda h, a, k, all_h, all_a: (
            torch.stack([all_h[j, all_h[j - 1].argmax()] for j in range(1, len(all_h), 2)]).sum() / a.sum()
        ),
    ),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, Tensor], ...]:
    """Hits in which most ways to pick lead to another head."""
    g = torch.Generator().manual_seed(17)
    drawn = []
    for s, h in ((10, 4), (11, 5), (14, 6), (9, 3), (12, 7), (13, 4)):
        asked = torch.randint(3, 13, (s,), generator=g).float()
        drawn.append(((torch.rand(s, h, generator=g) * (asked[:, None] + 1)).floor(), asked))
    return tuple(drawn)


HELD_OUT = Recipe(
    score_with,
    (
        Slot(
            "picks",
            "which sentences pick the head.",
            _ways("The head is picked on {}; the even ones should pick.", "the even sentences"),
        ),
        Slot(
            "judges",
            "which sentences judge.",
            _ways("The head is judged on {}; the odd ones should judge.", "the odd sentences"),
        ),
        Slot(
            "below",
            "the denominator.",
            _ways(
                "The asked words are those of {}; the hits are those of the odd ones.", "the odd sentences"
            ),
        ),
        Slot(
            "above",
            "the numerator.",
            _ways(
                "The hits are those of {}; the asked words are those of the odd ones.", "the odd sentences"
            ),
        ),
        Slot("share", "what is divided by what.", _SHARES),
        Slot("rank", "how the head is picked.", _RANKS),
        Slot("best", "which head is judged.", _BESTS),
    ),
    _more,
)
