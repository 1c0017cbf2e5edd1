"""From word pieces to words: what a tokenizer cut apart is put together again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.attention import check_tensors
from mha_course.attention_maps import AttentionMaps

WordOfPiece = Sequence[int | None]
_WAYS = ("sum", "mean")


def pieces_to_words(
    weights: Tensor,
    query_words: WordOfPiece,
    key_words: WordOfPiece | None = None,
    to: str = "sum",
    from_: str = "mean",
    n_query_words: int | None = None,
    n_key_words: int | None = None,
) -> Tensor:
    """Attention between pieces as attention between words.

    weights: (..., n_q, n_k) over pieces. query_words and key_words: for each piece the index of its word,
    None for a piece that belongs to no word ([CLS] and its like). Such a piece is dropped and nothing is
    rescaled, so a row sums to what it gave to words. key_words=None means query_words. to: "sum" or "mean"
    of the weights *to* a word's pieces; from_: the same for the weights *from* them. n_query_words and
    n_key_words: how many words there are, when the last ones may have no piece; a word without a piece
    gets zeros.

    With the defaults, rows without special tokens still sum to 1. "sum" pays for every piece: a head that
    looks everywhere alike gives a word of three pieces three times the weight.

    Returns: (..., words of the queries, words of the keys).

    Raises: ValueError when the lists don't fit the weights, for an index that is no whole number from 0 on,
    and for other ways than "sum" and "mean".
    Source: Clark et al. 2019, section 4.1 (sum to, mean from).
    """
    check_tensors(weights=weights)
    if weights.ndim < 2 or not weights.is_floating_point():
        raise ValueError(
            f"weights must be floating (..., n_q, n_k); got {weights.dtype}, {tuple(weights.shape)}."
        )
    for name, way in (("to", to), ("from_", from_)):
        if way not in _WAYS:
            raise ValueError(f'{name} must be "sum" or "mean"; got {way!r}.')
    n_q, n_k = weights.shape[-2:]
    if key_words is None:
        if n_q != n_k:
            raise ValueError(f"with n_q={n_q} and n_k={n_k} the keys need a list of their own: key_words.")
        key_words, n_key_words = query_words, n_query_words if n_key_words is None else n_key_words
    rows = word_matrix(query_words, n_q, n_query_words, from_, weights)
    columns = word_matrix(key_words, n_k, n_key_words, to, weights)
    return rows @ weights @ columns.mT


def word_matrix(
    words: WordOfPiece, n_pieces: int, n_words: int | None, way: str, like: Tensor | None = None
) -> Tensor:
    """The matrix that gathers pieces into words: (n_words, n_pieces), 1 (or 1 / pieces for "mean").

    Raises: ValueError when `words` hasn't one entry a piece, or an entry is no index of a word.
    """
    words = list(words)
    if len(words) != n_pieces:
        raise ValueError(f"there are {n_pieces} pieces, but {len(words)} entries say which word they are of.")
    at = [(word, piece) for piece, word in enumerate(words) if word is not None]
    for word, piece in at:
        if isinstance(word, bool) or not isinstance(word, int) or word < 0:
            raise ValueError(f"piece {piece}: {word!r} is no index of a word; None marks a special token.")
    needed = 1 + max((word for word, _ in at), default=-1)
    if n_words is None:
        n_words = needed
    elif n_words < needed:
        raise ValueError(f"a piece is of the word with index {needed - 1}, but there are {n_words} words.")
    like = torch.empty(0) if like is None else like
    matrix = torch.zeros(n_words, n_pieces, dtype=like.dtype, device=like.device)
    if at:
        matrix[tuple(torch.tensor(at, device=like.device).T)] = 1
    return matrix / matrix.sum(dim=-1, keepdim=True).clamp(min=1) if way == "mean" else matrix


@dataclass(frozen=True, eq=False)
class PieceMaps:
    """Attention of one text over all its pieces, and which word each piece is of.

    maps: AttentionMaps over all pieces, special tokens included. query_words and key_words: for each piece
    the index of its word, None for a special token. words_q and words_k: the words. A word may have no
    piece: some tokenizers drop invisible signs.

    Raises: ValueError when these don't go together.
    """

    maps: AttentionMaps
    query_words: tuple[int | None, ...]
    key_words: tuple[int | None, ...]
    words_q: tuple[str, ...]
    words_k: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("query_words", "key_words", "words_q", "words_k"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        n_q, n_k = self.maps.weights.shape[-2:]
        word_matrix(self.query_words, n_q, len(self.words_q), "sum")
        word_matrix(self.key_words, n_k, len(self.words_k), "sum")

    def pieces(self, special: bool = True) -> AttentionMaps:
        """The maps over pieces; special=False leaves special tokens out and rescales nothing."""
        if special or not self._has_special():
            return self.maps
        rows = [i for i, word in enumerate(self.query_words) if word is not None]
        columns = [i for i, word in enumerate(self.key_words) if word is not None]
        maps, allowed = self.maps, self.maps.allowed
        return AttentionMaps(
            maps.weights[..., rows, :][..., columns],
            tuple(maps.query_tokens[i] for i in rows),
            tuple(maps.key_tokens[i] for i in columns),
            maps.kind,
            None if allowed is None else allowed[rows][:, columns],
            _joined(maps.note, _LEFT_OUT),
        )

    def words(self, special: bool = False, to: str = "sum", from_: str = "mean") -> AttentionMaps:
        """The maps over words, by `pieces_to_words`; with special=True a special token is a word of its own.

        A word may look at another when any of its pieces may look at any of the other's.
        Raises: ValueError for other ways than "sum" and "mean".
        """
        maps = self.maps
        queries, labels_q = self.query_words, self.words_q
        keys, labels_k = self.key_words, self.words_k
        if special:
            queries, labels_q = _with_special(queries, labels_q, maps.query_tokens)
            keys, labels_k = _with_special(keys, labels_k, maps.key_tokens)
        sizes = len(labels_q), len(labels_k)
        weights = pieces_to_words(maps.weights, queries, keys, to, from_, *sizes)
        allowed = maps.allowed
        if allowed is not None:
            allowed = pieces_to_words(allowed.float(), queries, keys, "sum", "sum", *sizes) > 0
        said = []
        if len(set(queries)) < len(queries) or len(set(keys)) < len(keys):
            said = [f"word pieces joined ({to} of the weight to them, {from_} of the weight from them)"]
        if not special and self._has_special():
            said.append(_LEFT_OUT)
        return AttentionMaps(weights, labels_q, labels_k, maps.kind, allowed, _joined(maps.note, *said))

    def _has_special(self) -> bool:
        return None in self.query_words or None in self.key_words


_LEFT_OUT = "special tokens left out, nothing rescaled"


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _with_special(
    words: tuple[int | None, ...], labels: tuple[str, ...], tokens: tuple[str, ...]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Each special token as a word at the place where it stands; words without a piece keep their turn."""
    order: list[tuple[int | None, str]] = []
    placed = 0
    for piece, word in enumerate(words):
        if word is None:
            order.append((None, tokens[piece]))
        while word is not None and placed <= word:
            order.append((placed, labels[placed]))
            placed += 1
    rest = list(range(placed, len(labels)))
    end = max((i + 1 for i, (word, _) in enumerate(order) if word is not None), default=min(1, len(order)))
    order[end:end] = [(word, labels[word]) for word in rest]
    where = {word: at for at, (word, _) in enumerate(order) if word is not None}
    own = iter([at for at, (word, _) in enumerate(order) if word is None])
    return tuple(next(own) if word is None else where[word] for word in words), tuple(t for _, t in order)
