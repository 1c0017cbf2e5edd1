"""What an ensemble is, for contrast: models trained apart whose answers are averaged. And what heads are:
whether one of them can answer at all, and whether averaging their answers gives the model's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from torch import Generator, Tensor

from mha_course.heads.ablation import Head, all_heads, without_heads
from mha_course.heads.noise import noise_out_of
from mha_course.models.gloss_model import GlossModel
from mha_course.text.course_language.gloss import PARTS
from mha_course.text.vocabulary import Vocabulary
from mha_course.training.gloss_batches import NO_ANSWER, GlossData, with_unknown_words
from mha_course.training.gloss_marks import answers_of, marks_of

HIDDEN_SHARES = (0.05, 0.1, 0.2, 0.4)  # of the words, which every model then reads as <unk>


def ensemble_accuracy(
    models: Sequence[GlossModel], data: GlossData, noise: float = 0.0, seed: int = 0
) -> dict[str, float]:
    """Accuracy by part when the logits of some models are averaged.

    noise: normal, in what each model's embedding gives, times its size; every model has noise of its own. The
    same model may be named several times: then its answers to several noisy readings are averaged.
    """
    answers = []
    for i, model in enumerate(models):
        with ExitStack() as stack:
            if noise:
                g = Generator().manual_seed(1_000 * seed + i)
                stack.enter_context(noise_out_of([model.read], noise, g))
            answers.append(list(answers_of(model, data)))
    return marks_of(data, _averaged(answers)).accuracy()


def with_hidden_words(data: GlossData, share: float, vocabulary: Vocabulary, seed: int = 0) -> GlossData:
    """The same sentences with a share of the words hidden as <unk>; nobody is asked for their stems."""
    unknown = vocabulary.encode([Vocabulary.UNKNOWN])[0]
    ids = with_unknown_words(data.ids, share, unknown, Generator().manual_seed(seed))
    stems = data.answers["stem"].masked_fill(ids == unknown, NO_ANSWER)
    return replace(data, ids=ids, answers={**data.answers, "stem": stems})


def heads_alone(model: GlossModel, data: GlossData) -> dict[Head, dict[str, float]]:
    """Accuracy by part when a single head of the whole model speaks: (layer, head) -> part -> share."""
    heads = all_heads(model)
    return {head: _kept_only(model, data, [[head]]) for head in heads}


def heads_voting(model: GlossModel, data: GlossData) -> dict[str, float]:
    """Accuracy by part when heads vote: the logits of as many models as there are heads, in each of which a
    single head speaks, are averaged.
    """
    return _kept_only(model, data, [[head] for head in all_heads(model)])


def pairs_voting(model: GlossModel, data: GlossData) -> dict[str, float]:
    """The same of models in which one head of each of two layers speaks, every pair once."""
    first, second = ([head for head in all_heads(model) if head[0] == layer] for layer in (1, 2))
    return _kept_only(model, data, [[a, b] for a in first for b in second])


def mean_of_parts(accuracy: Mapping[str, float]) -> float:
    """The mean over the four parts of the gloss."""
    return sum(accuracy[part] for part in PARTS) / len(PARTS)


def _kept_only(model: GlossModel, data: GlossData, groups: Sequence[Sequence[Head]]) -> dict[str, float]:
    """Accuracy of the averaged logits when only the heads of a group speak, for all groups."""
    total: list[tuple[Tensor, dict[str, Tensor]]] = []
    for group in groups:
        with without_heads(model, set(all_heads(model)) - set(group)):
            answers = list(answers_of(model, data))
        total = list(_averaged([total, answers], [1.0, 1.0])) if total else answers
    return marks_of(data, total).accuracy()


def _averaged(
    answers: Sequence[Sequence[tuple[Tensor, Mapping[str, Tensor]]]], weights: Sequence[float] | None = None
) -> Iterator[tuple[Tensor, dict[str, Tensor]]]:
    """Batch by batch the weighted sum of the logits; None weighs all alike, with a sum of 1."""
    weights = [1 / len(answers)] * len(answers) if weights is None else weights
    for same in zip(*answers, strict=True):
        logits = {part: sum(w * one[1][part] for w, one in zip(weights, same, strict=True)) for part in PARTS}
        yield same[0][0], logits
