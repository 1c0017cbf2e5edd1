"""Right answers with all heads, and for the whole layer, pass in whatever style they are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from mha_course import progress
from mha_course.exercises import check


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))


def summed_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    d_k = x.shape[-1] // h
    out = 0
    for i in range(h):
        mine = slice(i * d_k, (i + 1) * d_k)
        scores = (x @ w_q[:, mine]) @ (x @ w_k[:, mine]).mT / d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        out = out + scores.softmax(-1) @ (x @ w_v[:, mine]) @ w_o[mine]
    return out


def torch_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    mha = nn.MultiheadAttention(x.shape[-1], h, bias=False, batch_first=True, dtype=x.dtype)
    with torch.no_grad():
        mha.in_proj_weight.copy_(torch.cat([w_q.T, w_k.T, w_v.T]))
        mha.out_proj.weight.copy_(w_o.T)
    return mha(x, x, x, attn_mask=None if mask is None else ~mask, need_weights=False)[0]


def fused_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    q, k, v = ((x @ w).unflatten(-1, (h, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2) @ w_o


def linear_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    b, n, _ = x.shape
    q, k, v = (F.linear(x, w.T).reshape(b, n, h, -1).permute(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    scores = torch.matmul(q, k.permute(0, 1, 3, 2)) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else scores + (~mask) * -1e9
    return F.linear((scores.softmax(3) @ v).permute(0, 2, 1, 3).reshape(b, n, -1), w_o.T)


RIGHT: dict[str, list[Callable]] = {
    "multi_head_attention": [summed_layer, torch_layer, fused_layer, linear_layer],
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_layers_pass_in_any_style(name: str) -> None:
    assert len(RIGHT[name]) >= 4
    for fn in RIGHT[name]:
        verdict = check(name, fn)
        assert verdict.passed and verdict.diagnosis is None, f"{fn}: {verdict}"
    assert name in progress.solved()
