"""The numbers that the questions and their explanations name are computed again: none is only told."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course import attention as att
from mha_course import cost, layers, masks, positions, widgets
from mha_course.models import beyond_length
from mha_course.text.tokens import tokenize
from mha_course.text.vocabulary import Vocabulary
from mha_course.widgets.question_texts import find_question

CAT = "The old cat sleeps on the warm chair ."


@pytest.fixture(autouse=True)
def same_numbers_every_time() -> None:
    torch.manual_seed(0)


def softmax(*scores: float) -> Tensor:
    return torch.tensor(scores, dtype=torch.float32).softmax(dim=-1)


def told(key: str) -> str:
    """All that a question says, as one text."""
    question = find_question(key)
    return " ".join([question.text, *(part for c in question.choices for part in (c.text, c.because))])


def rounded(numbers: Tensor, places: int = 2) -> list[float]:
    return [round(number, places) for number in numbers.tolist()]


def test_lesson_00() -> None:
    head = widgets.AttentionExplorer(CAT, h=4, weights="by hand").maps().weights[0, 0]
    assert torch.allclose(head.sum(dim=1), torch.ones(9)) and abs(head.sum() - 9) < 1e-5
    assert abs(head[:, 0].sum() - 2) < 1e-3 and head[:, -1].sum() < 1e-4
    assert rounded(softmax(2, 1, 0.1)) == rounded(softmax(-98, -99, -99.9)) == [0.66, 0.24, 0.10]
    assert rounded(softmax(20, 10, 1)) == [1, 0, 0]
    assert rounded(softmax(5, 1, 0.1))[0] == 0.97 and rounded(softmax(4, 1, 0.01))[0] == 0.94
    assert Vocabulary(tokenize(CAT)).encode(["cat", "warm", "chair"]) == [4, 8, 9]
    animals = tokenize("The cat and the dog and the owl .")
    assert Vocabulary(animals).encode(animals) == [2, 3, 4, 5, 6, 4, 5, 7, 8]


def test_lesson_01_products_and_means() -> None:
    q, k = torch.randn(5, 6), torch.randn(7, 6)
    assert torch.allclose(att.scaled_scores(2 * q, k / 2), att.scaled_scores(q, k))
    values = torch.tensor([-1.0, 1, 2, 3])
    assert values.mean() == 1.25 and values.sum() == 5
    assert round((softmax(0, 0, 0, 6) @ values).item(), 2) == 2.98
    late = softmax(1, 1, 1) * torch.tensor([1.0, 1, 0])
    assert torch.allclose(late, torch.tensor([1 / 3, 1 / 3, 0]))
    assert torch.allclose(softmax(1, 1, float("-inf")), torch.tensor([0.5, 0.5, 0]))


def test_lesson_01_a_keep_mask_read_as_a_block_mask() -> None:
    x = torch.randn(1, 5, 12)
    module = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    weights = module(x, x, x, attn_mask=masks.causal_mask(5))[1][0]
    assert (weights[:4][masks.causal_mask(5)[:4]] == 0).all() and weights[-1].isnan().all()


@pytest.mark.parametrize(("d_k", "one_hot", "median"), [(64, "19 %", "0.17"), (512, "58 %", "0.006")])
def test_lesson_01_rows_without_the_division(d_k: int, one_hot: str, median: str) -> None:
    torch.manual_seed(d_k)
    q = torch.randn(1000, d_k, dtype=torch.float64)
    k = torch.randn(64, d_k, dtype=torch.float64)
    weights = att.masked_softmax(att.scaled_scores(q, k, scale=1.0))
    slopes = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]
    share = (weights.max(dim=-1).values > 0.99).double().mean().item()
    assert f"{share:.0%}".replace("%", " %") == one_hot and one_hot in told("01-why-divide")
    size = slopes.flatten(1).norm(dim=-1).median().item()
    assert f"{size:.{len(median) - 2}f}" == median and median in told("01-why-divide")
    assert att.masked_softmax(att.scaled_scores(q, k)).max() < 0.99


def test_lesson_02() -> None:
    assert cost.parameter_count(512, 1) == cost.parameter_count(512, 8) == 1_048_576
    one, eight = (cost.attention_flops(n=100, d_model=512, h=h)["scores"] for h in (1, 8))
    assert one == eight
    torch.manual_seed(0)
    x = torch.randn(300, 10, 48)
    w_q, w_k = torch.randn(2, 300, 48, 16) / 48**0.5
    for key_matrix, mean in ((w_k, 0.10), (w_q, 0.71)):
        weights = att.scaled_dot_product_attention(x @ w_q, x @ key_matrix, x)[1]
        assert round(weights.diagonal(dim1=-2, dim2=-1).mean().item(), 2) == mean


def test_lesson_03_the_same_matrices_with_another_h() -> None:
    torch.manual_seed(1)
    four, two = layers.MultiHeadAttention(12, 4), layers.MultiHeadAttention(12, 2)
    two.load_state_dict(four.state_dict())
    x = torch.randn(2, 5, 12)
    before, after = four.trace(x), two.trace(x)
    assert not torch.allclose(before.output, after.output, atol=0.1)
    products = (before.scores[:, 0] + before.scores[:, 1]) * 3**0.5
    assert torch.allclose(after.scores[:, 0] * 6**0.5, products, atol=1e-5)


def test_lesson_03_where_a_feature_goes() -> None:
    x = torch.arange(2 * 7 * 20).view(2, 7, 20)
    heads = att.split_heads(x, h=5)
    assert (heads == x[1, 3, 14]).nonzero().tolist() == [[1, 3, 3, 2]]


def test_lesson_04_masks() -> None:
    scores = torch.zeros(3, 4, 5, 5)
    for shape, fits in (((3, 1, 1, 5), 1), ((3, 1, 5, 5), 1), ((3, 5, 16), 0), ((3, 5), 0)):
        try:
            hidden = scores.masked_fill(torch.ones(shape, dtype=torch.bool), -1.0)
        except RuntimeError:
            assert not fits, shape
        else:
            assert fits and hidden.shape == scores.shape
    layer, x = layers.MultiHeadAttention(12, 3), torch.randn(2, 6, 12)
    keep = masks.padding_mask([6, 4])
    full = layer.trace(x, mask=keep).weights.sum(dim=-1)
    assert torch.allclose(full, torch.ones(2, 3, 6))
    late = (layer.trace(x).weights * keep).sum(dim=-1)
    assert (late[0] > 0.9999).all() and (late[1] < 0.9999).all()


def test_lesson_04_a_mask_of_floats_and_the_divisor() -> None:
    q, keys = torch.zeros(1, 1, 1, 4), torch.zeros(1, 1, 2, 4)
    floats, booleans = torch.tensor([[1.0, 0.0]]), torch.tensor([[True, False]])
    values = torch.eye(2)[None, None]
    assert rounded(F.scaled_dot_product_attention(q, keys, values, floats)[0, 0, 0]) == [0.73, 0.27]
    assert rounded(F.scaled_dot_product_attention(q, keys, values, booleans)[0, 0, 0]) == [1, 0]
    assert (64**0.5) / ((64 / 4) ** 0.5) == 2


def test_lesson_04_nan_that_is_replaced_too_late() -> None:
    x, w_q = torch.randn(7, 12), torch.randn(12, 6, requires_grad=True)
    keep = masks.causal_mask(7) & (torch.arange(7) > 1)
    weights = (x @ w_q @ torch.randn(6, 7) + keep.float().log()).softmax(dim=-1)
    patched = torch.where(keep.any(dim=-1, keepdim=True), weights, 0.0)
    out = (patched @ torch.randn(7, 5))[2:]
    out.square().sum().backward()
    assert not out.isnan().any() and w_q.grad.isnan().all()


def test_lesson_05() -> None:
    heads = torch.arange(2 * 3 * 5 * 4).view(2, 3, 5, 4)
    number = heads[1, 1, 0, 3]
    places = {
        (1, 0, 7): heads.transpose(1, 2).reshape(2, 5, 12),
        (1, 1, 11): heads.reshape(2, 5, 12),
        (1, 0, 10): heads.permute(0, 2, 3, 1).reshape(2, 5, 12),
    }
    for place, merged in places.items():
        assert (merged == number).nonzero().tolist() == [list(place)]
    shared = [heads.transpose(1, 2), heads.contiguous(), heads.view(2, 15, 4)]
    assert all(tensor.data_ptr() == heads.data_ptr() for tensor in shared)
    assert heads.transpose(1, 2).reshape(2, 5, 12).data_ptr() != heads.data_ptr()


def test_lesson_05_what_a_number_depends_on() -> None:
    layer = layers.MultiHeadAttention(12, 3).requires_grad_(False)

    def entries(heads: Tensor) -> Tensor:
        concat = att.merge_heads(heads)
        return torch.stack([concat[0, 2, 5], layer.w_o(concat)[0, 2, 5]])

    slopes = torch.autograd.functional.jacobian(entries, torch.randn(2, 3, 5, 4))
    assert (slopes != 0).flatten(1).sum(dim=1).tolist() == [1, 12]
    heads, small = torch.randn(2, 8, 5, 6), torch.randn(6, 48)
    special = torch.cat([small / 8] * 8)
    assert torch.allclose(heads.mean(dim=1) @ small, att.merge_heads(heads) @ special, atol=1e-5)


def test_lesson_06_what_silences_head_3() -> None:
    mha, x = layers.MultiHeadAttention(20, 5).requires_grad_(False), torch.randn(2, 7, 20)
    t = mha.trace(x)
    wanted = t.output - t.contributions[:, 2]
    parts = {
        "w_o[:, 8:12]": lambda m: m.w_o.weight[:, 8:12],
        "w_v[8:12]": lambda m: m.w_v.weight[8:12],
        "w_o[8:12]": lambda m: m.w_o.weight[8:12],
        "w_o[:, 12:16]": lambda m: m.w_o.weight[:, 12:16],
        "w_v[:, 8:12]": lambda m: m.w_v.weight[:, 8:12],
    }
    outputs = {}
    for name, part in parts.items():
        changed = deepcopy(mha)
        part(changed).zero_()
        outputs[name] = changed(x)
    right = [name for name, output in outputs.items() if torch.allclose(output, wanted, atol=1e-5)]
    assert right == ["w_o[:, 8:12]", "w_v[8:12]"]
    assert (outputs["w_o[8:12]"] == 0).all(dim=(0, 1)).nonzero().flatten().tolist() == [8, 9, 10, 11]
    assert torch.allclose(outputs["w_o[:, 12:16]"], t.output - t.contributions[:, 3], atol=1e-5)


def test_lesson_06_biases_dropped_after_folding() -> None:
    torch.manual_seed(6)
    full = layers.MultiHeadAttention(20, 5, bias=True).double().requires_grad_(False)
    for linear in (full.w_q, full.w_k, full.w_v, full.w_o):
        torch.nn.init.normal_(linear.bias)
    x = torch.randn(2, 7, 20).double()
    bare = deepcopy(full)
    bare.w_o.bias += bare.w_v.bias @ bare.w_o.weight.T
    bare.w_v.bias.zero_()
    bare.w_k.bias.zero_()
    assert torch.allclose(bare(x), full(x))
    bare.w_q.bias.zero_()
    norm = torch.nn.LayerNorm(20).double()
    assert not torch.allclose(norm(x + bare(x)), norm(x + full(x)), atol=0.05)


def test_lesson_07_as_many_sentences_as_tokens() -> None:
    moved = {}
    for batch_first in (False, True):
        torch.manual_seed(7)
        module = torch.nn.MultiheadAttention(32, 4, batch_first=batch_first).eval()
        x = torch.randn(6, 6, 32)
        later = x.clone()
        later[1] += 1
        output, weights = module(x, x, x)
        assert output.shape == (6, 6, 32) and weights.shape == (6, 6, 6)
        moved[batch_first] = (module(later, later, later)[0] - output)[0].abs().max().item()
    assert moved[False] > 0.01 and moved[True] == 0
    x = torch.randn(7, 12, 32)
    assert module(x, x, x)[1].shape == (7, 12, 12)
    assert module(x, x, x, average_attn_weights=False)[1].shape == (7, 4, 12, 12)


@pytest.mark.parametrize(("slip", "at_h_1"), [("divisor", 0), ("merge", 0), ("axis", 1), ("w_o", 1)])
def test_lesson_07_what_a_test_with_one_head_misses(slip: str, at_h_1: int) -> None:
    torch.manual_seed(2)
    w_o = torch.randn(24, 24) / 24**0.5
    for h, shows in ((1, at_h_1), (4, 1)):
        q, k, v = torch.randn(3, 2, h, 5, 24 // h)
        scores = q @ k.transpose(-2, -1)
        right = att.merge_heads((scores / (24 // h) ** 0.5).softmax(dim=-1) @ v) @ w_o
        divisor = 24**0.5 if slip == "divisor" else (24 // h) ** 0.5
        heads = (scores / divisor).softmax(dim=-2 if slip == "axis" else -1) @ v
        concat = heads.reshape(2, 5, 24) if slip == "merge" else att.merge_heads(heads)
        output = concat if slip == "w_o" else concat @ w_o
        assert torch.allclose(output, right, atol=1e-5) != bool(shows), (slip, h)


def test_lesson_07_a_sparse_map_from_a_narrow_head() -> None:
    angle = torch.arange(9) * 2 * torch.pi / 9
    keys, order = torch.stack([angle.cos(), angle.sin()], dim=1), torch.randperm(9)
    weights = att.scaled_dot_product_attention(200 * keys[order], keys, keys)[1]
    assert torch.allclose(weights, torch.eye(9)[order], atol=1e-6)
    assert torch.linalg.matrix_rank(weights) == 9 and torch.linalg.matrix_rank(keys[order] @ keys.T) == 2
    assert [5 * h * 100**2 for h in (8, 32)] == [400_000, 1_600_000]


def test_lesson_08_who_notices_a_shuffle_behind_a_causal_mask() -> None:
    layer, x, may = layers.MultiHeadAttention(12, 3), torch.randn(1, 10, 12), masks.causal_mask(10)
    order = [4, 0, 7, 2, 8, 5, 1, 3, 6, 9]
    moved = (layer(x[:, order], mask=may) - layer(x, mask=may)[:, order])[0].abs().amax(-1)
    assert (moved[:-1] > 1e-2).all() and moved[-1] < 1e-6


def test_lesson_08_turns() -> None:
    pe = positions.sinusoidal_encoding(20, 8, dtype=torch.float64)
    turn = positions.shift_matrix(3, 8, dtype=torch.float64)
    assert torch.allclose(pe[3:] @ turn, pe[:-3])
    turns = torch.tensor([44, 49, 6]) / (2 * torch.pi)
    assert [round(t, 3) for t in turns.tolist()] == [7.003, 7.799, 0.955]
    assert round(180 / torch.pi) == 57
    one_pair = positions.position_kernel(torch.arange(1, 50), 16, pairs=1)
    assert one_pair.argmax() + 1 == 44 and 49 - 44 == 5


def test_lesson_08_how_often_a_short_trained_model_is_wrong_beyond() -> None:
    trials = [beyond_length.train_on_short("sinusoidal", seed) for seed in range(3)]
    beyond = torch.stack([one.right[20:40] for one in trials]).mean()
    assert round(10 * (1 - beyond.item())) == 7
    assert max(one.losses[-1] for one in trials) < 0.01
