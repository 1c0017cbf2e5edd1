"""The KV cache: keys and values of earlier tokens are kept, and a new token needs its own only.

What is kept are the n_kv_heads key/value heads, before they are shared out, keys already turned where
positions are rotary. Source: Shazeer 2019; LLaMA 3 code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from mha_course.attention import check_tensors, merge_heads
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.sizes import check_sizes
from mha_course.transformer import Encoder
from mha_course.variants.grouped_query import grouped_attention
from mha_course.variants.plain_heads import check_plain_heads


class KVCache:
    """Room for the keys and values of `longest` tokens of b sequences; filled from the left.

    d_v: as d_k when left out. The room is taken at once, so that nothing is copied when a token comes.
    Raises: ValueError for sizes below 1.
    """

    def __init__(
        self,
        b: int,
        n_kv_heads: int,
        longest: int,
        d_k: int,
        d_v: int | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        (n_kv_heads,) = check_sizes(0, n_kv_heads=n_kv_heads)  # 0: a layer of which all heads were pruned
        d_v = d_k if d_v is None else d_v
        b, longest, d_k, d_v = check_sizes(b=b, longest=longest, d_k=d_k, d_v=d_v)
        self._k = torch.zeros(b, n_kv_heads, longest, d_k, dtype=dtype)
        self._v = torch.zeros(b, n_kv_heads, longest, d_v, dtype=dtype)
        self.length, self.longest = 0, longest

    @classmethod
    def for_layer(cls, layer: MultiHeadAttention, b: int, longest: int) -> KVCache:
        """An empty cache that fits a layer."""
        dtype = next((number.dtype for number in layer.parameters()), torch.get_default_dtype())
        return cls(b, layer.n_kv_heads, longest, layer.d_k, layer.d_v, dtype)

    @property
    def k(self) -> Tensor:
        """(b, n_kv_heads, length, d_k): the keys so far."""
        return self._k[:, :, : self.length]

    @property
    def v(self) -> Tensor:
        """(b, n_kv_heads, length, d_v): the values so far."""
        return self._v[:, :, : self.length]

    @property
    def bytes_used(self) -> int:
        """b length n_kv_heads (d_k + d_v) times the bytes of a number."""
        return self.k.nelement() * self._k.element_size() + self.v.nelement() * self._v.element_size()

    @property
    def bytes_taken(self) -> int:
        """The same for the whole room."""
        return self._k.nbytes + self._v.nbytes

    def check_room(self, n: int) -> None:
        """Raise ValueError unless n more tokens fit."""
        if self.length + n > self.longest:
            raise ValueError(f"the cache holds {self.longest} tokens; {self.length} + {n} don't fit.")

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add keys (b, n_kv_heads, n, d_k) and values (b, n_kv_heads, n, d_v). Returns all so far.

        No gradients are kept. Raises: ValueError for other shapes or dtypes, and when the room is too small.
        """
        check_tensors(k=k, v=v)
        for name, new, room in (("k", k, self._k), ("v", v, self._v)):
            b, heads, _, width = room.shape
            if (
                new.ndim != 4
                or (*new.shape[:2], new.shape[3]) != (b, heads, width)
                or new.dtype != room.dtype
            ):
                raise ValueError(
                    f"{name} must be ({b}, {heads}, n, {width}) of {room.dtype}; got {tuple(new.shape)} of "
                    f"{new.dtype}."
                )
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"every key needs one value; got {k.shape[2]} and {v.shape[2]}.")
        self.check_room(k.shape[2])
        end = self.length + k.shape[2]
        self._k[:, :, self.length : end] = k.detach()
        self._v[:, :, self.length : end] = v.detach()
        self.length = end
        return self.k, self.v


@torch.no_grad()
def attend_with_cache(layer: MultiHeadAttention, x: Tensor, cache: KVCache) -> Tensor:
    """Causal self-attention of new tokens x (b, n, d_model) behind those in the cache, which grows by them.

    Equal to the last n rows of `layer(everything, mask=causal_mask(...))`. A layer with rotary positions
    turns by the positions from cache.length on. Returns: (b, n, d_model). Raises: ValueError when layer, x
    and cache don't go together, when the cache is full, and for a layer whose heads meet, as talking heads
    do."""
    check_tensors(x=x)
    if layer.h:
        check_plain_heads(layer, "a cache of keys and values is not enough for it")
    if x.ndim != 3 or x.shape[-1] != layer.d_model:
        raise ValueError(f"x must be (b, n, d_model={layer.d_model}); got {tuple(x.shape)}.")
    if x.dtype != cache.k.dtype:
        raise ValueError(f"x has dtype {x.dtype}, the cache {cache.k.dtype}; convert one with .to(...).")
    if not x.shape[1]:
        raise ValueError("x has no token (n = 0), so there is nothing to add to the cache.")
    n, start = x.shape[1], cache.length
    k, v = cache.append(*layer.shared_keys_and_values(x, x, start))
    if not layer.h:
        return layer(x)
    # One new token may see everything, so it needs no mask, and the kernel is faster without.
    mask = None if n == 1 else causal_mask(n, cache.length)
    heads = grouped_attention(layer.queries(x, start), k, v, mask, layer.scale)
    return layer.w_o(merge_heads(heads if layer.gate is None else layer.gate(heads)))


@torch.no_grad()
def stack_with_caches(stack: Encoder, x: Tensor, caches: Sequence[KVCache]) -> Tensor:
    """New tokens x (b, n, d_model) through a causal stack, one cache a layer.

    Equal to the last n rows of `stack(everything, causal_mask(...))`.
    Raises: ValueError unless there is a cache for every layer, and as `attend_with_cache`.
    """
    if len(caches) != len(stack.layers):
        raise ValueError(f"{len(stack.layers)} layers need as many caches; got {len(caches)}.")
    for cache in caches:
        cache.check_room(x.shape[-2])  # of all, before the first one grows
    for layer, cache in zip(stack.layers, caches, strict=True):
        attention = layer.attention
        x = layer.around_attention(x, lambda y, a=attention, c=cache: attend_with_cache(a, y, c))
        x = layer.around_feed_forward(x, layer.feed_forward)
    return stack.last_norm(x)


@torch.no_grad()
def decode(
    stack: Encoder,
    prompt: Tensor,
    new_tokens: int,
    read_on: Callable[[Tensor], Tensor],
    cached: bool = True,
) -> Tensor:
    """Let a causal stack go on from a prompt (b, n, d_model), token by token.

    read_on: turns the last output (b, d_model) into the next input (b, d_model): picks a word and embeds it,
    for instance. cached=False computes the whole text again for every token, with equal results.

    Returns: the outputs after the prompt and after each new token but the last, (b, new_tokens, d_model).
    Raises: ValueError for new_tokens below 1 and as `stack_with_caches`.
    """
    (new_tokens,) = check_sizes(new_tokens=new_tokens)
    b, n, _ = prompt.shape
    caches = (
        [KVCache.for_layer(layer.attention, b, n + new_tokens) for layer in stack.layers] if cached else []
    )
    text, new, outputs = prompt, prompt, []
    for _ in range(new_tokens):
        if cached:
            out = stack_with_caches(stack, new, caches)
        else:
            out = stack(text, causal_mask(text.shape[1])[None])
        outputs.append(out[:, -1])
        new = read_on(outputs[-1])[:, None]
        if not cached:
            text = torch.cat((text, new), dim=1)
    return torch.stack(outputs, dim=1)
