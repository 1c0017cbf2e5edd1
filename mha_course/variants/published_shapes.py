"""Sizes of published language models, and what their attention costs by formula."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mha_course import cost


@dataclass(frozen=True)
class Shape:
    """Sizes of a decoder with grouped heads, no bias, and a gated feed-forward layer (three matrices).

    d_ff: width of the feed-forward layer; vocabulary: rows of the embedding and of the output matrix, which
    are two different ones. Norms learn 2 d_model numbers a layer, and d_model at the end.
    """

    name: str
    n_layers: int
    d_model: int
    h: int
    n_kv_heads: int
    d_ff: int
    vocabulary: int
    source: str

    @property
    def d_k(self) -> int:
        """d_model / h."""
        return self.d_model // self.h

    def sharing(self, n_kv_heads: int) -> Shape:
        """The same model with another number of key/value heads."""
        return replace(self, n_kv_heads=n_kv_heads)

    @property
    def attention_parameters(self) -> int:
        """Learned numbers of one layer's W_Q, W_K, W_V and W_O: 2 d^2 + 2 d n_kv_heads d_k."""
        return cost.parameter_count(self.d_model, self.h, n_kv_heads=self.n_kv_heads)

    @property
    def parameters(self) -> int:
        """All learned numbers."""
        layer = self.attention_parameters + 3 * self.d_model * self.d_ff + 2 * self.d_model
        return self.n_layers * layer + 2 * self.vocabulary * self.d_model + self.d_model

    def cache_bytes(self, tokens: int = 1, bytes_per_number: int = 2) -> int:
        """Bytes of the keys and values of so many tokens, in all layers."""
        return cost.kv_cache_bytes(
            1, tokens, self.d_model, self.h, self.n_kv_heads, self.n_layers, bytes_per_number
        )

    def tokens_beside_weights(self, memory_bytes: float, bytes_per_number: int = 2) -> int:
        """Cached tokens, of all requests, that fit into a memory beside the weights; 0 when none do."""
        left = memory_bytes - self.parameters * bytes_per_number
        return max(0, int(left // self.cache_bytes(1, bytes_per_number)))

    def tokens_as_heavy_as_weights(self) -> float:
        """Cached tokens from which on a step of decoding reads more of the cache than of the weights."""
        return self.parameters / self.cache_bytes(1, bytes_per_number=1)


_CARD = "LLaMA 3.1 model card and code"
LLAMA_8B = Shape("LLaMA 3.1 8B", 32, 4096, 32, 8, 14_336, 128_256, _CARD)
LLAMA_70B = Shape("LLaMA 3.1 70B", 80, 8192, 64, 8, 28_672, 128_256, _CARD)
