"""What lesson 12 says of votes, ensembles and noise (section 9), computed again."""

from __future__ import annotations

from mha_course.models.course_models import load_course_model
from mha_course.models.noise_records import early_runs, noise_lost, noise_runs, verdicts, whole_accuracy
from mha_course.training.ensemble_trial import ensemble_accuracy, heads_alone, heads_voting, mean_of_parts
from mha_course.training.gloss_without_heads import held_out_glosses
from mha_course.widgets.prediction import outcomes

SEEDS = range(3)
PARTS = ("stem", "ending", "mutation", "liaison")
KINDS_TOLD = ("one head, own size", "four heads, own size", "same power, one head", "same power, all heads")


def mean(values: list[float]) -> float:
    assert values
    return sum(values) / len(values)


def test_averaged_answers_of_heads_fall_behind_and_single_heads_are_specialists() -> None:
    assert outcomes()["12-votes"] == "0.74"
    few = held_out_glosses(100)
    assert round(mean_of_parts(heads_voting(load_course_model(), few)), 2) == 0.74
    for seed in SEEDS:
        alone = heads_alone(load_course_model(seed=seed), few).values()
        best = {part: max(right[part] for right in alone) for part in PARTS}
        assert (
            best["stem"] > 0.98 and best["mutation"] > 0.9 and best["liaison"] > 0.9 > best["ending"] - 0.05
        )


def test_averaging_takes_noise_out_over_models_as_over_readings() -> None:
    few, runs = held_out_glosses(100), [load_course_model(seed=seed) for seed in SEEDS]
    one = mean([mean_of_parts(ensemble_accuracy([run], few, 1.0, seed)) for seed, run in enumerate(runs)])
    again = mean(
        [mean_of_parts(ensemble_accuracy([run] * 3, few, 1.0, seed)) for seed, run in enumerate(runs)]
    )
    together = mean_of_parts(ensemble_accuracy(runs, few, 1.0, 3))
    assert together > one + 0.05 and abs(together - again) < 0.03


def test_eight_heads_bear_medium_noise_better_and_large_noise_worse() -> None:
    assert outcomes()["12-noise"] == "the model with eight heads"
    one, eight = (noise_lost("all heads, own size", h) for h in (1, 8))
    assert len(one) == len(eight) == 3
    assert mean([run[2] for run in eight]) < mean([run[2] for run in one])
    assert min(run[3] for run in eight) > max(run[3] for run in one) + 1
    said = {(verdict.kind, verdict.share): verdict.says for verdict in verdicts()}
    counts = [list(said.values()).count(says) for says in ("more robust", "less robust", "undecided")]
    assert counts == [5, 3, 16]
    whole = {h: [mean_of_parts(whole_accuracy(h, seed)) for seed in SEEDS] for h in (1, 8)}
    assert [round(mean(whole[h]), 3) for h in (1, 8)] == [0.939, 0.999]
    for kind in {verdict.kind for verdict in verdicts()}:
        left = {h: mean(whole[h]) - mean([run[3] for run in noise_lost(kind, h)]) / 100 for h in (1, 8)}
        assert left[8] > left[1], kind  # more right answers, even where more points are lost
    for kind in ("into attention", "into the model"):
        assert said[kind, 0.5] == said[kind, 1.0] == "more robust" and said[kind, 2.0] == "less robust"
    assert said["out of attention", 1.0] == "more robust" != said["out of attention", 2.0]
    for share in (0.25, 0.5, 1.0):
        assert said["all heads, own size", share] == "undecided"


def test_noise_in_one_head_is_hardly_felt_unless_it_has_the_power_of_all() -> None:
    twice = {kind: [run for run in noise_runs() if run.h == 8 and run.kind == kind] for kind in KINDS_TOLD}
    lost_by = {kind: mean([run.lost[3] for run in runs]) for kind, runs in twice.items()}
    assert lost_by["one head, own size"] < 0.2 < lost_by["four heads, own size"] < 2
    assert lost_by["same power, one head"] > lost_by["same power, all heads"] + 0.5
    for run in twice["same power, one head"]:
        assert run.worst[3] > 1.5 * run.lost[3]


def test_halfway_through_training_the_advantage_is_smaller() -> None:
    for kind in {run.kind for run in early_runs()}:
        halfway = mean([run.lost[2] for run in early_runs() if run.kind == kind])
        one, eight = (mean([lost[2] for lost in noise_lost(kind, h)]) for h in (1, 8))
        assert eight < halfway < one + 0.5
    own = [run.lost[2] for run in early_runs() if run.kind == "all heads, own size"]
    assert mean(own) > mean([lost[2] for lost in noise_lost("all heads, own size", 1)])
