"""What wrong composition matrices are: which branch, gate or side was done otherwise."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_composition import COMPOSITION_MISTAKES, composed_with, identity
from mha_course.exercises.reading.asked_plainly import Question, asked_plainly, plain
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_FIRSTS = (
    rare("The first factors go through a softmax over heads.", lambda w: w.softmax(1)),
    rare("The first factors go through a tanh.", torch.tanh),
    rare("The first factors go through a ReLU.", lambda w: w.relu()),
    rare(
        "The first factors are divided by their length over heads.", lambda w: w / w.norm(dim=1, keepdim=True)
    ),
    rare("The branches of the first factors are in reverse order.", lambda w: w.flip(2)),
)
_PRODUCTS = (
    rare("Of the branches only the last one takes part.", lambda a, b: a[:, :, -1:] @ b[:, -1:]),
    rare("The low-rank products are divided by the number of branches.", lambda a, b: a @ b / a.shape[-1]),
    rare("The low-rank products have the wrong sign.", lambda a, b: -(a @ b)),
    rare(
        "The low-rank products keep their diagonal alone.", lambda a, b: torch.diag_embed((a * b.mT).sum(-1))
    ),
    rare(
        "The factors are added, not multiplied.",
        lambda a, b: (a + b.mT).sum(-1, keepdim=True).expand(-1, -1, a.shape[1]),
    ),
    rare("The low-rank products are multiplied by the number of branches.", lambda a, b: a @ b * a.shape[-1]),
    rare("The first factor is used twice.", lambda a, b: a @ a.mT),
    rare("The second factor is used twice.", lambda a, b: b.mT @ b),
    rare(
        "The low-rank products are divided by the root of the branches.",
        lambda a, b: a @ b / a.shape[-1] ** 0.5,
    ),
)
_SQUASHES = (
    rare("The gates go through a sigmoid.", torch.sigmoid),
    rare("The gates are subtracted.", lambda g: -g),
    rare("1 is added to the gates.", lambda g: 1 + g),
    rare("The gates go through a softmax.", lambda g: g.softmax(-1)),
    rare("The heads of the gates are in reverse order.", lambda g: g.flip(-1)),
)
_GATES = (
    rare("One gate stands for the whole matrix: their sum.", lambda g: g.sum(-1)[:, None, None]),
    rare(
        "Gates are multiplied with one another, every head with every head.",
        lambda g: g[:, :, None] * g[:, None],
    ),
    rare("Gates stand on the other diagonal.", lambda g: torch.diag_embed(g).flip(-1)),
    rare(
        "The mean of the gates stands on the diagonal.",
        lambda g: torch.diag_embed(g.mean(-1, keepdim=True).expand_as(g)),
    ),
)
_SIDES = (
    rare("The gates are multiplied with the product entry by entry.", lambda p, g: p * g),
    rare("The product is multiplied by the gates from the right.", lambda p, g: p @ g),
    rare("The product is multiplied by 1 plus the gates.", lambda p, g: p + g @ p),
)
_BASES = (
    rare("The static matrix is transposed.", lambda w: w.mT),
    rare("The identity is subtracted.", lambda w: w - identity(w)),
    rare("The static matrix keeps its diagonal alone.", lambda w: torch.diag(w.diagonal())),
    rare("The static matrix has the wrong sign.", lambda w: -w),
    rare("The static matrix is filled with ones.", torch.ones_like),
)


def _one_side(name: str) -> tuple[Way, ...]:
    return (
        rare(f"The {name} side is transposed.", lambda w: w.mT),
        rare(f"The {name} side has the wrong sign.", lambda w: -w),
        rare(f"The {name} side is the same for all: that of the first token.", lambda w: w[:1].expand_as(w)),
        rare(f"The {name} side is the same for all: that of the last token.", lambda w: w[-1:].expand_as(w)),
        rare(f"The {name} side is the same for all: the mean.", lambda w: w.mean(0, True).expand_as(w)),
        rare(f"The {name} side is the same for all: the sum.", lambda w: w.sum(0, True).expand_as(w)),
        rare(f"The tokens of the {name} side are in reverse order.", lambda w: w.flip(0)),
        rare(f"The {name} side is there twice.", lambda w: 2 * w),
    )


_MEETS = (
    rare("The two sides are multiplied entry by entry.", lambda b, q, k: b + q[:, None] * k[None]),
    rare("The key's side is subtracted.", lambda b, q, k: b + q[:, None] - k[None]),
    rare("The sides are multiplied, the key's from the left.", lambda b, q, k: b + k[None] @ q[:, None]),
    rare(
        "The static matrix meets the rest entry by entry, as a factor.",
        lambda b, q, k: b * (q[:, None] + k[None]),
    ),
    rare(
        "The static matrix multiplies the dynamic part from the right.",
        lambda b, q, k: (q[:, None] + k[None]) @ b,
    ),
    rare(
        "The static matrix multiplies 1 plus the dynamic part.",
        lambda b, q, k: b + b @ (q[:, None] + k[None]),
    ),
    rare("The static matrix is subtracted.", lambda b, q, k: q[:, None] + k[None] - b),
    rare("All three are multiplied.", lambda b, q, k: q[:, None] @ b @ k[None]),
)
_FINISHES = (
    rare("Every matrix is transposed.", lambda w: w.mT),
    rare("Every matrix goes through a softmax.", lambda w: w.softmax(-1)),
    rare("Every column is divided by its sum.", lambda w: w / w.sum(-2, keepdim=True)),
    rare("The heads stand in the first two axes.", lambda w: w.permute(2, 3, 0, 1)),
    rare("Queries and keys have changed places.", lambda w: w.transpose(0, 1)),
    rare("The matrices are averaged over the keys.", lambda w: w.mean(1)),
    rare("The matrices are averaged over the queries.", lambda w: w.mean(0)),
    rare("The matrices are added up over the keys.", lambda w: w.sum(1)),
    rare("The matrices are averaged over all pairs.", lambda w: w.mean((0, 1))),
    rare("Only the first key's matrices come back.", lambda w: w[:, 0]),
    rare("Only the last key's matrices come back.", lambda w: w[:, -1]),
    rare("Old and new heads stand in one axis.", lambda w: w.flatten(2)),
)
_WHOLES = (
    rare(
        "The second factors have changed sides.",
        lambda b, q1, q2, gq, k1, k2, gk: composed_with(b, q1, k2[: len(q1)], gq, k1, q2[: len(k1)], gk),
    ),
    rare(
        "The query's factor meets the key's.",
        lambda b, q1, q2, gq, k1, k2, gk: _crossed(b, q1, q2, gq, k1, k2, gk),
    ),
    rare(
        "Gates are added at their pair: one number for each head, in every entry.", lambda *w: _everywhere(*w)
    ),
)


def _crossed(b: Tensor, q1: Tensor, q2: Tensor, gq: Tensor, k1: Tensor, k2: Tensor, gk: Tensor) -> Tensor:
    gates = torch.diag_embed(gq)[:, None] + torch.diag_embed(gk)[None]
    return b + q1[:, None] @ k2[None] + gates


def _everywhere(b: Tensor, q1: Tensor, q2: Tensor, gq: Tensor, k1: Tensor, k2: Tensor, gk: Tensor) -> Tensor:
    return b + (q1 @ q2)[:, None] + (k1 @ k2)[None] + (gq[:, None] + gk[None])[..., None, :]


def _slot(name: str, look: str, ways: tuple[Way, ...]) -> Slot:
    return Slot(name, look, (*ways_of(COMPOSITION_MISTAKES, name), *ways))


_RECIPE = Recipe(
    composed_with,
    (
        _slot("first", "what is done with the first factors.", _FIRSTS),
        _slot("product", "the low-rank products.", _PRODUCTS),
        _slot("squash", "what is done with the gates.", _SQUASHES),
        _slot("gate", "where the gates stand in a matrix.", _GATES),
        _slot("side", "how gates and product meet.", _SIDES),
        _slot("base", "the static matrix.", _BASES),
        _slot("query", "the query's side.", _one_side("query's")),
        _slot("key", "the key's side.", _one_side("key's")),
        _slot("meet", "how the parts meet.", _MEETS),
        _slot("finish", "the last step.", _FINISHES),
        _slot("whole", "which factors belong together.", _WHOLES),
    ),
)


def _asked() -> tuple[Question, ...]:
    zero = [[0, 0], [0, 0]]

    def side(w_1: list | None = None, w_2: list | None = None, g: list | None = None) -> tuple[Tensor, ...]:
        return plain([w_1 or [[0], [0]]]), plain([w_2 or [[0, 0]]]), plain([g or [0, 0]])

    def asked(asks: str, w_b: list, query: tuple, key: tuple, look: str) -> Question:
        given = (plain(w_b), *query, *key)
        return Question(f"With two heads, one query and one key, {asks},", given, look, lambda w: w[0, 0])

    none = side()
    return (
        asked("W_b = ((1, 2), (3, 4)) and the rest 0", [[1, 2], [3, 4]], none, none, "the static matrix."),
        asked("`g_q` = (5, 6) and the rest 0", zero, side(g=[5, 6]), none, "the query's gates."),
        asked("`g_k` = (5, 6) and the rest 0", zero, none, side(g=[5, 6]), "the key's gates."),
        asked(
            "`w_q1` = (1, 2), `w_q2` = (3, 4) and the rest 0",
            zero, side([[1], [2]], [[3, 4]]), none, "the query's low-rank product.",
        ),
        asked(
            "`w_k1` = (1, 2), `w_k2` = (3, 4) and the rest 0",
            zero, none, side([[1], [2]], [[3, 4]]), "the key's low-rank product.",
        ),
        asked(
            "two branches of the query, ((1, 0), (0, 2)) and ((3, 4), (5, 6)), and the rest 0",
            zero, side([[1, 0], [0, 2]], [[3, 4], [5, 6]]), side(zero, zero), "the sum over branches.",
        ),
        asked(
            "two branches of the key, ((1, 0), (0, -2)) and ((3, 4), (5, 6)), and the rest 0",
            zero, side(zero, zero), side([[1, 0], [0, -2]], [[3, 4], [5, 6]]), "the key's sum over branches.",
        ),
        asked(
            "`w_q1` = (-1, 2), `w_q2` = (3, -4) and the rest 0",
            zero, side([[-1], [2]], [[3, -4]]), none, "the signs of the query's low-rank product.",
        ),
        asked(
            "W_b all 1, `g_q` = (10, 20), `g_k` = (100, 200) and no products",
            [[1, 1], [1, 1]], side(g=[10, 20]), side(g=[100, 200]), "how the parts meet: they add up.",
        ),
    )  # fmt: skip


read_composition = (_RECIPE.read, asked_plainly(_asked))
