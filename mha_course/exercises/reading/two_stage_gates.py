"""What wrong gates of a mixture of heads hold: which step was done otherwise."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_two_stage_gates import GATES_MISTAKES, among, gates_with, renormalised
from mha_course.exercises.reading.asked_plainly import Question, asked_plainly, plain
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_SOFTENS = (
    rare("The softmaxes are log_softmaxes.", lambda s: s.log_softmax(-1)),
    rare("Exponentials are taken, and nothing is divided by their sum.", lambda s: s.exp()),
    rare("Every softmax is taken twice.", lambda s: s.softmax(-1).softmax(-1)),
    rare("The scores have the wrong sign in the softmaxes.", lambda s: (-s).softmax(-1)),
    rare("The softmaxes go over heads and tokens together.", lambda s: s.flatten(1).softmax(-1).view_as(s)),
    rare("All weights of a softmax are equal.", lambda s: torch.full_like(s, 1 / s.shape[-1])),
    rare("The scores go through a ReLU, not a softmax.", lambda s: s.relu()),
)


def _one(name: str) -> tuple[Way, ...]:
    """What may stand in the place of one softmax."""
    return (
        Way(f"There is no softmax over the {name}.", lambda s: s),
        Way(f"The softmax over the {name} is a sigmoid.", torch.sigmoid),
        rare(f"The softmax over the {name} goes over the tokens.", lambda s: s.softmax(1)),
        rare(f"The softmax over the {name} goes over the sentences.", lambda s: s.softmax(0)),
        rare(f"The softmax over the {name} is a log_softmax.", lambda s: s.log_softmax(-1)),
        rare(f"The softmax over the {name} is taken twice.", lambda s: s.softmax(-1).softmax(-1)),
        rare(f"The weights of the {name} are equal.", lambda s: torch.full_like(s, 1 / s.shape[-1])),
        rare(
            f"The weights of the {name} are multiplied by their number.",
            lambda s: s.softmax(-1) * s.shape[-1],
        ),
        rare(f"The scores of the {name} have the wrong sign.", lambda s: (-s).softmax(-1)),
    )


_CHOICES = (
    Way("One head too many is kept.", lambda w, k: among(w, k + 1)),
    Way("One head too few is kept.", lambda w, k: among(w, k - 1)),
    rare("One head is kept, whatever k is.", lambda w, k: among(w, 1)),
    rare("Two heads are kept, whatever k is.", lambda w, k: among(w, 2)),
    rare("Twice as many heads as k are kept.", lambda w, k: among(w, 2 * k)),
    rare("k heads are dropped, not kept: the smallest.", lambda w, k: 1 - among(w, k, largest=False)),
    rare("The first k routed heads are kept, whatever their weights.", lambda w, k: _first(w, k)),
    rare(
        "The last k routed heads are kept, whatever their weights.",
        lambda w, k: _first(w.flip(-1), k).flip(-1),
    ),
    rare("The k-th largest weight is dropped: the comparison is strict.", lambda w, k: _above(w, k)),
    rare("Only the head with the k-th largest weight is kept.", lambda w, k: among(w, k) - among(w, k - 1)),
    rare("Heads with more than the mean weight are kept, whatever k is.", lambda w, k: _above_mean(w)),
    rare("Heads choose sentences, not tokens heads.", lambda w, k: among(w, k, axis=0)),
    rare(
        "Each sentence chooses by the mean of its tokens.",
        lambda w, k: among(w.mean(1, keepdim=True), k).expand_as(w),
    ),
    rare("All tokens use the heads of the first one.", lambda w, k: among(w[:, :1], k).expand_as(w)),
    rare("All tokens use the heads of the last one.", lambda w, k: among(w[:, -1:], k).expand_as(w)),
)
_KEEPS = (
    rare("The chosen heads count 1 / k each.", lambda w, c: c / c.sum(-1, keepdim=True)),
    rare("Weights of the chosen heads are squared.", lambda w, c: w * w * c),
    rare("A softmax is taken once more, over the kept weights.", lambda w, c: (w * c).softmax(-1)),
    rare("A softmax of the weights is taken over the chosen.", lambda w, c: _again(w, c)),
    rare("1 is added to the chosen heads' weights.", lambda w, c: w + c),
    rare(
        "Weights are multiplied by the number of chosen heads.", lambda w, c: w * c * c.sum(-1, keepdim=True)
    ),
    rare(
        "Weights are renormalised and multiplied by k.",
        lambda w, c: renormalised(w, c) * c.sum(-1, keepdim=True),
    ),
    rare("The kept weights stand in the first places, in order of size.", lambda w, c: _packed(w, c)),
    rare("What is not kept gets a large negative gate, not 0.", lambda w, c: w.masked_fill(c == 0, -1e9)),
    rare("What is not kept gets -inf, not 0.", lambda w, c: w.masked_fill(c == 0, float("-inf"))),
    rare("Only the kept weights come back, without the zeros.", lambda w, c: _only(w, c)),
)
_WEIGHS = (
    rare(
        "The shares of the types are added, not multiplied.",
        lambda s, r, t, k: (s + t[..., :1], r + t[..., 1:]),
    ),
    rare(
        "Both kinds are multiplied by the share of shared heads.",
        lambda s, r, t, k: (s * t[..., :1], r * t[..., :1]),
    ),
    rare(
        "Both kinds are multiplied by the share of routed heads.",
        lambda s, r, t, k: (s * t[..., 1:], r * t[..., 1:]),
    ),
    rare(
        "Weights are divided by the share of their type.", lambda s, r, t, k: (s / t[..., :1], r / t[..., 1:])
    ),
    rare(
        "Weights are multiplied by the number of heads in use.",
        lambda s, r, t, k: (s.shape[-1] * s * t[..., :1], k * r * t[..., 1:]),
    ),
    rare("The larger type takes all.", lambda s, r, t, k: _larger(s, r, t)),
)
_JOINS = (
    Way(
        "All gates of a token are divided by their sum.",
        lambda s, r: torch.cat((s, r), -1) / (s.sum(-1, keepdim=True) + r.sum(-1, keepdim=True)),
        "the last step.",
    ),
    rare("A softmax is taken over all gates at the end.", lambda s, r: torch.cat((s, r), -1).softmax(-1)),
    rare(
        "The axis of heads stands before that of tokens.", lambda s, r: torch.cat((s, r), -1).transpose(1, 2)
    ),
    rare("Only the gates of the shared heads come back.", lambda s, r: s),
    rare("Only the gates of the routed heads come back.", lambda s, r: r),
    rare("The gates of the shared heads are 1.", lambda s, r: torch.cat((torch.ones_like(s), r), -1)),
    rare("The gates of the shared heads are 0.", lambda s, r: torch.cat((torch.zeros_like(s), r), -1)),
    rare("The gates of the routed heads are 0.", lambda s, r: torch.cat((s, torch.zeros_like(r)), -1)),
    rare("Gates are turned into True and False.", lambda s, r: torch.cat((s, r), -1) > 0),
    rare("The shared heads are there twice.", lambda s, r: torch.cat((s, s), -1)),
    rare("The routed heads are there twice.", lambda s, r: torch.cat((r, r), -1)),
)
_WHOLES = (
    rare(
        "Heads are chosen after one softmax over all, and the shared ones get their own softmax.",
        lambda s, r, t, k: _of_all(s, r, t, k),
    ),
    rare(
        "The choice is made by the size of the scores, whatever their sign.",
        lambda s, r, t, k: _by_size(s, r, t, k),
    ),
    rare(
        "Heads not chosen get a score of -1 before the softmax.", lambda s, r, t, k: _filled(s, r, t, k, -1.0)
    ),
)


def _first(w: Tensor, k: int) -> Tensor:
    return (torch.arange(w.shape[-1]) < k).to(w.dtype).expand_as(w)


def _above(w: Tensor, k: int) -> Tensor:
    return (w > w.topk(k).values[..., -1:]).to(w.dtype)


def _above_mean(w: Tensor) -> Tensor:
    return (w > w.mean(-1, keepdim=True)).to(w.dtype)


def _again(w: Tensor, c: Tensor) -> Tensor:
    return w.masked_fill(c == 0, float("-inf")).softmax(-1)


def _packed(w: Tensor, c: Tensor) -> Tensor:
    return (w * c).sort(-1, descending=True).values


def _only(w: Tensor, c: Tensor) -> Tensor:
    return w.topk(int(c.sum(-1).max())).values


def _larger(s: Tensor, r: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    first = t[..., :1] > t[..., 1:]
    return s * first, r * ~first


def _of_all(s: Tensor, r: Tensor, t: Tensor, k: int) -> Tensor:
    t, w = t.softmax(-1), torch.cat((s, r), -1).softmax(-1)[..., s.shape[-1] :]
    return torch.cat((t[..., :1] * s.softmax(-1), t[..., 1:] * w * among(w, k)), -1)


def _by_size(s: Tensor, r: Tensor, t: Tensor, k: int) -> Tensor:
    t = t.softmax(-1)
    return torch.cat((t[..., :1] * s.softmax(-1), t[..., 1:] * r.softmax(-1) * among(r.abs(), k)), -1)


def _filled(s: Tensor, r: Tensor, t: Tensor, k: int, score: float) -> Tensor:
    t = t.softmax(-1)
    kept = r.masked_fill(among(r, k) == 0, score).softmax(-1)
    return torch.cat((t[..., :1] * s.softmax(-1), t[..., 1:] * kept), -1)


def _slot(name: str, look: str, ways: tuple[Way, ...] = ()) -> Slot:
    return Slot(name, look, (*ways_of(GATES_MISTAKES, name), *ways))


_RECIPE = Recipe(
    gates_with,
    (
        _slot("soften", "what makes weights of scores.", _SOFTENS),
        _slot("types", "the softmax over the two types.", _one("types")),
        _slot("shared", "the softmax over the shared heads.", _one("shared heads")),
        _slot("routed", "the softmax over the routed heads.", _one("routed heads")),
        _slot("choose", "which heads a token keeps.", _CHOICES),
        _slot("keep", "what a kept head weighs, and what the others.", _KEEPS),
        _slot("weigh", "what the shares of the types multiply.", _WEIGHS),
        _slot("join", "how the gates are put together.", _JOINS),
        _slot("whole", "the order of choice and softmax.", _WHOLES),
    ),
)


def _asked() -> tuple[Question, ...]:
    def asked(
        asks: str, x: list[float], shared: list, routed: list, types: list, k: int, look: str
    ) -> Question:
        given = (plain([[x]]), plain(shared), plain(routed), plain(types), k)
        return Question(asks, given, look, lambda gates: gates[0, 0])

    half = "With one token, x = 1, routers at 0 (all softmaxes are even), one shared head"
    ln = [0.0, 0.6931472, 1.0986123]  # exponentials 1, 2, 3
    return (
        asked(f"{half}, one routed head and k = 1,", [1], [[0]], [[0]], [[0, 0]], 1, "two gates of 1/2."),
        asked(
            "With one token, x = 1, shared scores ln 1 and ln 3, the rest even, k = 1,",
            [1], [[0, ln[2]]], [[0]], [[0, 0]], 1, "the softmax over the shared heads.",
        ),
        asked(
            "With one token, x = 1, one shared head, one routed head, types ln 1 and ln 3,",
            [1], [[0]], [[0]], [[0, ln[2]]], 1, "the share of each type.",
        ),
        asked(
            "With one token, x = 1, one shared head, routed scores ln 1, ln 2 and ln 3, even types, k = 3,",
            [1], [[0]], [ln], [[0, 0]], 3, "the softmax over the routed heads.",
        ),
        asked(
            "With one token, x = 1, one shared head, routed scores ln 1, ln 2 and ln 3, even types, k = 1,",
            [1], [[0]], [ln], [[0, 0]], 1, "what the chosen head weighs: 3/6 of its type.",
        ),
        asked(
            "With one token, x = 1, one shared head, routed scores ln 1, ln 3 and ln 2, even types, k = 2,",
            [1], [[0]], [[ln[0], ln[2], ln[1]]], [[0, 0]], 2, "which heads are chosen, and where they stand.",
        ),
        asked(
            "With one token, x = (1, 0), routers as before in their first rows, types ln 1 and ln 3, k = 2,",
            [1, 0], [[0], [3]], [ln, [5, 0, 0]], [[0, ln[2]], [7, 0]], 2,
            "the products of `x` with the routers.",
        ),
    )  # fmt: skip


read_gates = (_RECIPE.read, asked_plainly(_asked))
