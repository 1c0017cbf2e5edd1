"""What the gloss loses without some heads of the main model, by part, beside random groups of heads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mha_course.heads.ablation import Head, random_groups, without_heads
from mha_course.heads.criteria import NEXT, PREVIOUS
from mha_course.models.course_models import FIRST_SEED, load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.models.training_records import forming
from mha_course.text.course_language.gloss import PARTS
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training.gloss_batches import GlossData, gloss_data
from mha_course.training.record import TESTING_SEED
from mha_course.training.train_gloss import accuracy

MOST_SENTENCES = 400  # none of the first 400 of this seed was trained on, as a test makes sure
ROLES = ("previous word", "next word", "syntax", "rarest word")


@dataclass(frozen=True)
class Comparison:
    """A group of heads switched off, beside random groups of as many other heads.

    lost: by part, in percentage points. random: the mean loss of the random groups. worst: their largest
    loss in that part.
    """

    heads: tuple[Head, ...]
    lost: Mapping[str, float]
    random: Mapping[str, float]
    worst: Mapping[str, float]


@lru_cache(maxsize=4)
def held_out_glosses(count: int = 300) -> GlossData:
    """Sentences that the course models never saw, with their right glosses.

    Raises: ValueError for more than `MOST_SENTENCES`, of which this is known.
    """
    if not 1 <= count <= MOST_SENTENCES:
        raise ValueError(f"count={count} must be from 1 to {MOST_SENTENCES}.")
    return gloss_data(list(draw_sentences(count, TESTING_SEED)), load_course_model().vocabulary)


def role_groups(seed: int = FIRST_SEED) -> dict[str, tuple[Head, ...]]:
    """The main model's heads by role, (layer, head) from 1, as they were found on held-out sentences.

    A head stands in one group only: position first, then the rarest word, then syntax. seed: of the training
    run. Raises: ValueError for a run that was not recorded.
    """
    groups: dict[str, list[Head]] = {role: [] for role in ROLES}
    names = {PREVIOUS: ROLES[0], NEXT: ROLES[1]}
    for layer, row in enumerate(forming(seed)[-1].heads, 1):
        for head, found in enumerate(row, 1):
            if found is not None:
                other = "syntax" if found["kind"] == "syntactic" else "rarest word"
                groups[names.get(found["name"], other)].append((layer, head))
    return {role: tuple(heads) for role, heads in groups.items() if heads}


def accuracy_without(
    heads: Iterable[Head], data: GlossData | None = None, model: GlossModel | None = None
) -> dict[str, float]:
    """The share of right answers by part while these heads add nothing; afterwards all is as it was.

    heads: pairs (layer, head) from 1. data: None takes 300 held-out sentences. model: None takes the main
    model. Raises: ValueError for a head that the model doesn't have.
    """
    model = load_course_model() if model is None else model
    with without_heads(model, heads):
        return accuracy(model, held_out_glosses() if data is None else data)


def compared_with_random(
    heads: Collection[Head],
    data: GlossData | None = None,
    model: GlossModel | None = None,
    draws: int = 3,
    seed: int = 0,
) -> Comparison:
    """Switch a group of heads off, and `draws` random groups of as many heads that are not in it."""
    model = load_course_model() if model is None else model
    whole = accuracy_without((), data, model)
    own = _lost(whole, accuracy_without(heads, data, model))
    groups = random_groups(model, len(heads), draws, seed, but_not=heads)
    others = [_lost(whole, accuracy_without(group, data, model)) for group in groups]
    return Comparison(tuple(heads), own, _each(others, _mean), _each(others, max))


def _lost(whole: Mapping[str, float], left: Mapping[str, float]) -> dict[str, float]:
    return {part: 100 * (whole[part] - left[part]) for part in PARTS}


def _each(losses: Sequence[Mapping[str, float]], what: object) -> dict[str, float]:
    return {part: what([lost[part] for lost in losses]) for part in PARTS}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
