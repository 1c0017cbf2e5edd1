"""Composition: W and its branches against the layer itself, switches, odd words, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mha_course.attention import scaled_scores
from mha_course.models.gloss_model import GlossModel
from mha_course.training.leaderboard import Row, Setting, model_of
from mha_course.widgets import Composition

SETTING = Setting(d_model=24, n_layers=3, d_ff=40)
TEXT = "the parrot near a school sees his nurses ."


def stirred(variant: str, h: int = 6) -> GlossModel:
    """A small model whose composing is far from the identity."""
    model, g = model_of(Row(variant, h), SETTING, seed=3), torch.Generator().manual_seed(4)
    with torch.no_grad():
        for layer in model.encoder.layers:
            for name, parameter in layer.attention.named_parameters():
                if name.startswith(("before", "after", "p_")):
                    parameter.add_(0.3 * torch.randn(parameter.shape, generator=g))
    return model.eval()


def traced(model: GlossModel, words: list[str], layer: int) -> tuple[torch.Tensor, object]:
    """The input of a layer (from 1) and its trace, from the model itself."""
    caught = []
    attention = model.encoder.layers[layer - 1].attention
    hook = attention.register_forward_pre_hook(lambda _, args: caught.append(args[0]))
    with torch.no_grad():
        model(torch.tensor([model.vocabulary.encode(words)]))
        hook.remove()
        return caught[0][0], attention.trace(caught[0])


def maps_of(widget: Composition) -> np.ndarray:
    n, h = len(widget.answer["words"]), widget.answer["h"]
    return np.frombuffer(widget.payload, "<f4").reshape(3, h, n, n)


@pytest.mark.parametrize("variant", ["composable", "talking"])
@pytest.mark.parametrize("layer", [1, 3])
def test_maps_and_numbers_are_those_of_the_layer(variant: str, layer: int) -> None:
    model = stirred(variant)
    widget = Composition(model, TEXT, layer, query=4, key=7)
    _, trace = traced(model, TEXT.split(), layer)
    alone, weights, output = maps_of(widget)
    assert widget.answer["words"] == TEXT.split() and widget.answer["pair"] == [3, 6]
    np.testing.assert_allclose(alone, trace.raw_scores[0].softmax(-1), atol=2e-5)
    np.testing.assert_allclose(weights, trace.weights[0], atol=2e-5)
    np.testing.assert_allclose(output, trace.composed_weights[0], atol=2e-5)
    np.testing.assert_allclose(widget.answer["into"], trace.raw_scores[0, :, 3, 6], atol=6e-5)
    np.testing.assert_allclose(widget.answer["out"], trace.scores[0, :, 3, 6], atol=6e-5)
    torch.testing.assert_close(
        trace.raw_scores[0, :, 3, 6] @ widget.matrix, trace.scores[0, :, 3, 6], atol=2e-5, rtol=0
    )
    widget.stage = "after"
    np.testing.assert_allclose(widget.answer["into"], trace.weights[0, :, 3, 6], atol=6e-5)
    np.testing.assert_allclose(widget.answer["out"], trace.composed_weights[0, :, 3, 6], atol=6e-5)


def test_branches_are_added_up_and_none_leaves_heads_alone() -> None:
    widget = Composition(stirred("composable"), TEXT, 2, query=5, key=2)
    parts = {name: np.array(one) for name, one in widget.answer["parts"].items()}
    assert list(parts) == ["static", "query_rank", "query_gate", "key_rank", "key_gate"]
    np.testing.assert_allclose(sum(parts.values()), widget.answer["matrix"], atol=3e-4)
    assert np.linalg.matrix_rank(parts["query_rank"], tol=1e-3) == 2, "R = 2"
    assert np.count_nonzero(parts["key_gate"] - np.diag(np.diag(parts["key_gate"]))) == 0
    widget.on = ["key_gate", "static"]
    assert widget.on == ["static", "key_gate"], "in their own order"
    np.testing.assert_allclose(widget.answer["matrix"], parts["static"] + parts["key_gate"], atol=2e-4)
    widget.on = ["query_gate"]
    np.testing.assert_allclose(widget.answer["matrix"], np.eye(6) + parts["query_gate"], atol=2e-4)
    widget.on = []
    alone, weights, output = maps_of(widget)
    np.testing.assert_allclose(weights, alone, atol=1e-7)
    np.testing.assert_allclose(output, alone, atol=1e-7)
    assert widget.answer["moved"] == pytest.approx(0, abs=1e-7) and "no head takes anything" in widget.alt


def test_the_query_side_depends_on_the_query_alone() -> None:
    widget = Composition(stirred("composable"), TEXT, query=5, key=2)
    first = widget.answer["parts"]
    widget.key = 8
    second = widget.answer["parts"]
    assert first["query_rank"] == second["query_rank"] and first["query_gate"] == second["query_gate"]
    assert first["key_rank"] != second["key_rank"] and first["key_gate"] != second["key_gate"]
    widget.stage = "after"
    assert widget.answer["parts"]["query_rank"] != second["query_rank"]


def test_talking_heads_have_one_branch_which_is_the_same_for_every_pair() -> None:
    model = stirred("talking")
    widget = Composition(model, TEXT, query=5, key=2)
    assert widget.branches == [["static", "P"]] and widget.answer["talking"]
    expected = model.encoder.layers[0].attention.p_scores
    np.testing.assert_allclose(widget.answer["matrix"], expected.detach(), atol=6e-5)
    assert widget.alt.startswith("P before the softmax in layer 1, query “school”")
    before = widget.answer["matrix"]
    widget.key = 6
    assert widget.answer["matrix"] == before


def test_the_words_name_the_largest_share() -> None:
    widget = Composition(stirred("composable"), TEXT, query=5, key=2)
    others = np.array(widget.answer["matrix"])
    np.fill_diagonal(others, 0)
    i, j = np.unravel_index(np.abs(others).argmax(), others.shape)
    assert f"from head {i + 1} to head {j + 1};" in widget.alt and "“school”, key “parrot”" in widget.alt
    assert widget.still_png()[:4] == b"\x89PNG"


def test_the_model_given_is_left_alone_and_two_do_not_disturb_each_other() -> None:
    model = stirred("composable")
    kept = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    state = torch.get_rng_state()
    first, second = Composition(model, TEXT), Composition(model, TEXT, layer=2)
    first.on, second.stage = [], "after"
    assert second.on != [] and first.stage == "before" and second.layer == 2
    assert all(torch.equal(tensor, kept[name]) for name, tensor in model.state_dict().items())
    assert not any(layer.attention._forward_pre_hooks for layer in model.encoder.layers)
    assert torch.equal(torch.get_rng_state(), state)


def test_words_from_elsewhere_and_none_at_all() -> None:
    widget = Composition(stirred("composable"), "The <b>cat</b> 猫 مرحبا 🙂", query=2, key=1)
    assert widget.answer["words"][-3:] == ["猫", "مرحبا", "🙂"] and widget.answer["unknown"]
    widget.query = 40
    assert widget.answer["pair"][0] == len(widget.answer["words"]) - 1
    widget.sentence = "cat " * 30
    assert (widget.answer["cut"], len(widget.answer["words"])) == (30, 16)
    widget.sentence = "  "
    assert widget.answer["words"] == [] and widget.matrix is None and widget.payload == b""
    assert widget.still_png() is None and "without a sentence" in widget.alt
    one = Composition(stirred("composable"), "cat")
    assert one.answer["pair"] == [0, 0]


def test_one_head_has_nobody_to_take_from() -> None:
    widget = Composition(stirred("composable", 1), TEXT)
    assert "no head takes anything" in widget.alt and widget.answer["h"] == 1


def test_what_is_refused() -> None:
    model = stirred("composable")
    for wrong in (3, torch.nn.Linear(2, 2)):
        with pytest.raises(TypeError, match="'composable' or 'talking'"):
            Composition(wrong)
    with pytest.raises(ValueError, match="'mixture' can be"):
        Composition("mixture")
    with pytest.raises(TypeError, match="it has MultiHeadAttention"):
        Composition(model_of(Row("plain", 4), SETTING, 0))
    with pytest.raises(TypeError, match="sentence; got int"):
        Composition(model, 7)
    for wrong in ({"layer": 4}, {"layer": 0}, {"query": 10}, {"key": 1.5}, {"stage": "during"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Composition(model, TEXT, **wrong)
    widget = Composition(model, TEXT)
    for name, value in (("layer", 9), ("query", 0), ("on", ["dynamic"])):
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, value)
    assert (widget.layer, widget.query) == (1, 2)


def test_the_scores_alone_are_scaled_products() -> None:
    model = stirred("talking")
    x, _ = traced(model, TEXT.split(), 2)
    attention = model.encoder.layers[1].attention
    with torch.no_grad():
        keys, _ = attention.shared_keys_and_values(x[None], x[None])
        expected = scaled_scores(attention.queries(x[None]), keys)[0].softmax(-1)
    np.testing.assert_allclose(maps_of(Composition(model, TEXT, 2))[0], expected, atol=1e-6)
