"""AttentionExplorer, the Python side: what it computes, refuses, moves and says."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from mha_course.cost import attention_flops, parameter_count
from mha_course.layers import MultiHeadAttention
from mha_course.models.random_layer import empty_layer, random_layer
from mha_course.models.word_vectors import token_vectors
from mha_course.positions import sinusoidal_encoding
from mha_course.widgets import AttentionExplorer
from mha_course.widgets.attention_explorer import MAX_TOKENS
from mha_course.widgets.base import javascript
from mha_course.widgets.weight_sources import SOURCES, Prepared, Source

SENTENCE = "the old cat sleeps here"


def opened(explorer: AttentionExplorer) -> tuple[np.ndarray, np.ndarray]:
    """Weights (h, n, n) and allowed cells (n, n) as the view reads them from the payload."""
    start, stop = explorer.answer["shown"]
    n, h = stop - start, explorer.answer["h"]
    raw = bytes(explorer.payload)
    weights = np.frombuffer(raw, np.uint16, h * n * n).reshape(h, n, n) / 65535
    allowed = np.frombuffer(raw, np.uint8, n * n, offset=2 * h * n * n).reshape(n, n).astype(bool)
    assert len(raw) == 2 * h * n * n + n * n
    return weights, allowed


def test_maps_are_those_of_the_course_layer():
    explorer = AttentionExplorer(sentence=SENTENCE, d_model=24, h=3, seed=4)
    tokens = SENTENCE.split()
    x = token_vectors(tokens, 24) + sinusoidal_encoding(5, 24)
    expected = random_layer(24, 3, seed=4).trace(x[None]).weights[0]
    weights, allowed = opened(explorer)
    np.testing.assert_allclose(weights, expected.numpy(), atol=1e-5)
    assert allowed.all()
    torch.testing.assert_close(explorer.maps().weights[0], expected)


def test_facts_agree_with_the_layer_and_the_count():
    explorer = AttentionExplorer(sentence=SENTENCE, d_model=48, h=6)
    facts = explorer.answer
    layer = MultiHeadAttention(48, 6)
    assert facts["parameters"] == sum(p.numel() for p in layer.parameters()) == parameter_count(48, 6)
    assert facts["flops"] == attention_flops(5, 48, 6)["total"] == 8 * 5 * 48**2 + 4 * 25 * 48
    assert facts["d_k"] == 8 and facts["root"] == pytest.approx(8**0.5)
    assert facts["divisors"] == [1, 2, 3, 4, 6, 8, 12, 16, 24, 48]


def test_without_scale_the_softmax_sharpens():
    explorer = AttentionExplorer(sentence=SENTENCE, d_model=64, h=2)
    soft = explorer.maps().spread().mean()
    explorer.scale = False
    assert explorer.maps().spread().mean() < 0.7 * soft
    weights, _ = opened(explorer)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-3)


def test_causal_mask_hides_later_keys():
    explorer = AttentionExplorer(sentence=SENTENCE, d_model=16, h=4, mask="causal")
    weights, allowed = opened(explorer)
    np.testing.assert_array_equal(allowed, np.tril(np.ones((5, 5), bool)))
    assert (weights[:, ~allowed] == 0).all()
    np.testing.assert_allclose(weights[:, 0, 0], 1, atol=1e-4)


def test_padding_appends_tokens_that_no_query_sees():
    explorer = AttentionExplorer(sentence=SENTENCE, d_model=16, h=2, mask="padding")
    assert explorer.answer["tokens"] == [*SENTENCE.split(), "<pad>", "<pad>", "<pad>"]
    weights, allowed = opened(explorer)
    assert allowed[:, :5].all() and not allowed[:, 5:].any()
    assert (weights[:, :, 5:] == 0).all()


def test_h_moves_to_a_divisor_and_says_so_until_it_fits_again():
    explorer = AttentionExplorer(sentence=SENTENCE, d_model=64, h=8)
    assert explorer.answer["notices"] == []
    explorer.d_model = 36
    assert explorer.h == 6
    notice = explorer.answer["notices"][0]
    assert notice["heading"] == "h moved from 8 to 6"
    assert "1, 2, 3, 4, 6, 9, 12, 18 or 36" in notice["text"]
    explorer.d_model = 48
    assert explorer.h == 8 and explorer.answer["notices"] == []
    explorer.h = 5
    assert explorer.h == 4 and explorer.answer["notices"][0]["heading"] == "h moved from 5 to 4"
    explorer.h = 3
    assert explorer.answer["notices"] == []


def test_same_seed_same_matrices_whatever_h_is():
    one, other = random_layer(24, 2, seed=9), random_layer(24, 12, seed=9)
    assert torch.equal(one.w_q.weight, other.w_q.weight)
    assert not torch.equal(one.w_q.weight, random_layer(24, 2, seed=10).w_q.weight)
    assert empty_layer(24, 2).w_q.weight.device.type == "cpu"


def test_a_new_seed_gives_new_maps_and_the_old_one_the_old():
    explorer = AttentionExplorer(sentence=SENTENCE, d_model=32, h=4, seed=1)
    first = opened(explorer)[0]
    explorer.seed = 2
    assert np.abs(opened(explorer)[0] - first).max() > 0.05
    explorer.seed = 1
    np.testing.assert_array_equal(opened(explorer)[0], first)


def test_global_random_state_and_grad_mode_stay():
    before = torch.random.get_rng_state()
    explorer = AttentionExplorer(sentence=SENTENCE, d_model=40, h=5, seed=77)
    explorer.h = 10
    explorer.weights = "by hand"
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.is_grad_enabled()


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        (
            "<img src=x onerror=alert(1)>",
            ["<", "img", "src", "=", "x", "onerror", "=", "alert", "(", "1", ")", ">"],
        ),
        ("三月", ["三", "月"]),
        ("العربية", ["العربية"]),
        ("hi 👩‍👩‍👧 there", ["hi", "👩‍👩‍👧", "there"]),
        ("one", ["one"]),
        ("$a$ `b` \\c", None),
        ("\ud800 lone surrogate", None),
    ],
)
def test_any_text_is_data(sentence, tokens):
    explorer = AttentionExplorer(sentence=sentence, d_model=16, h=2)
    if tokens is not None:
        assert explorer.answer["tokens"] == tokens
    weights, _ = opened(explorer)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-3)
    assert explorer._repr_mimebundle_()[0]["image/png"]


@pytest.mark.parametrize("sentence", ["", "   ", "\n\t", "\u200b"])
def test_empty_sentence_has_no_maps_and_no_error(sentence):
    explorer = AttentionExplorer(sentence=sentence)
    assert explorer.answer["tokens"] == [] and bytes(explorer.payload) == b""
    assert "no maps" in explorer.alt
    assert "image/png" not in explorer._repr_mimebundle_()[0]
    with pytest.raises(ValueError, match="empty"):
        explorer.maps()


def test_long_texts_are_cut_and_say_so():
    explorer = AttentionExplorer(sentence="word " * 2000)
    assert explorer.answer["n"] == MAX_TOKENS
    assert explorer.answer["notices"][0]["heading"] == "2,000 tokens, the explorer reads the first 64"
    assert explorer.answer["shown"] == [0, 24]


def test_window_moves_over_the_tokens():
    explorer = AttentionExplorer(sentence=" ".join(f"w{i}" for i in range(31)), d_model=16, h=2)
    full = explorer.maps().weights[0].numpy()
    assert explorer.answer["shown"] == [0, 24]
    explorer.first = 7
    assert explorer.answer["shown"] == [7, 31]
    np.testing.assert_allclose(opened(explorer)[0], full[:, 7:31, 7:31], atol=1e-5)
    explorer.first = -1
    assert explorer.answer["shown"] == [0, 31]
    explorer.first = 1000
    assert explorer.answer["shown"] == [7, 31]


def test_one_head_has_room_for_more_tokens():
    explorer = AttentionExplorer(sentence=" ".join(f"w{i}" for i in range(32)), d_model=16, h=1)
    assert explorer.answer["shown"] == [0, 32]


def test_144_heads():
    explorer = AttentionExplorer(
        sentence=" ".join(f"w{i}" for i in range(24)), d_model=144, h=144, d_model_choices=(144,)
    )
    weights, _ = opened(explorer)
    assert weights.shape == (144, 24, 24)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-3)


@pytest.mark.parametrize(("d_model", "h"), [(1, 1), (7, 7), (9, 3), (15, 5)])
@pytest.mark.parametrize("weights", ["random", "by hand"])
def test_odd_widths(d_model, h, weights):
    explorer = AttentionExplorer(sentence="a b c", d_model=d_model, h=h, weights=weights)
    assert d_model in explorer.d_model_choices
    np.testing.assert_allclose(opened(explorer)[0].sum(-1), 1, atol=1e-3)


def test_heads_by_hand_are_named_and_narrow_ones_say_why():
    explorer = AttentionExplorer(weights="set by hand", d_model=64, h=8)
    assert explorer.weights == "by hand"
    assert explorer.answer["names"][:4] == ["previous word", "next word", "same word", "everything alike"]
    assert explorer.answer["notices"] == []
    explorer.h = 64
    notice = explorer.answer["notices"][0]
    assert notice["heading"].startswith("d_k = 1 is too narrow")
    assert "0.34 on the previous word" in notice["text"] and "d_k = 2 reaches 1.00" in notice["text"]


def test_a_further_source_is_one_entry(monkeypatch):
    def prepare(tokens, d_model, h, seed):
        return Prepared(random_layer(d_model, h, 3), token_vectors(tokens, d_model), "A trained layer.")

    monkeypatch.setitem(SOURCES, "trained", Source("trained", prepare))
    explorer = AttentionExplorer(sentence=SENTENCE, d_model=16, h=4, weights="trained")
    assert explorer.answer["note"] == "A trained layer."
    assert {"value": "trained", "label": "trained", "seeded": False} in explorer.sources


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"mask": "diagonal"}, "mask='diagonal'"), ({"weights": "magic"}, "weights='magic'"), ({"h": 0}, "h=0")],
)
def test_wrong_settings_are_refused_by_name(wrong, message):
    with pytest.raises(ValueError, match=message):
        AttentionExplorer(**wrong)


def test_words_for_a_screen_reader_name_heads_tokens_and_mask():
    explorer = AttentionExplorer(sentence=SENTENCE, d_model=16, h=2, mask="causal")
    assert "2 heads for 5 tokens" in explorer.alt and "mask causal" in explorer.alt
    assert explorer._repr_mimebundle_()[1]["image/png"]["alt"] == explorer.alt


def test_callbacks_from_many_threads_end_in_one_true_state():
    explorer = AttentionExplorer(sentence=SENTENCE, d_model=24, h=2)
    failures = []

    def drag(worker: int) -> None:
        try:
            for i, h in enumerate((1, 2, 3, 4, 6, 8, 12, 24)):
                explorer.set_state({"h": h, "seed": worker, "stamp": 100 * worker + i})
        except Exception as error:  # reported below, in the main thread
            failures.append(error)

    threads = [threading.Thread(target=drag, args=(worker,)) for worker in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert failures == []
    explorer.refresh()
    assert explorer.answer["h"] == explorer.h and 24 % explorer.h == 0
    assert explorer.answer["stamp"] == explorer.stamp
    expected = explorer.maps().weights[0].numpy()
    np.testing.assert_allclose(opened(explorer)[0], expected, atol=1e-5)


def test_view_has_no_markup_from_text_and_no_name_twice():
    source = javascript(AttentionExplorer.js)
    assert "innerHTML" not in source and "outerHTML" not in source and "insertAdjacent" not in source
    assert "eval(" not in source
    import re

    names = re.findall(r"^(?:function|const|let) (\w+)", source, flags=re.MULTILINE)
    assert len(names) == len(set(names))


def test_a_lesson_can_keep_facts_and_controls_for_later():
    explorer = AttentionExplorer(SENTENCE, d_model=24, h=3, facts=False, controls=["sentence", "h"])
    assert explorer.answer["facts"] is False and explorer.controls == ["sentence", "h"]
    assert "spread" not in explorer.alt and "head 3" in explorer.alt
    full = AttentionExplorer(SENTENCE, d_model=24, h=3)
    assert full.answer["facts"] is True and len(full.controls) == 7 and "head 3 spread" in full.alt
    for wrong in (["masks"], "mask"):
        with pytest.raises(ValueError, match="controls=.*sentence, d_model, h, mask"):
            AttentionExplorer(SENTENCE, controls=wrong)


@pytest.mark.parametrize(("name", "value"), [("d_model", 0), ("d_model", -3), ("h", 0)])
def test_a_size_below_one_is_refused_and_the_explorer_goes_on(name: str, value: int) -> None:
    explorer = AttentionExplorer("rain falls", d_model=24, h=3)
    with pytest.raises(ValueError, match=f"{name}={value} must be a whole number of at least 1"):
        setattr(explorer, name, value)
    explorer.h = 4
    assert (explorer.answer["d_model"], explorer.answer["h"]) == (24, 4)


def test_text_that_cannot_be_sent_is_replaced() -> None:
    assert AttentionExplorer("rain \ud83d falls", d_model=24, h=3).sentence == "rain \ufffd falls"
