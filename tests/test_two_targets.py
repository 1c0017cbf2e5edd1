"""One head against two on a task with two targets for every token."""

from __future__ import annotations

import pytest
import torch

from mha_course.cost import parameter_count
from mha_course.models import two_targets
from mha_course.models.two_targets import neighbour_batch, train_neighbours


def test_wanted_numbers_come_from_both_neighbours():
    x, wanted = neighbour_batch(3, 5, torch.Generator().manual_seed(0))
    assert x.shape == (3, 5, 7) and wanted.shape == (3, 5, 2)
    assert torch.equal(wanted[1, 2], torch.stack([x[1, 1, 0], x[1, 3, 1]]))
    assert torch.equal(wanted[2, 0], torch.stack([x[2, 4, 0], x[2, 1, 1]]))
    assert torch.equal(x[0, :, 2:], torch.eye(5))


def test_one_head_stays_at_one_half_and_two_heads_solve_it():
    one, two = train_neighbours(1), train_neighbours(2)
    assert 0.47 < one.error < 0.56
    assert two.error < 0.01
    assert len(one.losses) == 400 and one.losses[0] > 0.8
    assert sum(p.numel() for p in one.layer.parameters()) == parameter_count(8, 2)


def test_one_head_that_sees_the_numbers_does_better_and_two_heads_far_better():
    """What lesson 02 says after its second training; three seeds of it start by themselves there."""
    sees = train_neighbours(1, weights_see_numbers=True).error
    assert 10 * train_neighbours(2).error < sees < 0.9 * train_neighbours(1).error


def test_the_map_is_the_same_for_every_sentence_unless_it_sees_the_numbers():
    assert train_neighbours(1, steps=5).trace.weights.std(0).max() < 1e-6
    assert train_neighbours(1, steps=5, weights_see_numbers=True).trace.weights.std(0).max() > 1e-4


def test_the_seed_decides_and_the_global_generator_is_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    two_targets._train.forget()
    first = train_neighbours(2, steps=3)
    assert torch.equal(torch.rand(3), expected)
    two_targets._train.forget()
    assert train_neighbours(2, steps=3).losses == first.losses
    assert train_neighbours(2, steps=3, seed=1).losses != first.losses


def test_impossible_head_counts_are_refused():
    with pytest.raises(ValueError, match="h=3"):
        train_neighbours(3)


def test_the_number_of_threads_is_put_back():
    before = torch.get_num_threads()
    two_targets._train.forget()
    train_neighbours(2, steps=1)
    with pytest.raises(ValueError):
        train_neighbours(5)
    assert torch.get_num_threads() == before
