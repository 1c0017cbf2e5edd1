"""What it saves to take heads out for good, and what it doesn't to hold them at zero: parameters, FLOPs,
bytes and seconds, counted and measured.

    >>> from mha_course.models import load_course_model
    >>> from mha_course.models.pruning_saved import model_savings
    >>> [(row.what, row.parameters, row.milliseconds) for row in model_savings(load_course_model(), gates)]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn

from mha_course.heads.gating import FixedGates, gated
from mha_course.heads.pruning import attention_size, pruned_layer, pruned_model
from mha_course.layers import MultiHeadAttention
from mha_course.models.gloss_model import GlossModel
from mha_course.models.one_thread import one_thread
from mha_course.models.own_machine import shortest
from mha_course.sizes import check_sizes

ROUNDS = 3
WHOLE, HELD_AT_ZERO, TAKEN_OUT = "all heads", "heads held at zero", "heads taken out"


@dataclass(frozen=True)
class SavingsRow:
    """One of three ways to run the same model or layer.

    what: "all heads", "heads held at zero" or "heads taken out". heads: that are computed. parameters: of the
    attention layers; all_parameters: with everything else. flops: of the attention layers for the input that
    is timed. bytes: of all parameters in single precision. milliseconds: of the shortest try, on one thread.
    difference: the largest one to the output of the heads held at zero, as a share of its largest number.
    """

    what: str
    heads: int
    parameters: int
    all_parameters: int
    flops: int
    bytes: int
    milliseconds: float
    difference: float


def model_savings(
    model: GlossModel, gates: Sequence[Tensor], b: int = 32, n: int = 16, seconds: float = 0.3
) -> tuple[SavingsRow, SavingsRow, SavingsRow]:
    """A course model whole, with gates on it, and with the closed heads taken out.

    gates: for each layer (h,), fixed numbers. b, n: sequences of word ids that are timed. seconds: spent on
    each row. Raises: ValueError for gates that don't fit, and for sizes below 1.
    """
    check_sizes(b=b, n=n)
    first = len(model.vocabulary) - 1
    ids = torch.randint(2, first, (b, n), generator=Generator().manual_seed(0))
    small = pruned_model(model, gates).eval()

    def answer(one: nn.Module) -> Callable[[], Tensor]:
        return lambda: torch.cat([part.flatten() for part in one(ids).values()])

    return _rows(model, small, [FixedGates(gate) for gate in gates], answer, b, n, seconds)


def layer_savings(
    layer: MultiHeadAttention, gate: Tensor, b: int = 4, n: int = 128, seconds: float = 0.3
) -> tuple[SavingsRow, SavingsRow, SavingsRow]:
    """The same of one attention layer, of any size: with larger ones the fixed costs weigh less.

    gate: (h,). Input: x (b, n, d_model), random. Raises: ValueError as `model_savings`.
    """
    check_sizes(b=b, n=n)
    x = torch.randn(b, n, layer.d_model, generator=Generator().manual_seed(0)).to(layer.w_q.weight.dtype)
    return _rows(
        layer, pruned_layer(layer, gate), [FixedGates(gate)], lambda one: lambda: one(x), b, n, seconds
    )


@torch.no_grad()
def _rows(
    whole: nn.Module,
    small: nn.Module,
    gates: Sequence[nn.Module],
    answer: Callable[[nn.Module], Callable[[], Tensor]],
    b: int,
    n: int,
    seconds: float,
) -> tuple[SavingsRow, SavingsRow, SavingsRow]:
    ways = {WHOLE: (whole, False), HELD_AT_ZERO: (whole, True), TAKEN_OUT: (small, False)}
    times, given = dict.fromkeys(ways, float("inf")), {}
    with one_thread():
        for _ in range(ROUNDS):  # in turn, so that a busy moment of the machine hits all of them
            for what, (model, held) in ways.items():
                with gated(model, gates) if held else nullcontext():
                    given[what] = answer(model)()
                    times[what] = min(times[what], 1_000 * shortest(answer(model), seconds / ROUNDS))
    expected = given[HELD_AT_ZERO]
    apart = {what: float((y - expected).abs().max() / expected.abs().max()) for what, y in given.items()}
    return tuple(_row(what, model, times[what], apart[what], b, n) for what, (model, _) in ways.items())


def _row(what: str, model: nn.Module, milliseconds: float, apart: float, b: int, n: int) -> SavingsRow:
    attention = attention_size(model, n, b)
    every = sum(parameter.numel() for parameter in model.parameters())
    return SavingsRow(
        *(what, attention.heads, attention.parameters, every, attention.flops, 4 * every),
        *(milliseconds, apart),
    )
