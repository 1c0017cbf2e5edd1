"""The OutputMixer: shares, switches and names, on its own sentence and on a trace that is handed in."""

from __future__ import annotations

import json

import pytest
import torch

from mha_course.layers import MultiHeadAttention
from mha_course.widgets.mixer_numbers import mixer_numbers
from mha_course.widgets.output_mixer import OutputMixer

N, D_MODEL, H, D_V = 5, 6, 3, 4


def layer_and_trace(bias: bool = False, b: int = 2):
    torch.manual_seed(3)
    layer = MultiHeadAttention(D_MODEL, H, d_k=2, d_v=D_V, bias=bias).double()
    if bias:
        torch.nn.init.normal_(layer.w_o.bias)
    with torch.no_grad():
        return layer, layer.trace(torch.randn(b, N, D_MODEL, dtype=torch.float64))


def test_shares_are_the_traces_contributions() -> None:
    layer, trace = layer_and_trace(bias=True)
    mixer = OutputMixer(trace, layer.w_o, token=2)
    torch.testing.assert_close(mixer.numbers.shares, trace.contributions[0].transpose(0, 1))
    torch.testing.assert_close(mixer.output(), trace.output[0, 2])
    assert mixer.moved() < 1e-12
    assert 0 <= mixer.numbers.gap() < 1e-12


def test_a_head_that_is_off_gives_nothing() -> None:
    layer, trace = layer_and_trace(bias=True)
    mixer = OutputMixer(trace, layer.w_o.weight.T, token=1)
    mixer.on = [True, False, True, True]
    heads = trace.heads.clone()
    heads[:, 1] = 0
    expected = layer.w_o(heads.transpose(1, 2).reshape(2, N, H * D_V))[0, 1].detach()
    torch.testing.assert_close(mixer.output(), expected)
    whole = trace.output[0, 1]
    assert mixer.moved() == pytest.approx(float((expected - whole).norm() / whole.norm()))
    mixer.on = [False, False, False, True]
    torch.testing.assert_close(mixer.output(), layer.w_o.bias)


def test_the_browser_gets_what_it_needs_for_the_same_sums() -> None:
    layer, trace = layer_and_trace(bias=True)
    sent = OutputMixer(trace, layer.w_o).answer
    assert [group["title"] for group in sent["groups"]] == ["head 1", "head 2", "head 3", "bias"]
    assert [group["fixed"] for group in sent["groups"]] == [False, False, False, True]
    shares = torch.tensor(sent["shares"], dtype=torch.float64)
    assert shares.shape == (N, H + 1, D_MODEL)
    torch.testing.assert_close(shares.sum(1), trace.output[0], atol=1e-4, rtol=0)
    products = torch.tensor(sent["products"], dtype=torch.float64)
    off = torch.tensor([1.0, 0.0, 1.0, 0.0], dtype=torch.float64)
    for token in range(N):
        moved = (off @ products[token] @ off).sqrt() / sent["lengths"][token]
        assert float(moved) == pytest.approx(
            OutputMixer(trace, layer.w_o).numbers.moved(token, [False, True, False])
        )


def test_its_own_sentence_runs_in_float64() -> None:
    mixer = OutputMixer(token="oboe", d_model=8, h=2)
    assert mixer.answer["tokens"][mixer.token] == "oboe"
    assert mixer.answer["dtype"] == "float64" and float(mixer.answer["gap"]) < 1e-12
    assert mixer.numbers.d_v == 4 and mixer.answer["text"]["wo"] == "8 × 8, a band of 4 rows a head"


def test_sentences_differ_by_seed_only_and_leave_the_global_one() -> None:
    before = torch.random.get_rng_state()
    first, same, other = (OutputMixer(sentence="the old cat", d_model=6, h=3, seed=s) for s in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.equal(first.numbers.shares, same.numbers.shares)
    assert not torch.equal(first.numbers.shares, other.numbers.shares)


def test_wrong_weights_are_named() -> None:
    torch.manual_seed(0)
    square = MultiHeadAttention(6, 2)
    trace = square.trace(torch.randn(1, 4, 6))
    with pytest.raises(ValueError, match="transposed"):
        OutputMixer(trace, square.w_o.weight)
    with pytest.raises(ValueError, match="another layer"):
        OutputMixer(trace, torch.randn(6, 6))
    with pytest.raises(ValueError, match="pass w_o"):
        OutputMixer(trace)
    with pytest.raises(ValueError, match="3 tokens for a trace of 4"):
        OutputMixer(trace, square.w_o, tokens=["a", "b", "c"])
    with pytest.raises(ValueError, match="no token 'dog'"):
        OutputMixer(sentence="the cat", token="dog", d_model=4, h=2)
    with pytest.raises(ValueError, match="empty"):
        OutputMixer(sentence="   ")
    with pytest.raises(ValueError, match="= 6 rows"):
        mixer_numbers(torch.randn(2, 4, 3), torch.randn(5, 7))


def test_names_are_data() -> None:
    heads = torch.randn(2, 3, 4, dtype=torch.float64)
    w_o = torch.randn(8, 5, dtype=torch.float64)
    hostile = ["<img src=x onerror=alert(1)>", "三月", "العربية", "👩‍👩‍👧", "$x$"]
    layer, trace = layer_and_trace()
    with pytest.raises(ValueError, match="feature_names has 5 names"):
        OutputMixer(trace, layer.w_o, feature_names=hostile)
    with pytest.raises(ValueError, match="head_feature_names"):
        OutputMixer(trace, layer.w_o, head_feature_names=[["a"] * D_V] * 2)
    names = [[f"h{i}f{j}" for j in range(D_V)] for i in range(H)]
    mixer = OutputMixer(
        trace, layer.w_o, tokens=hostile, feature_names=[*hostile, "mood"], head_feature_names=names
    )
    assert mixer.answer["tokens"] == hostile
    assert mixer.answer["featureNames"] == [*hostile, "mood"]
    assert mixer.answer["groups"][1]["names"] == names[1]
    numbers = mixer_numbers(heads, w_o)
    assert (numbers.n, numbers.h, numbers.d_v, numbers.d_model) == (3, 2, 4, 5)


def test_many_heads_are_gathered_and_said() -> None:
    mixer = OutputMixer(sentence="one two three", d_model=48, h=16)
    groups = mixer.answer["groups"]
    assert len(groups) == 13 and groups[12]["title"] == "heads 13 to 16"
    assert "the first 32 of 48 output features" in mixer.answer["note"]
    mixer.on = [True] * 12 + [False]
    assert mixer.heads_on() == [True] * 12 + [False] * 4
    expected = mixer.numbers.shares[mixer.token, :12].sum(0)
    torch.testing.assert_close(mixer.output(), expected)
    assert len(json.dumps(mixer.answer)) < 200_000


def test_the_token_stays_inside_the_sentence() -> None:
    mixer = OutputMixer(sentence="one two three", d_model=6, h=2)
    assert mixer.token == 1
    mixer.token = 40
    assert mixer.token == 2
