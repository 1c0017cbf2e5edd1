"""Answers of lesson 14 far from anything listed, and strange on purpose: none may stay unnamed."""

from __future__ import annotations

import torch

from tests.exercises.written import collaborative_flops as CF
from tests.exercises.written import collaborative_scores as CS
from tests.exercises.written import content_bias as CB
from tests.exercises.written import mixing_of_blocks as MB
from tests.exercises.written import overlapping_windows as OW
from tests.exercises.written import pattern_width as PW


def mixing(change):
    """A right mixing matrix, changed."""
    return lambda h, width: change(MB.by_owner(h, width))


def scores(change):
    """Right scores, changed."""
    return lambda *given: change(CS.by_einsum(*given))


def content(change):
    """Right vectors, changed."""
    return lambda *given: change(CB.by_einsum(*given))


def windows(change):
    """Right windows, changed."""
    return lambda *given: change(OW.sliced(*given))


STRANGE = {
    "mixing_of_blocks": [
        mixing(lambda m: m * 2),
        mixing(lambda m: m + 0.5),
        mixing(lambda m: m.roll(1, 1)),
        mixing(lambda m: m.roll(2, 0)),
        mixing(lambda m: m.flip(1)),
        mixing(lambda m: m.tril()),
        mixing(lambda m: m[:-1]),
        mixing(lambda m: m[:, :-1]),
        mixing(lambda m: m @ m.T),
        mixing(lambda m: m.T @ m),
        mixing(lambda m: m.tolist()),
        mixing(lambda m: m.double()),
        mixing(lambda m: m.numpy()),
        mixing(lambda m: torch.stack([m, m])),
        lambda h, width: torch.zeros(h, width),
        lambda h, width: torch.rand(h, width),
        lambda h, width: torch.eye(h).repeat(1, width // h + 1)[:, :width],
        lambda h, width: torch.tensor([[1.0] * (width // h)] * h),
        lambda h, width: [list(range(i * width // h, (i + 1) * width // h)) for i in range(h)],
    ],
    "collaborative_scores": [
        scores(lambda s: s * 3),
        scores(lambda s: s + 1),
        scores(lambda s: s.roll(1, 1)),
        scores(lambda s: s.cumsum(-1)),
        scores(lambda s: s.relu()),
        scores(lambda s: s - s.amax(-1, keepdim=True)),
        scores(lambda s: s.tril()),
        scores(lambda s: s[..., :-1]),
        scores(lambda s: s.flatten(2)),
        scores(lambda s: s.round(decimals=1)),
        scores(lambda s: s.tanh()),
        lambda q, k, m, d: CS.by_einsum(q / q.norm(dim=-1, keepdim=True), k, m, d),
        lambda q, k, m, d: CS.by_einsum(q, k.flip(1), m, d),
        lambda q, k, m, d: CS.by_einsum(q.softmax(-1), k.softmax(-1), m, d),
        lambda q, k, m, d: CS.by_einsum(q, k, m, d + 1),
        lambda q, k, m, d: CS.by_einsum(q, k, m + 0.1, d),
        lambda q, k, m, d: (q @ m.T).transpose(1, 2)[..., None] * (k @ m.T).transpose(1, 2)[:, :, None] / d,
        lambda q, k, m, d: (q[:, None] * m[:, None]).sum(-1, keepdim=True) + k.sum(-1)[:, None, None],
        lambda q, k, m, d: CS.by_einsum(q[..., :d], k[..., :d], m[:, :d], d),
        lambda q, k, m, d: torch.cosine_similarity(q[:, None, :, None], k[:, None, None], dim=-1) * len(m),
    ],
    "content_bias": [
        content(lambda c: c * 3),
        content(lambda c: c + 1),
        content(lambda c: c.roll(1, 0)),
        content(lambda c: c.roll(1, 1)),
        content(lambda c: c.relu()),
        content(lambda c: c.cumsum(0)),
        content(lambda c: c - c.mean()),
        content(lambda c: c[:-1]),
        content(lambda c: c / c.norm(dim=1, keepdim=True)),
        content(lambda c: c.half().float()),
        lambda w, b, h: CB.by_einsum(w, b + 0.1, h),
        lambda w, b, h: CB.by_einsum(w, b.flip(0), h),
        lambda w, b, h: CB.by_einsum(w.flip(1), b, h),
        lambda w, b, h: CB.by_einsum(w, b.softmax(0), h),
        lambda w, b, h: CB.by_einsum(w, b.roll(1), h),
        lambda w, b, h: (w * b).T.reshape(len(w), h, -1).sum(-1).T,
        lambda w, b, h: w[:, :h].T * b[:h, None],
        lambda w, b, h: torch.outer(b.view(h, -1).sum(1), w.sum(1)),
        lambda w, b, h: b,
        lambda w, b, h: w,
    ],
    "overlapping_windows": [
        windows(lambda x: x * 2),
        windows(lambda x: x + 1),
        windows(lambda x: x.roll(1, 1)),
        windows(lambda x: x.roll(1, 2)),
        windows(lambda x: x.roll(1, 3)),
        windows(lambda x: x.cumsum(3)),
        windows(lambda x: x.sort(3).values.flip(3)),
        windows(lambda x: x.mean(3)),
        windows(lambda x: x[..., 1:-1]),
        windows(lambda x: x.reshape(x.shape[0], x.shape[2], x.shape[1], -1)),
        windows(lambda x: torch.cat((x, x[:, -1:]), 1)),
        windows(lambda x: x - x.mean(3, keepdim=True)),
        lambda x, h, o: OW.sliced(x, h + 1 if x.shape[-1] % (h + 1) == 0 else h * 2, o),
        lambda x, h, o: OW.sliced(x.flip(-1), h, o),
        lambda x, h, o: OW.sliced(x.roll(o, -1), h, o),
        lambda x, h, o: torch.zeros(len(x), h, x.shape[1], x.shape[-1] // h + 2 * o),
        lambda x, h, o: OW.feature_by_feature(x, h, o, first=lambda i, own, o: 2 * i * own - o),
        lambda x, h, o: OW.sliced(x + 1, h, o) - 1,
        lambda x, h, o: x[..., : x.shape[-1] // h + 2 * o].unsqueeze(1).expand(-1, h, -1, -1),
    ],
    "pattern_width": [
        lambda p: PW.by_numpy(p) ** 2,
        lambda p: PW.by_numpy(p) + p.shape[0],
        lambda p: PW.by_numpy(p) * p.shape[1],
        lambda p: p.shape[0] * p.shape[1],
        lambda p: p.numel() // 2,
        lambda p: int(p.max() * 10),
        lambda p: round(float(p.log().std())),
        lambda p: int((p > 1 / p.shape[1]).sum()),
        lambda p: int(p.argmax(-1).unique().numel()),
        lambda p: -(p * p.log()).sum(-1).mean(),
        lambda p: [PW.by_numpy(p)],
        lambda p: str(PW.by_numpy(p)),
        lambda p: torch.linalg.matrix_rank(p.log().diff(dim=0)),
        lambda p: PW.counted(p.log()),
        lambda p: torch.linalg.cond(p),
        lambda p: 7,
        lambda p: PW.by_numpy(p[:3]),
        lambda p: PW.by_numpy(p[:, :3]),
    ],
    "collaborative_flops": [
        lambda n, d, h, w: CF.step_by_step(n, d, h, w) * 8,
        lambda n, d, h, w: CF.step_by_step(n, d, h, w) + n,
        lambda n, d, h, w: CF.step_by_step(n, d, h, w) ** 2,
        lambda n, d, h, w: 2 * n * (d + w) + 2 * n * n * h * w,
        lambda n, d, h, w: 4 * n * d * w + 2 * n * n * (h + w),
        lambda n, d, h, w: (4 * n * d * w) * (2 * n * n * h * w),
        lambda n, d, h, w: 4 * n * d * w + 2 * n**3 * h * w,
        lambda n, d, h, w: 4 * n * d * w + n * (n + 1) * h * w,
        lambda n, d, h, w: [4 * n * d * w, 2 * n * n * h * w],
        lambda n, d, h, w: (4 * n * d * w, 2 * n * n * h * w),
        lambda n, d, h, w: 4 * n * d * w + 2 * n * n * h * (w // h),
        lambda n, d, h, w: CF.step_by_step(n, d, h, w) // 10**6,
        lambda n, d, h, w: CF.step_by_step(n, d, h, w) % 1000,
        lambda n, d, h, w: n * d * h * w,
        lambda n, d, h, w: f"{CF.step_by_step(n, d, h, w)} FLOPs",
        lambda n, d, h, w: 2 * (d + h) * w,
        lambda n, d, h, w: (2 * d + h) * w,
    ],
}
