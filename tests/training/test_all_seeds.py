"""All seeds: trained once, taken up again after an interruption, held against the card."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import torch

from mha_course.data_files import data_path
from mha_course.models.course_models import (
    MAIN,
    Card,
    card_of,
    cards,
    file_name,
    kept_seeds,
    load_course_model,
    save_model,
    trained_settings,
)
from mha_course.models.gloss_model import GlossSizes
from mha_course.training import all_seeds as module
from mha_course.training.__main__ import HEADS, SEEDS, WIDTHS
from mha_course.training.all_seeds import REBUILT, all_seeds, compared, main_first, seed_path
from mha_course.training.train_gloss import Recipe, fresh_model

TINY = [GlossSizes(d_model=12, h=3, d_ff=20), GlossSizes(d_model=10, h=1, d_ff=14)]
RECIPE = Recipe(steps=4, tokens=128, sentences=60, warm_up=2)
RIGHT = {"stem": 0.25, "ending": 0.5, "mutation": 0.125, "liaison": 0.75}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "right_answers", lambda model: RIGHT)


def test_what_is_there_is_not_trained_again_and_a_broken_run_is(tmp_path: Path) -> None:
    said: list[str] = []
    first = {(s.h, seed): model for s, seed, model in all_seeds(TINY, (3, 5), tmp_path, said.append, RECIPE)}
    assert list(first) == [(3, 3), (3, 5), (1, 3), (1, 5)] and len(said) == 4
    assert not list(tmp_path.rglob("*.unfinished"))
    lost, kept = seed_path(tmp_path, TINY[0], 5), seed_path(tmp_path, TINY[1], 3)
    before, bytes_before = kept.stat().st_mtime_ns, lost.read_bytes()
    lost.unlink()
    again = list(all_seeds(TINY, (3, 5), tmp_path, said.append, RECIPE))
    assert len(said) == 5 and "seed 5" in said[4] and len(again) == 4
    # The same seed gives the same bytes, and another seed others.
    assert lost.read_bytes() == bytes_before != seed_path(tmp_path, TINY[0], 3).read_bytes()
    assert kept.stat().st_mtime_ns == before
    notes = json.loads((tmp_path / REBUILT).read_text(encoding="utf-8"))
    assert len(notes) == 4 and {note["same_bytes"] for note in notes} == {None}
    for (_, _, model), old in zip(again, first.values(), strict=True):
        assert torch.equal(model.read.words.weight, old.read.words.weight) and not model.training


def test_models_that_are_kept_elsewhere_are_not_trained(tmp_path: Path) -> None:
    said: list[str] = []
    kept = tmp_path / "kept"
    kept.mkdir()
    save_model(fresh_model(TINY[0], 9).eval(), kept / file_name(TINY[0], seed=5))
    models = list(all_seeds(TINY[:1], (3, 5), tmp_path / "new", said.append, RECIPE, kept))
    assert len(said) == 1 and "seed 3" in said[0] and [seed for _, seed, _ in models] == [3, 5]
    expected = fresh_model(TINY[0], 9).read.words.weight.half().float()
    assert torch.equal(models[1][2].read.words.weight, expected)


def test_a_model_is_held_against_its_card(tmp_path: Path) -> None:
    path = tmp_path / "some.safetensors"
    path.write_bytes(b"weights")
    digest = hashlib.sha256(b"weights").hexdigest()
    runs = ({"seed": 0, "accuracy": RIGHT}, {"seed": 1, "accuracy": {**RIGHT, "stem": 0.26}})
    card = Card(TINY[0], 4, runs, path.name, digest, "")
    assert compared(card, 0, path, RIGHT) == {"accuracy": RIGHT, "same_accuracy": True, "same_bytes": True}
    found = compared(card, 1, path, RIGHT)
    assert (found["same_accuracy"], found["same_bytes"]) == (False, None)
    path.write_bytes(b"others")
    assert compared(card, 0, path, RIGHT)["same_bytes"] is False
    assert compared(None, 0, path, RIGHT)["same_accuracy"] is None


def test_the_main_model_comes_first() -> None:
    swept = [GlossSizes(d_model=d, h=h, d_ff=2 * d) for d in WIDTHS for h in HEADS]
    order = main_first(swept)
    assert order[0] == MAIN and {s.d_model for s in order[:8]} == {32, 128} and set(order) == set(swept)


def test_every_setting_of_the_sweep_is_trained_with_three_seeds() -> None:
    assert set(trained_settings()) == {(d, h) for d in WIDTHS for h in HEADS}
    assert min(len(WIDTHS), len(HEADS)) >= 4 and min(HEADS) == 1
    for card in cards():
        assert [run["seed"] for run in card.seeds] == list(SEEDS)


def test_every_file_is_the_one_of_its_card() -> None:
    known = {card.file: card.sha256 for card in cards()}
    known |= {run["file"]: run["sha256"] for run in card_of(128, 8).seeds}
    for name, digest in known.items():
        assert hashlib.sha256(data_path(f"models/{name}").read_bytes()).hexdigest() == digest, name
    kept = {p.name for p in data_path("models").glob("gloss-*.safetensors") if "-step" not in p.name}
    assert kept == set(known)


def test_all_runs_of_the_main_model_are_kept() -> None:
    assert kept_seeds() == SEEDS and kept_seeds(64, 2) == (0,) and kept_seeds(24, 3) == ()
    weights = [load_course_model(seed=seed).read.words.weight for seed in SEEDS]
    assert not torch.equal(weights[0], weights[1]) and not torch.equal(weights[1], weights[2])
    assert file_name(MAIN, seed=2) == "gloss-d128-h8-seed2.safetensors"
    with pytest.raises(ValueError, match="no model of seed 3 .*0, 1, 2"):
        load_course_model(seed=3)
    with pytest.raises(ValueError, match="no model of seed 1 .*there are: 0"):
        load_course_model(64, 2, seed=1)
    with pytest.raises(ValueError, match="checkpoints are kept of seed 0"):
        load_course_model(step=150, seed=1)
