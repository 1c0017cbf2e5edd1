"""HeadsCompared: what it reads, what a shuffle sends to the page, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from mha_course.attention_maps import AttentionMaps
from mha_course.heads.shuffled import followed_over
from mha_course.models.course_models import load_course_model
from mha_course.transformer.whole import TransformerMaps
from mha_course.widgets import HeadBrowser, HeadsCompared
from mha_course.widgets.browser_numbers import unpacked
from mha_course.widgets.reading_source import ReadingSource

SENTENCE = "the old farmer near the barns sees two small lambs ."


def previous_word(words: Sequence[str]) -> AttentionMaps:
    """Two layers of three heads, all at the word before."""
    weights = torch.zeros(len(words), len(words))
    for i in range(len(words)):
        weights[i, max(0, i - 1)] = 1.0
    return AttentionMaps(weights.expand(2, 3, -1, -1), words, words)


def sent(widget: HeadsCompared) -> np.ndarray:
    return unpacked(widget.answer["maps"], widget.payload)


def test_the_maps_are_the_models() -> None:
    widget = HeadsCompared(load_course_model(), left=(2, 1), right=(1, 7), sentence=SENTENCE.title())
    maps = load_course_model().attend(SENTENCE.split())
    assert widget.answer["maps"]["queries"] == SENTENCE.split()
    assert np.abs(sent(widget) - maps.weights.numpy()).max() < 2e-4
    assert widget.answer["order"] is None and widget.answer["over"] is None and widget.reads
    assert "layer 2 head 1" in widget.alt and "layer 1 head 7" in widget.alt


def test_a_shuffle_sends_the_new_order_and_what_was_foretold() -> None:
    widget = HeadsCompared(previous_word, sentence=SENTENCE)
    widget.shuffle = 1
    answer, words = widget.answer, SENTENCE.split()
    order = answer["order"]
    assert sorted(order) == list(range(11)) and order != sorted(order)
    assert answer["maps"]["queries"] == [words[i] for i in order]
    places = np.array(answer["marks"]["place"])
    assert places.shape == (2, 3, 11)
    looks = sent(widget).argmax(-1)
    told = places >= 0
    assert told.any() and (looks[told] == places[told]).all()
    assert answer["here"]["place"] == answer["here"]["asked"]
    for row, i in enumerate(order):
        assert answer["marks"]["before"][1][2][row] == max(0, i - 1)
    first = list(order)
    widget.shuffle = 2
    assert widget.answer["order"] != first
    widget.shuffle = 0
    assert widget.answer["order"] is None and widget.answer["maps"]["queries"] == words
    assert "shuffled" not in widget.alt


def test_counts_are_those_of_the_scoring_with_a_control_beside() -> None:
    sentences = [SENTENCE.split(), "two dogs chase a ball".split(), "rain falls on the warm barn".split()] * 4
    widget = HeadsCompared(
        load_course_model(),
        control=previous_word,
        sentences=sentences,
        seed=5,
        sentence="the cat sees rain .",
    )
    widget.count = True
    over = widget.answer["over"]
    expected = followed_over(load_course_model().attend, sentences, seed=5)
    assert over["sentences"] == 12 and not over["same"]
    assert over["model"]["asked"] == expected.asked.tolist()
    assert over["model"]["word"] == expected.word.tolist()
    assert over["control"]["verdict"] == [["place"] * 3] * 2
    json.dumps(widget.answer, allow_nan=False)


def test_without_sentences_the_one_on_show_is_shuffled_fifty_times() -> None:
    widget = HeadsCompared(previous_word, sentence=SENTENCE, count=True)
    over = widget.answer["over"]
    assert over["same"] and over["sentences"] == 50 and "control" not in over
    assert over["model"]["rows"] == [[50 * 11] * 3] * 2
    # The sentence and its other orders were counted; another sentence is counted anew.
    widget.sentence = "rain falls on a barn"
    assert widget.answer["over"]["model"]["rows"] == [[50 * 5] * 3] * 2


def test_maps_alone_can_be_looked_at_but_not_shuffled() -> None:
    maps = load_course_model().attend(SENTENCE.split())
    widget = HeadsCompared(maps, left=(1, 3), right=(2, 8))
    assert not widget.reads and np.abs(sent(widget) - maps.weights.numpy()).max() < 2e-4
    widget.shuffle = 3
    assert widget.answer["order"] is None
    assert widget.still_png().startswith(b"\x89PNG")


def test_recorded_counts_stand_beside_maps_alone_and_beside_a_source() -> None:
    sentences = [SENTENCE.split(), "two dogs chase a ball".split()]
    place = followed_over(previous_word, sentences, seed=1)
    counts = SimpleNamespace(trained=place, untrained=place + place, sentences=2)
    for source in (previous_word(SENTENCE.split()), previous_word):
        widget = HeadsCompared(source, counts=counts)
        over = widget.answer["over"]
        assert over["sentences"] == 2 and over["model"]["place"] == place.place.tolist()
        assert widget.count and over["control"]["rows"] == (2 * place.rows).tolist()
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        HeadsCompared(load_course_model(), counts=counts)


def test_pieces_of_a_recorded_sentence_are_taken_with_their_special_tokens() -> None:
    from mha_course.models.recorded_heads import recorded_heads

    read = recorded_heads().read(3)
    widget = HeadsCompared(read, left=(3, 12), right=(2, 10))
    assert widget.answer["maps"]["queries"][0] == "[CLS]" and not widget.reads
    browser = HeadBrowser(read)
    assert browser.answer["kinds"][0]["queries"] == widget.answer["maps"]["queries"]
    assert "Apache" in browser.answer["kinds"][0]["note"]


def test_odd_sentences() -> None:
    widget = HeadsCompared(load_course_model(), sentence="the <b>ocelot</b> sees $x$ 猫 .")
    assert widget.answer["maps"]["queries"][:2] == ["the", "<"]
    assert widget.answer["unknown"] and 0 not in widget.answer["unknown"]
    widget.sentence = "cat " * 80
    assert len(widget.answer["maps"]["queries"]) == 24 and widget.answer["notices"]
    widget.sentence = "   "
    assert widget.answer["maps"] is None and widget.still_png() is None
    widget.sentence, widget.shuffle = "cat", 4
    assert widget.answer["order"] is None


def test_unknown_words_move_with_the_shuffle() -> None:
    widget = HeadsCompared(
        load_course_model(), sentence="the old ocelot near the barns sees two lambs .", shuffle=2
    )
    assert [widget.answer["maps"]["queries"][i] for i in widget.answer["unknown"]] == ["ocelot"]


def test_pieces_are_joined_and_an_encoder_is_taken() -> None:
    class Model:
        def attend(self, text: object, special: bool = True, words: bool = False) -> TransformerMaps:
            assert not special and words
            maps = previous_word(text)
            return TransformerMaps(maps, maps, maps)

    assert ReadingSource(Model()).read(["a", "b", "c"]).query_tokens == ("a", "b", "c")


def test_a_source_that_gives_pieces_is_refused_in_words() -> None:
    def pieces(words: Sequence[str]) -> AttentionMaps:
        return previous_word([part for word in words for part in (word[:1], word[1:])])

    widget = HeadsCompared(pieces, sentence=SENTENCE)
    assert widget.answer["maps"] is not None
    widget.shuffle = 1
    assert widget.answer["maps"] is None and "words=True" in widget.answer["refused"]


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"maps_or_source": 7}, TypeError, "int"),
        ({"maps_or_source": lambda words: 3}, TypeError, "AttentionMaps; got int"),
        ({"maps_or_source": previous_word, "left": (3, 1)}, ValueError, "2 layers of 3 heads"),
        ({"maps_or_source": previous_word(["a", "b"]), "control": previous_word}, TypeError, "control"),
    ],
)
def test_what_it_cannot_compare_is_refused(arguments: dict, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        HeadsCompared(**arguments)
