"""The course model's heads on the written treebank: on the sentences it can read in full, and on all.

It was trained on a grammar of few words. Where it doesn't know a word it reads <unk>, and a head that needs
the word can't do its work; both tables beside each other show how much of that there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from mha_course.heads.habits import SPECIAL, Habits, count_habits
from mha_course.heads.head_table import HeadTable
from mha_course.heads.nearest_word import nearest_words
from mha_course.heads.roles import RoleScores, score_roles
from mha_course.heads.table_of_scores import head_table
from mha_course.models.course_models import load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.text.treebank import course_treebank
from mha_course.text.word_frequency import treebank_word_counts

CONTROL_SEED = 1_000
NOTE = "The word itself is left out before the largest weight is taken, but for the rarest word."


@dataclass(frozen=True, eq=False)
class ScoredSentences:
    """Scores of a model on some sentences.

    sentences: the trees. scores: with an untrained control. known: share of the words that are in the
    model's vocabulary. whole: how many sentences are wholly in it. habits, control_habits: over words.
    """

    sentences: tuple[ParsedSentence, ...]
    scores: RoleScores
    known: float
    whole: int
    habits: Habits
    control_habits: Habits

    def coverage(self) -> str:
        """In words: how much of it the model knows."""
        return f"{self.known:.0%} of the words known, {self.whole} of {len(self.sentences)} sentences wholly"

    def table(self, model: str = "course model") -> HeadTable:
        """The table of all roles; a model without special tokens has no role for them."""
        nearest = nearest_words(self.sentences, self.scores.criteria)
        table = head_table(
            self.scores,
            habits=self.habits,
            control_habits=self.control_habits,
            nearest={name: rule.held for name, rule in nearest.items()},
            model=model,
            source="the course's own treebank",
            note=f"{NOTE} {self.coverage().capitalize()}.",
        )
        measures = tuple(measure for measure in table.measures if measure.name != SPECIAL)
        return HeadTable(table.model, table.source, table.sentences, table.note, measures)


@dataclass(frozen=True, eq=False)
class CourseModelRoles:
    """The same heads twice. readable: on the sentences wholly in the vocabulary; every: on all of them."""

    readable: ScoredSentences
    every: ScoredSentences


def course_model_roles(
    model: GlossModel | None = None, sentences: Sequence[ParsedSentence] | None = None
) -> CourseModelRoles:
    """Score a course model's heads on the written treebank, beside an untrained model of the same sizes.

    model: None is the main one. sentences: None are all of the treebank. Words are read in small letters.
    About two seconds; for the same model and sentences the answer is kept.

    Raises: ValueError when fewer than two sentences are wholly in the vocabulary; FileNotFoundError when
    data/ is missing.
    """
    return _scored(
        load_course_model() if model is None else model,
        course_treebank() if sentences is None else tuple(sentences),
    )


def known_words(model: GlossModel, sentence: ParsedSentence) -> list[bool]:
    """For each word of a sentence whether the model knows it."""
    return [word.lower() in model.vocabulary for word in sentence.words]


@lru_cache(maxsize=4)
def _scored(model: GlossModel, sentences: tuple[ParsedSentence, ...]) -> CourseModelRoles:
    known = [known_words(model, sentence) for sentence in sentences]
    whole = [i for i, words in enumerate(known) if all(words)]
    if len(whole) < 2:
        raise ValueError(f"{len(whole)} of {len(sentences)} sentences are wholly in the model's vocabulary.")
    with torch.random.fork_rng():
        torch.manual_seed(CONTROL_SEED)
        untrained = GlossModel(model.sizes).eval()
    maps = [_attention(one, sentences) for one in (model, untrained)]
    # The halves that pick and judge are dealt anew among the readable ones: every second of them.
    parts = (whole, range(len(sentences)))
    return CourseModelRoles(*(_part(sentences, known, maps, list(part)) for part in parts))


def _attention(model: GlossModel, sentences: Sequence[ParsedSentence]) -> list[Tensor]:
    return [model.attend([word.lower() for word in sentence.words]).weights for sentence in sentences]


def _part(
    sentences: Sequence[ParsedSentence], known: list[list[bool]], maps: list[list[Tensor]], which: list[int]
) -> ScoredSentences:
    chosen = tuple(sentences[i] for i in which)
    own, other = ([of[i] for i in which] for of in maps)
    words = [known[i] for i in which]
    nothing = [()] * len(which)
    return ScoredSentences(
        chosen,
        score_roles(own, chosen, treebank_word_counts(), other),
        sum(map(sum, words)) / sum(map(len, words)),
        sum(map(all, words)),
        count_habits(own, nothing),
        count_habits(other, nothing),
    )
