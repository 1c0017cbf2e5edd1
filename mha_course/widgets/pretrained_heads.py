"""Heads of a real model as a source of a HeadMap: recorded ones, and those of a model that is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import torch

from mha_course.attention_maps import AttentionMaps
from mha_course.heads.criteria import criteria_of
from mha_course.heads.habits import SPECIAL, Habits, count_habits
from mha_course.heads.head_table import HeadTable
from mha_course.heads.nearest_word import nearest_words
from mha_course.heads.roles import score_roles
from mha_course.heads.table_of_scores import head_table
from mha_course.models.pretrained.finding import MINILM
from mha_course.models.pretrained.model import PretrainedModel
from mha_course.models.real_head_measures import MERGED
from mha_course.models.real_head_roles import real_head_roles
from mha_course.models.recorded_head_roles import recorded_head_roles
from mha_course.models.recorded_heads import RecordedHeads, recorded_heads
from mha_course.pieces import PieceMaps
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.text.treebank import course_treebank, merged_relations
from mha_course.text.word_frequency import treebank_word_counts
from mha_course.widgets.head_sources import LONGEST, Reading

DOZEN = 12
SCORED = 120  # sentences on which a model is scored that nobody has measured before
KNOWN_SENTENCE = "my friend likes music and plays the oboe every day ."
CLOSED = (
    "Recorded heads: their weights are kept for the sentences of this list only. A model that is installed "
    "here reads your own, and shuffled words: HeadMap(load_pretrained(…))."
)


class RecordedMiniLM:
    """The recorded heads of a real model.

    table: of scores; None takes what was measured on a large treebank where data/ has it, else measures the
    recorded sentences.

    Raises: FileNotFoundError when data/ is missing.
    """

    has_special = True
    closed = CLOSED
    known_sentence = KNOWN_SENTENCE

    def __init__(self, recorded: RecordedHeads | None = None, table: HeadTable | None = None) -> None:
        self.recorded = recorded_heads() if recorded is None else recorded
        self.name = self.recorded.name
        self._which = [i for i, s in enumerate(self.recorded.sentences) if len(s) <= LONGEST]
        self.examples = tuple(merged_relations(self.recorded.sentences[i], MERGED) for i in self._which)
        if table is not None:
            self.table = table

    @property
    def counts(self) -> Mapping[str, int]:
        """How often the treebank's words occur in English."""
        return treebank_word_counts()

    @cached_property
    def table(self) -> HeadTable:
        """The scores of all heads."""
        return measured_minilm(self.recorded) or recorded_head_roles(self.recorded).table

    def maps(self, i: int, special: bool = False) -> Reading:
        """The maps of example i."""
        return reading_of(self.recorded.read(self._which[i]), special)

    def read(self, text: str | Sequence[str], special: bool = False) -> None:
        """None: nothing is recorded but the examples."""
        return None


class PretrainedHeads:
    """The heads of a model that `load_pretrained` loaded; of an encoder-decoder, those of its encoder.

    table: of scores; None measures 120 sentences of the written treebank, and with control also the same
    model with random weights: some seconds for a small model, half a minute for one of 110 million weights.
    For all-MiniLM-L6-v2 it takes what was measured on a large treebank, where data/ has it.
    """

    closed = ""
    known_sentence = KNOWN_SENTENCE

    def __init__(self, model: PretrainedModel, table: HeadTable | None = None, control: bool = True) -> None:
        self.model = model
        self.name = model.name
        self.control = control
        self._read: dict[int, PieceMaps] = {}
        short = [s for s in course_treebank() if len(s) <= LONGEST][:SCORED]
        self.examples = tuple(merged_relations(sentence, MERGED) for sentence in short)
        if table is not None:
            self.table = table

    @property
    def counts(self) -> Mapping[str, int]:
        """How often the treebank's words occur in English."""
        return treebank_word_counts()

    @cached_property
    def has_special(self) -> bool:
        """Whether the tokenizer adds tokens of its own."""
        return None in self._example(0).query_words

    @cached_property
    def table(self) -> HeadTable:
        """The scores of all heads."""
        known = measured_minilm(self.model)
        if known is not None:
            return known
        words = [list(sentence.words) for sentence in self.examples]
        self._read = dict(enumerate(self.model.read_many(words)))
        untrained = list(self.model.untrained().read_many(words)) if self.control else None
        return _table(self.name, self.examples, list(self._read.values()), untrained)

    def maps(self, i: int, special: bool = False) -> Reading:
        """The maps of example i."""
        return reading_of(self._example(i), special)

    def read(self, text: str | Sequence[str], special: bool = False) -> Reading | None:
        """The maps of a text over its words, at most 24; None when there is no word."""
        return reading_of(next(self.model.read_many([text])), special)

    def _example(self, i: int) -> PieceMaps:
        """Examples are read by the dozen: the first sixty are all asked for when a map opens."""
        if i not in self._read:
            some = range(i, min(i + DOZEN, len(self.examples)))
            words = [list(self.examples[k].words) for k in some]
            self._read.update(zip(some, self.model.read_many(words), strict=True))
        return self._read[i]


def measured_minilm(heads: RecordedHeads | PretrainedModel) -> HeadTable | None:
    """What was measured of all-MiniLM-L6-v2 on a large treebank; None for others, or without that file."""
    try:
        table = real_head_roles().table
    except FileNotFoundError:
        return None
    sizes = (heads.n_layers, heads.n_heads) == (table.n_layers, table.n_heads)
    return table if sizes and heads.name.lower().endswith(MINILM.lower()) else None


def reading_of(read: PieceMaps, special: bool) -> Reading | None:
    """The first 24 words of maps over pieces, with the special tokens around them where asked for."""
    total = len(read.words_q)
    if not total or not read.maps.weights.numel():
        return None
    if not special or None not in read.query_words:
        maps = read.words()
        return Reading(_first(maps, LONGEST), tuple(range(min(total, LONGEST))), (), max(0, total - LONGEST))
    maps = read.words(special=True)
    before = next(i for i, word in enumerate(read.query_words) if word is not None)
    places = tuple(before + i for i in range(min(total, LONGEST)))
    if total > LONGEST:
        return Reading(_first(maps, before + LONGEST), places, (), total - LONGEST)
    return Reading(maps, places)


def _first(maps: AttentionMaps, n: int) -> AttentionMaps:
    """The first n tokens; nothing is rescaled."""
    if maps.weights.shape[-1] <= n:
        return maps
    return replace(
        maps,
        weights=maps.weights[..., :n, :n],
        query_tokens=maps.query_tokens[:n],
        key_tokens=maps.key_tokens[:n],
        allowed=None if maps.allowed is None else maps.allowed[:n, :n],
    )


@torch.no_grad()
def _table(
    name: str,
    sentences: Sequence[ParsedSentence],
    reads: Sequence[PieceMaps],
    untrained: Sequence[PieceMaps] | None = None,
) -> HeadTable:
    """Scores over words, by Clark's way from pieces to words."""
    control = None if untrained is None else [read.words().weights for read in untrained]
    scores = score_roles([read.words().weights for read in reads], sentences, treebank_word_counts(), control)
    nearest = nearest_words(sentences, criteria_of(sentences))
    note = (
        "Over words (weight to a word: sum over its pieces; from a word: mean). Special tokens are left out, "
        "and the word itself, except for the rarest word. Scores: on every second sentence; the relation was "
        "picked on the others."
    )
    table = head_table(
        scores,
        habits=_habits(reads),
        control_habits=None if untrained is None else _habits(untrained),
        nearest={name: rule.held for name, rule in nearest.items()},
        model=name,
        source="the written treebank",
        note=note if untrained is not None else f"{note} No untrained model was scored.",
    )
    if any(None in read.query_words for read in reads):
        return table
    # A model without special tokens can't look at them.
    return replace(table, measures=tuple(m for m in table.measures if m.name != SPECIAL))


def _habits(reads: Sequence[PieceMaps]) -> Habits:
    special = [[i for i, word in enumerate(read.query_words) if word is None] for read in reads]
    return count_habits([read.maps.weights for read in reads], special)
