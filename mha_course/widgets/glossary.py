"""Glossary: every term of the course, looked up where one stands, in English, by symbol or in Chinese."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from mha_course.glossary import Entry, all_entries, find_entry, glossary
from mha_course.glossary.entry import fold
from mha_course.widgets.base import CourseWidget, Text

__all__ = ["Glossary"]


class Glossary(CourseWidget):
    """One line that opens into a search field and entries, and can stand beside the lesson.

    term: an entry to open with, by any of its names. Raises: ValueError with the nearest terms when there is
    none. The entries are sent once and searched in the browser, so that it also answers while Python is
    computing, or is gone.
    """

    js = (
        "marked_text.js",
        "lesson_link.js",
        "glossary_search.js",
        "glossary_card.js",
        "glossary_beside.js",
        "glossary.js",
    )
    css = ("marked_text.css", "lesson_link.css", "glossary.css")
    root = "mha-glossary-box"

    term = Text("").tag(sync=True)
    entries = traitlets.List(traitlets.Dict()).tag(sync=True)

    def __init__(self, term: str | None = None) -> None:
        found = find_entry(term) if term is not None else None
        entries = [_sent(entry) for entry in all_entries().values()]
        alt = f"Glossary of {len(entries)} terms. "
        alt += repr(glossary(found.term)) if found else 'glossary("d_k") shows one of them as text.'
        super().__init__(term=found.key if found else "", entries=entries, alt=alt)

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Nothing: what the view needs, it has from the beginning."""
        return {}, b""

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """The live line, and for places without a front end the entry, or all of them folded away."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        if self.term:
            data["text/html"] = glossary(all_entries()[self.term].term)._repr_html_()
        else:
            summary = f"<summary>Glossary: {len(self.entries)} terms</summary>"
            data["text/html"] = f"<details>{summary}{glossary()._repr_html_()}</details>"
        return data, metadata


def _sent(entry: Entry) -> dict[str, object]:
    """What the view needs of an entry; folded: its names as they are compared with what is typed."""
    return {
        "key": entry.key,
        "term": entry.term,
        "symbol": entry.symbol,
        "shape": entry.shape,
        "sentence": entry.sentence,
        "also": list(entry.also),
        "hans": entry.zh_hans,
        "hant": entry.zh_hant,
        "differ": entry.zh_differ,
        "note": entry.note,
        "folded": list(dict.fromkeys(fold(name) for name in entry.names)),
        "lesson": entry.place.lesson,
        "place": entry.place.link(),
    }
