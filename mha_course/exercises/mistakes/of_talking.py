"""Known mistakes of `talk`: how maps are mixed, when the mask comes, what is done after the softmax."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise
from mha_course.exercises.mistakes.workbench import hide_before, once, over_keys

Step = Callable[..., Any]


def mix(maps: Tensor, p: Tensor) -> Tensor:
    """Map j is the sum over i of map i times p[i, j]."""
    return torch.einsum("bi...,ij->bj...", maps, p)


def mix_transposed(maps: Tensor, p: Tensor) -> Tensor:
    """Map i is the sum over j of map j times p[i, j]."""
    return torch.einsum("bj...,ij->bi...", maps, p)


def talk_with(
    scores: Tensor,
    p_scores: Tensor,
    p_weights: Tensor,
    mask: Tensor,
    *,
    take: Step = lambda p_scores, p_weights: (p_scores, p_weights),
    both: Step | None = None,
    early: Step = lambda scores, mask: scores,
    before: Step = mix,
    hide: Step = hide_before,
    soften: Step = over_keys,
    late: Step = lambda weights, mask: weights,
    after: Step = mix,
    finish: Step = lambda weights: weights,
    whole: Step | None = None,
) -> Tensor:
    """Mixed weights with the steps given; right without any: (b, h, n_q, n_k)."""
    if whole is not None:
        return whole(scores, p_scores, p_weights, mask)
    if both is not None:
        before = after = both
    p_scores, p_weights = once(take, p_scores, p_weights)
    mixed = once(hide, once(before, once(early, scores, mask), p_scores), mask)
    weights = once(late, once(soften, mixed), mask)
    return finish(once(after, weights, p_weights))


def _with_large_negative(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -1e9)


def _nothing_hidden(scores: Tensor, mask: Tensor) -> Tensor:
    return scores


def _divided(weights: Tensor) -> Tensor:
    return weights / weights.sum(-1, keepdim=True)


def _by_its_own(maps: Tensor, p: Tensor) -> Tensor:
    return maps * p.diagonal()[:, None, None]


def _both_before(scores: Tensor, p_scores: Tensor, p_weights: Tensor, mask: Tensor) -> Tensor:
    return hide_before(mix(mix(scores, p_scores), p_weights), mask).softmax(-1)


_with = partial(Otherwise, talk_with)

TALKING_MISTAKES = (
    Mistake(
        "masked-before-mixing",
        _with(early=hide_before, hide=_nothing_hidden),
        "Everything is NaN, as it is when the mask comes before the mixing: -inf times shares of both signs, "
        "added up, is inf - inf. The mask belongs between mixing and softmax.",
        "the order of mixing and mask.",
    ),
    Mistake(
        "large-negative-mixed",
        _with(early=_with_large_negative, hide=_nothing_hidden),
        "Hidden scores get a large negative number before they are mixed. Shares can be negative, and then "
        "it becomes a large positive one: the softmax looks at what is hidden.",
        "the order of mixing and mask.",
    ),
    Mistake(
        "not-masked",
        _with(hide=_nothing_hidden),
        "The mask is not used: hidden keys have weights.",
        "where `mask` is used.",
    ),
    Mistake(
        "mask-turned",
        _with(hide=lambda scores, mask: scores.masked_fill(mask, float("-inf"))),
        "The mask is turned round: True means that a query may attend.",
        "what True means in `mask`.",
    ),
    Mistake(
        "hidden-scores-0",
        _with(hide=lambda scores, mask: scores * mask),
        "Hidden scores become 0, and 0 is an ordinary score: its exponential is 1.",
        "what a softmax makes of a hidden score.",
    ),
    Mistake(
        "masked-after-softmax",
        _with(hide=_nothing_hidden, late=lambda weights, mask: weights * mask),
        "The mask comes after the softmax. Hidden keys have no weight, but took part in the sum, so that the "
        "others are too small.",
        "the order of mask and softmax.",
    ),
    Mistake(
        "masked-late-and-divided",
        _with(hide=_nothing_hidden, late=lambda weights, mask: weights * mask, finish=_divided),
        "The mask comes after the softmax, and mixed rows are made to sum to 1. That repairs nothing: "
        "shares differ from head to head, and rows of talking heads need not sum to 1.",
        "the order of mask and softmax, and the last step.",
    ),
    Mistake(
        "scores-mixed-transposed",
        _with(before=mix_transposed),
        "`p_scores` is used transposed: old maps go down its rows, new ones along its columns.",
        "over which axis of `p_scores` the sum goes.",
    ),
    Mistake(
        "weights-mixed-transposed",
        _with(after=mix_transposed),
        "`p_weights` is used transposed: old maps go down its rows, new ones along its columns.",
        "over which axis of `p_weights` the sum goes.",
    ),
    Mistake(
        "both-transposed",
        _with(both=mix_transposed),
        "Both matrices are used transposed: old maps go down the rows, new ones along the columns.",
        "over which axis of the matrices the sums go.",
    ),
    Mistake(
        "matrices-swapped",
        _with(take=lambda p_scores, p_weights: (p_weights, p_scores)),
        "The two matrices have changed places.",
        "which matrix mixes scores, and which weights.",
    ),
    Mistake(
        "scores-not-mixed",
        _with(before=lambda scores, p: scores),
        "The scores are not mixed: only weights are.",
        "where `p_scores` is used.",
    ),
    Mistake(
        "weights-not-mixed",
        _with(after=lambda weights, p: weights),
        "The weights are not mixed after the softmax: only scores are.",
        "where `p_weights` is used.",
    ),
    Mistake(
        "both-before-softmax",
        _with(whole=_both_before),
        "Both mixings stand before the softmax. The second one mixes weights.",
        "the order of softmax and second mixing.",
    ),
    Mistake(
        "softmax-over-queries",
        _with(soften=lambda scores: scores.softmax(-2)),
        "The softmax goes over the queries. It should go over the keys.",
        "the axis of the softmax.",
    ),
    Mistake(
        "softmax-over-heads",
        _with(soften=lambda scores: scores.softmax(1)),
        "The softmax goes over the heads. It should go over the keys.",
        "the axis of the softmax.",
    ),
    Mistake(
        "no-softmax",
        _with(soften=lambda scores: scores.masked_fill(scores == float("-inf"), 0)),
        "There is no softmax between the two mixings; hidden scores are 0.",
        "what stands between the two mixings.",
    ),
    Mistake(
        "rows-made-to-sum-to-1",
        _with(finish=_divided),
        "Mixed weights are divided by the sum of their row. Talking heads leave them as they are: rows need "
        "not sum to 1.",
        "the last step.",
    ),
    Mistake(
        "softmax-again",
        _with(finish=lambda weights: weights.softmax(-1)),
        "A second softmax goes over the mixed weights. They stay as they are, negative ones too.",
        "the last step.",
    ),
    Mistake(
        "negative-cut-off",
        _with(finish=lambda weights: weights.clamp_min(0)),
        "Negative weights are cut off. A mixed weight may be negative.",
        "the last step.",
    ),
    Mistake(
        "own-map-alone",
        _with(both=_by_its_own),
        "Every map is multiplied by its own share alone, the diagonal. It should get something of each map.",
        "the sum over i.",
    ),
    Mistake(
        "shares-through-softmax",
        _with(take=lambda p_scores, p_weights: (p_scores.softmax(0), p_weights.softmax(0))),
        "The shares go through a softmax, so that each new map is an average. They are used as they are.",
        "what is done with the matrices before they are used.",
    ),
    Mistake(
        "divided-by-heads",
        _with(both=lambda maps, p: mix(maps, p) / maps.shape[1]),
        "The mixed maps are divided by the number of heads. They are sums, not means.",
        "`mean` and divisions.",
    ),
)
