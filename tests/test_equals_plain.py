"""EqualsPlain: its numbers are those of the two layers, its bill that of the formulas; what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from mha_course import cost
from mha_course.layers import MultiHeadAttention
from mha_course.plots import numerals
from mha_course.variants.line_up import cached_numbers, variant
from mha_course.variants.towards_plain import NAMES, towards_plain
from mha_course.variants.variant_costs import variant_cost
from mha_course.widgets.equals_plain import STOPS, EqualsPlain
from mha_course.widgets.equals_plain_numbers import bill, verdict


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_holds_what_the_layers_give(name: str) -> None:
    widget = EqualsPlain(name, t=0.1, d_model=12, h=2, n=5, seed=4)
    found = towards_plain(name, 0.1, 12, 2, 5, 4)
    answer = widget.answer
    assert answer["stops"] == list(STOPS) and len(answer["output"]) == len(STOPS)
    at = answer["stops"].index(0.1)
    assert answer["output"][at] == found.output_difference
    assert answer["gradient"][at] == found.gradient_difference
    assert answer["output"][0] < answer["rounding"] < answer["output"][1]
    for key, expected in (("maps", found.maps), ("plain_maps", found.plain_maps)):
        assert np.allclose(answer[key], expected.numpy(), atol=6e-6)
    assert [one["name"] for one in answer["moving"]] == list(found.moving)
    for one, expected in zip(answer["moving"], found.moving.values(), strict=True):
        assert np.allclose(one["values"], expected.detach().numpy(), atol=6e-6)
    assert numerals.number(found.output_difference) in widget.alt and widget.told["equal"] in widget.alt
    json.dumps(answer)


@pytest.mark.parametrize("name", NAMES)
def test_the_slider_leads_to_equal(name: str) -> None:
    widget = EqualsPlain(name)
    assert "Apart" in widget.answer["words"]
    widget.t = 0
    assert widget.answer["words"].startswith("Equal to plain heads")
    assert np.allclose(widget.answer["maps"], widget.answer["plain_maps"], atol=1e-5)
    assert widget.near().t == 0 and widget.near().output_difference < 1e-12


def test_a_distance_of_ones_own_becomes_a_stop() -> None:
    widget = EqualsPlain("talking")
    widget.t = 0.05
    assert widget.answer["stops"] == sorted({*STOPS, 0.05})
    with pytest.raises(ValueError, match=r"t=1\.5"):
        widget.t = 1.5
    assert widget.t == 0.05


def test_a_mixture_with_heads_left_out_says_why_it_stays_apart() -> None:
    widget = EqualsPlain("mixture", t=0, option=1, h=8)
    assert widget.told["options"] == list(range(7))
    assert "5 of the 6 routed heads are left out" in widget.answer["words"]
    widget.option = 5
    assert "1 of the 6 routed heads is left out" in widget.answer["words"]
    widget.option = 6
    assert widget.answer["words"].startswith("Equal")


def test_no_overlap_is_equal_at_every_distance() -> None:
    widget = EqualsPlain("overlapping", t=1.0)
    assert widget.option == 3 and widget.told["options"] == list(range(7))
    widget.option = 0
    assert "for every t" in widget.answer["words"]
    assert max(widget.answer["output"]) < widget.answer["rounding"]


def test_the_bill_is_counted_by_formula() -> None:
    plain = MultiHeadAttention(24, 4)
    small, large = bill("grouped", MultiHeadAttention(24, 4, n_kv_heads=2), 7, 0.0)
    assert small["sizes"] == "d_model = 24, h = 4, n = 7"
    by_key = {row["key"]: row for row in small["rows"]}
    assert by_key["parameters"]["plain"] == numerals.prefixed(sum(p.numel() for p in plain.parameters()))
    assert by_key["parameters"]["ratio"] == "0.75 ×" and by_key["cached"]["ratio"] == "0.5 ×"
    assert f"plain {cost.attention_flops(7, 24, 4)['total']:,}" in by_key["flops"]["exact"]
    assert large["rows"][0]["exact"] == f"parameters: plain {4 * 512 * 513:,}, here {3 * 512 * 513:,}"


def test_the_large_layer_takes_the_same_share_of_its_heads_or_features() -> None:
    small, large = EqualsPlain("mixture", option=2).answer["bill"]
    assert small["sizes"].endswith("n = 7, K = 2") and large["sizes"].endswith("n = 512, K = 4")
    small, large = EqualsPlain("overlapping", option=3).answer["bill"]
    assert small["sizes"].endswith("n = 7, o = 3") and large["sizes"].endswith("n = 512, o = 32")
    # 2 o h d_model more numbers in W_O.
    assert large["rows"][0]["exact"].endswith(f"here {4 * 512 * 513 + 2 * 32 * 8 * 512:,}")


def test_nearly_the_same_is_not_the_same() -> None:
    rows = EqualsPlain("talking").answer["bill"][1]["rows"]
    assert rows[0]["ratio"] == "1.0001 ×" and rows[2]["ratio"] == "1 ×"


@pytest.mark.parametrize("name", ["collaborative", "talking", "composable"])
def test_the_large_layer_is_that_of_the_line_up(name: str) -> None:
    rows = {row["key"]: row["exact"] for row in EqualsPlain(name).answer["bill"][1]["rows"]}
    plain, here = (variant_cost(variant(one).make(512, 8, 0.0), 512) for one in ("plain", name))
    assert rows["parameters"].endswith(f"plain {plain.parameters:,}, here {here.parameters:,}")
    assert rows["flops"].endswith(f"plain {plain.flops:,}, here {here.flops:,}")
    assert rows["cached"].endswith(f"plain {plain.cache_bytes():,}, here {here.cache_bytes():,}")
    if name == "collaborative":
        assert here.cached == cached_numbers(variant(name).make(512, 8, 0.0)) == 2 * 512 + 8


def test_with_grouped_heads_it_is_the_plain_layer_that_moves() -> None:
    near, far = (EqualsPlain("grouped", t=t).answer for t in (0.1, 1.0))
    assert near["maps"] == far["maps"] and near["plain_maps"] != far["plain_maps"]
    told = EqualsPlain("grouped").told
    assert told["title"].startswith("Plain heads") and told["distance"].endswith("from the grouped layer")
    for name in set(NAMES) - {"grouped"}:
        one, other = (EqualsPlain(name, t=t).answer for t in (0.1, 1.0))
        assert one["plain_maps"] == other["plain_maps"] and one["maps"] != other["maps"]
        assert EqualsPlain(name).told["distance"].endswith("from the plain layer")


def test_verdicts() -> None:
    assert "0.50" in verdict("talking", 0.3, 0.5, 0.25, None, 0)
    assert "a tenth of t" in verdict("talking", 1e-3, 5e-4, 2e-3, None, 0)
    assert "a tenth of t" not in verdict("talking", 0.3, 0.5, 0.25, None, 0)


def test_two_widgets_keep_their_own_numbers_and_no_global_state_moves() -> None:
    state = torch.random.get_rng_state()
    one, other = EqualsPlain("talking"), EqualsPlain("talking", seed=2)
    before = other.answer
    one.t = 0.0
    assert other.answer is before and one.answer["output"] != before["output"]
    assert torch.equal(state, torch.random.get_rng_state())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("h", "d_model", "n"), [(1, 6, 2), (3, 9, 1), (8, 48, 10), (7, 7, 4)])
def test_small_and_large_sizes_can_be_shown(name: str, h: int, d_model: int, n: int) -> None:
    widget = EqualsPlain(name, t=0, d_model=d_model, h=h, n=n)
    assert widget.answer["words"].startswith("Equal")
    assert np.shape(widget.answer["maps"]) == (h, n, n)
    assert widget.still_png()


@pytest.mark.parametrize("name", NAMES)
def test_without_a_front_end_a_picture_and_words_are_left(name: str) -> None:
    widget = EqualsPlain(name, t=0.3)
    data, metadata = widget._repr_mimebundle_()
    assert (
        "image/png" in data
        and metadata["image/png"]["alt"] == widget.alt
        and widget.alt in data["text/plain"]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "listening"}, "talking"),
        ({"name": None}, "None is none"),
        ({"name": "talking", "t": -0.1}, "t=-0.1"),
        ({"name": "talking", "t": "0"}, "t='0'"),
        ({"name": "talking", "option": 2}, "option=2"),
        ({"name": "mixture", "option": 4}, "chosen=4"),
        ({"name": "overlapping", "option": 7}, "overlap=7"),
        ({"name": "talking", "h": 9, "d_model": 18}, "h=9"),
        ({"name": "talking", "h": 5}, "24"),
        ({"name": "talking", "n": 2.5}, "n=2.5"),
        ({"name": "talking", "d_model": 64}, "d_model=64"),
        ({"name": "talking", "seed": "x"}, "seed='x'"),
    ],
)
def test_what_cannot_be_shown_is_refused(arguments: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        EqualsPlain(**arguments)


def test_an_option_that_does_not_fit_stays_as_it_was() -> None:
    widget = EqualsPlain("mixture")
    with pytest.raises(ValueError, match="option=4"):
        widget.option = 4
    assert widget.option == 3
