"""What reads words: a model with `attend`, its method, or any function from words to AttentionMaps."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from mha_course.attention_maps import AttentionMaps
from mha_course.transformer.whole import TransformerMaps


class ReadingSource:
    """One way of reading words into AttentionMaps, one token a word where the model can do that.

    source: an object with `attend`, or a callable. A model with word pieces joins them to words and leaves
    its special tokens out; of an encoder-decoder the encoder's attention is taken.
    Raises: TypeError for anything that doesn't read.
    """

    def __init__(self, source: object) -> None:
        attend = getattr(source, "attend", source)
        if not callable(attend):
            got = type(source).__name__
            raise TypeError(f"a source must read words, as load_course_model() or its .attend; got {got}.")
        self._attend: Callable[..., object] = attend
        try:
            asked = inspect.signature(attend).parameters
        except (TypeError, ValueError):
            asked = {}
        self._options = {"special": False, "words": True} if {"special", "words"} <= set(asked) else {}
        self._vocabulary = getattr(getattr(attend, "__self__", None), "vocabulary", None)

    def read(self, words: Sequence[str]) -> AttentionMaps:
        """The maps of one sentence. Raises: TypeError when the source gives back something else."""
        maps = self._attend(list(words), **self._options)
        if isinstance(maps, TransformerMaps):
            maps = maps.encoder
        if not isinstance(maps, AttentionMaps):
            raise TypeError(f"a source must give AttentionMaps; got {type(maps).__name__}.")
        return maps

    def spelled(self, words: Sequence[str]) -> list[str]:
        """The words as the model spells them: in small letters for a course model."""
        return list(words) if self._vocabulary is None else [word.lower() for word in words]

    def unknown(self, words: Sequence[str]) -> list[int]:
        """Places of words that the model reads as <unk>; none where its vocabulary isn't known."""
        if self._vocabulary is None:
            return []
        return [i for i, word in enumerate(words) if word not in self._vocabulary]
