"""Patterns of heads: planted maps give the numbers they must, loops give the same, and so does the record."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mha_course.heads.habits import BROAD, ITSELF, LARGEST, NEAR_ZERO, count_habits
from mha_course.models import head_patterns as reader
from mha_course.models.course_models import card_of, load_course_model, trained_settings
from mha_course.models.gloss_model import GlossSizes
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training import patterns
from mha_course.training.pattern_measures import Patterns, maps_of, measure_patterns
from mha_course.training.train_gloss import fresh_model

TINY = GlossSizes(d_model=12, h=3, n_layers=2, d_ff=20, dropout=0.0)


def planted(b: int, n: int) -> Tensor:
    """(b, 2, 3, n, n): layer 1 looks at itself, one back, everywhere; layer 2 one ahead, twice, and nearly
    all on itself with a little on the next word."""
    own, back = torch.eye(n), torch.eye(n).roll(-1, dims=1)
    back[0] = torch.eye(n)[0]
    ahead = torch.eye(n).roll(1, dims=1)
    ahead[-1] = torch.eye(n)[-1]
    leaning = 0.995 * own + 0.005 * ahead
    layers = [torch.stack([own, back, torch.full((n, n), 1 / n)]), torch.stack([ahead, ahead, leaning])]
    return torch.stack(layers).expand(b, 2, 3, n, n)


def drawn(b: int, n: int, seed: int) -> Tensor:
    g = torch.Generator().manual_seed(seed)
    return (4 * torch.randn(b, 2, 3, n, n, generator=g)).softmax(-1)


def test_planted_heads_give_the_numbers_they_must() -> None:
    found = measure_patterns([planted(4, 5), planted(2, 7)])
    rows, pairs = 4 * 5 + 2 * 7, 4 * 4 + 2 * 6
    assert found.chance == pytest.approx(6 / rows)
    assert found.self_weight[0, 0] == found.self_share[0, 0] == found.confidence[0, 0] == 1
    assert found.previous_share[0, 1] == found.previous_weight[0, 1] == 1
    assert found.next_share[1].tolist() == [1, 1, 1] and found.next_weight[1, 0] == 1
    assert found.self_weight[0, 1] == pytest.approx(6 / rows)  # the first word alone
    assert found.spread[0, :2].tolist() == [0, 0] and found.spread[0, 2] == pytest.approx(1)
    assert found.confidence[0, 2] == found.self_weight[0, 2] == pytest.approx(6 / rows)
    assert found.below_hundredth[0].tolist() == pytest.approx([1 - 6 / rows, 1 - 6 / rows, 0])
    # 0.995 on itself: the own weight doesn't hide the next word from `next_share`, and 0.005 is below 0.01.
    assert found.self_share[1, 2] == 1
    assert found.self_weight[1, 2] == pytest.approx((rows - 6) / rows * 0.995 + 6 / rows)
    assert found.next_weight[1, 2] == pytest.approx(0.005 * pairs / pairs)
    assert found.below_hundredth[1, 2] == pytest.approx(1 - 6 / rows)


def test_heads_that_look_at_different_words_are_log_2_apart_and_twins_are_not() -> None:
    far = measure_patterns([planted(1, 6)])
    n = 6
    # Layer 2: the twins are 0 from each other and as far from the third as can be worked out for one row.
    p, q = torch.tensor([1.0, 0.0]), torch.tensor([0.005, 0.995])
    m = (p + q) / 2
    gap = float(-torch.special.xlogy(m, m).sum() + torch.special.xlogy(q, q).sum() / 2) * (n - 1) / n
    assert far.apart[1].tolist() == pytest.approx([gap / 2, gap / 2, gap], rel=1e-4)
    two = torch.stack([torch.eye(6), torch.eye(6).roll(1, dims=1)])[None, None]
    assert measure_patterns([two]).apart[0].tolist() == pytest.approx([math.log(2)] * 2)
    assert measure_patterns([two[:, :, :1]]).apart.isnan().all()


def by_loops(maps: list[Tensor], layer: int, head: int) -> dict[str, float]:
    """Every measure of one head, row after row."""
    sums: dict[str, list[float]] = {name: [] for name in patterns.MEASURES}
    for w in (one for group in maps for one in group):
        n = w.shape[-1]
        for t in range(n):
            row = w[layer, head, t].tolist()
            others = [value if s != t else -1.0 for s, value in enumerate(row)]
            sums["self_weight"].append(row[t])
            sums["self_share"].append(max(row) == row[t])
            sums["below_hundredth"].append(sum(value < 0.01 for value in row) / n)
            sums["below_tenth_of_even"].append(sum(value < 0.1 / n for value in row) / n)
            sums["spread"].append(-sum(value * math.log(value) for value in row) / math.log(n))
            sums["confidence"].append(max(row))
            for name, s in (("previous", t - 1), ("next", t + 1)):
                if 0 <= s < n:
                    sums[f"{name}_share"].append(others.index(max(others)) == s)
                    sums[f"{name}_weight"].append(row[s])
            for other in {0, 1, 2} - {head}:
                p, q = w[layer, head, t], w[layer, other, t]
                m = (p + q) / 2
                gap = ((p * (p / m).log()).sum() + (q * (q / m).log()).sum()) / 2
                sums["apart"].append(float(gap))
    return {name: sum(values) / len(values) for name, values in sums.items()}


@pytest.mark.parametrize(("layer", "head"), [(0, 1), (1, 2)])
def test_loops_find_the_same(layer: int, head: int) -> None:
    maps = [drawn(4, 5, 1), drawn(2, 7, 2)]
    found = measure_patterns(maps)
    for name, expected in by_loops(maps, layer, head).items():
        assert float(getattr(found, name)[layer, head]) == pytest.approx(expected, abs=1e-5), name


def test_habits_of_heads_are_measured_alike() -> None:
    maps = [drawn(4, 5, 1), drawn(2, 7, 2)]
    apiece = [one for group in maps for one in group]
    habits, found = count_habits(apiece, [()] * len(apiece)), measure_patterns(maps)
    pairs = {
        ITSELF: found.self_weight,
        NEAR_ZERO: found.below_hundredth,
        BROAD: found.spread,
        LARGEST: found.confidence,
    }
    for habit, measure in pairs.items():
        torch.testing.assert_close(habits.mean(habit), measure)


def test_nothing_and_single_words_are_refused() -> None:
    with pytest.raises(ValueError, match="no maps"):
        measure_patterns([])
    with pytest.raises(ValueError, match="1 word"):
        measure_patterns([drawn(2, 5, 3), torch.ones(2, 2, 3, 1, 1)])


def test_maps_of_many_sentences_are_those_of_each() -> None:
    model = fresh_model(TINY, seed=4).eval()
    words = [s.words for s in draw_sentences(11, seed=5)]
    seen = {}
    for places, maps in maps_of(model, words):
        seen.update(zip(places, maps, strict=True))
    assert sorted(seen) == list(range(11)) and len({len(w) for w in words}) > 2
    for i, own in seen.items():
        torch.testing.assert_close(own, model.attend(words[i]).weights)


def test_a_record_comes_back_as_it_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn_sentences = list(draw_sentences(40, seed=6))
    monkeypatch.setattr(patterns, "held_out", lambda count, seed: drawn_sentences)
    monkeypatch.setattr(
        patterns, "word_counts", lambda: {word: 1 for s in drawn_sentences for word in s.words}
    )
    one = GlossSizes(d_model=10, h=1, n_layers=2, d_ff=14)
    models = [(TINY, 7, fresh_model(TINY, 7).eval()), (one, 8, fresh_model(one, 8).eval())]
    patterns.record_patterns(models, tmp_path)
    monkeypatch.setattr(reader, "data_path", lambda name: tmp_path / Path(name).name)
    reader.pattern_record.cache_clear()
    try:
        record = reader.pattern_record()
        assert record.sentences == 40 and record.words == sum(len(s.words) for s in drawn_sentences)
        at = [(m.d_model, m.h, m.seed, m.trained) for m in record.models]
        assert at == [(10, 1, 8, True), (10, 1, 8, False), (12, 3, 7, True), (12, 3, 7, False)]
        (own,) = reader.head_patterns(12, 3)
        expected: Patterns = measure_patterns(
            [m for _, m in maps_of(models[0][2], [s.words for s in drawn_sentences])]
        )
        assert [(head.layer, head.head) for head in own.heads] == [(i, j) for i in (1, 2) for j in (1, 2, 3)]
        for head in own.heads:
            for name, value in head.measures.items():
                assert value == pytest.approx(
                    float(getattr(expected, name)[head.layer - 1, head.head - 1]), abs=1e-4
                )
        assert own.mean("self_weight", 2) == pytest.approx(float(expected.self_weight[1].mean()), abs=1e-4)
        (single,) = reader.head_patterns(10, 1, trained=False)
        assert single.heads[0].measures["apart"] is None and single.mean("apart") is None
        with pytest.raises(ValueError, match="d_model=99"):
            reader.head_patterns(99)
    finally:
        reader.pattern_record.cache_clear()


def test_the_interval_is_students() -> None:
    found = reader.interval([0.2, 0.3, 0.7])
    # mean 0.4, standard deviation 0.264575: 4.303 * 0.264575 / sqrt(3) = 0.657
    assert (found.mean, found.low, found.high) == pytest.approx((0.4, -0.2573, 1.0573), abs=1e-3)
    with pytest.raises(ValueError, match="got 1"):
        reader.interval([0.2])


def test_settings_are_recorded_with_three_seeds_and_as_many_controls() -> None:
    record = reader.pattern_record()
    assert record.sentences == patterns.SCORED_SENTENCES and 0.06 < record.chance < 0.1
    for trained in (True, False):
        runs = reader.head_patterns(trained=trained)
        recorded = [(m.d_model, m.h, m.seed) for m in runs]
        assert recorded == [(*s, seed) for s in trained_settings() for seed in (0, 1, 2)]
        assert all(len(m.heads) == 2 * m.h for m in runs)
        for head in (head for m in runs for head in m.heads):
            assert all(value is None or 0 <= value <= 1 for value in head.measures.values())
    assert not any(head.role == "positional" for m in reader.head_patterns(trained=False) for head in m.heads)
    with pytest.raises(ValueError, match="measure='sharpness'"):
        reader.over_seeds(128, 8, "sharpness")
    with pytest.raises(ValueError, match="one head"):
        reader.over_seeds(32, 1, "apart")


@pytest.mark.parametrize(("d_model", "h"), [(128, 8), (64, 2)])
def test_the_record_agrees_with_the_cards(d_model: int, h: int) -> None:
    for run, model in zip(card_of(d_model, h).seeds, reader.head_patterns(d_model, h), strict=True):
        assert run["seed"] == model.seed
        for role in run["roles"]:
            if role["kind"] != "positional":
                continue
            layer, head = role["head"]
            pattern = next(p for p in model.heads if (p.layer, p.head) == (layer, head))
            # The card tells one half of the sentences, the record all of them.
            assert pattern.measures[f"{role['role']}_share"] == pytest.approx(role["held"], abs=0.01)


def test_the_kept_model_gives_what_was_recorded() -> None:
    model, sentences = load_course_model(32, 2), list(draw_sentences(200, seed=34))
    found = measure_patterns([maps for _, maps in maps_of(model, [s.words for s in sentences])])
    recorded = reader.head_patterns(32, 2)[0]
    for head in recorded.heads:
        for name in ("self_weight", "spread", "below_hundredth"):
            now = float(getattr(found, name)[head.layer - 1, head.head - 1])
            assert head.measures[name] == pytest.approx(now, abs=0.03), (head.layer, head.head, name)
