"""Exercises of lesson 11, on many heads: how far two are apart, and whether a layer's heads are alike."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_divergence import DIVERGENCE_MISTAKES
from mha_course.exercises.mistakes.of_relabeling import RELABELING_MISTAKES
from mha_course.exercises.reading.divergence import DIVERGENCE
from mha_course.exercises.reading.never import never
from mha_course.exercises.reading.one_relabeling import read_one_relabeling
from mha_course.exercises.reading.relabeling import RELABELING


def jensen_shannon(p: Tensor, q: Tensor) -> Tensor:
    """Jensen-Shannon divergence of rows in nats: (..., n), (..., n) -> (...)."""
    m = (p + q) / 2
    # 0 log 0 counts as 0, which xlogy knows; m is 0 only where p and q are.
    of_p = torch.xlogy(p, p) - torch.xlogy(p, m)
    of_q = torch.xlogy(q, q) - torch.xlogy(q, m)
    return (of_p + of_q).sum(dim=-1) / 2


def permutation_p(distances: Tensor, layers: Tensor, orders: Tensor) -> Tensor:
    """Share of relabelings whose gap is at least the real one: (m, m), (m,), (r, m) -> one number."""
    # A head is no distance away from itself, which says nothing of its layer.
    other = ~torch.eye(len(layers), dtype=torch.bool)

    def gap(layer: Tensor) -> Tensor:
        same = layer[:, None] == layer
        return distances[~same].mean() - distances[same & other].mean()

    real = gap(layers)
    reached = [gap(layers[order]) >= real for order in orders]
    return torch.stack(reached).float().mean()


def _js_inputs(g: Generator) -> list[Case]:
    def case(label: str, *shape: int, zeros: float = 0.0, **options: object) -> Case:
        dtype = options.pop("dtype", torch.float32)
        rows = []
        for _ in range(2):
            scores = draw(g, *shape, spread=1.6, dtype=dtype)
            hidden = torch.rand(shape, generator=g) < zeros
            hidden[..., 1] = False  # each row keeps something
            rows.append(scores.masked_fill(hidden, float("-inf")).softmax(-1))
        names = ("h", "rows", "n")[-len(shape) :]
        return Case(label, tuple(rows), dict(zip(names, shape, strict=True)), **options)

    return [
        case("with five pairs of rows", 5, 6),
        case("with maps of several heads", 2, 4, 7),
        case("with zeros", 4, 8, zeros=0.45),
        case("with one pair of rows", 9, edge=True),
        case("in float64", 3, 4, zeros=0.3, dtype=torch.float64, required=False),
    ]


def drawn_orders(g: Generator, layers: Tensor, pairs: int) -> Tensor:
    """Orders of the heads, each with its inverse, so that moving heads and moving labels come to the same.

    The first changes nothing and the second swaps two heads of one layer: their gap is the real one.
    """
    m = len(layers)
    swapped = torch.arange(m)
    one, other = next((i, j) for i in range(m) for j in range(i + 1, m) if layers[i] == layers[j])
    swapped[[one, other]] = swapped[[other, one]]
    orders = [torch.arange(m), swapped]
    for _ in range(pairs):
        order = torch.randperm(m, generator=g)
        orders += [order, order.argsort()]
    return torch.stack(orders)


def drawn_distances(g: Generator, layers: Tensor, apart: int = 3) -> Tensor:
    """Distances in sixteenths, so that equal sums are equal to the last digit; larger between layers."""
    m = len(layers)
    sixteenths = torch.randint(2, 15, (m, m), generator=g).triu(1)
    sixteenths = sixteenths + apart * (layers[:, None] != layers).triu(1)
    return (sixteenths + sixteenths.T) / 16


def _permutation_inputs(g: Generator) -> list[Case]:
    def case(label: str, layers: list[int], pairs: int, apart: int, seed: int, **options: object) -> Case:
        # Seeds for which the ends, both ends together and the equals have shares of their own.
        drawn, dtype = torch.Generator().manual_seed(seed), options.pop("dtype", torch.float32)
        of = torch.tensor(layers)
        distances = drawn_distances(drawn, of, apart).to(dtype)
        orders = drawn_orders(drawn, of, pairs)
        sizes = {"m": len(layers), "r": len(orders)}
        return Case(label, (distances, of, orders), sizes, **options)

    return [
        case("with three layers", [0, 0, 1, 1, 2, 2, 2], 9, 1, 2),
        case("with heads in no order", [2, 1, 3, 1, 2, 3, 1, 2], 11, 1, 8),
        case("with two layers", [0, 1, 1, 0, 1, 0], 7, 0, 19),
        case("with heads of a layer far apart", [0, 0, 1, 1, 1, 2, 2, 3, 3], 12, -2, 23),
        case("in float64", [0, 0, 0, 1, 1], 8, 1, 16, dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="jensen_shannon",
        lesson="11",
        title="How far apart two heads are",
        prompt=(
            "`p` and `q` are `(..., n)`, each row sums to 1. With `m = (p + q) / 2` return half the sum of "
            "`p log(p / m)` plus half the sum of `q log(q / m)` for each pair of rows, `(...)`, in nats. A "
            "term whose p (or q) is 0 is 0. The largest value is `log 2`."
        ),
        signature="jensen_shannon(p, q) -> divergence",
        reference=jensen_shannon,
        inputs=_js_inputs,
        returns=(Returned("divergence", ("rows",)),),
        mistakes=DIVERGENCE_MISTAKES,
        hints=(
            "Both rows are compared with their middle m, and the two results are averaged.",
            "`log(p / m)` is `log p - log m`. `torch.xlogy(p, m)` is `p log m`, and 0 where p is.",
            (
                "m = (p + q) / 2\nof_p = sum of p log p - p log m\nof_q = sum of q log q - q log m\n"
                "(of_p + of_q) / 2"
            ),
        ),
        why=(
            "The middle is 0 only where both are, so it stays finite where p against q would not. It is the "
            "same both ways, which a distance between heads should be."
        ),
        special=never(
            Returned("divergence", ("rows",)),
            "Everything is 0, as if p and q were the same: the terms cancel, or the result is cut off.",
            "what is compared with what, and `//`.",
        ),
        readers=(DIVERGENCE.read,),
    ),
    Exercise(
        name="permutation_p",
        lesson="11",
        title="Alike by chance?",
        prompt=(
            "`distances` is `(m, m)` between m heads, `layers` is `(m,)`. Over pairs of two different heads, "
            "the gap is the mean distance between heads of different layers minus that between heads of the "
            "same layer. `orders` is `(r, m)`: in relabeling k, head i gets the layer of head "
            "`orders[k, i]`. Return the share of the r relabelings whose gap is at least the real one, one "
            "number."
        ),
        signature="permutation_p(distances, layers, orders) -> p",
        reference=permutation_p,
        inputs=_permutation_inputs,
        returns=(Returned("p", (), kind="share"),),
        mistakes=RELABELING_MISTAKES,
        hints=(
            "Write a function for the gap first. It takes the layer of each head, real or relabeled.",
            "`layers[:, None] == layers` says which pairs are of one layer. `layers[order]` relabels.",
            (
                "real = gap(layers)\nfor each order: does gap(layers[order]) reach real?\n"
                "share of the orders for which it does"
            ),
        ),
        why=(
            "If labels meant nothing, the real ones would be one relabeling among many. The share says how "
            "unusual they are, without any assumption about distances."
        ),
        readers=(RELABELING.read, read_one_relabeling),
    ),
)
