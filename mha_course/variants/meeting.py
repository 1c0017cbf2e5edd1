"""How the heads of a layer meet, as numbers: what goes from where to where, and with which factor.

From left to right stand the features that scores are made of (or the key heads), the scores, the maps after
the softmax, the heads (maps times values) and the output. A link is a factor of the layer's own formula, read
off its weights: M of collaborative heads, the windows of overlapping ones, the gates of a mixture, P of
talking heads, W of composable ones. Where heads keep to themselves every link is 1, from a head to itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.layers import MultiHeadAttention
from mha_course.sizes import is_whole_number
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.talking_heads import TalkingHeads


@dataclass(frozen=True)
class Box:
    """One box of a column. head: the head it belongs to, from 0, None for what belongs to none or to many;
    used: whether it is computed at all, for the token at hand."""

    name: str
    head: int | None = None
    used: bool = True


@dataclass(frozen=True)
class Column:
    """What stands below one another at one stage of the layer."""

    name: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True, eq=False)
class Meeting:
    """Columns from left to right, and between each two neighbours the factors (boxes left, boxes right).

    factors: what the numbers of each gap are called in the formula, "" where heads keep to themselves.
    """

    columns: tuple[Column, ...]
    links: tuple[Tensor, ...]
    factors: tuple[str, ...]

    @property
    def shared(self) -> tuple[bool, ...]:
        """For each gap: does anything on its left go to more than one place? There heads meet."""
        return tuple(bool(((numbers != 0).sum(1) > 1).any()) for numbers in self.links)


@torch.no_grad()
def meeting(
    layer: MultiHeadAttention,
    x: Tensor | None = None,
    token: int = 0,
    pair: tuple[int, int] | None = None,
) -> Meeting:
    """How the heads of this layer meet.

    x: the layer's input, (n, d_model) or (1, n, d_model), for a mixture (gates) and for composable heads (W),
    where heads meet differently from token to token; other layers don't look at it. token: of which the gates
    are shown, from 0. pair: query and key, from 0, of which W is shown; (token, token) when left out.

    Raises: TypeError for no layer; ValueError where x is needed and missing or doesn't fit, and for tokens
    that aren't there.
    """
    if not isinstance(layer, MultiHeadAttention):
        raise TypeError(
            f"layer must be a MultiHeadAttention or one of its variants; got {type(layer).__name__}."
        )
    first, into_scores, factor = _before_the_scores(layer)
    heads = tuple(Box(str(i + 1), i) for i in range(layer.h))
    own = torch.eye(layer.h, dtype=torch.float64)
    gates, to_maps, to_heads, names = own.sum(1, keepdim=True), own, own, ("", "")
    if isinstance(layer, TalkingHeads):
        to_maps, to_heads, names = layer.p_scores, layer.p_weights, ("P before", "P after")
    elif isinstance(layer, DynamicallyComposableHeads):
        query, key = _pair(_input(layer, x), token, pair)
        to_maps = layer.before.matrices(query, key)[0, 0, 0]
        to_heads = layer.after.matrices(query, key)[0, 0, 0]
        names = ("W before", "W after")
    elif isinstance(layer, MixtureOfHeads):
        gates = layer.routing(_token(_input(layer, x), token)).gates[0].T
        used = gates[:, 0] != 0
        kinds = ["shared" if i < layer.shared else "routed" for i in range(layer.h)]
        heads = tuple(Box(f"{i + 1}, {kinds[i]}", i, bool(used[i])) for i in range(layer.h))
        # A head that the token leaves out is not computed: nothing goes into it.
        own = to_maps = to_heads = torch.diag(used.double())
        into_scores = into_scores.double() * used
        boxes = (Box(box.name, box.head, heads[i].used) for i, box in enumerate(first.boxes))
        first = Column(first.name, tuple(boxes))
    columns = (
        first,
        Column("scores", heads),
        Column("maps", heads),
        Column("heads", heads),
        Column("output", (Box("sum"),)),
    )
    links = (into_scores, to_maps, to_heads, gates)
    summed = "gates" if isinstance(layer, MixtureOfHeads) else ""
    return Meeting(
        columns, tuple(numbers.detach().double().cpu() for numbers in links), (factor, *names, summed)
    )


def _before_the_scores(layer: MultiHeadAttention) -> tuple[Column, Tensor, str]:
    """What the scores are made of, the factors (boxes, h), and their name."""
    if isinstance(layer, CollaborativeHeads):
        numbers = layer.mixing.detach().T
        boxes = [_feature(str(i), row) for i, row in enumerate(numbers)]
        if layer.content_bias is not None:
            boxes.append(Box("bias"))
            numbers = torch.cat([numbers, torch.ones_like(numbers[:1])])
        return Column("shared features", tuple(boxes)), numbers, "M"
    if isinstance(layer, OverlappingHeads):
        return _windows(layer)
    group = layer.h // layer.n_kv_heads
    reads = torch.arange(layer.h) // group == torch.arange(layer.n_kv_heads)[:, None]
    if group > 1:
        boxes = tuple(Box(f"K, V {i + 1}") for i in range(layer.n_kv_heads))
        return Column("key heads", boxes), reads, "groups"
    names = [_span(range(i * layer.d_k, (i + 1) * layer.d_k)) for i in range(layer.h)]
    return Column("features", tuple(Box(name, i) for i, name in enumerate(names))), reads, ""


def _windows(layer: OverlappingHeads) -> tuple[Column, Tensor, str]:
    """Pieces of features that the same heads read, found by sending every feature through the windows."""
    count = layer.h * layer.own
    read = layer.windows(torch.eye(count)[None].to(layer.w_q.weight))[0].sum(-1).T  # (features, h)
    pieces: list[list[int]] = []
    for feature in range(count):
        begins = feature % layer.own == 0 or not torch.equal(read[feature], read[feature - 1])
        pieces.append([feature]) if begins else pieces[-1].append(feature)
    boxes = tuple(Box(_span(piece), piece[0] // layer.own) for piece in pieces)
    return Column("features", boxes), read[[piece[0] for piece in pieces]], "windows"


def _feature(name: str, row: Tensor) -> Box:
    """A shared feature; it belongs to a head if no other reads it."""
    readers = row.nonzero().flatten().tolist()
    return Box(name, readers[0] if len(readers) == 1 else None)


def _span(features: Sequence[int]) -> str:
    return str(features[0]) if len(features) == 1 else f"{features[0]}–{features[-1]}"


def _input(layer: MultiHeadAttention, x: Tensor | None) -> Tensor:
    if x is None:
        raise ValueError(
            f"the heads of {type(layer).__name__} meet differently from token to token, so x is needed: "
            f"the layer's input, (n, {layer.d_model})."
        )
    x = x[None] if isinstance(x, Tensor) and x.ndim == 2 else x
    if not isinstance(x, Tensor) or x.ndim != 3 or x.shape[0] != 1 or x.shape[2] != layer.d_model:
        got = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
        raise ValueError(
            f"x must be one sentence, (n, {layer.d_model}) or (1, n, {layer.d_model}); got {got}."
        )
    return x.to(layer.w_q.weight)


def _token(x: Tensor, token: int) -> Tensor:
    """One token (1, 1, d_model) of x."""
    if not is_whole_number(token) or not 0 <= token < x.shape[1]:
        raise ValueError(
            f"token={token!r} is not among the {x.shape[1]} tokens; it can be 0 to {x.shape[1] - 1}."
        )
    return x[:, int(token) : int(token) + 1]


def _pair(x: Tensor, token: int, pair: tuple[int, int] | None) -> tuple[Tensor, Tensor]:
    pair = (token, token) if pair is None else pair
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"pair={pair!r} must be two tokens, a query and a key.")
    return _token(x, pair[0]), _token(x, pair[1])
