"""Entries where no widget runs: as text and as HTML."""

from __future__ import annotations

import pytest

from mha_course.glossary import ShownEntries, all_entries, glossary
from mha_course.glossary.entry import Entry

HOSTILE = "<img src=x onerror=alert(1)> & \"'"


def test_one_entry_as_text() -> None:
    shown = repr(glossary("W_O"))
    assert shown.startswith("output projection  W_O  (h · d_v, d_model)\n")
    assert "中文: 输出投影 / 輸出投影" in shown and "lesson 02, section 4." in shown and "`" not in shown


def test_one_entry_as_html_with_its_link() -> None:
    shown = glossary("d_k")._repr_html_()
    assert (
        "<strong>width of a head</strong> <code>d_k</code>" in shown and "<code>d_model / h</code>" in shown
    )
    assert '<a href="02_why_many_heads.ipynb#cell-id=l02-s4">lesson 02, section 4</a>' in shown


def test_two_words_say_where_and_one_word_stands_once() -> None:
    assert "大陆 掩码 / 台灣 遮罩" in repr(glossary("mask"))
    assert "中文: 注意力\n" in repr(glossary("attention"))
    assert "行 is a row in mainland China" in repr(glossary("row"))
    assert "行 is a row in mainland China" in glossary("row")._repr_html_()


def test_all_of_them_from_a_to_z() -> None:
    shown = glossary()
    terms = [entry.term.lower() for entry in shown.entries]
    assert terms == sorted(terms) and len(terms) == len(all_entries())
    assert shown._repr_html_().count("<dt>") == len(terms) == repr(shown).count("First explained in")


def test_nothing_becomes_markup() -> None:
    entry = Entry(
        "x",
        HOSTILE,
        HOSTILE,
        HOSTILE,
        f"{HOSTILE} `{HOSTILE}`.",
        "l02-s4",
        HOSTILE,
        "二",
        (HOSTILE,),
        note=HOSTILE,
    )
    shown = ShownEntries([entry])._repr_html_()
    assert "<img" not in shown and shown.count("&lt;img") == 8


def test_an_unknown_term_is_refused() -> None:
    with pytest.raises(ValueError, match="The nearest: query"):
        glossary("qurey")
