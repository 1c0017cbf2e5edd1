"""Numbers for words: a vocabulary gives every token an id, and unknown ones a common id."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence


class Vocabulary:
    """Tokens in the order in which they were first seen, behind <pad> (id 0) and <unk> (id 1)."""

    PAD, UNKNOWN = "<pad>", "<unk>"

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = list(dict.fromkeys([self.PAD, self.UNKNOWN, *tokens]))
        self._ids = {token: i for i, token in enumerate(self.tokens)}

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """The id of every token; 1 for a token that was never seen."""
        return [self._ids.get(token, self._ids[self.UNKNOWN]) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The token behind every id. Raises IndexError for an id outside the vocabulary,
        TypeError for one that is not a whole number."""
        ids = [operator.index(i) for i in ids]
        for i in ids:
            if not 0 <= i < len(self):
                raise IndexError(
                    f"id {i} is not in this vocabulary of {len(self)} tokens (ids 0 to {len(self) - 1})."
                )
        return [self.tokens[i] for i in ids]

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: str) -> bool:
        return token in self._ids

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self)} tokens"
