"""Known mistakes of LayerNorm and of the feed-forward part, as one changed step each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.exercise import Mistake

EPS = 1e-5
Step = Callable[..., Tensor]


def _root(x: Tensor, mean: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The right divisor: the root of the variance, with a small number inside."""
    return (_spread(x, mean, axes) + EPS).sqrt()


def _spread(x: Tensor, mean: Tensor, axes: tuple[int, ...]) -> Tensor:
    return ((x - mean) ** 2).mean(axes, keepdim=True)


def _take_off(x: Tensor, mean: Tensor) -> Tensor:
    return x - mean


def _gain_then_bias(z: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    return z * gain + bias


def norm_with(
    x: Tensor,
    gain: Tensor,
    bias: Tensor,
    *,
    axes: tuple[int, ...] = (2,),
    centre: Step = _take_off,
    divisor: Step = _root,
    finish: Step = _gain_then_bias,
) -> Tensor:
    """LayerNorm with the steps given; without any it is right."""
    mean = x.mean(axes, keepdim=True)
    return finish(centre(x, mean) / divisor(x, mean, axes), gain, bias)


def _unbiased(x: Tensor, mean: Tensor, axes: tuple[int, ...]) -> Tensor:
    return (x.var(axes, unbiased=True, keepdim=True) + EPS).sqrt()


def _root_mean_square(x: Tensor, mean: Tensor, axes: tuple[int, ...]) -> Tensor:
    return ((x**2).mean(axes, keepdim=True) + EPS).sqrt()


def _length(x: Tensor, mean: Tensor, axes: tuple[int, ...]) -> Tensor:
    return (((x - mean) ** 2).sum(axes, keepdim=True) + EPS).sqrt()


_NORM: tuple[tuple[str, dict[str, object], str, str], ...] = (
    (
        "unbiased-variance",
        {"divisor": _unbiased},
        "The squares are divided by d_model - 1. LayerNorm divides by d_model; `var` has an option for it.",
        "what the sum of squares is divided by.",
    ),
    (
        "mean-not-subtracted",
        {"centre": lambda x, mean: x},
        "The mean is not taken off: the result is divided by the right number, and lies elsewhere.",
        "what stands above the fraction.",
    ),
    (
        "root-mean-square",
        {"centre": lambda x, mean: x, "divisor": _root_mean_square},
        "This is RMSNorm: no mean is taken off, above or below. LayerNorm takes it off in both places.",
        "the mean of each token.",
    ),
    (
        "only-centred",
        {"divisor": lambda x, mean, axes: torch.ones_like(mean)},
        "The mean is taken off; nothing is divided.",
        "what makes tokens with large and with small numbers alike.",
    ),
    (
        "divided-by-the-variance",
        {"divisor": lambda x, mean, axes: _spread(x, mean, axes) + EPS},
        "It divides by the variance. Its root is the spread of the numbers.",
        "variance and standard deviation.",
    ),
    (
        "unit-length",
        {"divisor": _length},
        "Every token gets length 1: the squares are added up, not averaged. LayerNorm makes the spread 1.",
        "`sum` and `mean`.",
    ),
    (
        "over-the-tokens",
        {"axes": (1,)},
        "Mean and variance run over the tokens of a sentence. Each token is normalised by itself.",
        "the axis of mean and variance.",
    ),
    (
        "over-the-sentences",
        {"axes": (0,)},
        "Mean and variance run over the sentences of the batch. Each token is normalised by itself.",
        "the axis of mean and variance.",
    ),
    (
        "over-batch-and-tokens",
        {"axes": (0, 1)},
        "This is BatchNorm: each feature is normalised over all tokens. LayerNorm takes one token at a time.",
        "the axis of mean and variance.",
    ),
    (
        "over-the-whole-sentence",
        {"axes": (1, 2)},
        "One mean and one variance for all tokens of a sentence. Each token is normalised by itself.",
        "the axis of mean and variance.",
    ),
    (
        "over-everything",
        {"axes": (0, 1, 2)},
        "One mean and one variance for the whole batch. Each token is normalised by itself.",
        "the axis of mean and variance.",
    ),
    (
        "gain-left-out",
        {"finish": lambda z, gain, bias: z + bias},
        "The gain is left out.",
        "the last step: which two learned vectors are there?",
    ),
    (
        "bias-left-out",
        {"finish": lambda z, gain, bias: z * gain},
        "The bias is left out.",
        "the last step: which two learned vectors are there?",
    ),
    (
        "gain-and-bias-left-out",
        {"finish": lambda z, gain, bias: z},
        "Gain and bias are left out: the numbers are normalised, and stay so.",
        "the two learned vectors.",
    ),
    (
        "gain-and-bias-swapped",
        {"finish": lambda z, gain, bias: z * bias + gain},
        "Gain and bias have changed places: the gain multiplies, the bias is added.",
        "the last step.",
    ),
    (
        "bias-before-gain",
        {"finish": lambda z, gain, bias: (z + bias) * gain},
        "The bias is added first, so the gain multiplies it as well.",
        "the order of the last two operations.",
    ),
    (
        "gain-added",
        {"finish": lambda z, gain, bias: z + gain + bias},
        "The gain is added. It multiplies, feature by feature.",
        "the last step.",
    ),
    (
        "eps-outside-the-root",
        {"divisor": lambda x, mean, axes: _spread(x, mean, axes).sqrt() + EPS},
        (
            "The small number stands outside the root (as in the Annotated Transformer). Where a token's "
            "numbers are nearly equal that makes a difference."
        ),
        "what the root is taken of.",
    ),
    (
        "eps-left-out",
        {"divisor": lambda x, mean, axes: _spread(x, mean, axes).sqrt()},
        "The small number under the root is left out. A token whose numbers are all equal then gives 0/0.",
        "a variance of 0.",
    ),
)
NORM_MISTAKES = tuple(Mistake(i, partial(norm_with, **change), says, look) for i, change, says, look in _NORM)


def _as_it_is(x: Tensor) -> Tensor:
    return x


def _plus(x: Tensor, bias: Tensor) -> Tensor:
    return x + bias


def feed_with(
    x: Tensor,
    w_1: Tensor,
    b_1: Tensor,
    w_2: Tensor,
    b_2: Tensor,
    *,
    prepare: Step = _as_it_is,
    first: Step = _plus,
    bend: Step = torch.relu,
    late: Step = lambda inner, bias: inner,
    second: Step = _plus,
    finish: Step = lambda out, x: out,
) -> Tensor:
    """The feed-forward part with the steps given; without any it is right."""
    inner = late(bend(first(prepare(x) @ w_1, b_1)), b_1)
    return finish(second(inner @ w_2, b_2), x)


_FEED: tuple[tuple[str, dict[str, object], str, str], ...] = (
    (
        "no-relu",
        {"bend": _as_it_is},
        "Nothing stands between the two maps. Together they are one linear map, however wide the middle is.",
        "what happens to negative numbers.",
    ),
    (
        "relu-at-the-end-only",
        {"bend": _as_it_is, "finish": lambda out, x: out.relu()},
        "The ReLU stands behind the second map. It belongs between the two.",
        "where negative numbers become 0.",
    ),
    (
        "relu-at-the-end-too",
        {"finish": lambda out, x: out.relu()},
        "There is a second ReLU at the end: then the part could only ever add, never take away.",
        "the last step.",
    ),
    (
        "relu-on-the-input",
        {"prepare": torch.relu, "bend": _as_it_is},
        "The ReLU is applied to `x`. It belongs between the two maps.",
        "where negative numbers become 0.",
    ),
    (
        "first-bias-left-out",
        {"first": lambda z, bias: z},
        "The first bias is left out.",
        "what is added, and where.",
    ),
    (
        "second-bias-left-out",
        {"second": lambda z, bias: z},
        "The second bias is left out.",
        "what is added, and where.",
    ),
    (
        "first-bias-after-relu",
        {"first": lambda z, bias: z, "late": _plus},
        "The first bias is added behind the ReLU. Then it can't decide what is cut off.",
        "the order of bias and ReLU.",
    ),
    (
        "gelu",
        {"bend": F.gelu},
        "The bend is a GELU, as in BERT and GPT-2. The paper's is a ReLU.",
        "the function between the maps.",
    ),
    (
        "silu",
        {"bend": F.silu},
        "The bend is a SiLU (x times its sigmoid). The paper's is a ReLU.",
        "the function between the maps.",
    ),
    (
        "sigmoid",
        {"bend": torch.sigmoid},
        "The bend is a sigmoid. The paper's is a ReLU.",
        "the function between the maps.",
    ),
    (
        "tanh",
        {"bend": torch.tanh},
        "The bend is a tanh. The paper's is a ReLU.",
        "the function between the maps.",
    ),
    (
        "leaky",
        {"bend": F.leaky_relu},
        "Negative numbers are made small, not 0 (a leaky ReLU).",
        "what becomes of negative numbers.",
    ),
    (
        "absolute",
        {"bend": torch.abs},
        "Negative numbers lose their sign. They should become 0.",
        "what becomes of negative numbers.",
    ),
    (
        "negatives-kept",
        {"bend": lambda z: z.clamp(max=0)},
        "Negative numbers are kept, and positive ones become 0: the wrong half.",
        "`min` and `max`.",
    ),
    (
        "softmax-between",
        {"bend": lambda z: z.softmax(-1)},
        "A softmax stands between the maps. There it is a ReLU.",
        "the function between the maps.",
    ),
    (
        "residual-added",
        {"finish": lambda out, x: out + x},
        "The input is added. That is the residual connection around this part, and not the part itself.",
        "what is added at the end.",
    ),
    (
        "norm-in-front",
        {"prepare": lambda x: F.layer_norm(x, x.shape[-1:])},
        "The input is normalised first. LayerNorm stands around this part, not in it.",
        "the first step.",
    ),
)
FEED_MISTAKES = tuple(Mistake(i, partial(feed_with, **change), says, look) for i, change, says, look in _FEED)
