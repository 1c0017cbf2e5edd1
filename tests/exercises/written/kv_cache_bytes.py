"""kv_cache_bytes as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import torch

from mha_course import cost


def looped(b, length, d_model, h, n_kv_heads, n_layers, bytes_per_number, *, heads=None, each=2, d=None):
    """Adds up layer by layer and head by head."""
    d_k = d(d_model, h, n_kv_heads) if d else d_model // h
    total = 0
    for _ in range(n_layers):
        for _ in range(heads(h, n_kv_heads) if heads else n_kv_heads):
            total += each * length * d_k
    return total * b * bytes_per_number


def product(b, length, d_model, h, n_kv_heads, n_layers, bytes_per_number, *, less=(), more=(), factor=2):
    sizes = {
        "b": b,
        "length": length,
        "heads": n_kv_heads,
        "layers": n_layers,
        "bytes": bytes_per_number,
        "d_k": d_model // h,
    }
    taken = [size for name, size in sizes.items() if name not in less]
    return factor * math.prod(taken) * math.prod(sizes[name] for name in more)


def of_a_tensor(b, length, d_model, h, n_kv_heads, n_layers, bytes_per_number):
    cache = torch.empty(n_layers, 2, b, n_kv_heads, length, d_model // h, device="meta")
    return cache.numel() * bytes_per_number


def by_token(b, length, d_model, h, n_kv_heads, n_layers, bytes_per_number):
    token = 2 * n_kv_heads * (d_model // h) * bytes_per_number
    return b * length * n_layers * token


def by_plain_heads(b, length, d_model, h, n_kv_heads, n_layers, bytes_per_number):
    plain = 2 * b * length * d_model * n_layers * bytes_per_number
    return plain * n_kv_heads // h


def in_two_parts(b, length, d_model, h, n_kv_heads, n_layers, bytes_per_number):
    keys = b * n_layers * n_kv_heads * length * (d_model // h)
    values = keys
    return (keys + values) * bytes_per_number


def width_first(b, length, d_model, h, n_kv_heads, n_layers, bytes_per_number):
    width = d_model * n_kv_heads // h
    return bytes_per_number * sum(width + width for _ in range(n_layers)) * length * b


WRONG = [
    ("keys-only", partial(looped, each=1)),
    ("keys-only", partial(product, factor=1)),
    ("every-query-head", partial(looped, heads=lambda h, kv: h)),
    ("every-query-head", lambda b, n, d, h, kv, layers, s: 2 * b * n * d * layers * s),
    ("every-query-head", partial(looped, d=lambda d, h, kv: d // kv)),
    ("one-head", partial(looped, heads=lambda h, kv: 1)),
    ("one-head", partial(product, less=("heads",))),
    ("full-width", partial(looped, d=lambda d, h, kv: d)),
    ("full-width", lambda b, n, d, h, kv, layers, s: 2 * b * n * d * kv * layers * s),
    ("one-layer", lambda b, n, d, h, kv, layers, s: by_token(b, n, d, h, kv, 1, s)),
    ("one-layer", partial(product, less=("layers",))),
    ("one-sequence", lambda b, n, d, h, kv, layers, s: by_token(1, n, d, h, kv, layers, s)),
    ("one-sequence", partial(product, less=("b",))),
    ("one-token", lambda b, n, d, h, kv, layers, s: looped(b, 1, d, h, kv, layers, s)),
    ("one-token", partial(product, less=("length",))),
    ("numbers-not-bytes", lambda b, n, d, h, kv, layers, s: 2 * b * n * layers * kv * (d // h)),
    ("numbers-not-bytes", partial(product, less=("bytes",))),
    ("bits", partial(product, factor=16)),
    ("bits", lambda b, n, d, h, kv, layers, s: 8 * by_token(b, n, d, h, kv, layers, s)),
    ("length-squared", partial(product, more=("length",))),
    ("length-squared", lambda b, n, d, h, kv, layers, s: looped(b, n * n, d, h, kv, layers, s)),
    ("whole-width-kept", lambda b, n, d, h, kv, layers, s: b * n * d * layers * s),
    ("whole-width-kept", partial(looped, heads=lambda h, kv: h, each=1)),
    ("group-for-key-heads", partial(looped, heads=lambda h, kv: h // kv)),
    ("group-for-key-heads", lambda b, n, d, h, kv, layers, s: by_token(b, n, d, h, h // kv, layers, s)),
    (
        "queries-kept",
        lambda b, n, d, h, kv, layers, s: b * n * layers * s * (d + 2 * kv * (d // h)),
    ),
    (
        "queries-kept",
        lambda b, n, d, h, kv, layers, s: looped(b, n, d, h, kv, layers, s) + b * n * d * layers * s,
    ),
    ("queries-at-kv-width", partial(looped, each=3)),
    ("queries-at-kv-width", partial(product, factor=3)),
    ("float-division", lambda b, n, d, h, kv, layers, s: 2 * b * n * kv * d / h * layers * s),
    ("float-division", lambda *sizes: Fraction(product(*sizes))),
    ("float-division", partial(looped, d=lambda d, h, kv: d / h)),
]

RIGHT = [looped, product, of_a_tensor, by_token, by_plain_heads, in_two_parts, width_first]

UNLISTED = [
    ("in GiB, 1,073,741,824 bytes", lambda *sizes: product(*sizes) / 2**30),
    ("in GiB", lambda *sizes: product(*sizes) // 1024**3),
    ("in MiB", lambda *sizes: round(product(*sizes) / 1024 / 1024)),
    ("in KiB", lambda *sizes: product(*sizes) >> 10),
    ("in GB, 1,000,000,000 bytes", lambda *sizes: product(*sizes) / 1e9),
    ("in MB", lambda *sizes: int(product(*sizes) / 1e6)),
    ("in kB", lambda *sizes: round(product(*sizes) / 1000)),
    (
        "off by 32 of .*too few digits",
        lambda *sizes: int(np.float32(product(*sizes)) * np.float32(1.0000001)),
    ),
    ("off by 30 of", lambda *sizes: product(*sizes) + 30 * (product(*sizes) > 10**8)),
    ("course's own", cost.kv_cache_bytes),
    ("takes part squared", partial(product, more=("layers",))),
    ("`b` takes part squared", partial(product, more=("b",))),
    ("`h` takes part not at all", lambda b, n, d, h, kv, layers, s: 2 * b * n * d * kv * layers * s**2),
    ("4 times what it should be", partial(product, factor=8)),
    ("With twice the", lambda b, n, d, h, kv, layers, s: 2 * b * n * (kv + d // h) * layers * s),
    ("With twice the", lambda b, n, d, h, kv, layers, s: product(b, n, d, h, kv, layers, s) + d * d),
    (
        "`bytes_per_number` takes part as a divisor",
        lambda b, n, d, h, kv, layers, s: _over(b, n, d, h, kv, layers, s),
    ),
    ("is 0", lambda b, n, d, h, kv, layers, s: 2 * b * n * layers * s * (h // d)),
    ("2 things|tuple", lambda b, n, d, h, kv, layers, s: (by_token(b, n, d, h, kv, layers, s), "bytes")),
    ("in MB", lambda b, n, d, h, kv, layers, s: by_token(b, n, d, h, kv, layers, s) / 1e6),
    ("negative", lambda *sizes: -by_token(*sizes)),
    ("`length` takes part", lambda b, n, d, h, kv, layers, s: product(b, n, d, h, kv, layers, s) // n**2),
    ("no .*function|not an id|one whole number", lambda *sizes: f"{by_token(*sizes)} bytes"),
]


def _over(b, n, d, h, kv, layers, s):
    return 2 * b * n * layers * kv * (d // h) // s
