"""Exercises of lesson 15 on mixtures of heads: the two-stage gates, and the load-balance loss."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_balance import BALANCE_MISTAKES
from mha_course.exercises.mistakes.of_two_stage_gates import GATES_MISTAKES
from mha_course.exercises.reading.balance import read_balance
from mha_course.exercises.reading.two_stage_gates import read_gates


def two_stage_gates(x: Tensor, w_shared: Tensor, w_routed: Tensor, w_types: Tensor, k: int) -> Tensor:
    """The paper's gates of a mixture of heads: (b, n, shared + routed)."""
    types = (x @ w_types).softmax(dim=-1)
    of_shared = (x @ w_shared).softmax(dim=-1)
    of_routed = (x @ w_routed).softmax(dim=-1)
    largest = of_routed.topk(k).indices
    # Kept heads keep the weight that they have among all routed ones, so that the router gets a gradient.
    kept = torch.zeros_like(of_routed).scatter(-1, largest, of_routed.gather(-1, largest))
    return torch.cat((types[..., :1] * of_shared, types[..., 1:] * kept), dim=-1)


def balance_loss(probabilities: Tensor, chosen: Tensor) -> Tensor:
    """The load-balance loss of a mixture of heads, scaled as in the authors' code: one number."""
    p = probabilities.mean(dim=(0, 1))
    f = chosen.to(probabilities.dtype).mean(dim=(0, 1))
    # Means come first: what counts is how much a head is used in all, not by which token.
    return probabilities.shape[-1] * (p * f).sum()


def drawn_routers(
    g: Generator, d_model: int, *widths: int, dtype: torch.dtype = torch.float32
) -> list[Tensor]:
    """Routers whose softmaxes are neither even nor all in one place."""
    return [draw(g, d_model, width, spread=1.2 * d_model**-0.5, dtype=dtype) for width in widths]


def drawn_load(
    g: Generator, b: int, n: int, routed: int, k: int, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor]:
    """A router's probabilities with favourites, and each token's k choices; one of three is another head."""
    scores = 1.2 * draw(g, b, n, routed, dtype=dtype) + torch.linspace(0, 1.5, routed, dtype=dtype)
    # Choices that don't follow from the probabilities alone: both arguments matter.
    picked = (scores + 0.8 * draw(g, b, n, routed, dtype=dtype)).topk(k).indices
    chosen = torch.zeros(b, n, routed, dtype=torch.bool).scatter(-1, picked, True)
    return scores.softmax(-1), chosen


def _gates_inputs(g: Generator) -> list[Case]:
    def case(
        label: str, b: int, n: int, d_model: int, shared: int, routed: int, k: int, **options: object
    ) -> Case:
        dtype = options.pop("dtype", torch.float32)
        x = draw(g, b, n, d_model, dtype=dtype)
        routers = drawn_routers(g, d_model, shared, routed, 2, dtype=dtype)
        sizes = {"b": b, "n": n, "d_model": d_model, "shared": shared, "routed": routed, "k": k, "types": 2}
        if k == routed:
            del sizes["k"]
        return Case(label, (x, *routers, k), sizes, **options)

    return [
        case("with three of eight routed heads", 6, 5, 9, 4, 8, 3),
        case("with four of six routed heads", 5, 7, 10, 3, 6, 4),
        case("with one routed head chosen", 4, 6, 11, 3, 5, 1),
        case("with one shared head", 3, 6, 8, 1, 7, 4),
        case("with all routed heads chosen", 4, 7, 6, 3, 5, 5, edge=True),
        case("in float64", 3, 5, 9, 4, 7, 6, dtype=torch.float64, required=False),
    ]


def _balance_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, n: int, routed: int, k: int, **options: object) -> Case:
        load = drawn_load(g, b, n, routed, k, options.pop("dtype", torch.float32))
        return Case(label, load, {"b": b, "n": n, "routed": routed, "k": k}, **options)

    return [
        case("with three of six routed heads", 4, 7, 6, 3),
        case("with two of five routed heads", 3, 8, 5, 2),
        case("with one chosen head", 5, 3, 4, 1),
        case("in float64", 2, 6, 7, 4, dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="two_stage_gates",
        lesson="15",
        title="Gates in two stages",
        prompt=(
            "The gates of a mixture of heads, as the paper has them. `x` is `(b, n, d_model)`; three routers "
            "multiply from the right: `w_shared` `(d_model, shared)`, `w_routed` `(d_model, routed)` and "
            "`w_types` `(d_model, 2)`. Every token weighs the two types by a softmax, the shared heads by a "
            "second one and the routed heads by a third. Of the routed heads each token keeps the `k` with "
            "the largest weights; the others get 0, and nothing is renormalised. A head's gate is its weight "
            "times that of its type, shared first in `w_types`. Return the gates `(b, n, shared + routed)`, "
            "shared heads first."
        ),
        signature="two_stage_gates(x, w_shared, w_routed, w_types, k) -> gates",
        reference=two_stage_gates,
        inputs=_gates_inputs,
        returns=(Returned("gates", ("b", "n", "shared + routed")),),
        mistakes=GATES_MISTAKES,
        hints=(
            "Three softmaxes first, each over the heads (or types) of its own router. Then the choice.",
            "`topk` gives places as well as values. How do the kept values get back to their places?",
            (
                "types (b, n, 2), of_shared (b, n, shared), of_routed (b, n, routed): three softmaxes\n"
                "places of the k largest in of_routed: (b, n, k)\n"
                "kept = zeros, with the weights written to these places\n"
                "each kind times its column of types, side by side along the heads"
            ),
        ),
        why=(
            "The softmax sees all routed heads, and the choice comes after it: so the weights of a token's "
            "gates sum to at most 1, and the router learns from every weight that is kept."
        ),
        readers=read_gates,
    ),
    Exercise(
        name="balance_loss",
        lesson="15",
        title="Heads evenly used",
        prompt=(
            "`probabilities` and `chosen` are `(b, n, routed)`: the router's softmax over the routed heads, "
            "and, as True or False, which heads each token chose. P is the mean probability of a head over "
            "all tokens of all sentences, f the share of these tokens that chose it. The load-balance loss, "
            "scaled as in the authors' code, is `routed` times the sum over heads of P f. Return that one "
            "number, as a tensor."
        ),
        signature="balance_loss(probabilities, chosen) -> loss",
        reference=balance_loss,
        inputs=_balance_inputs,
        returns=(Returned("loss", ()),),
        mistakes=BALANCE_MISTAKES,
        hints=(
            "P and f have one number for each head. Over which axes do they average?",
            "True and False can be averaged once they are numbers. A mean can go over two axes at once.",
            (
                "p = mean of the probabilities over sentences and tokens: (routed,)\n"
                "f = mean of the choices, as numbers, over the same: (routed,)\n"
                "number of routed heads times the sum of the products"
            ),
        ),
        why=(
            "Where every head is used alike this is the number of chosen heads, and it grows as the load "
            "gathers on a few. Choices have no slope: the router learns through P, weighed by f."
        ),
        readers=read_balance,
    ),
)
