"""What the interview asks next: a sitting in which what was missed comes back until it is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from mha_course.progress_cards import KeptCard, Mark

# After so many other cards it is asked again. What was known is done for this sitting.
COMES_BACK: dict[Mark, int] = {"missed": 3, "partly": 6}


def opening_order(keys: Sequence[str], kept: Mapping[str, KeptCard]) -> list[str]:
    """The order in which a sitting takes cards up: missed, then new, then by box, the oldest first.

    keys: in the order of the interview, which decides where nothing else does.
    """
    return sorted(
        keys, key=lambda key: (_urgency(key, kept), _moment(kept[key]["when"]) if key in kept else 0)
    )


def mixed_order(topics: Mapping[str, str], kept: Mapping[str, KeptCard], size: int) -> list[str]:
    """The first `size` cards of `opening_order`, dealt so that neighbours have different topics.

    topics: the topic of every card, in the order of the interview. Among cards that are equally urgent one
    topic after the other gives one; asking about one thing after another is harder, and keeps for longer
    (interleaving, Rohrer and Taylor 2007).
    """
    given: Counter[tuple[object, str]] = Counter()
    rounds: dict[str, int] = {}
    for key in opening_order(list(topics), kept):
        stack = _urgency(key, kept), topics[key]
        rounds[key] = given[stack]
        given[stack] += 1
    return sorted(rounds, key=lambda key: (_urgency(key, kept), rounds[key]))[:size]


def _urgency(key: str, kept: Mapping[str, KeptCard]) -> tuple[int, int]:
    card = kept.get(key)
    if card is None:
        return 1, 0
    return (2 if card["box"] else 0), card["box"]


def _moment(when: str) -> float:
    """The time that is meant, wherever it was noted; what can't be read counts as long ago."""
    try:
        return datetime.fromisoformat(when).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


class Given(NamedTuple):
    """A mark that was given: the card, the mark, and when the card was to come back before it, if at all."""

    key: str
    mark: Mark
    was_due: int | None
    before: KeptCard | None


@dataclass
class Sitting:
    """The cards in the order of `opening_order`, and what was said of them since the sitting began.

    turn: how many marks were given. due: the turn from which a card comes back.
    """

    order: list[str]
    turn: int = 0
    due: dict[str, int] = field(default_factory=dict)
    given: list[Given] = field(default_factory=list)

    def marked(self, key: str, mark: Mark, before: KeptCard | None = None) -> None:
        """Note a mark; before: how the card was kept until then, for `take_back`."""
        self.given.append(Given(key, mark, self.due.pop(key, None), before))
        self.turn += 1
        if mark in COMES_BACK:
            self.due[key] = self.turn + COMES_BACK[mark]

    def take_back(self) -> Given | None:
        """Undo the last mark and return it; None where there is none."""
        if not self.given:
            return None
        last = self.given.pop()
        self.turn -= 1
        self.due.pop(last.key, None)
        if last.was_due is not None:
            self.due[last.key] = last.was_due
        return last

    def next_card(self, among: Collection[str] | None = None) -> str | None:
        """The card to ask now, of these or of all; None when every one of them is done.

        First what is due to come back, then the next that was not asked yet. Where only cards are left that
        wait for their turn, the one that is due first is asked at once, and none twice in a row while there
        is another one.
        """
        waiting = {key: turn for key, turn in self.due.items() if among is None or key in among}
        asked = {one.key for one in self.given}
        fresh = [key for key in self.order if key not in asked and (among is None or key in among)]
        first = min(waiting, key=lambda key: waiting[key], default=None)
        if first is not None and waiting[first] <= self.turn:
            return first
        if fresh:
            return fresh[0]
        last = self.given[-1].key if self.given else None
        return min(waiting, key=lambda key: (key == last, waiting[key]), default=None)

    def left(self, among: Collection[str] | None = None) -> int:
        """How many cards, of these or of all, are not done yet."""
        done = {one.key for one in self.given} - set(self.due)
        return sum(key not in done and (among is None or key in among) for key in self.order)

    def firsts(self) -> dict[str, Mark]:
        """The first mark of every card that was asked, in the order in which they came."""
        found: dict[str, Mark] = {}
        for one in self.given:
            found.setdefault(one.key, one.mark)
        return found
