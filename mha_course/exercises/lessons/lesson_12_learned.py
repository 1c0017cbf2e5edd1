"""Exercises of lesson 12, on gates that are learned: one draw, and how many are open on average."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_gates import GATE_MISTAKES
from mha_course.exercises.mistakes.of_open_gates import OPEN_MISTAKES
from mha_course.exercises.reading.gates import GATES
from mha_course.exercises.reading.never import never
from mha_course.exercises.reading.open_gates import OPEN_GATES
from mha_course.exercises.reading.plain_gates import GATE_PLAINLY, OPEN_PLAINLY
from mha_course.exercises.reading.whole_numbers import counted_by


def hard_concrete_gate(log_alpha: Tensor, u: Tensor, beta: float, gamma: float, zeta: float) -> Tensor:
    """A smooth coin, stretched to (gamma, zeta) and cut off at 0 and 1: the shape of log_alpha."""
    s = torch.sigmoid((u.log() - (1 - u).log() + log_alpha) / beta)
    # A sigmoid never reaches 0 or 1. What is stretched beyond them is cut off, and so is exactly 0 or 1.
    return (s * (zeta - gamma) + gamma).clamp(0, 1)


def expected_open(log_alpha: Tensor, beta: float, gamma: float, zeta: float) -> Tensor:
    """The sum of P(gate != 0) over all gates: (layers, h) -> one number."""
    # Gamma lies below 0, so with the minus there is a positive number under the logarithm.
    shift = beta * math.log(-gamma / zeta)
    return torch.sigmoid(log_alpha - shift).sum()


def drawn_noise(g: Generator, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers over all of (0, 1), none too near the ends, in no order."""
    count = math.prod(shape)
    spread = (torch.randperm(count, generator=g) + 0.5 * torch.rand(count, generator=g) + 0.25) / count
    return (0.04 + 0.92 * spread).reshape(shape).to(dtype)


def _gate_inputs(g: Generator) -> list[Case]:
    def case(label: str, shape: tuple[int, ...], limits: tuple[float, ...], **options: object) -> Case:
        dtype = options.pop("dtype", torch.float32)
        log_alpha, u = draw(g, *shape, dtype=dtype), drawn_noise(g, *shape, dtype=dtype)
        sizes = dict(zip(("layers", "h")[-len(shape) :], shape, strict=True))
        return Case(label, (log_alpha, u, *limits), sizes, **options)

    return [
        case("with the constants of Voita's code", (12,), (0.33, -0.1, 1.1)),
        case("with a temperature of 2/3", (9,), (2 / 3, -0.1, 1.1)),
        case("with gates of several layers", (3, 5), (0.5, -0.3, 1.2)),
        case("with a temperature above 1", (11,), (1.6, -0.2, 1.4)),
        case("in float64", (2, 4), (0.4, -0.15, 1.1), dtype=torch.float64, required=False),
    ]


def _open_inputs(g: Generator) -> list[Case]:
    def case(label: str, shape: tuple[int, int], limits: tuple[float, ...], **options: object) -> Case:
        log_alpha = draw(g, *shape, spread=1.7, dtype=options.pop("dtype", torch.float32))
        return Case(label, (log_alpha, *limits), dict(zip(("layers", "h"), shape, strict=True)), **options)

    return [
        case("with the constants of Voita's code", (2, 8), (0.33, -0.1, 1.1)),
        case("with a temperature of 2/3", (3, 4), (2 / 3, -0.1, 1.1)),
        case("with other limits", (4, 6), (0.5, -0.35, 1.2)),
        case("with a temperature above 1", (5, 3), (1.4, -0.2, 1.5)),
        case("in float64", (2, 5), (0.25, -0.15, 1.1), dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="hard_concrete_gate",
        lesson="12",
        title="A gate that can close for good",
        prompt=(
            "`log_alpha` and `u` have one number a gate, u between 0 and 1. First a smooth coin, s = "
            "sigmoid((ln u - ln(1 - u) + log alpha) / beta). Stretch it from (0, 1) to (gamma, zeta), where "
            "gamma is below 0 and zeta above 1. Then cut off what lies below 0 or above 1."
        ),
        signature="hard_concrete_gate(log_alpha, u, beta, gamma, zeta) -> gate",
        reference=hard_concrete_gate,
        inputs=_gate_inputs,
        returns=(Returned("gate", ("h",)),),
        mistakes=GATE_MISTAKES,
        hints=(
            "Three steps, one a line: coin, stretch, cut. Print the smallest and the largest after each.",
            "A way from 0 to 1 becomes one from gamma to zeta: times its length, plus its start.",
            (
                "s = sigmoid of (logit of u + log_alpha), all of it divided by beta\n"
                "s times the length from gamma to zeta, plus gamma\ncut off at 0 and at 1"
            ),
        ),
        why=(
            "Noise makes the gate try both, and the slope at log alpha tells which was better. Cut off ends "
            "give zeros that are zeros, so that a head can be taken out in the end."
        ),
        special=never(
            Returned("gate", ("h",)),
            "Every gate is 0: all of it lies below 0 when it is cut off, or the cut is turned round.",
            "what stands in front of the cut, and its signs.",
        ),
        reads=counted_by(
            GATES,
            "Gates are compared with a limit: open or closed, whole numbers. Between the two ends a gate "
            "keeps its value, and its slope.",
            "comparisons, `round`, and conversions.",
        ),
        readers=(GATES.read, GATE_PLAINLY),
    ),
    Exercise(
        name="expected_open",
        lesson="12",
        title="The price of open gates",
        prompt=(
            "A gate is open where it isn't exactly 0, and that has the probability sigmoid(log alpha - beta "
            "ln(-gamma / zeta)). `log_alpha` is `(layers, h)`. Return how many gates are open on average, "
            "one number."
        ),
        signature="expected_open(log_alpha, beta, gamma, zeta) -> expected",
        reference=expected_open,
        inputs=_open_inputs,
        returns=(Returned("expected", (), kind="share"),),
        mistakes=OPEN_MISTAKES,
        hints=(
            "An average number of open gates is a sum: each gate adds the probability that it is open.",
            "`math.log` takes numbers, `torch.sigmoid` tensors. Which sign has `-gamma / zeta`?",
            "shift = beta times the logarithm of -gamma over zeta\nsigmoid of log_alpha minus shift\nthe sum",
        ),
        why=(
            "How many gates are open has no slope: a count jumps. Its average over the noise has one, and so "
            "gradient descent can push it down."
        ),
        reads=counted_by(
            OPEN_GATES,
            "Gates are counted, by a limit or all of them: a whole number. Each should add the chance that "
            "it is open; the sum of chances has a slope, and a count has none.",
            "comparisons: nothing is counted here, probabilities are added up.",
        ),
        readers=(OPEN_GATES.read, OPEN_PLAINLY),
    ),
)
