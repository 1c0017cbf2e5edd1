"""Known mistakes of lesson 10: the share of hits, the best fixed offset, picking apart from judging."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake


def _others(weights: Tensor) -> Tensor:
    return weights.masked_fill(torch.eye(weights.shape[-1], dtype=torch.bool), -1.0)


def _hits(weights: Tensor, targets: Tensor, axis: int = -1) -> Tensor:
    """(h, n) bool: whether the largest weight lies on the target."""
    return weights.argmax(axis) == targets


def _share(hits: Tensor, targets: Tensor) -> Tensor:
    return hits[:, targets >= 0].float().mean(-1)


def _weight_on_target(weights: Tensor, targets: Tensor) -> Tensor:
    asked = targets >= 0
    rows = torch.arange(len(targets))[asked]
    return weights[:, rows, targets[asked]]


SHARE_MISTAKES = (
    Mistake(
        "own-weight-kept",
        lambda weights, targets: _share(_hits(weights, targets), targets),
        "The word's weight on itself is still there. A head that looks mostly at the word itself then hits "
        "nothing.",
        "the diagonal, before the largest is taken.",
    ),
    Mistake(
        "divided-by-all-words",
        lambda weights, targets: _hits(_others(weights), targets).float().mean(-1),
        "The hits are divided by all words. Those without a target can't be hit, and count as misses.",
        "the denominator.",
    ),
    Mistake(
        "hits-counted",
        lambda weights, targets: _hits(_others(weights), targets).sum(-1).float(),
        "This is the number of hits. A share is asked for.",
        "the denominator.",
    ),
    Mistake(
        "largest-of-the-column",
        lambda weights, targets: _share(_hits(_others(weights), targets, -2), targets),
        "The largest of each column is taken: by which word a word is looked at most. Rows are queries.",
        "the axis of the argmax.",
    ),
    Mistake(
        "heads-averaged-first",
        lambda weights, targets: _share(
            _hits(_others(weights.mean(0, keepdim=True)), targets), targets
        ).expand(len(weights)),
        "The heads are averaged before the largest is taken, so all get the same score.",
        "where the head axis goes.",
    ),
    Mistake(
        "shares-averaged",
        lambda weights, targets: _share(_hits(_others(weights), targets), targets).mean(),
        "The shares of all heads are averaged. Each head has its own.",
        "the last mean.",
    ),
    Mistake(
        "weight-for-hits",
        lambda weights, targets: _weight_on_target(weights, targets).mean(-1),
        "This is the mean weight on the target. Asked for is how often that weight is the largest.",
        "what is averaged.",
    ),
    Mistake(
        "more-than-half",
        lambda weights, targets: (_weight_on_target(weights, targets) > 0.5).float().mean(-1),
        "A hit is counted only where the target has more than half of the weight. The largest can be "
        "smaller.",
        "when a word counts as a hit.",
    ),
    Mistake(
        "misses-counted",
        lambda weights, targets: 1 - _share(_hits(_others(weights), targets), targets),
        "This is the share of misses.",
        "the comparison.",
    ),
    Mistake(
        "smallest-weight",
        lambda weights, targets: _share(weights.argmin(-1) == targets, targets),
        "The smallest weight of each row is taken.",
        "`argmin`.",
    ),
    Mistake(
        "one-place-on",
        lambda weights, targets: _share(_hits(_others(weights), targets - 1), targets),
        "The targets are moved by one place: positions in code count from 0.",
        "what the argmax is compared with.",
    ),
)


def _offsets(largest: int) -> list[int]:
    return sorted((k for k in range(-largest, largest + 1) if k), key=abs)


def _count(targets: Tensor, k: int, asked: bool = True) -> int:
    hits = torch.arange(len(targets)) + k == targets
    return int((hits & (targets >= 0)).sum()) if asked else int(hits.sum())


def _most(targets: Tensor, offsets: Iterable[int], count: Callable[[Tensor, int], int] = _count) -> int:
    offsets = list(offsets)
    hits = [count(targets, k) for k in offsets]
    return offsets[hits.index(max(hits))]


def _distances(targets: Tensor) -> Tensor:
    return (targets - torch.arange(len(targets)))[targets >= 0]


OFFSET_MISTAKES = (
    Mistake(
        "other-direction",
        lambda targets, largest: -_most(targets, _offsets(largest)),
        "The sign is turned round: k is the target's position minus the word's, so the word before is -1.",
        "which of the two positions is subtracted.",
    ),
    Mistake(
        "none-counts-as-target",
        lambda targets, largest: _most(targets, _offsets(largest), lambda t, k: _count(t, k, False)),
        "-1 is taken for a position: word 0 would hit it with k = -1, word 1 with -2.",
        "the words without a target.",
    ),
    Mistake(
        "itself-allowed",
        lambda targets, largest: _most(targets, sorted(range(-largest, largest + 1), key=abs)),
        "0 is among the distances. A word that looks at itself is left out.",
        "the list of distances.",
    ),
    Mistake(
        "count-for-offset",
        lambda targets, largest: max(_count(targets, k) for k in _offsets(largest)),
        "This is how many targets the best distance hits. The distance itself is asked for.",
        "what is returned.",
    ),
    Mistake(
        "index-for-offset",
        lambda targets, largest: [_count(targets, k) for k in _offsets(largest)].index(
            max(_count(targets, k) for k in _offsets(largest))
        ),
        "This is the place of the best distance in the list, not the distance.",
        "what `argmax` or `index` gives.",
    ),
    Mistake(
        "farthest-first",
        lambda targets, largest: _most(targets, (k for k in range(-largest, largest + 1) if k)),
        "Of equally good distances the first from the left is taken. The nearest is asked for.",
        "the order in which distances are tried.",
    ),
    Mistake(
        "the-last-of-equals",
        lambda targets, largest: _most(targets, _offsets(largest)[::-1]),
        "Of equally good distances the last one tried is kept. The nearest is asked for.",
        "`>=` in place of `>`, or the order in which distances are tried.",
    ),
    Mistake(
        "only-before",
        lambda targets, largest: _most(targets, range(-1, -largest - 1, -1)),
        "Only distances to the left are tried.",
        "the list of distances.",
    ),
    Mistake(
        "only-after",
        lambda targets, largest: _most(targets, range(1, largest + 1)),
        "Only distances to the right are tried.",
        "the list of distances.",
    ),
    Mistake(
        "no-limit",
        lambda targets, largest: _most(targets, _offsets(len(targets))),
        "All distances are tried. Only those up to `largest` are asked for.",
        "`largest`.",
    ),
    Mistake(
        "mean-distance",
        lambda targets, largest: round(float(_distances(targets).float().mean())),
        "This is the mean distance, rounded. Targets at -3 and +3 would make it 0.",
        "what is looked for: the most frequent distance.",
    ),
    Mistake(
        "middle-distance",
        lambda targets, largest: int(_distances(targets).median()),
        "This is the median of the distances. The most frequent one is asked for.",
        "what is looked for.",
    ),
)


def _ratio(hits: Tensor, asked: Tensor, head: Tensor) -> Tensor:
    return hits[:, head].sum() / asked.sum()


HELD_OUT_MISTAKES = (
    Mistake(
        "judged-where-picked",
        lambda hits, asked: _ratio(hits[0::2], asked[0::2], hits[0::2].sum(0).argmax()),
        "The head is judged on the sentences that picked it. Its luck is counted with it.",
        "which sentences the second step takes.",
    ),
    Mistake(
        "picked-where-judged",
        lambda hits, asked: _ratio(hits[1::2], asked[1::2], hits[1::2].sum(0).argmax()),
        "The head is picked on the sentences that judge it. The other half goes unused.",
        "which sentences the first step takes.",
    ),
    Mistake(
        "halves-swapped",
        lambda hits, asked: _ratio(hits[0::2], asked[0::2], hits[1::2].sum(0).argmax()),
        "The odd sentences pick and the even ones judge. It is the other way round.",
        "the two slices.",
    ),
    Mistake(
        "picked-on-all",
        lambda hits, asked: _ratio(hits[1::2], asked[1::2], hits.sum(0).argmax()),
        "All sentences pick, those that judge among them.",
        "which sentences the first step takes.",
    ),
    Mistake(
        "judged-on-all",
        lambda hits, asked: _ratio(hits, asked, hits[0::2].sum(0).argmax()),
        "All sentences judge, those that picked among them.",
        "which sentences the second step takes.",
    ),
    Mistake(
        "no-halves",
        lambda hits, asked: _ratio(hits, asked, hits.sum(0).argmax()),
        "All sentences pick and all judge. Nothing is held out.",
        "the two halves.",
    ),
    Mistake(
        "first-half-and-second",
        lambda hits, asked: _ratio(
            hits[len(hits) // 2 :], asked[len(hits) // 2 :], hits[: len(hits) // 2].sum(0).argmax()
        ),
        "The halves are the first and the second. Even and odd places are asked for.",
        "the slices: `0::2` and `1::2`.",
    ),
    Mistake(
        "divided-by-all-asked",
        lambda hits, asked: hits[1::2, hits[0::2].sum(0).argmax()].sum() / asked.sum(),
        "The hits are those of the odd sentences, the denominator is that of all.",
        "the denominator.",
    ),
    Mistake(
        "divided-by-sentences",
        lambda hits, asked: hits[1::2, hits[0::2].sum(0).argmax()].mean(),
        "This is the number of hits a sentence. The share of the words that were asked is wanted.",
        "the denominator.",
    ),
    Mistake(
        "hits-counted",
        lambda hits, asked: hits[1::2, hits[0::2].sum(0).argmax()].sum(),
        "This is the number of hits. A share is asked for.",
        "the denominator.",
    ),
    Mistake(
        "mean-of-shares",
        lambda hits, asked: (hits[1::2, hits[0::2].sum(0).argmax()] / asked[1::2]).mean(),
        "Each sentence's share is taken first, then their mean: a short sentence counts as much as a long "
        "one.",
        "the order of sum and division.",
    ),
    Mistake(
        "all-heads",
        lambda hits, asked: hits[1::2].sum(0) / asked[1::2].sum(),
        "There is one share for each head. Only the one that was picked is asked for.",
        "the step that picks.",
    ),
)
