"""Answers of lesson 15 far from anything listed, and strange on purpose: none may stay unnamed."""

from __future__ import annotations

from functools import partial

import torch

from tests.exercises.written import balance_loss as BL
from tests.exercises.written import circuits as CI
from tests.exercises.written import clear_difference as CD
from tests.exercises.written import composition_matrices as CM
from tests.exercises.written import talk as TA
from tests.exercises.written import two_stage_gates as TG


def after(run, change):
    """A right answer, changed."""
    return lambda *given: change(run(*given))


def seeded():
    return torch.Generator().manual_seed(3)


def one_of_two(which, change):
    """Right circuits, one of them changed."""

    def fn(*given):
        made = list(CI.by_chunks(*given))
        made[which] = change(made[which])
        return tuple(made)

    return fn


STRANGE = {
    "two_stage_gates": [
        after(TG.by_scatter, lambda g: g.sqrt()),
        after(TG.by_scatter, lambda g: g * g.sum(-1, keepdim=True)),
        after(TG.by_scatter, lambda g: g - g.mean(1, keepdim=True)),
        after(TG.by_scatter, lambda g: g.cumsum(-1)),
        after(TG.by_scatter, lambda g: g / g.amax(-1, keepdim=True)),
        lambda x, s, r, t, k: TG.by_scatter(x / x.shape[-1] ** 0.5, s, r, t, k),
        lambda x, s, r, t, k: TG.by_scatter(x, s, r, t.flip(0), k),
        lambda x, s, r, t, k: TG.by_scatter(x, s.roll(1, 1), r, t, k),
        lambda x, s, r, t, k: TG.by_scatter(x.roll(1, 1), s, r, t, k),
        lambda x, s, r, t, k: TG.by_scatter(x, s, r / 2, t, k),
        lambda x, s, r, t, k: TG.in_parts(x, s, r, t, k, mix=lambda a, b, p, q: (p * p * a, q * q * b)),
        lambda x, s, r, t, k: TG.in_parts(x, s, r, t, k, mix=lambda a, b, p, q: (a * q.exp(), b * p)),
        partial(TG.in_parts, routed=lambda z: z.exp2() / z.exp2().sum(-1, keepdim=True), mix=TG.both),
        lambda x, s, r, t, k: torch.rand(*x.shape[:2], s.shape[1] + r.shape[1], generator=seeded()),
        lambda x, s, r, t, k: torch.zeros(*x.shape[:2], s.shape[1] + r.shape[1]),
        lambda x, s, r, t, k: x @ torch.cat((s, r, t), 1),
    ],
    "balance_loss": [
        lambda p, c: BL.flat(p.square(), c),
        lambda p, c: BL.flat(p, c) ** 2,
        lambda p, c: BL.flat(p, c).sqrt(),
        lambda p, c: BL.flat(p, c) + 1,
        lambda p, c: BL.flat(p.roll(1, -1), c),
        lambda p, c: BL.flat(p.flip(1), c.flip(0)) + BL.flat(p, c),
        lambda p, c: -(p * p.log()).sum(-1).mean(),
        lambda p, c: p.std(),
        lambda p, c: torch.tensor(1.0),
        lambda p, c: BL.flat(p, c).exp(),
        lambda p, c: (p - c.to(p.dtype)).abs().mean(),
        lambda p, c: p.mean((0, 1)).max() * c.to(p.dtype).mean((0, 1)).max(),
        lambda p, c: BL.flat(p, c)[None, None],
    ],
    "circuits": [
        one_of_two(0, lambda c: c.exp()),
        one_of_two(1, lambda c: c.tanh()),
        one_of_two(0, lambda c: c - c.mean()),
        one_of_two(1, lambda c: c + 1),
        one_of_two(0, lambda c: c.roll(1, 2)),
        one_of_two(1, lambda c: c.flip(1)),
        one_of_two(0, lambda c: c.triu()),
        one_of_two(1, lambda c: c * torch.eye(c.shape[-1])),
        one_of_two(0, lambda c: c @ c),
        one_of_two(1, lambda c: torch.linalg.pinv(c)),
        lambda *given: tuple(c.sign() for c in CI.by_chunks(*given)),
        lambda *given: tuple(torch.zeros_like(c) for c in CI.by_chunks(*given)),
        lambda *given: torch.stack(CI.by_chunks(*given)),
        lambda *given: tuple(c.round() for c in CI.by_chunks(*given)),
    ],
    "talk": [
        after(TA.by_einsum, lambda w: w**2),
        after(TA.by_einsum, lambda w: w.sin()),
        after(TA.by_einsum, lambda w: w + w.mean(1, keepdim=True)),
        after(TA.by_einsum, lambda w: w - w.amin(-1, keepdim=True)),
        after(TA.by_einsum, lambda w: w.cumsum(-1)),
        after(TA.by_einsum, lambda w: w.round(decimals=1)),
        lambda s, p, w, mask: TA.by_einsum(s / 2, p, w, mask),
        lambda s, p, w, mask: TA.by_einsum(s, p.tril(), w, mask),
        lambda s, p, w, mask: TA.by_einsum(s, p, w / w.norm(), mask),
        lambda s, p, w, mask: TA.by_einsum(s - s.mean(1, keepdim=True), p, w, mask),
        lambda s, p, w, mask: TA.by_einsum(s.roll(1, 1), p, w, mask),
        lambda s, p, w, mask: TA.by_einsum(s, p, w, mask.roll(1, 1)),
        lambda s, p, w, mask: TA.by_einsum(s, p, w, mask) * s,
        lambda s, p, w, mask: s,
        lambda s, p, w, mask: torch.full_like(s, float("nan")),
    ],
    "composition_matrices": [
        after(CM.by_einsum, lambda w: w.tanh()),
        after(CM.by_einsum, lambda w: w @ w),
        after(CM.by_einsum, lambda w: w.triu()),
        after(CM.by_einsum, lambda w: w - w.mean((0, 1))),
        after(CM.by_einsum, lambda w: w / w.norm(dim=(2, 3), keepdim=True)),
        after(CM.by_einsum, lambda w: w.cumsum(1)),
        after(CM.by_einsum, lambda w: torch.matrix_exp(w / 10)),
        lambda b, q1, q2, gq, k1, k2, gk: CM.by_einsum(b, q1, q2, gq, k1, k2.flip(1), gk),
        lambda b, q1, q2, gq, k1, k2, gk: CM.by_einsum(b, q1, q2, gq, k1, k2, gk * 2),
        lambda b, q1, q2, gq, k1, k2, gk: CM.by_einsum(b, q1, q2, gq.exp(), k1, k2, gk),
        lambda b, q1, q2, gq, k1, k2, gk: CM.by_einsum(b, q1, q2.roll(1, 2), gq, k1, k2, gk),
        lambda b, q1, q2, gq, k1, k2, gk: CM.by_einsum(b, q1.abs(), q2, gq, k1, k2, gk),
        lambda b, q1, q2, gq, k1, k2, gk: b.expand(len(gq), len(gk), -1, -1),
        lambda *given: torch.randn(CM.by_einsum(*given).shape, generator=seeded()),
    ],
    "clear_difference": [
        after(CD.by_where, lambda d: d**2),
        after(CD.by_where, lambda d: d.round()),
        after(CD.by_where, lambda d: d.cumsum(0)),
        after(CD.by_where, lambda d: d.sort().values),
        after(CD.by_where, lambda d: d.tanh()),
        lambda losses, plain: CD.by_where(losses.log(), plain.log()),
        lambda losses, plain: CD.by_where(losses, plain[:2]),
        lambda losses, plain: CD.by_where(losses[:, :2], plain),
        lambda losses, plain: CD.by_where(losses, plain * 1.1),
        lambda losses, plain: CD.by_where(losses.flip(0), plain),
        lambda losses, plain: CD.by_where(losses, plain, wide=lambda x: CD.spread(x) * 0.9),
        lambda losses, plain: CD.by_where(losses, plain, wide=lambda x: x.abs().sum(-1)),
        lambda losses, plain: (losses.mean(1) > plain.mean()).float(),
        lambda losses, plain: losses.var(1) - plain.var(),
        lambda losses, plain: losses.argmin(1).float(),
    ],
}  # fmt: skip
