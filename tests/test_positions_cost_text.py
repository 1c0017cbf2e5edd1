"""positions.py, cost.py, attention_maps.py, text/ and the palette: small parts with exact answers."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
import torch

from mha_course import cost, data_files, theme
from mha_course.attention_maps import AttentionMaps
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.models.word_vectors import token_vectors
from mha_course.positions import shift_matrix, sinusoidal_encoding
from mha_course.text.sentences import COURSE_SENTENCES
from mha_course.text.tokens import tokenize
from mha_course.text.vocabulary import Vocabulary


def test_sinusoids_entry_by_entry() -> None:
    n, d_model = 7, 6
    pe = sinusoidal_encoding(n, d_model, dtype=torch.float64)
    for p in range(n):
        for j in range(3):
            angle = p / 10000 ** (2 * j / d_model)
            assert pe[p, 2 * j].item() == pytest.approx(math.sin(angle))
            assert pe[p, 2 * j + 1].item() == pytest.approx(math.cos(angle))
    assert torch.allclose(pe.pow(2).sum(-1), torch.tensor(d_model / 2, dtype=torch.float64))
    assert torch.equal(sinusoidal_encoding(4, d_model, start=3, dtype=torch.float64), pe[3:])


def test_a_shift_is_one_rotation_for_every_position() -> None:
    pe = sinusoidal_encoding(9, 8, dtype=torch.float64)
    rotation = shift_matrix(2, 8, dtype=torch.float64)
    assert torch.allclose(pe[:-2] @ rotation.T, pe[2:], atol=1e-12)
    assert torch.allclose(rotation @ rotation.T, torch.eye(8, dtype=torch.float64), atol=1e-12)
    back = shift_matrix(-3, 8, dtype=torch.float64)
    assert torch.allclose(rotation @ back, shift_matrix(-1, 8, dtype=torch.float64), atol=1e-12)


@pytest.mark.parametrize("d_model", [0, 1, 7, -2])
def test_odd_widths_are_refused(d_model: int) -> None:
    with pytest.raises(ValueError, match="even"):
        sinusoidal_encoding(5, d_model)


@pytest.mark.parametrize(
    "options",
    [{}, {"bias": True}, {"d_k": 5, "d_v": 7}, {"n_kv_heads": 2, "bias": True}, {"d_v": 3, "n_kv_heads": 1}],
    ids=str,
)
def test_parameters_counted_by_formula_and_by_torch(options) -> None:
    layer = MultiHeadAttention(24, 4, **options)
    assert cost.parameter_count(24, 4, **options) == sum(p.numel() for p in layer.parameters())


def test_flops_counted_by_formula_and_by_torch() -> None:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    b, n, n_k, d_model, h = 2, 5, 7, 24, 3
    layer = MultiHeadAttention(d_model, h, d_k=4, d_v=9)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        layer(torch.randn(b, n, d_model), torch.randn(b, n_k, d_model))
    stages = cost.attention_flops(n, d_model, h, b=b, n_k=n_k, d_k=4, d_v=9)
    assert stages["total"] == counter.get_total_flops()
    assert stages["total"] == sum(v for k, v in stages.items() if k != "total")


def test_flops_and_parameters_do_not_depend_on_h() -> None:
    n, d_model = 11, 64
    totals = {cost.attention_flops(n, d_model, h)["total"] for h in (1, 2, 8, 64)}
    assert totals == {8 * n * d_model**2 + 4 * n**2 * d_model} == {391_424}
    assert {cost.parameter_count(d_model, h) for h in (1, 2, 8, 64)} == {16_384}


def test_maps_of_a_trace() -> None:
    torch.manual_seed(0)
    layer = MultiHeadAttention(12, 3)
    trace = layer.trace(torch.randn(2, 5, 12), torch.randn(2, 7, 12), mask=causal_mask(5, 7))
    maps = AttentionMaps.from_trace(trace, "abcde", "tuvwxyz", sentence=1, kind="cross")
    assert (maps.n_layers, maps.n_heads) == (1, 3)
    assert torch.equal(maps.weights[0], trace.weights[1])
    assert torch.equal(maps.allowed, causal_mask(5, 7))
    assert maps.query_tokens == ("a", "b", "c", "d", "e")
    with pytest.raises(ValueError, match="n_q=5, n_k=7"):
        AttentionMaps.from_trace(trace, "tuvwxyz", "abcde")
    with pytest.raises(ValueError, match="layers, heads"):
        AttentionMaps(trace.weights[1], "abcde", "tuvwxyz")
    with pytest.raises(ValueError, match="allowed"):
        AttentionMaps(trace.weights, "abcde", "tuvwxyz", allowed=causal_mask(7, 5))


def test_spread_runs_from_one_key_to_all_keys() -> None:
    sharp = torch.zeros(5, 7)
    sharp[:, 3] = 1
    even = torch.full((5, 7), 1 / 7)
    half = torch.zeros(5, 7)
    half[:4, 3] = 1  # the last row has nothing to attend to and must not count
    maps = AttentionMaps(torch.stack([sharp, even, half])[None], "abcde", "tuvwxyz")
    assert torch.allclose(maps.spread(), torch.tensor([[0.0, 1.0, 0.0]]), atol=1e-6)
    assert AttentionMaps(torch.ones(1, 1, 1, 1), "a", "t").spread().item() == 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cat, don't you know?", ["The", "cat", ",", "don't", "you", "know", "?"]),
        ("well-read at 3.5 km.", ["well-read", "at", "3.5", "km", "."]),
        ("三月里", ["三", "月", "里"]),
        ("صديقي يحب", ["صديقي", "يحب"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("hi 👩‍👩‍👧‍👦❤️", ["hi", "👩‍👩‍👧‍👦", "❤️"]),
        ("cafe\u0301", ["cafe\u0301"]),
        ("[PAD] [x]", ["[PAD]", "[", "x", "]"]),
        ("<b>&", ["<", "b", ">", "&"]),
        ("a\u202eb\u0000\u200b", ["a", "b"]),
        (" \n\t ", []),
        ("", []),
    ],
)
def test_sentences_become_tokens(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


def test_a_very_long_text_is_cut_quickly() -> None:
    assert len(tokenize("a" * 10_000)) == 1
    assert len(tokenize("'-." * 10_000)) == 30_000


def test_vocabulary_goes_both_ways_and_knows_what_it_does_not_know() -> None:
    vocabulary = Vocabulary(["the", "cat", "the", "sleeps"])
    assert len(vocabulary) == 5
    assert vocabulary.encode(["cat", "dog", "the"]) == [3, 1, 2]
    assert vocabulary.decode(torch.tensor([3, 1, 2])) == ["cat", "<unk>", "the"]
    assert "cat" in vocabulary
    assert "dog" not in vocabulary
    for wrong in (5, -1):
        with pytest.raises(IndexError, match="ids 0 to 4"):
            vocabulary.decode([wrong])


def test_the_same_word_has_the_same_vector_and_the_global_seed_is_left_alone() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    x = token_vectors(["the", "cat", "the", "三"], 10)
    assert torch.equal(torch.rand(3), expected)
    assert x.shape == (4, 10)
    assert torch.equal(x[0], x[2])
    assert not torch.equal(x[0], x[1])
    assert not torch.equal(token_vectors(["the"], 10, seed=1)[0], x[0])
    assert token_vectors([], 10).shape == (0, 10)
    many = token_vectors([str(i) for i in range(500)], 20)
    assert many.mean().abs() < 0.05
    assert many.std().item() == pytest.approx(1, abs=0.05)


def test_course_sentences_are_clean() -> None:
    assert len(COURSE_SENTENCES) == len(set(COURSE_SENTENCES)) >= 12
    assert all(sentence == " ".join(tokenize(sentence)) for sentence in COURSE_SENTENCES)


def test_missing_data_is_one_clear_error(tmp_path, monkeypatch) -> None:
    with pytest.raises(FileNotFoundError, match=r"data/nothing\.bin is missing"):
        data_files.data_path("nothing.bin")
    monkeypatch.setattr(data_files, "DATA_FOLDER", tmp_path / "gone")
    with pytest.raises(FileNotFoundError, match="folder data/ is missing"):
        data_files.data_path("course_sentences.txt")


def test_palette_has_256_steps_and_starts_at_the_surface() -> None:
    for name in ("light", "dark"):
        assert len(theme.sequential(name)) == len(theme.diverging(name)) == 256
        assert theme.sequential(name)[0] == theme.colours(name)["surface"]
        assert len({theme.head_colour(i, name) for i in range(12)}) == 12
        assert theme.head_colour(12, name) == theme.head_colour(0, name)
    assert theme.contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert theme.text_on("#201E61") == "#FFFFFF"
    assert theme.text_on("#C7E5FD") == "#000000"


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = {"torch", "numpy", "matplotlib", "ipywidgets"}
    code = f"import sys, mha_course; print(sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert loaded == "[]"
