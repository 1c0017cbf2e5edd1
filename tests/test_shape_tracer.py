"""The ShapeTracer's numbers come from one real run, and its sizes can never be impossible."""

from __future__ import annotations

import json
import math
import threading

import pytest
import torch

from mha_course import attention
from mha_course.attention import divisor_at_most, divisors
from mha_course.models.random_layer import random_layer
from mha_course.models.word_vectors import token_vectors
from mha_course.widgets.shape_frame import STEP_NAMES, course_batch, drawn_part, shape_frame, step_table
from mha_course.widgets.shape_tracer import ShapeTracer

B, N, D_MODEL, H = 2, 5, 12, 3


def traced(n: int, d_model: int, h: int, seed: int = 0):
    layer = random_layer(d_model, h, seed)
    with torch.no_grad():
        return layer, layer.trace(token_vectors(course_batch(1, n)[0], d_model, seed=seed)[None])


def test_stages_are_those_of_the_layer() -> None:
    frame = shape_frame(B, N, D_MODEL, H)
    _, trace = traced(N, D_MODEL, H)
    for stage in ("q", "k", "v", "scores", "weights", "heads"):
        torch.testing.assert_close(torch.tensor(frame[stage]), getattr(trace, stage)[0], atol=6e-5, rtol=0)
    torch.testing.assert_close(torch.tensor(frame["output"]), trace.output[0], atol=6e-5, rtol=0)
    assert torch.tensor(frame["weights"]).shape == (H, N, N)
    assert torch.tensor(frame["heads"]).shape == (H, N, D_MODEL // H)


def test_panels_can_be_followed_by_hand() -> None:
    frame = shape_frame(B, N, D_MODEL, H)
    x, d_k = torch.tensor(frame["x"]), D_MODEL // H
    w_k = torch.tensor(frame["w_k"]).reshape(D_MODEL, D_MODEL)
    keys = attention.split_heads((x @ w_k)[None], H)[0]
    torch.testing.assert_close(keys, torch.tensor(frame["k"]), atol=2e-3, rtol=0)
    scores = torch.tensor(frame["q"]) @ torch.tensor(frame["k"]).transpose(1, 2) / math.sqrt(d_k)
    torch.testing.assert_close(scores, torch.tensor(frame["scores"]), atol=2e-3, rtol=0)
    powers = (torch.tensor(frame["scores"]) - torch.tensor(frame["row_tops"])[..., None]).exp()
    torch.testing.assert_close(powers.sum(-1), torch.tensor(frame["exp_sums"]), atol=2e-3, rtol=0)
    concat = torch.tensor(frame["heads"]).transpose(0, 1).reshape(N, D_MODEL)
    w_o = torch.tensor(frame["w_o"]).reshape(D_MODEL, D_MODEL)
    torch.testing.assert_close(concat @ w_o, torch.tensor(frame["output"]), atol=2e-3, rtol=0)


def test_shares_add_up_to_the_output_also_where_heads_are_left_out() -> None:
    for n, d_model, h in ((4, 12, 3), (3, 64, 16)):
        frame = shape_frame(2, n, d_model, h)
        torch.testing.assert_close(
            torch.tensor(frame["shares"]).sum(1), torch.tensor(frame["output"]), atol=1e-3, rtol=0
        )


def test_split_counts_the_places_of_an_arange_input() -> None:
    frame = shape_frame(B, N, D_MODEL, H)
    assert frame["count_heads"][1][2] == [28, 29, 30, 31]
    assert frame["count_x"][2] == [[24, 25, 26, 27], [28, 29, 30, 31], [32, 33, 34, 35]]
    assert frame["count_merged"] == frame["count_x"]
    heads = attention.split_heads(torch.arange(B * N * D_MODEL).view(B, N, D_MODEL), H)
    wrong = heads.reshape(B, N, D_MODEL)[0]
    assert torch.tensor(frame["count_wrong"]).reshape(N, D_MODEL).tolist() == wrong.tolist()
    assert frame["count_wrong"] != frame["count_x"]


def test_steps_carry_shapes_and_code_with_real_sizes() -> None:
    steps = {step["name"]: step for step in step_table(B, N, D_MODEL, H)}
    assert tuple(steps) == STEP_NAMES
    assert steps["split"]["shape"] == "(2, 3, 5, 4)"
    assert steps["split"]["code"] == "x.view(2, 5, 3, 4).transpose(1, 2)"
    heads = torch.randn(B, H, N, D_MODEL // H)
    scope = {"x": torch.randn(B, N, D_MODEL), "w_q": torch.randn(D_MODEL, D_MODEL), "math": math}
    scope |= {"q": heads, "k": heads, "v": heads, "heads": heads, "scores": torch.randn(B, H, N, N)}
    scope |= {"weights": torch.rand(B, H, N, N), "concat": scope["x"], "w_o": scope["w_q"]}
    for name, step in steps.items():
        result = eval(step["code"], {}, scope)
        if name == "x":
            assert result is True
        else:
            assert str(tuple(result.shape)) == step["shape"].removeprefix("3×"), name


@pytest.mark.parametrize(
    ("n", "d_model", "h"), [(1, 6, 1), (7, 6, 6), (10, 512, 8), (13, 96, 4), (3, 20, 20)]
)
def test_large_sizes_are_cut_and_say_so(n: int, d_model: int, h: int) -> None:
    part = drawn_part(n, d_model, h)
    frame = shape_frame(2, n, d_model, h)
    assert len(frame["q"]) == part.heads <= 6
    assert part.heads * part.features <= 16 and part.columns <= 16 and part.tokens <= 10
    assert len(frame["x"]) == part.tokens and len(frame["x"][0]) == part.columns
    whole = part.heads == h and part.features == d_model // h and part.tokens == n and part.columns == d_model
    assert (frame["note"] == "") is whole
    if part.heads < h:
        assert f"the first {part.heads} of {h} heads" in frame["note"]
    assert len(json.dumps(frame)) < 80_000


def test_short_sentences_go_on_with_the_next_one() -> None:
    batch = course_batch(3, 64)
    assert [len(tokens) for tokens in batch] == [64, 64, 64]
    assert batch[0] != batch[1]


@pytest.mark.parametrize(("sizes", "said"), [
    ({"d_model": 10, "h": 3}, "d_model=10 cannot be split into h=3 equal heads; h can be 1, 2, 5 or 10"),
    ({"n": 0}, "n=0"),
    ({"b": 65}, "b=65"),
    ({"step": 9}, "step=9"),
    ({"step": "merge"}, "step='merge'"),
    ({"h": 0}, "h=0"),
])  # fmt: skip
def test_impossible_sizes_are_refused_by_name(sizes: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        ShapeTracer(**sizes)


def test_h_moves_to_the_next_divisor_below_and_says_so() -> None:
    tracer = ShapeTracer(b=2, n=3, d_model=16, h=8)
    tracer.d_model = 12
    assert tracer.h == 6 == divisor_at_most(12, 8)
    why = "8 does not divide d_model = 12. h can be 1, 2, 3, 4, 6 or 12."
    assert tracer.answer["moved"] == f"h moved from 8 to 6: {why}"
    assert tracer.answer["choices"]["h"] == divisors(12) == [1, 2, 3, 4, 6, 12]
    assert (tracer.answer["d_model"], tracer.answer["h"], tracer.answer["d_k"]) == (12, 6, 2)
    tracer.n = 4
    assert tracer.answer["moved"] and tracer.answer["n"] == 4
    tracer.h = 4
    assert tracer.answer["moved"] == "" and tracer.answer["h"] == 4


def test_given_sizes_are_among_the_stops() -> None:
    tracer = ShapeTracer(b=7, n=9, d_model=20, h=5, step="split")
    choices = tracer.answer["choices"]
    assert 7 in choices["b"] and 9 in choices["n"] and 20 in choices["d_model"]
    assert tracer.step == 3


def test_the_global_seed_and_grad_mode_stay_as_they_are() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    tracer = ShapeTracer(b=1, n=4, d_model=6, h=2)
    tracer.h = 3
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.is_grad_enabled()


def test_callbacks_on_other_threads_leave_one_consistent_picture() -> None:
    tracer = ShapeTracer(b=2, n=3, d_model=24, h=4)

    def move(widths: tuple[int, ...]) -> None:
        for width in widths * 4:
            tracer.d_model = width

    threads = [threading.Thread(target=move, args=(widths,)) for widths in ((6, 16), (8, 12))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    frame = tracer.answer
    assert (frame["d_model"], frame["h"]) == (tracer.d_model, tracer.h)
    assert frame["d_model"] % frame["h"] == 0
