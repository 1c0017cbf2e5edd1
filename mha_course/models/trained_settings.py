"""What is known about the trained settings: accuracy with its spread over training runs, and roles."""

from __future__ import annotations

import contextlib
import statistics
from dataclasses import dataclass

from mha_course.heads.role_names import HeadLabel, head_labels
from mha_course.models.course_models import MAIN, Card, card_of, trained_settings
from mha_course.models.training_records import forming
from mha_course.text.course_language.gloss import PARTS


@dataclass(frozen=True)
class Accuracy:
    """A share of right answers over training runs that differ in their seed only: mean, lowest, highest."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        # The mean of equal numbers may differ from them in its last bits: rounded first, printed then.
        mean, low, high = (f"{100 * round(share, 6):.1f}" for share in (self.mean, self.low, self.high))
        return f"{mean} % ({low} to {high})"


def settings_with_models() -> tuple[tuple[int, int], ...]:
    """All (d_model, h) with a trained model; none when the folder of the models is missing."""
    try:
        return trained_settings()
    except FileNotFoundError:
        return ()


def accuracy_by_part(card: Card) -> dict[str, Accuracy]:
    """For each part of the gloss the share of right answers on held-out sentences, over all seeds."""
    shares = {part: [run["accuracy"][part] for run in card.seeds] for part in PARTS}
    return {part: Accuracy(statistics.fmean(row), min(row), max(row)) for part, row in shares.items()}


def mean_accuracy(card: Card) -> Accuracy:
    """The mean over the four parts, over all seeds."""
    row = [statistics.fmean(run["accuracy"][part] for part in PARTS) for run in card.seeds]
    return Accuracy(statistics.fmean(row), min(row), max(row))


def labels_of(card: Card) -> tuple[HeadLabel, ...]:
    """One label a head, layer after layer, for the model that is kept: that of the first seed.

    Of the main model every head that passes a role is named, of the others the best head of each role.
    """
    passed = ()
    if card.sizes == MAIN:
        with contextlib.suppress(FileNotFoundError):
            passed = forming()[-1].heads
    return head_labels(card.seeds[0]["roles"], card.sizes.n_layers, card.sizes.h, passed)


def nearest_settings(d_model: int, h: int, count: int = 2) -> tuple[tuple[int, int], ...]:
    """The trained settings that come nearest to the one asked for: width first, then heads."""
    known = settings_with_models()
    return tuple(sorted(known, key=lambda s: (abs(s[0] - d_model), abs(s[1] - h)))[:count])


def trained_card(d_model: int, h: int) -> Card | None:
    """The card of a setting, None without a trained model."""
    return card_of(d_model, h) if (d_model, h) in settings_with_models() else None
