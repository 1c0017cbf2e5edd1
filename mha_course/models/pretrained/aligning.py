"""Which stretch of the text each piece of a tokenizer stands for."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

_WINDOW = 64  # characters that a tokenizer may have dropped between two pieces


@dataclass(frozen=True)
class RawPiece:
    """A piece as the tokenizer gives it: its id, its spelling, and where it comes from.

    special: added by the tokenizer, not in the text. span: start and end of its characters in the text,
    blanks around them left out; empty for a piece that holds none. wide: the same with the blanks.
    """

    id: int
    token: str
    special: bool
    span: tuple[int, int]
    wide: tuple[int, int]


def raw_pieces(tokenizer: object, text: str, target: bool = False) -> list[RawPiece]:
    """All pieces of a text, special ones included.

    Tokenizers of the fast kind say where a piece comes from; for the others its spelling is looked up in
    the text, both brought to Unicode's form NFKC, as SentencePiece does (Kudo and Richardson 2018).
    target: cut with the tokenizer's other language, where it has one (Marian).
    """
    if tokenizer.is_fast:
        called = {"text_target": text} if target else {"text": text}
        found = tokenizer(
            **called, return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False
        )
        tokens = tokenizer.convert_ids_to_tokens(found["input_ids"])
        rows = zip(
            found["input_ids"], tokens, found["special_tokens_mask"], found["offset_mapping"], strict=True
        )
        return [
            RawPiece(id_, token, bool(special), _stripped(text, tuple(wide), token), tuple(wide))
            for id_, token, special, wide in rows
        ]
    return _by_spelling(tokenizer, text, target)


def _stripped(text: str, span: tuple[int, int], token: str) -> tuple[int, int]:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    # SentencePiece's mark of a blank alone, which some tokenizers say stands where the next word does.
    if token and not token.strip("▁") and text[start:end] != token:
        end = start
    return start, end


def _by_spelling(tokenizer: object, text: str, target: bool) -> list[RawPiece]:
    if target and hasattr(tokenizer, "_switch_to_target_mode"):
        tokenizer._switch_to_target_mode()
    try:
        tokens = tokenizer.tokenize(text)
        ids = tokenizer.convert_tokens_to_ids(tokens)
    finally:
        if target and hasattr(tokenizer, "_switch_to_input_mode"):
            tokenizer._switch_to_input_mode()
    whole = list(tokenizer.build_inputs_with_special_tokens(ids))
    # What was added stands around the text's own ids.
    before = next((i for i in range(len(whole) - len(ids) + 1) if whole[i : i + len(ids)] == ids), 0)
    spans = _byte_by_byte(tokens, text) or _looked_up(tokens, text)
    pieces = []
    for i, id_ in enumerate(whole):
        own = i - before
        if 0 <= own < len(ids):
            pieces.append(RawPiece(id_, tokens[own], False, _stripped(text, spans[own], ""), spans[own]))
        else:
            pieces.append(RawPiece(id_, tokenizer.convert_ids_to_tokens(id_), True, (0, 0), (0, 0)))
    return pieces


def _byte_by_byte(tokens: list[str], text: str) -> list[tuple[int, int]] | None:
    """The span of each piece where pieces are the bytes of the text, as in ByT5 (Xue et al. 2022)."""
    joined = "".join(tokens)
    if not joined.isascii() and max(joined) > "\xff" or joined.encode("latin-1") != text.encode("utf-8"):
        return None
    where = [i for i, sign in enumerate(text) for _ in sign.encode("utf-8")]
    spans, at = [], 0
    for token in tokens:
        spans.append((where[at], where[at + len(token) - 1] + 1))
        at += len(token)
    return spans


def _looked_up(tokens: list[str], text: str) -> list[tuple[int, int]]:
    """The span of each piece, found by its spelling from left to right."""
    norm, where = "", []  # the text in NFKC, and for each of its characters the index in the text
    for i, sign in enumerate(text):
        for part in unicodedata.normalize("NFKC", sign):
            norm += part
            where.append(i)
    where.append(len(text))
    spans, at = [], 0
    for token in tokens:
        spelled = unicodedata.normalize("NFKC", token.lstrip("▁").replace("▁", " ")).strip()
        while at < len(norm) and norm[at].isspace():
            at += 1
        found = norm.find(spelled, at, at + len(spelled) + _WINDOW) if spelled else -1
        if found < 0:
            spans.append((where[at], where[at]))
            continue
        at = found + len(spelled)
        spans.append((where[found], where[at - 1] + 1))
    return spans
