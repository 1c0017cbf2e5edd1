"""Importance without removal: slopes by hand, by finite differences, and where signs would cancel."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from mha_course.heads.gating import FixedGates, gated
from mha_course.heads.importance import confidence, gradient_importance, normalised, removal_order
from mha_course.layers import MultiHeadAttention
from mha_course.transformer import Encoder


def setting() -> tuple[Encoder, list[torch.Tensor]]:
    torch.manual_seed(2)
    model = Encoder(n_layers=2, d_model=12, h=3, d_ff=20, dropout=0.5).double().train()
    return model, [torch.randn(b, n, 12).double() for b, n in ((4, 5), (2, 7))]


def losses(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    return model(x)[..., 0].sin().mean(1)


def twice(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    return (model(x) ** 3 + model(x.flip(1)).sin()).mean((1, 2))


@pytest.mark.parametrize("losses", [losses, twice])
def test_it_is_the_mean_absolute_slope_of_every_example(losses: Callable) -> None:
    model, batches = setting()
    model.layers[0].eval()
    modes = [module.training for module in model.modules()]
    found = gradient_importance(model, batches, losses)
    assert found.shape == (2, 3) and [module.training for module in model.modules()] == modes
    model.eval()
    step, slopes = 1e-5, torch.zeros(2, 3).double()
    for layer in range(2):
        for head in range(3):
            ends = []
            for sign in (-1, 1):
                values = [torch.ones(3).double(), torch.ones(3).double()]
                values[layer][head] += sign * step
                with gated(model, [FixedGates(one) for one in values]), torch.no_grad():
                    ends.append(torch.cat([losses(model, x) for x in batches]))
            slopes[layer, head] = ((ends[1] - ends[0]) / (2 * step)).abs().mean()
    assert torch.allclose(found.double(), slopes, atol=1e-6)
    model.requires_grad_(False)
    with torch.no_grad():
        assert torch.allclose(gradient_importance(model, batches, losses), found)


def test_slopes_of_both_signs_do_not_cancel() -> None:
    layer = MultiHeadAttention(4, 2).double()
    x = torch.randn(1, 3, 4).double()
    pair = torch.cat([x, x])

    def opposite(model: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
        return model(batch).sum((1, 2)) * torch.tensor([1.0, -1.0]).double()

    alone = gradient_importance(layer, [x], lambda model, batch: model(batch).sum((1, 2)))
    assert torch.allclose(gradient_importance(layer, [pair], opposite), alone) and alone.min() > 1e-3
    # sum over tokens and features of a head's contribution: the slope of this linear loss
    assert torch.allclose(alone, layer.trace(x).contributions.sum((2, 3)).abs().float())


def test_a_redundant_pair_looks_more_important_than_losing_one_would_cost() -> None:
    """Two heads say the same and the loss saturates: the slope at 1 misjudges what removal does."""
    layer = MultiHeadAttention(4, 2).double().requires_grad_(False)
    for w in (layer.w_q.weight, layer.w_k.weight, layer.w_v.weight):
        w[2:] = w[:2]
    layer.w_o.weight[:, 2:] = layer.w_o.weight[:, :2]
    x = torch.randn(6, 5, 4, generator=torch.Generator().manual_seed(0)).double()

    def saturated(model: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
        return torch.exp(-9 * model(batch).pow(2).sum((1, 2)))

    slopes = gradient_importance(layer, [x], saturated)[0]

    def loss_with(values: list[float]) -> float:
        with gated(layer, [FixedGates(torch.tensor(values))]):
            return float(saturated(layer, x).mean())

    one, both = (loss_with(v) - loss_with([1.0, 1.0]) for v in ([0.0, 1.0], [0.0, 0.0]))
    assert slopes[0] == pytest.approx(float(slopes[1]))
    assert both > 2 * one and both > 2 * float(slopes.sum())


def test_scores_are_compared_within_a_layer() -> None:
    table = torch.tensor([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    assert torch.allclose(normalised(table), torch.tensor([[0.6, 0.8, 0.0], [0.0, 0.0, 0.0]]))
    assert removal_order(torch.tensor([[3.0, 1.0, 2.0], [1.0, 0.5, 9.0]])) == [
        *((2, 2), (1, 2), (2, 1)),
        *((1, 3), (1, 1), (2, 3)),
    ]


def test_confidence_is_a_mean_over_tokens() -> None:
    first = torch.tensor([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7], [0.0, 0.1, 0.9]]).expand(1, 2, 3, 3)
    second = torch.tensor([[1.0, 0.0], [0.4, 0.6]]).expand(1, 2, 2, 2)
    assert torch.allclose(confidence([first, second]), torch.full((1, 2), (0.5 + 0.7 + 0.9 + 1 + 0.6) / 5))
    left_out = confidence([first, second], [[2], []])
    assert torch.allclose(left_out, torch.full((1, 2), (0.5 + 0.2 + 0.1 + 1 + 0.6) / 5))
    with pytest.raises(ValueError, match="no token"):
        confidence([])
    for many in ([[2]], [[2], [], [0]]):
        with pytest.raises(ValueError, match=f"left_out is for {len(many)} sentences; weights are for 2"):
            confidence([first, second], many)
    with pytest.raises(
        ValueError, match=r"sentence 2 has \(layers, heads\) = \(1, 1\); before it was \(1, 2\)"
    ):
        confidence([first, second[:, :1]])
    with pytest.raises(ValueError, match=r"left_out=\[-1\] of sentence 2: its keys are 0 to 1"):
        confidence([first, second], [[2], [-1]])


def test_what_cannot_be_is_named() -> None:
    model, batches = setting()
    with pytest.raises(ValueError, match=r"\(4,\); got \(\)"):
        gradient_importance(model, batches, lambda m, x: m(x).mean())
    assert model.training and all(layer.attention.gate is None for layer in model.layers)
    for outside in (lambda m, x: x.sum((1, 2)), lambda m, x: m(x).detach().sum((1, 2))):
        with pytest.raises(ValueError, match="losses must come from the model"):
            gradient_importance(model, batches, outside)
    with pytest.raises(ValueError, match="on 4 and on 1 examples"):
        gradient_importance(model, batches, lambda m, x: losses(m, x) + losses(m, x[:1]))
    for scores in (torch.tensor([[1.0, torch.nan], [2.0, 3.0]]), torch.arange(3.0)):
        with pytest.raises(ValueError, match=r"\(layers, heads\) without nan"):
            removal_order(scores)
    with pytest.raises(ValueError, match="no example"):
        gradient_importance(model, [], losses)
    model.layers[1].attention = MultiHeadAttention(12, 4)
    with pytest.raises(ValueError, match="equally many"):
        gradient_importance(model, batches, losses)
