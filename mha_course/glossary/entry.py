"""Entries of the glossary as data: read from terms/*.json, checked, and found by any of their names."""

from __future__ import annotations

import difflib
import json
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import regex

from mha_course.lesson_places import Place, place_of
from mha_course.text.readable import readable

FOLDER = Path(__file__).with_name("terms")
LONGEST = 30  # words of a sentence
_KEY = regex.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# All but letters, digits and the sign that tells √d_k from d_k.
_BETWEEN = regex.compile(r"[^\p{L}\p{N}√]+")
_FIELDS = {
    "term",
    "symbol",
    "shape",
    "sentence",
    "cell",
    "zh_hans",
    "zh_hant",
    "zh_differ",
    "also",
    "zh_also",
    "note",
}


@dataclass(frozen=True)
class Entry:
    """A term, what it means in one sentence, and by which other names it goes.

    symbol, shape: as in code, or "". cell: where a lesson explains it first. zh_hans, zh_hant: the name in
    simplified and in traditional characters, as mainland China and as Taiwan write it; zh_differ: these are
    two words, not two ways of writing one. also, zh_also: other names. note: on usage, or "".
    """

    key: str
    term: str
    symbol: str
    shape: str
    sentence: str
    cell: str
    zh_hans: str
    zh_hant: str
    also: tuple[str, ...] = ()
    zh_also: tuple[str, ...] = ()
    zh_differ: bool = False
    note: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """All that it can be looked up by, the term first, each once."""
        named = (self.term, self.symbol, *self.also, self.zh_hans, self.zh_hant, *self.zh_also)
        return tuple(dict.fromkeys(name for name in named if name))

    @property
    def place(self) -> Place:
        """Where a lesson explains it first. Raises: ValueError when no lesson has that cell."""
        return place_of(self.cell)


def fold(name: str) -> str:
    """A name as it is compared: lower case, no accents, one blank for whatever is no letter or digit.

    glossary_search.js does the same to what is typed.
    """
    bare = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return _BETWEEN.sub(" ", bare.lower()).strip()


def find_entry(name: str) -> Entry:
    """The entry of that name, in English, as a symbol or in Chinese; capitals and hyphens don't matter.

    Raises: ValueError with the nearest terms when there is none.
    """
    known = _by_name()
    asked = fold(name).replace(" ", "") if isinstance(name, str) else ""
    for one in (asked, asked.removesuffix("s")):  # also "keys" for "key"
        if one in known:
            return known[one]
    near = difflib.get_close_matches(asked, known, n=8, cutoff=0.55) if asked else []
    terms = list(dict.fromkeys(known[one].term for one in near))[:3]
    tail = f" The nearest: {', '.join(terms)}." if terms else ""
    raise ValueError(f"The glossary has no {readable(repr(name))[:100]}.{tail}")


@lru_cache
def all_entries() -> dict[str, Entry]:
    """Every entry by its key, by subject as the lessons go."""
    found: dict[str, Entry] = {}
    for path in sorted(FOLDER.glob("*.json")):
        for key, fields in json.loads(path.read_text(encoding="utf-8")).items():
            if key in found:
                raise ValueError(f"{path.name}: {key!r} is there twice")
            found[key] = read_entry(key, fields)
    return found


@lru_cache
def _by_name() -> dict[str, Entry]:
    """Each entry under each of its names, folded and without blanks. Raises: ValueError for a name of two."""
    found: dict[str, Entry] = {}
    for entry in all_entries().values():
        for name in entry.names:
            folded = fold(name).replace(" ", "")
            if found.setdefault(folded, entry) is not entry:
                raise ValueError(f"{name!r} names {found[folded].key!r} and {entry.key!r}")
    return found


def read_entry(key: str, fields: dict) -> Entry:
    """An entry from its JSON object. Raises: ValueError that names the key and what is wrong."""
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r}: a key such as 'output-projection', small letters, digits and hyphens")
    if not isinstance(fields, dict) or not set(fields) <= _FIELDS:
        raise ValueError(f"{key}: an object with no other fields than {', '.join(sorted(_FIELDS))}")
    texts = {name: fields.get(name, "") for name in _FIELDS - {"also", "zh_also", "zh_differ"}}
    lists = {name: fields.get(name, []) for name in ("also", "zh_also")}
    if not all(isinstance(text, str) and text == readable(text).strip() for text in texts.values()):
        raise ValueError(f"{key}: every field is a text without blanks around it")
    if not all(
        isinstance(names, list) and all(n and isinstance(n, str) for n in names) for names in lists.values()
    ):
        raise ValueError(f"{key}: 'also' and 'zh_also' are lists of names")
    for name in ("term", "sentence", "cell", "zh_hans", "zh_hant"):
        if not texts[name]:
            raise ValueError(f"{key}: lacks {name!r}")
    if not texts["sentence"].endswith(".") or len(texts["sentence"].split()) > LONGEST:
        raise ValueError(f"{key}: one sentence of at most {LONGEST} words, with a full stop")
    differ = fields.get("zh_differ", False)
    if not isinstance(differ, bool) or (differ and texts["zh_hans"] == texts["zh_hant"]):
        raise ValueError(f"{key}: 'zh_differ' is true or false, and true for two words only")
    return Entry(key, zh_differ=differ, **texts, **{name: tuple(names) for name, names in lists.items()})
