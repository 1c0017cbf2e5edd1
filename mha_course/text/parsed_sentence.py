"""A sentence with its parts of speech and its dependency tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class ParsedSentence:
    """Words with a tree over them, in the terms of Universal Dependencies.

    upos: part of speech of each word. heads: index of the word that governs it, -1 for the root.
    relations: what it is to that word ("nsubj", "det", ...). All four have one entry a word.

    Raises: ValueError when the lengths differ, or when heads are no tree with one root.
    Source: Nivre et al. 2020 (Universal Dependencies v2).
    """

    words: tuple[str, ...]
    upos: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]

    def __post_init__(self) -> None:
        n = len(self.words)
        if not n == len(self.upos) == len(self.heads) == len(self.relations):
            raise ValueError(f"{n} words need as many parts of speech, heads and relations.")
        if self.heads.count(-1) != 1:
            raise ValueError(f"a tree has one root; here are {self.heads.count(-1)}.")
        if any(not -1 <= head < n for head in self.heads):
            raise ValueError(f"heads must be indices from 0 to {n - 1}, or -1 for the root.")
        for i in range(n):
            seen, at = set(), i
            while at != -1:
                if at in seen:
                    raise ValueError(f"word {i} ({self.words[i]!r}) hangs in a circle.")
                seen.add(at)
                at = self.heads[at]

    def __len__(self) -> int:
        return len(self.words)

    def arcs(self) -> Iterator[tuple[int, int, str]]:
        """(dependent, head, relation) of every word but the root."""
        for i, (head, relation) in enumerate(zip(self.heads, self.relations, strict=True)):
            if head >= 0:
                yield i, head, relation

    def text(self) -> str:
        """The sentence as it is written: no space before punctuation."""
        out = ""
        for word, pos in zip(self.words, self.upos, strict=True):
            out += word if not out or pos == "PUNCT" else f" {word}"
        return out
