"""What a lesson refers to is there: lessons, sections, and a source for every name with a year."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
_HEADING = re.compile(r"^## (\d+) · ", re.MULTILINE)
# "section 3", "sections 3, 4 and 5", "sections 6 to 8"; before it perhaps "lesson 07, " or "07 (".
_SECTIONS = re.compile(
    r"(?:\b(?P<lesson>\d\d)(?:, | \())?\bsections? (?P<numbers>\d+(?:(?:, | and | to | or )\d+)*)"
)
_LESSONS = re.compile(r"\blessons? ((?:\d\d)(?:(?:, | and | to | or )\d\d)*)")
# "Vaswani et al. 2017", "Milakov and Gimelshein (2018)", "Clark 2019"
_CITED = re.compile(
    r"\b([A-Z][\w’'-]+)(?: et al\.|, [A-Z]\w+ and [A-Z]\w+| and [A-Z][\w-]+)? \(?((?:19|20)\d\d)"
)
_MONTHS = {"In", "Since", "Until", "January", "November", "December"}


def prose(path: Path) -> list[tuple[str, str]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = [(cell["id"], "".join(cell["source"])) for cell in cells if cell["cell_type"] == "markdown"]
    # A link to a lesson reads like its number.
    return [(cell, re.sub(r"\[(\d\d)\]\([^)]*\)", r"\1", text)) for cell, text in texts]


LESSONS = {path.stem[:2]: prose(path) for path in NOTEBOOKS}
HEADED = {
    number: {int(found) for _, text in texts for found in _HEADING.findall(text)}
    for number, texts in LESSONS.items()
}


def missing(own: str, text: str) -> list[str]:
    """Sections and lessons that the text of lesson `own` names and that are not there."""
    lost = []
    for found in _SECTIONS.finditer(text):
        lesson = found["lesson"] or own
        numbers = [int(number) for number in re.findall(r"\d+", found["numbers"])]
        if lesson not in HEADED or not HEADED[lesson].issuperset(numbers):
            lost.append(found[0])
    for found in _LESSONS.finditer(text):
        if not set(re.findall(r"\d\d", found[1])) <= set(HEADED):
            lost.append(found[0])
    return lost


def uncited(texts: list[tuple[str, str]]) -> list[str]:
    """Names with a year in the text that the section "Sources" doesn't hold."""
    body, _, sources = "\n".join(text for _, text in texts).partition("\n## Sources")
    return [
        found[0]
        for found in _CITED.finditer(body)
        if found[1] not in _MONTHS and not (found[1] in sources and found[2] in sources)
    ]


def test_what_is_missing_is_found() -> None:
    assert missing("03", "see lesson 03, section 2, and section 1 or 2") == []
    assert missing("03", "see section 42") == ["section 42"]
    assert missing("03", "lesson 07 (section 8) and 07 (sections 6 and 42)") == ["07 (sections 6 and 42"]
    assert missing("03", "lessons 04 and 77") == ["lessons 04 and 77"]
    cited = [("a", "so it is (Vaswani et al. 2017; Gauss 1909)"), ("b", "\n## Sources\n\n- A. Vaswani, 2017")]
    assert uncited(cited) == ["Gauss 1909"]


@pytest.mark.parametrize("number", LESSONS)
def test_lessons_and_sections_that_are_named_exist(number: str) -> None:
    lost = {cell: gone for cell, text in LESSONS[number] if (gone := missing(number, text))}
    assert lost == {}


@pytest.mark.parametrize("number", LESSONS)
def test_every_name_with_a_year_stands_among_the_sources(number: str) -> None:
    assert uncited(LESSONS[number]) == []


# Where a source can be read: an arXiv number, a site, a journal with its volume, a venue or a publisher.
_WHERE = re.compile(
    r"arXiv:\d{4}\.\d{4,5}|\b[\w-]+\.(?:org|com|edu|pub|uci\.edu)\b|\b[A-Z]\w[\w ]* \d+:|YouTube"
)
_VENUES = ("AISTATS", "EUSIPCO", "LREC", "OSDI", "OpenAI", "Springer", "Oliver and Boyd")
_SOURCE = re.compile(r"^- (?P<who>.+?), \*(?P<title>.+?)\*, (?P<year>\d{4}\b.*?): (?P<what>.+)\.$")


def sources(number: str) -> list[str]:
    (cell,) = [text for name, text in LESSONS[number] if name == f"l{number}-sources"]
    return [line for line in cell.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("number", LESSONS)
def test_every_source_says_where_to_read_it_and_what_for(number: str) -> None:
    for line in sources(number):
        if line.startswith(("- The ", "- PyTorch")):  # a remark; a site that was named
            continue
        assert _WHERE.search(line) or any(venue in line for venue in _VENUES), line
        assert ": " in line and line.endswith("."), line


def test_a_source_is_written_alike_in_every_lesson() -> None:
    written: dict[str, set[tuple[str, str]]] = {}
    for number in LESSONS:
        for line in sources(number):
            if found := _SOURCE.match(line):
                written.setdefault(found["title"], set()).add((found["who"], found["year"]))
    assert len(written) > 40
    assert {title: ways for title, ways in written.items() if len(ways) > 1} == {}
