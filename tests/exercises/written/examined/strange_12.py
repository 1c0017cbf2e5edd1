"""Answers to lesson 12 far from anything listed, and strange on purpose: none may stay unnamed."""

from __future__ import annotations

import math

import torch

from tests.exercises.written import expected_open as EO
from tests.exercises.written import gated_output as GO
from tests.exercises.written import hard_concrete_gate as HC
from tests.exercises.written import head_at_its_mean as HM
from tests.exercises.written import head_confidence as CO
from tests.exercises.written import head_importance as IM
from tests.exercises.written import prune_heads as PR

out, put, mean, sure, weigh, cut = (
    GO.by_einsum,
    HM.put,
    HM.by_sums,
    CO.masked,
    IM.by_einsum,
    PR.by_view,
)


def gate(a, u, beta, gamma, zeta, **options):
    return HC.by_logit(a, u, beta, gamma, zeta, **options)


def opened(a, beta, gamma, zeta, **options):
    return EO.by_tensors(a, beta, gamma, zeta, **options)


STRANGE = {
    "gated_output": [
        lambda x, w, g: out(x, w, g) + 1,
        lambda x, w, g: out(x, w, g) ** 2,
        lambda x, w, g: out(x, w, g.cumsum(0)),
        lambda x, w, g: out(x, w, g.cumprod(0)),
        lambda x, w, g: out(x.cumsum(2), w, g),
        lambda x, w, g: out(x.softmax(-1), w, g),
        lambda x, w, g: out(x - x.mean(-1, keepdim=True), w, g),
        lambda x, w, g: out(x, w.flip(1), g),
        lambda x, w, g: out(x, w, g * torch.arange(1, len(g) + 1)),
        lambda x, w, g: out(x, w, g) / math.sqrt(x.shape[-1]),
        lambda x, w, g: out(x, w, g).transpose(1, 2),
        lambda x, w, g: out(x, w, g)[:1],
        lambda x, w, g: torch.nn.functional.normalize(out(x, w, g), dim=-1),
        lambda x, w, g: out(x, w, g).round(decimals=1),
        lambda x, w, g: out(x.roll(1, 2), w, g),
        lambda x, w, g: out(x.flip(3), w, g),
        lambda x, w, g: out(x, w, g.clamp(min=0.2)),
    ],
    "head_at_its_mean": [
        lambda x, r, i: mean(x, r, i) + 1,
        lambda x, r, i: -mean(x, r, i),
        lambda x, r, i: mean(x, r, i).flip(1),
        lambda x, r, i: put(x, i, x[:, i].cumsum(1)),
        lambda x, r, i: put(x, i, x[:, i][r].mean(0).flip(0)),
        lambda x, r, i: put(x, i, x[:, i][r].pow(2).mean(0).sqrt()),
        lambda x, r, i: put(x, i, x[:, i][r][0]),
        lambda x, r, i: put(x, i, x[:, i][r][-1]),
        lambda x, r, i: put(x, i, torch.nn.functional.normalize(x[:, i][r].mean(0), dim=0)),
        lambda x, r, i: put(x, i, 2 * x[:, i][r].mean(0)),
        lambda x, r, i: put(x, i, x[:, i][r].mean(0) / len(x)),
        lambda x, r, i: mean(x, r, i)[:, :, 0],
        lambda x, r, i: put(x, i, x[:, i][r].abs().mean(0)),
        lambda x, r, i: put(x, i, x[:, i].flip(1)),
        lambda x, r, i: put(x, i, x[:, i][r].mean(0).round()),
        lambda x, r, i: mean(x, r, i).transpose(1, 2),
    ],
    "head_importance": [
        lambda h, s: weigh(h, s) + 1,
        lambda h, s: -weigh(h, s),
        lambda h, s: weigh(h, s).flip(0),
        lambda h, s: weigh(h, s).cumsum(0),
        lambda h, s: weigh(h.roll(1, 0), s),
        lambda h, s: weigh(h.roll(1, 1), s),
        lambda h, s: weigh(h.relu(), s),
        lambda h, s: weigh(h, s.sign()),
        lambda h, s: weigh(h, s) * h.shape[3] ** 0.5,
        lambda h, s: weigh(h, s).exp(),
        lambda h, s: weigh(h, s).log2(),
        lambda h, s: weigh(h, s).round(decimals=1),
        lambda h, s: weigh(h[:, :, 1:], s[:, :, 1:]),
        lambda h, s: weigh(h[1:], s[1:]) if len(h) > 1 else weigh(h, s),
        lambda h, s: (h * s).sum((2, 3)).abs().mean(0, keepdim=True),
        lambda h, s: (h + s).abs().mean((0, 2, 3)),
        lambda h, s: (h * s).sum((2, 3)).tanh().abs().mean(0),
    ],
    "head_confidence": [
        lambda w, n: sure(w, n) + 1,
        lambda w, n: sure(w, n).flip(0),
        lambda w, n: sure(w.sqrt(), n),
        lambda w, n: sure(w, n).round(decimals=1),
        lambda w, n: sure(w, n) * w.shape[-1],
        lambda w, n: sure(w.roll(1, -1), n),
        lambda w, n: sure(w, n - 1),
        lambda w, n: sure(w.flip(-1), n),
        lambda w, n: sure(w.cumsum(-1), n),
        lambda w, n: sure(w.tril(), n),
        lambda w, n: sure(w, torch.full_like(n, w.shape[-1])),
        lambda w, n: sure(w[:1], n[:1]),
        lambda w, n: sure(w.log().exp2().nan_to_num(), n),
        lambda w, n: torch.stack([CO.cut(a[None], b[None]) for a, b in zip(w, n, strict=True)]),
        lambda w, n: (w.amax(-1) > 0.5).float().mean((0, 2)),
        lambda w, n: sure(w, n).expand(w.shape[0], -1),
    ],
    "hard_concrete_gate": [
        lambda a, u, beta, g, z: gate(a, u, beta, g, z) + 1,
        lambda a, u, beta, g, z: -gate(a, u, beta, g, z),
        lambda a, u, beta, g, z: gate(a.flip(-1), u, beta, g, z),
        lambda a, u, beta, g, z: gate(a, 1 - u, beta, g, z),
        lambda a, u, beta, g, z: gate(a, u.sqrt(), beta, g, z),
        lambda a, u, beta, g, z: gate(a / 2, u, beta, g, z),
        lambda a, u, beta, g, z: gate(a, u, beta + 1, g, z),
        lambda a, u, beta, g, z: gate(a, u, 0.33, -0.1, 1.1),
        lambda a, u, beta, g, z: gate(a, u, beta, 2 * g, z),
        lambda a, u, beta, g, z: gate(a, u, beta, g, z + 1),
        lambda a, u, beta, g, z: gate(a, u, beta, g, z) ** 2,
        lambda a, u, beta, g, z: (u < torch.sigmoid(a)).float(),
        lambda a, u, beta, g, z: (u > torch.sigmoid(a)).float(),
        lambda a, u, beta, g, z: torch.sigmoid(a),
        lambda a, u, beta, g, z: gate(a, u, beta, g, z).sum(),
        lambda a, u, beta, g, z: gate(a, torch.rand_like(u), beta, g, z),
        lambda a, u, beta, g, z: gate(a, u, beta, g, z).round(decimals=1),
    ],
    "expected_open": [
        lambda a, beta, g, z: opened(a, beta, g, z) + 1,
        lambda a, beta, g, z: opened(a, beta, g, z) ** 2,
        lambda a, beta, g, z: opened(a, beta, g, z) * beta,
        lambda a, beta, g, z: opened(a, beta, g, z) / a.shape[0],
        lambda a, beta, g, z: opened(a, 0.33, -0.1, 1.1),
        lambda a, beta, g, z: opened(a, 2 * beta, g, z),
        lambda a, beta, g, z: opened(a, beta, z - 2, z),
        lambda a, beta, g, z: opened(a / 2, beta, g, z),
        lambda a, beta, g, z: opened(-a, beta, g, z),
        lambda a, beta, g, z: opened(a.exp(), beta, g, z),
        lambda a, beta, g, z: float(a.numel()),
        lambda a, beta, g, z: 0.0,
        lambda a, beta, g, z: opened(a, beta, g, z).sqrt(),
        lambda a, beta, g, z: opened(a.flatten()[:2], beta, g, z),
        lambda a, beta, g, z: torch.sigmoid(a).sum() * (z - g),
        lambda a, beta, g, z: torch.sigmoid(a).sum() * (z - g) + g,
        lambda a, beta, g, z: torch.sigmoid(a / beta).sum(),
    ],
    "prune_heads": [
        lambda q, k, v, o, h, kept: tuple(w + 1 for w in cut(q, k, v, o, h, kept)),
        lambda q, k, v, o, h, kept: tuple(-w for w in cut(q, k, v, o, h, kept)),
        lambda q, k, v, o, h, kept: tuple(w.flip(0) for w in cut(q, k, v, o, h, kept)),
        lambda q, k, v, o, h, kept: tuple(w.flip(1) for w in cut(q, k, v, o, h, kept)),
        lambda q, k, v, o, h, kept: cut(q, k, v, o, h, kept)[0],
        lambda q, k, v, o, h, kept: torch.cat(cut(q, k, v, o, h, kept)[:3], 1),
        lambda q, k, v, o, h, kept: [cut(q, k, v, o, h, kept)],
        lambda q, k, v, o, h, kept: cut(q, k, v, o, h, [max(kept)]),
        lambda q, k, v, o, h, kept: cut(q, k, v, o, h, [0, *kept]),
        lambda q, k, v, o, h, kept: cut(q, k, v, o, h, kept * 2),
        lambda q, k, v, o, h, kept: cut(q, k, v, o, h, list(range(max(kept)))),
        lambda q, k, v, o, h, kept: (*cut(q, k, v, o, h, kept)[:3], o[: len(kept)]),
        lambda q, k, v, o, h, kept: dict(zip("qkvo", cut(q, k, v, o, h, kept), strict=True)),
        lambda q, k, v, o, h, kept: (*cut(q, k, v, o, h, kept)[:3], None),
        lambda q, k, v, o, h, kept: tuple(w * len(kept) / h for w in cut(q, k, v, o, h, kept)),
        lambda q, k, v, o, h, kept: tuple(w.round(decimals=1) for w in cut(q, k, v, o, h, kept)),
    ],
}
