"""Answers far from anything listed, and strange on purpose: none may stay unnamed."""

from __future__ import annotations

import math

import torch

from tests.exercises.written.examined import offset_scores as OS
from tests.exercises.written.examined import shift_matrix as SM
from tests.exercises.written.examined import sinusoidal_encoding as SE
from tests.exercises.written.examined import warm_up_rates as WR

E = 1e-05
enc = SE.base
L = WR.L


def enc_loop_bug(n, d):
    pe = torch.zeros(n, d)
    for p in range(n):
        for i in range(d):
            w = 1 / 10000 ** (i / d)
            pe[p, i] = math.sin(p * w) if i % 2 == 0 else math.cos(p * w)
    return pe


def enc_first_only(n, d):
    pe = torch.zeros(n, d)
    pe[:, 0] = torch.arange(n).float().sin()
    pe[:, 1] = torch.arange(n).float().cos()
    return pe


STRANGE = {
    "sinusoidal_encoding": [
        enc_loop_bug,
        enc_first_only,
        lambda n, d: enc(n, d)[:, torch.randperm(d, generator=torch.Generator().manual_seed(0))],
        lambda n, d: enc(n, d) / math.sqrt(d / 2),
        lambda n, d: enc(n, d, freq=lambda j, d: 10000 ** (-(2 * j + 2) / d)),
        lambda n, d: enc(n, d, freq=lambda j, d: (2 * j / d) ** (-1) if j else 1),
        lambda n, d: enc(n, d, freq=lambda j, d: math.exp(-2 * j * math.log(10000)) / d if j else 1 / d),
        lambda n, d: enc(n, d, order=lambda a: (math.sin(a), math.cos(a + 1))),
        lambda n, d: enc(n, d, pos=lambda p, n: p // 2),
        lambda n, d: enc(n, d, angle=lambda p, w: p * w % 1),
        lambda n, d: enc(n, d).abs(),
        lambda n, d: enc(n, d, freq=lambda j, d: 10000 ** (-2 * j / d) if j < d // 2 - 1 else 0),
    ],
    "shift_matrix": [
        lambda k, f: SM.base(k, f, lambda c, s: [[c, s], [0, c]]),
        lambda k, f: SM.base(k, f) ** 2,
        lambda k, f: SM.base(k, f, ang=lambda k, f, j: k * f[j] + math.pi),
        lambda k, f: SM.base(k, f).abs(),
        lambda k, f: SM.base(k, f, ang=lambda k, f, j: f[j] ** 2 * k),
        lambda k, f: torch.block_diag(*[SM.base(k, f[j : j + 1]) for j in range(len(f) - 1)], torch.eye(2)),
        lambda k, f: SM.base(k, f, ang=lambda k, f, j: k * f[min(j + 1, len(f) - 1)]),
        lambda k, f: k * SM.base(1, f),
        lambda k, f: SM.base(1, f) ** k,
        lambda k, f: torch.kron(SM.base(k, f[:1]), torch.eye(len(f))),
        lambda k, f: SM.base(k, f, lambda c, s: [[s, -c], [c, s]]),
        lambda k, f: SM.base(k, f) * len(f),
        lambda k, f: SM.base(k, f, ang=lambda k, f, j: k * (j + 1) * f[j]),
    ],
    "position_kernel": [
        lambda m, f: torch.cos(m[:, None] * f[:-1]).sum(1) + 1,
        lambda m, f: torch.cos(m.abs()[:, None] ** 2 * f).sum(1),
        lambda m, f: (torch.cos(m[:, None] * f) * torch.sin(m[:, None] * f)).sum(1) * 2,
        lambda m, f: torch.stack([torch.cos((x - m[0]) * f).sum() for x in m]),
        lambda m, f: torch.cos(m[:, None] * f).mean(1) * 2 * len(f),
        lambda m, f: torch.cos(m[:, None] * f).sum(1).round(decimals=1),
        lambda m, f: torch.cos(m[:, None] * f).sum(1).relu(),
        lambda m, f: torch.cos(m[:, None] * f.sort().values[:2]).sum(1),
        lambda m, f: torch.cos(m[:, None] + m * 1.0)[:, :1].sum(1),
        lambda m, f: torch.sinc(m[:, None] * f).sum(1),
        lambda m, f: torch.cos(m[:, None] * f).var(1),
        lambda m, f: torch.cos(m[:, None] * f * len(f)).sum(1),
    ],
    "previous_token_queries": [
        lambda pe, t, b: b * pe.shape[1] ** 0.25 * pe @ t.T,
        lambda pe, t, b: b * math.sqrt(pe.shape[1]) * (pe @ t.T)[1:],
        lambda pe, t, b: b * math.sqrt(pe.shape[1]) * torch.linalg.solve(t, pe.T).T,
        lambda pe, t, b: b * math.sqrt(pe.shape[1]) * pe @ (t.T + torch.eye(len(t))),
        lambda pe, t, b: b * math.log(pe.shape[1]) * pe @ t.T,
        lambda pe, t, b: b * math.sqrt(pe.shape[1]) * (pe @ t.T).round(decimals=1),
        lambda pe, t, b: (b * math.sqrt(pe.shape[1]) * pe @ t.T).clamp(-1, 1),
        lambda pe, t, b: b * math.sqrt(pe.shape[1]) * torch.cat([pe[:1], (pe @ t.T)[1:]]),
        lambda pe, t, b: b * math.sqrt(pe.shape[1]) * pe @ t.T / len(pe),
        lambda pe, t, b: b * math.sqrt(pe.shape[1]) * pe @ torch.matrix_exp(t).T,
        lambda pe, t, b: b * b * math.sqrt(pe.shape[1]) * pe @ t,
        lambda pe, t, b: b * math.sqrt(pe.shape[1]) * (pe @ t.T).mean(0, keepdim=True).expand_as(pe),
    ],
    "offset_scores": [
        lambda w, o: (
            (w.argmax(-1) - torch.arange(w.shape[-1]) == o).float().mean(1) * w.shape[-1] / (w.shape[-1] - 1)
        ),
        lambda w, o: (
            (w.argmax(-1) == torch.arange(w.shape[-1]) + o)[:, : w.shape[-1] - abs(o)].float().mean(1)
        ),
        lambda w, o: (w.argmax(-1) == torch.arange(w.shape[-1]) + o)[:, abs(o) :].float().mean(1),
        lambda w, o: (w[:, 1:].argmax(-1) == torch.arange(w.shape[-1])[1:] + o).float().mean(1),
        lambda w, o: (w[:, :, 1:].argmax(-1) == torch.arange(w.shape[-1]) + o).float().mean(1),
        lambda w, o: ((w.argmax(-1) - torch.arange(w.shape[-1])).abs() <= abs(o)).float().mean(1),
        lambda w, o: torch.stack([(h.argmax(-1) == torch.arange(len(h)) + o).float().median() for h in w]),
        lambda w, o: (w.argmax(-1) == torch.arange(w.shape[-1]) + o).float().var(1),
        lambda w, o: (
            (w.round().argmax(-1) == torch.arange(w.shape[-1]) + o)[:, OS.live(w, o)].float().mean(1)
        ),
        lambda w, o: (w.mT.argmax(-1) == torch.arange(w.shape[-1]) - o)[:, OS.live(w, -o)].float().mean(1),
        lambda w, o: torch.stack([h.diagonal(o).max() for h in w]),
        lambda w, o: (
            (w.argmax(-1) == torch.arange(w.shape[-1]) + o)[:, OS.live(w, o)].float().mean(1).softmax(0)
        ),
    ],
}
