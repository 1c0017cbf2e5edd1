"""Plain questions about a gate, and about how many gates are open on average."""

from __future__ import annotations

from mha_course.exercises.reading.asked_plainly import Question, asked_plainly, plain

_LIMITS = "gamma = -0.2 and zeta = 1.4,"


def _gates() -> tuple[Question, ...]:
    def asked(asks: str, log_alpha: list[float], u: list[float], beta: float, look: str) -> Question:
        return Question(
            f"{asks} beta = {beta:g}, {_LIMITS}", (plain(log_alpha), plain(u), beta, -0.2, 1.4), look
        )

    return (
        asked("With log alpha 40 and -40, u = 1/2,", [40, -40], [0.5, 0.5], 1.0, "the two ends: the cut."),
        asked(
            "With log alpha 0, u = 1/2 (no noise, so the coin is 1/2),",
            [0, 0],
            [0.5, 0.5],
            1.0,
            "the stretch: the coin is 1/2, halfway from gamma to zeta.",
        ),
        asked(
            "With log alpha 0.4 and -0.4, u = 1/2,", [0.4, -0.4], [0.5, 0.5], 1.0, "log alpha in the sigmoid."
        ),
        asked("With log alpha 0.4 and -0.4, u = 1/2,", [0.4, -0.4], [0.5, 0.5], 2.0, "where beta is used."),
        asked("With log alpha 0, u = 0.4 and 0.6,", [0, 0], [0.4, 0.6], 1.0, "the noise made of u."),
        asked(
            "With log alpha 0.5 and -0.3, u = 0.4 and 0.6,", [0.5, -0.3], [0.4, 0.6], 2.0, "where all meet."
        ),
        Question(
            "With log alpha 0, u = 1/2, beta = 1, gamma = -0.5 and zeta = 1.1,",
            (plain([0, 0]), plain([0.5, 0.5]), 1.0, -0.5, 1.1),
            "where `gamma` and `zeta` are used.",
        ),
    )


def _open() -> tuple[Question, ...]:
    def asked(asks: str, log_alpha: list[list[float]], beta: float, zeta: float, look: str) -> Question:
        limits = f"beta = {beta:g}, gamma = -0.5 and zeta = {zeta:g},"
        return Question(f"{asks} {limits}", (plain(log_alpha), beta, -0.5, zeta), look)

    return (
        asked("With one gate, log alpha 40,", [[40]], 1.0, 1.5, "what an open gate adds: 1."),
        asked("With one gate, log alpha -40,", [[-40]], 1.0, 1.5, "what a closed gate adds: 0."),
        asked("With one gate, log alpha 0,", [[0]], 1.0, 1.5, "the logarithm and its signs: 3/4 is open."),
        asked("With one gate, log alpha 0,", [[0]], 1.0, 2.0, "what stands under the logarithm."),
        asked("With one gate, log alpha 0,", [[0]], 2.0, 1.5, "where `beta` is used."),
        asked("With one gate, log alpha 1,", [[1]], 1.0, 1.5, "log alpha under the sigmoid."),
        asked("With one gate, log alpha 1,", [[1]], 2.0, 1.5, "what `beta` multiplies, and what not."),
        asked(
            "With two heads, both with log alpha 0,", [[0, 0]], 1.0, 1.5, "what is done with several gates."
        ),
        asked(
            "With two layers of one gate, log alpha 0,", [[0], [0]], 1.0, 1.5, "what is done with the layers."
        ),
        asked(
            "With two layers of three gates, all with log alpha 0,",
            [[0] * 3] * 2,
            1.0,
            1.5,
            "which gates are added up.",
        ),
    )


GATE_PLAINLY = asked_plainly(_gates)
OPEN_PLAINLY = asked_plainly(_open)
