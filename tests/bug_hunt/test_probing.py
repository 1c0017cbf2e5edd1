"""Probes: they work on a copy, take errors as findings, show themselves, and refuse what is no layer."""

from __future__ import annotations

import html

import pytest
import torch

from mha_course.bug_hunt import all_probes, healthy, measure, probe, suspect
from mha_course.bug_hunt.finding import Measured, _hatched, number
from mha_course.bug_hunt.probing import drawn


@pytest.mark.parametrize("key", all_probes())
def test_a_probe_leaves_layer_random_state_threads_and_gradients_alone(key: str) -> None:
    layer = suspect(8, d_model=20, h=4).train()
    torch.manual_seed(3)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    weights = {name: weight.clone() for name, weight in layer.state_dict().items()}
    first = probe(key, layer)
    assert torch.equal(torch.get_rng_state(), state) and torch.get_num_threads() == threads
    assert torch.is_grad_enabled() and layer.training
    assert all(p.grad is None and torch.equal(weights[n], p) for n, p in layer.named_parameters())
    assert probe(key, layer).suspect == first.suspect, "twice the same"
    with torch.no_grad():
        assert measure(key, layer) == first.suspect


@pytest.mark.parametrize("key", all_probes())
def test_a_finding_can_be_read_as_text_as_html_and_where_it_has_a_table_as_a_picture(key: str) -> None:
    found = probe(key, suspect(3))
    assert isinstance(found, Measured) and found.probe == key and found.who == "suspect 3"
    assert found.suspect.sentence in repr(found) and found.sound.sentence in repr(found)
    assert "<script" not in found._repr_html_() and html.escape(found.title) in found._repr_html_()
    if found.suspect.table is None:
        with pytest.raises(ValueError, match="single numbers"):
            found.plot()
    else:
        picture = found.plot()
        assert "suspect 3" in picture.alt and "sound" in picture.alt


def test_blocked_cells_without_weight_are_hatched_and_those_with_weight_keep_their_number() -> None:
    found = probe("blocked", suspect(6))
    drawn_as = [_hatched(finding.table) for finding in (found.sound, found.suspect)]
    hatched = [sum(value == float("-inf") for row in table for value in row) for table in drawn_as]
    assert hatched == [14, 0]


def test_the_sound_layer_may_be_probed_and_nothing_differs() -> None:
    for key in all_probes():
        found = probe(key, healthy(d_model=8, h=2))
        assert found.apart() == [] and found.who == "sound layer"
        assert "rounding" in found._repr_html_()


def test_an_error_of_the_layer_is_a_finding() -> None:
    found = probe("future", suspect(7))
    assert set(found.suspect.measures) == {"error"} and "must match" in found.suspect.sentence
    assert set(found.apart()) > {"error"}
    assert "stops with an error" in repr(found)
    assert found.plot().alt  # the sound layer's table alone


def test_what_is_no_probe_and_no_layer_is_refused() -> None:
    with pytest.raises(ValueError, match="'future'"):
        probe("futur", healthy())
    with pytest.raises(ValueError, match="'odd_width'"):
        probe(3, healthy())
    with pytest.raises(ValueError, match="got Linear"):
        probe("future", torch.nn.Linear(3, 3))


def test_a_suspect_of_a_width_that_no_sound_layer_has_can_be_probed() -> None:
    layer = suspect(4, d_model=13, h=3)
    found = probe("rows", layer)
    assert "(5, 3, 7, 7)" in found.suspect.sentence and found.apart() == []
    for key in all_probes():
        assert "error" not in probe(key, layer).suspect.measures


def test_a_suspect_with_more_heads_than_features_can_be_probed() -> None:
    layer = suspect(4, d_model=4, h=7)
    assert "d_k = 0" in probe("scale", layer).suspect.sentence
    for key in all_probes():
        assert probe(key, layer).suspect.sentence


def test_what_is_drawn_has_sizes_of_its_own() -> None:
    for d_model, h in ((12, 3), (20, 4), (25, 5), (18, 6), (49, 7), (14, 2), (7, 1)):
        given = drawn(healthy(d_model, h))
        assert given.x.shape == given.other.shape == (given.b, given.n, d_model)
        assert len({given.b, given.n, h, d_model}) == 4 and d_model // h not in (given.b, given.n)
        assert not torch.equal(given.x, given.other)


def test_numbers_in_sentences() -> None:
    read = [0, 1e-7, -2.0, 0.99999, 0.123, -0.0123, 0.0012, float("nan"), float("inf"), "agree", 28]
    said = ["0", "0", "−2", "1", "0.12", "−0.01", "0.001", "nan", "inf", "agree", "28"]
    assert [number(value) for value in read] == said
