"""Entries as text and as HTML, for places where no widget runs."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from mha_course.glossary.entry import Entry, all_entries, find_entry

__all__ = ["ShownEntries", "glossary"]


class ShownEntries:
    """Entries that a notebook shows as HTML and a terminal as text."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)

    def __repr__(self) -> str:
        return "\n\n".join(_as_text(entry) for entry in self.entries)

    def _repr_html_(self) -> str:
        return f"<dl>{''.join(_as_html(entry) for entry in self.entries)}</dl>"


def glossary(term: str | None = None) -> ShownEntries:
    """What a term, a symbol or a Chinese name means; the whole glossary, A to Z, when left out.

    Raises: ValueError with the nearest terms when there is none of that name.
    """
    if term is not None:
        return ShownEntries([find_entry(term)])
    return ShownEntries(sorted(all_entries().values(), key=lambda entry: entry.term.lower()))


def _as_text(entry: Entry) -> str:
    heading = "  ".join(part for part in (entry.term, entry.symbol, entry.shape) if part)
    lines = [heading, entry.sentence.replace("`", ""), f"中文: {_chinese(entry)}"]
    if entry.also:
        lines.append(f"also: {', '.join(entry.also)}")
    if entry.note:
        lines.append(entry.note)
    return "\n  ".join([*lines, f"First explained in {entry.place.label()}."])


def _as_html(entry: Entry) -> str:
    codes = "".join(f" <code>{html.escape(code)}</code>" for code in (entry.symbol, entry.shape) if code)
    place = entry.place
    link = f'<a href="{place.file}#cell-id={place.cell}">{html.escape(place.label())}</a>'
    also = f"also: {html.escape(', '.join(entry.also))}; " if entry.also else ""
    note = f" {html.escape(entry.note)}" if entry.note else ""
    return (
        f"<dt><strong>{html.escape(entry.term)}</strong>{codes} {html.escape(_chinese(entry))}</dt>"
        f"<dd>{_marked(entry.sentence)}{note} ({also}{link})</dd>"
    )


def _chinese(entry: Entry) -> str:
    """Both names, or the one where they are written alike; with the places where they are two words."""
    if entry.zh_differ:
        return f"大陆 {entry.zh_hans} / 台灣 {entry.zh_hant}"
    return " / ".join(dict.fromkeys((entry.zh_hans, entry.zh_hant)))


def _marked(text: str) -> str:
    """Text as HTML: everything escaped, words between `backticks` in code type."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
