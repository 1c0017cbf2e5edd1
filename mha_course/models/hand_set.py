"""Heads set by hand: previous word, next word, same word, everything alike, as real W_Q and W_K.

The input keeps what a word is and where it stands in separate columns:

    columns 0 .. d_content - 1      the word: pairs (cos t, sin t), one angle t for each pair and word
    columns d_content .. d_model-1  the position: the sinusoidal encoding of width d_position

In both halves a pair of columns is a point on a circle, so the product of two of them is the cosine of
the angle between them: largest where the angles agree. A head that wants the same word compares the
word's pairs. A head that wants the previous word turns the query's position back by one step first,
q = PE(p) R(-1)^T = PE(p - 1), and compares (Vaswani et al. 2017, section 3.5, for R). One pair, d_k = 2,
is enough; `narrow_heads.py` knows what a single column can do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from mha_course.layers import MultiHeadAttention
from mha_course.models.narrow_heads import best_one_column
from mha_course.models.random_layer import empty_layer
from mha_course.models.word_vectors import token_vectors
from mha_course.positions import angular_frequencies, shift_matrix, sinusoidal_encoding

PATTERNS = ("previous word", "next word", "same word", "everything alike")
MOST_TOKENS = 64  # the patterns hold for sentences up to this length
SHARE = 0.999  # of a row's weight on its target that a head is made for
SHARPEST = 1e5  # beyond it, float32 can't tell neighbouring scores apart


@dataclass(frozen=True)
class HandSetHeads:
    """A layer whose head i follows patterns[i], and the input (n, d_model) that it reads."""

    layer: MultiHeadAttention
    x: Tensor
    patterns: tuple[str, ...]


def hand_set_heads(tokens: Sequence[str], d_model: int, h: int) -> HandSetHeads:
    """Heads set by hand, pattern after pattern in the order of `PATTERNS`, starting again after four.

    Wide heads (d_k >= 2) don't depend on the sentence. A head of one column can't hold a pattern; it is
    fitted to the tokens given, the best that one column can do. W_V and W_O are identities.
    Raises: ValueError when h does not divide d_model.
    """
    tokens = tuple(tokens)
    fitted_to = tokens if d_model == h else ()
    layer = _layer(d_model, h, fitted_to)
    return HandSetHeads(layer, hand_set_input(tokens, d_model), patterns_of(h))


def patterns_of(h: int) -> tuple[str, ...]:
    """The pattern of each of h heads."""
    return tuple(PATTERNS[i % len(PATTERNS)] for i in range(h))


def widths(d_model: int) -> tuple[int, int]:
    """How d_model columns are shared out: (d_content, d_position), about half each, d_position even."""
    d_position = min(d_model - d_model % 2, max(2, 2 * round(d_model / 4)))
    return d_model - d_position, d_position


def hand_set_input(tokens: Sequence[str], d_model: int) -> Tensor:
    """Word and position side by side. Returns: (n, d_model) float32; an odd column stays 0."""
    d_content, d_position = widths(d_model)
    x = torch.zeros(len(tokens), d_model)
    pairs = d_content // 2
    if pairs and tokens:
        # A pair of independent normal numbers points in an even direction; its length is set to 1.
        drawn = token_vectors(tokens, d_content)[:, : 2 * pairs].view(len(tokens), pairs, 2)
        x[:, : 2 * pairs] = (drawn / drawn.norm(dim=-1, keepdim=True)).reshape(len(tokens), -1)
    if d_position:
        x[:, d_content:] = sinusoidal_encoding(len(tokens), d_position)
    return x


def wanted(pattern: str, tokens: Sequence[str]) -> Tensor:
    """Where the weight belongs. Returns: (n, n), each row sums to 1, or to 0 where there is no such word.

    Raises: KeyError for an unknown pattern.
    """
    n = len(tokens)
    if pattern == "everything alike":
        return torch.full((n, n), 1 / n)
    if pattern == "same word":
        same = torch.tensor([[float(a == b) for b in tokens] for a in tokens])
        return same / same.sum(-1, keepdim=True)
    target = torch.zeros(n, n)
    step = {"previous word": -1, "next word": 1}[pattern]
    queries = torch.arange(max(0, -step), n - max(0, step))
    target[queries, queries + step] = 1
    return target


def share_on_target(weights: Tensor, pattern: str, tokens: Sequence[str]) -> float:
    """Mean share of a row's weight that falls where it belongs, over rows that have such a place.

    weights: (n, n). Returns a number in [0, 1]; 1 where no row has a target (one token).
    """
    target = wanted(pattern, tokens).to(weights.dtype)
    live = target.sum(-1) > 0
    if not live.any():
        return 1.0
    if pattern == "everything alike":
        return float(torch.minimum(weights, target).sum(-1).mean())
    return float((weights * (target > 0)).sum(-1)[live].mean())


def offset_head(offset: int, d_position: int, pairs: Sequence[int], beta: float, d_k: int) -> tuple:
    """W_Q and W_K of a head that attends from position p to p + offset, for x = PE of width d_position.

    pairs: which frequencies are compared, by index. beta: the sharpness; scores are
    beta * sum over pairs of cos(w_j (p + offset - s)).
    Returns: W_Q and W_K, (d_position, d_k) float64, for row vectors (q = x W_Q).
    Raises: ValueError when d_k holds fewer than two columns a pair.
    """
    if 2 * len(pairs) > d_k:
        raise ValueError(f"{len(pairs)} pairs need {2 * len(pairs)} columns, but d_k={d_k}.")
    columns = [c for j in pairs for c in (2 * j, 2 * j + 1)]
    turn = shift_matrix(offset, d_position, dtype=torch.float64)
    w_q, w_k = torch.zeros(2, d_position, d_k, dtype=torch.float64)
    w_q[:, : len(columns)] = beta * math.sqrt(d_k) * turn.T[:, columns]
    w_k[columns, range(len(columns))] = 1
    return w_q, w_k


@lru_cache(maxsize=256)
def clearest_pairs(d_position: int, count: int) -> tuple[tuple[int, ...], float]:
    """The frequencies that tell neighbours apart best, and the gap they leave.

    The gap is the sum over pairs of 1 - cos(w_j m), for the worst distance m from 1 to 64: how far the
    score of the right position lies above the next best, for beta = 1. One frequency alone is a
    compromise: a slow one hardly moves in one step, a fast one has come round again 44 steps later.
    """
    distance = torch.arange(1, MOST_TOKENS + 1, dtype=torch.float64)
    drop = 1 - torch.cos(angular_frequencies(d_position)[:, None] * distance)
    chosen: list[int] = []
    total = torch.zeros_like(distance)
    for _ in range(min(count, len(drop))):
        gaps = (total + drop).min(dim=-1).values
        gaps[chosen] = -1
        chosen.append(int(gaps.argmax()))
        total = total + drop[chosen[-1]]
    return tuple(sorted(chosen)), float(total.min())


@lru_cache(maxsize=256)
def pattern_matrices(pattern: str, d_model: int, d_k: int) -> tuple[Tensor, Tensor]:
    """W_Q and W_K, (d_model, d_k) float64, of one head with d_k >= 2. Zeros: nothing to compare."""
    d_content, d_position = widths(d_model)
    w_q, w_k = torch.zeros(2, d_model, d_k, dtype=torch.float64)
    if pattern == "same word":
        count = min(d_k // 2, d_content // 2)
        columns = range(2 * count)
        w_q[columns, columns] = _word_sharpness(d_content, count) * math.sqrt(d_k)
        w_k[columns, columns] = 1
    elif pattern != "everything alike" and d_position:
        pairs, gap = clearest_pairs(d_position, d_k // 2)
        offset = -1 if pattern == "previous word" else 1
        block = offset_head(offset, d_position, pairs, _sharpness(gap), d_k)
        w_q[d_content:], w_k[d_content:] = block
    return w_q, w_k


def _sharpness(gap: float) -> float:
    """The smallest beta that puts `SHARE` on the target against 63 rivals, each `gap` below it."""
    return min(SHARPEST, math.log((MOST_TOKENS - 1) * SHARE / (1 - SHARE)) / max(gap, 1e-12))


@lru_cache(maxsize=256)
def _word_sharpness(d_content: int, pairs: int) -> float:
    """Sharp enough for the two of 200 sample words that come closest to each other."""
    if not pairs:
        return 0.0
    sample = hand_set_input([f"sample {i}" for i in range(200)], 2 * d_content)[:, : 2 * pairs].double()
    likeness = sample @ sample.T
    likeness.fill_diagonal_(-pairs)
    return _sharpness(pairs - float(likeness.max()))


@lru_cache(maxsize=64)
def _layer(d_model: int, h: int, fitted_to: tuple[str, ...]) -> MultiHeadAttention:
    layer = empty_layer(d_model, h)
    d_k = layer.d_k
    if d_k == 1 and fitted_to:
        x = hand_set_input(fitted_to, d_model)
        blocks = [_one_column(pattern, x, fitted_to) for pattern in PATTERNS[:h]]
    else:
        blocks = [pattern_matrices(pattern, d_model, d_k) for pattern in PATTERNS[:h]]
    for i in range(h):
        rows = slice(i * d_k, (i + 1) * d_k)
        w_q, w_k = blocks[i % len(blocks)]
        layer.w_q.weight[rows], layer.w_k.weight[rows] = w_q.T.float(), w_k.T.float()
    for projection in (layer.w_v, layer.w_o):
        projection.weight.copy_(torch.eye(d_model))
    return layer


def _one_column(pattern: str, x: Tensor, tokens: Sequence[str]) -> tuple[Tensor, Tensor]:
    """The best single column for a pattern on this sentence: it may read the half that matters."""
    d_model = x.shape[1]
    w_q, w_k = torch.zeros(2, d_model, 1, dtype=torch.float64)
    d_content = widths(d_model)[0]
    half = slice(0, d_content) if pattern == "same word" else slice(d_content, d_model)
    if pattern != "everything alike":
        w_q[half, 0], w_k[half, 0] = best_one_column(x[:, half].double(), wanted(pattern, tokens).double())
    return w_q, w_k
