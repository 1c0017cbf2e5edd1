"""meeting: its links are the factors that the layers compute with, and what it refuses."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mha_course.layers import MultiHeadAttention
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.line_up import VARIANTS
from mha_course.variants.meeting import Meeting, meeting
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.talking_heads import TalkingHeads


def draw(*shape: int, seed: int = 5) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def filled(layer: torch.nn.Module, size: float = 0.4) -> torch.nn.Module:
    g = torch.Generator().manual_seed(8)
    layer.double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(size * torch.randn(parameter.shape, generator=g, dtype=torch.float64))
    return layer


def fits(found: Meeting) -> None:
    for before, after, links in zip(found.columns, found.columns[1:], found.links, strict=False):
        assert links.shape == (len(before.boxes), len(after.boxes))
    assert len(found.factors) == len(found.links) == len(found.columns) - 1


def test_plain_heads_meet_nowhere_and_are_added_up() -> None:
    found = meeting(MultiHeadAttention(15, 5))
    fits(found)
    for links in found.links[:3]:
        assert torch.equal(links, torch.eye(5).double())
    assert found.links[3].flatten().tolist() == [1.0] * 5
    assert found.shared == (False,) * 4 and found.factors == ("",) * 4
    assert [box.name for box in found.columns[0].boxes] == ["0–2", "3–5", "6–8", "9–11", "12–14"]


@pytest.mark.parametrize("kind", [MultiHeadAttention, GroupedQueryAttention])
def test_key_heads_go_to_the_heads_that_read_them(kind: type) -> None:
    layer = filled(kind(24, 6, n_kv_heads=2))
    found = meeting(layer)
    fits(found)
    assert found.shared == (True, False, False, False)
    # Another key head changes the scores of the heads it is linked to, and no others.
    x = draw(1, 7, 24)
    before = layer.trace(x).scores
    with torch.no_grad():
        layer.w_k.weight[4:] *= 3
    moved = ((layer.trace(x).scores - before).nan_to_num().abs().amax((0, 2, 3)) > 0).double()
    assert torch.equal(moved, found.links[0][1]) and moved.sum() == 3


def test_m_is_what_shared_features_are_weighed_with() -> None:
    layer = filled(CollaborativeHeads(12, 3, width=7, content_bias=True, mixing="normal"))
    found = meeting(layer)
    fits(found)
    x = draw(1, 5, 12)
    features = torch.einsum("tr,sr->rts", layer.w_q(x)[0], layer.w_k(x)[0])
    scores = torch.einsum("rts,ri->its", features, found.links[0][:-1])
    bias = layer.content_bias(x)[0].T[:, None] * found.links[0][-1][:, None, None]
    torch.testing.assert_close((scores + bias) * layer.scale, layer.trace(x).scores[0], atol=1e-12, rtol=0)
    assert found.factors[0] == "M" and found.columns[0].boxes[-1].name == "bias"


def test_a_block_of_ones_gives_each_feature_to_one_head() -> None:
    found = meeting(CollaborativeHeads(12, 3))
    assert [box.head for box in found.columns[0].boxes] == [0] * 4 + [1] * 4 + [2] * 4
    assert found.shared[0] is False
    assert meeting(CollaborativeHeads(12, 3, width=5, mixing="ones")).shared[0] is True


@pytest.mark.parametrize(("overlap", "pieces"), [(0, 3), (1, 7), (2, 7), (3, 5), (5, 3)])
def test_windows_are_the_features_that_change_a_heads_scores(overlap: int, pieces: int) -> None:
    layer = filled(OverlappingHeads(15, 3, overlap))
    found = meeting(layer)
    fits(found)
    x = draw(1, 4, 15)
    before = layer.trace(x).scores
    sizes = []
    for box, links in zip(found.columns[0].boxes, found.links[0], strict=True):
        first, _, last = box.name.partition("–")
        span = range(int(first), int(last or first) + 1)
        sizes.append(len(span))
        assert {feature // 5 for feature in span} == {box.head}
        for feature in span:
            kept = layer.w_q.weight[feature].clone()
            with torch.no_grad():
                layer.w_q.weight[feature] = 0
                moved = (layer.trace(x).scores - before).abs().amax((0, 2, 3)) > 0
                layer.w_q.weight[feature] = kept
            assert torch.equal(moved.double(), links)
    assert sum(sizes) == 15 and (len(sizes) == pieces if overlap < 3 else len(sizes) >= pieces)


@pytest.mark.parametrize("token", [0, 3])
def test_gates_are_those_of_one_token_and_what_it_leaves_out_is_not_used(token: int) -> None:
    layer = filled(MixtureOfHeads(14, 7, 2, 3), 0.9)
    x = draw(1, 6, 14)
    found = meeting(layer, x, token)
    fits(found)
    plain = MultiHeadAttention.trace(layer, x).heads[0, :, token]
    expected = layer.trace(x).heads[0, :, token]
    torch.testing.assert_close(found.links[3] * plain, expected, atol=1e-12, rtol=0)
    used = [box.used for box in found.columns[1].boxes]
    assert sum(used) == 5 and used[:2] == [True, True]
    assert used[2:] == layer.routing(x).chosen[0, token].tolist()
    for links in found.links[:3]:
        assert torch.equal(links, torch.diag(torch.tensor(used).double()))
    assert {box.name.split(", ")[1] for box in found.columns[1].boxes[:2]} == {"shared"}


def test_p_mixes_scores_and_maps() -> None:
    layer = filled(TalkingHeads(12, 4))
    x, found = draw(1, 5, 12), meeting(layer)
    fits(found)
    trace = layer.trace(x)
    mixed = torch.einsum("its,ij->jts", trace.raw_scores[0], found.links[1])
    torch.testing.assert_close(mixed, trace.scores[0], atol=1e-12, rtol=0)
    mixed = torch.einsum("its,ij->jts", trace.weights[0], found.links[2])
    torch.testing.assert_close(mixed, trace.composed_weights[0], atol=1e-12, rtol=0)
    assert found.shared == (False, True, True, False)
    assert meeting(TalkingHeads(12, 4)).shared == (False,) * 4, "P starts as the identity"


def test_w_is_that_of_the_pair() -> None:
    layer = filled(DynamicallyComposableHeads(12, 3))
    x = draw(6, 12)
    found, trace = meeting(layer, x, pair=(4, 1)), layer.trace(x[None])
    fits(found)
    torch.testing.assert_close(
        trace.raw_scores[0, :, 4, 1] @ found.links[1], trace.scores[0, :, 4, 1], atol=1e-12, rtol=0
    )
    torch.testing.assert_close(
        trace.weights[0, :, 4, 1] @ found.links[2], trace.composed_weights[0, :, 4, 1], atol=1e-12, rtol=0
    )
    other = meeting(layer, x, pair=(1, 4))
    assert not torch.allclose(found.links[1], other.links[1])
    assert torch.equal(meeting(layer, x, token=2).links[1], meeting(layer, x, pair=(2, 2)).links[1])


@pytest.mark.parametrize("each", VARIANTS, ids=lambda each: each.name)
def test_every_variant_has_a_meeting_without_gradients(each: object) -> None:
    found = meeting(each.make(24, 4, 0.0), draw(5, 24).float(), token=2)
    fits(found)
    assert all(not links.requires_grad and links.dtype == torch.float64 for links in found.links)


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="Linear"):
        meeting(torch.nn.Linear(3, 3))
    mixture, composable = MixtureOfHeads(12, 4, 1, 2), DynamicallyComposableHeads(12, 4)
    for layer in (mixture, composable):
        with pytest.raises(ValueError, match="x is needed"):
            meeting(layer)
    for x in (draw(2, 5, 12), draw(5, 9), "words"):
        with pytest.raises(ValueError, match="one sentence"):
            meeting(mixture, x)
    for token in (-1, 5, 1.0, True):
        with pytest.raises(ValueError, match="5 tokens"):
            meeting(mixture, draw(5, 12), token)
    for pair in ((0,), (0, 5), 3):
        with pytest.raises(ValueError, match="pair|tokens"):
            meeting(composable, draw(5, 12), pair=pair)
