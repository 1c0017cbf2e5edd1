"""Attention beside a recurrent layer of the same width: FLOPs and seconds for texts of several lengths.

Attention has 8 n d^2 + 4 n^2 d FLOPs in matrix products, a recurrent layer 4 n d^2 times 1 for an RNN, 3 for
a GRU, 4 for an LSTM. So a plain RNN always has fewer, a GRU beyond n = d, an LSTM beyond n = 2 d. But the
products of a recurrent layer wait for each other and have b rows each; those of attention have b n.
Source: Vaswani et al. 2017, table 1 (which leaves out attention's projections); gates: Cho et al. 2014.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import nn

from mha_course import cost
from mha_course.layers import MultiHeadAttention
from mha_course.models.one_thread import one_thread
from mha_course.models.own_machine import shortest
from mha_course.sizes import check_sizes

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent_flops(n: int, d_model: int, gates: int = 1, b: int = 1) -> int:
    """FLOPs of the matrix products of a recurrent layer whose state is as wide as its input: 4 b n gates d^2.

    Each gate has two square products a token, one of the input and one of the state before.
    Raises: ValueError for sizes below 1.
    """
    check_sizes(n=n, d_model=d_model, gates=gates, b=b)
    return 4 * b * n * gates * d_model**2


@dataclass(frozen=True)
class Raced:
    """One length of text. flops and seconds of one forward pass, each by "attention", "RNN" and "GRU"."""

    n: int
    flops: Mapping[str, int]
    seconds: Mapping[str, float]


@torch.no_grad()
def race(
    lengths: Iterable[int] = (16, 64, 256, 1024, 2048),
    d_model: int = 64,
    h: int = 4,
    b: int = 1,
    seconds: float = 0.1,
) -> list[Raced]:
    """Time the three layers on texts (b, n, d_model), one thread. seconds: for each layer and length.

    Raises: ValueError for sizes that no such layer can have.
    """
    layers: dict[str, nn.Module] = {
        "attention": MultiHeadAttention(d_model, h),
        "RNN": nn.RNN(d_model, d_model, bias=False, batch_first=True),
        "GRU": nn.GRU(d_model, d_model, bias=False, batch_first=True),
    }
    g, found = torch.Generator().manual_seed(0), []
    with one_thread():
        for n in lengths:
            x = torch.randn(b, n, d_model, generator=g)
            flops = {"attention": cost.attention_flops(n, d_model, h, b)["total"]}
            flops |= {name: recurrent_flops(n, d_model, GATES[name], b) for name in ("RNN", "GRU")}
            times = {name: shortest(lambda f=f, x=x: f(x), seconds) for name, f in layers.items()}
            found.append(Raced(n, flops, times))
    return found
