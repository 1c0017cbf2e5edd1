"""What composing does to a layer's maps, branch by branch, with any of the branches left out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.attention import scaled_scores
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.talking_heads import TalkingHeads

STAGES = ("before", "after")  # the softmax
NAMES = {
    "static": "static",
    "query_rank": "query: low rank",
    "query_gate": "query: gate",
    "key_rank": "key: low rank",
    "key_gate": "key: gate",
}


@dataclass(frozen=True, eq=False)
class Composed:
    """Maps (h, n, n) of one sentence at each stage.

    scores: scaled products; alone: their softmax; composed_scores; weights: their softmax; output: weights
    after composing. matrices: for each stage W of every pair, (n, n, h, h), as it was used.
    """

    scores: Tensor
    alone: Tensor
    composed_scores: Tensor
    weights: Tensor
    output: Tensor
    matrices: dict[str, Tensor]


def branch_names(layer: TalkingHeads | DynamicallyComposableHeads) -> tuple[str, ...]:
    """The branches that this layer has: one for talking heads, four or five for composable ones."""
    if isinstance(layer, TalkingHeads):
        return ("static",)
    return tuple(name for name in NAMES if name != "static" or layer.before.w_b is not None)


def branches(layer: TalkingHeads | DynamicallyComposableHeads, stage: str, x: Tensor) -> dict[str, Tensor]:
    """Each branch's part of W, by name, (n or 1, n or 1, h, h) for x (n, d_model): queries, then keys."""
    if isinstance(layer, TalkingHeads):
        return {"static": (layer.p_scores if stage == "before" else layer.p_weights)[None, None]}
    part = layer.before if stage == "before" else layer.after
    found = {} if part.w_b is None else {"static": part.w_b[None, None]}
    for name, which in (("query", 0), ("key", 1)):
        side = part.side(x[None], which)
        low = torch.einsum("nri,nrj->nij", side.w_1[0], side.w_2[0])
        gate = torch.diag_embed(side.g[0])
        for kind, numbers in (("rank", low), ("gate", gate)):
            found[f"{name}_{kind}"] = numbers[:, None] if which == 0 else numbers[None]
    return found


def pair_matrices(parts: dict[str, Tensor], on: Collection[str], n: int) -> Tensor:
    """W of every pair (n, n, h, h) from the branches that are on; without the static one the identity is
    in its place, so that with none at all heads keep to themselves."""
    h = next(iter(parts.values())).shape[-1]
    total = torch.zeros(n, n, h, h)
    if "static" not in parts or "static" not in on:
        total = total + torch.eye(h)
    for name, numbers in parts.items():
        if name in on:
            total = total + numbers
    return total


@torch.no_grad()
def compose(layer: TalkingHeads | DynamicallyComposableHeads, x: Tensor, on: Collection[str]) -> Composed:
    """Every stage of one sentence x (n, d_model), with the branches that are on, before and after."""
    keys, _ = layer.shared_keys_and_values(x[None], x[None])
    scores = scaled_scores(layer.queries(x[None]), keys, layer.scale)[0]
    used = {stage: pair_matrices(branches(layer, stage, x), on, len(x)) for stage in STAGES}
    composed_scores = torch.einsum("its,tsij->jts", scores, used["before"])
    weights = composed_scores.softmax(-1)
    output = torch.einsum("its,tsij->jts", weights, used["after"])
    return Composed(scores, scores.softmax(-1), composed_scores, weights, output, used)
