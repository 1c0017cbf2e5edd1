"""Jensen-Shannon divergence of all pairs of heads, its test over layers, and classical MDS."""

from __future__ import annotations

import math

import pytest
import torch

from mha_course.heads.resemblance import (
    Resemblance,
    classical_mds,
    head_resemblance,
    jensen_shannon,
    layers_differ,
)


def maps(layers: int, heads: int, n: int, seed: int) -> torch.Tensor:
    g = torch.Generator().manual_seed(seed)
    return torch.randn(layers, heads, n, n, generator=g).mul(2).softmax(-1)


def test_divergence_by_hand() -> None:
    p, q = torch.tensor([0.7, 0.2, 0.1]), torch.tensor([0.1, 0.2, 0.7])
    assert float(jensen_shannon(p, q)) == pytest.approx(0.25310, abs=1e-5)
    assert float(jensen_shannon(p, p)) == pytest.approx(0, abs=1e-7)
    apart = jensen_shannon(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    assert float(apart) == pytest.approx(math.log(2))


def test_divergence_is_that_of_its_definition() -> None:
    a = maps(1, 2, 5, seed=0)[0]
    p, q = a[0].double(), a[1].double()
    m = (p + q) / 2
    expected = ((p * (p / m).log()).sum(-1) + (q * (q / m).log()).sum(-1)) / 2
    torch.testing.assert_close(jensen_shannon(p, q), expected)


def test_all_pairs_are_means_over_rows_without_special_ones() -> None:
    first, second = maps(2, 3, 4, seed=1), maps(2, 3, 7, seed=2)
    found = head_resemblance([first, second], [[0], [0, 6]])
    assert (found.layers, found.heads, found.rows) == (2, 3, 3 + 5)
    rows = [w.flatten(0, 1)[:, real] for w, real in ((first, [1, 2, 3]), (second, [1, 2, 3, 4, 5]))]
    sums = [jensen_shannon(a[1], a[5]).sum() for a in rows]
    assert float(found.matrix[1, 5]) == pytest.approx(float(sum(sums)) / 8, abs=1e-6)
    assert torch.equal(found.matrix, found.matrix.T) and not found.matrix.diagonal().any()
    assert head_resemblance([first]).rows == 4
    with pytest.raises(ValueError, match="no sentence"):
        head_resemblance([])


def test_layers_of_like_heads_are_told_from_layers_dealt_at_random() -> None:
    base = maps(4, 1, 6, seed=3)
    g = torch.Generator().manual_seed(4)
    logits = base.log().expand(4, 5, 6, 6) + 0.4 * torch.randn(4, 5, 6, 6, generator=g)
    alike = head_resemblance([logits.softmax(-1)])
    test = alike.test(permutations=400)
    assert test.within < test.between / 2 and test.p == pytest.approx(1 / 401)
    assert alike.within_each().shape == (4,)
    assert float(alike.within_each().mean()) == pytest.approx(test.within, abs=1e-6)
    nothing = head_resemblance([maps(4, 5, 6, seed=5)]).test(permutations=400)
    assert nothing.p > 0.05
    assert layers_differ(alike.matrix, alike.layer_of, 50, seed=1) == layers_differ(
        alike.matrix, alike.layer_of, 50, seed=1
    )


def test_variety_of_a_layer_is_the_mean_of_its_own_pairs() -> None:
    matrix = torch.zeros(6, 6)
    matrix[0, 1] = matrix[1, 0] = 0.3
    matrix[2, 3] = matrix[3, 2] = 0.1
    matrix[1, 2] = matrix[2, 1] = 9.0
    assert Resemblance(matrix, 3, 2, 11).within_each().tolist() == pytest.approx([0.3, 0.1, 0.0])


def test_mds_gives_known_distances_back() -> None:
    g = torch.Generator().manual_seed(6)
    points = torch.randn(9, 2, generator=g)
    squared = torch.cdist(points, points) ** 2
    found, shares = classical_mds(squared)
    torch.testing.assert_close(torch.cdist(found, found) ** 2, squared, atol=1e-4, rtol=1e-4)
    assert float(shares.sum()) == pytest.approx(1, abs=1e-4) and shares[0] >= shares[1]
    torch.testing.assert_close(found.mean(0), torch.zeros(2), atol=1e-5, rtol=0)
    line, share = classical_mds(torch.tensor([[0.0, 9.0, 25.0], [9.0, 0.0, 4.0], [25.0, 4.0, 0.0]]), 1)
    assert sorted((line[:, 0] - line.min()).tolist()) == pytest.approx([0, 2, 5], abs=1e-4) and share > 0.99
    with pytest.raises(ValueError, match="squared distances"):
        classical_mds(torch.zeros(3, 4))


def test_points_of_heads_lie_as_far_apart_as_they_differ() -> None:
    """The root of the divergence is a distance of points, so none of it is lost but by the plane."""
    found = head_resemblance([maps(2, 2, 5, seed=7)])
    points, shares = classical_mds(found.matrix, 3)
    torch.testing.assert_close(torch.cdist(points, points) ** 2, found.matrix, atol=1e-4, rtol=1e-3)
    assert found.points()[0].shape == (4, 2) and 0.5 < float(shares[:2].sum()) <= 1
