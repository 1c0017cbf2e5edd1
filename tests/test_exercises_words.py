"""What check says of a wrong answer: the fault alone, its cause, and one way of counting."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mha_course.exercises import check
from mha_course.exercises.judging import prepared
from mha_course.exercises.registry import EXERCISES
from mha_course.exercises.witness import counted

TWO = [n for n, e in EXERCISES.items() if [r.name for r in e.returns] == ["output", "weights"]]
REFUSING = [n for n in EXERCISES if any(case.refuses for case in prepared(n)[0])]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))


def refusing(refuse: Callable[..., object]) -> Callable[..., object]:
    """A right head_size, with another way to refuse."""
    return lambda d_model, h: refuse(d_model, h) if d_model % h else d_model // h


def raises(error: Exception) -> object:
    raise error


def test_there_are_exercises_of_both_kinds() -> None:
    assert REFUSING == ["head_size"] and TWO[:2] == ["attention", "empty_rows"]


@pytest.mark.parametrize(
    ("refuse", "id_", "words"),
    [
        (
            lambda *a: raises(AssertionError()),
            "refused-otherwise",
            "it raises `AssertionError`; a `ValueError`",
        ),
        (
            lambda *a: raises(AssertionError(a)),
            "refused-otherwise",
            "it raises `AssertionError`; a `ValueError`",
        ),
        (lambda *a: raises(TypeError(a)), "refused-otherwise", "it raises `TypeError`; a `ValueError`"),
        (lambda *a: a[0].nothing, "refused-otherwise", "the name behind the dot"),
        (
            lambda *a: raises(ValueError("bad")),
            "numbers-not-named",
            "doesn't name both numbers: 10 and 3 are",
        ),
        (
            lambda *a: raises(ValueError(a[1])),
            "numbers-not-named",
            "doesn't name both numbers: 10 is missing",
        ),
        (lambda *a: raises(ValueError("100, 13")), "numbers-not-named", "10 and 3 are missing"),
        (lambda *a: raises(ValueError("10 and 3")), "numbers-not-named", "1600 and 48 are missing"),
        (lambda *a: ValueError(*a), "returned-error", "`ValueError(10, 3)`"),
        (lambda *a: ValueError, "returned-error", "class 'ValueError'"),
        (lambda *a: "no", "not-refused", "yours gives `'no'`"),
        (lambda *a: [a], "not-refused", "yours gives `[(10, 3)]`"),
        (lambda *a: torch.zeros(2, 5), "not-refused", "a tensor of shape (2, 5)"),
        (lambda *a: print("no"), "none-for-impossible", "gives `None`"),
    ],
)
def test_a_refusal_is_a_value_error_with_the_numbers(refuse: Callable, id_: str, words: str) -> None:
    verdict = check("head_size", refusing(refuse))
    assert not verdict.passed and verdict.diagnosis == id_, verdict
    assert words in verdict.message and "something" not in verdict.message
    assert verdict.look


def core(q, k, v, mask=None, scale=True, hidden=-math.inf):
    scores = q @ k.mT / (math.sqrt(q.shape[-1]) if scale else 1)
    weights = (scores if mask is None else scores.masked_fill(~mask, hidden)).softmax(-1)
    return weights @ v, weights


def right(q, k, v, mask=None):
    output, weights = core(q, k, v, mask)
    return output.nan_to_num(0.0), weights.nan_to_num(0.0)


INNER = (
    lambda q, k, v, mask=None: core(q, k, v),
    lambda q, k, v, mask=None: core(q, k, v, mask, scale=False),
    lambda q, k, v, mask=None: core(q, -k, v + 1, mask),
    right,
)


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize(
    ("give", "id_", "words"),
    [
        (
            lambda o, w: (w, o),
            "results-swapped",
            "You return `(weights, output)`; wanted is `(output, weights)`.",
        ),
        (lambda o, w: [w, o], "results-swapped", "You return `(weights, output)`"),
        (lambda o, w: o, "output-only", "You return the output alone; wanted is `(output, weights)`."),
        (lambda o, w: w, "weights-only", "You return the weights alone; wanted is `(output, weights)`."),
        (lambda o, w: (w, w), "one-result-twice", "You return `(weights, weights)`"),
        (lambda o, w: (o, w, o), "wrong-number-of-results", "You return 3 things; wanted is"),
        (lambda o, w: o[..., :1], "wrong-number-of-results", "You return one thing; wanted is"),
        (lambda o, w: (w.mT, o), "results-swapped", "wanted is `(output, weights)`"),
        (lambda o, w: (o, None), "returned-nothing", "`None` for the weights"),
        (lambda o, w: {"output": o}, "wrong-type", "`dict`"),
    ],
)
def test_the_order_and_number_of_results_is_told_alone(
    name: str, inner: Callable, give: Callable, id_: str, words: str
) -> None:
    verdict = check(name, lambda q, k, v, mask=None: give(*inner(q, k, v, mask)))
    assert verdict.diagnosis == id_, verdict
    assert words in verdict.message, verdict
    assert " And: " not in verdict.message and "all is well" not in verdict.message
    assert "root of d_k" not in verdict.message and "ask is ignored" not in verdict.message
    assert verdict.remarks == ()


def test_an_order_that_changes_with_the_case_is_told_with_the_case() -> None:
    def turning(q, k, v, mask=None):
        return core(q, k, v, mask)[:: 1 if mask is None else -1]

    assert "With a mask you return `(weights, output)`" in check("attention", turning).message


def test_all_is_well_only_where_it_is() -> None:
    alone = check("attention", INNER[0])
    assert alone.diagnosis == "mask-ignored" and "Without a mask all is well." in alone.message
    both = check("attention", lambda q, k, v, mask=None: core(q, k, v, None, scale=False))
    assert both.diagnosis == "no-scale+mask-ignored"
    assert "The mask is ignored." in both.message and "all is well" not in both.message


def test_what_holds_only_alone_is_in_no_pair() -> None:
    for exercise in EXERCISES.values():
        for mistake in exercise.mistakes:
            if hasattr(mistake.wrong, "keywords"):
                assert not re.search(
                    r"\b(heads|rows|weights|output) (is|are) (right|fine|well)\b", mistake.says
                ), mistake.id


@pytest.mark.parametrize(
    ("fn", "id_", "words"),
    [
        (
            lambda t, v: [v.get(x, 1) for x in t],
            "unknown-is-another-id",
            "get id 1. That was `<unk>` in section 4",
        ),
        (lambda t, v: [v.get(x, 1) for x in t], "unknown-is-another-id", "here the vocabulary says 2"),
        (
            lambda t, v: [v.get(x, 1) for x in t],
            "unknown-is-another-id",
            "Token 2, `walrus`: its id should be `2`",
        ),
        (
            lambda t, v: [v.get(x, 7) for x in t],
            "unknown-is-another-id",
            "get id 7. Here the vocabulary says 2",
        ),
        (
            lambda t, v: [v.get(x, 20 + i) for i, x in enumerate(t)],
            "unknown-get-several",
            "the ids 22 and 28",
        ),
        (
            lambda t, v: [v.get(x, "<unk>") for x in t],
            "not-an-id",
            "Entry `[2]` is the text `'<unk>'`, not an id",
        ),
        (lambda t, v: t, "not-an-id", "Entry `[0]` is the text `'the'`"),
        (lambda t, v: (v.get(x, v["<unk>"]) for x in t), "a-generator", "put `[ ]` or `list( )` around it"),
        (lambda t, v: map(v.get, t), "a-generator", "put `[ ]` or `list( )` around it"),
        (lambda t, v: [v.get(x, v["unk"]) for x in t], "wrong-key", "The key is `<unk>`, with the brackets"),
        (lambda t, v: [v.get(x, v["<UNK>"]) for x in t], "wrong-key", "The key is `<unk>`, in small letters"),
        (lambda t, v: [v["dog"] for x in t], "raised", "The dictionary has no such key"),
        (
            lambda t, v: [v.get(x, 2) + (i == 1) for i, x in enumerate(t)],
            "ids-of-others",
            "`old` gets `8`, no id of the vocabulary. 3 of 4 ids are right.",
        ),
    ],
)
def test_ids_that_are_wrong_get_their_own_words(fn: Callable, id_: str, words: str) -> None:
    verdict = check("token_ids", fn)
    assert verdict.diagnosis == id_, verdict
    assert words in verdict.message, verdict
    assert "shapes" not in verdict.message and "position" not in verdict.message


def test_heads_and_sentences_count_from_one_and_the_rest_from_zero() -> None:
    assert [counted(w, 0) for w in ("head", "layer", "sentence")] == [1, 1, 1]
    assert [counted(w, 0) for w in ("token", "query", "feature", "row", "column")] == [0] * 5
    seen = check("split_heads", lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1)).witness
    assert "entry `[0, 0, 1, 0]` should be `13` (sentence 1, token 1, feature 0)" in seen
    assert "yours is `5` (sentence 1, token 0, feature 4)" in seen
    seen = check("stack_heads", lambda w: w.flip(0).transpose(0, 1).flatten(1)).witness
    assert "(head 1, row 0, column 0); yours is `41` (head 3, row 0, column 0)" in seen
    dealt = check("split_heads", lambda x, h: torch.stack([x[..., i::h] for i in range(h)], 1))
    assert "head 1 gets features 0, 3, ..." in dealt.message
    mask = check("causal_mask", lambda n: torch.ones(n, n).tril().bool() | (torch.arange(n) == 2)[:, None])
    assert "Row 2 is open throughout" in mask.message and "entry `[2, 3]`" in mask.message
    leak = check(
        "attention", lambda q, k, v, mask=None: core(q, k, v, None if mask is None else mask.roll(1, 1))
    )
    assert "The mask is shifted by one key." in leak.message
    leak = check("attention", lambda q, k, v, mask=None: core(q, k, v, mask, scale=mask is None, hidden=-2.5))
    query, key = (~prepared("attention")[0][1].arguments[3]).nonzero()[0].tolist()
    assert f"query {query} gives key {key} a weight" in leak.message


def test_no_known_mistake_calls_a_token_or_feature_one_too_high() -> None:
    for exercise in EXERCISES.values():
        for text in [w for m in exercise.mistakes for w in (m.says, m.look)] + [
            *exercise.hints,
            exercise.prompt,
        ]:
            assert not re.search(r"\b(token|feature|row|column|key)s? ([1-9]|\{\w+\} \+ 1)", text), text


def test_a_sum_for_an_average_says_what_two_targets_get() -> None:
    verdict = check("average_of_targets", lambda values, targets: values[targets].sum(0))
    assert "so two targets can't both get 1: each gets 1/2." in verdict.message


@pytest.mark.parametrize("name", ["softmax_rows", "loop_heads", "batched_heads"])
def test_prompts_own_up_to_what_check_cannot_see(name: str) -> None:
    assert "`check` can't see how you did it; this is for you" in EXERCISES[name].prompt


def test_what_a_student_returned_is_shown_as_text() -> None:
    shown = check("head_size", refusing(lambda *a: "<b>`x`</b>"))
    assert "<b>" not in shown._repr_html_() and "&lt;b&gt;" in shown._repr_html_()
    listed = check("token_ids", lambda t, v: [*range(len(t) - 1), "<i>`</i>"])
    assert "<i>" not in listed._repr_html_() and "is the text" in listed.message
    assert len(check("head_size", refusing(lambda *a: "x" * 10_000)).message) < 300


def test_a_mask_that_leaks_is_told_so() -> None:
    def leaking(q, k, v, mask=None):
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        weights = weights if mask is None else torch.where(mask, weights, weights * 0.3)
        return weights @ v, weights

    verdict = check("attention", leaking)
    assert "right without a mask, and wrong with a mask" in verdict.message
    assert "Hidden keys still get weight" in verdict.message and "times 0.3 only" in verdict.message


@pytest.mark.parametrize(
    ("give", "id_", "words"),
    [
        (lambda q, k, v, o: (o, q, k, v), "results-swapped", "You return `(w_o, "),
        (lambda q, k, v, o: (q, k, o, v), "results-swapped", "You return `(w_q, w_k, w_o, w_v)`"),
        (lambda q, k, v, o: (q, k, v), "wrong-number-of-results", "You return 3 things"),
        (lambda q, k, v, o: o, "w_o-only", "You return the w_o alone; wanted is `(w_q, w_k, w_v, w_o)`."),
        (lambda q, k, v, o: (k, q, v, o), "q-and-k-swapped", "W_Q and W_K have changed places"),
        (lambda q, k, v, o: (q, k, v, o.T), "other-fuse", "W_O is transposed"),
        (lambda q, k, v, o: (q.T, k.T, v.T, o.T), "transposed", "All four are transposed"),
    ],
)
def test_of_four_results_two_may_have_one_shape(give: Callable, id_: str, words: str) -> None:
    def pruned(w_q, w_k, w_v, w_o, h, kept):
        columns = [torch.cat([w.chunk(h, 1)[i] for i in kept], 1) for w in (w_q, w_k, w_v)]
        return give(*columns, torch.cat([w_o.chunk(h, 0)[i] for i in kept]))

    verdict = check("prune_heads", pruned)
    assert verdict.diagnosis == id_, verdict
    assert words in verdict.message, verdict
