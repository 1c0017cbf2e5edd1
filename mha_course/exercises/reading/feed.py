"""What a wrong feed-forward part did: another bend, a bias done otherwise, something before or behind."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.mistakes.workbench import once
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

Step = Callable[..., Tensor]


def feed_with(
    x: Tensor,
    w_1: Tensor,
    b_1: Tensor,
    w_2: Tensor,
    b_2: Tensor,
    *,
    before: Step = lambda x, w: x,
    up: Step = torch.matmul,
    first: Step = torch.add,
    bend: Step = torch.relu,
    late: Step = lambda inner, b_1: inner,
    down: Step = torch.matmul,
    second: Step = lambda out, b_2, w_2: out + b_2,
    finish: Step = lambda out, x: out,
) -> Tensor:
    """The feed-forward part with the steps given; without any it is right: (b, n, d_model)."""
    inner = once(first, once(up, once(before, x, w_1), w_1), b_1)
    inner = once(late, once(bend, inner), b_1)
    return finish(once(second, once(down, inner, w_2), b_2, w_2), x)


_BENDS = (
    Way("Nothing stands between the two maps.", lambda z: z),
    Way("Between the maps the sign is lost.", torch.abs),
    rare("Between the maps positive numbers become 0: the wrong half.", lambda z: z.clamp(max=0)),
    rare("Between the maps stands a softplus. The paper's is a ReLU.", F.softplus),
    rare(
        "Between the maps stands 1 for a positive number and 0 for a negative one: a step, not a ReLU.",
        lambda z: (z > 0).to(z.dtype),
    ),
    rare("Between the maps numbers are cut off above 6 (ReLU6).", F.relu6),
    rare("Between the maps numbers are cut off above 1.", lambda z: z.clamp(0, 1)),
    rare("Between the maps numbers are cut off at -1 and 1.", lambda z: z.clamp(-1, 1)),
    rare("Between the maps numbers below 1 become 1: the limit of the ReLU is 0.", lambda z: z.clamp(min=1)),
    rare("The ReLU's sign is turned round behind it.", lambda z: -z.relu()),
    rare("The ReLU is taken of the numbers with their sign turned round.", lambda z: (-z).relu()),
    rare("Between the maps stands a softmax over the features.", lambda z: z.softmax(-1)),
    rare("Between the maps stands a softmax over the tokens.", lambda z: z.softmax(-2)),
    rare(
        "Between the maps stands a GELU by its tanh formula. The paper's is a ReLU.",
        lambda z: F.gelu(z, approximate="tanh"),
    ),
    Way("Between the maps stands a GELU.", F.gelu),
    Way("Between the maps stands a sigmoid.", torch.sigmoid),
    rare("Between the maps stands a tanh.", torch.tanh),
    rare("Between the maps stands a SiLU.", F.silu),
    Way("Between the maps stands a leaky ReLU.", F.leaky_relu),
    rare("Between the maps stands a leaky ReLU with 0.1.", lambda z: F.leaky_relu(z, 0.1)),
    rare("Between the maps stands a leaky ReLU with 0.2.", lambda z: F.leaky_relu(z, 0.2)),
    rare("Between the maps stands a SELU.", F.selu),
    rare("Between the maps stands a Mish.", F.mish),
    rare("Between the maps stands a hard swish.", F.hardswish),
    rare("Between the maps stands an exponential.", torch.exp),
    rare("Between the maps numbers are squared, without a ReLU.", torch.square),
    rare("Between the maps stands a sine.", torch.sin),
    rare("Between the maps stands the sign of the numbers.", torch.sign),
    rare(
        "Between the maps stands a LayerNorm behind the ReLU.", lambda z: F.layer_norm(z.relu(), z.shape[-1:])
    ),
)
_FIRSTS = (
    Way("The first bias is left out.", lambda z, b: z),
    Way("The first bias is taken off; it should be added.", torch.sub),
    Way("The first bias is a factor; it should be added.", torch.mul),
    rare("The first bias is added twice.", lambda z, b: z + 2 * b),
    rare("The sum of the first bias is added to every feature.", lambda z, b: z + b.sum()),
    rare("The mean of the first bias is added to every feature.", lambda z, b: z + b.mean()),
    rare("The first entry of the first bias is added to every feature.", lambda z, b: z + b[0]),
    rare("The first bias stands in reverse order.", lambda z, b: z + b.flip(0)),
    rare("The first map is divided by the root of d_ff.", lambda z, b: z / z.shape[-1] ** 0.5 + b),
    rare("Only the first bias is left of the first map.", lambda z, b: b.expand_as(z)),
)
_LATES = (
    Way("The first bias is added behind the bend.", torch.add),
    Way("The first bias is a factor behind the bend.", torch.mul),
    rare("Behind the bend everything is divided by d_ff.", lambda z, b: z / len(b)),
    rare("Behind the bend everything is divided by the root of d_ff.", lambda z, b: z / len(b) ** 0.5),
    rare("Behind the bend features stand in reverse order.", lambda z, b: z.flip(-1)),
)
_SECONDS = (
    Way("The second bias is left out.", lambda out, b, w: out),
    Way("The second bias is taken off; it should be added.", lambda out, b, w: out - b),
    Way("The second bias is a factor; it should be added.", lambda out, b, w: out * b),
    rare("The second bias is added twice.", lambda out, b, w: out + 2 * b),
    rare("The sum of the second bias is added to every feature.", lambda out, b, w: out + b.sum()),
    rare("The mean of the second bias is added to every feature.", lambda out, b, w: out + b.mean()),
    rare("The first entry of the second bias is added to every feature.", lambda out, b, w: out + b[0]),
    rare("The second bias stands in reverse order.", lambda out, b, w: out + b.flip(0)),
    rare(
        "Before the second bias is added, the numbers are divided by d_ff: a sum, not a mean, is wanted.",
        lambda out, b, w: out / len(w) + b,
    ),
    rare(
        "Before the second bias is added, the numbers are divided by the root of d_ff.",
        lambda out, b, w: out / len(w) ** 0.5 + b,
    ),
    Way(
        "Before the second bias is added, the numbers are divided by the root of d_model.",
        lambda out, b, w: out / w.shape[1] ** 0.5 + b,
    ),
    rare("Only the second bias is left.", lambda out, b, w: b.expand_as(out)),
)
_BEFORES = (
    Way("The ReLU is applied to x.", lambda x, w: x.relu()),
    Way("x is normalised first (LayerNorm).", lambda x, w: F.layer_norm(x, x.shape[-1:])),
    rare("x is divided by the root of d_model first.", lambda x, w: x / x.shape[-1] ** 0.5),
    rare("x is multiplied by the root of d_model first.", lambda x, w: x * x.shape[-1] ** 0.5),
    rare("The first map is divided by the root of d_model.", lambda x, w: x / x.shape[-1] ** 0.5),
    rare(
        "The tokens of a sentence are averaged first. Each is worked on alone.",
        lambda x, w: x.mean(1, keepdim=True).expand_as(x),
    ),
    rare(
        "The sentences are averaged first. Each is worked on alone.",
        lambda x, w: x.mean(0, keepdim=True).expand_as(x),
    ),
    rare("The first token stands for all.", lambda x, w: x[:, :1].expand_as(x)),
    rare("The last token stands for all.", lambda x, w: x[:, -1:].expand_as(x)),
    rare(
        "Numbers of different tokens are mixed first: turned, then cut into rows again.",
        lambda x, w: x.transpose(1, 2).reshape(x.shape),
    ),
    rare("A softmax is taken of x first.", lambda x, w: x.softmax(-1)),
)
_UPS = (
    Way("The ReLU is applied to the first matrix.", lambda x, w: x @ w.relu()),
    rare("The rows of the first matrix stand in reverse order.", lambda x, w: x @ w.flip(0)),
    rare("The columns of the first matrix stand in reverse order.", lambda x, w: x @ w.flip(1)),
)
_DOWNS = (
    Way("The ReLU is applied to the second matrix.", lambda z, w: z @ w.relu()),
    rare("The rows of the second matrix stand in reverse order.", lambda z, w: z @ w.flip(0)),
    rare("The columns of the second matrix stand in reverse order.", lambda z, w: z @ w.flip(1)),
)
_FINISHES = (
    Way("A second ReLU stands at the end.", lambda out, x: out.relu()),
    Way("x is added at the end. That is the residual connection around this part.", lambda out, x: out + x),
    Way(
        "x is added and everything is normalised. That is the residual connection with LayerNorm around it.",
        lambda out, x: F.layer_norm(out + x, x.shape[-1:]),
    ),
    rare(
        "The result is normalised (LayerNorm). That stands around this part.",
        lambda out, x: F.layer_norm(out, x.shape[-1:]),
    ),
    rare("x is a factor at the end.", lambda out, x: out * x),
    rare("x is taken off at the end.", lambda out, x: out - x),
    Way("A GELU stands at the end.", lambda out, x: F.gelu(out)),
    rare("The result is divided by the root of d_model.", lambda out, x: out / x.shape[-1] ** 0.5),
)
FEED = Recipe(
    feed_with,
    (
        Slot("bend", "the function between the maps.", _BENDS),
        Slot("first", "the first map and its bias.", _FIRSTS),
        Slot("second", "the second map and its bias.", _SECONDS),
        Slot("before", "the first step.", _BEFORES),
        Slot("late", "what happens between bend and second map.", _LATES),
        Slot("up", "the first map.", _UPS),
        Slot("down", "the second map.", _DOWNS),
        Slot("finish", "the last step.", _FINISHES),
    ),
)
