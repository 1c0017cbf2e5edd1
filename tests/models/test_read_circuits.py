"""Circuits of the first layer read as words: against single products, and against random weights."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.circuits import ov_circuit, qk_circuit
from mha_course.models.course_models import load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.models.read_circuits import (
    CLASSES,
    agreeing_nouns,
    class_scores,
    word_inputs,
    words_by_class,
    written_endings,
)
from mha_course.text.course_language.gloss import ENDINGS, GENDERS, gloss
from mha_course.text.course_language.grammar import draw_sentences

HEAD = 5  # from a determiner to its noun


def test_words_stand_in_their_class() -> None:
    kinds = words_by_class()
    assert list(kinds) == list(CLASSES.values())
    assert "the" in kinds["determiner"] and "two" in kinds["numeral"] and kinds["full stop"] == (".",)
    assert all(1 <= len(words) <= 30 for words in kinds.values())


def test_the_ending_of_a_noun_is_that_of_its_determiners() -> None:
    endings = {noun.word: noun.ending for noun in agreeing_nouns()}
    assert set(endings.values()) == set(range(len(ENDINGS) - 2 * GENDERS, len(ENDINGS)))
    seen = 0
    for sentence in draw_sentences(40, 7):
        told, parsed = gloss(sentence), sentence.parsed
        for i, (relation, head) in enumerate(zip(parsed.relations, parsed.heads, strict=True)):
            if relation == "det" and parsed.words[head] in endings:
                assert told.ending[i] == endings[parsed.words[head]]
                seen += 1
    assert seen > 30


def test_scores_are_the_circuit_between_two_words() -> None:
    model = load_course_model()
    layer = model.encoder.layers[0].attention
    scores = class_scores(model, HEAD)
    assert scores.shape == (7, 7) and torch.allclose(scores.sum(1), torch.zeros(7), atol=1e-5)
    kinds = words_by_class()
    x = word_inputs(model, kinds["determiner"])
    own = slice(HEAD * layer.d_k, (HEAD + 1) * layer.d_k)
    # The circuit, and the content bias of the query's bias; what is constant along the keys is taken off.
    expected = {}
    for name in ("noun", "verb"):
        z = word_inputs(model, kinds[name])
        content = z @ layer.w_k.weight[own].T @ layer.w_q.bias[own] / layer.d_k**0.5
        expected[name] = float((x @ qk_circuit(layer, HEAD) @ z.T + content).mean())
    order = list(kinds)
    row = scores[order.index("determiner")]
    apart = float(row[order.index("noun")] - row[order.index("verb")])
    assert apart == pytest.approx(expected["noun"] - expected["verb"], abs=1e-4)


def test_what_nouns_write_goes_through_the_ov_circuit() -> None:
    model = load_course_model()
    layer, nouns = model.encoder.layers[0].attention, agreeing_nouns()
    means, share = written_endings(model, HEAD)
    x = word_inputs(model, [noun.word for noun in nouns])
    own = slice(HEAD * layer.d_v, (HEAD + 1) * layer.d_v)
    written = x @ layer.w_v.weight[own].T @ layer.w_o.weight[:, own].T
    assert torch.allclose(written, x @ ov_circuit(layer, HEAD), atol=1e-4)
    towards = (written - written.mean(0)) @ model.parts["ending"].weight[5:].T
    right = torch.tensor([noun.ending - 5 for noun in nouns])
    assert share == pytest.approx(float((towards.argmax(1) == right).float().mean()))
    assert torch.allclose(means[2], towards[right == 2].mean(0), atol=1e-5)


def test_random_weights_write_no_endings() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        untrained = GlossModel(load_course_model().sizes)
    shares = [written_endings(untrained, head)[1] for head in range(8)]
    assert max(shares) < 0.25  # one in six is chance


def test_without_a_head_in_between_a_noun_names_no_ending() -> None:
    assert written_endings(load_course_model(), None)[1] < 0.1
