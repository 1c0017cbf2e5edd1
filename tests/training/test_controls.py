"""The recorded controls and checkpoints, and the training behind them: hidden words, labels of heads."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.roles import score_roles
from mha_course.models.gloss_model import GlossSizes
from mha_course.models.training_records import controls, forming
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training.forming import head_labels
from mha_course.training.gloss_batches import NO_ANSWER, gloss_data
from mha_course.training.masked_words import hidden_words, train_masked_words
from mha_course.training.train_gloss import Recipe, fresh_model

SENTENCES = list(draw_sentences(300, seed=8))


def test_only_hidden_words_are_asked() -> None:
    ids = torch.tensor([[5, 6, 7, 0], [8, 9, 0, 0]])
    shown = torch.tensor([[5, 1, 7, 0], [1, 9, 0, 0]])
    assert hidden_words(ids, shown).tolist() == [[NO_ANSWER, 6, NO_ANSWER, NO_ANSWER], [8, *[NO_ANSWER] * 3]]


def test_guessing_hidden_words_learns() -> None:
    model = fresh_model(GlossSizes(d_model=12, h=3, d_ff=20, dropout=0.0), seed=1)
    data = gloss_data(SENTENCES, model.vocabulary)
    before = model.parts["stem"].weight.clone()
    steps = list(train_masked_words(model, data, Recipe(steps=60, rate=1e-2, warm_up=5, tokens=256), 2))
    assert [s.number for s in steps] == list(range(1, 61))
    assert sum(s.loss for s in steps[-5:]) < 0.9 * sum(s.loss for s in steps[:5])
    assert torch.equal(before, model.parts["stem"].weight)


def test_a_head_is_called_after_its_position_first() -> None:
    parsed = [s.parsed for s in SENTENCES[:120]]
    g = torch.Generator().manual_seed(2)
    maps = []
    for s in parsed:
        n = len(s)
        w = torch.rand(2, 3, n, n, generator=g).softmax(-1)
        w[0, 0, : n - 1] = torch.eye(n)[1:]  # the next word, and with it many determiners' nouns
        for dependent, head, relation in s.arcs():
            if relation == "det":
                w[1, 1, dependent] = torch.eye(n)[head]
        maps.append(w)
    labels = head_labels(score_roles(maps, parsed, {word: 1 for s in parsed for word in s.words}))
    assert labels[0][0]["name"] == "next" and labels[0][0]["score"] == 1.0
    assert labels[1][1]["name"] == "det: dependent → head" and labels[1][1]["baseline"] > 0.4
    assert [labels[0][1], labels[0][2], labels[1][0], labels[1][2]] == [None] * 4


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_lesson_10_says_of_the_checkpoints(seed: int) -> None:
    stops = forming(seed)
    assert [c.step for c in stops] == [0, 150, 300, 450, 600, 750, 900, 1100, 1350, 1800]
    roles = [sum(h is not None for row in c.heads for h in row) for c in stops]
    assert roles[:2] == [0, 0] and roles[2] <= 1 and roles[3] >= 3 and roles[-1] >= 8
    assert 0.6 < stops[1].accuracy["stem"] < 0.72 and stops[-1].accuracy["stem"] > 0.99
    first = next(c for c in stops if c.best["previous"]["passed"])
    assert 450 <= first.step <= 600 and first.best["previous"]["layer"] == 2
    assert "previous" not in {h["name"] for h in first.heads[0] if h}
    since = {role: next(c.step for c in stops if c.best[role]["passed"]) for role in stops[0].best}
    assert since["rarest"] >= 900 and max(since["previous"], since["next"], since["syntactic"]) <= 600
    assert stops[-1].best["rarest"]["layer"] == 1


def test_a_run_that_was_not_recorded_is_named() -> None:
    with pytest.raises(ValueError, match=r"seed=7 .*\[0, 1, 2\]"):
        forming(7)


def test_what_lesson_10_says_of_the_controls() -> None:
    plain = controls()["without mutation and liaison"]
    assert [run["seed"] for run in plain] == [0, 1, 2]
    mean = {role: sum(run["roles"][role]["score"] for run in plain) / 3 for role in plain[0]["roles"]}
    assert round(mean["previous"], 1) == 0.3 and round(mean["next"], 2) == 0.67
    for run in plain:
        passed = {role for role, found in run["roles"].items() if found["passed"]}
        assert passed == {"syntactic", "rarest"} and min(run["accuracy"].values()) > 0.997
    for run in controls()["hidden words guessed"]:
        assert not any(found["passed"] for found in run["roles"].values())
        assert 0.15 < run["accuracy"]["hidden word"] < 0.25
