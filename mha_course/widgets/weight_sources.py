"""Where the weights of an explorer come from: one entry a source.

A source turns tokens, d_model, h and a seed into a layer and the vectors it reads. To offer another
kind of weights, add one entry to `SOURCES`. The trained models have a file of their own, `trained_source.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from torch import Tensor

from mha_course.attention import divisors
from mha_course.layers import MultiHeadAttention
from mha_course.models.hand_set import PATTERNS, hand_set_heads, share_on_target
from mha_course.models.random_layer import random_layer
from mha_course.models.trained_settings import settings_with_models
from mha_course.models.word_vectors import token_vectors
from mha_course.positions import sinusoidal_encoding
from mha_course.widgets.prepared import Box, Prepared, Source
from mha_course.widgets.trained_source import trained_source

FULL_SHARE = 0.98  # of a row's weight on its target, from which a pattern counts as held


def random_source(tokens: Sequence[str], d_model: int, h: int, seed: int) -> Prepared:
    """Untrained weights: what a new layer makes of the sentence. Arguments as in `Source.prepare`."""
    x = token_vectors(tokens, d_model) + _positions(len(tokens), d_model)
    note = (
        f"Maps: a new layer with random weights (seed {seed}). Each word is a random vector plus the "
        "sinusoidal vector of its position. Nothing has been learned yet."
    )
    return Prepared(_random_layer(d_model, h, seed), x, note)


@lru_cache(maxsize=32)
def _random_layer(d_model: int, h: int, seed: int) -> MultiHeadAttention:
    return random_layer(d_model, h, seed)


@lru_cache(maxsize=64)
def _positions(n: int, d_model: int) -> Tensor:
    # Sine and cosine come in pairs; an odd width takes all but the last column of the next even one.
    return sinusoidal_encoding(n, d_model + d_model % 2)[:, :d_model]


def by_hand_source(tokens: Sequence[str], d_model: int, h: int, seed: int) -> Prepared:
    """Heads set by hand: W_Q and W_K written down, not learned. The seed plays no part."""
    heads = hand_set_heads(tokens, d_model, h)
    note = (
        "Maps: W_Q and W_K set by hand. Half of the columns hold the word, half its sinusoidal position. "
        "The first word has no word before it and the last none after it; those rows fall on the position "
        "that comes nearest."
    )
    if h > len(PATTERNS):
        note += f" From head {len(PATTERNS) + 1} on the patterns repeat."
    return Prepared(heads.layer, heads.x, note, heads.patterns, too_narrow(tuple(tokens), d_model, h))


@lru_cache(maxsize=64)
def too_narrow(tokens: tuple[str, ...], d_model: int, h: int) -> tuple[Box, ...]:
    """What heads of width d_model / h can't hold on these tokens, with the reason and the shares reached."""
    d_k = d_model // h
    reached = _shares(tokens, d_model, h)
    short = {pattern: share for pattern, share in reached.items() if share < FULL_SHARE}
    if not short:
        return ()
    numbers = [f"{share:.2f} on the {pattern}" for pattern, share in short.items()]
    if d_k == 1:
        reason = (
            "One column makes a score one number of the query times one number of the key, so every "
            "query ranks the keys in one order or its reverse. The best heads of this width put "
        )
    else:
        reason = (
            f"{d_k} columns give a word {d_k // 2} angle{'s' if d_k > 3 else ''} to be told by, and some "
            "words of this sentence point almost the same way. Heads of this width put "
        )
    text = f"{reason}{_listed(numbers)}, on average."
    wider = next((h_ for h_ in reversed(divisors(d_model)) if d_model // h_ > max(1, d_k)), None)
    if wider is not None:
        better = _shares(tokens, d_model, wider)
        gained = [f"{better[pattern]:.2f}" for pattern in short if pattern in better]
        if gained:
            text += f" d_k = {d_model // wider} reaches {_listed(gained)}."
    return (Box(f"d_k = {d_k} is too narrow for “{_listed(list(short), '”, “', '” and “')}”", text),)


@lru_cache(maxsize=128)
def _shares(tokens: tuple[str, ...], d_model: int, h: int) -> dict[str, float]:
    """What each pattern's first head puts on its target when no mask is in the way."""
    heads = hand_set_heads(tokens, d_model, h)
    weights = heads.layer.trace(heads.x[None]).weights[0]
    return {
        pattern: share_on_target(weights[i], pattern, tokens)
        for i, pattern in enumerate(heads.patterns[: len(PATTERNS)])
    }


def _listed(parts: list[str], comma: str = ", ", last: str = " and ") -> str:
    return parts[0] if len(parts) == 1 else comma.join(parts[:-1]) + last + parts[-1]


SOURCES: dict[str, Source] = {
    "random": Source("random", random_source, uses_seed=True),
    "by hand": Source("set by hand", by_hand_source),
    "trained": Source("trained", trained_source, settings=settings_with_models),
}
