"""The verdict that the README shows is the one that is given, and its numbers are those of the tests."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from mha_course.exercises import check
from mha_course.exercises.registry import EXERCISES

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_verdict_shown_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))
    shown = re.search(r"```text\n(⚠ split_heads.*?)```", README, re.DOTALL)[1]
    given = repr(check("split_heads", lambda x, h: x.view(x.shape[0], h, x.shape[1], -1)))
    assert shown.split() == given.split()


def test_the_numbers_are_those_of_the_tests() -> None:
    assert len(EXERCISES) == int(re.search(r"The lessons have (\d+) exercises", README)[1])
    known = sum(len({mistake.id for mistake in exercise.mistakes}) for exercise in EXERCISES.values())
    assert known == pytest.approx(
        int(re.search(r"about ([\d,]+) known mistakes", README)[1].replace(",", "")), rel=0.03
    )
    modules = [import_module(f"tests.exercises.written.{exercise.name}") for exercise in EXERCISES.values()]
    written = sum(len(m.RIGHT) + len(m.WRONG) + len(m.UNLISTED) for m in modules)
    told = int(re.search(r"holds about ([\d,]+) answers", README)[1].replace(",", ""))
    assert written >= told
