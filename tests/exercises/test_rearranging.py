"""Any rearrangement is read: which axis, what stands along it, and nothing said of what is right."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mha_course.exercises import check
from mha_course.exercises.evidence import Evidence
from mha_course.exercises.exercise import Case, Returned, numbered
from mha_course.exercises.outcome import run
from mha_course.exercises.reading.coded_axes import axes_of
from mha_course.exercises.reading.layouts import read
from mha_course.exercises.registry import EXERCISES

RETURNED = Returned("heads", ("b", "h", "n", "d_k"))
VAGUE = {"wrong-shape", "different-numbers", "numbers-in-wrong-places", "right-in-some-cases", "raised"}
AXES = {"sentence": 0, "head": 1, "token": 2, "feature": 3}

sizes = st.permutations([2, 3, 4, 5, 6, 7]).map(lambda drawn: drawn[:4])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def words_for(drawn: list[int], change: Callable[[torch.Tensor], torch.Tensor]) -> str:
    """What is read from a split that was changed; "" when everything is right."""
    b, n, h, d_k = drawn
    x = numbered(b, n, h * d_k)
    case = Case("", (x, h), {"b": b, "n": n, "h": h, "d_k": d_k}, coded=("sentence", "token", "feature"))
    axes = axes_of(case, RETURNED)
    right = x.view(b, n, h, d_k).transpose(1, 2)
    reading = read(axes, change(right).long().numpy(), tuple(right.shape))
    assert reading is not None
    return reading.words


@given(sizes)
@settings(deadline=None, max_examples=25)
def test_what_is_right_needs_no_words(drawn: list[int]) -> None:
    assert words_for(drawn, lambda heads: heads) == ""


@given(sizes, st.sampled_from(sorted(AXES)))
@settings(deadline=None, max_examples=25)
def test_a_reversed_axis_is_named(drawn: list[int], word: str) -> None:
    axis = AXES[word]
    words = words_for(drawn, lambda heads: heads.flip(axis))
    size = dict(zip(("sentence", "token", "head", "feature"), drawn, strict=True))[word]
    assert (f"{word}s run backwards" if size > 2 else "have changed places") in words
    assert sum(other in words for other in AXES if other not in (word, "head")) <= 1, words


@given(sizes, st.sampled_from(list(itertools.permutations(range(4)))[1:]))
@settings(deadline=None, max_examples=25)
def test_the_order_of_axes_is_named(drawn: list[int], order: tuple[int, ...]) -> None:
    symbols = ["b", "h", "n", "d_k"]
    named = ", ".join(symbols[axis] for axis in order)
    assert f"The axes are `({named})`." in words_for(drawn, lambda heads: heads.permute(order))


@given(sizes, st.sampled_from(sorted(AXES)), st.data())
@settings(deadline=None, max_examples=25)
def test_one_that_is_missing_is_named(drawn: list[int], word: str, data: st.DataObject) -> None:
    axis = AXES[word]
    size = dict(zip(("sentence", "token", "head", "feature"), drawn, strict=True))[word]
    lost = data.draw(st.integers(0, size - 1))
    kept = [k for k in range(size) if k != lost]
    words = words_for(drawn, lambda heads: heads.index_select(axis, torch.tensor(kept)))
    first = 1 if word in ("sentence", "head") else 0
    if size > 2:
        assert f"{word} {lost + first} is missing" in words.lower()
    else:
        assert f"only {word} {kept[0] + first} is there" in words.lower()


STEPS: dict[str, Callable[[torch.Tensor, int, int], torch.Tensor]] = {
    "flip": lambda t, axis, k: t.flip(axis),
    "roll": lambda t, axis, k: t.roll(k, axis),
    "turn": lambda t, axis, k: t.transpose(axis, (axis + k) % t.ndim),
    "half": lambda t, axis, k: t.narrow(axis, 0, (t.shape[axis] + 1) // 2),
    "twice": lambda t, axis, k: torch.cat([t, t], axis),
    "times": lambda t, axis, k: t * (k + 1),
    "first": lambda t, axis, k: t.narrow(axis, 0, 1).expand(t.shape),
}
RIGHT: dict[str, Callable[..., torch.Tensor]] = {
    "split_heads": lambda x, h: x.unflatten(2, (h, -1)).transpose(1, 2),
    "stack_heads": lambda w: torch.cat(list(w), 1),
    "merge_heads": lambda x: x.transpose(1, 2).flatten(2),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize(("one", "other"), list(itertools.product(STEPS, repeat=2)))
def test_two_changes_at_once_are_never_vague(name: str, one: str, other: str) -> None:
    for axis in range(2):

        def answer(*arguments: object, axis: int = axis) -> torch.Tensor:
            heads = STEPS[one](RIGHT[name](*arguments), axis, 1)
            return STEPS[other](heads, 1, 1)

        fn = (lambda x, h, f=answer: f(x, h)) if name == "split_heads" else (lambda x, f=answer: f(x))
        verdict = check(name, fn)
        assert verdict.passed or verdict.diagnosis not in VAGUE, (axis, verdict)


@pytest.mark.parametrize("name", RIGHT)
def test_readers_raise_nothing_whatever_comes(name: str) -> None:
    exercise = EXERCISES[name]
    case = exercise.cases()[0]
    reader = exercise.readers[0]
    for odd in (torch.zeros(0), torch.tensor(3.0), torch.ones(2, 2, 2, 2, 2), torch.randn(7), torch.eye(12)):
        want = run(exercise.reference, case.fresh(), 1)
        got = run(lambda *arguments, odd=odd: odd, case.fresh(), 1)
        reader(Evidence(exercise, [case], [want], [got], [False], [True]), 0, lambda arguments, got=got: got)
