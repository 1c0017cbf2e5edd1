"""What the circuits of a course model's first layer say about words, before any sentence is read.

The first layer reads words and positions only. So a head's QK circuit can be asked which kinds of words look
for which, and its OV circuit what a word writes once it is read. A reading of weights, not of what happens:
positions, the softmax and the second layer are left out. Source of the two circuits: Elhage et al. 2021."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from mha_course.heads.circuits import ov_circuit
from mha_course.models.gloss_model import GlossModel
from mha_course.models.glossing import HELD_OUT, HELD_OUT_SEED
from mha_course.text.course_language.gloss import ENDINGS, GENDERS, gender
from mha_course.text.course_language.grammar import draw_sentences

CLASSES = {
    "DET": "determiner",
    "NUM": "numeral",
    "ADJ": "adjective",
    "NOUN": "noun",
    "VERB": "verb",
    "ADP": "preposition",
    "PUNCT": "full stop",
}
_MOST = 30  # words of a class, the most frequent ones
_FIRST = len(ENDINGS) - 2 * GENDERS  # the endings that agree with a noun: gender by number


@dataclass(frozen=True)
class AgreeingNoun:
    """A noun as it is written, and the ending of what agrees with it, an index in `ENDINGS`."""

    word: str
    ending: int


@cache
def words_by_class() -> dict[str, tuple[str, ...]]:
    """For each class of words, by its English name, the most frequent words of it in held-out sentences."""
    counts = {kind: Counter() for kind in CLASSES}
    for sentence in draw_sentences(HELD_OUT, HELD_OUT_SEED):
        for word, kind in zip(sentence.words, sentence.parsed.upos, strict=True):
            if kind in counts:
                counts[kind][word] += 1
    return {
        name: tuple(word for word, _ in counts[kind].most_common(_MOST)) for kind, name in CLASSES.items()
    }


@cache
def agreeing_nouns() -> tuple[AgreeingNoun, ...]:
    """The nouns of held-out sentences; nothing in the English word shows the gender that decides."""
    found = {}
    for sentence in draw_sentences(HELD_OUT, HELD_OUT_SEED):
        for word, kind, entry in zip(sentence.words, sentence.parsed.upos, sentence.lexemes, strict=True):
            if kind == "NOUN" and entry is not None:
                found[word] = _FIRST + gender(entry) + GENDERS * (word == entry.plural)
    return tuple(AgreeingNoun(word, ending) for word, ending in found.items())


@torch.no_grad()
def class_scores(model: GlossModel, head: int) -> Tensor:
    """Mean score of head (from 0) of layer 1 from words of one class to words of another, (7, 7).

    Rows are queries; each has its mean taken off, which no softmax sees. Words stand without positions."""
    layer, kinds = model.encoder.layers[0].attention, words_by_class().values()
    read = [word_inputs(model, words) for words in kinds]
    q = [layer.queries(x[None])[0, head] for x in read]
    k = [layer.shared_keys_and_values(x[None], x[None])[0][0, head] for x in read]
    scores = torch.stack([torch.stack([(a @ b.T).mean() for b in k]) for a in q]) / layer.d_k**0.5
    return scores - scores.mean(1, keepdim=True)


@torch.no_grad()
def written_endings(model: GlossModel, head: int | None) -> tuple[Tensor, float]:
    """What the nouns write towards the six agreeing endings through head (from 0) of layer 1.

    head: None leaves the circuit out, as a control: the noun's own vector, straight to the endings.

    Returns: the mean for each kind of noun (6, 6), rows the right ending, columns the ending written to, each
    noun compared with the mean noun; the share of nouns whose largest number is at their right ending.
    """
    layer, nouns = model.encoder.layers[0].attention, agreeing_nouns()
    right = torch.tensor([noun.ending - _FIRST for noun in nouns])
    x = word_inputs(model, [noun.word for noun in nouns])
    written = x if head is None else x @ ov_circuit(layer, head)
    towards = (written - written.mean(0)) @ model.parts["ending"].weight[_FIRST:].T
    means = torch.stack([towards[right == kind].mean(0) for kind in range(2 * GENDERS)])
    return means, float((towards.argmax(1) == right).float().mean())


def word_inputs(model: GlossModel, words: list[str] | tuple[str, ...]) -> Tensor:
    """What the attention of layer 1 reads for each of these words, without a position: (words, d_model)."""
    ids = torch.tensor(model.vocabulary.encode(list(words)))
    embedded = model.read.words(ids) * model.sizes.d_model**0.5
    return model.encoder.layers[0].around_attention.norm(embedded)
