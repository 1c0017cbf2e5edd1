"""Answers far from anything listed, and strange on purpose: none may stay unnamed."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.exercises.written.examined import argmax_share as AS
from tests.exercises.written.examined import best_fixed_offset as BO
from tests.exercises.written.examined import masked_cross_entropy as CE
from tests.exercises.written.examined import sinusoidal_encoding as SE
from tests.exercises.written.examined import warm_up_rates as WR

E = 1e-05
enc = SE.base
L = WR.L

STRANGE = {
    "warm_up_rates": [
        lambda s, w: L(s, w, rise=lambda i, s, w: i / w / 2),
        lambda s, w: L(
            s, w, fall=lambda i, s, w: (1 + math.cos(math.pi * (i - w) / (s - w))) / 2 if i < s else 0.05
        ),
        lambda s, w: L(s, w, rise=lambda i, s, w: math.log(1 + i) / math.log(1 + w)),
        lambda s, w: L(s, w, fall=lambda i, s, w: 0.5 ** ((i - w) / (s - w) * 5)),
        lambda s, w: L(s, w, fall=lambda i, s, w: max(0, 1 - (i - w) / (s - w)) ** 0.5),
        lambda s, w: L(s, w, fall=lambda i, s, w: 1 / (1 + (i - w))),
        lambda s, w: L(s, w, rise=lambda i, s, w: i / w * 0.9),
        lambda s, w: L(s, w, fall=lambda i, s, w: (1 + math.cos(math.pi * (i - w) / (s - w))) / 2 * w / i),
        lambda s, w: L(s, w)[torch.randperm(s, generator=torch.Generator().manual_seed(1))],
        lambda s, w: L(s, w).clamp(max=0.9),
        lambda s, w: L(s, w) ** 2,
        lambda s, w: L(s, w, rise=lambda i, s, w: 1 - math.exp(-3 * i / w)),
        lambda s, w: L(s, w).round(decimals=1),
        lambda s, w: L(s, w + 1),
        lambda s, w: L(s, max(1, w - 1)),
        lambda s, w: L(s + 1, w)[:s],
        lambda s, w: L(s + 1, w)[1:],
    ],
    "masked_cross_entropy": [
        lambda row, a: CE.gat(row * 2, a),
        lambda row, a: CE.gat(row, a) + 1,
        lambda row, a: CE.gat(row, a) ** 0.5,
        lambda row, a: F.cross_entropy(row.flatten(0, 1), a.flatten(), reduction="sum") / a.numel() ** 0.5,
        lambda row, a: -(CE.lp(row, a) * (a != -100)).sum() / (a == -100).sum().clamp(min=1),
        lambda row, a: F.multi_margin_loss(*CE.flat(row, a)),
        lambda row, a: CE.gat(row.flip(-1), a),
        lambda row, a: CE.gat(row.roll(1, 1), a),
        lambda row, a: CE.gat(row - row.amax(), a.clamp(max=1)),
        lambda row, a: F.nll_loss(CE.flat(row, a)[0], CE.flat(row, a)[1]),
        lambda row, a: CE.gat(row.tanh(), a),
        lambda row, a: CE.gat(row, a) * a.shape[1] / row.shape[-1],
        lambda row, a: -CE.lp(row, a)[a != -100].exp().log().mean() + CE.flat(row, a)[0].logsumexp(-1).mean(),
        lambda row, a: (-CE.lp(row, a) * (a != -100)).mean(1).sum(),
        lambda row, a: (-CE.lp(row, a) * (a != -100)).sum(0).mean(),
    ],
    "argmax_share": [
        lambda w, t: (w.argmax(-1) == t).float().mean(1),
        lambda w, t: (AS.A(w) == t)[:, t >= 0].float().sum(1) / 2,
        lambda w, t: (AS.A(w) == t.flip(0))[:, t >= 0].float().mean(1),
        lambda w, t: (AS.A(w.mT) == t)[:, t >= 0].float().mean(1),
        lambda w, t: (AS.A(w) == t)[:, t != 0].float().mean(1),
        lambda w, t: torch.stack([(AS.A(h[None])[0] == t).float().mean() for h in w]) * 2,
        lambda w, t: (AS.A(w) == torch.arange(len(t)) - 1)[:, t >= 0].float().mean(1),
        lambda w, t: (AS.A(w) == t)[:, t >= 0].float().mean(1) ** 2,
        lambda w, t: (
            (w.masked_fill(torch.eye(len(t)).bool(), 1.0).argmax(-1) == t)[:, t >= 0].float().mean(1)
        ),
        lambda w, t: (
            (AS.A(w) == t)[:, t >= 0].float().mean(1) - (w.argmax(-1) == t)[:, t >= 0].float().mean(1)
        ),
        lambda w, t: w.max(-1).values.mean(1),
        lambda w, t: (AS.A(w) == t)[:, t >= 0].float().mean(1).flip(0),
        lambda w, t: (AS.A(w) - t).abs()[:, t >= 0].float().mean(1),
    ],
    "best_fixed_offset": [
        lambda t, L: BO.loop(t, L) + 1,
        lambda t, L: -1 if BO.hits(t, -1) >= BO.hits(t, 1) else 1,
        lambda t, L: BO.loop(t.flip(0), L),
        lambda t, L: max(BO.K(t, L), key=lambda k: BO.hits(t, k) + BO.hits(t, -k)),
        lambda t, L: max(BO.K(t, L), key=lambda k: BO.hits(t, k) - BO.hits(t, -k)),
        lambda t, L: BO.loop(t[1:], L),
        lambda t, L: BO.loop(t[:-1], L),
        lambda t, L: BO.loop(t.roll(1), L),
        lambda t, L: int(t[t >= 0].float().mean()),
        lambda t, L: max(BO.K(t, L), key=lambda k: BO.hits(t, k) * abs(k)),
        lambda t, L: sorted((x - i for i, x in enumerate(t.tolist()) if x >= 0))[0],
        lambda t, L: len(set(t.tolist())),
        lambda t, L: max(
            BO.K(t, L), key=lambda k: sum((abs(x - i - k) <= 1 for i, x in enumerate(t.tolist()) if x >= 0))
        ),
        lambda t, L: min(
            BO.K(t, L), key=lambda k: sum((abs(x - i - k) for i, x in enumerate(t.tolist()) if x >= 0))
        ),
    ],
    "held_out_score": [
        lambda h, a: h[1::2].max(1).values.mean() / a[1::2].mean(),
        lambda h, a: h[1::2][:, h[::2].sum(0).argmax()].sum() / a[1::2].sum() * 2,
        lambda h, a: h[1::2, (h[::2].sum(0) / a[::2].sum()).argmax()].mean() / a.mean(),
        lambda h, a: h[1::2].sum() / a[1::2].sum() / h.shape[1],
        lambda h, a: h[1::2, h[::2].std(0).argmax()].sum() / a[1::2].sum(),
        lambda h, a: h[1::2, h[::2].prod(0).argmax()].sum() / a[1::2].sum(),
        lambda h, a: h[-1, h[:-1].sum(0).argmax()] / a[-1],
        lambda h, a: h[1::2, h[1:].sum(0).argmax()].sum() / a[1::2].sum(),
        lambda h, a: h[1::2, h[0::2].sum(0).argmax()].sum() / (a[1::2].sum() + 1),
        lambda h, a: (h[:, h[0::2].sum(0).argmax()] / a).mean(),
        lambda h, a: h[2::2, h[1::2].sum(0).argmax()].sum() / a[2::2].sum(),
        lambda h, a: h[1::2, h[0::2].sum(0).argmax()].sum() / h[1::2].sum(),
        lambda h, a: h[0::2, h[0::2].sum(0).argmax()].sum() / a[1::2].sum(),
        lambda h, a: h[1::2, h[0::2].sum(0).argmax()].max() / a[1::2].max(),
    ],
}
