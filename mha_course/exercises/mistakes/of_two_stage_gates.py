"""Known mistakes of `two_stage_gates`: three softmaxes, the choice, what the chosen weigh, the order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def over_heads(scores: Tensor) -> Tensor:
    """The softmax that is asked for."""
    return scores.softmax(-1)


def among(weights: Tensor, k: int, axis: int = -1, largest: bool = True) -> Tensor:
    """1 for the k largest (or smallest) along an axis, 0 elsewhere."""
    places = weights.topk(min(k, weights.shape[axis]), axis, largest=largest).indices
    return torch.zeros_like(weights).scatter(axis, places, 1.0)


def gates_with(
    x: Tensor,
    w_shared: Tensor,
    w_routed: Tensor,
    w_types: Tensor,
    k: int,
    *,
    soften: Step | None = None,
    types: Step = over_heads,
    shared: Step = over_heads,
    routed: Step = over_heads,
    choose: Step = among,
    keep: Step = lambda weights, chosen: weights * chosen,
    weigh: Step = lambda shared, routed, types, k: (types[..., :1] * shared, types[..., 1:] * routed),
    join: Step = lambda shared, routed: torch.cat((shared, routed), -1),
    whole: Step | None = None,
) -> Tensor:
    """The gates with the steps given; right without any: (b, n, shared + routed)."""
    scores = x @ w_shared, x @ w_routed, x @ w_types
    if whole is not None:
        return whole(*scores, k)
    if soften is not None:
        types = shared = routed = soften
    of_shared, of_routed, of_types = shared(scores[0]), routed(scores[1]), types(scores[2])
    of_routed = keep(of_routed, choose(of_routed, k))
    return join(*weigh(of_shared, of_routed, of_types, k))


def renormalised(weights: Tensor, chosen: Tensor) -> Tensor:
    """The chosen heads' weights, made to sum to 1."""
    kept = weights * chosen
    return kept / kept.sum(-1, keepdim=True)


def as_released(shared: Tensor, routed: Tensor, types: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The authors' code: renormalised over the chosen, and scaled so that a gate is 1 on average."""
    routed = k * routed / routed.sum(-1, keepdim=True)
    return 2 * types[..., :1] * shared.shape[-1] * shared, 2 * types[..., 1:] * routed


def one_softmax(shared: Tensor, routed: Tensor, types: Tensor, k: int) -> Tensor:
    """One softmax over all heads, shared and routed, in place of two."""
    both = torch.cat((shared, routed), -1).softmax(-1).split((shared.shape[-1], routed.shape[-1]), -1)
    types = types.softmax(-1)
    return torch.cat((types[..., :1] * both[0], types[..., 1:] * both[1] * among(both[1], k)), -1)


def chosen_of_all(shared: Tensor, routed: Tensor, types: Tensor, k: int) -> Tensor:
    """The k largest of all gates, shared ones among them."""
    types = types.softmax(-1)
    gates = torch.cat((types[..., :1] * shared.softmax(-1), types[..., 1:] * routed.softmax(-1)), -1)
    return gates * among(gates, k)


_with = partial(Otherwise, gates_with)

GATES_MISTAKES = (
    Mistake(
        "renormalised",
        _with(keep=renormalised),
        "The weights of the chosen heads are made to sum to 1, by a division or by a softmax over the chosen "
        "alone. The authors' code does so; the paper's gates, asked for here, keep what the softmax over all "
        "routed heads gave.",
        "what is divided by a sum, and which scores the softmax sees.",
    ),
    Mistake(
        "gates-of-the-code",
        _with(weigh=as_released),
        "These are the gates of the authors' code: renormalised over the chosen heads, and scaled so that a "
        "gate is 1 on average. The paper's are asked for.",
        "factors behind the softmaxes.",
    ),
    Mistake(
        "nothing-dropped",
        _with(choose=lambda weights, k: torch.ones_like(weights)),
        "Every token uses all routed heads. It should keep {k} of {routed}.",
        "where `k` is used.",
    ),
    Mistake(
        "smallest-kept",
        _with(choose=partial(among, largest=False)),
        "The {k} smallest weights are kept, not the largest.",
        "the order in which weights are sorted.",
    ),
    Mistake(
        "chosen-dropped",
        _with(keep=lambda weights, chosen: weights * (1 - chosen)),
        "The {k} heads with the largest weights get 0, and the others stay: the choice is turned round.",
        "which places are written to.",
    ),
    Mistake(
        "choice-as-gate",
        _with(keep=lambda weights, chosen: chosen),
        "A chosen head counts 1 before its type is weighed. Its weight, the router's softmax, is lost; the "
        "router would get no gradient.",
        "what is put in the chosen places.",
    ),
    Mistake(
        "same-for-all-tokens",
        _with(choose=lambda weights, k: among(weights.mean((0, 1), keepdim=True), k).expand_as(weights)),
        "All tokens use the same {k} heads, chosen by mean weights. Each token chooses for itself.",
        "the axes of what is sorted.",
    ),
    Mistake(
        "heads-choose-tokens",
        _with(choose=partial(among, axis=1)),
        "Each head picks {k} tokens of a sentence. Each token should pick {k} heads.",
        "the axis along which the largest are looked for.",
    ),
    Mistake(
        "chosen-of-all",
        _with(whole=chosen_of_all),
        "The {k} largest gates of all heads are kept, so that shared heads compete and drop out. Shared "
        "heads are used by every token.",
        "among which heads the largest are looked for.",
    ),
    Mistake(
        "shared-dropped-too",
        _with(shared=lambda scores: scores.softmax(-1) * among(scores, 1)),
        "Of the shared heads only the one with the largest weight stays. All shared heads are used.",
        "what is done with the shared heads.",
    ),
    Mistake(
        "types-swapped",
        _with(weigh=lambda shared, routed, types, k: (types[..., 1:] * shared, types[..., :1] * routed)),
        "The types have changed places: shared heads are weighed by the share of routed ones.",
        "which column of the types belongs to which heads.",
    ),
    Mistake(
        "types-left-out",
        _with(weigh=lambda shared, routed, types, k: (shared, routed)),
        "The types are not used: the second stage is missing.",
        "where `w_types` is used.",
    ),
    Mistake(
        "shared-not-weighed",
        _with(weigh=lambda shared, routed, types, k: (shared, types[..., 1:] * routed)),
        "The shared heads are not multiplied by the share of their type.",
        "what the two shares of the types multiply.",
    ),
    Mistake(
        "routed-not-weighed",
        _with(weigh=lambda shared, routed, types, k: (types[..., :1] * shared, routed)),
        "The routed heads are not multiplied by the share of their type.",
        "what the two shares of the types multiply.",
    ),
    Mistake(
        "shared-all-alike",
        _with(shared=torch.ones_like),
        "All shared heads of a token have the same gate. They have a router and a softmax of their own.",
        "where `w_shared` is used.",
    ),
    Mistake(
        "one-softmax",
        _with(whole=one_softmax),
        "One softmax goes over all heads, shared and routed. Each type has its own.",
        "what is put together before a softmax.",
    ),
    Mistake(
        "softmax-over-tokens",
        _with(soften=lambda scores: scores.softmax(1)),
        "The softmaxes go over the tokens of a sentence. A token weighs heads, so each sums to 1 over heads.",
        "the axis of the softmaxes.",
    ),
    Mistake(
        "softmax-over-sentences",
        _with(soften=lambda scores: scores.softmax(0)),
        "The softmaxes go over the sentences. A token weighs heads, so each sums to 1 over heads.",
        "the axis of the softmaxes.",
    ),
    Mistake(
        "no-softmax",
        _with(soften=lambda scores: scores),
        "The routers' scores are used as they are. A softmax makes weights of them.",
        "what stands between scores and gates.",
    ),
    Mistake(
        "sigmoids",
        _with(soften=torch.sigmoid),
        "Sigmoids stand where softmaxes should: the weights of a token don't sum to 1.",
        "what makes weights of scores.",
    ),
    Mistake(
        "routed-first",
        _with(join=lambda shared, routed: torch.cat((routed, shared), -1)),
        "The routed heads stand first. Shared heads should.",
        "the order of the parts at the end.",
    ),
    Mistake(
        "dropped-before-softmax",
        _with(whole=lambda s, r, t, k: _zero_scores(s, r, t, k)),
        "The scores of the heads not chosen are set to 0 before the softmax, which gives them a weight: "
        "exp(0) is 1.",
        "what a softmax makes of a score of 0.",
    ),
)


def _zero_scores(shared: Tensor, routed: Tensor, types: Tensor, k: int) -> Tensor:
    types = types.softmax(-1)
    kept = (routed * among(routed, k)).softmax(-1)
    return torch.cat((types[..., :1] * shared.softmax(-1), types[..., 1:] * kept), -1)
