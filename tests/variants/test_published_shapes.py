"""Sizes of LLaMA 3.1: parameters as published, caches as computed by hand."""

from __future__ import annotations

import pytest

from mha_course import cost
from mha_course.variants.published_shapes import LLAMA_8B, LLAMA_70B


def test_parameters_are_those_published() -> None:
    """8.03 and 70.6 billion; attention's share with shared heads and with plain ones."""
    assert LLAMA_8B.parameters == 8_030_261_248
    assert LLAMA_70B.parameters == 70_553_706_496
    assert LLAMA_8B.attention_parameters == 41_943_040
    assert LLAMA_8B.sharing(32).attention_parameters == 67_108_864
    assert (LLAMA_8B.d_k, LLAMA_70B.d_k) == (128, 128)


def test_bytes_of_a_token() -> None:
    assert LLAMA_8B.cache_bytes() == 131_072
    assert LLAMA_8B.sharing(32).cache_bytes() == 524_288 == 4 * LLAMA_8B.cache_bytes()
    assert LLAMA_8B.sharing(1).cache_bytes() == 16_384
    assert LLAMA_70B.cache_bytes() == 327_680
    assert LLAMA_8B.cache_bytes(3000, 1) == 3000 * 131_072 / 2


def test_how_many_tokens_fit_and_weigh_as_much() -> None:
    assert LLAMA_8B.tokens_as_heavy_as_weights() == pytest.approx(122_532, abs=1)
    assert LLAMA_8B.tokens_beside_weights(80e9) == int((80e9 - 2 * LLAMA_8B.parameters) // 131_072)
    assert LLAMA_70B.tokens_beside_weights(80e9) == 0  # 141 GB of weights
    assert LLAMA_70B.tokens_beside_weights(80e9, bytes_per_number=1) > 0


def test_intensity_of_its_decoding() -> None:
    """Four query heads share a key head: nearly 4 FLOP per byte at 16 bits, as in the reference."""
    sizes = (LLAMA_8B.d_model, LLAMA_8B.h)
    shared, plain = (
        cost.stage_costs(5, 1, *sizes, kv, cached=4095, fused=True)["attention"].intensity for kv in (8, 32)
    )
    assert shared == pytest.approx(3.996, abs=1e-3)
    assert plain == pytest.approx(0.9998, abs=1e-4)


def test_what_cannot_be_is_named() -> None:
    with pytest.raises(ValueError, match="n_kv_heads=5"):
        LLAMA_8B.sharing(5).cache_bytes()
