"""What removal costs: marks by sentence, single heads, random groups, pairs, heads at their mean."""

from __future__ import annotations

import json
import math

import pytest
import torch
import torch.nn.functional as F

from mha_course.heads.ablation import all_heads, without_heads
from mha_course.models.course_models import load_course_model, save_model
from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.text.course_language.gloss import PARTS
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training import record_removals as recorder
from mha_course.training.gloss_batches import GlossData, gloss_data
from mha_course.training.gloss_marks import (
    JUDGES,
    PICKS,
    equal_lengths,
    gloss_marks,
    lost_interval,
    lost_points,
)
from mha_course.training.gloss_without_heads import accuracy_without, held_out_glosses
from mha_course.training.removed_heads import (
    Remover,
    mean_share,
    removed_at_random,
    removed_in_pairs,
    removed_singly,
)
from mha_course.training.train_gloss import accuracy, fresh_model

SMALL = GlossSizes(d_model=12, h=3, n_layers=2, d_ff=20)
FEW = list(draw_sentences(37, seed=12))


@pytest.fixture(scope="module")
def small():
    model = fresh_model(SMALL, seed=1).requires_grad_(False).eval()
    return model, gloss_data(FEW, model.vocabulary)


def test_sentences_of_one_length_and_each_once(small) -> None:
    data = small[1]
    groups = equal_lengths(data)
    assert sorted(i for group in groups for i in group.tolist()) == list(range(37))
    assert all(len(set(data.lengths[group].tolist())) == 1 for group in groups)


def test_marks_are_those_of_accuracy_and_of_the_loss_by_hand(small) -> None:
    model, data = small
    marks = gloss_marks(model, data)
    assert marks.accuracy() == pytest.approx(accuracy(model, data))
    one = data.batch(torch.tensor([5]))
    logits = model(one.ids)
    by_hand = F.cross_entropy(logits["ending"][0], one.answers["ending"][0], reduction="sum")
    assert float(marks.loss[5, PARTS.index("ending")]) == pytest.approx(by_hand.item(), rel=1e-5)
    halves = [marks.words[half].sum(0) for half in (PICKS, JUDGES)]
    assert torch.equal(halves[0] + halves[1], marks.words.sum(0)) and len(marks.words[PICKS]) == 19
    assert marks.total_loss() == pytest.approx(sum(marks.loss_by_part().values()))


def test_the_interval_lies_around_what_was_lost() -> None:
    model, data = load_course_model(), held_out_glosses(80)
    whole, (layer, head) = gloss_marks(model, data), (1, 7)
    with without_heads(model, [(layer, head)]):
        left = gloss_marks(model, data)
    lost, interval = lost_points(whole, left), lost_interval(whole, left, resamples=400)
    assert interval["stem"][0] < lost["stem"] < interval["stem"][1]
    assert interval["stem"][0] > 5 and max(interval["mutation"]) < 1


def test_single_heads_as_the_other_way_counts_them() -> None:
    model, data = load_course_model(seed=1), held_out_glosses(40)
    found = removed_singly(model, data)
    assert [one.heads for one in found] == [(head,) for head in all_heads(model)]
    whole = accuracy_without([], data, model)
    for one in (found[1], found[14]):
        left = accuracy_without(one.heads, data, model)
        assert one.points == pytest.approx({part: 100 * (whole[part] - left[part]) for part in PARTS})
        assert one.worst == (max(one.points, key=one.points.get), max(one.points.values()))
        assert one.nats > 0.03
    assert sum(one.worst[1] < 0.5 for one in found) >= 10


def test_pairs_groups_and_means(small) -> None:
    model, data = small
    remover = Remover(model, data)
    pairs = list(removed_in_pairs(remover))
    assert len(pairs) == 15 and len({one.heads for one in pairs}) == 15
    assert pairs[0] == remover.cost([(1, 1), (1, 2)])
    chosen = [(1, 1), (2, 3)]
    others = removed_at_random(remover, chosen, draws=4)
    assert len(others) == 4 and all(not set(one.heads) & set(chosen) for one in others)
    with pytest.raises(ValueError, match=r"no head \(3, 1\)"):
        remover.cost([(3, 1)])
    with pytest.raises(ValueError, match=r"no head \(3, 1\)"):
        remover.cost([(3, 1)], at_mean=True)
    assert gloss_marks(model, data).total_loss() == remover.whole.total_loss()
    halves = [remover.cost(chosen, judge=half).nats for half in (PICKS, JUDGES)]
    assert min(halves) < remover.cost(chosen).nats < max(halves)


def test_a_head_that_always_says_the_same_is_all_mean(small) -> None:
    model, data = fresh_model(SMALL, seed=3).requires_grad_(False).eval(), small[1]
    layer = model.encoder.layers[1].attention
    layer.w_v.weight[4:8] = 0
    layer.w_v.bias[4:8] = torch.tensor([0.3, -0.2, 0.5, 0.1])
    remover = Remover(model, data)
    shares = mean_share(remover)
    assert len(shares) == 2 and len(shares[0]) == 3
    assert shares[1][1] == pytest.approx(1, abs=1e-4)
    assert all(share < 0.999 for share in (*shares[0], shares[1][0], shares[1][2]))
    assert abs(remover.cost([(2, 2)], at_mean=True).nats) < 1e-5 < abs(remover.cost([(2, 2)]).nats)


def first_of(model: GlossModel, count: int) -> GlossData:
    return gloss_data(FEW[: count // 50], model.vocabulary)


def test_a_small_recording_from_end_to_end(tmp_path, monkeypatch) -> None:
    save_model(fresh_model(SMALL, seed=2), tmp_path / recorder.file_name(recorder.MAIN))
    monkeypatch.setattr(
        recorder, "testing_data", lambda model, n: gloss_data(FEW[: n // 50], model.vocabulary)
    )
    monkeypatch.setattr(recorder, "gate_sentences", lambda vocabulary, count: gloss_data(FEW, vocabulary))
    groups = {"next word": ((1, 2), (2, 1)), "syntax": ((2, 2),)}
    monkeypatch.setattr(recorder, "role_groups", lambda seed: groups)
    monkeypatch.setattr(recorder, "DRAWN_SIZES", (2, 5))
    monkeypatch.setattr(recorder, "DRAWN_GROUPS", 3)
    monkeypatch.setattr(recorder, "RANDOM_GROUPS", 2)
    said: list[str] = []
    recorder.record_removals(tmp_path, (0,), said.append)
    path = tmp_path / recorder.FILE
    written = json.loads(path.read_text(encoding="utf-8"))
    assert {kind: len(runs) for kind, runs in written.items()} == {
        **{"whole": 1, "scores": 1, "mean_share": 1, "single": 6, "group": 2},
        **{"patterns": 1, "pairs": 1, "drawn": 2},
    }
    assert written["whole"][0]["sentences"] == 30
    assert [len(run["random"]) for run in written["group"]] == [2, 2]
    assert [len(run["but_one"]) for run in written["group"]] == [2, 1]
    assert len(written["pairs"][0]["nats"]) == 15 and len(written["pairs"][0]["alone"]) == 6
    for one in written["single"]:
        for part, (low, high) in one["interval"].items():
            assert low <= one["points"][part] + 0.01 and one["points"][part] - 0.01 <= high
        assert math.isfinite(one["judges"]["nats"]) and one["picks"] != one["judges"]
    before = path.read_bytes()
    recorder.record_removals(tmp_path, (0,), said.append)
    assert path.read_bytes() == before
