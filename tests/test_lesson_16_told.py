"""What lesson 16 says in words, foretells and asks, computed by the lesson's own cells."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mha_course import attention, bug_hunt
from mha_course.layers import MultiHeadAttention
from mha_course.models.peak_memory import peak_bytes
from mha_course.widgets.prediction import outcomes
from mha_course.widgets.question_texts import find_question

LESSON = Path(__file__).parents[1] / "notebooks" / "16_final_lab.ipynb"


def defined(cell: str, name: str) -> object:
    """What a cell of the lesson gives to a name, run with the names that it reads."""
    cells = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
    (source,) = ["".join(found["source"]) for found in cells if found["id"] == cell]
    names = {"torch": torch, "math": math, "attention": attention}
    exec(compile(source, cell, "exec"), names)
    return names[name]


def right(key: str) -> set[str]:
    question = find_question(key)
    return {question.choices[i].text for i in question.right}


def test_without_the_division_wide_heads_look_at_one_key() -> None:
    sharp_rows = defined("l16-sharp", "sharp_rows")
    assert outcomes()["16-sharp-rows"] == "60 rows of 100"
    assert sharp_rows(64, scale=1.0) == pytest.approx(0.6, abs=0.03)
    widths = [4, 8, 16, 32, 64, 128, 256]
    undivided = [sharp_rows(d_k, scale=1.0) for d_k in widths]
    assert undivided == sorted(undivided) and undivided[-1] > 0.75
    assert max(sharp_rows(d_k) for d_k in widths) < 0.01
    # A key that equals its query grows with the width in spite of the division.
    same = [sharp_rows(d_k, same=True) for d_k in widths]
    assert same == sorted(same) and same[0] < 0.1 and same[-1] > 0.99
    q = torch.randn(2000, 256, generator=torch.Generator().manual_seed(1))
    assert float((q.square().sum(-1) / 16).mean()) == pytest.approx(16, rel=0.02)


@pytest.mark.parametrize("size", [1, 3, 7, 11, 40])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_softmax_in_blocks_is_the_whole_one(size: int, dtype: torch.dtype) -> None:
    in_blocks = defined("l16-running", "in_blocks")
    g = torch.Generator().manual_seed(size)
    q = 9 * torch.randn(2, 3, 5, 4, generator=g, dtype=dtype)
    k = 9 * torch.randn(2, 3, 11, 4, generator=g, dtype=dtype)
    v = torch.randn(2, 3, 11, 4, generator=g, dtype=dtype)
    whole, _ = attention.scaled_dot_product_attention(q, k, v)
    assert torch.allclose(in_blocks(q, k, v, size).to(dtype), whole, atol=1e-5)
    assert outcomes()["16-running-softmax"] == "the same, up to rounding"


def test_memory_falls_with_the_block() -> None:
    in_blocks = defined("l16-running", "in_blocks")
    q, k, v = (torch.randn(1, 8, 1024, 16, generator=torch.Generator().manual_seed(i)) for i in range(3))
    held = [peak_bytes(lambda size=size: in_blocks(q, k, v, size)) for size in (16, 64, 256, 1024)]
    at_once = peak_bytes(lambda: attention.scaled_dot_product_attention(q, k, v))
    assert held == sorted(held)
    assert held[0] < at_once / 15 and held[-1] > at_once
    assert 8 * 1024 * 1024 * 4 == 32 * 2**20, "one map of all heads is 32 MiB"


def test_a_token_moves_its_own_output_and_those_behind_it() -> None:
    sound = bug_hunt.probe("future", bug_hunt.healthy(d_model=12, h=3)).sound
    assert sound.measures == {
        "outputs before the change that move": 0,
        "outputs at or behind it that move": 28,
    }
    assert outcomes()["16-moved-outputs"] == "28" and sum(range(1, 8)) == 28


def test_the_suspect_of_the_example_sees_the_future_and_gives_blocked_keys_some_weight() -> None:
    six = bug_hunt.suspect(6)
    assert bug_hunt.probe("future", six).apart()
    x = torch.randn(2, 7, 12, generator=torch.Generator().manual_seed(0))
    mask = torch.ones(7, 7, dtype=torch.bool)
    mask[:, 5:] = False
    blocked = float(six.look(x, mask=mask)[1][..., 5:].detach().sum(-1).mean())
    assert 0.05 < blocked < 2 / 7 - 0.05


def test_a_mask_off_by_one_moves_the_output_of_the_token_before() -> None:
    layer = MultiHeadAttention(10, 2).requires_grad_(False)
    mask = torch.ones(6, 6, dtype=torch.bool).tril(1)
    x = torch.randn(3, 6, 10, generator=torch.Generator().manual_seed(2))
    changed = x.clone()
    changed[:, 3] += 1
    moved = (layer(changed, mask=mask) - layer(x, mask=mask)).abs().amax((0, 2)) > 1e-6
    assert moved.tolist() == [False, False, True, True, True, True]
    assert right("16-which-probe") == {"Change token 3 and look at the outputs of tokens 0 to 2"}


def test_whole_blocks_alone_lose_the_last_queries() -> None:
    rows = torch.arange(1000)
    kept: list[Tensor] = [rows[64 * i : 64 * (i + 1)] for i in range(1000 // 64)]
    assert len(kept) == 15 and len(torch.cat(kept)) == 960
    assert right("16-last-block") == {"The last 40 queries are missing"}
    assert 5 // 2 * 2 == 4, "with 5 queries in blocks of 2 the loss shows"
