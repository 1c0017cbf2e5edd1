"""Every known mistake is recognised as itself, and no two of them give the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from mha_course.exercises import check
from mha_course.exercises.exercise import Exercise
from mha_course.exercises.judging import mistaken, outcome, prepared
from mha_course.exercises.outcome import Outcome, kind_of
from mha_course.exercises.registry import EXERCISES

ALL = [(e.name, m.id) for e in EXERCISES.values() for m in e.mistakes]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # tiny tensors: waiting for a second thread costs more than the sums
    yield
    torch.set_num_threads(threads)


def as_a_student(fn: Callable) -> Callable:
    """The same computation in a function that doesn't belong to the course."""
    return lambda *arguments: fn(*arguments)


def counting(exercise: Exercise) -> list[int]:
    """The cases on which a pass can depend."""
    return [i for i, case in enumerate(prepared(exercise.name)[0]) if exercise.counts(case)]


def test_there_are_enough() -> None:
    assert len(EXERCISES) >= 20
    assert len(set(ALL)) >= 350
    assert min(len(e.mistakes) for e in EXERCISES.values()) >= 10


@pytest.mark.parametrize("name", EXERCISES)
def test_each_mistake_gets_its_own_diagnosis(name: str) -> None:
    for mistake in EXERCISES[name].mistakes:
        verdict = check(name, as_a_student(mistake.wrong))
        assert (verdict.passed, verdict.diagnosis) == (False, mistake.id), verdict
        assert "{" not in verdict.message, verdict
        assert verdict.look, mistake.id
        assert verdict.witness, mistake.id


def fingerprint(outcomes: list[Outcome]) -> tuple[str, torch.Tensor]:
    """What a function gives over all its calls: everything that has to be equal, and the numbers."""
    kinds = [(o.error_text, [(tuple(leaf.shape), kind_of(leaf)) for leaf in o.leaves]) for o in outcomes]
    numbers = [leaf.double().flatten() for o in outcomes for leaf in o.leaves]
    flat = torch.cat(numbers) if numbers else torch.empty(0)
    return str(kinds), flat.nan_to_num(nan=1e6, posinf=1e7, neginf=-1e7)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", EXERCISES)
def test_no_two_mistakes_give_the_same_and_none_is_right(name: str, seed: int) -> None:
    exercise = EXERCISES[name]
    # Where a silently wrong result fails, a mistake may be wrong in nothing else.
    judged = [i for i, case in enumerate(exercise.cases(seed)) if exercise.counts(case) or case.loud]
    seen: list[tuple[str, str, torch.Tensor]] = []
    _, expected = prepared(name, seed)
    everything = [("right", [expected])]
    everything += [(m.id, w) for m, w in zip(exercise.mistakes, mistaken(name, seed), strict=True)]
    for id_, ways in everything:
        for way in ways:
            kind, numbers = fingerprint([way[k] for k in judged])
            for other_id, other_kind, other in seen:
                if other_id != id_ and kind == other_kind:
                    # Ten times the tolerance, so that rounding never decides between two diagnoses.
                    gap = (numbers - other).abs() - (2e-4 + 2e-3 * other.abs())
                    assert gap.numel() and gap.max() > 0, (id_, other_id)
            seen.append((id_, kind, numbers))


@pytest.mark.parametrize("name", EXERCISES)
def test_sizes_differ_from_one_another_and_fit_the_arguments(name: str) -> None:
    for case in EXERCISES[name].cases():
        sizes = dict(case.sizes)
        if sizes.get("h") == 1:
            sizes.pop("d_k", None)  # with one head d_k is d_model
        if case.label == "with all rows at once":
            sizes.pop("rows")  # it is n there
        assert len(set(sizes.values())) == len(sizes), case.label
        shapes = {s for a in case.arguments if isinstance(a, torch.Tensor) for s in a.shape}
        made = {a * b for a in sizes.values() for b in sizes.values()}
        assert shapes <= set(case.sizes.values()) | made | {1}, case.label


@pytest.mark.parametrize("name", ["scaled_scores", "attention", "batched_heads", "multi_head_attention"])
def test_a_missing_scale_is_far_outside_the_tolerance(name: str) -> None:
    exercise = EXERCISES[name]
    cases, expected = prepared(name)
    wrong = next(m.wrong for m in exercise.mistakes if m.id == "no-scale")
    for i in counting(exercise):
        if cases[i].edge:
            continue  # where one token is all there is, no scale matters
        gap = (outcome(exercise, wrong, cases[i]).leaves[0] - expected[i].leaves[0]).abs().max()
        assert gap > 0.05, cases[i].label


@pytest.mark.parametrize("name", EXERCISES)
def test_the_words_say_what_and_where_but_not_how(name: str) -> None:
    exercise = EXERCISES[name]
    solution = re.sub(r"\s", "", exercise.source().split('"""')[-1])
    for text in [w for m in exercise.mistakes for w in (m.says, m.look)] + [*exercise.hints, exercise.why]:
        assert text.strip()
        assert not re.search(r"\b(just|simply|simple|obvious|obviously|easy|easily)\b|!", text), text
        for code in re.findall(r"`([^`]{18,})`", text):
            assert re.sub(r"\s", "", code) not in solution, code
