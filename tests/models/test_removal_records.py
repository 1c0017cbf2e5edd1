"""What was recorded about removed heads: that it fits together, and what the lesson says of it."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.ablation import without_heads
from mha_course.heads.clear_patterns import CLEAR_SHARE, IDLE_POINTS
from mha_course.models import load_course_model
from mha_course.models.idle_heads import backups, clearest_idle, idle_heads, without_role
from mha_course.models.pruning_records import gate_runs
from mha_course.models.removal_records import (
    HEADS,
    SCORES,
    group_removals,
    head_scores,
    pair_removals,
    patterns_found,
    score_against_removal,
    single_removals,
)
from mha_course.text.course_language.gloss import PARTS
from mha_course.training.gloss_marks import gloss_marks
from mha_course.training.gloss_without_heads import held_out_glosses, role_groups
from mha_course.training.record_removals import confidence_of, importance_of

SEEDS = (0, 1, 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_fits_together(seed: int) -> None:
    alone = single_removals(seed)
    assert tuple(one.head for one in alone) == HEADS
    for one in alone:
        halves = [half.points for half in (one.picks, one.judges)]
        for part in PARTS:
            low, high = one.interval[part]
            assert low - 0.01 <= one.points[part] <= high + 0.01
            assert min(h[part] for h in halves) - 0.01 <= one.points[part]
            assert one.points[part] <= max(h[part] for h in halves) + 0.01
    groups = group_removals(seed)
    assert {one.role: one.heads for one in groups} == role_groups(seed)
    pairs = {one.heads: one for one in pair_removals(seed)}
    assert len(pairs) == 120
    for one in groups:
        assert len(one.random) == 12 and set(one.but_one) == set(one.heads)
        if len(one.heads) == 2:  # the same removal, recorded twice
            assert pairs[one.heads].nats == one.nats
            assert pairs[one.heads].points == one.worst[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_recorded_costs_are_those_of_the_models_in_data(seed: int) -> None:
    """On 200 of the sentences, for the head that costs most."""
    model, data = load_course_model(seed=seed), held_out_glosses(200)
    one = max(single_removals(seed), key=lambda one: one.nats)
    whole = gloss_marks(model, data)
    with without_heads(model, [one.head]):
        left = gloss_marks(model, data)
    part, points = one.worst
    lost = 100 * (whole.accuracy()[part] - left.accuracy()[part])
    assert lost == pytest.approx(points, rel=0.25)
    assert left.total_loss() - whole.total_loss() == pytest.approx(one.nats, rel=0.25)


def test_the_recorded_scores_are_those_of_the_models_in_data() -> None:
    model = load_course_model(seed=2)
    read = head_scores(seed=2)
    assert torch.allclose(read["importance"], importance_of(model), atol=2e-5)
    assert torch.allclose(read["confidence"], confidence_of(model), atol=2e-5)
    assert torch.allclose(read["normalised importance"].norm(dim=-1), torch.ones(2))


def test_most_heads_cost_next_to_nothing_and_each_run_has_its_exception() -> None:
    for seed in SEEDS:
        worst = sorted(one.worst[1] for one in single_removals(seed))
        assert worst[11] < IDLE_POINTS  # twelve of the sixteen at least
        assert worst[-1] > 2
        costly = max(single_removals(seed), key=lambda one: one.nats)
        # the dearest one looks for the rarest word
        assert costly.head in role_groups(seed)["rarest word"] and costly.worst[0] == "stem"


def test_the_mean_of_a_head_is_no_better_than_silence() -> None:
    """A head's mean is a small part of what it says, so little differs."""
    for seed in SEEDS:
        for one in single_removals(seed):
            assert one.mean_share < 0.15
            assert abs(one.at_mean.worst[1] - one.worst[1]) < 0.6
            assert one.at_mean.nats == pytest.approx(one.nats, abs=0.007)


def test_groups_cost_many_times_what_their_heads_cost_alone() -> None:
    for seed in SEEDS:
        alone = {one.head: one for one in single_removals(seed)}
        for group in group_removals(seed):
            part, points = group.worst
            single = [alone[head].points[part] for head in group.heads]
            random = sum(one.points[part] for one in group.random) / len(group.random)
            assert points > 5 and points > 10 * random
            if len(group.heads) > 1:
                assert points > 1.5 * sum(single)


def test_clear_patterns_without_effect_have_twins() -> None:
    for seed in SEEDS:
        found = idle_heads(seed)
        assert len(found) >= 7 and sum(not one.holds for one in found) <= 1
        clearest = clearest_idle(seed)
        assert clearest.holds and clearest.pattern.value > 0.99 > 0.2 > clearest.pattern.control
        for one in found:
            assert one.pattern.picked >= CLEAR_SHARE and one.removal.picks.worst[1] <= IDLE_POINTS
            assert one.twins and one.added > 20 * max(one.removal.worst[1], 0.01)
            runs = {run.strength: run for run in gate_runs() if run.seed == seed}
            assert one.prices == tuple(runs)
            for price, run in runs.items():
                assert (price in one.dropped_at) == (one.head not in run.survivors)
    # gates close most of them at the price that keeps every part within two points
    closed = [0.2 in one.dropped_at for seed in SEEDS for one in idle_heads(seed)]
    assert 0.4 < sum(closed) / len(closed) < 1
    assert [len(patterns_found(seed)) for seed in SEEDS] == [9, 9, 9]
    assert [len(idle_heads(seed)) for seed in SEEDS] == [7, 7, 8]


def test_no_head_without_a_role_costs_anything_alone_but_two_step_in() -> None:
    for seed in SEEDS:
        assert all(one.worst[1] < IDLE_POINTS for one in without_role(seed))
    assert not backups(0) or backups(0)[0][1].excess < 0.05
    for seed, (head, gone) in {1: ((1, 1), (1, 2)), 2: ((1, 6), (1, 2))}.items():
        pair = next(pair for one, pair in backups(seed) if one == head)
        assert gone in pair.heads and pair.excess > 0.03


def test_importance_foretells_single_removals_better_than_chance() -> None:
    for seed in SEEDS:
        single = score_against_removal("importance", seed)
        assert single.count == 16 and single.rho > 0.6 and single.p < 0.02
        assert abs(score_against_removal("random", seed).rho) < single.rho
    assert score_against_removal("confidence", 1).rho < 0.5
    with pytest.raises(ValueError, match="sum of singles"):
        score_against_removal("entropy")
    with pytest.raises(ValueError, match="seed=7"):
        single_removals(7)
    with pytest.raises(ValueError, match="size"):
        score_against_removal(SCORES[0], size=3)


def test_what_heads_cost_alone_foretells_pairs_and_less_so_large_groups() -> None:
    for seed in SEEDS:
        rho = {size: score_against_removal("sum of singles", seed, size).rho for size in (2, 8)}
        assert rho[2] > 0.85 and rho[8] < rho[2] - 0.1
        ratios = sorted(one.nats / one.alone for one in pair_removals(seed) if one.alone > 0.002)
        assert ratios[len(ratios) // 2] < 1.3  # most pairs cost what their heads cost
        assert ratios[-1] > 4  # twins don't
