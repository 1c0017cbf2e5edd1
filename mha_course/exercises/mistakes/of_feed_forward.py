"""Known mistakes of the feed-forward part, as one changed step each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.exercise import Mistake

Step = Callable[..., Tensor]


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
        "elu",
        {"bend": F.elu},
        "Negative numbers are bent towards -1 (an ELU). They should become 0.",
        "what becomes of negative numbers.",
    ),
    (
        "squared",
        {"bend": lambda z: z.relu() ** 2},
        "What the ReLU lets through is squared.",
        "what happens between the two maps.",
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
