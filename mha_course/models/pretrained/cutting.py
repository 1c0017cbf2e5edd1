"""A text as a model's tokenizer cuts it: ids, a label for each piece, and the word each piece is of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from mha_course.models.pretrained.aligning import RawPiece, raw_pieces
from mha_course.text.readable import readable
from mha_course.text.tokens import is_invisible, token_spans

LONGEST_TEXT = 20_000  # characters that a tokenizer is given; a model reads far fewer
_BLANKS = {" ": "␣", "\n": "⏎", "\t": "⇥"}
MOST_WORDS = 1_000  # of a list; the weights between more of them would fill the memory
Span = tuple[int, int]


@dataclass(frozen=True)
class Pieces:
    """A text in pieces.

    ids: what the model reads. labels: what is shown of each. word_of: index of each piece's word, None for
    what the tokenizer added ([CLS], </s>). words: the words. note: what was left out, "" when nothing was.
    """

    ids: tuple[int, ...]
    labels: tuple[str, ...]
    word_of: tuple[int | None, ...]
    words: tuple[str, ...]
    note: str = ""


def cut(tokenizer: object, text: str | Sequence[str], limit: int, target: bool = False) -> Pieces:
    """Cut a text, or a list of words that stay words, into the pieces of a tokenizer.

    A list is joined with blanks first, so that its words are cut as they are in running text. Pieces
    beyond `limit` are left out from the end, with a note; so are lone surrogates and control characters,
    which become U+FFFD. target: the tokenizer's other language, where it has one.

    What is shown: a piece of WordPiece as the model spells it ("##dis"), since its vocabulary is readable;
    of other tokenizers, and of unknown pieces, the text behind it. Where one character falls into several
    pieces, as Chinese does in GPT-2, each shows it with a number: 猫·1/3. Blanks are ␣, ⏎ and ⇥;
    signs that can't be seen are shown by their number, such as U+200B.

    Raises: ValueError for what is neither a text nor a list of texts.
    """
    text, spans, notes = _joined(text)
    longer = len(text) > LONGEST_TEXT
    text = text[:LONGEST_TEXT]
    if spans is not None and len(spans) > MOST_WORDS:
        spans, text, longer = spans[:MOST_WORDS], text[: spans[MOST_WORDS - 1][1]], True
    raw, left_out = _shortened(raw_pieces(tokenizer, text, target), limit)
    if left_out or longer:
        what = "target" if target else "text"
        notes.append(f"the {what} was cut after {len(raw)} pieces, the most that are read here")
    word_piece = type(getattr(tokenizer, "_tokenizer", None) and tokenizer._tokenizer.model).__name__
    labels = _labels(raw, text, tokenizer.unk_token, word_piece == "WordPiece")
    if spans is None:
        end = max((piece.span[1] for piece in raw), default=0) if left_out else len(text)
        spans = _words_around([span for span in token_spans(text) if span[0] < end], raw)
    word_of = _assigned(raw, spans)
    words = [text[start:end] for start, end in spans]
    if not words and any(not piece.special for piece in raw):  # blanks alone
        word_of = [None if piece.special else 0 for piece in raw]
        words = ["".join(label for label, piece in zip(labels, raw, strict=True) if not piece.special)]
    return Pieces(
        tuple(piece.id for piece in raw), tuple(labels), tuple(word_of), tuple(words), "; ".join(notes)
    )


def _joined(text: str | Sequence[str]) -> tuple[str, list[Span] | None, list[str]]:
    """The text, where its given words stand (None: it is running text), and what was changed in it."""
    if isinstance(text, str):
        given, spans = text, None
        text = readable(text)
    else:
        words = list(text) if isinstance(text, (list, tuple)) else [None]
        if not all(isinstance(word, str) for word in words):
            raise ValueError(f"give a text or a list of words; got {type(text).__name__}.")
        given, spans, at = " ".join(words), [], 0
        words = [readable(word) for word in words]
        text = " ".join(words)
        for word in words:
            spans.append((at, at + len(word)))
            at += len(word) + 1
    changed = text.count("\N{REPLACEMENT CHARACTER}") > given.count("\N{REPLACEMENT CHARACTER}")
    return text, spans, ["signs that can't be shown became \N{REPLACEMENT CHARACTER}"] if changed else []


def _shortened(raw: list[RawPiece], limit: int) -> tuple[list[RawPiece], bool]:
    """The first pieces, so many that with the special ones there are at most `limit`."""
    if len(raw) <= limit:
        return raw, False
    room = max(0, limit - sum(piece.special for piece in raw))
    kept = []
    for piece in raw:
        room -= not piece.special
        if piece.special or room >= 0:
            kept.append(piece)
    return kept[:limit], True


def _labels(raw: list[RawPiece], text: str, unknown: str | None, word_piece: bool) -> list[str]:
    labels = []
    places = _places_in_characters(raw)
    for piece, (place, of) in zip(raw, places, strict=True):
        behind = text[piece.span[0] : piece.span[1]]
        if piece.special or (word_piece and piece.token != unknown):
            labels.append(piece.token)
            continue
        if not behind:
            label = "".join(_BLANKS.get(sign, "␣") for sign in text[slice(*piece.wide)]) or (
                "␣" if not piece.token.strip("▁ĠĊ ") else piece.token.strip("▁Ġ")
            )
        elif is_invisible(behind):
            label = " ".join(f"U+{ord(sign):04X}" for sign in behind[:4]) + "…" * (len(behind) > 4)
        else:
            label = behind
        labels.append(label if of == 1 else f"{label}·{place}/{of}")
    return labels


def _places_in_characters(raw: list[RawPiece]) -> list[Span]:
    """For each piece: the how-manyth of how many that share a character; (1, 1) when it shares none."""
    places, group = [(1, 1)] * len(raw), []
    for i, piece in enumerate([*raw, None]):
        last = raw[group[-1]] if group else None
        empty = piece is None or piece.special or piece.span[0] == piece.span[1]
        if last is None or empty or piece.span[0] >= last.span[1]:
            for place, member in enumerate(group):
                places[member] = (place + 1, len(group))
            group = []
        if not empty:
            group.append(i)
    return places


def _words_around(spans: list[Span], raw: list[RawPiece]) -> list[Span]:
    """The words of running text, so that each piece is of one: those that a piece spans become one word."""
    pieces = [piece.span for piece in raw if piece.span[0] < piece.span[1] and not piece.special]
    words: list[Span] = []
    for start, end in sorted(spans + pieces):
        if words and start < words[-1][1]:
            words[-1] = (words[-1][0], max(words[-1][1], end))
        else:
            words.append((start, end))
    return words


def _assigned(raw: list[RawPiece], spans: list[Span]) -> list[int | None]:
    """The word of each piece: that with which it shares most characters, the next one for a blank."""
    word_of: list[int | None] = []
    starts = [start for start, _ in spans]
    first = 0
    for piece in raw:
        start, end = piece.span
        while first < len(spans) and spans[first][1] <= start:
            first += 1
        near = range(first, bisect_left(starts, end))
        shared = [(min(end, spans[i][1]) - max(start, spans[i][0]), -i) for i in near]
        best = max(shared, default=(0, 0))
        word_of.append(None if piece.special or best[0] <= 0 else -best[1])
    following: int | None = None
    for i in range(len(raw) - 1, -1, -1):
        if raw[i].special:
            continue
        if word_of[i] is None:
            before = next((word_of[j] for j in range(i, -1, -1) if word_of[j] is not None), None)
            word_of[i] = following if following is not None else before
            if word_of[i] is None and spans:
                word_of[i] = 0
        following = word_of[i]
    return word_of
