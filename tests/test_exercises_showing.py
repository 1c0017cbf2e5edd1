"""Verdicts, hints, solutions and the catalogue as a notebook and a terminal show them."""

from __future__ import annotations

import io
import re
import tokenize
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

from mha_course import masks, progress
from mha_course.exercises import catalogue, check, hint, solution
from mha_course.exercises.registry import EXERCISES
from mha_course.exercises.shown.panel import STYLE, code, marked
from mha_course.theme import colours, contrast

NAUGHTY = "<img src=x onerror=alert(1)>"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))


class Page(HTMLParser):
    """Text and tags of a piece of HTML; complains about tags that are not closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def test_a_students_words_never_become_markup() -> None:
    def fails(x, h):
        raise RuntimeError(NAUGHTY + "`<b>`")

    named = type(NAUGHTY, (), {})
    odd = check("split_heads", lambda x, h: named())
    for verdict in (check("split_heads", fails), odd, check(NAUGHTY, fails)):
        page = Page(verdict._repr_html_())
        assert set(page.tags) <= {"style", "div", "p", "strong", "code", "br"}
        assert "onerror" in page.text
    for note in (hint(NAUGHTY), solution(NAUGHTY)):
        assert set(Page(note._repr_html_()).tags) <= {"style", "div", "p", "code"}


def test_a_verdict_reads_the_same_in_the_terminal_and_in_the_notebook() -> None:
    verdict = check("split_heads", lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1))
    page = Page(verdict._repr_html_())
    for part in (verdict.says, verdict.witness, verdict.look):
        assert part.replace("`", "") in page.text
        assert part.replace("`", "") in repr(verdict)
    assert "<" not in repr(verdict) and "`" not in repr(verdict)
    assert "⚠" in page.text and "mhx-warn" in verdict._repr_html_()
    right = check("split_heads", lambda x, h: torch.stack(x.chunk(h, -1), 1))
    assert bool(right) and "✓" in repr(right) and "mhx-ok" in right._repr_html_()
    waiting = check("split_heads", lambda x, h: ...)
    assert "mhx-open" in waiting._repr_html_() and "⚠" not in repr(waiting)


@pytest.mark.parametrize("name", EXERCISES)
def test_hints_are_collapsed_and_grow(name: str) -> None:
    page = Page(hint(name)._repr_html_())
    assert page.tags.count("details") == page.tags.count("summary") == 3
    assert not re.search(r"<details[^>]*open", hint(name)._repr_html_())
    first, second, third = EXERCISES[name].hints
    assert repr(hint(name)).count("\n") < repr(hint(name, 3)).count("\n")
    assert second.replace("`", "") not in repr(hint(name))
    assert third.replace("`", "") in repr(hint(name, 3))
    assert repr(hint(name, 99)) == repr(hint(name, 3)) and repr(hint(name, "x")) == repr(hint(name))
    for level in (1, 2, 3):
        html = hint(name, level)._repr_html_()
        assert html.count("<details open>") == level and html.count("<details") == 3
        assert Page(html).text == page.text
    assert repr(hint(name, 1)) == repr(hint(name, -4)) == repr(hint(name))


@pytest.mark.parametrize("name", EXERCISES)
def test_solutions_are_collapsed_and_whole(name: str) -> None:
    progress.mark_attempted(name)
    source = EXERCISES[name].source()
    note = solution(name)
    page = Page(note._repr_html_())
    assert page.tags.count("details") == 1 and "<details>" in note._repr_html_()
    assert source in page.text  # highlighting and escaping lose nothing
    assert source in repr(note)
    assert f"def {name}(" in source and EXERCISES[name].why.replace("`", "") in repr(note)


@pytest.mark.parametrize("name", EXERCISES)
def test_every_solution_says_why_in_a_comment(name: str) -> None:
    tokens = tokenize.generate_tokens(io.StringIO(EXERCISES[name].source()).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    # A comment of one or two words names a thing; a reason takes a few more.
    assert any(len(re.findall(r"[^\W\d_]{2,}", comment)) >= 5 for comment in comments), comments


@pytest.mark.parametrize("name", EXERCISES)
def test_before_an_attempt_the_solution_stays_closed(name: str) -> None:
    bodies = [line.strip() for line in EXERCISES[name].source().splitlines()[2:]]
    for text in (Page(solution(name)._repr_html_()).text, repr(solution(name))):
        assert "first attempt" in text and f'solution("{name}", insist=True)' in text
        assert f'check("{name}", {name})' in text
        assert not any(line in text for line in bodies if len(line) > 8), "a line of the solution is shown"
        assert EXERCISES[name].why.replace("`", "") not in text
    insisted = solution(name, insist=True)
    assert EXERCISES[name].source() in Page(insisted._repr_html_()).text
    assert "haven't checked" in Page(insisted._repr_html_()).text and EXERCISES[name].source() in repr(
        insisted
    )


def test_an_attempt_opens_the_solution_and_nothing_less_does() -> None:
    for nothing in (lambda n: ..., None, 3, masks.causal_mask):
        check("causal_mask", nothing)
        assert "first attempt" in repr(solution("causal_mask"))
    check("causal_mask", lambda n: torch.ones(n, n))
    assert "haven't checked" not in Page(solution("causal_mask")._repr_html_()).text
    assert EXERCISES["causal_mask"].source() in repr(solution("causal_mask"))
    assert "first attempt" in repr(solution("padding_mask"))
    progress.mark_solved("padding_mask")  # solved by a version that noted no attempts
    assert EXERCISES["padding_mask"].source() in repr(solution("padding_mask"))


def test_the_catalogue_lists_everything_and_marks_what_is_solved() -> None:
    progress.mark_solved("merge_heads")
    page, text = Page(catalogue()._repr_html_()), repr(catalogue())
    assert page.tags.count("tr") == len(EXERCISES) + 1
    for name, exercise in EXERCISES.items():
        line = next(line for line in text.splitlines() if f" {name} " in line)
        assert line.startswith(exercise.lesson) and exercise.title in line
        assert ("✓" in line) == (name == "merge_heads")
        assert name in page.text
    assert f"1 of {len(EXERCISES)} solved" in text
    assert page.text.count("✓ solved") == 1


def test_unknown_names_get_the_nearest() -> None:
    for note in (hint("merge_head"), solution("merge_head")):
        assert "merge_heads" in repr(note) and "merge_heads" in note._repr_html_()
    assert "in quotes" in repr(hint(None)) and "in quotes" in repr(solution(3.5))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_are_readable_on_their_ground(theme: str) -> None:
    palette = colours(theme)
    pairs = [(word, ground) for word in ("ink", "ink2", "warn") for ground in ("surface", "warn_ground")]
    pairs += [("ok", "surface")] + [(word, "raised") for word in ("ink", "ink2", "ok", "warn", "focus")]
    for word, ground in pairs:
        assert contrast(palette[word], palette[ground]) >= 4.5, (word, ground)
    assert palette["warn_ground"] in STYLE


def test_marking_and_highlighting_escape() -> None:
    assert marked("a `<b>` & <c>\nd") == "a <code>&lt;b&gt;</code> &amp; &lt;c&gt;<br>d"
    assert marked("one ` alone") == "one ` alone"
    text = 'def f(x):  # <b>\n    """A & B."""\n    return "<i>", 3.5, f"{x}<u>"\n'
    assert Page(code(text)).text.rstrip("\n") == text.rstrip("\n")
    assert Page(code("def broken(:\n  '''")).text == "def broken(:\n  '''"


def test_prompts_and_signatures_are_there() -> None:
    for exercise in EXERCISES.values():
        assert exercise.signature.startswith(f"{exercise.name}(")
        assert len(exercise.prompt) > 40 and exercise.title and exercise.lesson.isdigit()
