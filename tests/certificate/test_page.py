"""The certificate as a page: words and numbers as they are, text as text, nothing from elsewhere."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mha_course.certificate import words
from mha_course.certificate.page import page
from mha_course.certificate.record import record
from mha_course.exercises.shown.tallies import tallies
from mha_course.theme import colours
from tests.certificate.conftest import everything, keep

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(1)> & \"'` 三月"


class Read(HTMLParser):
    """Every element with its attributes, and the text of each row and heading."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.rows: list[list[str]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "source", "br"):
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts[tag][-1] += data
        if "td" in self._open or "th" in self._open:
            self.rows[-1][-1] += data


@pytest.mark.usefixtures("undrawn")
def test_it_is_a_page_in_its_own_right(home: Path) -> None:
    keep(home, everything())
    read = Read(page(record("Ada Lovelace")))
    elements = dict(read.elements)
    assert page(record()).startswith("<!doctype html>") and elements["html"]["lang"] == "en"
    assert read.texts["title"] == ["Certificate of Ada Lovelace: Multi-head attention, built step by step"]
    headings = [tag for tag, _ in read.elements if re.fullmatch("h[1-6]", tag)]
    assert headings == ["h1", "h2", "h2"]
    assert elements["time"]["datetime"] == f"{record().when:%Y-%m-%d}"
    assert read._open == []


@pytest.mark.usefixtures("undrawn")
def test_nothing_comes_from_elsewhere_and_nothing_runs(home: Path) -> None:
    text = page(record("Ada"))
    for tag, attributes in Read(text).elements:
        assert tag not in ("script", "link", "iframe", "object", "form")
        for name in ("src", "href", "srcset"):
            assert attributes.get(name, "data:image/png;base64,").startswith("data:image/png;base64,")
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in text and "@import" not in text
    assert "default-src 'none'" in text


@pytest.mark.usefixtures("undrawn")
def test_the_numbers_are_those_of_the_record(home: Path) -> None:
    done = everything()
    for section in ("solved", "answers", "cards"):
        for key in list(done[section])[::3]:
            del done[section][key]
    keep(home, done)
    found = record()
    read = Read(page(found))
    assert dict(zip(read.texts["dt"], read.texts["dd"], strict=True)) == {
        what + (words.clock_note(found.clock) if what == words.CLOCK else ""): much
        for what, much in words.facts(found)
    }
    head, *rows, total = read.rows
    assert head == ["Lesson", "Exercises", "Questions", "Puzzles", "Predictions"]
    expected = []
    for r in tallies():
        kinds = (r.exercises, r.questions, r.puzzles, r.predictions)
        cells = [f"{'✓ ' * kind.complete}{kind}" for kind in kinds]
        expected.append([f"{r.lesson.number} · {r.lesson.title}", *cells])
    assert rows == expected
    assert total[:4] == ["All", str(found.exercises), str(found.questions), str(found.puzzles)]
    scopes = [attributes.get("scope") for tag, attributes in read.elements if tag == "th"]
    assert scopes == ["col"] * 5 + ["row"] * (len(rows) + 1)


def test_the_picture_is_there_in_both_themes_with_words(home: Path) -> None:
    keep(home, {"solved": {"split_heads": "x"}})
    elements = Read(page(record())).elements
    [image] = [attributes for tag, attributes in elements if tag == "img"]
    [source] = [attributes for tag, attributes in elements if tag == "source"]
    assert image["alt"] == words.squares_alt(record()) and "03 Split: 1 of 3" in image["alt"]
    # Dark is for screens alone: paper is white.
    assert source["media"] == "screen and (prefers-color-scheme: dark)"
    pictures = [base64.b64decode(data.partition(",")[2]) for data in (image["src"], source["srcset"])]
    assert all(png.startswith(b"\x89PNG") for png in pictures) and pictures[0] != pictures[1]


@pytest.mark.usefixtures("undrawn")
def test_a_name_is_text_whatever_is_in_it() -> None:
    read = Read(page(record(HOSTILE)))
    assert {tag for tag, _ in read.elements}.isdisjoint({"script"})
    assert sum(tag == "img" for tag, _ in read.elements) == 1
    [name] = [attributes for tag, attributes in read.elements if attributes.get("class") == "name"]
    assert name["dir"] == "auto" and any(HOSTILE in text for text in read.texts["p"])
    assert any(attributes.get("class") == "by-hand" for _, attributes in Read(page(record())).elements)


@pytest.mark.usefixtures("undrawn")
def test_damage_is_said_on_the_page_and_what_it_is_always(home: Path) -> None:
    (home / "progress.json").write_bytes(b"{")
    [foot] = Read(page(record())).texts["footer"]
    assert "is damaged" in foot and all(sentence in foot for sentence in words.WHAT_IT_IS)


def test_the_page_has_the_colours_of_the_course() -> None:
    sheet = Path(words.__file__).with_name("page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    for rules, theme in ((light, "light"), (dark, "dark")):
        found = dict(re.findall(r"--(\w+): (#\w+);", rules))
        assert len(found) == 7
        assert found == {name: colours(theme)[name].lower() for name in found}


@pytest.mark.usefixtures("undrawn")
def test_the_page_can_be_written_and_read_again() -> None:
    text = page(record("a\ud800b"))
    assert "a\ufffdb" in text.encode("utf-8").decode("utf-8")
    assert json.loads(json.dumps(text)) == text
