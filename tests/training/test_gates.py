"""Gates learned on a course model: losses by sentence, the trainer, and the book of recorded runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from mha_course.heads.ablation import without_heads
from mha_course.heads.importance import gradient_importance
from mha_course.heads.pruning import GateRecipe, survivors
from mha_course.models.course_models import load_course_model, save_model
from mha_course.models.gloss_model import GlossSizes
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training import record_gates as recorder
from mha_course.training.gates import GateTrainer, gate_sentences, gloss_loss, sentence_losses, shown_batches
from mha_course.training.gloss_batches import gloss_data
from mha_course.training.record_gates import RunBook, in_batches, removal_orders
from mha_course.training.train_gloss import accuracy, fresh_model

SHORT = GateRecipe(strength=0.3, steps=30, gate_rate=0.4, ramp=0, settle=5)


@pytest.fixture(scope="module")
def small():
    model = fresh_model(GlossSizes(d_model=12, h=3, n_layers=2, d_ff=20), seed=1)
    return model.requires_grad_(False).eval(), gate_sentences(model.vocabulary, 90)


def test_a_sentence_alone_has_the_loss_of_its_batch(small) -> None:
    model, data = small
    batch = data.batch(torch.tensor([3, 17, 40]))
    each = sentence_losses(model, batch)
    assert each.shape == (3,)
    for i, sentence in enumerate((3, 17, 40)):
        alone = gloss_loss(model, data.batch(torch.tensor([sentence])))
        assert each[i].item() == pytest.approx(alone.item(), rel=1e-4)


def test_hidden_words_ask_for_no_stem(small) -> None:
    model, data = small
    batch = next(shown_batches(data, model.vocabulary, torch.Generator().manual_seed(5)))
    unknown = batch.ids == 1
    assert 0 < unknown.float().mean() < 0.1
    assert (batch.answers["stem"][unknown] == -100).all() and (batch.answers["ending"][unknown] >= 0).all()


def test_the_trainer_works_on_a_copy_and_is_repeatable(small) -> None:
    model, data = small
    before = {name: number.clone() for name, number in model.state_dict().items()}
    runs = []
    for _ in range(2):
        trainer = GateTrainer(model, SHORT, seed=4)
        kept = [step.kept for step in trainer.steps(data)]
        runs.append(trainer)
    assert len(kept) == 30 and kept[0] == 6 > kept[-1] == len(survivors(runs[0].values()))
    assert all(torch.equal(a, b) for a, b in zip(runs[0].values(), runs[1].values(), strict=True))
    assert all(torch.equal(before[name], number) for name, number in model.state_dict().items())
    assert not torch.equal(runs[0].learned.read.words.weight, model.read.words.weight)
    frozen = GateTrainer(model, replace(SHORT, weight_rate=0.0), seed=4)
    list(frozen.steps(data))
    assert all(torch.equal(before[name], number) for name, number in frozen.learned.state_dict().items())


def test_the_pruned_model_answers_as_the_gated_one(small) -> None:
    model, data = small
    trainer = GateTrainer(model, SHORT, seed=4)
    trainer.gates[0].log_alpha.data = torch.tensor([-9.0, 9.0, 0.3])
    trainer.gates[1].log_alpha.data = torch.tensor([9.0, -9.0, 9.0])
    pruned = trainer.pruned()
    assert [layer.attention.h for layer in pruned.encoder.layers] == [2, 2]
    trainer.gates[0].log_alpha.data = torch.tensor([-9.0, 9.0, 9.0])
    with without_heads(model, [(1, 1), (2, 2)]):
        expected = model(data.ids[None, :9])
    found = trainer.pruned()(data.ids[None, :9])
    assert all(torch.allclose(found[part], expected[part], atol=1e-5) for part in expected)


def test_heads_whose_slope_is_small_can_go_first() -> None:
    """On the course model: the five heads of the smallest slopes cost less than those of the largest."""
    model = load_course_model()
    data = gate_sentences(model.vocabulary, 120)
    slopes = gradient_importance(model, in_batches(data), sentence_losses)
    orders = dict(removal_orders(model, [s.parsed for s in draw_sentences(20, seed=9)], seed=0))
    assert slopes.shape == (2, 8) and len(orders) == 7
    assert all(len(set(order)) == 16 for order in orders.values())
    assert orders["random 1"] != orders["random 2"]
    tested = gloss_data(list(draw_sentences(60, seed=10)), model.vocabulary)
    lost = []
    for heads in (orders["importance"][:5], orders["importance"][-5:]):
        with without_heads(model, heads):
            lost.append(1 - min(accuracy(model, tested).values()))
    assert lost[0] < 0.5 * lost[1]


def test_a_run_in_the_book_is_not_computed_again(tmp_path) -> None:
    path = tmp_path / "gates.json"
    assert RunBook(path).put("gates", {"seed": 1, "strength": 0.2}, lambda: {"kept": 3})["kept"] == 3
    again = RunBook(path)
    assert again.put("gates", {"seed": 1, "strength": 0.2}, lambda: {"kept": 4})["kept"] == 3
    assert again.put("gates", {"seed": 2, "strength": 0.2}, lambda: {"kept": 5})["kept"] == 5
    again.put("whole", {"seed": 1}, lambda: {})
    with pytest.raises(RuntimeError):
        again.put("whole", {"seed": 2}, lambda: (_ for _ in ()).throw(RuntimeError()))
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written == {
        "gates": [*({"seed": s, "strength": 0.2, "kept": 2 * s + 1} for s in (1, 2))],
        "whole": [{"seed": 1}],
    }


def test_a_small_recording_from_end_to_end(tmp_path, monkeypatch) -> None:
    small = GlossSizes(d_model=12, h=3, n_layers=2, d_ff=20)
    save_model(fresh_model(small, seed=2), tmp_path / recorder.file_name(recorder.MAIN))
    few = list(draw_sentences(40, seed=12))
    monkeypatch.setattr(recorder, "held_out", lambda count, seed: few)
    monkeypatch.setattr(recorder, "testing_data", lambda model: gloss_data(few, model.vocabulary))
    monkeypatch.setattr(recorder, "gate_sentences", lambda vocabulary, count=0: gloss_data(few, vocabulary))
    monkeypatch.setattr(recorder, "GateRecipe", lambda: replace(SHORT, steps=8))
    monkeypatch.setattr(recorder, "STRENGTHS", (0.1, 0.7))
    monkeypatch.setattr(recorder, "RETRAINED", (2,))
    said: list[str] = []
    recorder.record_gates(tmp_path, (0,), said.append)
    written = json.loads((tmp_path / recorder.FILE).read_text(encoding="utf-8"))
    assert {kind: len(runs) for kind, runs in written.items()} == {
        **{"whole": 1, "removed": 7},
        **{"gates": 4, "retrained": 3},
    }
    for run in written["gates"]:
        assert run["kept"] == sum(gate > 0 for layer in run["gates"] for gate in layer)
        shape = [[len(layer) for layer in run[name]] for name in ("gates", "heads", "log_alpha")]
        assert shape == [[3, 3]] * 3
    first = written["removed"][0]
    assert len(first["accuracy"]) == 7 and first["accuracy"][0] == written["whole"][0]["accuracy"]
    before = (tmp_path / recorder.FILE).read_bytes()
    recorder.record_gates(tmp_path, (0,), said.append)
    assert (tmp_path / recorder.FILE).read_bytes() == before
