"""Pairs of settings whose costs the roofline model compares: predicted as a ratio, then measured as one.

The pairs were fixed before any of them was measured, and stand as they were. Each asks one question that the
model answers with a number: what does a longer text cost, a wider layer, a larger batch, more heads, fewer
key/value heads, a longer cache. Ratios, because they don't depend on the machine's peak and bandwidth alone,
only on which of the two is the limit and by how much.

What is compared is the sum over the stages of one layer, one thread, float32, operands from memory. Calls are
large enough that starting one (some microseconds) counts for little: the smallest layer here takes about
half a millisecond. The model leaves out: that a kernel rarely reaches the peak, least of all for narrow heads
and few rows; that an exponential costs more than five operations; that results may be found in a cache by the
next stage; and copies. So it is a bound from below, and the question is how well bounds compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mha_course import cost
from mha_course.models.own_machine import Setting, measured_seconds, predicted_seconds
from mha_course.sizes import check_sizes


@dataclass(frozen=True)
class Pair:
    """question: the second setting in words, set against the first; asked is second over first."""

    question: str
    first: Setting
    second: Setting


@dataclass(frozen=True)
class Compared:
    """A pair with its seconds by stage, predicted and measured, each for the first and the second setting."""

    pair: Pair
    predicted: tuple[Mapping[str, float], Mapping[str, float]]
    measured: tuple[Mapping[str, float], Mapping[str, float]]

    @property
    def predicted_ratio(self) -> float:
        """Seconds of the second over those of the first, as the model has them."""
        return self.predicted[1]["total"] / self.predicted[0]["total"]

    @property
    def measured_ratio(self) -> float:
        """The same as measured."""
        return self.measured[1]["total"] / self.measured[0]["total"]

    @property
    def off_by(self) -> float:
        """The factor between the two ratios, at least 1, whichever is larger."""
        quotient = self.predicted_ratio / self.measured_ratio
        return max(quotient, 1 / quotient)


def compare(pair: Pair, machine: cost.Machine, seconds: float = 0.03, rounds: int = 3) -> Compared:
    """Predict and measure one pair. The two settings take turns; the fastest try of each stage counts.

    seconds: for each stage and round. Raises: ValueError for rounds below 1.
    """
    check_sizes(rounds=rounds)
    settings = (pair.first, pair.second)
    tries = [[measured_seconds(one, seconds=seconds) for one in settings] for _ in range(rounds)]
    first, second = (_fastest(turn[i] for turn in tries) for i in range(2))
    predicted = [predicted_seconds(one, machine) for one in settings]
    return Compared(pair, (predicted[0], predicted[1]), (first, second))


def _fastest(tries: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The shortest time of every stage, and their total."""
    every = list(tries)
    stages = {name: min(one[name] for one in every) for name in every[0] if name != "total"}
    return stages | {"total": sum(stages.values())}


PAIRS = (
    # Reading a text: the products are large, and arithmetic should be the limit.
    Pair("four times the text", Setting(1, 192, 384, 6), Setting(1, 768, 384, 6)),
    Pair("twice the width", Setting(1, 384, 512, 8), Setting(1, 384, 1024, 8)),
    Pair("four times the batch", Setting(2, 320, 512, 8), Setting(8, 320, 512, 8)),
    Pair("one long text, not 16 short ones", Setting(16, 64, 512, 8), Setting(1, 1024, 512, 8)),
    Pair("half the text, twice the width", Setting(1, 1024, 256, 4), Setting(1, 512, 512, 4)),
    Pair("16 heads, not 2", Setting(1, 640, 512, 2), Setting(1, 640, 512, 16)),
    Pair("24 heads, not 4", Setting(1, 256, 768, 4), Setting(1, 256, 768, 24)),
    Pair("2 key/value heads, not 16", Setting(1, 512, 1024, 16), Setting(1, 512, 1024, 16, 2)),
    # Writing one token: every weight and every cached key is read for a few operations.
    Pair("eight times the cache", Setting(4, 1, 768, 12, None, 511), Setting(4, 1, 768, 12, None, 4095)),
    Pair(
        "32 requests, not one",
        Setting(1, 1, 1024, 16, None, 127),
        Setting(32, 1, 1024, 16, None, 127),
    ),
    Pair("16 requests, not 2", Setting(2, 1, 512, 8, None, 2047), Setting(16, 1, 512, 8, None, 2047)),
    Pair("twice the width, writing", Setting(1, 1, 1024, 16, None, 255), Setting(1, 1, 2048, 16, None, 255)),
    Pair("16 heads, not 4, writing", Setting(16, 1, 512, 4, None, 1023), Setting(16, 1, 512, 16, None, 1023)),
    Pair(
        "4 key/value heads, not 16, writing",
        Setting(8, 1, 1024, 16, None, 2047),
        Setting(8, 1, 1024, 16, 4, 2047),
    ),
    Pair(
        "2 key/value heads, not 12, writing",
        Setting(8, 1, 768, 12, None, 1535),
        Setting(8, 1, 768, 12, 2, 1535),
    ),
    Pair(
        "1 key/value head, not 12, writing",
        Setting(12, 1, 768, 12, None, 2047),
        Setting(12, 1, 768, 12, 1, 2047),
    ),
    # Between the two.
    Pair("a text read, not a token written", Setting(1, 1, 768, 12, None, 511), Setting(1, 512, 768, 12)),
    Pair("4 new tokens, not one", Setting(4, 1, 768, 12, None, 2047), Setting(4, 4, 768, 12, None, 2047)),
    Pair(
        "128 new tokens, not 16", Setting(1, 16, 1024, 16, None, 1023), Setting(1, 128, 1024, 16, None, 1023)
    ),
)
