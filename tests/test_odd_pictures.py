"""Text and numbers that nobody plans for, in still pictures and in the small widgets."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
import torch
import traitlets

from mha_course import plots
from mha_course.layers import MultiHeadAttention, SingleHeadAttention
from mha_course.models.word_vectors import token_vectors
from mha_course.plots.canvas import text_width, wrap
from mha_course.text.readable import readable
from mha_course.text.tokens import tokenize
from mha_course.text.vocabulary import Vocabulary
from mha_course.widgets import OutputMixer, ShapeTracer, SoftmaxExplorer, predict, reveal

HALF = "\ud83d"  # half of an emoji, as a cut text leaves it: it cannot be encoded


def test_readable_keeps_all_but_what_cannot_be_sent() -> None:
    assert readable(f"a{HALF}b\x00c\x1b") == "a\ufffdb\ufffdc\ufffd"
    kept = "tab\tline\nالعربية 三月 👨‍👩‍👧‍👦 <b>"
    assert readable(kept) == kept and readable("a\r\nb") == "a\nb" and readable(7) == "7"


@pytest.mark.parametrize(
    "draw",
    [
        lambda text: plots.heatmap(np.eye(2), [text, "b"], title=text, note=text),
        lambda text: plots.bars([text, "b"], [1, 2], title=text),
        lambda text: plots.lines([1, 2], {text: [1, 2]}, title=text),
        lambda text: plots.matrix(np.eye(3), [text, "b", "c"], title=text),
    ],
    ids=["heatmap", "bars", "lines", "matrix"],
)
def test_pictures_of_text_that_cannot_be_encoded(draw) -> None:
    picture = draw(f"x{HALF}\x00")
    json.dumps(picture._repr_mimebundle_(), ensure_ascii=False).encode("utf-8")
    assert "x\ufffd" in picture.alt and picture.png("dark")


def test_very_long_words_are_cut_in_time() -> None:
    began = time.perf_counter()
    picture = plots.bars(["a" * 10_000, "b"], [1, 2], title="c" * 10_000)
    assert picture.png() and time.perf_counter() - began < 20
    pieces = wrap("x " + "y" * 90 + " z", 200, 12)
    assert len(pieces) > 3 and all(text_width(line, 12) <= 200 for line in pieces)
    assert "".join(pieces).replace(" ", "") == "x" + "y" * 90 + "z"


def test_logarithmic_axes_hold_more_than_whole_numbers_of_64_bits() -> None:
    assert plots.lines([1, 1e12], {"FLOPs": [1e3, 5e24]}, log_x=True, log_y=True).png()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: plots.heatmap(np.eye(3), vmax=0), "vmax=0"),
        (lambda: plots.head_grid(np.ones((2, 3, 3)) / 3, vmax=float("nan")), "vmax=nan"),
        (lambda: plots.heatmap(np.eye(3), cell=100_000), "cell=100000"),
        (lambda: plots.head_grid(np.ones((2, 3, 3)) / 3, columns=0), "columns=0"),
        (lambda: plots.lines([1, 2], {"a": [2, 3]}, y_limits=(3, 1)), "low < high"),
        (lambda: ShapeTracer(b="2"), "b='2'"),
        (lambda: ShapeTracer(step=2.5), "step=2.5"),
        (lambda: ShapeTracer(h=5), "h=5"),
        (lambda: SoftmaxExplorer([0, 1], factor=-1), "factor=-1"),
    ],
)
def test_refused_with_one_sentence(call, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


def test_the_mixer_says_which_trace_it_needs() -> None:
    layer, x = MultiHeadAttention(12, 3), torch.randn(2, 4, 12)
    for trace in (SingleHeadAttention(12, 4).trace(x), {}, layer.trace(x[:0]), layer.trace(x[:, :0])):
        with pytest.raises(ValueError, match="trace"):
            OutputMixer(trace, layer.w_o)
    mixer = OutputMixer(layer.trace(x), layer.w_o)
    with pytest.raises(traitlets.TraitError, match="0 switches for 3"):
        mixer.on = []
    assert mixer.on == [True] * 3 and mixer._repr_mimebundle_()


def test_nonsense_from_python_leaves_the_softmax_explorer_as_it_was() -> None:
    explorer = SoftmaxExplorer([2.0, 1.0], labels=["a", HALF])
    for name, value in (("factor", -5.0), ("factor", float("nan")), ("labels", ["a"]), ("labels", [])):
        with pytest.raises(ValueError):
            setattr(explorer, name, value)
    assert explorer.factor == 1.0 and explorer.labels == ["a", "\ufffd"]
    json.dumps(explorer._repr_mimebundle_(), ensure_ascii=False).encode("utf-8")


def test_a_prediction_that_cannot_be_encoded_is_kept_readable(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))
    form = predict("03-half", f"What is {HALF}?", [HALF, "b"])
    assert form.question == "What is \ufffd?" and form.choices == ["\ufffd", "b"]
    form.said = f"half {HALF}"
    assert predict("03-half", "Again?").kept == "half \ufffd"
    reveal("03-half", HALF)._repr_html_().encode("utf-8")


def test_emoji_of_several_code_points_stay_whole_beside_letters_and_each_other() -> None:
    assert tokenize("a1️⃣2️⃣b") == ["a", "1️⃣", "2️⃣", "b"]
    assert tokenize("🇩🇪🇫🇷🇯") == ["🇩🇪", "🇫🇷", "🇯"]
    assert tokenize("3 apples, 12") == ["3", "apples", ",", "12"]
    began = time.perf_counter()
    assert len(tokenize("🇩🇪" * 25_000)) == 25_000
    assert time.perf_counter() - began < 5


def test_an_accent_has_one_vector_in_both_spellings() -> None:
    composed, apart = "caf\u00e9", "cafe\u0301"
    assert torch.equal(token_vectors([composed], 6), token_vectors([apart], 6))
    assert not torch.equal(token_vectors([composed], 6), token_vectors(["cafe"], 6))


def test_an_id_is_a_whole_number() -> None:
    vocabulary = Vocabulary(["oboe"])
    assert vocabulary.decode(torch.tensor([2, 1])) == ["oboe", "<unk>"]
    with pytest.raises(TypeError):
        vocabulary.decode([1.9])
