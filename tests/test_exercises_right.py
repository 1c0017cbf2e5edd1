"""Right answers pass, in whatever style they are written."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from mha_course import progress
from mha_course.exercises import check
from mha_course.exercises.registry import EXERCISES
from tests.exercises.written.split_heads import loop_split


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))


def loop_softmax(scores):
    rows = []
    for row in scores:
        powers = [math.exp(float(s) - float(row.max())) for s in row]
        rows.append([p / sum(powers) for p in powers])
    return torch.tensor(rows)


def numpy_scores(q, k):
    return torch.from_numpy(q.numpy() @ np.swapaxes(k.numpy(), -1, -2) / math.sqrt(q.shape[-1]))


def additive_attention(q, k, v, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", q, k) * q.size(-1) ** -0.5
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask.logical_not(), -1e9)
    weights = F.softmax(scores, dim=-1)
    return torch.einsum("...qk,...kv->...qv", weights, v), weights


def renormalised_attention(q, k, v, mask=None):
    powers = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
    powers = powers if mask is None else powers * mask
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ v, weights


def batch_only_attention(q, k, v, mask=None):
    b, n_q, d_k = q.shape  # stops without a batch axis and with a head axis: remarks
    scores = torch.bmm(q, k.transpose(1, 2)) / d_k**0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(float("-inf")))
    weights = torch.softmax(scores, dim=2)
    return torch.bmm(weights, v), weights


def gradient_attention(q, k, v, mask=None):
    q.requires_grad_()
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(-1)
    return weights @ v, weights


def looked_up(tokens, vocabulary):
    ids = []
    for token in tokens:
        try:
            ids.append(vocabulary[token])
        except KeyError:
            ids.append(vocabulary["<unk>"])
    return ids


RIGHT: dict[str, list[Callable]] = {
    "token_ids": [
        looked_up,
        lambda t, v: [v[x] if x in v else v["<unk>"] for x in t],
        lambda t, v: list(map(v.__getitem__, (x if x in v else "<unk>" for x in t))),
        lambda t, v: torch.tensor([v.get(x, v["<unk>"]) for x in t], dtype=torch.long),
        lambda t, v: tuple(v.get(x, v["<unk>"]) for x in t),
    ],
    "softmax_rows": [
        loop_softmax,
        lambda s: torch.softmax(s, dim=-1),
        lambda s: (s - s.amax(-1, keepdim=True)).exp() / (s - s.amax(-1, keepdim=True)).exp().sum(-1, True),
        lambda s: (s - s.logsumexp(-1, keepdim=True)).exp(),
        lambda s: torch.stack([torch.exp(r - r.max()) / torch.exp(r - r.max()).sum() for r in s]),
        lambda s: F.normalize((s - s.max(-1, keepdim=True)[0]).exp(), p=1, dim=-1),
    ],
    "scaled_scores": [
        numpy_scores,
        lambda q, k: torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(q.size(2)),
        lambda q, k: torch.bmm(q, k.permute(0, 2, 1)) * q.shape[-1] ** -0.5,
        lambda q, k: (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / q.shape[-1] ** 0.5,
        lambda q, k: (q / q.shape[-1] ** 0.25) @ (k / k.shape[-1] ** 0.25).mT,
        lambda q, k: (
            torch.stack([a @ c.T for a, c in zip(q, k, strict=True)]) / torch.tensor(q.shape[-1]).sqrt()
        ),
    ],
    "attention": [additive_attention, renormalised_attention, batch_only_attention, gradient_attention],
    "average_of_targets": [
        lambda values, targets: values[targets].mean(0),
        lambda values, targets: sum(values[t] for t in targets) / len(targets),
        lambda values, targets: values.index_select(0, torch.tensor(targets)).mean(dim=0),
        lambda values, targets: torch.from_numpy(values.numpy()[targets].mean(axis=0)),
        lambda values, targets: (
            F.one_hot(torch.tensor(targets), len(values)).to(values.dtype).mean(0) @ values
        ),
    ],
    "one_target_each": [
        lambda values, targets: values[torch.arange(len(targets)), targets].flatten(),
        lambda values, targets: torch.stack([values[i][t] for i, t in enumerate(targets)]).reshape(-1),
        lambda values, targets: torch.hstack([v[t] for v, t in zip(values, targets, strict=True)]),
        lambda values, targets: torch.from_numpy(
            np.concatenate([values[i, t] for i, t in enumerate(targets)])
        ),
    ],
    "head_contributions": [
        lambda z, w: torch.einsum("bhnd,hdm->bhnm", z, w.view(z.shape[1], z.shape[3], -1)),
        lambda z, w: torch.stack([z[:, i] @ w.chunk(z.shape[1])[i] for i in range(z.shape[1])], dim=1),
        lambda z, w: z @ w.unflatten(0, (z.shape[1], -1)),
        lambda z, w: torch.stack(
            [z[:, i] @ w[i * z.shape[3] : (i + 1) * z.shape[3]] for i in range(z.shape[1])], 1
        ),
    ],
    "fold_value_bias": [
        lambda b_v, w_o, b_o: F.linear(b_v, w_o.T, b_o),
        lambda b_v, w_o, b_o: (b_v[:, None] * w_o).sum(0) + b_o,
        lambda b_v, w_o, b_o: torch.einsum("i,ij->j", b_v, w_o) + b_o,
        lambda b_v, w_o, b_o: torch.addmv(b_o, w_o.T, b_v),
        lambda b_v, w_o, b_o: (b_v[None] @ w_o + b_o)[0],
    ],
    "parameter_count": [
        lambda d, h, bias: 4 * d**2 + 4 * d * bias,
        lambda d, h, bias: 3 * h * d * (d // h) + d * d + (h * 3 * (d // h) + d if bias else 0),
        lambda d, h, bias: sum(p.numel() for p in nn.MultiheadAttention(d, h, bias=bias).parameters()),
        lambda d, h, bias: 4 * d * (d + int(bias)),
        lambda d, h, bias: np.int64(4 * d * d) + np.int64(4 * d if bias else 0),
    ],
    "flop_count": [
        lambda n, d, h: 8 * n * d**2 + 4 * n**2 * d,
        lambda n, d, h: 4 * n * d * (2 * d + n),
        lambda n, d, h: h * (3 * 2 * n * d * (d // h) + 2 * 2 * n * n * (d // h)) + 2 * n * d * d,
        lambda n, d, h: sum([2 * n * d * d] * 4 + [2 * n * (d // h) * n, 2 * n * n * (d // h)] * h),
    ],
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass_in_any_style(name: str) -> None:
    assert len(RIGHT[name]) >= 4
    for fn in RIGHT[name]:
        verdict = check(name, fn)
        assert verdict.passed and verdict.diagnosis is None, f"{fn}: {verdict}"
    assert name in progress.solved()


@pytest.mark.parametrize("name", EXERCISES)
def test_what_the_solution_shows_passes(name: str) -> None:
    names: dict[str, object] = {"math": math, "torch": torch, "Tensor": torch.Tensor}
    exec(compile("from __future__ import annotations\n" + EXERCISES[name].source(), "cell", "exec"), names)
    verdict = check(name, names[name])
    assert verdict.passed, verdict
    assert verdict.remarks == ()


def test_what_is_narrower_than_asked_for_passes_with_a_remark() -> None:
    assert "torch.float32" in " ".join(check("split_heads", loop_split).remarks)
    assert "without a batch axis" in " ".join(check("attention", batch_only_attention).remarks)
