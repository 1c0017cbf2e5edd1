"""Variants on their way to the plain layer: equal at t = 0, apart further out, weights shared."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from mha_course.attention import masked_softmax
from mha_course.variants.composed import ComposedAttention
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.towards_plain import NAMES, FadingWindows, towards_plain
from mha_course.variants.unshared import unshared

D_MODEL, H, N = 20, 4, 6


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 5])
def test_at_zero_outputs_and_gradients_are_the_plain_layers(name: str, seed: int) -> None:
    found = towards_plain(name, 0, D_MODEL, H, N, seed)
    assert found.output_difference < 1e-12 and found.gradient_difference < 1e-12
    assert torch.allclose(found.maps, found.plain_maps, atol=1e-12, rtol=0)
    assert found.x.shape == (2, N, D_MODEL) and found.x.dtype == torch.float64
    assert torch.allclose(found.layer(found.x), found.plain(found.x), atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_the_difference_falls_with_the_distance(name: str) -> None:
    steps = [towards_plain(name, t, D_MODEL, H, N) for t in (1.0, 0.3, 1e-2, 1e-4, 1e-6)]
    outputs = [step.output_difference for step in steps]
    gradients = [step.gradient_difference for step in steps]
    assert all(near < far / 2 for found in (outputs, gradients) for far, near in pairwise(found[1:]))
    assert outputs[0] > 0.5 and gradients[0] > 0.5
    # Near the plain layer the difference is proportional to the distance.
    assert outputs[3] / outputs[4] == pytest.approx(100, rel=0.02)
    assert gradients[3] / gradients[4] == pytest.approx(100, rel=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_differences_and_maps_are_those_of_the_two_layers(name: str) -> None:
    found = towards_plain(name, 0.7, D_MODEL, H, N, seed=3)
    with torch.no_grad():
        apart = (found.layer(found.x) - found.plain(found.x)).abs().max()
        trace = found.layer.trace(found.x)
    assert found.output_difference == pytest.approx(apart.item())
    summed = trace.composed_weights if isinstance(found.layer, ComposedAttention) else trace.weights
    if name == "mixture":
        summed = summed * found.layer.routing(found.x).gates.transpose(1, 2)[..., None]
    assert torch.equal(found.maps, summed[0]) and found.maps.shape == (H, N, N)
    values = torch.nn.functional.linear(found.x[:1], found.layer.w_v.weight)
    if name not in ("grouped", "overlapping"):
        heads = found.maps @ values.view(N, H, -1).transpose(0, 1)
        assert torch.allclose(heads, trace.heads[0], atol=1e-12)
    q, k = (part(found.x).view(2, N, H, -1).transpose(1, 2) for part in (found.plain.w_q, found.plain.w_k))
    expected = masked_softmax(q @ k.transpose(-1, -2) / (D_MODEL / H) ** 0.5)[0]
    assert torch.allclose(found.plain_maps, expected, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_only_what_is_named_moves(name: str) -> None:
    near, far = towards_plain(name, 0.25, D_MODEL, H, N), towards_plain(name, 0.75, D_MODEL, H, N)
    at_plain = towards_plain(name, 0, D_MODEL, H, N)
    assert near.moving.keys() == far.moving.keys() == at_plain.moving.keys()
    for key in near.moving:
        assert near.moving[key].shape == far.moving[key].shape
        assert not torch.allclose(near.moving[key], far.moving[key], atol=1e-3), key
        if name == "grouped":
            own = torch.arange(H) // 2
            assert torch.allclose(at_plain.moving[key][own[:, None] == own], torch.ones(()).double())
        elif name == "mixture":
            assert torch.allclose(at_plain.moving[key], torch.ones(N, H).double())
        else:
            eye = torch.eye(H).double()
            repeated = eye if near.moving[key].shape[1] == H else eye.repeat_interleave(D_MODEL // H, dim=1)
            assert torch.allclose(at_plain.moving[key], repeated)
    shared = ["w_q", "w_o"] if name == "grouped" else ["w_q", "w_k", "w_v"]
    for part in shared:
        own, plain = getattr(near.layer, part).weight, getattr(near.plain, part).weight
        assert torch.equal(own, plain), part
    assert near.words == far.words and near.words


def test_grouped_heads_are_the_means_of_the_plain_ones() -> None:
    found = towards_plain("grouped", 0.6, D_MODEL, H, N)
    for part in ("w_k", "w_v"):
        groups = getattr(found.plain, part).weight.view(2, 2, 5, D_MODEL)
        own = getattr(found.layer, part).weight.view(2, 5, D_MODEL)
        assert torch.allclose(groups.mean(1), own, atol=1e-12)
        assert not torch.allclose(groups[:, 0], groups[:, 1], atol=1e-2)
    at_plain = towards_plain("grouped", 0, D_MODEL, H, N)
    assert torch.allclose(unshared(at_plain.layer).w_k.weight, at_plain.plain.w_k.weight, atol=1e-12)
    # Three heads can't be shared in twos: one key head serves all of them.
    assert towards_plain("grouped", 0, 12, 3, N).layer.n_kv_heads == 1


def test_fading_windows_are_the_overlapping_heads_at_share_one() -> None:
    found = towards_plain("overlapping", 1, D_MODEL, H, N, overlap=3)
    layer = OverlappingHeads(D_MODEL, H, 3).double()
    layer.load_state_dict(found.layer.state_dict())
    assert isinstance(found.layer, FadingWindows) and found.layer.overlap == 3
    assert torch.equal(layer(found.x), found.layer(found.x))
    none = towards_plain("overlapping", 1, D_MODEL, H, N, overlap=0)
    assert none.output_difference < 1e-12 and none.gradient_difference < 1e-12


def test_a_mixture_that_leaves_heads_out_is_never_the_plain_layer() -> None:
    found = towards_plain("mixture", 0, D_MODEL, H, N, chosen=2)
    assert found.output_difference > 0.1
    assert ((found.moving["gate of each head, token by token"] > 0).sum(-1) == 3).all()


def test_a_seed_of_numpy_is_a_seed() -> None:
    one, other = (towards_plain("talking", 0.4, D_MODEL, H, N, seed) for seed in (3, np.int64(3)))
    assert one.output_difference == other.output_difference > 0


def test_the_global_random_state_and_grad_mode_stay() -> None:
    before = torch.random.get_rng_state()
    with torch.no_grad():
        inside = towards_plain("talking", 0.5, D_MODEL, H, N)
        assert not torch.is_grad_enabled()
    outside = towards_plain("talking", 0.5, D_MODEL, H, N)
    assert torch.equal(before, torch.random.get_rng_state())
    assert inside.gradient_difference == outside.gradient_difference > 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("listening", 0.5), "talking"),
        ((["talking"], 0.5), "none of the variants"),
        (("talking", 1.5), "t=1.5"),
        (("talking", "half"), "t='half'"),
        (("talking", 0.5, 10, 3), "10"),
        (("talking", 0.5, 12, 3, 0), "n=0"),
        (("talking", 0.5, 12, 3, 5, -1), "seed"),
        (("talking", 0.5, 12, 3, 5, 0, 1), "overlap"),
        (("grouped", 0.5, 12, 3, 5, 0, None, 1), "chosen"),
        (("overlapping", 0.5, 12, 3, 5, 0, 5), "overlap=5"),
        (("mixture", 0.5, 12, 3, 5, 0, None, 3), "chosen=3"),
    ],
)
def test_odd_arguments_are_told(arguments: tuple, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        towards_plain(*arguments)
