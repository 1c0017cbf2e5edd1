"""Known mistakes of `pieces_to_words`: sum and mean mixed up, special tokens, rows made to sum to 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]
Groups = list[list[int]]


def by_word(word_of: Sequence[int]) -> Groups:
    """The pieces of each word; special tokens belong to none."""
    return [[i for i, of in enumerate(word_of) if of == word] for word in range(max(word_of) + 1)]


def words_with(
    weights: Tensor,
    word_of: Sequence[int],
    *,
    maps: Step = lambda w, word_of: w,
    groups: Callable[[Sequence[int]], Groups] = by_word,
    to: Step = lambda columns: columns.sum(-1),
    out_of: Step = lambda rows: rows.mean(-1),
    finish: Step = lambda words, word_of: words,
) -> Tensor:
    """The map over words with the steps given; right without any: (h, words, words)."""
    w, words = maps(weights, list(word_of)), groups(list(word_of))
    to_words = torch.stack([to(w[:, :, pieces]) for pieces in words], -1)  # (h, n, words)
    from_words = [out_of(to_words[:, pieces].mT) for pieces in words]
    return finish(torch.stack(from_words, -2), list(word_of))


def _special_alone(word_of: Sequence[int]) -> Groups:
    """A special token is a word of its own, where it stands."""
    groups: Groups = []
    for i, of in enumerate(word_of):
        if of >= 0 and i and word_of[i - 1] == of:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _special_last(word_of: Sequence[int]) -> Groups:
    """-1 is taken for an index: special tokens go to the last word."""
    words = max(word_of) + 1
    return [[i for i, of in enumerate(word_of) if of % words == word] for word in range(words)]


def _special_first(word_of: Sequence[int]) -> Groups:
    return [[i for i, of in enumerate(word_of) if of == word] for word in range(-1, max(word_of) + 1)]


def _each_piece(word_of: Sequence[int]) -> Groups:
    return [[i] for i, of in enumerate(word_of) if of >= 0]


def _shared_out(weights: Tensor, word_of: Sequence[int]) -> Tensor:
    """Every row divided by the number of pieces with its own number, before rows are added up."""
    return weights / torch.tensor([word_of.count(of) for of in word_of]).to(weights)[:, None]


def rescaled(words: Tensor, word_of: Sequence[int]) -> Tensor:
    """Every row made to sum to 1."""
    return words / words.sum(-1, keepdim=True)


_with = partial(Otherwise, words_with)

PIECES_MISTAKES = (
    Mistake(
        "mean-to",
        _with(to=lambda columns: columns.mean(-1)),
        "The weight *to* a word is the mean over its pieces. It is their sum: all of it went to that word.",
        "what is done with columns.",
    ),
    Mistake(
        "sum-from",
        _with(out_of=lambda rows: rows.sum(-1)),
        "The weight *from* a word is the sum over its pieces. Two pieces would look twice as much as one.",
        "what is done with rows.",
    ),
    Mistake(
        "sum-and-mean-swapped",
        _with(to=lambda columns: columns.mean(-1), out_of=lambda rows: rows.sum(-1)),
        "Sum and mean have changed places: rows are added up, columns averaged.",
        "which axis is which: rows look, columns are looked at.",
    ),
    Mistake(
        "first-piece-from",
        _with(out_of=lambda rows: rows[..., 0]),
        "Only the first piece of a word speaks for it. The mean over all its pieces is asked for.",
        "what is done with rows.",
    ),
    Mistake(
        "last-piece-from",
        _with(out_of=lambda rows: rows[..., -1]),
        "Only the last piece of a word speaks for it. The mean over all its pieces is asked for.",
        "rows that are overwritten by the next piece.",
    ),
    Mistake(
        "first-piece-to",
        _with(to=lambda columns: columns[..., 0]),
        "Only the weight on the first piece of a word counts. The sum over all its pieces is asked for.",
        "what is done with columns.",
    ),
    Mistake(
        "last-piece-to",
        _with(to=lambda columns: columns[..., -1]),
        "Only the weight on the last piece of a word counts. The sum over all its pieces is asked for.",
        "columns that are overwritten by the next piece.",
    ),
    Mistake(
        "largest-piece-to",
        _with(to=lambda columns: columns.amax(-1)),
        "The weight to a word is the largest over its pieces. Their sum is asked for.",
        "what is done with columns.",
    ),
    Mistake(
        "rescaled",
        _with(finish=rescaled),
        "The rows are made to sum to 1. What went to special tokens is then handed out to words that didn't "
        "get it.",
        "the last step.",
    ),
    Mistake(
        "special-are-words",
        _with(groups=_special_alone),
        "Special tokens are words of their own. They should be dropped.",
        "places where `word_of` is -1.",
    ),
    Mistake(
        "special-in-the-last-word",
        _with(groups=_special_last),
        "Special tokens go to the last word: -1 as an index means the last one.",
        "places where `word_of` is -1.",
    ),
    Mistake(
        "special-written-to-the-last-word",
        _with(maps=_shared_out, groups=_special_last, out_of=lambda rows: rows.sum(-1)),
        "Special tokens are not skipped: their rows and columns are added to the last word, since -1 as an "
        "index means the last one.",
        "places where `word_of` is -1.",
    ),
    Mistake(
        "special-in-front",
        _with(groups=_special_first),
        "Special tokens are one word in front of the others. They should be dropped.",
        "places where `word_of` is -1.",
    ),
    Mistake(
        "pieces-kept",
        _with(groups=_each_piece),
        "Special tokens are gone, but pieces are still pieces: a word with two of them has two rows.",
        "the two steps over the pieces of a word.",
    ),
    Mistake(
        "transposed",
        _with(finish=lambda words, word_of: words.mT),
        "Rows and columns have changed places: a row is the word that looks.",
        "the order of the last two axes.",
    ),
)
