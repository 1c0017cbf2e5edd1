"""What a HeadMap looks into: a table of scores, example sentences, and maps of those or of one's own.

A source is anything with the attributes of `HeadSource`. There are three: a course model
(`course_heads.py`), the recorded heads of a real model and any pretrained model (`pretrained_heads.py`).
`source_of` finds the right one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from mha_course.attention_maps import AttentionMaps
from mha_course.heads.head_table import HeadTable
from mha_course.text.parsed_sentence import ParsedSentence

LONGEST = 24  # words shown at once, so that cells can carry labels


@dataclass(frozen=True, eq=False)
class Reading:
    """Attention over one sentence.

    maps: square, over words, with special tokens where asked for. places: where each word stands among the
    tokens of the maps. unknown: places of tokens that the model doesn't know. cut: words that were left out.
    """

    maps: AttentionMaps
    places: tuple[int, ...]
    unknown: tuple[int, ...] = ()
    cut: int = 0


@runtime_checkable
class HeadSource(Protocol):
    """A model's heads: what was measured of them, and sentences to see them on.

    name: of the model. table: its scores. examples: parsed sentences. counts: how often words occur, for the
    rarest word of an example; None when nobody counted. has_special: whether the model adds tokens of its
    own. closed: why it reads no sentence but the examples; "" when it reads any. known_sentence: one that it
    reads well, offered as an example.
    """

    name: str
    table: HeadTable
    examples: Sequence[ParsedSentence]
    counts: Mapping[str, int] | None
    has_special: bool
    closed: str
    known_sentence: str

    def maps(self, i: int, special: bool = False) -> Reading:
        """The maps of example i, from 0; special: with the model's own tokens."""
        ...

    def read(self, text: str | Sequence[str], special: bool = False) -> Reading | None:
        """The maps of a text, or of words that stay words; None for a source that can't, or for no word."""
        ...


def source_of(thing: object = None) -> HeadSource:
    """A source from a source, a course model, recorded heads or a pretrained model; None is the course model.

    A text is a name: "grammar", "treebank" or "known treebank" (the course model, scored on these), "MiniLM"
    (the recorded heads), else what `load_pretrained` knows.
    Raises: TypeError for anything else; ValueError for a name that can't be had.
    """
    from mha_course.models.gloss_model import GlossModel
    from mha_course.widgets.course_heads import CourseHeads

    if isinstance(thing, HeadSource):
        return thing
    if thing is None or thing == "course model":
        return CourseHeads()
    if thing in ("grammar", "treebank", "known treebank"):
        return CourseHeads(on=thing)
    if isinstance(thing, GlossModel):
        return CourseHeads(thing)
    from mha_course.widgets.pretrained_heads import PretrainedHeads, RecordedMiniLM

    if isinstance(thing, str) and thing.lower() == "minilm":
        return RecordedMiniLM()
    if isinstance(thing, str):
        from mha_course.models.pretrained import load_pretrained

        return PretrainedHeads(load_pretrained(thing))
    if type(thing).__name__ == "RecordedHeads":
        return RecordedMiniLM(thing)
    if hasattr(thing, "weights_over_words") and hasattr(thing, "read"):
        return PretrainedHeads(thing)
    raise TypeError(f"a head map shows a course model, recorded heads or a pretrained model; got {thing!r}.")
