"""Routing: gates, choices and costs against the layer itself, odd words, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mha_course.models.gloss_model import GlossModel
from mha_course.models.glossing import held_out_sentences
from mha_course.training.leaderboard import Row, Setting, model_of
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.variant_costs import variant_cost
from mha_course.widgets import Routing

COUNTED = 17  # sentences in place of 200, to be quick
SETTING = Setting(d_model=24, n_layers=3, d_ff=40)
TEXT = "the parrot near a school sees his nurses ."


@pytest.fixture(autouse=True)
def fewer_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mha_course.widgets.routing.SENTENCES", COUNTED)


def stirred(h: int = 6, shared: int = 2, chosen: int = 1, gates: str = "code") -> GlossModel:
    """A small model whose routers are far from even."""
    model, g = model_of(Row("plain", h), SETTING, seed=3), torch.Generator().manual_seed(4)
    for layer in model.encoder.layers:
        layer.attention = MixtureOfHeads(24, h, shared, chosen, gates, bias=True)
        with torch.no_grad():
            for name, parameter in layer.attention.named_parameters():
                size = 0.5 if name.startswith("router") else 0.2
                parameter.copy_(size * torch.randn(parameter.shape, generator=g))
    return model.eval()


def inputs(model: GlossModel, words: list[str], layer: int) -> torch.Tensor:
    caught = []
    attention = model.encoder.layers[layer - 1].attention
    hook = attention.register_forward_pre_hook(lambda _, args: caught.append(args[0]))
    with torch.no_grad():
        model(torch.tensor([model.vocabulary.encode(words)]))
    hook.remove()
    return caught[0]


@pytest.mark.parametrize("layer", [1, 3])
@pytest.mark.parametrize("gates", ["code", "paper"])
def test_gates_are_those_of_the_layer(layer: int, gates: str) -> None:
    model = stirred()
    widget = Routing(model, TEXT, layer, token=4, gates=gates)
    attention = model.encoder.layers[layer - 1].attention
    x = inputs(model, TEXT.split(), layer)
    attention.gates = gates
    with torch.no_grad():
        found = attention.routing(x)
    answer = widget.answer
    np.testing.assert_allclose(answer["gates"], found.gates[0], atol=6e-5)
    np.testing.assert_allclose(answer["types"], found.types[0], atol=6e-5)
    assert [row[2:] for row in answer["used"]] == found.chosen[0].tolist()
    assert all(row[:2] == [True, True] for row in answer["used"])
    assert answer["trained"] == "code" and answer["token"] == 3


@pytest.mark.parametrize(("shared", "chosen"), [(2, 1), (0, 3), (3, 0), (1, 2)])
@pytest.mark.parametrize("gates", ["code", "paper"])
def test_a_gate_is_the_product_of_its_steps(shared: int, chosen: int, gates: str) -> None:
    widget = Routing(stirred(6, shared, chosen), TEXT, token=5, gates=gates)
    steps, row = widget.answer["steps"], widget.answer["gates"][4]
    both = shared and chosen
    for step, gate in zip(steps, row, strict=True):
        assert step["factor"] * step["alpha"] * step["share"] == pytest.approx(gate, abs=6e-5)
        if gates == "code":
            count = shared if step["kind"] == "shared" else chosen
            assert step["factor"] == (2 if both else 1) * count
    for kind in ("shared", "routed"):
        shares = [step["share"] for step in steps if step["kind"] == kind and step["chosen"]]
        if shares and (kind == "shared" or gates == "code"):
            assert sum(shares) == pytest.approx(1, abs=1e-5)
        elif shares:
            assert sum(shares) < 1, "the paper's softmax is over all routed heads"
    assert sum(step["chosen"] for step in steps) == shared + chosen


def test_choices_are_counted_over_the_words_of_held_out_sentences() -> None:
    model = stirred()
    widget = Routing(model, TEXT, layer=2)
    attention = model.encoder.layers[1].attention
    sentences = [list(words) for words in held_out_sentences()][:COUNTED]
    chosen, probabilities = [], []
    with torch.no_grad():
        for words in sentences:
            found = attention.routing(inputs(model, words, 2))
            chosen.append(found.chosen[0].float())
            probabilities.append(found.probabilities[0])
    f, p = torch.cat(chosen).mean(0), torch.cat(probabilities).mean(0)
    answer = widget.answer
    assert answer["tokens"] == sum(map(len, sentences)) and answer["sentences"] == COUNTED
    np.testing.assert_allclose(answer["often"], f, atol=1e-4)
    np.testing.assert_allclose(answer["probability"], p, atol=1e-4)
    assert answer["balance"] == pytest.approx(4 * float(f @ p), abs=2e-4)
    assert (answer["even"], answer["collapsed"]) == (1.0, 4.0)
    widget.gates = "paper"
    assert widget.answer["balance"] == pytest.approx(float(f @ p), abs=2e-4)
    assert (widget.answer["even"], widget.answer["collapsed"]) == (0.25, 1.0)


def test_costs_are_those_of_the_layer_and_of_plain_heads() -> None:
    model = stirred(6, 2, 1)
    widget = Routing(model, TEXT)
    layer, n = model.encoder.layers[0].attention, len(TEXT.split())
    assert widget.answer["flops"] == variant_cost(layer, n).flops < widget.answer["plain"]
    plain = model_of(Row("plain", 6), SETTING, 0).encoder.layers[0].attention
    assert widget.answer["plain"] == variant_cost(plain, n).flops


def test_the_words_hold_the_numbers_and_there_is_a_still() -> None:
    widget = Routing(stirred(), TEXT, token=2)
    used = [step for step in widget.answer["steps"] if step["chosen"]]
    for step in used:
        assert f"head {step['head']} ({step['kind']}) {step['gate']:.2f}" in widget.alt
    assert "“parrot” uses" in widget.alt and widget.still_png()[:4] == b"\x89PNG"


def test_the_model_given_is_left_alone_and_two_do_not_disturb_each_other() -> None:
    model = stirred()
    kept = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    state = torch.get_rng_state()
    first, second = Routing(model, TEXT), Routing(model, TEXT, layer=3)
    first.gates = "paper"
    assert second.gates == "code" and second.layer == 3 and first.layer == 1
    assert all(layer.attention.gates == "code" for layer in model.encoder.layers)
    assert all(torch.equal(tensor, kept[name]) for name, tensor in model.state_dict().items())
    assert not any(layer.attention._forward_pre_hooks for layer in model.encoder.layers)
    assert torch.equal(torch.get_rng_state(), state)


def test_words_from_elsewhere_and_none_at_all() -> None:
    widget = Routing(stirred(), "The <b>cat</b> 猫 مرحبا 🙂", token=3)
    assert widget.answer["words"][-3:] == ["猫", "مرحبا", "🙂"] and widget.answer["unknown"]
    widget.token = 40
    assert widget.answer["token"] == len(widget.answer["words"]) - 1
    widget.sentence = "cat " * 30
    assert (widget.answer["cut"], len(widget.answer["words"])) == (30, 16)
    widget.sentence = ""
    assert widget.answer["words"] == [] and "gates" not in widget.answer
    assert widget.still_png() is None and "without a sentence" in widget.alt


def test_what_is_refused() -> None:
    model = stirred()
    with pytest.raises(TypeError, match="'mixture', or a GlossModel"):
        Routing(3)
    with pytest.raises(ValueError, match="'talking' can be 'mixture'"):
        Routing("talking")
    with pytest.raises(TypeError, match="it has MultiHeadAttention"):
        Routing(model_of(Row("plain", 4), SETTING, 0))
    with pytest.raises(TypeError, match="sentence; got list"):
        Routing(model, ["the", "cat"])
    for wrong in ({"layer": 4}, {"layer": True}, {"token": 0}, {"token": 12}, {"gates": "both"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Routing(model, TEXT, **wrong)
    widget = Routing(model, TEXT)
    for name, value in (("layer", 9), ("token", 0)):
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, value)
    assert (widget.layer, widget.token) == (1, 1)
