"""certificate: written in one step, shown with words and links, and never an error for the student."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl
import pytest

from mha_course import progress, record_file
from mha_course.certificate import certificate, words

HOSTILE = "<img src=x onerror=alert(1)> & \"'`"


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.found.append((tag, dict(attrs)))


def test_both_files_are_written_and_a_new_call_brings_them_up_to_date(home: Path) -> None:
    certificate("Ada")
    first = {name: (home / name).read_bytes() for name in ("certificate.html", "certificate.png")}
    assert b"0 of " in first["certificate.html"] and first["certificate.png"].startswith(b"\x89PNG")
    progress.mark_solved("split_heads")
    shown = certificate("Ada")
    assert b"<dd>1 of " in (home / "certificate.html").read_bytes()
    assert (home / "certificate.png").read_bytes() == shown.png != first["certificate.png"]
    assert sorted(path.name for path in home.iterdir() if path.name.startswith("cert")) == sorted(first)
    assert not list(home.glob(".*.part"))


@pytest.mark.usefixtures("undrawn")
def test_a_reader_sees_the_old_file_or_the_new_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate("Ada")
    before = (home / "certificate.html").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record_file.os, "fsync", full)
    note = certificate("Grace")
    assert (home / "certificate.html").read_bytes() == before and not list(home.glob(".*.part"))
    assert "shown here only" in repr(note) and "No space left" in repr(note)


def test_it_is_shown_with_words_and_with_links_to_both() -> None:
    note = certificate("Ada")
    elements = Elements(note._repr_html_()).found
    [image] = [attributes for tag, attributes in elements if tag == "img"]
    assert image["alt"] == note.alt == words.alt(note.record) and "of Ada" in image["alt"]
    assert int(image["width"]) == int.from_bytes(note.png[16:20], "big") // 2
    assert [a["href"] for tag, a in elements if tag == "a"] == ["certificate.html", "certificate.png"]
    assert str(note.folder / "certificate.html") in repr(note)


@pytest.mark.usefixtures("undrawn")
def test_without_a_folder_it_is_shown_and_says_so(home: Path) -> None:
    home.rmdir()
    home.write_text("a file where the folder should be", encoding="utf-8")
    note = certificate("Ada")
    assert note.folder is None and note.png.startswith(b"\x89PNG")
    assert "can't be written" in repr(note) and "⚠" in note._repr_html_() and "<a " not in note._repr_html_()


@pytest.mark.parametrize(
    "name", [None, 3, ["Ada"], b"Ada", object(), certificate], ids=lambda name: type(name).__name__
)
@pytest.mark.usefixtures("undrawn")
def test_a_name_that_is_no_text_gets_a_sentence(name: object, home: Path) -> None:
    note = certificate(name)
    assert 'certificate("Ada Lovelace")' in repr(note) and note.record.name == ""
    assert (home / "certificate.html").exists()


@pytest.mark.parametrize(
    "name",
    [HOSTILE, "\ud800\x00\x1b[31m", "\n" * 50, "🏳️‍🌈" * 300, "a" * 100_000, "$x^2$ {0} %s"],
    ids=["hostile", "control", "breaks", "flags", "endless", "signs"],
)
def test_no_name_is_too_odd(name: str, home: Path) -> None:
    note = certificate(name)
    tags = {tag for tag, _ in Elements(note._repr_html_()).found}
    assert tags <= {"style", "div", "img", "p", "a", "code"}
    assert [a.get("onerror") for _, a in Elements(note._repr_html_()).found] == [None] * len(
        Elements(note._repr_html_()).found
    )
    repr(note).encode("utf-8")


def test_a_name_without_a_font_is_said_and_whole_on_the_page(home: Path) -> None:
    name = "Ada \U0010fffd"  # a place that no script uses
    note = certificate(name)
    assert "No font of this machine" in repr(note) and "No font of this machine" in note._repr_html_()
    assert name in (home / "certificate.html").read_text(encoding="utf-8")
    assert certificate("Ada Lovelace, 梅, مريم 🎉").remarks == ()


@pytest.mark.usefixtures("undrawn")
def test_damaged_progress_is_a_sentence_and_stays_where_it_is(home: Path) -> None:
    (home / "progress.json").write_bytes(b"{")
    note = certificate()
    assert "is damaged" in repr(note) and "is damaged" in note._repr_html_()
    assert (home / "progress.json").read_bytes() == b"{"


def test_matplotlib_is_left_as_it_was() -> None:
    before = dict(mpl.rcParams)
    certificate("Ada")
    assert dict(mpl.rcParams) == before
    import matplotlib.pyplot as plt

    assert plt.get_fignums() == []
