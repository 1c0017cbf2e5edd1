"""A row of the leaderboard, trained again to be watched: the recorded recipe, a report after every update."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field

from mha_course.models.digit_model import DigitModel
from mha_course.models.gloss_model import GlossModel
from mha_course.sizes import check_sizes
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training.gloss_batches import gloss_data
from mha_course.training.leaderboard import ROWS, Row, Setting, held_out_loss, model_of, train_row
from mha_course.training.live import DRAWN_AT_ONCE, LARGEST_SEED, steps_asked_for
from mha_course.training.record import TESTING_SEED, TRAINING_SEED, held_out
from mha_course.training.record_leaderboard import TESTED
from mha_course.training.train_digits import (
    DIGIT_ROWS,
    DigitSetting,
    digit_model_of,
    digits_right,
    train_digits,
)
from mha_course.training.train_gloss import accuracy

LOOK = {"gloss": Setting().look, "digits": 50}  # updates between two looks at the held-out loss
STEPS = {"gloss": Setting().recipe.steps, "digits": DigitSetting().steps}
TASK_ROWS = {"gloss": ROWS, "digits": DIGIT_ROWS}


@dataclass(frozen=True)
class RowSettings:
    """What is trained. task: "gloss" or "digits"; variant, h: the row; seed: of weights and batches.

    steps: updates. A shorter run is the beginning of a whole one, and learns at the same rates.
    Raises: ValueError for a row that the task hasn't, and for seeds and steps that can't be.
    """

    task: str = "gloss"
    variant: str = "plain"
    h: int = 8
    seed: int = 0
    steps: int = 0

    def __post_init__(self) -> None:
        if self.task not in TASK_ROWS:
            raise ValueError(f"task={self.task!r}: {' or '.join(map(repr, TASK_ROWS))}.")
        check_sizes(1, h=self.h)
        if self.row not in TASK_ROWS[self.task]:
            there = "; ".join(f"{row.variant}, h={row.h}" for row in TASK_ROWS[self.task])
            raise ValueError(f"no row {self.variant!r} with h={self.h}; the {self.task} has {there}.")
        check_sizes(0, seed=self.seed, steps=self.steps)
        if self.seed > LARGEST_SEED:
            raise ValueError(f"seed={self.seed}: at most {LARGEST_SEED}.")
        whole = STEPS[self.task]
        if self.steps > whole:
            raise ValueError(f"steps={self.steps}: at most {whole:,}, as recorded.")
        object.__setattr__(self, "steps", int(self.steps) or whole)

    @property
    def row(self) -> Row:
        return Row(self.variant, self.h)

    def described(self) -> dict[str, object]:
        """The settings as they go to another process."""
        return asdict(self)


def row_settings(task: str, variant: str, h: int, seed: int = 0) -> RowSettings:
    """The settings; MHA_COURSE_STEPS sets a smaller number of updates. Raises: as `RowSettings`."""
    whole = RowSettings(task, variant, h, seed)
    asked = steps_asked_for()
    return whole if asked is None or asked >= whole.steps else RowSettings(task, variant, h, seed, asked)


@dataclass(frozen=True)
class RowReport:
    """The state after an update (step 0: before the first).

    drawn: sentences that are ready, pictures of digits. loss: of this update's batch, nan at step 0. held:
    the held-out loss, at a look. right: share of digits told right, at a look. accuracy: by part of the
    gloss at the end, for digits as `right`."""

    step: int
    drawn: int
    loss: float = math.nan
    held: float | None = None
    right: float | None = None
    accuracy: Mapping[str, float] | None = None


@dataclass(eq=False)
class LiveRow:
    """A row that is being trained; whoever asks for the next report trains it one update further.

    model: exists from the first report with all sentences drawn. Use one thread: two are slower. On the
    machine of the record the same seed gives the recorded run.
    """

    settings: RowSettings
    model: GlossModel | DigitModel | None = field(default=None, init=False)

    def reports(self) -> Iterator[RowReport]:
        """Draw what is learned from, then train: a report on the way and after every update."""
        return self._gloss() if self.settings.task == "gloss" else self._digits()

    def _gloss(self) -> Iterator[RowReport]:
        chosen, setting = self.settings, Setting()
        sentences, count = [], setting.recipe.sentences
        for sentence in draw_sentences(count, TRAINING_SEED):
            sentences.append(sentence)
            if len(sentences) % DRAWN_AT_ONCE == 0 and len(sentences) < count:
                yield RowReport(0, len(sentences))
        self.model = model_of(chosen.row, setting, chosen.seed)
        data = gloss_data(sentences, self.model.vocabulary)
        tested = gloss_data(held_out(TESTED, TESTING_SEED), self.model.vocabulary)
        yield RowReport(0, count)
        for step, held in train_row(self.model, setting, chosen.seed, data, tested):
            if step.number < chosen.steps:
                yield RowReport(step.number, count, step.loss, held)
                continue
            held = round(held_out_loss(self.model, tested), 4) if held is None else held
            yield RowReport(step.number, count, step.loss, held, None, accuracy(self.model, tested))
            return

    def _digits(self) -> Iterator[RowReport]:
        chosen, setting = self.settings, DigitSetting()
        self.model = digit_model_of(chosen.row, setting, chosen.seed)
        yield RowReport(0, setting.pictures)
        for number, loss in enumerate(train_digits(self.model, setting, chosen.seed), 1):
            if number % LOOK["digits"] and number < chosen.steps:
                yield RowReport(number, setting.pictures, loss)
                continue
            right, held = digits_right(self.model, setting)
            told = (round(held, 4), round(right, 4))
            yield RowReport(number, setting.pictures, loss, *told, accuracy={"digit": told[1]})
            if number == chosen.steps:
                return
