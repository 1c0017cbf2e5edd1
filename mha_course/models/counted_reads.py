"""Counting everything about the heads of a model that has read sentences: words, pieces and habits.

Which choices are behind each count is told in `real_head_measures.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mha_course.heads.criteria import RAREST, Criterion, Questions
from mha_course.heads.habits import Habits, count_habits
from mha_course.heads.hits import HitCounter
from mha_course.heads.piece_criteria import PIECE_CRITERIA, piece_questions
from mha_course.pieces import PieceMaps, pieces_to_words, word_matrix

COMPARED = 200  # sentences for the resemblance of heads, which costs most
MARKS = frozenset(".,")
EVERY_KIND = ("positional", "syntactic", "rare")


class CountedReads:
    """Counts over the attention of one model, sentence by sentence.

    criteria: those over words. counters: by the name of the choice. n_pieces: pieces so far. compared and
    compared_special: weights of the first sentences, and the places of their special tokens.
    """

    def __init__(self, criteria: Sequence[Criterion]) -> None:
        both = ("positional", "rare")
        self.criteria = tuple(criteria)
        rarest = [criterion for criterion in criteria if criterion.name == RAREST]
        self.counters = {
            "words": HitCounter(criteria, spread=False),
            "words_self": HitCounter(criteria, EVERY_KIND, spread=False),
            "words_special": HitCounter(criteria, spread=False),
            "words_mean": HitCounter(rarest, spread=False),
            "neighbours": HitCounter(PIECE_CRITERIA, both, spread=False),
            "neighbours_special": HitCounter(PIECE_CRITERIA, both, spread=False),
            "rare": HitCounter(PIECE_CRITERIA, both, spread=False),
        }
        self.n_pieces = 0
        self.compared: list[Tensor] = []
        self.compared_special: list[list[int]] = []
        self._habits: list[Habits] = []

    def add(self, read: PieceMaps, asked: Questions) -> None:
        """A sentence that was read word by word, and the questions to its words."""
        self._words(read, asked)
        self._pieces(read)

    def add_as_written(self, read: PieceMaps, asked: Questions) -> None:
        """A sentence that was read as it was written, and the questions to its pieces."""
        real, _ = _places(read)
        self.counters["rare"].add(read.maps.weights[..., real, :][..., real], asked)

    def habits(self) -> Habits:
        """The habits over all sentences."""
        return Habits(
            torch.cat([part.totals for part in self._habits]), torch.cat([part.rows for part in self._habits])
        )

    def _words(self, read: PieceMaps, asked: Questions) -> None:
        weights, n = read.maps.weights, len(read.words_q)
        _, special = _places(read)
        by_word = pieces_to_words(weights, read.query_words, n_query_words=n)
        self.counters["words"].add(by_word, asked)
        self.counters["words_self"].add(by_word, asked)
        rows = word_matrix(read.query_words, weights.shape[-1], n, "mean")
        to_special = rows @ weights[..., special]
        rivals = to_special.amax(-1) if special else torch.zeros(to_special.shape[:-1])
        self.counters["words_special"].add(by_word, asked, rivals)
        mean = pieces_to_words(weights, read.query_words, to="mean", n_query_words=n)
        self.counters["words_mean"].add(mean, _only(asked, self.criteria, RAREST))

    def _pieces(self, read: PieceMaps) -> None:
        weights = read.maps.weights
        real, special = _places(read)
        pieces = [read.maps.query_tokens[i] for i in real]
        asked, inner = piece_questions(pieces), weights[..., real, :][..., real]
        self.n_pieces += len(real)
        self.counters["neighbours"].add(inner, asked)
        to_special = weights[..., real, :][..., special]
        rivals = to_special.amax(-1) if special else torch.zeros(to_special.shape[:-1])
        self.counters["neighbours_special"].add(inner, asked, rivals)
        marks = [i for i, label in enumerate(read.maps.query_tokens) if label in MARKS]
        self._habits.append(count_habits([weights], [special], [marks]))
        if len(self.compared) < COMPARED:
            self.compared.append(weights)
            self.compared_special.append(special)


def _places(read: PieceMaps) -> tuple[list[int], list[int]]:
    """The places of pieces of words, and of special tokens."""
    of = read.query_words
    real = [i for i, word in enumerate(of) if word is not None]
    return real, [i for i, word in enumerate(of) if word is None]


def _only(asked: Questions, criteria: Sequence[Criterion], name: str) -> Questions:
    """The questions of one criterion, which becomes the first and only one."""
    wanted = next((i for i, criterion in enumerate(criteria) if criterion.name == name), -1)
    mine = asked.criterion == wanted
    return Questions(
        torch.zeros(int(mine.sum()), dtype=torch.long), asked.row[mine], asked.targets[mine], asked.longest
    )
