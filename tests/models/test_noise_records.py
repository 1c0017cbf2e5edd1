"""What was recorded about noise and ensembles: that it fits together, and what the lesson says of it."""

from __future__ import annotations

import statistics

import pytest

from mha_course.models import load_course_model, noise_records
from mha_course.models.noise_records import (
    LESS,
    MORE,
    UNDECIDED,
    early_accuracy,
    early_runs,
    ensembles,
    noise_lost,
    noise_runs,
    shares,
    verdicts,
    votes,
    whole_accuracy,
)
from mha_course.training.ensemble_trial import ensemble_accuracy, heads_alone, mean_of_parts
from mha_course.training.gloss_without_heads import held_out_glosses
from mha_course.training.noise_trial import (
    ACROSS,
    ALL_HEADS,
    EMBEDDING,
    IN_ONE_HEAD,
    INTO,
    KINDS,
    ONE_HEAD,
    OUT_OF,
    SHARES,
    SPREAD,
    noise_costs,
)
from mha_course.training.record_noise import weights_digest


def mean(kind: str, h: int) -> list[float]:
    return [statistics.fmean(column) for column in zip(*noise_lost(kind, h), strict=True)]


def test_everything_fits_together() -> None:
    assert shares() == SHARES
    tried = {(one.h, one.seed, one.kind) for one in noise_runs()}
    of_one = {ALL_HEADS, SPREAD, ACROSS, INTO, OUT_OF, EMBEDDING}
    assert tried == {(h, seed, k) for h in (1, 8) for seed in (0, 1, 2) for k in (KINDS if h > 1 else of_one)}
    for one in noise_runs():
        assert len(one.lost) == len(one.worst) == len(SHARES)
        assert all(worst >= lost - 0.02 for worst, lost in zip(one.worst, one.lost, strict=True))
        assert one.lost[-1] > one.lost[0]
    assert {one.kind for one in verdicts()} == of_one and len(verdicts()) == 24
    with pytest.raises(ValueError, match="h=1 was tried"):
        noise_lost(ONE_HEAD, 1)


def test_the_models_that_were_measured_are_those_in_data() -> None:
    known = {(one["h"], one["seed"]): one for one in noise_records._read()["models"]}
    assert len(known) == 6
    for seed in (0, 1, 2):
        assert known[8, seed]["sha256"] == weights_digest(load_course_model(seed=seed))
    assert known[1, 0]["sha256"] == weights_digest(load_course_model(128, 1))
    model, data = load_course_model(128, 1), held_out_glosses(400)
    again = ensemble_accuracy([model], data)
    assert {part: round(share, 4) for part, share in again.items()} == whole_accuracy(1)


def test_the_record_is_what_the_trial_gives(monkeypatch) -> None:
    """On fewer sentences, for one kind of noise and the second size of it."""
    monkeypatch.setattr("mha_course.training.noise_trial.SHARES", SHARES[2:3])
    cost = noise_costs(load_course_model(128, 1), held_out_glosses(100), EMBEDDING)
    found = statistics.fmean(row[0] for row in cost.points.values())
    assert found == pytest.approx(noise_lost(EMBEDDING, 1)[0][2], rel=0.15)


def test_the_verdict_asks_for_all_runs_and_a_point() -> None:
    verdict = noise_records._verdict
    assert verdict((5, 6, 7), (1, 2, 3)) == MORE and verdict((1, 2, 3), (5, 6, 7)) == LESS
    assert verdict((5, 6, 7), (1, 2, 5.5)) == UNDECIDED  # one run overlaps
    assert verdict((1.4, 1.5, 1.6), (1.1, 1.2, 1.3)) == UNDECIDED  # apart, by less than a point


def test_many_heads_bear_moderate_noise_better_and_great_noise_no_better() -> None:
    found = {(one.kind, one.share): one for one in verdicts()}
    assert {key for key, one in found.items() if one.says == MORE} == {
        *((INTO, 0.5), (INTO, 1.0), (OUT_OF, 1.0), (EMBEDDING, 0.5), (EMBEDDING, 1.0)),
    }
    assert {key for key, one in found.items() if one.says == LESS} == {
        *((ALL_HEADS, 2.0), (INTO, 2.0), (EMBEDDING, 2.0)),
    }
    assert all(one.difference > 0 for (_, share), one in found.items() if share <= 1)


def test_halfway_through_training_heads_are_no_safer_than_a_single_one() -> None:
    early = {kind: [one.lost[2] for one in early_runs() if one.kind == kind] for kind in (ALL_HEADS, OUT_OF)}
    assert [len(row) for row in early.values()] == [3, 3]
    few, many = noise_lost(ALL_HEADS, 1), noise_lost(ALL_HEADS, 8)
    assert statistics.fmean(early[ALL_HEADS]) > statistics.fmean(one[2] for one in few)
    assert min(early[ALL_HEADS]) > 2 * max(one[2] for one in many)
    assert max(one[2] for one in noise_lost(OUT_OF, 8)) < min(early[OUT_OF])
    assert max(early[OUT_OF]) < min(one[2] for one in noise_lost(OUT_OF, 1))
    for seed in (0, 1, 2):
        assert mean_of_parts(whole_accuracy(1, seed)) < mean_of_parts(early_accuracy(seed))
        assert early_accuracy(seed)["stem"] < 0.95 < whole_accuracy(8, seed)["stem"]
    with pytest.raises(ValueError, match="seed=5"):
        early_accuracy(5)


def test_the_same_noise_costs_more_in_one_head_than_spread_over_all() -> None:
    for at in (2, 3):
        one, all_heads, slices = (
            [run[at] for run in noise_lost(kind, 8)] for kind in (IN_ONE_HEAD, SPREAD, ACROSS)
        )
        assert min(one) > 1.15 * max(all_heads)
        extra = [statistics.fmean(row) - statistics.fmean(all_heads) for row in (slices, one)]
        assert extra[0] < 0.5 * extra[1]
    assert mean(IN_ONE_HEAD, 8)[2] > 2 * mean(SPREAD, 8)[2]
    # with one head the same number of features makes no difference
    assert mean(ACROSS, 1)[2] == pytest.approx(mean(SPREAD, 1)[2], rel=0.1)
    # a single head in noise of its own size is hardly felt, all heads are
    assert mean(ONE_HEAD, 8)[3] < 0.2 < 10 < mean(ALL_HEADS, 8)[3]


def test_averaging_helps_against_noise_of_ones_own_and_not_against_shared() -> None:
    half, one, two = ensembles(8)[2:]
    for noisy in (half, one, two):
        alone = statistics.fmean(map(mean_of_parts, noisy.one))
        again = statistics.fmean(map(mean_of_parts, noisy.read_again))
        together = mean_of_parts(noisy.together)
        assert together > alone + 0.009
        # the same model read three times gains nearly all of it
        assert again - alone > 0.8 * (together - alone)
    for hidden in ensembles(8, "hidden words"):
        alone = statistics.fmean(map(mean_of_parts, hidden.one))
        assert -0.001 < mean_of_parts(hidden.together) - alone < 0.006


def test_votes_and_ensembles_fit_together() -> None:
    for seed in (0, 1, 2):
        found = votes(seed)
        assert len(found.alone) == 16 and found.whole == whole_accuracy(8, seed)
    for h in (1, 8):
        quiet, *noisy = ensembles(h)
        assert quiet.share == 0 and [one.share for one in noisy] == list(SHARES)
        assert quiet.one == quiet.read_again and quiet.one[0] == whole_accuracy(h)
        assert len(ensembles(h, "hidden words")) == 4
    with pytest.raises(ValueError, match="h=2"):
        ensembles(2)


def test_a_single_head_alone_is_no_weak_reader() -> None:
    """With one head of sixteen left to speak the model is far from its answers, and so is the vote of all."""
    for seed in (0, 1, 2):
        found = votes(seed)
        whole = mean_of_parts(found.whole)
        assert max(map(mean_of_parts, found.alone.values())) < whole - 0.1
        assert mean_of_parts(found.voting) < whole - 0.1
    few = held_out_glosses(60)
    again = heads_alone(load_course_model(), few)
    best = max(again, key=lambda head: mean_of_parts(again[head]))
    assert mean_of_parts(again[best]) == pytest.approx(mean_of_parts(votes(0).alone[best]), abs=0.03)
