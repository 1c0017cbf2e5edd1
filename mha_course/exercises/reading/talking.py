"""What wrong talking heads do: which mixing, mask or softmax was done otherwise."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_talking import TALKING_MISTAKES, Step, mix, talk_with
from mha_course.exercises.reading.asked_plainly import Question, asked_plainly, plain
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_TAKES = (
    rare("`p_scores` is used for both mixings.", lambda s, w: (s, s)),
    rare("`p_weights` is used for both mixings.", lambda s, w: (w, w)),
    rare("The matrices are inverted.", lambda s, w: (torch.linalg.inv(s), torch.linalg.inv(w))),
    rare("The shares go through a softmax along the rows.", lambda s, w: (s.softmax(1), w.softmax(1))),
    rare("The shares are divided by the sum of their column.", lambda s, w: (s / s.sum(0), w / w.sum(0))),
    rare("The shares are divided by the sum of their row.", lambda s, w: (_rows(s), _rows(w))),
    rare("The identity is added to both matrices.", lambda s, w: (s + _eye(s), w + _eye(w))),
    rare("The shares are used without their sign.", lambda s, w: (s.abs(), w.abs())),
    rare("Negative shares are left out.", lambda s, w: (s.clamp_min(0), w.clamp_min(0))),
    rare("The matrices are multiplied with themselves.", lambda s, w: (s @ s, w @ w)),
)


def _mixings(name: str) -> tuple[Way, ...]:
    return (
        rare(f"Every map of the {name} is multiplied by its own share alone.", lambda m, p: _own(m, p)),
        rare(f"The mixed {name} are added to the old ones.", lambda m, p: m + mix(m, p)),
        rare(f"The mixed {name} are divided by the number of heads.", lambda m, p: mix(m, p) / m.shape[1]),
        rare(
            f"The {name} are multiplied by the sum of a column of shares.",
            lambda m, p: m * p.sum(0)[:, None, None],
        ),
        rare(
            f"The {name} are multiplied by the sum of a row of shares.",
            lambda m, p: m * p.sum(1)[:, None, None],
        ),
        rare(
            f"The shares go through a softmax before the {name} are mixed.", lambda m, p: mix(m, p.softmax(0))
        ),
        rare(f"The {name} are mixed twice.", lambda m, p: mix(mix(m, p), p)),
        rare(
            f"All new maps of the {name} are the same: the sum of all.",
            lambda m, p: mix(m, p).sum(1, True).expand_as(m),
        ),
        rare(f"The mixed {name} have the wrong sign.", lambda m, p: -mix(m, p)),
        rare(f"The {name} are mixed with the inverted matrix.", lambda m, p: mix(m, torch.linalg.inv(p))),
        rare(f"The heads of the {name} come in reverse order.", lambda m, p: mix(m, p).flip(1)),
    )


_HIDES = (
    rare("Masked scores are -1, not hidden.", lambda s, mask: s.masked_fill(~mask, -1.0)),
    rare("The mask is added as numbers 0 and 1.", lambda s, mask: s + mask),
    rare("1 is subtracted where the mask is False.", lambda s, mask: s - (~mask).to(s)),
    rare(
        "Hidden scores are the smallest positive number, not -inf.",
        lambda s, mask: s.masked_fill(~mask, 1e-9),
    ),
    rare("A causal mask is used in place of the one given.", lambda s, mask: _causal(s)),
    rare(
        "A causal mask is used beside the one given.",
        lambda s, mask: _causal(s.masked_fill(~mask, float("-inf"))),
    ),
    rare("Hidden scores become +inf.", lambda s, mask: s.masked_fill(~mask, float("inf"))),
)
_SOFTENS = (
    rare("The softmax is a log_softmax.", lambda s: s.log_softmax(-1)),
    rare("The softmax is a sigmoid.", lambda s: s.sigmoid()),
    rare("The softmax is taken twice.", lambda s: s.softmax(-1).softmax(-1)),
    rare("The softmax goes over the sentences.", lambda s: s.softmax(0)),
    rare("Exponentials are taken, and no row is divided by its sum.", lambda s: s.exp()),
    rare(
        "The softmax goes over all queries and keys of a map.", lambda s: s.flatten(-2).softmax(-1).view_as(s)
    ),
    rare(
        "Scores are divided by the root of the number of heads.",
        lambda s: (s / s.shape[1] ** 0.5).softmax(-1),
    ),
    rare(
        "Scores are divided by the root of the number of keys.",
        lambda s: (s / s.shape[-1] ** 0.5).softmax(-1),
    ),
    rare("Scores are divided by the number of heads.", lambda s: (s / s.shape[1]).softmax(-1)),
    rare("There is no softmax.", lambda s: s),
    rare(
        "The largest weight of each row is 1, all others 0.", lambda s: (s == s.amax(-1, keepdim=True)).to(s)
    ),
)
_LATES = (
    rare("Hidden weights are taken out and the others made to sum to 1.", lambda w, mask: _rest(w * mask)),
    rare("What the mask hides is left, and the others are 0.", lambda w, mask: w * ~mask),
)
# What is done with the mask at the end, where nothing was hidden before the softmax.
_ENDS = (
    ("and a second softmax follows", lambda w, mask: _hidden(w, mask).softmax(-1)),
    ("and a second softmax follows", lambda w, mask: (w * mask).softmax(-1)),
    ("and weights become -inf", lambda w, mask: _hidden(w, mask)),
    ("and weights become large negative numbers", lambda w, mask: w.masked_fill(~mask, -1e9)),
    ("and rows are divided by the sum of their sizes", lambda w, mask: _by_sizes(w * mask)),
    ("and turned round", lambda w, mask: w * ~mask),
)
_FINISHES = (
    rare("Weights are divided by the sum of their sizes.", lambda w: _by_sizes(w)),
    rare("Weights come back without their sign.", lambda w: w.abs()),
    rare("Weights are cut at 0 and at 1.", lambda w: w.clamp(0, 1)),
    rare("Queries and keys have changed places.", lambda w: w.mT),
    rare("Heads and queries have changed places.", lambda w: w.transpose(1, 2)),
    rare("The axis of heads comes last.", lambda w: w.movedim(1, -1)),
    rare("The maps are averaged over the heads.", lambda w: w.mean(1)),
    rare("The maps are added up over the heads.", lambda w: w.sum(1)),
    rare("Sentences and heads are one axis.", lambda w: w.flatten(0, 1)),
)


def _at_the_end(end: Step) -> Step:
    return lambda s, p, w, mask: end(mix(mix(s, p).softmax(-1), w), mask)


_WHOLES = (
    rare(
        "Both mixings stand after the softmax.",
        lambda s, p, w, mask: mix(mix(_hidden(s, mask).softmax(-1), p), w),
    ),
    rare("Scores come back, mixed and masked.", lambda s, p, w, mask: _hidden(mix(s, p), mask)),
    rare("Scores come back, mixed twice.", lambda s, p, w, mask: mix(mix(s, p), w)),
    rare(
        "The maps are mixed with both matrices before and after the softmax.",
        lambda s, p, w, mask: mix(_hidden(mix(s, p @ w), mask).softmax(-1), p @ w),
    ),
    rare("The mask hides whole rows by its first column.", lambda s, p, w, mask: _by_column(s, p, w, mask)),
    *(rare(f"The mask comes after the softmax, {words}.", _at_the_end(end)) for words, end in _ENDS),
)


def _by_sizes(weights: Tensor) -> Tensor:
    return weights / weights.abs().sum(-1, keepdim=True)


def _eye(p: Tensor) -> Tensor:
    return torch.eye(len(p), dtype=p.dtype)


def _rows(p: Tensor) -> Tensor:
    return p / p.sum(1, keepdim=True)


def _own(maps: Tensor, p: Tensor) -> Tensor:
    return maps * p.diagonal()[:, None, None]


def _hidden(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, float("-inf"))


def _causal(scores: Tensor) -> Tensor:
    n_q, n_k = scores.shape[-2:]
    return scores.masked_fill(torch.ones(n_q, n_k, dtype=torch.bool).triu(n_k - n_q + 1), float("-inf"))


def _rest(weights: Tensor) -> Tensor:
    return weights / weights.sum(-1, keepdim=True)


def _by_column(s: Tensor, p: Tensor, w: Tensor, mask: Tensor) -> Tensor:
    return mix(_hidden(mix(s, p), mask[:, :1]).softmax(-1), w)


def _slot(name: str, look: str, ways: tuple[Way, ...] = ()) -> Slot:
    return Slot(name, look, (*ways_of(TALKING_MISTAKES, name), *ways))


_RECIPE = Recipe(
    talk_with,
    (
        _slot("take", "the two matrices.", _TAKES),
        _slot("both", "how maps are mixed."),
        _slot("before", "how scores are mixed.", _mixings("scores")),
        _slot("hide", "how the mask is used.", _HIDES),
        _slot("soften", "what makes weights of scores.", _SOFTENS),
        _slot("late", "what is done with the mask after the softmax.", _LATES),
        _slot("after", "how weights are mixed.", _mixings("weights")),
        _slot("finish", "the last step.", _FINISHES),
        _slot("whole", "the order: mix, mask, softmax, mix.", _WHOLES),
    ),
)


def _asked() -> tuple[Question, ...]:
    one, eye = [[1.0]], [[1, 0], [0, 1]]
    ln3 = 1.0986123

    def asked(asks: str, scores: list, p: list, w: list, mask: list, look: str) -> Question:
        given = (plain([scores]), plain(p), plain(w), torch.tensor(mask))
        return Question(asks, given, look, lambda weights: weights[0])

    return (
        asked(
            "With one head, shares of 1 and scores (0, ln 3),",
            [[[0, ln3]]], one, one, [[True, True]], "the softmax.",
        ),
        asked(
            "With one head, shares of 1, scores (0, ln 3, 5) and the last key hidden,",
            [[[0, ln3, 5]]], one, one, [[True, True, False]], "the mask.",
        ),
        asked(
            "With one head, scores (0, ln 3), a share of -1 for scores and 1 for weights,",
            [[[0, ln3]]], [[-1]], one, [[True, True]], "how scores are mixed.",
        ),
        asked(
            "With one head, scores (0, ln 3), a share of 1 for scores and -2 for weights,",
            [[[0, ln3]]], one, [[-2]], [[True, True]], "how weights are mixed, and what is done afterwards.",
        ),
        asked(
            "With two heads, scores (0, ln 3) and (0, 0), and both matrices the identity,",
            [[[0, ln3]], [[0, 0]]], eye, eye, [[True, True]], "what happens to heads that are not mixed.",
        ),
        asked(
            "With scores (0, ln 3) and (0, 0) of two heads, `p_scores` ((1, 1), (0, 1)), the identity after,",
            [[[0, ln3]], [[0, 0]]], [[1, 1], [0, 1]], eye, [[True, True]],
            "how scores are mixed: both new maps get the scores of the first head.",
        ),
        asked(
            "With scores (0, ln 3) and (0, 0) of two heads, the identity, then `p_weights` ((1, 1), (0, 1)),",
            [[[0, ln3]], [[0, 0]]], eye, [[1, 1], [0, 1]], [[True, True]],
            "how weights are mixed: the second map gets the sum of both.",
        ),
        asked(
            "With one head, a share of -1 for scores, scores (0, ln 3, 5) and the last key hidden,",
            [[[0, ln3, 5]]], [[-1]], one, [[True, True, False]], "the order of mixing and mask.",
        ),
    )  # fmt: skip


read_talking = (_RECIPE.read, asked_plainly(_asked))
