"""Gates between heads and W_O: they do what they say, on both ways through a layer, and leave no trace."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from mha_course.heads.ablation import attention_layers, without_heads
from mha_course.heads.gating import FixedGates, HeadGates, gated, head_means, heads_at_their_mean, noisy_heads
from mha_course.layers import MultiHeadAttention
from mha_course.transformer import Encoder


def stack() -> tuple[Encoder, torch.Tensor]:
    torch.manual_seed(4)
    return Encoder(n_layers=2, d_model=12, h=3, d_ff=20).double().eval(), torch.randn(5, 7, 12).double()


@pytest.mark.parametrize("sizes", [{}, {"d_k": 2, "d_v": 7}, {"n_kv_heads": 1, "bias": True}])
def test_a_gate_scales_the_contribution_of_its_head(sizes: dict) -> None:
    layer, x = MultiHeadAttention(12, 3, **sizes).double(), torch.randn(2, 5, 12).double()
    values = torch.tensor([0.25, 0.0, 1.0])
    plain = layer.trace(x)
    with gated(layer, [FixedGates(values)]):
        trace, output = layer.trace(x), layer(x)
    shares = plain.contributions * values.double()[:, None, None]
    assert torch.allclose(trace.contributions, shares)
    assert torch.allclose(output, plain.output - plain.contributions.sum(1) + shares.sum(1))
    assert torch.allclose(trace.output, output) and torch.equal(trace.weights, plain.weights)
    assert layer.gate is None and torch.equal(layer(x), layer(x))


def test_a_closed_gate_is_an_ablated_head_and_gates_add_up() -> None:
    model, x = stack()
    before, names = model(x), set(model.state_dict())
    with without_heads(model, [(1, 2), (2, 3)]):
        expected = model(x)
    first, second = FixedGates(torch.tensor([1.0, 0.0, 1.0])), FixedGates(torch.tensor([1.0, 1.0, 0.0]))
    with gated(model, [first, None]), gated(model, [None, second]):
        assert torch.allclose(model(x), expected)
    with gated(model, [first, None]), gated(model, [first, second]):
        assert torch.allclose(model(x), expected)
        assert isinstance(attention_layers(model)[0].gate, nn.Sequential)
    with pytest.raises(RuntimeError, match="stop"), gated(model, [first, second]):
        raise RuntimeError("stop")
    assert torch.equal(model(x), before) and set(model.state_dict()) == names
    with pytest.raises(ValueError, match="2 attention layers"), gated(model, [first]):
        pass


def test_a_learned_gate_is_drawn_once_a_batch_and_only_in_training() -> None:
    gates, heads = HeadGates(3, start=0.0, g=torch.Generator().manual_seed(1)), torch.ones(5, 3, 4, 2)
    state = torch.get_rng_state()
    first, second = gates(heads), gates(heads)
    assert torch.equal(torch.get_rng_state(), state)
    assert (first == first[:1, :, :1, :1]).all() and not torch.equal(first, second)
    first.sum().backward()
    assert gates.log_alpha.grad.abs().max() > 0
    gates.eval()
    assert torch.allclose(gates(heads), 0.5 * heads)
    gates.rounded = True
    assert torch.equal(gates(heads), heads)
    assert gates.expected_l0().item() == pytest.approx(3 * 0.6881, abs=1e-3)


class Masked(nn.Module):
    """A stack that is called with sentences and which of their tokens are real."""

    def __init__(self, stack: Encoder) -> None:
        super().__init__()
        self.stack = stack

    def forward(self, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        return self.stack(batch[0], batch[1][:, None, None, :])


def test_heads_at_their_mean() -> None:
    model, x = stack()
    real = torch.ones(5, 7, dtype=torch.bool)
    real[3, 4:] = real[1, 2:] = False
    before: list = []
    output = model(x, real[:, None, None, :], before)
    by_hand = torch.stack([before[0].heads[i, :, t] for i, t in real.nonzero().tolist()]).mean(0)
    means = head_means(Masked(model), [((x[part], real[part]), real[part]) for part in ([0, 1, 2], [3, 4])])
    assert torch.allclose(means[0], by_hand) and [mean.shape for mean in means] == [(3, 4)] * 2
    with heads_at_their_mean(model, [(1, 2)], means):
        after: list = []
        changed = model(x, real[:, None, None, :], after)
    assert torch.allclose(after[0].heads[:, 1], by_hand[1].expand(5, 7, 4))
    assert torch.equal(after[0].heads[:, [0, 2]], before[0].heads[:, [0, 2]])
    assert (changed - output).abs().max() > 1e-3
    assert torch.allclose(model(x, real[:, None, None, :]), output)
    with pytest.raises(ValueError, match=r"\(1, 4\)"), heads_at_their_mean(model, [(1, 4)], means):
        pass
    with pytest.raises(ValueError, match="no token"):
        head_means(model, [])
    with pytest.raises(ValueError, match=r"\(5, 7\) tokens; got real \(5, 6\)"):
        head_means(Masked(model), [((x, real), real[:, :6])])
    for wrong in (means[:1], [means[0], means[1][:, :2]]):
        with pytest.raises(ValueError, match="means must be"), heads_at_their_mean(model, [(1, 2)], wrong):
            pass


def test_noise_has_the_size_asked_for_and_stays_in_its_head() -> None:
    model, x = stack()
    plain, loud = [], []
    model(x, None, plain)
    with noisy_heads(model, [(1, 3)], share=2.0, g=torch.Generator().manual_seed(3)):
        model(x, None, loud)
    added = loud[0].heads - plain[0].heads
    assert (added[:, :2] == 0).all()
    size = plain[0].heads[:, 2].pow(2).mean().sqrt()
    assert (added[:, 2].std() / size).item() == pytest.approx(2, rel=0.2)


def test_gates_that_do_not_fit_are_refused() -> None:
    heads = torch.ones(5, 3, 4, 2)
    for gate in (HeadGates(1), FixedGates(torch.ones(3, 1)), FixedGates(torch.tensor(0.5))):
        with pytest.raises(ValueError, match="h=3 heads need as many gates"):
            gate(heads)
    for wrong in ({"h": 0}, {"h": True}, {"h": 2.0}, {"h": 2, "start": torch.nan}):
        with pytest.raises(ValueError, match=f"{list(wrong)[-1]}="):
            HeadGates(**wrong)
    model, _ = stack()
    for share in (torch.nan, torch.inf, -1, True, "a"):
        with pytest.raises(ValueError, match="share="), noisy_heads(model, [(1, 3)], share):
            pass
    with pytest.raises(ValueError, match=r"no head \(1,\)"), noisy_heads(model, [(1,)], 0.5):
        pass
