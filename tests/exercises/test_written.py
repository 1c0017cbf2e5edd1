"""Answers as students write them: known mistakes in two styles, right ones in six, unlisted wrong ones."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

from mha_course.exercises import check
from mha_course.exercises.registry import EXERCISES


def written(name: str) -> ModuleType:
    """The module with everything that is written for an exercise."""
    return importlib.import_module(f"tests.exercises.written.{name}")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # tiny tensors: waiting for a second thread costs more than the sums
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", EXERCISES)
def test_every_known_mistake_is_written_twice_and_gets_its_own_diagnosis(name: str) -> None:
    styles: dict[str, list[Callable]] = defaultdict(list)
    for id_, fn in written(name).WRONG:
        styles[id_].append(fn)
        verdict = check(name, fn)
        assert (verdict.passed, verdict.diagnosis) == (False, id_), (source(fn), verdict)
        assert "{" not in verdict.message and verdict.look and verdict.witness, verdict
    ids = {mistake.id for mistake in EXERCISES[name].mistakes}
    assert ids <= set(styles), ids - set(styles)
    for id_ in ids:
        different = {source(fn) for fn in styles[id_]}
        assert len(different) >= 2, f"{id_} is written in one style only"


@pytest.mark.parametrize("name", EXERCISES)
def test_right_answers_pass_in_every_style(name: str) -> None:
    answers = written(name).RIGHT
    for fn in answers:
        verdict = check(name, fn)
        assert verdict.passed, (source(fn), verdict)
    assert len({source(fn) for fn in answers}) >= 6


@pytest.mark.parametrize("name", EXERCISES)
def test_unlisted_mistakes_are_named(name: str) -> None:
    known = {mistake.id for mistake in EXERCISES[name].mistakes}
    for words, fn in written(name).UNLISTED:
        verdict = check(name, fn)
        assert not verdict.passed, source(fn)
        assert verdict.diagnosis not in known, (verdict.diagnosis, "is a known mistake: list it as WRONG")
        assert re.search(words, verdict.message), (source(fn), verdict)


def source(fn: Callable) -> str:
    """A function's code without its layout; the text of the lines where it stands among others."""
    text = textwrap.dedent(inspect.getsource(fn)) if hasattr(fn, "__code__") else repr(fn)
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:
        return re.sub(r"\s+", " ", text)  # a lambda inside a list
