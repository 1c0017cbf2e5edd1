"""Training to be watched: the course model's recipe in about a minute, with a report after every update.

No dropout here: it would draw from the global random generator, and the heads form without it as well.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field

from mha_course.heads.criteria import NEXT, PREVIOUS, RAREST
from mha_course.heads.roles import FoundRole, RoleScores, score_roles
from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.sizes import check_sizes
from mha_course.text.course_language.gloss import PARTS
from mha_course.text.course_language.grammar import CourseSentence, draw_sentences
from mha_course.training.gloss_batches import gloss_data
from mha_course.training.record import SCORING_SEED, TRAINING_SEED, attention_of
from mha_course.training.train_gloss import Recipe, accuracy, fresh_model, train_gloss

STEPS_VARIABLE = "MHA_COURSE_STEPS"  # a smaller number of updates, for tests and slow machines
STEPS, SENTENCES, WARM_UP = 1_300, 20_000, 300
MEASURED_SENTENCES = 160
DRAWN_AT_ONCE = 500
LARGEST_SEED = 2**63 - 1
ROLES = ("previous", "next", "syntactic", "rarest")


@dataclass(frozen=True)
class LiveSettings:
    """What is trained. seed: of weights and batches; steps: updates; parts: of the gloss that are asked for.

    sentences: how many are trained on. measure_every: updates between two looks at the heads.

    Raises: ValueError for parts that the gloss hasn't, for none of them, and for numbers below 1.
    """

    seed: int = 0
    steps: int = STEPS
    parts: tuple[str, ...] = PARTS
    sentences: int = SENTENCES
    measure_every: int = 50

    def __post_init__(self) -> None:
        check_sizes(1, steps=self.steps, sentences=self.sentences, measure_every=self.measure_every)
        check_sizes(0, seed=self.seed)
        if self.seed > LARGEST_SEED:
            raise ValueError(f"seed={self.seed}: at most {LARGEST_SEED}.")
        asked = (self.parts,) if isinstance(self.parts, str) else self.parts
        if not isinstance(asked, list | tuple) or not asked or any(part not in PARTS for part in asked):
            raise ValueError(f"parts={asked!r}: one or more of {', '.join(PARTS)}.")
        # In one order, each once: what is trained alike is the same run.
        object.__setattr__(self, "parts", tuple(part for part in PARTS if part in asked))

    @property
    def recipe(self) -> Recipe:
        return Recipe(
            steps=self.steps, sentences=self.sentences, warm_up=max(1, min(WARM_UP, self.steps // 4))
        )

    def described(self) -> dict[str, object]:
        """The settings as they go to another process."""
        return asdict(self)


def live_settings(seed: int = 0, parts: tuple[str, ...] = PARTS) -> LiveSettings:
    """The settings of a lesson: 1,300 updates on 20,000 sentences, or what MHA_COURSE_STEPS says.

    With fewer updates fewer sentences are drawn. Raises: ValueError when the variable is no whole number
    from 1 on.
    """
    steps = steps_asked_for()
    if steps is None:
        return LiveSettings(seed=seed, parts=parts)
    return LiveSettings(seed=seed, parts=parts, steps=steps, sentences=sentences_for(steps, SENTENCES))


def steps_asked_for() -> int | None:
    """The number of updates that MHA_COURSE_STEPS sets, None when it sets none.

    Raises: ValueError when it is no whole number from 1 on.
    """
    said = os.environ.get(STEPS_VARIABLE, "").strip()
    if not said:
        return None
    if not said.isdecimal() or int(said) < 1:
        raise ValueError(f"{STEPS_VARIABLE}={said!r}: a whole number of updates, 1 or more.")
    return int(said)


def sentences_for(steps: int, most: int) -> int:
    """How many sentences are drawn for so many updates, so that a short run needn't wait for them."""
    return min(most, max(300, 20 * steps))


@dataclass(frozen=True)
class Report:
    """The state after an update (step 0: before the first).

    drawn: sentences that are ready. loss: of this update's batch, nan at step 0. accuracy: by part, on
    held-out sentences, and roles: as from `best_of_each_role`; both None unless this step was measured.
    """

    step: int
    drawn: int
    loss: float = float("nan")
    accuracy: Mapping[str, float] | None = None
    roles: Mapping[str, Mapping[str, object]] | None = None


@dataclass(eq=False)
class LiveTrainer:
    """A model that is being trained; whoever asks for the next report trains it one update further.

    model: exists from the first report with all sentences drawn. Use one thread: two are slower.
    """

    settings: LiveSettings
    model: GlossModel | None = None
    held: list[CourseSentence] = field(default_factory=list)

    def reports(self) -> Iterator[Report]:
        """Draw the sentences, then train: a report after every 500 sentences and after every update."""
        chosen = self.settings
        sentences: list[CourseSentence] = []
        for sentence in draw_sentences(chosen.sentences, TRAINING_SEED):
            sentences.append(sentence)
            if len(sentences) % DRAWN_AT_ONCE == 0 and len(sentences) < chosen.sentences:
                yield Report(0, len(sentences))
        self.model = fresh_model(GlossSizes(dropout=0.0), chosen.seed)
        data = gloss_data(sentences, self.model.vocabulary)
        counts = Counter(word for sentence in sentences for word in sentence.words)
        self.held = _others(sentences)
        yield self._measured(0, float("nan"), counts)
        for step in train_gloss(self.model, data, chosen.recipe, chosen.seed, parts=chosen.parts):
            if step.number % chosen.measure_every == 0 or step.number == chosen.steps:
                yield self._measured(step.number, step.loss, counts)
            else:
                yield Report(step.number, chosen.sentences, step.loss)

    def _measured(self, step: int, loss: float, counts: Mapping[str, int]) -> Report:
        self.model.eval()
        parsed = [sentence.parsed for sentence in self.held]
        scores = score_roles(attention_of(self.model, parsed), parsed, counts)
        right = accuracy(self.model, gloss_data(self.held, self.model.vocabulary))
        self.model.train()
        return Report(step, self.settings.sentences, loss, right, best_of_each_role(scores))


def best_of_each_role(scores: RoleScores) -> dict[str, dict[str, object]]:
    """The best head for the previous word, the next word, a syntactic relation, and the rarest word.

    Heads, and the relation, are picked on one half of the sentences; the scores are those of the other. The
    relation is the one with most hits beyond what the best fixed distance hits; relations to punctuation are
    left out, since whoever looks at full stops would pass.
    """
    found = {role.criterion.name: role for role in scores.found(resamples=1)}
    syntactic = [
        role
        for role in found.values()
        if role.criterion.kind == "syntactic"
        and role.criterion.relation != "punct"
        and role.verdict != "too few"
    ]
    best = {"previous": found[PREVIOUS], "next": found[NEXT], "rarest": found[RAREST]}
    if syntactic:
        best["syntactic"] = max(syntactic, key=lambda role: (role.picked - role.baseline) * role.asked)
    return {name: _told(best[name]) for name in ROLES if name in best}


def _told(role: FoundRole) -> dict[str, object]:
    return {
        "name": role.criterion.name,
        "layer": role.layer,
        "head": role.head,
        "score": round(role.held, 4),
        "baseline": round(role.baseline, 4),
        "rule": role.rule,
        "passed": role.verdict == "yes",
    }


def _others(sentences: list[CourseSentence]) -> list[CourseSentence]:
    """Sentences that are not among those trained on."""
    seen = {sentence.words for sentence in sentences}
    new = (s for s in draw_sentences(2 * MEASURED_SENTENCES, SCORING_SEED) if s.words not in seen)
    return [next(new) for _ in range(MEASURED_SENTENCES)]
