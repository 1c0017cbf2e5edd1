"""Gates to be watched while they are learned: `training/gates.py` with a report after every update."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from torch import Tensor

from mha_course.heads.gating import FixedGates, gated
from mha_course.heads.pruning import GateRecipe, GateStep
from mha_course.heads.roles import score_roles
from mha_course.models.course_models import kept_seeds, load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.sizes import check_sizes
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training.forming import head_labels
from mha_course.training.gates import SENTENCES, GateTrainer
from mha_course.training.gloss_batches import gloss_data
from mha_course.training.gloss_without_heads import held_out_glosses
from mha_course.training.live import DRAWN_AT_ONCE, sentences_for, steps_asked_for
from mha_course.training.record import TRAINING_SEED, attention_of
from mha_course.training.scored_sentences import scored_sentences, training_word_counts
from mha_course.training.train_gloss import accuracy

STEPS, MOST_STEPS = 600, 20_000
MEASURED_SENTENCES = 400
HIGHEST_PRICE = 100.0

Labels = list[list[dict[str, object] | None]]


@dataclass(frozen=True)
class GateSettings:
    """What is learned. seed: of the model's training run, and of the gates' noise; price: of an open head.

    steps: updates. Raises: ValueError for a run of which no weights are kept, for a price that is no number
    from 0 to 100, and for steps that are no whole number from 1 to 20,000.
    """

    seed: int = 0
    price: float = 0.05
    steps: int = STEPS

    def __post_init__(self) -> None:
        check_sizes(0, seed=self.seed)
        check_sizes(1, steps=self.steps)
        if self.seed not in kept_seeds():
            raise ValueError(f"seed={self.seed}: the model was kept for the seeds {list(kept_seeds())}.")
        if self.steps > MOST_STEPS:
            raise ValueError(f"steps={self.steps}: at most {MOST_STEPS:,}.")
        try:
            price = math.nan if isinstance(self.price, bool | str) else float(self.price)
        except (TypeError, ValueError):
            price = math.nan
        if not 0 <= price <= HIGHEST_PRICE:
            raise ValueError(f"price={self.price!r} must be a number from 0 to {HIGHEST_PRICE:g}.")
        object.__setattr__(self, "price", price)
        object.__setattr__(self, "seed", int(self.seed))
        object.__setattr__(self, "steps", int(self.steps))

    @property
    def recipe(self) -> GateRecipe:
        """Of 600 steps that of the recorded gates; in other runs its phases keep their shares."""
        plain = GateRecipe()
        ramp, settle = (round(self.steps * phase / plain.steps) for phase in (plain.ramp, plain.settle))
        return GateRecipe(strength=self.price, steps=self.steps, ramp=ramp, settle=settle)

    @property
    def sentences(self) -> int:
        """How many are learned on."""
        return sentences_for(self.steps, SENTENCES)

    def described(self) -> dict[str, object]:
        """The settings as they go to another process."""
        return asdict(self)


def gate_settings(seed: int = 0, price: float = 0.05, steps: int = STEPS) -> GateSettings:
    """The settings; MHA_COURSE_STEPS sets a smaller number of updates. Raises: as `GateSettings`."""
    chosen = GateSettings(seed, price, steps)
    asked = steps_asked_for()
    return chosen if asked is None or asked >= chosen.steps else GateSettings(seed, price, asked)


@dataclass(frozen=True)
class GateReport:
    """The state after an update (step 0: before the first).

    drawn: sentences that are ready. loss: of the task, nan at step 0. expected_open: the expected number of
    open gates; gates: for each layer and head, without noise. accuracy: by part on held-out sentences, of the
    whole model at step 0 and at last of what is left; roles: of the survivors, at last.
    """

    step: int
    drawn: int
    loss: float = math.nan
    expected_open: float | None = None
    gates: tuple[tuple[float, ...], ...] | None = None
    accuracy: Mapping[str, float] | None = None
    roles: Labels | None = None


@dataclass(eq=False)
class LiveGates:
    """Gates that are being learned on a copy of a course model; whoever asks for the next report learns on.

    model: the copy. Use one thread: two are slower.
    """

    settings: GateSettings
    model: GlossModel | None = None
    trainer: GateTrainer = field(init=False)

    def reports(self) -> Iterator[GateReport]:
        """Draw sentences, then learn: a report after every 500 sentences and after every update, and one more
        with what is left of the model.
        """
        chosen = self.settings
        self.trainer = GateTrainer(load_course_model(seed=chosen.seed), chosen.recipe, chosen.seed)
        self.model = self.trainer.learned
        sentences = []
        for sentence in draw_sentences(chosen.sentences, TRAINING_SEED):
            sentences.append(sentence)
            if len(sentences) % DRAWN_AT_ONCE == 0 and len(sentences) < chosen.sentences:
                yield GateReport(0, len(sentences))
        data = gloss_data(sentences, self.model.vocabulary)
        glosses = held_out_glosses(MEASURED_SENTENCES)
        yield GateReport(0, chosen.sentences, accuracy=accuracy(self.trainer.model, glosses))
        step: GateStep | None = None
        for step in self.trainer.steps(data):
            yield self._after(step)
        left = accuracy(self.trainer.pruned(), glosses)
        parsed = list(scored_sentences())
        with gated(self.model.eval(), [FixedGates(one) for one in self.trainer.values()]):
            # The layers behind must see what they get in the pruned model.
            scores = score_roles(attention_of(self.model, parsed), parsed, training_word_counts())
        values = _numbers(self.trainer.values())
        labels = [
            [label if gate > 0 else None for label, gate in zip(row, layer, strict=True)]
            for row, layer in zip(head_labels(scores), values, strict=True)
        ]
        yield replace(self._after(step), gates=values, accuracy=left, roles=labels)

    def _after(self, step: GateStep) -> GateReport:
        drawn = self.settings.sentences
        return GateReport(step.number, drawn, step.loss, step.expected_open, _numbers(step.gates))


def _numbers(gates: Sequence[Tensor]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(round(gate, 4) for gate in layer.tolist()) for layer in gates)
