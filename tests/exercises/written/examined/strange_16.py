"""Answers of lesson 16 far from anything listed, and strange on purpose: none may stay unnamed."""

from __future__ import annotations

import torch

from tests.exercises.written import allowed_keys as AK
from tests.exercises.written import encoder_block as EB
from tests.exercises.written import frugal_attention as FA
from tests.exercises.written import whole_attention as WA


def after(run, change):
    """A right answer, changed."""
    return lambda *given: change(run(*given))


def before(run, change):
    """A right answer to another x."""
    return lambda x, *given: run(change(x), *given)


def seeded():
    return torch.Generator().manual_seed(3)


def other_parts(change):
    """A right block with other weights."""
    return lambda x, parts, h, allowed: EB.RIGHT[0](x, change(dict(parts)), h, allowed)


OF_A_LAYER = (
    torch.sqrt,
    torch.tanh,
    lambda y: y * y.abs().sum(-1, keepdim=True),
    lambda y: y - y.mean(1, keepdim=True),
    lambda y: y.cumsum(-1),
    lambda y: y.flip(0),
    lambda y: y.roll(2, 1),
    lambda y: y / y.amax(),
    lambda y: y + torch.arange(y.shape[1])[:, None],
)
OF_INPUTS = (
    lambda x: x / x.shape[-1] ** 0.5,
    lambda x: x.roll(1, -1),
    lambda x: x.flip(1),
    lambda x: x.softmax(-1),
    lambda x: x + x.mean(0, keepdim=True),
)

STRANGE = {
    "allowed_keys": [
        lambda lengths, n: AK.right(lengths // 2, n),
        lambda lengths, n: AK.right(lengths.cumsum(0) % (n + 1), n),
        lambda lengths, n: AK.right(lengths, n) & (torch.arange(n) % 2 == 0),
        lambda lengths, n: AK.right(lengths, n) & (torch.arange(n)[:, None] % 2 == 0),
        lambda lengths, n: AK.right(lengths, n) | AK.right(lengths.flip(0), n),
        lambda lengths, n: AK.right(lengths, n).roll(1, -1),
        lambda lengths, n: AK.right(lengths, n).roll(1, -2),
        lambda lengths, n: AK.right(lengths, n).unsqueeze(0),
        lambda lengths, n: AK.right(lengths, n).reshape(1, -1, n, n),
        lambda lengths, n: AK.right(lengths, n + 1),
        lambda lengths, n: AK.right(lengths, n).nonzero(),
        lambda lengths, n: lengths,
        lambda lengths, n: torch.zeros(len(lengths), 1, n, n, dtype=torch.bool),
        lambda lengths, n: AK.tril(n) & (torch.arange(n) < lengths.float().mean()),
    ],
    "whole_attention": [
        *(after(WA.folded, change) for change in OF_A_LAYER),
        *(before(WA.folded, change) for change in OF_INPUTS),
        lambda x, q, k, v, o, h, m: WA.folded(x, q, k, v, o, h, m.mT.clone()),
        lambda x, q, k, v, o, h, m: WA.folded(x, q, k, v, o, 1, m),
        lambda x, q, k, v, o, h, m: WA.folded(x, q, k.flip(1), v, o, h, m),
        lambda x, q, k, v, o, h, m: torch.rand(x.shape, generator=seeded()),
    ],
    "frugal_attention": [
        *(after(FA.collected, change) for change in OF_A_LAYER),
        *(before(FA.collected, change) for change in OF_INPUTS),
        lambda x, q, k, v, o, h, m, rows: FA.collected(x, q, k, v, o, h, m.roll(1, 2), rows),
        lambda x, q, k, v, o, h, m, rows: FA.collected(x, q, k, v, o, h, m.roll(rows, 2), rows),
        lambda x, q, k, v, o, h, m, rows: FA.collected(x, q, k, v, o, rows, m, rows),
        lambda x, q, k, v, o, h, m, rows: torch.rand(x.shape, generator=seeded()),
    ],
    "encoder_block": [
        *(after(EB.RIGHT[0], change) for change in OF_A_LAYER),
        *(before(EB.RIGHT[0], change) for change in OF_INPUTS),
        other_parts(lambda p: p | {"w_1": p["w_1"] / 2}),
        other_parts(lambda p: p | {"gain_1": p["gain_2"]}),
        other_parts(lambda p: p | {"w_v": p["w_o"], "w_o": p["w_v"]}),
        lambda x, parts, h, allowed: torch.rand(x.shape, generator=seeded()),
    ],
}
