"""The small models of lesson 03: what a right split and two wrong ones can learn."""

from __future__ import annotations

import pytest
import torch

from mha_course.attention import split_heads
from mha_course.models import split_trial
from mha_course.models.split_trial import D_MODEL, TASKS, WAYS, N, TinyReader, train_reader


def reach(way: str, causal: bool = False) -> torch.Tensor:
    """(N, N) bool: may position t's output answer to token s?"""
    torch.manual_seed(0)
    model = TinyReader(way, causal)
    jacobian = torch.autograd.functional.jacobian(model.attend, torch.randn(1, N, D_MODEL))
    return jacobian[0, :, :, 0].abs().amax(dim=(1, 3)) > 0


@pytest.mark.parametrize("way", WAYS)
def test_each_way_merges_back_what_it_split_unless_it_mixes_two(way: str) -> None:
    split, merge = WAYS[way]
    x = torch.arange(2 * 5 * 12.0).view(2, 5, 12)
    assert split(x, 3).shape == (2, 3, 5, 4)
    assert torch.equal(merge(split(x, 3)), x) is (way != "view, then transpose back")


def test_only_the_transpose_gives_a_head_one_token_a_row() -> None:
    x = torch.arange(2 * 5 * 12).view(2, 5, 12)
    tokens = torch.arange(5).view(1, 1, 5, 1) + 5 * torch.arange(2).view(2, 1, 1, 1)
    assert torch.equal(split_heads(x, 3) // 12, tokens.expand(2, 3, 5, 4))
    wrong = split_trial.split_by_view_alone(x, 3)
    assert wrong[0, 1, :, 0].tolist() == [20, 24, 28, 32, 36]


def test_who_reaches_whom() -> None:
    assert reach("right").all()
    assert torch.equal(reach("right", causal=True), torch.ones(N, N).tril().bool())
    assert not reach("view both ways")[0, -1]
    assert reach("view, then transpose back", causal=True).triu(1).any()


@pytest.mark.parametrize("way", WAYS)
def test_copying_is_learned_with_every_split_from_every_seed(way: str) -> None:
    for seed in range(3):
        trial = train_reader(way, "copy", seed=seed)
        assert trial.losses[0] > 2.2
        assert trial.losses[-1] < 0.1
        assert f"{trial.accuracy:.0%}" == "100%"


def test_the_first_token_does_not_reach_far_without_the_transpose() -> None:
    assert train_reader("right", "first").accuracy > 0.98
    assert train_reader("view both ways", "first").accuracy < 0.6


def test_a_loss_below_guessing_betrays_the_leak() -> None:
    guessing = torch.tensor(11.0).log().item()
    assert train_reader("right", "next").losses[-1] > guessing - 0.15
    assert train_reader("view, then transpose back", "next").losses[-1] < 0.3


def test_a_trial_repeats_and_leaves_the_global_seed_alone() -> None:
    torch.manual_seed(5)
    wanted = torch.rand(1)
    torch.manual_seed(5)
    split_trial._train.forget()
    first = train_reader("right", "copy", steps=3)
    assert torch.equal(torch.rand(1), wanted)
    split_trial._train.forget()
    assert train_reader("right", "copy", steps=3) == first


@pytest.mark.parametrize("way, task", [("sideways", "copy"), ("right", "last")])
def test_unknown_names_are_refused(way: str, task: str) -> None:
    assert task not in TASKS or way not in WAYS
    with pytest.raises(ValueError, match=f"{way}.*{task}"):
        train_reader(way, task)
