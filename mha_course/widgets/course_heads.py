"""A course model as a source of a HeadMap, scored on held-out sentences of the grammar or on the treebank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from mha_course.heads.head_table import HeadTable
from mha_course.models.course_models import load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.text.tokens import tokenize
from mha_course.training.head_tables import ON, course_head_table, sentences_of, word_counts_of
from mha_course.widgets.head_sources import LONGEST, Reading
from mha_course.widgets.trained_source import KNOWN_SENTENCE


class CourseHeads:
    """The heads of a course model.

    model: one that was loaded; None is the main one. on: "grammar", held-out sentences that it can read in
    full; "treebank", written sentences of which it knows a part of the words; "known treebank", those of
    which it knows every word.
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
        return tuple(sentence for sentence in sentences_of(self.model, self.on) if len(sentence) <= LONGEST)

    @property
    def counts(self) -> Mapping[str, int]:
        """How often words occur: in the training sentences, or in English for the treebank."""
        return word_counts_of(self.on)

    @cached_property
    def table(self) -> HeadTable:
        """Every head's scores beside those of an untrained model of the same sizes."""
        return course_head_table(self.model, self.on)

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
