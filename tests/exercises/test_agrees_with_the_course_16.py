"""What lesson 16 asks to be written from scratch computes what the course's own modules do."""

from __future__ import annotations

import torch

from mha_course.exercises.registry import EXERCISES
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask, padding_mask
from mha_course.transformer import EncoderLayer


def written(name: str):
    return EXERCISES[name].reference


LENGTHS, N = torch.tensor([4, 0, 7, 1]), 7


def layer(d_model: int, h: int) -> tuple[MultiHeadAttention, list[torch.Tensor]]:
    torch.manual_seed(3)
    made = MultiHeadAttention(d_model, h).double().requires_grad_(False)
    return made, [w.weight.T for w in (made.w_q, made.w_k, made.w_v, made.w_o)]


def test_the_mask_is_the_causal_one_and_the_padding_together() -> None:
    mine = written("allowed_keys")(LENGTHS, N)
    assert torch.equal(mine, causal_mask(N) & padding_mask(LENGTHS, N))
    assert mine.shape == (4, 1, N, N) and not mine[1].any()


def test_the_layer_is_the_course_s_also_where_a_sentence_is_empty() -> None:
    made, matrices = layer(12, 3)
    x, allowed = torch.randn(4, N, 12, dtype=torch.float64), written("allowed_keys")(LENGTHS, N)
    mine = written("whole_attention")(x, *matrices, 3, allowed)
    torch.testing.assert_close(mine, made(x, mask=allowed))
    assert not mine[1].any()


def test_a_few_rows_at_a_time_make_no_difference() -> None:
    _, matrices = layer(10, 5)
    x, allowed = torch.randn(4, N, 10, dtype=torch.float64), written("allowed_keys")(LENGTHS, N)
    whole = written("whole_attention")(x, *matrices, 5, allowed)
    for rows in (1, 2, 3, 6, 7, 11):
        mine = written("frugal_attention")(x, *matrices, 5, allowed, rows)
        torch.testing.assert_close(mine, whole)


def test_the_block_is_the_course_s_encoder_layer() -> None:
    torch.manual_seed(6)
    block = EncoderLayer(12, 3, d_ff=17, bias=False).double().eval().requires_grad_(False)
    first, second = block.around_attention.norm, block.around_feed_forward.norm
    for norm in (first, second):
        norm.weight.copy_(torch.randn(12, dtype=torch.float64))
    parts = {f"w_{name}": getattr(block.attention, f"w_{name}").weight.T for name in "qkvo"}
    parts |= {"gain_1": first.weight, "gain_2": second.weight}
    parts |= {"w_1": block.feed_forward.w_1.weight.T, "w_2": block.feed_forward.w_2.weight.T}
    for name, width in (("bias_1", 12), ("bias_2", 12), ("b_1", 17), ("b_2", 12)):
        parts[name] = torch.zeros(width, dtype=torch.float64)
    x, allowed = torch.randn(4, N, 12, dtype=torch.float64), written("allowed_keys")(LENGTHS, N)
    torch.testing.assert_close(written("encoder_block")(x, parts, 3, allowed), block(x, mask=allowed))
