"""Plain questions about shared projections: which features a head reads, one product, one bias."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.of_mixing import rounded_up
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading.asked_plainly import Question, asked_plainly, plain


def read_blocks(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The first head whose row is another one, and the features that it reads."""
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    if have.shape != want.shape or not have.is_floating_point():
        return None
    h, width = evidence.cases[i].arguments
    head = next(head for head in range(h) if not close(want[head], have[head]))
    odd = [float(x) for x in have[head] if float(x) not in (0.0, 1.0)]
    if odd:
        says = f"Row {head} of M holds {odd[0]:.4g}. Only ones and zeros should be there."
        return Finding("other-numbers", says, look="what is written into a block, and into the rest.")
    says = f"With `h` = {h} and `width` = {width} a block has {rounded_up(h, width)} features. "
    says += f"Head {head + 1} should read {_features(want[head])}; yours reads {_features(have[head])}."
    return Finding("other-features", says, look="where a block starts and ends.")


def _features(row: torch.Tensor) -> str:
    places = row.nonzero()[:, 0].tolist()
    if not places:
        return "nothing"
    if len(places) > 1 and places == list(range(places[0], places[-1] + 1)):
        return f"features {places[0]} to {places[-1]}"
    shown = ", ".join(map(str, places[:8])) + (", ..." if len(places) > 8 else "")
    return f"feature{'s' if len(places) > 1 else ''} {shown}"


def _scores() -> tuple[Question, ...]:
    def asked(asks: str, q: list, k: list, mixing: list, d_k: int, look: str) -> Question:
        return Question(asks, (plain([q]), plain([k]), plain(mixing), d_k), look)

    one = "With one query and one key of one feature, "
    return (
        asked(f"{one}2 and 3, mixing 1 and d_k = 1,", [[2]], [[3]], [[1]], 1, "what becomes of one product."),
        asked(f"{one}2 and 3, mixing 1 and d_k = 4,", [[2]], [[3]], [[1]], 4, "what is done with `d_k`."),
        asked(f"{one}2 and 3, mixing 0 and d_k = 1,", [[2]], [[3]], [[0]], 1, "what a weight of 0 does."),
        asked(f"{one}2 and 3, mixing 5 and d_k = 1,", [[2]], [[3]], [[5]], 1, "where `mixing` takes part."),
        asked(
            f"{one}2 and 3, mixing -1 and d_k = 1,", [[2]], [[3]], [[-1]], 1, "what a negative weight does."
        ),
        asked(
            f"{one}-2 and 3, mixing 1 and d_k = 1,", [[-2]], [[3]], [[1]], 1, "what a negative query does."
        ),
        asked(
            "With a query (1, 2), a key (3, 5), mixing (1, 10) and d_k = 1,",
            [[1, 2]],
            [[3, 5]],
            [[1, 10]],
            1,
            "what is done over the features.",
        ),
        asked(
            "With a query (1, 2), a key (3, 5), two heads that weigh (1, 0) and (0, 1), and d_k = 1,",
            [[1, 2]],
            [[3, 5]],
            [[1, 0], [0, 1]],
            1,
            "what is done over the heads.",
        ),
        asked(
            "With the query 1, the keys 2 and 3, mixing 1 and d_k = 1,",
            [[1]],
            [[2], [3]],
            [[1]],
            1,
            "what is done over the keys.",
        ),
        asked(
            "With the queries 1 and 4, the key 2, mixing 1 and d_k = 1,",
            [[1], [4]],
            [[2]],
            [[1]],
            1,
            "what is done over the queries.",
        ),
        Question(
            "With two sentences, query 1 and key 2 in one, 3 and 5 in the other, mixing 1 and d_k = 1,",
            (plain([[[1]], [[3]]]), plain([[[2]], [[5]]]), plain([[1]]), 1),
            "what is done over the sentences.",
        ),
    )


def _content() -> tuple[Question, ...]:
    def asked(asks: str, w_k: list, b_q: list, h: int, look: str) -> Question:
        return Question(asks, (plain(w_k), plain(b_q), h), look)

    return (
        asked(
            "With one number 2 for `w_k`, the bias 3 and one head", [[2]], [3], 1, "what one product becomes."
        ),
        asked(
            "With one number 2 for `w_k`, the bias -3 and one head", [[2]], [-3], 1, "what a minus becomes."
        ),
        asked(
            "With one row (2, 5) for `w_k`, the bias (1, 10) and one head",
            [[2, 5]],
            [1, 10],
            1,
            "the sum over d_k.",
        ),
        asked(
            "With one row (2, 5) for `w_k`, the bias (1, 10) and two heads",
            [[2, 5]],
            [1, 10],
            2,
            "what is done over the heads.",
        ),
        asked(
            "With one column (2, 5) for `w_k`, the bias 3 and one head",
            [[2], [5]],
            [3],
            1,
            "what is done over d_model.",
        ),
        asked(
            "With one row (1, 2, 3, 4) for `w_k`, the bias (1, 1, 10, 10) and two heads",
            [[1, 2, 3, 4]],
            [1, 1, 10, 10],
            2,
            "which columns belong to which head.",
        ),
        asked(
            "With the rows (1, 2) and (3, 4) for `w_k`, the bias (1, 10) and two heads",
            [[1, 2], [3, 4]],
            [1, 10],
            2,
            "which of the axes becomes which.",
        ),
        asked(
            "With the rows (1, 2, 3, 4) and (5, 6, 7, 8) for `w_k`, biases of 1 and two heads",
            [[1, 2, 3, 4], [5, 6, 7, 8]],
            [1, 1, 1, 1],
            2,
            "which of the axes becomes which.",
        ),
    )


SCORES_PLAINLY = asked_plainly(_scores)
CONTENT_PLAINLY = asked_plainly(_content)
