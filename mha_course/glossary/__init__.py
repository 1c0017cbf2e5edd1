"""Every term of the course in one sentence, with its symbol, its shape, its lesson and its Chinese names."""

from __future__ import annotations

from mha_course.glossary.entry import Entry, all_entries, find_entry
from mha_course.glossary.showing import ShownEntries, glossary

__all__ = ["Entry", "ShownEntries", "all_entries", "find_entry", "glossary"]
