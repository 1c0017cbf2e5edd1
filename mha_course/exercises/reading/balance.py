"""What a wrong load-balance loss is: which mean, product, sum or factor was done otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_balance import BALANCE_MISTAKES, balance_with
from mha_course.exercises.reading.asked_plainly import Question, asked_plainly, plain
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_MEANS = (
    rare("The means go over the sentences alone.", lambda t: t.mean(0)),
    rare("The means go over the tokens of a sentence alone.", lambda t: t.mean(1)),
    rare(
        "The sums over all tokens are divided by the number of sentences.", lambda t: t.sum((0, 1)) / len(t)
    ),
    rare("The largest of all tokens stands for the mean.", lambda t: t.amax((0, 1))),
    rare("Nothing is averaged.", lambda t: t),
    rare("Only the first sentence counts.", lambda t: t[0].mean(0)),
    rare("Only the last sentence counts.", lambda t: t[-1].mean(0)),
    rare("Only the first token of each sentence counts.", lambda t: t[:, 0].mean(0)),
    rare("Only the last token of each sentence counts.", lambda t: t[:, -1].mean(0)),
    rare(
        "The means are divided by the number of tokens less one.",
        lambda t: t.sum((0, 1)) / (t[..., 0].numel() - 1),
    ),
)


def _mean(name: str) -> tuple[Way, ...]:
    return (
        rare(f"{name} is divided by the tokens of one sentence.", lambda t: t.sum((0, 1)) / t.shape[1]),
        rare(f"{name} is divided by the number of sentences.", lambda t: t.sum((0, 1)) / len(t)),
        rare(f"{name} is a mean over the heads as well.", lambda t: t.mean()),
        rare(f"{name} is the largest of all tokens.", lambda t: t.amax((0, 1))),
        rare(f"{name} is multiplied by itself.", lambda t: t.mean((0, 1)) ** 2),
        rare(f"The root is taken of {name}.", lambda t: t.mean((0, 1)).sqrt()),
        rare(f"{name} goes through a softmax.", lambda t: t.mean((0, 1)).softmax(-1)),
        rare(
            f"{name} is divided by its sum over the heads.", lambda t: t.mean((0, 1)) / t.mean((0, 1)).sum()
        ),
        rare(f"{name} is made True or False by a threshold of 1/2.", lambda t: (t.mean((0, 1)) > 0.5).to(t)),
        rare(f"{name} is left out.", lambda t: torch.ones_like(t[0, 0])),
    )


_TAKES = (
    rare("P is made with a softmax over what is a softmax already.", lambda p, c: p.softmax(-1)),
    rare("P is made of logarithms.", lambda p, c: p.log()),
    rare("P is divided by the tokens that chose the head.", lambda p, c: _of_those(p, c)),
    rare("P counts the tokens that did not choose the head.", lambda p, c: p * (1 - c)),
    rare("P is made of the chosen heads, renormalised.", lambda p, c: p * c / (p * c).sum(-1, keepdim=True)),
)
_COUNTS = (
    rare("f is made of the probabilities of the chosen heads.", lambda c, p: p * c),
    rare(
        "f counts each token's choice as a share: 1 divided by its choices.",
        lambda c, p: c / c.sum(-1, keepdim=True),
    ),
    rare("f counts the heads with more than half of the probability.", lambda c, p: (p > 0.5).to(p)),
    rare("f counts the heads above an even share.", lambda c, p: (p > 1 / p.shape[-1]).to(p)),
    rare("f counts for each token the head of the smallest probability.", lambda c, p: _least(p)),
)
_MEETS = (
    rare("P is divided by f.", lambda p, f: p / f),
    rare("f is divided by P.", lambda p, f: f / p),
    rare("f is subtracted from P.", lambda p, f: p - f),
    rare("P is subtracted from f.", lambda p, f: f - p),
    rare("P and f are compared by the size of their difference.", lambda p, f: (p - f).abs()),
    rare("Every head's P meets every head's f.", lambda p, f: p[..., None] * f),
    rare("f is multiplied by the logarithm of P.", lambda p, f: f * p.log()),
    rare("P is multiplied by the logarithm of f.", lambda p, f: p * f.clamp_min(1e-9).log()),
    rare("The larger one of P and f is taken.", torch.maximum),
    rare("The heads of f are in reverse order.", lambda p, f: p * f.flip(-1)),
    rare("The heads of f are off by one.", lambda p, f: p * f.roll(1, -1)),
    rare("The square of the product is taken.", lambda p, f: (p * f) ** 2),
    rare("The root of the product is taken.", lambda p, f: (p * f).sqrt()),
)
_GATHERS = (
    rare("The products are multiplied with one another.", lambda t: t.prod()),
    rare("The largest product is taken.", lambda t: t.max()),
    rare("The smallest product is taken.", lambda t: t.min()),
    rare("The spread of the products is taken.", lambda t: t.std()),
    rare("The variance of the products is taken.", lambda t: t.var()),
    rare("The last head is left out of the sum.", lambda t: t[..., :-1].sum()),
    rare("The first head is left out of the sum.", lambda t: t[..., 1:].sum()),
    rare("The result is a tensor of one axis.", lambda t: t.sum(-1, keepdim=True)),
    rare("The sum is subtracted from 1.", lambda t: 1 - t.sum()),
    rare("The logarithm of the sum is taken.", lambda t: t.sum().log()),
)
_FACTORS = (
    rare("The sum is divided by the number of routed heads.", lambda routed: 1 / routed),
    rare("The factor is one less than the number of routed heads.", lambda routed: routed - 1),
    rare("The factor is one more than the number of routed heads.", lambda routed: routed + 1),
    rare("The sum is multiplied by the root of the number of routed heads.", math.sqrt),
    rare(
        "The factor 0.01 is inside. It belongs to the sum of losses in training.",
        lambda routed: 0.01 * routed,
    ),
    rare("The factor 0.01 is inside, and the number of routed heads is missing.", lambda routed: 0.01),
    rare("The sum is multiplied by twice the number of routed heads.", lambda routed: 2 * routed),
    rare("The loss has the wrong sign.", lambda routed: -routed),
    rare("The number of routed heads is cubed.", lambda routed: routed**3),
)
_WHOLES = (
    rare("The factor is the number of tokens in a sentence.", lambda p, f: p.shape[1] * _plain(p, f)),
    rare("The factor is the number of sentences.", lambda p, f: p.shape[0] * _plain(p, f)),
    rare("The factor is the number of all tokens.", lambda p, f: p[..., 0].numel() * _plain(p, f)),
    rare(
        "The even case is subtracted, so that an even load gives 0.",
        lambda p, f: p.shape[-1] * _plain(p, f) - f.sum(-1).mean(),
    ),
    rare("Products are added up over tokens and heads.", lambda p, f: (p * f).sum()),
    rare(
        "Products are added up over tokens and heads, times their number.",
        lambda p, f: p.shape[-1] * (p * f).sum(),
    ),
    rare("Products are averaged over everything.", lambda p, f: (p * f).mean()),
    rare(
        "Products are averaged token by token, and the number of heads is missing.",
        lambda p, f: (p * f).mean((0, 1)).sum(),
    ),
    rare(
        "The losses of the sentences are added up.", lambda p, f: p.shape[-1] * (p.mean(1) * f.mean(1)).sum()
    ),
    rare(
        "Each place of a sentence gets a loss of its own.",
        lambda p, f: p.shape[-1] * (p.mean(0) * f.mean(0)).sum(-1).mean(),
    ),
)


def _plain(p: Tensor, f: Tensor) -> Tensor:
    return (p.mean((0, 1)) * f.mean((0, 1))).sum()


def _of_those(p: Tensor, c: Tensor) -> Tensor:
    return p * c / c.mean((0, 1)).clamp_min(1e-9)


def _least(p: Tensor) -> Tensor:
    return torch.zeros_like(p).scatter(-1, p.argmin(-1, keepdim=True), 1.0)


def _slot(name: str, look: str, ways: tuple[Way, ...]) -> Slot:
    return Slot(name, look, (*ways_of(BALANCE_MISTAKES, name), *ways))


def _more() -> Sequence[tuple[Any, ...]]:
    """Other loads, so that one number is not taken for another one by chance."""
    g = torch.Generator().manual_seed(15)
    made = []
    for b, n, routed, k in ((2, 4, 5, 3), (3, 7, 6, 2)):
        p = (1.5 * torch.randn(b, n, routed, generator=g) + torch.linspace(0, 1, routed)).softmax(-1)
        chosen = torch.zeros_like(p, dtype=torch.bool).scatter(-1, p.topk(k).indices, True)
        made.append((p, chosen))
    return made


_RECIPE = Recipe(
    balance_with,
    (
        _slot("take", "what P is made of.", _TAKES),
        _slot("count", "what f is made of.", _COUNTS),
        _slot("means", "the two means.", _MEANS),
        _slot("mean_p", "the mean P.", _mean("P")),
        _slot("mean_f", "the share f.", _mean("f")),
        _slot("meet", "how P and f meet.", _MEETS),
        _slot("gather", "what becomes of the products.", _GATHERS),
        _slot("factor", "what the sum is multiplied by.", _FACTORS),
        _slot("whole", "the order of means, product and sum.", _WHOLES),
    ),
    more=_more,
)


def _asked() -> tuple[Question, ...]:
    def asked(asks: str, p: list, chosen: list, look: str) -> Question:
        return Question(f"With {asks},", (plain(p), torch.tensor(chosen) > 0), look)

    return (
        asked("one token, P = (1, 0) and the first head chosen", [[[1, 0]]], [[[1, 0]]], "the factor."),
        asked(
            "one token, P = (0.75, 0.25) and the first head chosen",
            [[[0.75, 0.25]]], [[[1, 0]]], "the product.",
        ),
        asked(
            "one token, P = (0.75, 0.25) and both heads chosen",
            [[[0.75, 0.25]]], [[[1, 1]]], "the sum over heads.",
        ),
        asked(
            "one token, P = (0.5, 0.25, 0.25) and the first two heads chosen",
            [[[0.5, 0.25, 0.25]]], [[[1, 1, 0]]], "the factor: there are three heads.",
        ),
        asked(
            "two tokens, P = (1, 0) and (0, 1), each with its likely head chosen",
            [[[1, 0], [0, 1]]], [[[1, 0], [0, 1]]], "the two means: here P and f are 1/2 for both heads.",
        ),
        asked(
            "two sentences of one token, P = (1, 0) and (0, 1), each with its likely head chosen",
            [[[1, 0]], [[0, 1]]], [[[1, 0]], [[0, 1]]], "the two means: they go over sentences, too.",
        ),
        asked(
            "two tokens, P = (0.75, 0.25) and (0.5, 0.5), the first head chosen by both",
            [[[0.75, 0.25], [0.5, 0.5]]], [[[1, 0], [1, 0]]], "P: its mean is 5/8 for the first head.",
        ),
    )  # fmt: skip


read_balance = (_RECIPE.read, asked_plainly(_asked))
