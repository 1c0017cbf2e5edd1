"""Questions to a text in word pieces: the neighbouring pieces, and the rarest piece. No tree is needed.

Over words, a word of three pieces gets three pieces' weight (see `pieces_to_words`), and rare words have
many pieces: a head without any skill then seems to find rare words. Over pieces it doesn't.
"""

from __future__ import annotations

from collections.abc import Sequence

from mha_course.heads.criteria import (
    NEXT,
    PREVIOUS,
    RAREST,
    TWO_RAREST,
    Criterion,
    Questions,
    longest,
    rarest,
)

PIECE_CRITERIA = (
    Criterion("positional", PREVIOUS),
    Criterion("positional", NEXT),
    Criterion("rare", RAREST),
    Criterion("rare", TWO_RAREST),
)
_CONTINUES = "##"  # how WordPiece marks a piece that goes on with a word


def piece_questions(pieces: Sequence[str], often: Sequence[int] | None = None) -> Questions:
    """Everything that is asked about one text in pieces, special tokens left out.

    pieces: their texts. often: how often each occurs in the language; None leaves rare pieces out. Every
    piece is asked; targets are pieces with a letter or a digit, ties count as hits. criterion in the answer
    is an index into PIECE_CRITERIA.

    Raises: ValueError when there aren't as many counts as pieces.
    Source: Voita et al. 2019, section 5.3.
    """
    if often is not None and len(often) != len(pieces):
        raise ValueError(f"{len(pieces)} pieces need as many counts; got {len(often)}.")
    n = len(pieces)
    spelled = [piece.removeprefix(_CONTINUES) for piece in pieces]
    able = [i for i, text in enumerate(spelled) if any(sign.isalnum() for sign in text)]
    asked: dict[tuple[int, int], list[int]] = {(0, i): [i - 1] for i in range(1, n)}
    asked |= {(1, i): [i + 1] for i in range(n - 1)}
    if often is not None and able:
        one, two = rarest({i: often[i] for i in able})
        asked |= {(2, i): one for i in range(n)} | {(3, i): two for i in range(n)}
    return Questions.of(asked, n, longest({i: len(spelled[i]) for i in able}))
