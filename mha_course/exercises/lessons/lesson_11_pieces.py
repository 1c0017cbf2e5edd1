"""Exercises of lesson 11, on words: from word pieces to words, and heads that look at the rarest one."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_piece_maps import PIECES_MISTAKES
from mha_course.exercises.mistakes.of_rarest_words import RAREST_MISTAKES
from mha_course.exercises.reading.never import never
from mha_course.exercises.reading.piece_maps import PIECES
from mha_course.exercises.reading.rarest_words import RAREST


def pieces_to_words(weights: Tensor, word_of: Sequence[int]) -> Tensor:
    """To a word the sum over its pieces, from a word the mean: (h, n, n) -> (h, words, words)."""
    words = torch.arange(max(word_of) + 1)
    # (words, n): 1 where a piece belongs to a word. Special tokens belong to none.
    belongs = (torch.tensor(word_of) == words[:, None]).to(weights.dtype)
    to_words = weights @ belongs.T
    return belongs @ to_words / belongs.sum(dim=-1, keepdim=True)


def rarest_word_share(weights: Tensor, counts: Tensor) -> Tensor:
    """Share of rows whose largest weight lies on a rarest word: (h, n, n), (n,) -> (h,)."""
    look = weights.argmax(dim=-1)
    # Compared are counts and not places, so that equally rare words are all hits.
    hits = counts[look] == counts.min()
    return hits.float().mean(dim=-1)


def _pieces_inputs(g: Generator) -> list[Case]:
    def case(label: str, h: int, word_of: list[int], **options: object) -> Case:
        n, dtype = len(word_of), options.pop("dtype", torch.float32)
        w = draw(g, h, n, n, spread=1.5, dtype=dtype).softmax(-1)
        return Case(label, (w, word_of), {"h": h, "n": n, "words": max(word_of) + 1}, **options)

    return [
        case("with a word of three pieces", 2, [-1, 0, 1, 1, 1, 2, 3, -1]),
        case("with two split words", 3, [-1, 0, 0, 1, 2, 3, 3, 3, 4, -1]),
        case("with two sentences", 2, [-1, 0, 1, 1, -1, 2, 3, 3, 4, 5, -1]),
        case("without special tokens", 3, [0, 0, 1, 2, 2, 3], edge=True),
        case("in float64", 2, [-1, 0, 1, 1, 2, -1], dtype=torch.float64, required=False),
    ]


def _rare_inputs(g: Generator) -> list[Case]:
    def case(label: str, h: int, counts: list[int], seed: int, **options: object) -> Case:
        g, n, dtype = torch.Generator().manual_seed(seed), len(counts), options.pop("dtype", torch.float32)
        w = draw(g, h, n, n, dtype=dtype)
        rare = [i for i, count in enumerate(counts) if count == min(counts)]
        for head in range(h):
            for q in range(n):
                if (q + 2 * head) % (head + 2) < head + 1:
                    w[head, q, rare[(q + head) % len(rare)]] += 2.5
                if (2 * q + head) % 3 == 0:
                    w[head, q, q] += 2.0
        return Case(label, (w.softmax(-1), torch.tensor(counts)), {"h": h, "n": n}, **options)

    return [
        case("with one rarest word", 3, [812, 40, 3, 812, 96, 11, 310], 1),
        case("with two equally rare words", 2, [95, 4, 310, 812, 4, 57, 120, 95], 2),
        case("with a word that was never seen", 4, [812, 5, 33, 0, 7, 641, 0, 120, 33], 1),
        case("with a small count for a place", 2, [5, 44, 2, 9, 60], 25),
        case("in float64", 3, [50, 2, 7, 31, 8, 90], 1, dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="pieces_to_words",
        lesson="11",
        title="From word pieces to words",
        prompt=(
            "`weights` is `(h, n, n)` over pieces. `word_of` is a list of n: the number of the word a piece "
            "belongs to, 0, 1, 2, ..., or -1 for a special token. Return the map over words, "
            "`(h, words, words)`: to a word the sum over its pieces, from a word the mean over its pieces. "
            "Special tokens are dropped, and nothing is rescaled."
        ),
        signature="pieces_to_words(weights, word_of) -> word_weights",
        reference=pieces_to_words,
        inputs=_pieces_inputs,
        returns=(Returned("word weights", ("h", "words", "words")),),
        mistakes=PIECES_MISTAKES,
        hints=(
            "Two steps, one an axis: columns of a word are added up, then rows of a word averaged.",
            "A matrix of ones and zeros, (words, n), adds up what belongs together. What turns a sum into a "
            "mean?",
            (
                "belongs[word, piece] = 1 where word_of[piece] is the word\n"
                "to words: weights times belongs, transposed\nfrom words: belongs times that, divided by the "
                "number of pieces of each word"
            ),
        ),
        why=(
            "Clark et al. (2019) do it so. A sum also pays for being split: a word of four pieces gets "
            "four shares from a head that looks at nothing, so a score over words needs an untrained model "
            "beside it."
        ),
        special=never(
            Returned("word weights", ("h", "words", "words")),
            "Everything is 0: no weight gets into the result, or it is cut off.",
            "where weights are added up, and `//`.",
        ),
        readers=(PIECES.read,),
    ),
    Exercise(
        name="rarest_word_share",
        lesson="11",
        title="Heads that look at the rarest word",
        prompt=(
            "`weights` is `(h, n, n)`. `counts` is `(n,)`: how often each word of the sentence occurs in the "
            "language. Return for each head the share of rows whose largest weight lies on the rarest word, "
            "`(h,)`. Where several words are equally rare, each of them is a hit. A word may look at itself."
        ),
        signature="rarest_word_share(weights, counts) -> share",
        reference=rarest_word_share,
        inputs=_rare_inputs,
        returns=(Returned("share", ("h",)),),
        mistakes=RAREST_MISTAKES,
        hints=(
            "Where is the largest weight of each row, and how often does the word there occur?",
            "`counts[look]` gives the count at each of these places. Compare it with the smallest.",
            (
                "look = place of the largest weight in each row\n"
                "a hit: the count there is the smallest of the sentence\nmean over the rows"
            ),
        ),
        why=(
            "Voita et al. (2019) found such a head in the first layer of a translation model. Compared by "
            "count, words that are equally rare all count."
        ),
        special=never(
            Returned("share", ("h",)),
            "Every share is 0: no row ever hits.",
            "what is compared with what, and whether the largest weight is looked for.",
        ),
        readers=(RAREST.read,),
    ),
)
