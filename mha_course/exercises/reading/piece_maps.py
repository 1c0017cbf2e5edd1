"""What wrong maps over words hold: what is done with columns, rows and special tokens, and afterwards."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_piece_maps import PIECES_MISTAKES, by_word, words_with
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

Groups = list[list[int]]


def _not_the_last(word_of: Sequence[int]) -> Groups:
    return by_word(word_of)[:-1]


def _not_the_first(word_of: Sequence[int]) -> Groups:
    return by_word(word_of)[1:]


def _special_with(shift: int, word_of: Sequence[int]) -> Groups:
    """Special tokens belong to the word before (-1) or after (1) them."""
    groups = by_word(word_of)
    for i, of in enumerate(word_of):
        if of < 0 and 0 <= i + shift < len(word_of) and word_of[i + shift] >= 0:
            groups[word_of[i + shift]].append(i)
    return groups


def _after_the_special(word_of: Sequence[int]) -> Groups:
    """Word i is taken from piece i: special tokens out of the list of words, but not of the maps."""
    inner = [of for of in word_of if of >= 0]
    return by_word(inner)


def _to_word_0(word_of: Sequence[int]) -> Groups:
    return [[i for i, of in enumerate(word_of) if max(of, 0) == word] for word in range(max(word_of) + 1)]


def _over_words(w: Tensor, word_of: Sequence[int]) -> Tensor:
    inner = torch.tensor(word_of) >= 0
    return w / w[..., inner].sum(-1, keepdim=True)


def _without_word_0(w: Tensor, word_of: Sequence[int]) -> Tensor:
    kept = torch.arange(w.shape[-1]) > 0
    return w * kept * kept[:, None]


def _pieces_in(word_of: Sequence[int]) -> Tensor:
    return torch.tensor([len(group) for group in by_word(word_of)], dtype=torch.float32)


_MAPS = (
    Way("The maps of all heads are averaged first.", lambda w, of: w.mean(0, keepdim=True).expand_as(w)),
    rare("The maps of all heads are averaged.", lambda w, of: w.mean(0, keepdim=True)),
    Way("A softmax is taken of the weights, which are one already.", lambda w, of: w.softmax(-1)),
    rare(
        "A piece's weight on itself is left out.", lambda w, of: w - torch.diag_embed(w.diagonal(0, -2, -1))
    ),
    Way("Rows and columns change places before pieces are put together.", lambda w, of: w.mT),
    rare("The first head stands for all.", lambda w, of: w[:1].expand_as(w)),
    rare("Only the first head is there.", lambda w, of: w[:1]),
    Way(
        "The rows are made to sum to 1 over the pieces of words first.",
        _over_words,
    ),
)
_GROUPS = (
    Way("Special tokens belong to the word before them.", functools.partial(_special_with, -1)),
    Way("Special tokens belong to the word after them.", functools.partial(_special_with, 1)),
    Way("Special tokens go to word 0.", _to_word_0),
    Way("The last word is missing: the numbers of words run from 0 to the largest.", _not_the_last),
    Way("Word 0 is missing.", _not_the_first),
    Way(
        "Special tokens are dropped from `word_of` only, so that words begin at the first piece of the maps.",
        _after_the_special,
    ),
    rare("The words are in reverse order.", lambda word_of: by_word(word_of)[::-1]),
    rare("Nothing is put together, and nothing dropped.", lambda word_of: [[i] for i in range(len(word_of))]),
    rare(
        "Words get all pieces but their own.",
        lambda word_of: [[i for i, of in enumerate(word_of) if of != k] for k in range(max(word_of) + 1)],
    ),
    rare(
        "A word gets the pieces of the words up to it.",
        lambda word_of: [[i for i, of in enumerate(word_of) if of <= k] for k in range(max(word_of) + 1)],
    ),
    rare(
        "A word gets the pieces of the words from it on.",
        lambda word_of: [[i for i, of in enumerate(word_of) if of >= k] for k in range(max(word_of) + 1)],
    ),
    rare(
        "A word gets the pieces before it.",
        lambda word_of: [[i for i, of in enumerate(word_of) if of < k] for k in range(max(word_of) + 1)],
    ),
)
_TO = (
    rare(
        "The weight to a word is divided by its number of pieces twice.", lambda c: c.mean(-1) / c.shape[-1]
    ),
    rare(
        "The weight to a word is the smallest over its pieces. Their sum is asked for.", lambda c: c.amin(-1)
    ),
    rare("The weight to a word is multiplied by its number of pieces.", lambda c: c.sum(-1) * c.shape[-1]),
    rare(
        "The weight to a word is the product over its pieces. Their sum is asked for.", lambda c: c.prod(-1)
    ),
    rare("The weight to a word is the sum without its first piece.", lambda c: c[..., 1:].sum(-1)),
    rare("The weight to a word is the sum without its last piece.", lambda c: c[..., :-1].sum(-1)),
)
_FROM = (
    Way(
        "The weight from a word is the largest over its pieces. Their mean is asked for.",
        lambda r: r.amax(-1),
    ),
    rare(
        "The weight from a word is the smallest over its pieces. Their mean is asked for.",
        lambda r: r.amin(-1),
    ),
    rare(
        "The weight from a word is the median over its pieces. Their mean is asked for.",
        lambda r: r.median(-1).values,
    ),
    rare(
        "The weight from a word is divided by its number of pieces twice.", lambda r: r.mean(-1) / r.shape[-1]
    ),
    rare("The rows of a word are multiplied by its number of pieces.", lambda r: r.sum(-1) * r.shape[-1]),
    rare("The rows of a word are divided by one piece too many.", lambda r: r.sum(-1) / (r.shape[-1] + 1)),
    rare("The rows of a word are divided by 2, however many pieces there are.", lambda r: r.sum(-1) / 2),
)
_FINISHES = (
    Way("The columns are made to sum to 1.", lambda w, of: w / w.sum(-2, keepdim=True)),
    Way("A softmax is taken of the words' weights.", lambda w, of: w.softmax(-1)),
    Way(
        "What goes to special tokens is spread evenly over the words.",
        lambda w, of: w + (1 - w.sum(-1, keepdim=True)) / w.shape[-1],
    ),
    rare("The heads are averaged. Each one has its own map.", lambda w, of: w.mean(0)),
    rare("The heads are added up. Each one has its own map.", lambda w, of: w.sum(0)),
    rare("The weights of words are divided by the number of words.", lambda w, of: w / w.shape[-1]),
    rare("A word's weight on itself is left out.", lambda w, of: w - torch.diag_embed(w.diagonal(0, -2, -1))),
    rare("Every row is divided by the number of all pieces.", lambda w, of: w / len(of)),
    rare("Rows are divided by the pieces of the word that is looked at.", lambda w, of: w / _pieces_in(of)),
    rare(
        "Rows are added up, then divided by the pieces of the word that is looked at.",
        lambda w, of: w * _pieces_in(of)[:, None] / _pieces_in(of),
    ),
    rare("The heads stand last.", lambda w, of: w.permute(1, 2, 0)),
    rare(
        "Rows are added up, then divided by a number made of all words, not by the pieces of each.",
        lambda w, of: w * _pieces_in(of)[:, None] / sum(range(max(of) + 1)),
    ),
    rare(
        "Rows are added up and divided by the number of all pieces.",
        lambda w, of: w * _pieces_in(of)[:, None] / len(of),
    ),
    rare("Rows and columns of word 0 are left empty: 0 is a word.", _without_word_0),
    rare("The sum over all words is taken.", lambda w, of: w.sum(-1)),
    rare(
        "Weights are multiplied by the number of pieces of the word that is looked at.",
        lambda w, of: w * _pieces_in(of),
    ),
    rare(
        "Rows are multiplied by their number of pieces; they should be divided by it.",
        lambda w, of: w * _pieces_in(of)[:, None] ** 2,
    ),
    rare(
        "Rows are added up and divided by one more than their pieces.",
        lambda w, of: w * _pieces_in(of)[:, None] / (_pieces_in(of)[:, None] + 1),
    ),
    rare(
        "Everything is divided by the mean number of pieces of a word.",
        lambda w, of: w * _pieces_in(of)[:, None] / _pieces_in(of).mean(),
    ),
    rare(
        "The rows are divided by the pieces of all words together.",
        lambda w, of: w * _pieces_in(of)[:, None] / _pieces_in(of).sum(),
    ),
    rare(
        "Rows are rounded down (`//`).", lambda w, of: w * _pieces_in(of)[:, None] // _pieces_in(of)[:, None]
    ),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, list[int]], ...]:
    """Texts of other lengths."""
    g = torch.Generator().manual_seed(53)
    texts = ([-1, 0, 0, 0, 1, 2, 2, 3, 4, -1], [-1, 0, 1, 2, 2, 2, 2, -1, 3, 4, 4, -1], [0, 1, 1, 2])
    return tuple(
        ((2 * torch.randn(h, len(of), len(of), generator=g)).softmax(-1), list(of))
        for h, of in zip((3, 2, 5), texts, strict=True)
    )


PIECES = Recipe(
    words_with,
    (
        Slot("to", "what is done with columns.", (*ways_of(PIECES_MISTAKES, "to"), *_TO)),
        Slot("out_of", "what is done with rows.", (*ways_of(PIECES_MISTAKES, "out_of"), *_FROM)),
        Slot("groups", "which pieces belong to a word.", (*ways_of(PIECES_MISTAKES, "groups"), *_GROUPS)),
        Slot("finish", "the last step.", (*ways_of(PIECES_MISTAKES, "finish"), *_FINISHES)),
        Slot("maps", "what is done with the maps first.", (*ways_of(PIECES_MISTAKES, "maps"), *_MAPS)),
    ),
    _more,
)
