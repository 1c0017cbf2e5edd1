"""The TranslationStepper: what it reads, what it answers, and what it says of itself."""

from __future__ import annotations

import numpy as np
import pytest

from mha_course.models.translator import END, load_translator
from mha_course.widgets import TranslationStepper

SENTENCE = "two small dogs near the bridge chase the white cat ."


def sent(widget: TranslationStepper) -> np.ndarray:
    """The payload as (steps, source words)."""
    shape = len(widget.answer["steps"]), len(widget.answer["words"])
    return np.frombuffer(widget.payload, dtype="<f4").reshape(shape)


def test_the_answer_is_the_translators() -> None:
    widget = TranslationStepper(SENTENCE, layer=2, head=3)
    steps = list(load_translator().steps(SENTENCE.split()))
    assert [step["word"] for step in widget.answer["steps"]] == [step.word for step in steps]
    assert widget.answer["steps"][-1]["word"] == END
    for told, step, row in zip(widget.answer["steps"], steps, sent(widget), strict=True):
        assert told["p"] == pytest.approx(step.probability, abs=1e-4)
        assert told["others"][0][0] == step.word and len(told["others"]) == 4
        assert np.abs(row - step.cross[1, 2].numpy()).max() < 1e-6


def test_another_head_is_another_map_of_the_same_translation() -> None:
    widget = TranslationStepper(SENTENCE)
    before, words = sent(widget).copy(), [step["word"] for step in widget.answer["steps"]]
    widget.layer, widget.head = 2, 4
    assert [step["word"] for step in widget.answer["steps"]] == words
    assert np.abs(sent(widget) - before).max() > 0.1


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("The old cat sleeps", ["the", "old", "cat", "sleeps", "."]),
        ("the cat sleeps.", ["the", "cat", "sleeps", "."]),
        ("", []),
        ("   ", []),
        ("<b>cat</b>", ["<", "b", ">", "cat", "<", "/", "b", ">", "."]),
    ],
)
def test_what_is_read(sentence: str, words: list[str]) -> None:
    widget = TranslationStepper(sentence)
    assert widget.words() == widget.answer["words"] == words
    assert bool(widget.answer["steps"]) == bool(words)


def test_long_texts_are_cut_and_end_with_a_full_stop() -> None:
    widget = TranslationStepper("cat " * 500)
    words = widget.words()
    assert len(words) == 24 and words[-1] == "." and set(words[:-1]) == {"cat"}
    assert (widget.answer["found"], widget.answer["most"]) == (500, 24)
    assert TranslationStepper(["the", "cat", "sleeps"]).words() == ["the", "cat", "sleeps", "."]


def test_unknown_words_are_named() -> None:
    widget = TranslationStepper("Mary sees the old ocelot .")
    assert widget.answer["unknown"] == [0, 4]
    assert widget.answer["unknown_word"] == "<unk>"
    assert widget.answer["unknown_named"] == "mary, ocelot"


def test_still_and_words() -> None:
    widget = TranslationStepper(SENTENCE, layer=2, head=2)
    data, metadata = widget._repr_mimebundle_()
    assert metadata["image/png"]["alt"] == widget.alt == data["text/plain"]
    assert SENTENCE in widget.alt and " ".join(load_translator().translate(SENTENCE.split())) in widget.alt
    assert "image/png" not in TranslationStepper("")._repr_mimebundle_()[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"layer": 3}, "layers 1 to 2"),
        ({"head": 0}, "heads 1 to 4"),
        ({"written": -1}, "-1"),
        ({"head": 1.5}, "head=1.5"),
    ],
)
def test_what_it_cannot_show_is_refused(arguments: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        TranslationStepper(SENTENCE, **arguments)
