"""Known mistakes of `gated_output`: which numbers a gate meets, what is made of it, and concat as ever."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise
from mha_course.exercises.mistakes.workbench import merge, merge_interleaved, merge_without_transpose

Step = Callable[..., Any]


def gate_heads(heads: Tensor, gates: Tensor) -> Tensor:
    """Each head times its own gate."""
    return heads * gates[:, None, None]


def gated_output_with(
    heads: Tensor,
    w_o: Tensor,
    gates: Tensor,
    *,
    gate: Step = lambda gates: gates,
    scale: Step = gate_heads,
    join: Step = merge,
    behind: Step = lambda concat, gates: concat,
    fuse: Step = lambda concat, w_o: concat @ w_o,
    finish: Step = lambda output, gates: output,
) -> Tensor:
    """Heads times gates, concat, W_O with the steps given; right without any: (b, n, d_model)."""
    used = gate(gates)
    concat = behind(join(scale(heads, used)), used)
    return finish(fuse(concat, w_o), used)


def unscaled(heads: Tensor, gates: Tensor) -> Tensor:
    """No gate at all."""
    return heads


def in_turn(concat: Tensor, gates: Tensor) -> Tensor:
    """Feature j of concat meets gate j % h."""
    return concat * gates.repeat(concat.shape[-1] // len(gates))


_with = partial(Otherwise, gated_output_with)

GATED_OUTPUT_MISTAKES = (
    Mistake(
        "gates-ignored",
        _with(scale=unscaled),
        "The gates do nothing: every head speaks in full.",
        "where `gates` is used.",
    ),
    Mistake(
        "open-or-closed",
        _with(gate=lambda gates: (gates > 0).to(gates.dtype)),
        "A gate only opens or closes here: every gate above 0 counts as 1.",
        "comparisons with 0.",
    ),
    Mistake(
        "rounded",
        _with(gate=lambda gates: (gates > 0.5).to(gates.dtype)),
        "Gates are rounded to 0 or 1. Each head is multiplied by the gate as it is.",
        "`round`, and comparisons.",
    ),
    Mistake(
        "one-minus-gate",
        _with(gate=lambda gates: 1 - gates),
        "Heads are multiplied by 1 minus their gate: open heads fall silent, and closed ones speak.",
        "what a gate of 1 does.",
    ),
    Mistake(
        "gated-twice",
        _with(gate=lambda gates: gates**2),
        "Each gate works twice, as when heads and rows of W_O are both multiplied by it.",
        "how often `gates` is used.",
    ),
    Mistake(
        "gates-sum-to-one",
        _with(gate=lambda gates: gates / gates.sum()),
        "Gates are divided by their sum. They are no shares: each head has its own, whatever the others do.",
        "a division.",
    ),
    Mistake(
        "softmax-of-gates",
        _with(gate=lambda gates: gates.softmax(-1)),
        "A softmax is taken of the gates. Then none is 0, and they compete.",
        "`softmax`.",
    ),
    Mistake(
        "sigmoid-of-gates",
        _with(gate=lambda gates: gates.sigmoid()),
        "A sigmoid is taken of the gates, which are gates already. Then a closed one is 1/2.",
        "`sigmoid`.",
    ),
    Mistake(
        "gates-added",
        _with(scale=lambda heads, gates: heads + gates[:, None, None]),
        "Gates are added to the heads. A head whose gate is 0 then still speaks in full.",
        "`+` and `*`.",
    ),
    Mistake(
        "mean-gate",
        _with(gate=lambda gates: gates.mean().expand_as(gates)),
        "All heads are multiplied by the mean gate. Each has its own.",
        "means over `gates`.",
    ),
    Mistake(
        "made-up-for",
        _with(finish=lambda output, gates: output / gates.mean()),
        "The result is divided by the mean gate, as dropout makes up for what it drops. Gates don't.",
        "the last division.",
    ),
    Mistake(
        "gates-in-turn",
        _with(scale=unscaled, behind=in_turn),
        "Behind concat the gates take turns, feature by feature. There the d_v = {d_v} features of a head "
        "stand next to one another.",
        "`repeat` and `repeat_interleave`.",
    ),
    Mistake(
        "gates-of-others",
        _with(gate=lambda gates: gates.flip(0)),
        "The gates are in reverse order: the first head gets the last gate.",
        "the order of the heads.",
    ),
    Mistake(
        "no-transpose",
        _with(join=merge_without_transpose),
        "Heads are reshaped without bringing tokens to the front, so rows of concat mix tokens.",
        "concat: which axis has to stand where before the last two become one.",
    ),
    Mistake(
        "features-alternate",
        _with(join=merge_interleaved),
        "In concat the features of the heads alternate. A head's features stand together.",
        "concat: the order of the last two axes.",
    ),
    Mistake(
        "no-fusion",
        _with(fuse=lambda concat, w_o: concat),
        "This is the gated concat, of width h · d_v. W_O has not been used.",
        "the last step.",
    ),
    Mistake(
        "w_o-transposed",
        _with(fuse=lambda concat, w_o: concat @ w_o.T),
        "Concat is multiplied by W_O transposed. That fits only where W_O is square.",
        "`.T`.",
    ),
)
