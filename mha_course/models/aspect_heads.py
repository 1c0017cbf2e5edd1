"""Heads set by hand, one for each aspect of an emphasised text, and one head for all of them.

Also how much of several answers one row of attention weights can carry (`share_carried`), and the row
that carries the most (`best_single_rows`): the exact form of "one head gives the average".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from mha_course.attention import scaled_dot_product_attention
from mha_course.text.emphasised import ASPECTS, StyledWord, aspect_columns, style_features

D_K = max(len(values) for values in ASPECTS.values())


def aspect_projection(aspect: str, sharpness: float = 6.0) -> Tensor:
    """W_Q = W_K of the head that compares one aspect: it picks that aspect's features, blind to the rest.

    Two words alike in the aspect score `sharpness` after the division by sqrt(d_k), others 0.
    Returns: (d_model, d_k) = (14, 5). Raises: KeyError for an unknown aspect.
    """
    columns = aspect_columns()[aspect]
    w = torch.zeros(sum(map(len, ASPECTS.values())), D_K)
    width = columns.stop - columns.start
    w[columns, :width] = torch.eye(width) * math.sqrt(sharpness * math.sqrt(D_K))
    return w


def aspect_maps(words: Sequence[StyledWord], sharpness: float = 6.0) -> Tensor:
    """Attention weights of the four heads, one for each aspect in the order of `ASPECTS`.

    Returns: (h, n, n) with h = 4.
    """
    x = style_features(words)
    projections = torch.stack([aspect_projection(aspect, sharpness) for aspect in ASPECTS])
    q = x @ projections
    return scaled_dot_product_attention(q, q, q)[1]


def one_for_all_map(words: Sequence[StyledWord], sharpness: float = 6.0) -> Tensor:
    """Attention weights of a single head that compares all aspects at once.

    Its W_Q = W_K is a multiple of the identity, so each aspect in which two words are alike adds `sharpness`
    to their score. Returns: (n, n).
    """
    x = style_features(words)
    d_model = x.shape[-1]
    q = x * math.sqrt(sharpness * math.sqrt(d_model))
    return scaled_dot_product_attention(q, q, q)[1]


def share_carried(weights: Tensor, wanted: Tensor) -> Tensor:
    """How much of a wanted weighted sum can be read off a given one, for values unknown beforehand.

    weights, wanted: (..., n_k) rows. For values that are independent with mean 0 and one variance, the best
    linear reading of `wanted @ v` from `weights @ v` explains the squared cosine between the two rows.
    Returns: (...,) in [0, 1]; 0 for a row of zeros.
    """
    dot = (weights * wanted).sum(-1)
    norms = weights.norm(dim=-1) * wanted.norm(dim=-1)
    return torch.where(norms > 0, (dot / norms.clamp(min=1e-30)) ** 2, torch.zeros_like(dot))


def best_single_rows(wanted: Tensor) -> Tensor:
    """The rows of weights that carry the most of several wanted rows at once, on average over the answers.

    wanted: (answers, n_q, n_k) non-negative rows. The best row is the leading eigenvector of the sum of the
    outer products of the normalised wanted rows (Rayleigh quotient); all its entries have one sign, because
    those of the matrix do (Perron 1907), so divided by its sum it is a row softmax can reach or approach.
    Returns: (n_q, n_k), rows sum to 1.
    """
    unit = (wanted / wanted.norm(dim=-1, keepdim=True)).transpose(0, 1).double()
    gram = unit.transpose(-2, -1) @ unit
    leading = torch.linalg.eigh(gram).eigenvectors[..., -1].abs()
    return (leading / leading.sum(-1, keepdim=True)).to(wanted.dtype)
