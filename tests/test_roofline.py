"""The roofline: its picture, its labels, and the widget, whose numbers are those of cost.py."""

from __future__ import annotations

import itertools
import math

import pytest
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from matplotlib.text import Text

from mha_course import cost, plots
from mha_course.plots import axes, numerals
from mha_course.plots.canvas import text_width
from mha_course.plots.roofline import Spot, bound_by, intensity_limits, label_places, speed_limits
from mha_course.widgets.roofline import Roofline

OWN = cost.Machine("this machine, one thread, float32", 60e9, 9.4e9, "measured just now")
HOSTILE = "<img src=x onerror=alert(1)> $x$ 三月"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (999.4, "999 B"),
        (999.6, "1.00 kB"),
        (1000, "1 kB"),
        (2.039e12, "2.04 TB"),
        (4.2999e9, "4.30 GB"),
        (1.3e-6, "1.3 µB"),
        (3e22, "30,000 EB"),
    ],
)
def test_numbers_with_a_prefix(value: float, text: str) -> None:
    assert numerals.prefixed(value, "B") == text


def test_numbers_with_three_digits() -> None:
    texts = [numerals.three_digits(value) for value in (0.99165, 0.9996, 61.13, 153.016, 1365.33, 99.96)]
    assert texts == ["0.992", "1.00", "61.1", "153", "1,365", "100"]
    assert numerals.prefixed(16_777_216) == "16.8 M"
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="prefix"):
            numerals.prefixed(wrong)


def test_parameters_by_stage_are_those_of_the_layer() -> None:
    found = cost.stage_parameters(24, 6, 5, 3, 2, bias=True)
    # One number more a column: W_Q (24 + 1) x 30, W_K x 10, W_V x 6; W_O (18 + 1) x 24.
    assert found == {"projections": 25 * 46, "output_projection": 19 * 24}
    assert sum(found.values()) == cost.parameter_count(24, 6, 5, 3, 2, bias=True)


def test_a_point_stands_where_its_numbers_say() -> None:
    costs = cost.stage_costs(1, 1, 4096, 32, 8, 4096)
    picture = plots.roofline(cost.PUBLISHED[0], costs)
    circles = [one for one in picture.figure.findobj(Circle) if one.get_radius() == 4.5]
    assert len(circles) == len(costs) == 5
    ticks = {t.get_text(): t.get_position()[0] for t in picture.figure.findobj(Text)}
    for circle, one in zip(circles, costs.values(), strict=True):
        share = math.log10(one.intensity / 1) / math.log10(100 / 1)
        x = ticks["1"] + share * (ticks["100"] - ticks["1"])
        assert circle.center[0] == pytest.approx(x, abs=1)
    names = [t.get_text() for t in picture.figure.findobj(Text)]
    assert "softmax  1.25" in names and "scores  3.88" in names and "ridge 153" in names
    assert "projections: 0.999 FLOP/byte, bound by memory, at most 2.04 TFLOP/s" in picture.alt
    assert "NVIDIA A100 data sheet" in picture.alt


def test_measured_points_lie_below_the_roof_by_their_share() -> None:
    costs = cost.stage_costs(8, 64, 512, 8, bytes_per_number=4)
    seconds = {"softmax": 4 * OWN.least_seconds(costs["softmax"])}
    picture = plots.roofline(OWN, costs, measured=seconds)
    assert "softmax  0.25 of the roof" in [t.get_text() for t in picture.figure.findobj(Text)]
    assert (
        f"measured {numerals.prefixed(costs['softmax'].flops / seconds['softmax'], 'FLOP/s')}" in picture.alt
    )
    diamonds = [one for one in picture.figure.findobj(Line2D) if one.get_marker() == "D"]
    softmax = [one for one in picture.figure.findobj(Circle) if one.get_radius() == 4.5][2]
    assert len(diamonds) == 1 and diamonds[0].get_ydata()[0] > softmax.center[1] + 10


def settings() -> itertools.product:
    return itertools.product((1, 8, 512), (1, 64, 4096), (64, 4096), (1, 8), (False, True), (1, 2, 4), (0, 1))


@pytest.mark.parametrize("width", [400, 640])
@pytest.mark.parametrize("machine", [OWN, cost.PUBLISHED[1]], ids=lambda one: one.name)
def test_labels_cover_neither_each_other_nor_the_roof_nor_a_point(
    machine: cost.Machine, width: float
) -> None:
    tried = 0
    for b, length, d_model, h, fused, size, decode in settings():
        n, cached = (1, length) if decode else (length, 0)
        costs = cost.stage_costs(b, n, d_model, h, None, cached, size, fused=fused)
        across = axes.Axis(*intensity_limits(machine, costs), 52, width - 26, log=True)
        up = axes.Axis(*speed_limits(machine), 294, 8, log=True)

        def roof(x: float, across: axes.Axis = across, up: axes.Axis = up) -> float:
            share = (x - across.start) / (across.stop - across.start)
            return up.at(machine.attainable(across.low * (across.high / across.low) ** share))

        spots = [
            Spot(
                across.at(one.intensity), up.at(machine.attainable(one.intensity)), text_width(name, 12) + 40
            )
            for name, one in costs.items()
        ]
        places = label_places(spots, roof, across.stop + 20, up.start)
        boxes = [(x, y - 8, x + spot.width, y + 8) for (x, y), spot in zip(places, spots, strict=True)]
        dots = [(spot.x - 4, spot.y - 4, spot.x + 4, spot.y + 4) for spot in spots]
        assert not any(itertools.starmap(meet, itertools.combinations(boxes, 2))), (costs, boxes)
        assert not any(itertools.starmap(meet, itertools.product(boxes, dots))), (costs, boxes)
        for left, top, right, bottom in boxes:
            assert left >= across.start and right <= across.stop + 20.1 and bottom <= up.start
            assert top > roof(left)
        tried += 1
    assert tried == 3 * 3 * 2 * 2 * 2 * 3 * 2


def meet(one: tuple, other: tuple) -> bool:
    slack = 0.01
    return (
        one[0] + slack < other[2]
        and other[0] + slack < one[2]
        and one[1] + slack < other[3]
        and other[1] + slack < one[3]
    )


def test_from_the_ridge_on_arithmetic_is_the_limit() -> None:
    machine = cost.Machine("round", 600.0, 20.0)
    assert bound_by(cost.StageCost(30, 1), machine) == "compute"
    assert bound_by(cost.StageCost(299, 10), machine) == "memory"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"costs": {}}, "at least one stage"),
        ({"costs": {"idle": cost.StageCost(0, 8)}}, "idle"),
        ({"measured": {"softmacs": 1.0}}, "softmacs"),
        ({"measured": {"softmax": 0.0}}, "above 0"),
        ({"measured": {"softmax": math.nan}}, "above 0"),
        ({"measured": {"softmax": "a"}}, r"measured\['softmax'\]='a'"),
        ({"costs": {"vast": cost.StageCost(math.inf, 8)}}, r"costs\['vast'\].flops=inf"),
        ({"width": 0}, "width=0"),
        ({"width": 10**6}, "at most 4000"),
        ({"height": "a"}, "height='a'"),
    ],
)
def test_what_has_no_place_on_the_roof_is_refused(changes: dict, said: str) -> None:
    arguments = {"costs": cost.stage_costs(2, 3, 12, 4)} | changes
    with pytest.raises(ValueError, match=said):
        plots.roofline(OWN, **arguments)


def test_any_names_are_text() -> None:
    picture = plots.roofline(cost.Machine(HOSTILE, 5e9, 1e9), {HOSTILE: cost.StageCost(70, 11)})
    assert picture.png("dark") and "<img src=x" not in picture._repr_html_().replace("&lt;", "")


def test_the_widget_sends_the_numbers_of_cost() -> None:
    widget = Roofline(b=8, length=256, d_model=768, h=12, n_kv_heads=4, bytes_per_number=2, device=2)
    machine = cost.PUBLISHED[2]
    for phase, n, cached in (("decode", 1, 256), ("prefill", 256, 0)):
        widget.phase = phase
        costs = cost.stage_costs(8, n, 768, 12, 4, cached, 2)
        rows = {row["stage"]: row for row in widget.answer["rows"]}
        assert list(rows) == [*costs, "total"] and widget.costs() == costs and widget.on is machine
        for stage, one in costs.items():
            assert rows[stage]["intensity"] == one.intensity
            assert rows[stage]["attainable"] == machine.attainable(one.intensity)
            assert rows[stage]["texts"]["seconds"] == numerals.prefixed(machine.least_seconds(one), "s")
            assert rows[stage]["exact"]["flops"] == f"{one.flops:,} FLOPs"
            assert rows[stage]["bound"] == bound_by(one, machine)
        total = cost.total_cost(costs)
        assert rows["total"]["exact"]["bytes"] == f"{total.bytes:,} bytes"
        assert (
            rows["total"]["exact"]["parameters"]
            == f"{cost.parameter_count(768, 12, n_kv_heads=4):,} parameters"
        )
        least = sum(machine.least_seconds(one) for one in costs.values())
        assert rows["total"]["texts"]["seconds"] == numerals.prefixed(least, "s")
    assert widget.answer["cache"] == numerals.prefixed(cost.kv_cache_bytes(8, 256, 768, 12, 4), "B")
    widget.fused = True
    assert [row["stage"] for row in widget.answer["rows"]] == [
        "projections",
        "attention",
        "output_projection",
        "total",
    ]
    data, metadata = widget._repr_mimebundle_()
    assert "image/png" in data and metadata["image/png"]["alt"] == widget.alt and "prefill" in widget.alt


def test_words_say_what_limits_and_from_which_batch_on() -> None:
    widget = Roofline()
    assert widget.answer["words"].startswith("Every stage is bound by memory")
    need = math.ceil(cost.batch_at_the_ridge(cost.PUBLISHED[0], 4096))
    assert f"from b = {need} on; here b is 1" in widget.answer["words"]
    assert "stays at 0.994 FLOP/byte for every b" in widget.answer["words"]
    widget.b = 256
    assert "0.994 FLOP/byte" in widget.answer["words"]
    assert "Bound by compute: projections and W_O" in widget.answer["words"]
    widget.n_kv_heads, widget.d_model = 1, 64
    assert "stays bound by memory here, however large b is" in widget.answer["words"]
    widget.phase = "prefill"
    assert "Attention over the cache" not in widget.answer["words"]
    one = Roofline(cost.Machine("slow", 1.0, 1e9), phase="prefill", length=64, d_model=64, h=2)
    assert one.answer["words"].startswith("Every stage is bound by compute")


def test_own_machine_comes_first_and_a_peak_for_other_numbers_is_warned_of() -> None:
    own = Roofline(OWN, length=64, d_model=512, h=8)
    assert own.devices == [OWN.name, *(one.name for one in cost.PUBLISHED)]
    assert own.bytes_per_number == 4 and own.on is OWN and own.answer["notice"] == ""
    own.bytes_per_number = 1
    assert "4 bytes a number" in own.answer["notice"]
    own.device = 1
    assert "may be higher" in own.answer["notice"]
    own.bytes_per_number = 2
    assert own.answer["notice"] == "" and own.on is cost.PUBLISHED[0]
    assert "is lower" in Roofline(bytes_per_number=4).answer["notice"]


def test_heads_move_to_divisors_and_plain_heads_stay_plain() -> None:
    widget = Roofline(d_model=768, h=48, length=16)
    widget.d_model = 512
    assert (widget.h, widget.n_kv_heads) == (32, 32)
    assert widget.answer["moved"][0].startswith("h moved from 48 to 32: 48 does not divide d_model = 512.")
    widget.d_model = 768
    assert (widget.h, widget.n_kv_heads, widget.answer["moved"]) == (48, 48, [])
    widget.n_kv_heads = 16
    widget.h = 24
    assert (widget.h, widget.n_kv_heads) == (24, 12)
    assert "n_kv_heads moved from 16 to 12" in widget.answer["moved"][0]
    assert widget.answer["stops"]["n_kv_heads"] == [1, 2, 3, 4, 6, 8, 12, 24]
    widget.h = 48
    assert (widget.n_kv_heads, widget.answer["moved"]) == (16, [])
    widget.set_state({"h": 8, "n_kv_heads": 8, "stamp": 1})
    widget.set_state({"h": 16, "stamp": 2})
    assert (widget.h, widget.n_kv_heads) == (16, 16)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"d_model": 10, "h": 3}, "cannot be split into h=3"),
        ({"h": 8, "n_kv_heads": 3}, "n_kv_heads=3"),
        ({"b": 0}, "b=0"),
        ({"length": 2.5}, "length=2.5"),
        ({"length": 10**9}, "at most"),
        ({"phase": "encode"}, "decode or prefill"),
        ({"bytes_per_number": 3}, "4, 2 or 1"),
        ({"bytes_per_number": True}, "4, 2 or 1"),
        ({"fused": "a"}, "fused='a'"),
        ({"device": 3}, "there are 3 machines"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Roofline(**arguments)


def test_a_machine_is_a_machine() -> None:
    with pytest.raises(TypeError, match="cost.Machine"):
        Roofline("my laptop")
    hostile = Roofline(cost.Machine(HOSTILE, 3e9, 1e9, HOSTILE), length=16, d_model=64, h=4)
    assert hostile.devices[0] == HOSTILE and HOSTILE in hostile.answer["machine"]["note"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("b", 0), ("length", 10**9), ("h", 0), ("device", 9), ("phase", "x"), ("n_kv_heads", -1)),
        ("bytes_per_number", True),
    ],
)
def test_a_setting_that_cannot_be_drawn_stays_as_it_was(name: str, value: object) -> None:
    widget = Roofline(b=2, length=16, d_model=64, h=4)
    before, answer = getattr(widget, name), widget.answer
    with pytest.raises(Exception, match=f"{name}"):
        setattr(widget, name, value)
    assert getattr(widget, name) == before and widget.answer == answer
