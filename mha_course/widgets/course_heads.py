"""A course model as a source of a HeadMap, scored on held-out sentences of the grammar or on the treebank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property

import torch

from mha_course.heads.habits import SPECIAL, count_habits
from mha_course.heads.head_table import HeadTable
from mha_course.heads.roles import score_roles
from mha_course.heads.table_of_scores import head_table
from mha_course.models.course_models import load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.text.tokens import tokenize
from mha_course.text.treebank import course_treebank
from mha_course.text.word_frequency import treebank_word_counts
from mha_course.training.record import CONTROL_SEED
from mha_course.training.scored_sentences import scored_sentences, training_word_counts
from mha_course.training.train_gloss import fresh_model
from mha_course.widgets.head_sources import LONGEST, Reading
from mha_course.widgets.trained_source import KNOWN_SENTENCE

ON = ("grammar", "treebank")


class CourseHeads:
    """The heads of a course model.

    model: one that was loaded; None is the main one. on: "grammar", held-out sentences that it can read in
    full, or "treebank", written sentences of which it knows a part of the words.
    Raises: ValueError for another `on`.
    """

    has_special = False
    closed = ""
    known_sentence = KNOWN_SENTENCE

    def __init__(self, model: GlossModel | None = None, on: str = "grammar") -> None:
        if on not in ON:
            raise ValueError(f"on={on!r} must be one of {', '.join(ON)}.")
        self.model = load_course_model() if model is None else model
        self.on = on
        sizes = self.model.sizes
        self.name = f"course model, d_model {sizes.d_model}, h {sizes.h}"

    @cached_property
    def examples(self) -> tuple[ParsedSentence, ...]:
        """The sentences that were scored."""
        sentences = scored_sentences() if self.on == "grammar" else course_treebank()
        return tuple(sentence for sentence in sentences if len(sentence) <= LONGEST)

    @property
    def counts(self) -> Mapping[str, int]:
        """How often words occur: in the training sentences, or in English for the treebank."""
        return training_word_counts() if self.on == "grammar" else treebank_word_counts()

    @cached_property
    def table(self) -> HeadTable:
        """Every head's scores beside those of an untrained model of the same sizes."""
        return _table(self.model, self.on)

    def maps(self, i: int, special: bool = False) -> Reading:
        """The maps of example i."""
        return self.read(self.examples[i].words)

    def read(self, text: str | Sequence[str], special: bool = False) -> Reading | None:
        """The maps of the first 24 words, in small letters; None when there is no word."""
        found = tokenize(text) if isinstance(text, str) else list(text)
        words = [word.lower() for word in found[:LONGEST]]
        if not words:
            return None
        unknown = tuple(i for i, word in enumerate(words) if word not in self.model.vocabulary)
        maps = self.model.attend(words)
        return Reading(maps, tuple(range(len(words))), unknown, len(found) - len(words))


@cache
def _table(model: GlossModel, on: str) -> HeadTable:
    source = CourseHeads(model, on)
    sentences = source.examples
    known = model.vocabulary
    untrained = fresh_model(model.sizes, CONTROL_SEED).eval()
    with torch.no_grad():
        own, other = (
            [one.attend([word.lower() for word in s.words]).weights for s in sentences]
            for one in (model, untrained)
        )
    nothing = [()] * len(sentences)
    words = [word.lower() in known for s in sentences for word in s.words]
    whole = sum(all(word.lower() in known for word in s.words) for s in sentences)
    where = "the course grammar, held out" if on == "grammar" else "the written treebank"
    note = "The word itself is left out before the largest weight is taken, except for the rarest word."
    if on == "treebank":
        note += (
            f" The model knows {sum(words) / len(words):.0%} of the words, and {whole} of {len(sentences)} "
            "sentences in full; the other words it reads as <unk>."
        )
    table = head_table(
        score_roles(own, sentences, source.counts, other),
        habits=count_habits(own, nothing),
        control_habits=count_habits(other, nothing),
        model=source.name,
        source=where,
        note=f"{note} Scores: on every second sentence; the relation was picked on the others.",
    )
    # A model without special tokens can't look at them.
    return replace(table, measures=tuple(m for m in table.measures if m.name != SPECIAL))
