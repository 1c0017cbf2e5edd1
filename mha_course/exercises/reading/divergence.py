"""What wrong divergences hold: the middle, what is compared with what, halves, sums and what comes after."""

from __future__ import annotations

import functools
import math

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, kl_div

from mha_course.exercises.mistakes.of_divergence import DIVERGENCE_MISTAKES, apart, divergence_with
from mha_course.exercises.reading.divergence_letters import LETTERS
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare


def _geometric(p: Tensor, q: Tensor) -> Tensor:
    return (p * q).sqrt()


def _entropies(p: Tensor, q: Tensor, m: Tensor) -> tuple[Tensor, Tensor]:
    return -torch.xlogy(p, p), -torch.xlogy(q, q)


_MIDDLES = (
    Way(
        "p and q are compared with the root of p · q (or with each other, and halved twice). Their middle is "
        "(p + q) / 2.",
        _geometric,
    ),
    rare(
        "m is the root of p · q, made to sum to 1. It should be (p + q) / 2.",
        lambda p, q: _geometric(p, q) / _geometric(p, q).sum(-1, keepdim=True),
    ),
    Way("m is (p - q) / 2. It should be (p + q) / 2.", lambda p, q: (p - q) / 2),
    Way("m is p · q / 2. It should be (p + q) / 2.", lambda p, q: p * q / 2),
    rare("m is p · q. It should be (p + q) / 2.", lambda p, q: p * q),
    Way("m is p + q / 2: brackets are missing.", lambda p, q: p + q / 2),
    Way("m is p / 2 + q: brackets are missing.", lambda p, q: p / 2 + q),
    rare("m is 2 · (p + q). It should be (p + q) / 2.", lambda p, q: 2 * (p + q)),
    rare("m is (p + q) / 3. It should be (p + q) / 2.", lambda p, q: (p + q) / 3),
    rare("m is p / 2. It should be (p + q) / 2.", lambda p, q: p / 2),
    rare("m is q / 2. It should be (p + q) / 2.", lambda p, q: q / 2),
    Way("m is q. It should be (p + q) / 2.", lambda p, q: q),
    Way("m is p. It should be (p + q) / 2.", lambda p, q: p),
    rare(
        "m is the larger of both at each place. It should be (p + q) / 2.", lambda p, q: torch.maximum(p, q)
    ),
    rare(
        "m is the smaller of both at each place. It should be (p + q) / 2.", lambda p, q: torch.minimum(p, q)
    ),
    rare(
        "m is one number, the mean over all places. It should be (p + q) / 2.",
        lambda p, q: ((p + q) / 2).mean(-1, keepdim=True).expand_as(p),
    ),
    rare("m is 2. It should be (p + q) / 2.", lambda p, q: torch.full_like(p, 2.0)),
    rare("m is p + q, and that turned round: 2 / (p + q).", lambda p, q: 2 / (p + q)),
    rare("m is (p + q) // 2, which is 0.", lambda p, q: (p + q) // 2),
)
_TERMS = (
    Way(
        "Where p and q are both 0, p / m is 0 / 0, and that is NaN.",
        lambda p, q, m: (torch.xlogy(p, p / m), torch.xlogy(q, q / m)),
        "places where both are 0.",
    ),
    Way("p is compared with the middle twice.", lambda p, q, m: (apart(p, m), apart(p, m))),
    Way("q is compared with the middle twice.", lambda p, q, m: (apart(q, m), apart(q, m))),
    Way(
        "q stands under the logarithm where p should, and p where q should.",
        lambda p, q, m: (torch.xlogy(p, q) - torch.xlogy(p, m), torch.xlogy(q, p) - torch.xlogy(q, m)),
    ),
    Way(
        "p is weighted by q, and q by p.",
        lambda p, q, m: (torch.xlogy(q, p) - torch.xlogy(q, m), torch.xlogy(p, q) - torch.xlogy(p, m)),
    ),
    Way("The weights before the logarithms are missing.", lambda p, q, m: ((p / m).log(), (q / m).log())),
    Way("Only the entropies are there: the terms with m are missing.", _entropies),
    rare(
        "Only p log p and q log q are there: the terms with m are missing.",
        lambda p, q, m: (torch.xlogy(p, p), torch.xlogy(q, q)),
    ),
    rare("Only the terms with m are there.", lambda p, q, m: (torch.xlogy(p, m), torch.xlogy(q, m))),
    rare(
        "Only the terms with m are there, with a minus.",
        lambda p, q, m: (-torch.xlogy(p, m), -torch.xlogy(q, m)),
    ),
    rare(
        "The terms with m are added, not subtracted.",
        lambda p, q, m: (torch.xlogy(p, p) + torch.xlogy(p, m), torch.xlogy(q, q) + torch.xlogy(q, m)),
    ),
    rare(
        "The term of p with m is added, not subtracted.",
        lambda p, q, m: (torch.xlogy(p, p) + torch.xlogy(p, m), apart(q, m)),
    ),
    rare(
        "The term of q with m is added, not subtracted.",
        lambda p, q, m: (apart(p, m), torch.xlogy(q, q) + torch.xlogy(q, m)),
    ),
    rare(
        "The terms are multiplied, not subtracted.",
        lambda p, q, m: (torch.xlogy(p, p) * torch.xlogy(p, m), torch.xlogy(q, q) * torch.xlogy(q, m)),
    ),
    rare(
        "The terms of p are multiplied, not subtracted.",
        lambda p, q, m: (torch.xlogy(p, p) * torch.xlogy(p, m), apart(q, m)),
    ),
    rare(
        "The terms of q are multiplied, not subtracted.",
        lambda p, q, m: (apart(p, m), torch.xlogy(q, q) * torch.xlogy(q, m)),
    ),
    rare("p's part lacks its term with m.", lambda p, q, m: (torch.xlogy(p, p), apart(q, m))),
    rare("q's part lacks its term with m.", lambda p, q, m: (apart(p, m), torch.xlogy(q, q))),
    rare("p's part is its term with m alone.", lambda p, q, m: (torch.xlogy(p, m), apart(q, m))),
    rare("q's part is its term with m alone.", lambda p, q, m: (apart(p, m), torch.xlogy(q, m))),
    rare("p's part has the opposite sign.", lambda p, q, m: (-apart(p, m), apart(q, m))),
    rare("q's part has the opposite sign.", lambda p, q, m: (apart(p, m), -apart(q, m))),
    rare("Squared differences take the place of logarithms.", lambda p, q, m: ((p - q) ** 2, (p - q) ** 2)),
    rare(
        "Squared differences from the middle take the place of logarithms.",
        lambda p, q, m: ((p - m) ** 2, (q - m) ** 2),
    ),
    Way("Absolute differences take the place of logarithms.", lambda p, q, m: ((p - q).abs(), (p - q).abs())),
    rare(
        "Absolute differences from the middle take the place of logarithms.",
        lambda p, q, m: ((p - m).abs(), (q - m).abs()),
    ),
    rare("Plain differences take the place of logarithms.", lambda p, q, m: (p - q, p - q)),
    rare("The products of both are added up: that is how alike they are.", lambda p, q, m: (p * q, p * q)),
    rare(
        "The roots of p · q are added up: that is another measure.",
        lambda p, q, m: (_geometric(p, q), _geometric(p, q)),
    ),
    rare(
        "This is q against p; both should be compared with their middle m.",
        lambda p, q, m: (apart(q, p), apart(q, p)),
    ),
    rare("p is compared with m, and m with q.", lambda p, q, m: (apart(p, m), apart(m, q))),
    rare("m is compared with p, and q with m.", lambda p, q, m: (apart(m, p), apart(q, m))),
    rare(
        "Every term is weighted by m.",
        lambda p, q, m: (torch.xlogy(m, p) - torch.xlogy(m, m), torch.xlogy(m, q) - torch.xlogy(m, m)),
    ),
    rare(
        "1 is added under the logarithms: `log1p`.",
        lambda p, q, m: (p * (p / m).log1p(), q * (q / m).log1p()),
    ),
    rare("There is no logarithm.", lambda p, q, m: (p * p / m, q * q / m)),
    rare(
        "The two rows are softmaxed; they sum to 1 already.",
        lambda p, q, m: tuple(apart(x.softmax(-1), (p.softmax(-1) + q.softmax(-1)) / 2) for x in (p, q)),
    ),
    rare(
        "p's part compares p with q; m is the one to compare with.",
        lambda p, q, m: (apart(p, q), apart(q, m)),
    ),
    rare(
        "q's part compares q with p; m is the one to compare with.",
        lambda p, q, m: (apart(p, m), apart(q, p)),
    ),
    *LETTERS,
)
_ADDS = (
    rare("The terms are not added up: there is one number for each place.", lambda t: t),
    Way("The first axis is added up, not the last one.", lambda t: t.sum(0)),
    rare("The first axis is averaged, not the last one added up.", lambda t: t.mean(0)),
    rare("The largest term of each row is taken; a divergence is the sum.", lambda t: t.amax(-1)),
    rare("All terms are averaged to one number.", lambda t: t.mean()),
    rare("The last place is left out.", lambda t: t[..., :-1].sum(-1)),
    rare("The first place is left out.", lambda t: t[..., 1:].sum(-1)),
    Way("Every term is made positive: negative ones belong to the sum.", lambda t: t.abs().sum(-1)),
    rare("Negative terms are left out: they belong to the sum.", lambda t: t.clamp(min=0).sum(-1)),
    rare("The axis before the last is added up.", lambda t: t.sum(-2)),
    rare("The last axis stays as an axis of size 1.", lambda t: t.sum(-1, keepdim=True)),
)
_JOINS = (
    Way("Only q is compared with the middle. The mean with that of p is asked for.", lambda a, b: b),
    rare("Half of p's divergence is there, q's is missing.", lambda a, b: a / 2),
    rare("Half of q's divergence is there, p's is missing.", lambda a, b: b / 2),
    Way("The divergence of q is subtracted from that of p; it should be added.", lambda a, b: (a - b) / 2),
    rare("The divergence of q is subtracted from that of p; their mean is asked for.", lambda a, b: a - b),
    rare("The divergence of p is subtracted from that of q; it should be added.", lambda a, b: (b - a) / 2),
    Way("The two divergences are multiplied. Their mean is asked for.", lambda a, b: a * b),
    rare("The two divergences are multiplied and halved. Their mean is asked for.", lambda a, b: a * b / 2),
    rare("The larger of the two divergences is taken. Their mean is asked for.", torch.maximum),
    rare("The smaller of the two divergences is taken. Their mean is asked for.", torch.minimum),
    rare(
        "Only one of the two divergences is halved: a half in front of each is asked for.",
        lambda a, b: a / 2 + b,
    ),
    rare(
        "Only one of the two divergences is halved: a half in front of each is asked for.",
        lambda a, b: a + b / 2,
    ),
    rare("It is halved twice.", lambda a, b: (a + b) / 4),
    rare("It is doubled, not halved.", lambda a, b: (a + b) * 2),
    rare("The two are divided by 3.", lambda a, b: (a + b) / 3),
    rare(
        "The root of the product is taken. The mean is asked for.", lambda a, b: (a * b).clamp(min=0).sqrt()
    ),
)
_FINISHES = (
    rare("This is the base-10 logarithm's; nats are asked for.", lambda d: d / math.log(10)),
    Way("1 minus what is asked for.", lambda d: 1 - d),
    rare("log 2 minus what is asked for.", lambda d: math.log(2) - d),
    rare("This is the square root in bits.", lambda d: (d.clamp(min=0) / math.log(2)).sqrt()),
    Way("It has the opposite sign.", lambda d: -d),
    rare("It is multiplied by log 2.", lambda d: d * math.log(2)),
    rare("The result is rounded down (`//`).", lambda d: d // 1),
    rare("The exponential is taken at the end.", lambda d: d.exp()),
    rare("The divergences of all rows are added up. Each pair of rows has its own.", lambda d: d.sum()),
    rare("The divergences of the rows are averaged. Each pair of rows has its own.", lambda d: d.mean(-1)),
    rare("The divergences of the rows are added up. Each pair of rows has its own.", lambda d: d.sum(-1)),
    rare("The divergence is squared.", lambda d: d**2),
    rare("The first pair of rows stands for all.", lambda d: d[:1].expand_as(d)),
)


def _entropy(x: Tensor) -> Tensor:
    return -torch.xlogy(x, x).sum(-1)


def _raw(x: Tensor, y: Tensor) -> Tensor:
    return (x * (x.log() - y.log())).sum(-1)


def _kl(x: Tensor, y: Tensor) -> Tensor:
    """PyTorch's: y is compared with x."""
    return kl_div(x.log(), y, reduction="none").sum(-1)


def _unlike(p: Tensor, q: Tensor) -> Tensor:
    return 1 - cosine_similarity(p, q, dim=-1)


def _softmaxed(p: Tensor, q: Tensor) -> Tensor:
    m = ((p + q) / 2).softmax(-1)
    return (apart(p.softmax(-1), m).sum(-1) + apart(q.softmax(-1), m).sum(-1)) / 2


_P_Q = "This compares {} with {}, without a middle, and 0 gives NaN."
_WHOLES = (
    rare(_P_Q.format("p", "q"), _raw),
    rare(_P_Q.format("q", "p"), lambda p, q: _raw(q, p)),
    rare(_P_Q.format("q", "p"), lambda p, q: _kl(p, q)),
    rare(_P_Q.format("p", "q"), lambda p, q: _kl(q, p)),
    rare(_P_Q.format("p with q and q", "p"), lambda p, q: (_raw(p, q) + _raw(q, p)) / 2),
    rare(
        "`kl_div(x.log(), y)` compares y with x: m stands where p and q should.",
        lambda p, q: (_kl(p, (p + q) / 2) + _kl(q, (p + q) / 2)) / 2,
    ),
    rare(
        "The entropies of p and q are subtracted whole: half of each is asked for.",
        lambda p, q: _entropy((p + q) / 2) - _entropy(p) - _entropy(q),
    ),
    rare(
        "The entropy of p + q is taken: the half is missing in the middle.",
        lambda p, q: _entropy(p + q) - (_entropy(p) + _entropy(q)) / 2,
    ),
    rare(
        "The entropies are subtracted in the other order.",
        lambda p, q: (_entropy(p) + _entropy(q)) / 2 - _entropy((p + q) / 2),
    ),
    rare("This is the entropy of the middle alone.", lambda p, q: _entropy((p + q) / 2)),
    rare(
        "This is the distance of two points, the root of squared differences.",
        lambda p, q: ((p - q) ** 2).sum(-1).sqrt(),
    ),
    rare("This is 1 minus the cosine of p and q.", _unlike),
    rare("This is the cosine of p and q: how alike they are.", lambda p, q: 1 - _unlike(p, q)),
    rare("p, q and m are softmaxed; they sum to 1 already.", _softmaxed),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, Tensor], ...]:
    """Rows of other sizes, some with zeros."""
    g = torch.Generator().manual_seed(47)
    drawn = []
    for shape, zeros in (((7, 5), 0.0), ((3, 2, 9), 0.3), ((4, 6), 0.5)):
        rows = []
        for _ in range(2):
            hidden = torch.rand(shape, generator=g) < zeros
            hidden[..., 0] = False
            rows.append((2 * torch.randn(shape, generator=g)).masked_fill(hidden, float("-inf")).softmax(-1))
        drawn.append(tuple(rows))
    return tuple(drawn)


DIVERGENCE = Recipe(
    divergence_with,
    (
        Slot("middle", "how `m` is made.", (*ways_of(DIVERGENCE_MISTAKES, "middle"), *_MIDDLES)),
        Slot("join", "how the two halves are joined.", (*ways_of(DIVERGENCE_MISTAKES, "join"), *_JOINS)),
        Slot("terms", "what is compared with what.", (*ways_of(DIVERGENCE_MISTAKES, "terms"), *_TERMS)),
        Slot("add", "the sum along a row.", (*ways_of(DIVERGENCE_MISTAKES, "add"), *_ADDS)),
        Slot("finish", "the last step.", (*ways_of(DIVERGENCE_MISTAKES, "finish"), *_FINISHES)),
        Slot("whole", "the formula: what is compared with what.", _WHOLES),
    ),
    _more,
)
