"""What can be read off each head's map on one sentence: the share on itself, and how far it looks."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.attention_maps import AttentionMaps


def share_on_itself(maps: AttentionMaps) -> Tensor:
    """The mean weight that a token puts on its own place. Rows without weight don't count.

    Returns: (layers, heads), from 0 to 1. Raises: ValueError when queries and keys are different tokens.
    """
    _check_same_tokens(maps)
    return _mean_of_rows(maps, maps.weights.diagonal(dim1=-2, dim2=-1))


def mean_distance(maps: AttentionMaps) -> Tensor:
    """How far a token looks on average, in tokens: |key place − query place| weighted by the attention.

    Rows without weight don't count. Returns: (layers, heads), from 0 to n − 1.
    Raises: ValueError when queries and keys are different tokens.
    Source: Vig and Belinkov 2019, section 4.2.3 (mean attention distance).
    """
    _check_same_tokens(maps)
    places = torch.arange(len(maps.query_tokens), device=maps.weights.device)
    distance = (places[:, None] - places).abs().to(maps.weights.dtype)
    return _mean_of_rows(maps, (maps.weights * distance).sum(-1))


def _mean_of_rows(maps: AttentionMaps, values: Tensor) -> Tensor:
    live = maps.weights.sum(dim=-1) > 0.5
    return (values * live).sum(dim=-1) / live.sum(dim=-1).clamp(min=1)


def _check_same_tokens(maps: AttentionMaps) -> None:
    if maps.query_tokens != maps.key_tokens:
        raise ValueError(
            "queries and keys are different tokens: no token has a place of its own among the keys."
        )
