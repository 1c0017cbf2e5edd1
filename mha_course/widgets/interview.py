"""The interview: one card at a time, a full answer with evidence, and what was missed comes back."""

from __future__ import annotations

import html
import re
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import traitlets

from mha_course import progress_cards, record_file
from mha_course.interview.card import Card, all_cards
from mha_course.interview.proof import run_proof, source_of
from mha_course.progress import PROGRESS
from mha_course.text.readable import readable
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.interview_order import COMES_BACK, Sitting, mixed_order, opening_order
from mha_course.widgets.interview_words import evidence_links, number_in_words, topic_named

__all__ = ["Interview"]

LONGEST = 4000
SHOWN_IN_STILL = 6
FEW = 10  # cards of a short sitting


@dataclass
class _Table:
    """The sitting that all interviews of one deck share, with what was typed, turned and run in it.

    It lives as long as the kernel, so that a cell that is run again goes on where it was. A card that comes
    back is another deal of it: deals, not cards, are typed at and turned.
    """

    sitting: Sitting
    sittings: int = 1
    ended: bool = False
    turned: set[str] = field(default_factory=set)
    typed: dict[str, str] = field(default_factory=dict)
    proofs: dict[str, dict[str, object]] = field(default_factory=dict)
    filters: dict[str, tuple[str, bool]] = field(default_factory=dict)
    views: weakref.WeakSet[Interview] = field(default_factory=weakref.WeakSet)
    version: int = 0


# Taken after a widget's own lock, and never the other way round.
_turns = threading.RLock()
_tables: dict[tuple[str, ...], _Table] = {}


class Interview(CourseWidget):
    """Flash cards of the interview, all of them or of one topic.

    Marks are kept in my_course/. Two interviews on a page share one sitting. cards: a deck of one's own in
    place of the course's. Raises: ValueError for a topic that there is none of, and for an empty deck.
    """

    js = ("marked_text.js", "lesson_link.js", "interview_back.js", "interview_summary.js", "interview.js")
    css = ("pieces.css", "marked_text.css", "lesson_link.css", "interview.css")
    root = "mha-interview"
    settings = ("topic", "only_missed", "order")

    topic = Text("").tag(sync=True)
    only_missed = traitlets.Bool(False).tag(sync=True)
    order = traitlets.Dict().tag(sync=True)
    turned = Text("").tag(sync=True)
    typed = traitlets.Dict().tag(sync=True)

    def __init__(self, topic: str | None = None, cards: Mapping[str, Card] | None = None) -> None:
        self.cards = dict(all_cards() if cards is None else cards)
        if not self.cards:
            raise ValueError("an interview needs at least one card")
        self.topics = list(dict.fromkeys(card.topic for card in self.cards.values()))
        self._asked_for = topic_named(topic, self.topics)
        self._trouble = record_file.unreadable(PROGRESS) or ""
        self._noted = 0
        self._dealt: tuple[str, int] | None = None
        with _turns:
            self._table = _tables.setdefault(tuple(self.cards), _Table(self._new_sitting()))
            chosen, only_missed = self._table.filters.get(self._asked_for, (self._asked_for, False))
        count = f"{len(self.cards)} question{'s' if len(self.cards) > 1 else ''}"
        first = next(iter(self.cards.values())).question.replace("`", "")
        super().__init__(topic=chosen, only_missed=only_missed, alt=f"Interview: {count}. The first: {first}")
        self._seen = self._table.version
        self.observe(self._on_turned, names="turned")
        self.observe(self._on_typed, names="typed")
        with _turns:
            self._table.views.add(self)

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """The card to ask, or the summary, after doing what the view ordered."""
        with _turns:
            table = self._table
            if self.stamp != self._noted:
                self._noted = self.stamp
                self._do(dict(self.order))
            table.filters[self._asked_for] = (self.topic, self.only_missed)
            self._seen = table.version
            return self._header(table), b""

    def set_state(self, sync_data: dict) -> None:
        """Take what the view sent; other interviews that share the sitting follow."""
        super().set_state(sync_data)
        with _turns:
            behind = [view for view in self._table.views if view._seen != self._table.version]
        # Each takes its own lock; nothing is held here.
        for view in behind:
            view.refresh(force=True)

    # What the view orders

    def _do(self, order: dict) -> None:
        table, do = self._table, order.get("do")
        deal = str(order.get("deal", ""))
        key = deal.rpartition("#")[0]
        # Two views may press at once, and a message may come late: only the deal that is on the table counts.
        current = key in self.cards and deal == self._deal(key)
        if do == "mark" and current and order.get("mark") in progress_cards.MARKS:
            before = progress_cards.kept_cards().get(key)
            self._trouble = self._kept(lambda: progress_cards.save_mark(key, order["mark"]))
            table.sitting.marked(key, order["mark"], before)
        elif do == "take back" and (last := table.sitting.take_back()) is not None:
            self._trouble = self._kept(lambda: progress_cards.put_back(last.key, last.before))
            self._dealt = (last.key, self._times_asked(last.key))
            table.ended = False
        elif do == "prove" and key in self.cards:
            table.proofs[key] = _proved(self.cards[key].proof)
        elif do == "end":
            table.ended = True
        elif do == "go on":
            table.ended = False
        elif do in ("begin", "ten"):
            table.sitting, table.ended = self._new_sitting() if do == "begin" else self._few_mixed(), False
            table.sittings += 1
            table.turned.clear()
            table.typed.clear()
            self._dealt = None
        else:
            return
        table.version += 1

    @staticmethod
    def _kept(change: Callable[[], str | None]) -> str:
        try:
            return change() or ""
        except (OSError, ValueError) as problem:
            return f"This could not be kept: {problem}"

    def _on_turned(self, change: Mapping) -> None:
        with _turns:
            current = self._seen == self._table.version
            self._table.turned.add(str(change["new"]))
            self._table.version += 1
            if current:  # this widget's own views know it already
                self._seen = self._table.version

    def _on_typed(self, change: Mapping) -> None:
        deal, text = change["new"].get("deal"), change["new"].get("text")
        if isinstance(deal, str) and isinstance(text, str):
            with _turns:
                self._table.typed[deal] = readable(text[:LONGEST])

    # What the view shows

    def _header(self, table: _Table) -> dict[str, object]:
        kept = progress_cards.kept_cards()
        among = self._among(kept)
        key = None if table.ended else self._current(among)
        sitting = table.sitting
        last = sitting.given[-1] if sitting.given else None
        return {
            "card": self._card(key, kept) if key else None,
            "left": sitting.left(among),
            "counts": self._counts(self._of_topic(), kept),
            "topics": [{"topic": t, **self._counts(self._of_topic(t), kept)} for t in ("", *self.topics)],
            "last": {"question": self.cards[last.key].question, "mark": last.mark} if last else None,
            "comes_back": dict(COMES_BACK),
            "summary": None if key else self._summary(among),
            "trouble": self._trouble,
        }

    def _card(self, key: str, kept: Mapping) -> dict[str, object]:
        card, table = self.cards[key], self._table
        deal = self._deal(key)
        return {
            "deal": deal,
            "topic": card.topic,
            "question": card.question,
            "before": kept[key]["mark"] if key in kept else "",
            "again": bool(self._times_asked(key)),
            "turned": deal in table.turned,
            "typed": table.typed.get(deal, ""),
            "answer": list(card.answer),
            "pitfall": card.pitfall,
            "follow_up": [card.follow_up.question, card.follow_up.answer] if card.follow_up else [],
            "evidence": evidence_links(card),
            "code": _source(card.proof),
            "proof": table.proofs.get(key),
        }

    def _summary(self, among: set[str]) -> dict[str, object]:
        """How the sitting went, and what to read again: what was not known at the first time."""
        sitting = self._table.sitting
        firsts = sitting.firsts()
        weak = sorted((k for k in firsts if firsts[k] != "knew"), key=lambda k: firsts[k] != "missed")
        return {
            "asked": len(firsts),
            "first": {mark: list(firsts.values()).count(mark) for mark in progress_cards.MARKS},
            "open": sum(key in sitting.due for key in firsts),
            "left": sitting.left(among),
            "short": len(sitting.order) < len(self.cards),
            "again": [
                {
                    "question": self.cards[key].question,
                    "mark": firsts[key],
                    "known": key not in sitting.due,
                    "evidence": evidence_links(self.cards[key]),
                }
                for key in weak
            ],
        }

    def _current(self, among: set[str]) -> str | None:
        """The card on the table. It stays until it is marked, whatever happens in another view."""
        if self._dealt is not None:
            key, times = self._dealt
            if key in among and self._times_asked(key) == times:
                return key
        key = self._table.sitting.next_card(among)
        self._dealt = (key, self._times_asked(key)) if key else None
        return key

    def _among(self, kept: Mapping) -> set[str]:
        keys = self._of_topic()
        if self.only_missed:
            keys = [key for key in keys if key in kept and kept[key]["mark"] != "knew"]
        return set(keys)

    def _of_topic(self, topic: str | None = None) -> list[str]:
        topic = self.topic if topic is None else topic
        return [key for key, card in self.cards.items() if topic in ("", card.topic)]

    def _times_asked(self, key: str) -> int:
        return sum(one.key == key for one in self._table.sitting.given)

    def _deal(self, key: str) -> str:
        """The name of a card on the table: another one in each sitting, and each time it is asked."""
        return f"{key}#{self._table.sittings}.{self._times_asked(key)}"

    def _new_sitting(self) -> Sitting:
        return Sitting(opening_order(list(self.cards), progress_cards.kept_cards()))

    def _few_mixed(self) -> Sitting:
        """A short sitting of the cards that are chosen, or of all where none of those waits."""
        kept = progress_cards.kept_cards()
        chosen = self._among(kept) or set(self.cards)
        topics = {key: card.topic for key, card in self.cards.items() if key in chosen}
        return Sitting(mixed_order(topics, kept, FEW))

    @staticmethod
    def _counts(keys: list[str], kept: Mapping) -> dict[str, int]:
        marks = [kept[key]["mark"] for key in keys if key in kept]
        found = {mark: marks.count(mark) for mark in progress_cards.MARKS}
        return {**found, "new": len(keys) - len(marks), "of": len(keys)}

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """The live cards, and for places without a front end the first questions."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        keys = self._of_topic()
        items = "".join(
            f'<li dir="auto">{_marked(self.cards[key].question)}</li>' for key in keys[:SHOWN_IN_STILL]
        )
        more = len(keys) - SHOWN_IN_STILL
        rest = f"<p>And {more} more. The cards turn where this notebook runs.</p>" if more > 0 else ""
        about = f" · {html.escape(self.topic)}" if self.topic else ""
        data["text/html"] = f"<p><strong>Interview{about}</strong></p><ol>{items}</ol>{rest}"
        return data, metadata


def _proved(name: str) -> dict[str, object]:
    """Run a proof: what it has shown with its numbers and its time, or what failed."""
    try:
        began = time.perf_counter()
        shown = run_proof(name)
        numbers = [[readable(label), number_in_words(value)] for label, value in shown.numbers.items()]
        took = round(1000 * (time.perf_counter() - began))
        return {"ok": True, "sentence": readable(shown.sentence), "numbers": numbers, "took": took}
    except AssertionError as failed:
        return {"ok": False, "sentence": readable(failed) or "What it asserts does not hold.", "numbers": []}
    except Exception as problem:  # a card must not take the widget with it
        return {"ok": False, "sentence": readable(f"{type(problem).__name__}: {problem}"), "numbers": []}


def _source(name: str) -> str:
    try:
        return source_of(name)
    except (ValueError, OSError, ImportError):
        return ""


def _marked(text: str) -> str:
    """Text as HTML: everything escaped, words between `backticks` in code type."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
