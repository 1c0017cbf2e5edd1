"""cached_intensity as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import partial

import torch

from mha_course import cost


def counted(
    b,
    length,
    h,
    n_kv_heads,
    d_k,
    bytes_per_number,
    *,
    compute=lambda b, n, h, kv, d: 2 * 2 * b * h * n * d,
    ends=lambda b, n, h, kv, d: 2 * b * h * d,
    cache=lambda b, n, h, kv, d: 2 * b * kv * n * d,
    divide=lambda flops, numbers, s: flops / (numbers * s),
):
    sizes = (b, length, h, n_kv_heads, d_k)
    return divide(compute(*sizes), ends(*sizes) + cache(*sizes), bytes_per_number)


def looped(b, length, h, n_kv_heads, d_k, bytes_per_number, *, kv=None, a=2, moved=None, size=None, own=True):
    """Adds up request by request and head by head."""
    flops = numbers = 0
    for request in range(b):
        for _ in range(h):
            flops += a * length * d_k + a * d_k * length
            numbers += d_k + d_k + (moved(length) if moved else 0)
        if own or request == 0:
            for _ in range(kv(h, n_kv_heads) if kv else n_kv_heads):
                numbers += 2 * length * d_k
    return flops / (numbers * (bytes_per_number if size is None else size))


def formula(b, length, h, n_kv_heads, d_k, bytes_per_number):
    g = h / n_kv_heads
    return 2 / bytes_per_number * g / (1 + g / length)


def one_sequence(b, length, h, n_kv_heads, d_k, bytes_per_number):
    return counted(1, length, h, n_kv_heads, d_k, bytes_per_number)


def in_parts(b, length, h, n_kv_heads, d_k, bytes_per_number):
    scores = 2 * b * h * length * d_k
    weighted = 2 * b * h * length * d_k
    q = b * h * d_k
    k = v = b * n_kv_heads * length * d_k
    moved = sum(part * bytes_per_number for part in (q, k, v, q))
    return (scores + weighted) / moved


def in_a_tensor(b, length, h, n_kv_heads, d_k, bytes_per_number):
    return torch.tensor(formula(b, length, h, n_kv_heads, d_k, bytes_per_number))


def of_shapes(b, length, h, n_kv_heads, d_k, bytes_per_number):
    shapes = [(b, h, 1, d_k), (b, n_kv_heads, length, d_k), (b, n_kv_heads, length, d_k), (b, h, 1, d_k)]
    numbers = sum(torch.Size(shape).numel() for shape in shapes)
    return 4 * torch.Size((b, h, length, d_k)).numel() / numbers / bytes_per_number


def by_stage_costs(b, length, h, n_kv_heads, d_k, bytes_per_number):
    stages = cost.stage_costs(b, 1, h * d_k, h, n_kv_heads, length - 1, bytes_per_number, fused=True)
    return stages["attention"].intensity


def each(of, by=lambda x, b, n, h, kv, d, s: x):
    """A right number with something done to it."""
    return lambda b, n, h, kv, d, s: by(of(b, n, h, kv, d, s), b, n, h, kv, d, s)


def as_a_fraction(b, length, h, n_kv_heads, d_k, bytes_per_number):
    numbers = 2 * b * h * d_k + 2 * b * n_kv_heads * length * d_k
    return Fraction(4 * b * h * length * d_k, numbers * bytes_per_number)


def as_a_decimal(b, length, h, n_kv_heads, d_k, bytes_per_number):
    fraction = as_a_fraction(b, length, h, n_kv_heads, d_k, bytes_per_number)
    return Decimal(fraction.numerator) / fraction.denominator


WRONG = [
    ("half-the-flops", partial(counted, compute=lambda b, n, h, kv, d: 2 * b * h * n * d)),
    ("half-the-flops", partial(looped, a=1)),
    ("keys-for-every-head", partial(looped, kv=lambda h, kv: h)),
    ("keys-for-every-head", lambda b, n, h, kv, d, s: formula(b, n, h, h, d, s)),
    ("flops-of-key-heads", partial(counted, compute=lambda b, n, h, kv, d: 4 * b * kv * n * d)),
    ("flops-of-key-heads", lambda b, n, h, kv, d, s: 4 * n * kv * d / (s * (2 * h * d + 2 * kv * n * d))),
    ("values-left-out", partial(counted, cache=lambda b, n, h, kv, d: b * kv * n * d)),
    ("values-left-out", lambda b, n, h, kv, d, s: 4 * h * n / (s * (h + kv * n + h))),
    ("only-the-cache", partial(counted, ends=lambda *sizes: 0)),
    ("only-the-cache", lambda b, n, h, kv, d, s: 2 / s * h / kv),
    ("outputs-left-out", partial(counted, ends=lambda b, n, h, kv, d: b * h * d)),
    ("outputs-left-out", lambda b, n, h, kv, d, s: 4 * h * n / (h + 2 * kv * n) / s),
    ("scores-moved", partial(looped, moved=lambda n: 2 * n)),
    ("scores-moved", partial(counted, ends=lambda b, n, h, kv, d: 2 * b * h * (d + n))),
    ("softmax-moved", partial(looped, moved=lambda n: 4 * n)),
    ("softmax-moved", partial(counted, ends=lambda b, n, h, kv, d: b * h * (2 * d + 4 * n))),
    ("softmax-counted", partial(counted, compute=lambda b, n, h, kv, d: b * h * n * (4 * d + 5))),
    ("softmax-counted", lambda b, n, h, kv, d, s: h * n * (4 * d + 5) / (2 * h * d + 2 * kv * n * d) / s),
    ("per-number", partial(counted, divide=lambda flops, numbers, s: flops / numbers)),
    ("per-number", partial(looped, size=1)),
    ("times-the-bytes", partial(counted, divide=lambda flops, numbers, s: flops / numbers * s)),
    ("times-the-bytes", each(formula, lambda x, b, n, h, kv, d, s: x * s**2)),
    ("bytes-per-flop", partial(counted, divide=lambda flops, numbers, s: numbers * s / flops)),
    ("bytes-per-flop", each(formula, lambda x, *sizes: 1 / x)),
    ("in-bits", partial(counted, divide=lambda flops, numbers, s: flops / (8 * numbers * s))),
    ("in-bits", lambda b, n, h, kv, d, s: formula(b, n, h, kv, d, 8 * s)),
    ("batch-shares-the-cache", partial(looped, own=False)),
    ("batch-shares-the-cache", partial(counted, cache=lambda b, n, h, kv, d: 2 * kv * n * d)),
    (
        "bytes-of-one-sequence",
        lambda b, n, h, kv, d, s: 4 * b * h * n * d / (s * (2 * h * d + 2 * kv * n * d)),
    ),
    ("bytes-of-one-sequence", each(formula, lambda x, b, n, h, kv, d, s: b * x)),
    ("group-for-key-heads", partial(looped, kv=lambda h, kv: h // kv)),
    ("group-for-key-heads", lambda b, n, h, kv, d, s: counted(b, n, h, h // kv, d, s)),
    ("every-token-asks", partial(counted, compute=lambda b, n, h, kv, d: 4 * b * h * n * n * d)),
    ("every-token-asks", each(formula, lambda x, b, n, h, kv, d, s: x * n)),
    ("whole-numbers", partial(counted, divide=lambda flops, numbers, s: flops // (numbers * s))),
    ("whole-numbers", each(in_parts, lambda x, *sizes: int(x))),
]

RIGHT = [
    counted,
    looped,
    formula,
    one_sequence,
    in_parts,
    in_a_tensor,
    of_shapes,
    as_a_fraction,
    as_a_decimal,
]

UNLISTED = [
    ("own is among the `length`", lambda b, n, h, kv, d, s: formula(b, n + 1, h, kv, d, s)),
    ("own is among", partial(counted, compute=lambda b, n, h, kv, d: 4 * b * h * (n + 1) * d)),
    ("is among the `length`", partial(counted, cache=lambda b, n, h, kv, d: 2 * b * kv * (n + 1) * d)),
    ("doubled once too often", partial(looped, a=4)),
    ("those of one sequence", partial(counted, compute=lambda b, n, h, kv, d: 4 * h * n * d)),
    ("those of one head", partial(counted, compute=lambda b, n, h, kv, d: 4 * b * n * d)),
    ("lack `d_k`", partial(counted, compute=lambda b, n, h, kv, d: 4 * b * h * n)),
    ("for the key heads only", partial(counted, ends=lambda b, n, h, kv, d: 2 * b * kv * d)),
    ("for all tokens", partial(counted, ends=lambda b, n, h, kv, d: 2 * b * h * n * d)),
    ("counted for one head", partial(counted, cache=lambda b, n, h, kv, d: 2 * b * n * d)),
    ("not divided by anything", partial(counted, divide=lambda flops, numbers, s: flops)),
    ("twice the", lambda b, n, h, kv, d, s: formula(b, n, h, kv, d, s) + b),
    ("those of one sequence", lambda b, n, h, kv, d, s: formula(b, n, h, kv, d, s) / b),
    ("very long cache of plain heads", lambda b, n, h, kv, d, s: 2 / s),
    ("`length` . 1 keys", lambda b, n, h, kv, d, s: formula(b, n + 1, h, kv, d, s)),
    ("4 bytes", lambda b, n, h, kv, d, s: formula(b, n, h, kv, d, 4)),
    ("d - 1 additions", lambda b, n, h, kv, d, s: _exact(b, n, h, kv, d, s)),
    ("cut off at 1", lambda *sizes: min(formula(*sizes), 1.0)),
    ("course's own", by_stage_costs),
]


def _exact(b, n, h, kv, d, s):
    flops = b * h * n * (2 * d - 1) + b * h * d * (2 * n - 1)
    return flops / (s * (2 * b * h * d + 2 * b * kv * n * d))
