"""Noise of a given power: its size, its place, and that nothing of it stays."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.noise import (
    NoiseInConcat,
    head_features,
    noise_in_concat,
    noise_into,
    noise_out_of,
    rms,
)
from mha_course.layers import MultiHeadAttention
from mha_course.transformer import Encoder

HEADS = torch.randn(6, 3, 50, 4, generator=torch.Generator().manual_seed(1)) * 2.5


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(7)


def test_features_of_heads_stand_side_by_side() -> None:
    assert head_features(3, 2, [2]).tolist() == [False, False, True, True, False, False]
    with pytest.raises(ValueError, match="no head 4"):
        head_features(3, 2, [4])
    for wrong in (1.0, True):
        with pytest.raises(ValueError, match=f"head={wrong}"):
            head_features(3, 2, [wrong])


@pytest.mark.parametrize("noisy", [[1, 2, 3], [2], [1, 3]])
def test_the_power_is_the_same_wherever_it_sits(noisy: list[int]) -> None:
    gate = NoiseInConcat(head_features(3, 4, noisy), 0.6, generator())
    added = gate(HEADS) - HEADS
    silent = [i for i in range(3) if i + 1 not in noisy]
    assert bool((added[:, silent] == 0).all())
    power = float(added.square().mean() / HEADS.square().mean())
    assert power == pytest.approx(0.36, rel=0.1)
    one = added[:, noisy[0] - 1].square().mean() / HEADS.square().mean()
    assert float(one) == pytest.approx(0.36 * 3 / len(noisy), rel=0.1)


def test_noise_in_one_layer_of_a_model_and_then_no_more() -> None:
    torch.manual_seed(2)
    model, x = Encoder(2, 12, 3, 20).eval(), torch.randn(2, 5, 12)
    before = model(x)
    kept: list[list] = [[], []]
    model(x, None, kept[0])
    with noise_in_concat(model, {2: head_features(3, 4, [3])}, 0.5, generator()):
        model(x, None, kept[1])
    plain, noisy = kept
    assert torch.equal(plain[0].heads, noisy[0].heads)
    changed = (plain[1].heads != noisy[1].heads).all(dim=(0, 2, 3))
    assert changed.tolist() == [False, False, True]
    assert torch.equal(model(x), before)
    with pytest.raises(ValueError, match="no attention layer 3"), noise_in_concat(model, {3: None}, 0.5):
        pass
    with (
        pytest.raises(ValueError, match="needs 12 booleans"),
        noise_in_concat(model, {1: torch.ones(5).bool()}, 0.5),
    ):
        pass
    for wrong in (torch.ones(12), [True] * 12):
        with pytest.raises(ValueError, match="12 booleans"), noise_in_concat(model, {1: wrong}, 0.5):
            pass
    nowhere = torch.zeros(12, dtype=torch.bool)
    with pytest.raises(ValueError, match="True at least"), noise_in_concat(model, {1: nowhere}, 0.5):
        pass


def test_query_and_key_get_the_same_noise_of_the_right_size() -> None:
    seen: list[tuple] = []
    layer = MultiHeadAttention(12, 3)
    x, other = torch.randn(4, 30, 12) * 3, torch.randn(4, 7, 12)
    with noise_into([layer], 0.5, generator()):
        # Hooks run in the order in which they were put on: this one sees what the noise left behind.
        handle = layer.register_forward_pre_hook(lambda module, given: seen.append(given))
        layer(x, x)
        layer(x, other)
    handle.remove()
    query, key = seen[0]
    assert query is key
    assert float(rms(query - x) / rms(x)) == pytest.approx(0.5, rel=0.1)
    assert float(rms(seen[1][1] - other) / rms(other)) == pytest.approx(0.5, rel=0.15)
    assert torch.equal(layer(x), layer(x))


def test_noise_behind_a_module_is_of_its_outputs_size() -> None:
    layer, x = torch.nn.Linear(12, 40), torch.randn(9, 12)
    plain = layer(x)
    with pytest.raises(RuntimeError), noise_out_of([layer], 2.0, generator()):
        noisy = layer(x)
        raise RuntimeError
    assert float(rms(noisy - plain) / rms(plain)) == pytest.approx(2.0, rel=0.1)
    assert torch.equal(layer(x), plain)


@pytest.mark.parametrize("share", [torch.nan, torch.inf, -1, True, "a"])
def test_a_share_is_a_finite_number(share: object) -> None:
    layer = MultiHeadAttention(12, 3)
    for noise in (noise_into, noise_out_of):
        with pytest.raises(ValueError, match="share="), noise([layer], share):
            pass
    with (
        pytest.raises(ValueError, match="share="),
        noise_in_concat(layer, {1: head_features(3, 4, [2])}, share),
    ):
        pass
