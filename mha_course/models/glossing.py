"""The gloss that a course model writes for a sentence, and the right one where there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import torch

from mha_course.models.gloss_model import GlossModel
from mha_course.text.course_language.gloss import (
    ENDINGS,
    LIAISONS,
    MUTATIONS,
    PARTS,
    Gloss,
    gloss,
    stems,
    written,
)
from mha_course.text.course_language.grammar import draw_sentences

HELD_OUT_SEED = 22  # of sentences that no course model was trained on; the same as for the accuracies
HELD_OUT = 400


@torch.no_grad()
def write_gloss(model: GlossModel, words: Sequence[str]) -> Gloss:
    """The likeliest class of each part for every word.

    Raises: ValueError without a word.
    """
    if not words:
        raise ValueError("there is no word to gloss.")
    logits = model(torch.tensor([model.vocabulary.encode(words)]))
    return Gloss(*(tuple(logits[part][0].argmax(-1).tolist()) for part in PARTS))


def in_letters(one: Gloss, i: int) -> dict[str, str]:
    """The four parts of word i by name, and the whole word as it is written under "word"."""
    return {
        "stem": stems()[one.stem[i]],
        "ending": ENDINGS[one.ending[i]] or "none",
        "mutation": MUTATIONS[one.mutation[i]],
        "liaison": LIAISONS[one.liaison[i]],
        "word": written(one, i),
    }


@cache
def held_out_sentences() -> Mapping[tuple[str, ...], Gloss]:
    """400 sentences of the grammar that no course model was trained on, with their right glosses."""
    return {sentence.words: gloss(sentence) for sentence in draw_sentences(HELD_OUT, HELD_OUT_SEED)}


def right_gloss(words: Sequence[str]) -> Gloss | None:
    """The right gloss of one of the held-out sentences; None for other words, which have no tree to go by."""
    return held_out_sentences().get(tuple(words))
