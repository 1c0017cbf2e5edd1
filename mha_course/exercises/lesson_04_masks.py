"""Exercises of lesson 04: causal and padding masks, and rows that may attend to nothing."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Mistake, Returned, draw
from mha_course.exercises.wrong_attention import attend_with

NEG_INF = float("-inf")


def causal_mask(n: int) -> Tensor:
    """Each token may attend to itself and to what came before: (n, n) bool, True = may attend."""
    position = torch.arange(n)
    return position[None, :] <= position[:, None]  # key along, query down


def padding_mask(lengths: Tensor, n: int) -> Tensor:
    """Real tokens of sentences filled up to n: (b, 1, 1, n) bool, True = a real token."""
    real = torch.arange(n)[None, :] < torch.as_tensor(lengths)[:, None]
    return real[:, None, None, :]  # the two 1s stand for every head and every query


def empty_rows(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Attention in which a query that may attend to nothing gets zero weights and zero output."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    empty = ~mask.any(dim=-1, keepdim=True)
    # A row of nothing but -inf would give 0/0 = NaN: let such rows through, then set them to 0.
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    weights = torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)
    return weights @ v, weights


def _causal_inputs(g: Generator) -> list[Case]:
    sizes = {5: "for five tokens", 8: "for eight tokens", 1: "for one token"}
    return [Case(label, (n,), {"n": n}) for n, label in sizes.items()]


def _padding_inputs(g: Generator) -> list[Case]:
    first, second, empty = [4, 2, 5], [1, 6], [3, 0]
    return [
        Case("for lengths in a tensor", (torch.tensor(first), 7), {"b": 3, "n": 7}),
        Case("for lengths in a tensor", (torch.tensor(second), 6), {"b": 2, "n": 6}),
        Case("for lengths in a list", (first, 7), {"b": 3, "n": 7}),
        Case("for lengths in a list", (second, 6), {"b": 2, "n": 6}),
        Case("with an empty sentence", (torch.tensor(empty), 5), {"b": 2, "n": 5}, required=False),
    ]


_BY_RANK = ("with a head axis", "without a head axis")


def _empty_inputs(g: Generator) -> list[Case]:
    """Some rows see nothing, some one key, some a few, some everything."""

    def case(
        label: str, lead: tuple[int, ...], n_q: int, n_k: int, d_k: int, d_v: int, **options: object
    ) -> Case:
        dtype = torch.float64 if label == "in float64" else torch.float32
        tensors = [draw(g, *lead, *shape, dtype=dtype) for shape in ((n_q, d_k), (n_k, d_k), (n_k, d_v))]
        mask = torch.rand(n_q, n_k, generator=g) < 0.5
        mask[0], mask[1], mask[-1] = False, True, False
        mask[2, 0], mask[2, 1] = True, False
        sizes = dict(zip(("b", "h"), lead, strict=False)) | {"n_q": n_q, "n_k": n_k, "d_k": d_k, "d_v": d_v}
        return Case(label, (*tensors, mask), sizes, **options)

    return [
        case("with a head axis", (2, 3), 5, 7, 4, 6),
        case("with a head axis", (3, 2), 7, 5, 8, 4),
        case("without a head axis", (3,), 5, 7, 4, 6),
        case("in float64", (2, 3), 5, 7, 4, 6, required=False),
    ]


def _lower(n: int, diagonal: int = 0) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril(diagonal)


CAUSAL_MISTAKES = (
    Mistake(
        "polarity",
        lambda n: ~_lower(n),
        (
            "True and False have changed places: True = may attend, and a token may attend to itself and "
            "the past."
        ),
        "what True means; `nn.MultiheadAttention` has it the other way round.",
    ),
    Mistake(
        "future-for-past",
        lambda n: _lower(n).T,
        "The upper triangle is open: tokens see themselves and the *future*. (Query down, key along.)",
        "`tril` and `triu`, or which of the two positions must be the smaller one.",
    ),
    Mistake(
        "self-hidden",
        lambda n: _lower(n, -1),
        "The diagonal is hidden: a token can't see itself, and the first one sees nothing.",
        "`<` and `<=`, or the diagonal of the triangle.",
    ),
    Mistake(
        "one-ahead",
        lambda n: _lower(n, 1),
        "Each token sees one token of the future.",
        "the diagonal of the triangle: off by one.",
    ),
    Mistake(
        "self-hidden-opposite",
        lambda n: ~_lower(n, 1),
        "Only what lies at least two tokens ahead is open.",
        "what True means, and the diagonal.",
    ),
    Mistake(
        "everything-open",
        lambda n: torch.ones(n, n, dtype=torch.bool),
        "Everything is open: tokens see the future.",
        "the condition that closes the future.",
    ),
    Mistake(
        "only-itself",
        lambda n: torch.eye(n, dtype=torch.bool),
        "A token sees itself alone.",
        "`==`, or `eye`.",
    ),
    Mistake(
        "other-diagonal",
        lambda n: _lower(n).flip(1),
        "The triangle leans on the other diagonal.",
        "a flip, or a sum of positions where they should be compared.",
    ),
    Mistake(
        "numbers-for-booleans",
        lambda n: torch.ones(n, n).tril(),
        (
            "The pattern is right, in numbers 1 and 0. A mask is boolean here, so that it can't be added by "
            "mistake."
        ),
        "the dtype of what you return.",
    ),
    Mistake(
        "added-mask",
        lambda n: torch.zeros(n, n).masked_fill(~_lower(n), NEG_INF),
        "This is a mask to be *added* to the scores, 0 and -inf. Here it is boolean, True = may attend.",
        "the dtype of what you return.",
    ),
    Mistake(
        "blocked-numbers",
        lambda n: torch.ones(n, n).triu(1),
        "These are numbers, 1 = blocked. Here a mask is boolean, True = may attend.",
        "the dtype, and what True means.",
    ),
    Mistake(
        "large-negative-numbers",
        lambda n: torch.zeros(n, n).masked_fill(~_lower(n), -1e9),
        "This is a mask to be *added* to the scores, 0 and -1e9. Here it is boolean, True = may attend.",
        "the dtype of what you return.",
    ),
    Mistake(
        "with-head-axes",
        lambda n: _lower(n)[None, None],
        (
            "The pattern is right, with axes for sentences and heads in front. `(n, n)` is wanted; it "
            "broadcasts by itself."
        ),
        "the shape of what you return.",
    ),
    Mistake(
        "one-row-too-many",
        lambda n: _lower(n + 1),
        "The mask has a row and a column too many.",
        "the size: off by one.",
    ),
    Mistake(
        "fixed-window",
        lambda n: _lower(n) & ~_lower(n, -3),
        "Only the last three tokens are open. The whole past should be.",
        "the lower limit.",
    ),
)


def _real(lengths: object, n: int, shift: int = 0) -> Tensor:
    return torch.arange(n)[None, :] < torch.as_tensor(lengths)[:, None] + shift


def _four(mask: Tensor) -> Tensor:
    return mask[:, None, None, :]


PADDING_MISTAKES = (
    Mistake(
        "polarity",
        lambda lengths, n: _four(~_real(lengths, n)),
        "True stands on the padding. True = may attend, so it belongs on the real tokens.",
        "what True means; `nn.MultiheadAttention` has it the other way round.",
    ),
    Mistake(
        "one-too-many",
        lambda lengths, n: _four(_real(lengths, n, 1)),
        "One token too many is open: the first piece of padding.",
        "`<` and `<=`: positions count from 0.",
    ),
    Mistake(
        "one-too-few",
        lambda lengths, n: _four(_real(lengths, n, -1)),
        "The last real token is hidden.",
        "`<` and `<=`: positions count from 0.",
    ),
    Mistake(
        "padding-in-front",
        lambda lengths, n: _four(_real(lengths, n)).flip(-1),
        "The open places are the last ones. Here the padding stands behind the sentence.",
        "from which end positions are counted.",
    ),
    Mistake(
        "without-the-middle-axes",
        lambda lengths, n: _real(lengths, n),
        (
            "The pattern is right, of shape `(b, n)`. Against scores `(b, h, n, n)` it would be read as "
            "(query, key): two axes are missing."
        ),
        "the shape `(b, 1, 1, n)`.",
    ),
    Mistake(
        "one-axis-missing",
        lambda lengths, n: _real(lengths, n)[:, None, :],
        (
            "The pattern is right; one axis is missing. `(b, 1, n)` meets `(b, h, n, n)` from the right, so "
            "b would meet h."
        ),
        "the shape `(b, 1, 1, n)`.",
    ),
    Mistake(
        "hides-queries",
        lambda lengths, n: _real(lengths, n)[:, None, :, None],
        (
            "The queries of the padding are hidden, `(b, 1, n, 1)`, not its keys. Then rows are empty, and "
            "everyone still looks at padding."
        ),
        "which of the last two axes holds the keys.",
    ),
    Mistake(
        "axes-in-front",
        lambda lengths, n: _real(lengths, n)[None, None],
        "The two axes of size 1 stand in front, `(1, 1, b, n)`.",
        "where the new axes go.",
    ),
    Mistake(
        "axes-behind",
        lambda lengths, n: _real(lengths, n)[:, :, None, None],
        "The two axes of size 1 stand behind, `(b, n, 1, 1)`.",
        "where the new axes go.",
    ),
    Mistake(
        "rows-and-columns",
        lambda lengths, n: _four(_real(lengths, n)) & _real(lengths, n)[:, None, :, None],
        (
            "Rows of the padding are hidden as well, so they have nothing to attend to. Hiding its *keys* "
            "is enough; the loss leaves out its rows."
        ),
        "the shape `(b, 1, 1, n)`.",
    ),
    Mistake(
        "written-out",
        lambda lengths, n: _four(_real(lengths, n)).expand(-1, 1, n, n),
        "The pattern is right, written out for every query. A 1 there broadcasts by itself.",
        "the shape `(b, 1, 1, n)`.",
    ),
    Mistake(
        "numbers-for-booleans",
        lambda lengths, n: _four(_real(lengths, n).float()),
        "The pattern is right, in numbers. A mask is boolean here, so that it can't be added by mistake.",
        "the dtype of what you return.",
    ),
    Mistake(
        "added-mask",
        lambda lengths, n: torch.zeros(len(lengths), 1, 1, n).masked_fill(~_four(_real(lengths, n)), NEG_INF),
        "This is a mask to be *added* to the scores, 0 and -inf. Here it is boolean, True = may attend.",
        "the dtype of what you return.",
    ),
    Mistake(
        "only-the-last-token",
        lambda lengths, n: _four(torch.arange(n)[None, :] == torch.as_tensor(lengths)[:, None] - 1),
        "Only the last real token is open.",
        "`==`.",
    ),
    Mistake(
        "everything-open",
        lambda lengths, n: torch.ones(len(lengths), 1, 1, n, dtype=torch.bool),
        "Everything is open, the padding as well.",
        "where `lengths` takes part.",
    ),
    Mistake(
        "longest-for-all",
        lambda lengths, n: _four(
            (torch.arange(n) < max(int(i) for i in lengths))[None].expand(len(lengths), -1)
        ),
        "Every sentence gets the length of the longest one.",
        "where `lengths` takes part.",
    ),
    Mistake(
        "cut-to-the-longest",
        lambda lengths, n: _four(_real(lengths, max(int(i) for i in lengths))),
        "The mask is as long as the longest sentence. The batch is filled up to n = {n}.",
        "the last axis.",
    ),
)


def _masked(s: Tensor, m: Tensor) -> Tensor:
    return s.masked_fill(~m, NEG_INF)


def _nan_to(value: float):
    return {"hide_late": lambda w, m: w.nan_to_num(value)}


def _zero_weights_only(q, k, v, mask):
    output, weights = attend_with(q, k, v, mask)
    return output, weights.nan_to_num(0.0)


def _zero_output_only(q, k, v, mask):
    output, weights = attend_with(q, k, v, mask)
    return output.nan_to_num(0.0), weights


def _uniform_weights_zero_output(q, k, v, mask):
    output, weights = attend_with(q, k, v, mask, hide=lambda s, m: s.masked_fill(~m, -1e9))
    return output.masked_fill(~mask.any(-1, keepdim=True), 0.0), weights


def _late(mask_to: object) -> dict[str, object]:
    return {"hide": lambda s, m: s, "hide_late": mask_to}


def _only_full_rows(s: Tensor, m: Tensor) -> Tensor:
    return s


EMPTY_MISTAKES = (
    Mistake(
        "empty-rows-nan",
        partial(attend_with),
        (
            "Rows with nothing to attend to are NaN: a softmax of nothing but -inf is 0/0. One such row "
            "poisons everything behind it."
        ),
        "rows of the mask without a single True.",
    ),
    Mistake(
        "empty-rows-uniform",
        partial(attend_with, hide=lambda s, m: s.masked_fill(~m, -1e9)),
        (
            "Rows with nothing to attend to get equal weights: with -1e9 everywhere the differences drown, "
            "and the row looks at exactly what was hidden."
        ),
        "rows of the mask without a single True, after the softmax.",
    ),
    Mistake(
        "empty-rows-attend-freely",
        partial(attend_with, hide=lambda s, m: s.masked_fill(~(m | ~m.any(-1, keepdim=True)), NEG_INF)),
        (
            "Rows with nothing to attend to look at everything. Letting them through the softmax is fine; "
            "then they have to become 0."
        ),
        "what happens to such rows after the softmax.",
    ),
    Mistake(
        "empty-rows-look-at-the-first",
        partial(
            attend_with,
            hide=lambda s, m: _masked(s, m | (~m.any(-1, keepdim=True) & (torch.arange(m.shape[-1]) == 0))),
        ),
        "Rows with nothing to attend to look at the first key.",
        "what such rows should give: zeros.",
    ),
    Mistake(
        "empty-rows-nan-to-one",
        partial(attend_with, **_nan_to(1.0)),
        "NaN is replaced by 1, so such rows add up all values.",
        "what NaN is replaced by.",
    ),
    Mistake(
        "weights-zero-output-nan",
        _zero_weights_only,
        "The weights are fine; the output was made before they were repaired, and is still NaN.",
        "the order of the repair and the weighted sum.",
    ),
    Mistake(
        "output-zero-weights-nan",
        _zero_output_only,
        "The output is fine; the weights that you return are still NaN.",
        "both results: which one is repaired?",
    ),
    Mistake(
        "output-zero-weights-uniform",
        _uniform_weights_zero_output,
        "The output is fine; the weights of empty rows are equal instead of 0.",
        "both results: which one is repaired?",
    ),
    Mistake(
        "mask-after-softmax",
        partial(attend_with, **_late(lambda w, m: w * m)),
        "Masking comes after the softmax. Empty rows are 0, but other rows no longer sum to 1.",
        "the order of mask and softmax.",
    ),
    Mistake(
        "masked-rows-all-zero",
        partial(
            attend_with, hide_late=lambda w, m: w.nan_to_num(0.0).masked_fill(~m.all(-1, keepdim=True), 0.0)
        ),
        "Every row in which something is hidden becomes 0. Only rows in which *everything* is hidden should.",
        "`any` and `all`.",
    ),
    Mistake(
        "polarity",
        partial(
            attend_with, hide=lambda s, m: s.masked_fill(m, NEG_INF), hide_late=lambda w, m: w.nan_to_num(0.0)
        ),
        "The mask is read the wrong way round: the allowed keys are hidden. True = may attend.",
        "`masked_fill` fills where its mask is True.",
    ),
    Mistake(
        "polarity-nan",
        partial(attend_with, hide=lambda s, m: s.masked_fill(m, NEG_INF)),
        "The mask is read the wrong way round, and rows in which everything is allowed are NaN.",
        "`masked_fill` fills where its mask is True.",
    ),
    Mistake(
        "mask-ignored",
        lambda q, k, v, mask: attend_with(q, k, v),
        "The mask is ignored.",
        "where `mask` is used.",
    ),
    Mistake(
        "only-empty-rows-masked",
        partial(
            attend_with,
            hide=_only_full_rows,
            hide_late=lambda w, m: w.masked_fill(~m.any(-1, keepdim=True), 0.0),
        ),
        "Empty rows are 0, but in the other rows the mask has no effect.",
        "where `mask` is used besides.",
    ),
    Mistake(
        "no-scale",
        partial(attend_with, factor=lambda q, **s: 1.0, hide_late=lambda w, m: w.nan_to_num(0.0)),
        "Empty rows are right. The scores are not divided by the root of d_k.",
        "the step after the product of queries and keys.",
    ),
    Mistake(
        "tiny-denominator",
        lambda q, k, v, mask: _with_small_sum(q, k, v, mask),
        "0.1 or so is added to the sum to avoid 0/0. Then no row sums to 1.",
        "the denominator.",
    ),
)


def _with_small_sum(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    powers = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).exp() * mask
    weights = powers / (powers.sum(-1, keepdim=True) + 1)
    return weights @ v, weights


EXERCISES = (
    Exercise(
        name="causal_mask",
        lesson="04",
        title="Causal mask",
        prompt=(
            "Return the mask `(n, n)` with which each token sees itself and what came before. Boolean, True "
            "= may attend; query down, key along."
        ),
        signature="causal_mask(n) -> (n, n)",
        reference=causal_mask,
        inputs=_causal_inputs,
        returns=(Returned("mask", ("n", "n"), kind="bool"),),
        mistakes=CAUSAL_MISTAKES,
        hints=(
            "Which keys may query 3 look at? Write the first three rows by hand.",
            (
                "Compare positions, one as a column and one as a row; or keep a triangle of ones (`tril`, "
                "`triu`) and make it boolean."
            ),
            "position = 0, 1, ..., n - 1\nopen where the key's position is at most the query's",
        ),
        why="`key <= query` says it in the words of the task, and is boolean by itself.",
        twins=("masks.causal_mask",),
    ),
    Exercise(
        name="padding_mask",
        lesson="04",
        title="Padding mask",
        prompt=(
            "`lengths` holds the true length of each of b sentences; all are filled up to `n` at the end. "
            "Return the mask `(b, 1, 1, n)`. Boolean, True = a real token."
        ),
        signature="padding_mask(lengths, n) -> (b, 1, 1, n)",
        reference=padding_mask,
        inputs=_padding_inputs,
        returns=(Returned("mask", ("b", "1", "1", "n"), kind="bool"),),
        mistakes=PADDING_MISTAKES,
        one_of=("for lengths in a tensor", "for lengths in a list"),
        hints=(
            "A sentence of length 3 has real tokens at positions 0, 1 and 2.",
            "Compare positions `(1, n)` with lengths `(b, 1)`. Indexing with `None` adds an axis of size 1.",
            (
                "position = 0, 1, ..., n - 1\nreal where position is less than the sentence's length: (b, "
                "n)\nadd the two middle axes"
            ),
        ),
        why="One row a sentence; the two 1s let the mask broadcast over heads and queries.",
        twins=("masks.padding_mask",),
    ),
    Exercise(
        name="empty_rows",
        lesson="04",
        title="Nothing to attend to",
        prompt=(
            "Attention again, and now some rows of `mask` are all False. Such a query gets zero weights and "
            "zero output; all others as before. `q` is `(b, h, n_q, d_k)`, `k` and `v` to match, `mask` is "
            "`(n_q, n_k)`. Return `(output, weights)`."
        ),
        signature="empty_rows(q, k, v, mask) -> (output, weights)",
        reference=empty_rows,
        inputs=_empty_inputs,
        returns=(Returned("output", ("b", "h", "n_q", "d_v")), Returned("weights", ("b", "h", "n_q", "n_k"))),
        mistakes=EMPTY_MISTAKES,
        one_of=_BY_RANK,
        hints=(
            "What is the softmax of a row of nothing but -inf?",
            (
                "Find the rows in which the mask has no True at all (`any`). They need care before the "
                "softmax, after it, or both."
            ),
            (
                "empty = rows of the mask without any True\nhide scores as before, but give empty rows "
                "ordinary numbers\nsoftmax\nset the weights of empty rows to 0\noutput = weights times v"
            ),
        ),
        why=(
            "NaN times 0 is NaN, so the row is kept away from 0/0 before the softmax, and set to 0 after "
            "it. Gradients stay finite."
        ),
        twins=("attention.scaled_dot_product_attention", "attention.masked_softmax"),
    ),
)
