"""What is peculiar to each variant: parameters, windows, factors, gates, what is computed and what isn't."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mha_course.layers import MultiHeadAttention
from mha_course.variants.collaborative import CollaborativeHeads, starting_mixing
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.mixture_of_heads import MixtureOfHeads, balance_losses
from mha_course.variants.overlapping import OverlappingHeads, overlap_at_depth
from mha_course.variants.talking_heads import TalkingHeads
from mha_course.variants.three_factors import relative_error, three_factors


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def parameters(layer: torch.nn.Module) -> int:
    return sum(p.numel() for p in layer.parameters())


def test_parameters_beside_the_plain_layer() -> None:
    plain = parameters(MultiHeadAttention(24, 4))
    assert plain == 4 * 24 * 24
    assert parameters(CollaborativeHeads(24, 4, 9)) == (2 * 24 + 4) * 9 + 2 * 24 * 24
    assert parameters(CollaborativeHeads(24, 4, 9, content_bias=True)) == (48 + 4) * 9 + 2 * 576 + 4 * 24
    assert parameters(OverlappingHeads(24, 4, 2)) - plain == 2 * 2 * 4 * 24
    assert parameters(TalkingHeads(24, 4)) - plain == 2 * 4 * 4
    assert parameters(MixtureOfHeads(24, 6, 2, 3)) - plain == 24 * (6 + 2)
    # 20 h d_model + 64 h^2 at R = 2, as published, and h^2 for each static matrix.
    dynamic = parameters(DynamicallyComposableHeads(24, 4, static=False)) - plain
    assert dynamic == 20 * 4 * 24 + 64 * 16
    assert parameters(DynamicallyComposableHeads(24, 4)) - plain - dynamic == 2 * 16


def test_windows_are_bands_of_collaborative_mixing() -> None:
    layer = OverlappingHeads(15, 3, overlap=2).double()
    x = drawn(2, 7, 15)
    band = torch.zeros(3, 15, dtype=torch.float64)
    for head in range(3):
        band[head, max(0, 5 * head - 2) : 5 * head + 7] = 1
    other = CollaborativeHeads(15, 3).double()
    with torch.no_grad():
        other.w_q.weight.copy_(layer.w_q.weight)
        other.w_k.weight.copy_(layer.w_k.weight)
        other.mixing.copy_(band)
    assert torch.allclose(layer.trace(x).scores, other.trace(x).scores, atol=1e-12)
    q, all_of_q = layer.queries(x), layer.w_q(x)
    assert torch.equal(q[:, 1], all_of_q[..., 3:12])
    assert (q[:, 0, :, :2] == 0).all() and (q[:, 2, :, -2:] == 0).all()
    layer(x).sum().backward()
    rows = layer.w_o.weight.grad  # (d_model, h * 9): zeros at both ends, as their inputs are
    assert (rows[:, :2] == 0).all() and (rows[:, -2:] == 0).all() and (rows[:, 2:-2] != 0).all()


def test_overlap_by_depth() -> None:
    eight = [
        [overlap_at_depth(layer, 5, start, half, reverse) for layer in range(5)]
        for reverse in (False, True)
        for half in (False, True)
        for start in (0, 1)
    ]
    assert eight[:4] == [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [0, 0, 1, 1, 2], [1, 1, 2, 2, 3]]
    assert eight[4:] == [forwards[::-1] for forwards in eight[:4]]
    with pytest.raises(ValueError, match="0..4"):
        overlap_at_depth(5, 5)
    with pytest.raises(ValueError, match="0 to 5"):
        OverlappingHeads(15, 3, overlap=6)


def test_three_factors_find_what_was_multiplied() -> None:
    true = [drawn(size, 6, seed=seed) for seed, size in enumerate((4, 16, 13))]
    products = torch.einsum("ir,ar,br->iab", *true)
    errors = {
        rank: min(relative_error(products, *three_factors(products, rank, seed, 2000)) for seed in range(3))
        for rank in (4, 5, 6)
    }
    assert errors[6] < 1e-6 and 0.05 < errors[5] < errors[4] < 0.5
    with pytest.raises(ValueError, match="three axes"):
        three_factors(products[0], 2)


def test_conversion_keeps_the_scale_and_nears_the_layer_with_width() -> None:
    plain = MultiHeadAttention(20, 4, d_k=3, d_v=6, n_kv_heads=2, bias=True).double()
    with torch.no_grad():
        for part in (plain.w_q, plain.w_k, plain.w_v, plain.w_o):
            part.bias.copy_(drawn(*part.bias.shape, seed=5))
    x = drawn(3, 7, 20, seed=1)
    exact = CollaborativeHeads.from_layer(plain)
    assert torch.allclose(exact(x), plain(x), atol=1e-10) and exact.scale == 3**-0.5
    missed = []
    for width in (3, 6, 9, 11):
        layer = CollaborativeHeads.from_layer(plain, width)
        assert layer.w_q.weight.shape == (width, 20) and layer.scale == 3**-0.5
        missed.append((layer.trace(x).scores - plain.trace(x).scores).std(-1).mean().item())
    assert missed == sorted(missed, reverse=True) and missed[0] > 4 * missed[-1]
    with pytest.raises(ValueError, match="no more than 12"):
        CollaborativeHeads.from_layer(plain, 13)


def test_starting_mixing() -> None:
    blocks = starting_mixing(3, 7)
    assert blocks.tolist() == [[1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 1]]
    assert (starting_mixing(3, 7, "ones") == 1).all()
    with pytest.raises(ValueError, match="'blocks'"):
        starting_mixing(3, 7, "block")


def test_gates_of_the_code_and_of_the_paper() -> None:
    x = drawn(5, 7, 18)
    code = MixtureOfHeads(18, 6, 2, 3).double()
    routing = code.routing(x)
    alpha = routing.types
    expected = 2 * (2 * alpha[..., 0] + 3 * alpha[..., 1])
    assert torch.allclose(routing.gates.sum(-1), expected)
    assert (routing.chosen.sum(-1) == 3).all() and ((routing.gates[..., 2:] != 0) == routing.chosen).all()
    paper = MixtureOfHeads(18, 6, 2, 3, "paper").double()
    paper.load_state_dict(code.state_dict())
    other = paper.routing(x)
    assert (other.gates.sum(-1) <= 1).all() and torch.equal(other.chosen, routing.chosen)
    assert torch.allclose(routing.balance, 4 * other.balance)
    with torch.no_grad():
        code.router_routed.weight.zero_()
    even = code.routing(x)
    assert torch.allclose(even.probabilities, torch.full((5, 7, 4), 0.25, dtype=torch.float64))
    assert even.balance.item() == pytest.approx(3)  # K, however the ties fell


def test_only_chosen_heads_are_computed() -> None:
    plain, layer = MultiHeadAttention(256, 8), MixtureOfHeads(256, 8, shared=2, chosen=3)
    flops = []
    for each in (plain, layer):
        with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            each(torch.randn(1, 256, 256))
        flops.append(counter.get_total_flops())
    # Keys and values in full; queries, scores, weighted sums and W_O for 5 of 8 heads; three routers.
    n = 256
    assert flops[0] == 12 * n**3
    assert flops[1] == 4 * n**3 + 8 * n**3 * 5 // 8 + 2 * n * n * (8 + 2)
    assert flops[1] / flops[0] < 0.8


def test_balance_losses_are_collected_once_a_call_and_teach_the_router() -> None:
    layer = MixtureOfHeads(18, 6, 1, 2).double()
    model = torch.nn.Sequential(layer, MixtureOfHeads(18, 6, 2, 2).double())
    x = drawn(5, 7, 18)
    with balance_losses(model) as losses:
        model(x)
    assert len(losses) == 2 and torch.allclose(losses[0], layer.routing(x).balance)
    model(x)
    assert len(losses) == 2
    losses[0].backward()
    assert layer.router_routed.weight.grad.abs().sum() > 0 and layer.w_q.weight.grad is None


def test_mixtures_that_cannot_be() -> None:
    for shared, chosen in ((7, 0), (2, 5), (-1, 2), (0, 0), (1.5, 2)):
        with pytest.raises(ValueError):
            MixtureOfHeads(18, 6, shared, chosen)
    with pytest.raises(ValueError, match="'code' or 'paper'"):
        MixtureOfHeads(18, 6, 2, 2, "both")


def test_post_composition_reads_every_map_through_every_value() -> None:
    layer = TalkingHeads(15, 3, noise=1).double()
    x = drawn(2, 7, 15)
    trace = layer.trace(x)
    w_v = layer.w_v.weight.T.view(15, 3, 5).transpose(0, 1)
    w_o = layer.w_o.weight.T.view(3, 5, 15)
    whole = sum(
        layer.p_weights[i, j] * trace.weights[:, i] @ x @ w_v[j] @ w_o[j] for i in range(3) for j in range(3)
    )
    assert torch.allclose(whole, trace.output, atol=1e-10)
    assert not torch.allclose(trace.composed_weights.sum(-1), torch.ones(2, 3, 7, dtype=torch.float64))


@pytest.mark.parametrize(("d_model", "h", "overlap"), [(2, 2, 1), (3, 3, 1), (4, 2, 2), (6, 2, 3), (8, 4, 1)])
def test_windows_that_overlap_are_read_alike_on_both_ways(d_model: int, h: int, overlap: int) -> None:
    # With h = 2, own = 1, overlap = 1 a view of the windows has two axes of stride 1, which a fused kernel
    # takes for one another.
    layer = OverlappingHeads(d_model, h, overlap)
    x = torch.randn(3, 7, d_model, generator=torch.Generator().manual_seed(4))
    assert torch.allclose(layer(x), layer.trace(x).output, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_a_mixture_routes_alike_in_mixed_precision(seed: int) -> None:
    torch.manual_seed(seed)
    layer = MixtureOfHeads(12, 6, shared=2, chosen=1, bias=True)
    x = torch.randn(3, 5, 12, generator=torch.Generator().manual_seed(6))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed, routing = layer(x), layer.routing(x)
        narrow = layer.routing(x.bfloat16())
    # One head that is chosen otherwise changes an output by more than rounding ever does.
    assert torch.equal(routing.gates, layer.routing(x).gates)
    assert narrow.gates.dtype == torch.float32
    assert torch.allclose(mixed.float(), layer(x), atol=0.05)


def test_a_mixture_runs_of_no_token() -> None:
    layer = MixtureOfHeads(12, 6, shared=2, chosen=1, bias=True)
    for shape in ((2, 0, 12), (0, 3, 12)):
        assert layer(torch.zeros(shape)).shape == shape
        assert float(layer.routing(torch.zeros(shape)).balance.detach()) == 0.0


@pytest.mark.parametrize("base", [0.0, -2.0, float("nan"), "a"])
def test_a_rotary_base_that_is_none_is_refused_at_once(base: object) -> None:
    with pytest.raises(ValueError, match="rotary"):
        DynamicallyComposableHeads(8, 2, rotary=base)
