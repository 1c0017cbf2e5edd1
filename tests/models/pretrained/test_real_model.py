"""The packaged all-MiniLM-L6-v2, where it is installed: pieces, words, known heads, speed, odd texts."""

from __future__ import annotations

import time

import pytest
import torch

from mha_course.models.pretrained import load_pretrained
from mha_course.models.pretrained.record import checked_minilm, chosen_sentences
from mha_course.pieces import pieces_to_words
from mha_course.text.treebank import course_treebank
from tests.models.pretrained.odd_texts import ODD_TEXTS
from tests.real_model import real_model


@pytest.fixture(scope="module")
def minilm():
    return real_model()


def test_both_names_lead_to_the_package_and_its_weights_are_the_known_ones(minilm) -> None:
    assert (minilm.family, minilm.n_layers, minilm.n_heads) == ("encoder", 6, 12)
    assert repr(minilm) == "all-MiniLM-L6-v2: encoder, 6 layers with 12 heads each"
    assert load_pretrained("sentence-transformers/all-MiniLM-L6-v2").n_heads == 12
    assert checked_minilm().n_layers == 6


def test_pieces_and_words_of_a_sentence(minilm) -> None:
    read = minilm.read("The unbelievably old café disappeared.")
    assert read.maps.query_tokens == (
        *("[CLS]", "the", "un", "##bel", "##ie", "##va", "##bly", "old", "cafe", "disappeared", ".", "[SEP]"),
    )
    assert read.words_q == ("The", "unbelievably", "old", "café", "disappeared", ".")
    assert read.query_words == (None, 0, 1, 1, 1, 1, 1, 2, 3, 4, 5, None)


def test_given_words_are_cut_as_transformers_cuts_them(minilm) -> None:
    different = []
    sentences = course_treebank()[::2]
    for sentence, read in zip(sentences, minilm.read_many([list(s.words) for s in sentences]), strict=True):
        found = minilm.tokenizer(list(sentence.words), is_split_into_words=True)
        tokens = tuple(minilm.tokenizer.convert_ids_to_tokens(found["input_ids"]))
        if read.maps.query_tokens != tokens or list(read.query_words) != found.word_ids():
            different.append(sentence.text())
    assert different == []


def test_the_head_that_looks_at_the_word_before(minilm) -> None:
    maps = minilm.attend("my friend likes music and plays the oboe every day .", special=False)
    n = len(maps.query_tokens)
    assert maps.weights[0, 2, 1:].argmax(-1).tolist() == list(range(n - 1))  # layer 1, head 3
    shuffled = minilm.attend("day music plays . oboe my and every the friend likes", special=False)
    assert shuffled.weights[0, 2, 1:].argmax(-1).tolist() == list(range(n - 1))


def test_weights_of_a_batch_are_those_of_single_sentences(minilm) -> None:
    sentences = [list(s.words) for s in chosen_sentences()[:9]]
    assert len({len(s) for s in sentences}) > 3
    for words, weights in zip(sentences, minilm.weights_over_words(sentences, batch=4), strict=True):
        read = minilm.read(words)
        single = pieces_to_words(read.maps.weights, read.query_words)
        torch.testing.assert_close(weights, single, atol=1e-5, rtol=1e-4)


def test_many_sentences_take_seconds(minilm) -> None:
    sentences = [s.words for s in course_treebank()]
    begun = time.perf_counter()
    assert sum(1 for _ in minilm.weights_over_words(sentences)) == len(sentences)
    # About 3 s on one free thread; a busy machine gets ten times as much.
    assert time.perf_counter() - begun < 30


def test_odd_texts(minilm) -> None:
    for text, read in zip(ODD_TEXTS, minilm.read_many(ODD_TEXTS), strict=True):
        assert torch.isfinite(read.maps.weights).all(), text
        torch.testing.assert_close(read.maps.weights.sum(-1), torch.ones(read.maps.weights.shape[:-1]))
        for special in (True, False):
            assert len(read.words(special).key_tokens) == len(read.words_q) + 2 * special
            assert read.pieces(special).weights.shape[-1] == len(read.maps.key_tokens) - 2 * (not special)


def test_chinese_signs_are_shown_though_most_are_unknown_to_the_model(minilm) -> None:
    read = minilm.read("我喜欢猫。")
    assert read.maps.query_tokens == ("[CLS]", *"我喜欢猫。", "[SEP]")


def test_random_weights_have_no_positional_head(minilm) -> None:
    sentence = list(chosen_sentences()[3].words)
    trained = minilm.attend(sentence, special=False).weights[..., 1:, :].argmax(-1)
    control = minilm.untrained(seed=2).attend(sentence, special=False).weights[..., 1:, :].argmax(-1)
    before = torch.arange(trained.shape[-1])
    assert (trained == before).float().mean(-1).max() > 0.95
    assert (control == before).float().mean(-1).max() < 0.5
