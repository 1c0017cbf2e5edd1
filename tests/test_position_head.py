"""A head that looks at a position: matrices against a vector, facts against plain loops, and the widget."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from mha_course.attention import masked_softmax, scaled_scores
from mha_course.models.position_head import enough_beta, position_facts, position_head, position_scores
from mha_course.positions import position_kernel, shift_matrix, sinusoidal_encoding
from mha_course.widgets.position_head import PositionHead

VECTORS = Path(__file__).parent / "vectors"


def test_equal_to_the_reference_vector() -> None:
    expected = load_file(VECTORS / "previous_token_head.safetensors")
    config = json.loads((VECTORS / "previous_token_head.json").read_text(encoding="utf-8"))["config"]
    n, d_model, beta = config["n"], config["d"], config["beta"]
    w_q, w_k = position_head(-1, beta, d_model)
    pe = sinusoidal_encoding(n, d_model, dtype=torch.float64)
    found = {
        "pe": pe,
        "R_minus1": shift_matrix(-1, d_model, dtype=torch.float64),
        "W_Q": w_q,
        "W_K": w_k,
        "scores": position_scores(n, -1, beta, d_model),
        "attn": position_facts(n, -1, beta, d_model).weights,
    }
    for name, tensor in found.items():
        assert torch.allclose(tensor, expected[name], rtol=0, atol=1e-12), name
    by_formula = masked_softmax(scaled_scores(pe @ w_q, pe @ w_k))
    assert torch.allclose(by_formula, expected["attn"], rtol=0, atol=1e-12)


def test_scores_are_the_kernel_of_the_distance_from_the_target() -> None:
    n, d_model, pairs, offset, beta = 9, 14, 3, 2, 2.5
    scores = position_scores(n, offset, beta, d_model, pairs)
    for p in range(n):
        for s in range(n):
            angles = [(p + offset - s) / 10_000 ** (2 * j / d_model) for j in range(pairs)]
            assert scores[p, s].item() == pytest.approx(beta * sum(map(math.cos, angles)), abs=1e-12)


def test_kernel_is_the_product_of_two_encodings_and_even() -> None:
    d_model, n = 12, 20
    pe = sinusoidal_encoding(n, d_model, start=5, dtype=torch.float64)
    distance = torch.arange(-7, 8)
    kernel = position_kernel(distance, d_model)
    assert torch.allclose(kernel, pe[7:8] @ pe[:15].T, atol=1e-12)
    assert torch.equal(kernel, kernel.flip(0)) and kernel[7] == d_model / 2
    assert (kernel[:7] < d_model / 2).all()
    assert position_kernel(torch.tensor([[3, 4]]), d_model, 2).shape == (1, 2)


@pytest.mark.parametrize(
    ("d_model", "n", "least", "gap", "enough"),
    [
        (16, 12, (0.290, 0.793, 0.968, 0.9995), 0.5148, 13.6),
        (64, 128, (0.577, 0.974, 0.9997, 1), 1.0832, 8.7),
        (512, 512, (0.998, 1, 1, 1), 6.8979, 1.6),
    ],
)
def test_how_surely_it_finds_its_target(d_model, n, least, gap, enough) -> None:
    for beta, value in zip((1, 4, 8, 16), least, strict=True):
        found = position_facts(n, -1, beta, d_model)
        assert found.least == pytest.approx(value, abs=6e-4)
        assert (found.gap, found.rival) == (pytest.approx(gap, abs=5e-5), 1)
    assert position_facts(n, -1, 1, d_model).enough == pytest.approx(enough, abs=0.05)
    assert position_facts(n, -1, position_facts(n, -1, 1, d_model).enough, d_model).least >= 0.99


def test_facts_against_plain_loops() -> None:
    n, offset, beta, d_model, pairs = 11, -3, 3.0, 10, 2
    found = position_facts(n, offset, beta, d_model, pairs)
    on_target = [found.weights[p, p + offset].item() for p in range(n) if 0 <= p + offset < n]
    assert (found.least, found.queries) == (min(on_target), len(on_target)) and found.queries == n - 3
    assert found.confidence == pytest.approx(np.mean([max(row) for row in found.weights.tolist()]))
    ahead = position_facts(n, 2, 20.0, d_model)
    assert ahead.queries == n - 2 and (ahead.weights[:-2].argmax(-1) == torch.arange(2, n)).all()


def test_one_frequency_comes_round_again() -> None:
    narrow = position_facts(64, -1, 16.0, 16, pairs=1)
    assert narrow.rival == 44 and narrow.least < 0.2  # 44 is close to seven full turns
    assert position_facts(12, -1, 16.0, 16, pairs=1).least == pytest.approx(0.645, abs=5e-4)
    assert position_facts(12, -1, 16.0, 16, pairs=2).least == pytest.approx(0.9994, abs=5e-5)
    assert position_facts(64, -1, 16.0, 16, pairs=2).least > 3 * narrow.least


def test_a_sharpness_that_is_enough() -> None:
    assert enough_beta(0.5, 12, 0.9) == pytest.approx(math.log(11 * 9) / 0.5)
    assert enough_beta(0.0, 12) == math.inf


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"offset": 0.5}, "whole number"),
        ({"beta": -1.0}, "beta=-1.0"),
        ({"beta": math.nan}, "finite"),
        ({"d_model": 7}, "even"),
        ({"d_model": 8, "pairs": 5}, "4 frequencies"),
        ({"pairs": 0}, "pairs=0"),
    ],
)
def test_what_makes_no_head_is_refused(arguments: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        position_head(**arguments)
    with pytest.raises(ValueError, match="n=5"):
        position_facts(5, offset=-5)


def test_widget_answers_with_the_numbers_of_the_model() -> None:
    widget = PositionHead(offset=2, beta=4, d_k=6, n=8)
    widget.n = 24
    widget.offset = -2
    expected = position_facts(24, -2, 4.0, 16, 3)
    sent = np.frombuffer(widget.payload, dtype="<u2").reshape(24, 24) / 65535
    assert np.abs(sent - expected.weights.numpy()).max() < 1e-5
    for name in ("gap", "rival", "least", "queries", "confidence", "enough"):
        assert widget.answer[name] == pytest.approx(getattr(expected, name))
    assert widget.answer["kernel"] == pytest.approx(expected.kernel.tolist(), abs=1e-6)
    assert "2 positions back" in widget.alt and f"{expected.least:.3f}" in widget.alt
    data, metadata = widget._repr_mimebundle_()
    assert "image/png" in data and metadata["image/png"]["alt"] == widget.alt
    assert widget.alt in data["text/plain"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"d_model": 15}, "even"),
        ({"d_k": 5}, "d_k=5"),
        ({"d_k": 18}, "d_k=18"),
        ({"n": 65}, "n=65"),
        ({"n": 3, "offset": 3}, "offset=3"),
        ({"beta": math.inf}, "finite"),
        ({"beta": "x"}, "beta='x'"),
    ],
)
def test_widget_refuses_what_it_cannot_show(arguments: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        PositionHead(**arguments)


@pytest.mark.parametrize(
    ("name", "value"), [("d_k", 7), ("d_k", 18), ("n", 1), ("n", 65), ("beta", -1.0), ("beta", math.nan)]
)
def test_a_setting_that_cannot_be_drawn_stays_as_it_was(name: str, value: float) -> None:
    widget = PositionHead(offset=1, beta=4.0, d_k=6, n=9)
    before = getattr(widget, name)
    with pytest.raises(ValueError, match=f"{name}="):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


def test_settings_that_are_no_stops_become_stops() -> None:
    widget = PositionHead(offset=-5, beta=3.0, d_k=10, n=9, d_model=64)
    for name in ("offset", "beta", "d_k", "n"):
        assert getattr(widget, name) in widget.stops[name]
        assert widget.stops[name] == sorted(set(widget.stops[name]))
    for some in (widget, PositionHead(), PositionHead(offset=-11, n=14), PositionHead(offset=1, n=3)):
        assert max(map(abs, some.stops["offset"])) < min(some.stops["n"])
