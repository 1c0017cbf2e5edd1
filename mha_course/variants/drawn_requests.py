"""Requests whose answers differ in length as much as one likes, with the same number of tokens in all."""

from __future__ import annotations

import math

import torch

from mha_course.sizes import check_number, check_sizes
from mha_course.variants.continuous_batching import Request


def drawn_requests(
    count: int, tokens: int = 64, spread: float = 1.0, gap: float = 0.0, prompt: int = 256, seed: int = 0
) -> list[Request]:
    """Requests whose answers are `tokens` long in the mean, in an order drawn from the seed.

    spread: the longest answer over the shortest, before rounding to whole tokens; lengths rise by equal
    factors from one to the other. gap: seconds from one arrival to the next; 0: all are there at the start.
    prompt: tokens that each brings. Whatever the spread, the answers have count x tokens tokens together.
    Raises: ValueError for counts below 1, a spread below 1 or so large that no token were left for the
    shortest, and a gap that is negative or not finite.
    """
    count, tokens, prompt = check_sizes(count=count, tokens=tokens, prompt=prompt)
    (seed,) = check_sizes(0, seed=seed)
    check_number(1, spread=spread)
    check_number(0, gap=gap)
    shares = [spread ** (i / max(1, count - 1)) for i in range(count)]
    exact = [count * tokens * share / sum(shares) for share in shares]
    lengths = [math.floor(one) for one in exact]
    # Tokens lost by rounding go to those who lost most.
    for i in sorted(range(count), key=lambda i: lengths[i] - exact[i])[: count * tokens - sum(lengths)]:
        lengths[i] += 1
    if min(lengths) < 1:
        raise ValueError(f"spread={spread}: with {tokens} tokens in the mean the shortest answer has none.")
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed)).tolist()
    return [Request(prompt, lengths[place], gap * i) for i, place in enumerate(order)]
