"""Cards of the interview: what was said of each the last time, and the box in which it waits.

A Leitner box (Leitner 1972): 0 was missed, 1 was known in part or after a miss, 2 was known, 3 was known
twice in a row or more. Kept in my_course/progress.json under "cards". Standard library only.
"""

from __future__ import annotations

from typing import Literal, TypedDict, get_args

from mha_course import progress, record_file
from mha_course.progress import PROGRESS

SECTION = "cards"
LAST_BOX = 3
# Where a card stands that was never asked. Known at once it goes to 2; after a miss it has come to 1 by then.
FIRST_BOX = 1

Mark = Literal["missed", "partly", "knew"]
MARKS: tuple[Mark, ...] = get_args(Mark)


class KeptCard(TypedDict):
    """A card's box, its last mark, how often it was marked, and when it was last."""

    box: int
    mark: Mark
    times: int
    when: str


def box_after(box: int, mark: Mark) -> int:
    """The box in which a card waits after this mark. Raises: ValueError for what is no mark."""
    if mark not in MARKS:
        raise ValueError(f"mark={mark!r}: one of {', '.join(MARKS)}")
    if mark == "missed":
        return 0
    return max(1, box) if mark == "partly" else min(LAST_BOX, box + 1)


def save_mark(key: str, mark: Mark) -> str | None:
    """Keep what the student says of a card, and move it to its box.

    Returns: None, or one sentence when it is kept only until the notebook is closed. Raises: ValueError for
    a key that is no text, and for what is no mark.
    """
    if not isinstance(key, str):
        raise ValueError(f"key={key!r}: a card's key, such as 'why-several-heads'")
    box_after(FIRST_BOX, mark)
    when = progress.now()

    def update(kept: record_file.Section) -> None:
        before = _read(kept.get(key))
        box, times = (before["box"], before["times"]) if before else (FIRST_BOX, 0)
        # What a later version notes beside it stays.
        found = kept.get(key)
        entry = dict(found) if isinstance(found, dict) else {}
        entry.update(box=box_after(box, mark), mark=mark, times=times + 1, when=when)
        kept[key] = entry

    return record_file.change(PROGRESS, SECTION, update)


def put_back(key: str, before: KeptCard | None) -> str | None:
    """Take a mark back: the card stands again as it stood before it. Returns as `save_mark`."""

    def update(kept: record_file.Section) -> None:
        if before is None:
            kept.pop(key, None)
        else:
            found = kept.get(key)
            kept[key] = {**(found if isinstance(found, dict) else {}), **before}

    return record_file.change(PROGRESS, SECTION, update)


def kept_cards() -> dict[str, KeptCard]:
    """Every card that was marked, by its key; what doesn't read as one is left out."""
    found = record_file.entries(PROGRESS, SECTION)
    return {key: card for key, entry in found.items() if (card := _read(entry))}


def known_cards() -> set[str]:
    """The keys of the cards that were known the last time they were asked."""
    return {key for key, card in kept_cards().items() if card["mark"] == "knew"}


def _read(entry: object) -> KeptCard | None:
    if not isinstance(entry, dict):
        return None
    box, mark, times, when = (entry.get(name) for name in ("box", "mark", "times", "when"))
    if mark not in MARKS or not _is_count(box):
        return None
    return KeptCard(
        box=min(LAST_BOX, box),
        mark=mark,
        times=max(1, times) if _is_count(times) else 1,
        when=when if isinstance(when, str) else "",
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9
