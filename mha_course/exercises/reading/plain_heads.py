"""Plain questions about heads behind gates, at their mean, weighed by slopes, and by how sure they look."""

from __future__ import annotations

import torch

from mha_course.exercises.reading.asked_plainly import Question, asked_plainly, plain

_PAIR = [[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]]
_HEADS = "With one token, the heads (1, 2, 3) and (4, 5, 6), "


def _gated() -> tuple[Question, ...]:
    heads, one = plain(_PAIR), torch.eye(6)
    two = plain([[[[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [4.0, 5.0, 6.0]]]])
    gates = f"{_HEADS}the identity for W_O and the gates"
    return (
        Question(f"{gates} 1 and 1", (heads, one, plain([1.0, 1.0])), "concat and W_O, without any gate."),
        Question(f"{gates} 0 and 1", (heads, one, plain([0.0, 1.0])), "what a gate of 0 does."),
        Question(f"{gates} 0.5 and 1", (heads, one, plain([0.5, 1.0])), "what a gate between 0 and 1 does."),
        Question(f"{gates} 1 and 0.2", (heads, one, plain([1.0, 0.2])), "which gate belongs to which head."),
        Question(
            f"{_HEADS}twice the identity for W_O and the gates 1 and 0.5",
            (heads, 2 * one, plain([1.0, 0.5])),
            "the product with W_O.",
        ),
        Question(
            "With two tokens, the head (1, 2, 3) at the first and (4, 5, 6) at the second, the identity for "
            "W_O and the gates 1 and 0.5",
            (two, one, plain([1.0, 0.5])),
            "what becomes of the axis of tokens.",
        ),
    )


def _means() -> tuple[Question, ...]:
    def asked(asks: str, tokens: list[list[list[float]]], lengths: list[int], i: int, look: str) -> Question:
        """tokens: (b, n, d_v) of head i; the other of two heads holds 100 everywhere."""
        head = plain(tokens)
        heads = torch.full((head.shape[0], 2, *head.shape[1:]), 100.0)
        heads[:, i] = head
        real = torch.arange(head.shape[1]) < torch.tensor(lengths)[:, None]
        return Question(asks, (heads, real, i), look, lambda y: y[:, i] if y.ndim > 2 else y)

    one = "With one sentence of "
    return (
        asked(f"{one}3 tokens at which head `i` is -1, 2 and 5,", [[[-1], [2], [5]]], [3], 1, "the mean."),
        asked(
            f"{one}2 tokens and padding, at which head `i` is -1, 2 and 8,",
            [[[-1], [2], [8]]],
            [2],
            1,
            "where `real` is used.",
        ),
        asked(
            f"{one}2 tokens at which head `i` is (1, 20) and (3, 40),",
            [[[1, 20], [3, 40]]],
            [2],
            0,
            "the axis of the features: each has its own mean.",
        ),
        asked(
            "With sentences of 2 tokens and of 1, at which head `i` is 1 and 2, and 6 and then padding, 50,",
            [[[1], [2]], [[6], [50]]],
            [2, 1],
            0,
            "the mean over all sentences, and where it is put.",
        ),
    )


def _weighed() -> tuple[Question, ...]:
    def asked(asks: str, heads: list, slopes: list, look: str) -> Question:
        return Question(asks, (plain(heads), plain(slopes)), look)

    return (
        asked("With one number, 2, whose slope is 3,", [[[[2]]]], [[[[3]]]], "what becomes of one product."),
        asked("With one number, 2, whose slope is -3,", [[[[2]]]], [[[[-3]]]], "how the sign is taken away."),
        asked(
            "With one number, -2, whose slope is 3,",
            [[[[-2]]]],
            [[[[3]]]],
            "what becomes of a negative head.",
        ),
        asked(
            "With one number, 20, whose slope is 30,",
            [[[[20]]]],
            [[[[30]]]],
            "what becomes of a large product.",
        ),
        asked(
            "With a token of two features, 2 and 1, whose slopes are 3 and -4,",
            [[[[2, 1]]]],
            [[[[3, -4]]]],
            "what is done over the features.",
        ),
        asked(
            "With two tokens, 2 and 1, whose slopes are 3 and -4,",
            [[[[2], [1]]]],
            [[[[3], [-4]]]],
            "what is done over the tokens.",
        ),
        asked(
            "With two sentences of one number, 2 and 1, whose slopes are 3 and -4,",
            [[[[2]]], [[[1]]]],
            [[[[3]]], [[[-4]]]],
            "what is done over the sentences.",
        ),
        asked(
            "With two heads of one number, 2 and 1, whose slopes are 3 and -4,",
            [[[[2]], [[1]]]],
            [[[[3]], [[-4]]]],
            "what is done over the heads.",
        ),
    )


def _sure() -> tuple[Question, ...]:
    def asked(asks: str, rows: list, lengths: list[int], look: str) -> Question:
        return Question(asks, (plain(rows), torch.tensor(lengths)), look)

    first, second = [0.5, 0.3, 0.2], [0.2, 0.6, 0.2]
    one = "With one sentence of 3 tokens, "
    return (
        asked(
            f"{one}all rows (0.5, 0.3, 0.2),", [[[first] * 3]], [3], "what is taken of a row, and the mean."
        ),
        asked(
            f"{one}rows whose largest weights are 0.5, 0.6 and 0.4,",
            [[[first, second, [0.4, 0.35, 0.25]]]],
            [3],
            "what is done over the rows.",
        ),
        asked(
            f"{one}all rows (0.1, 0.3, 0.6), the last place the end token,",
            [[[[0.1, 0.3, 0.6]] * 3]],
            [3],
            "which columns the largest weight may lie in.",
        ),
        asked(
            "With one sentence of 2 tokens and padding, all rows (0.7, 0.3, 0) and padding's (0.4, 0.6, 0),",
            [[[[0.7, 0.3, 0.0], [0.7, 0.3, 0.0], [0.4, 0.6, 0.0]]]],
            [2],
            "which rows are averaged.",
        ),
        asked(
            "With two sentences of 3 and 2 tokens whose rows are (0.5, 0.3, 0.2) and (0.9, 0.1, 0),",
            [[[first] * 3], [[[0.9, 0.1, 0.0]] * 3]],
            [3, 2],
            "what is done over the sentences.",
        ),
        asked(
            f"{one}two heads, all rows (0.5, 0.3, 0.2) and (0.2, 0.6, 0.2),",
            [[[first] * 3, [second] * 3]],
            [3],
            "what is done over the heads.",
        ),
    )


GATED_PLAINLY = asked_plainly(_gated)
MEAN_PLAINLY = asked_plainly(_means)
IMPORTANCE_PLAINLY = asked_plainly(_weighed)
CONFIDENCE_PLAINLY = asked_plainly(_sure)
