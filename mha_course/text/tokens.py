"""Cut a sentence into tokens: words, punctuation, and whole characters of scripts without spaces."""

from __future__ import annotations

import regex

# A letter, mark or digit of a script that puts blanks between words (with the two joiners of Persian).
_LETTER = (
    r"(?:(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}])(?![0-9]\uFE0F?\u20E3)[\p{L}\p{M}\p{N}\u200c\u200d])"
)
# Order matters: the first alternative that fits wins.
_TOKEN = regex.compile(
    rf"""
    [0-9\#*]\uFE0F?\u20E3                    # a keycap, which is a digit only to begin with
  | \p{{Regional_Indicator}}{{2}}              # a flag, two letters as one picture
  | \[(?:PAD|UNK|CLS|SEP|MASK)\]             # special tokens keep their brackets
  | {_LETTER}+ (?: ['’\-.] {_LETTER}+ )*     # a word or number: don't, well-read, 3.5
  | (?!\s)\X                                # anything else: one character as a person sees it
    """,
    regex.VERBOSE,
)
_INVISIBLE = regex.compile(r"^[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\uFE0F]+$")


def tokenize(sentence: str) -> list[str]:
    """Tokens of a sentence, in reading order, exactly as written.

    Words, numbers and punctuation marks are tokens; Chinese, Japanese and Thai text, which has no
    spaces, is cut into characters; an emoji of several code points stays whole. Blanks, control
    characters and marks that only steer the direction of text are dropped.
    """
    return [sentence[start:end] for start, end in token_spans(sentence)]


def token_spans(sentence: str) -> list[tuple[int, int]]:
    """Where the tokens of `tokenize` stand: start and end of each, as indices into the sentence."""
    return [match.span() for match in _TOKEN.finditer(sentence) if not _INVISIBLE.match(match[0])]


def is_invisible(text: str) -> bool:
    """Whether nothing of the text can be seen: blanks, control characters, marks that steer direction."""
    return bool(_INVISIBLE.match(text)) or not text
