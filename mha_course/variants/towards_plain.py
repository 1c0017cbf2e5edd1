"""Each variant on its way to the plain layer: weights shared with it, a distance t, and what is left apart.

At t = 0 the variant computes what plain heads compute, outputs and gradients; at t = 1 it is a layer of its
own kind, with numbers drawn as its authors draw them or larger, so that there is something to see. Grouped
heads stay: there the plain layer walks, from heads of its own (t = 1) to equal ones in a group. Sources:
those of the variants' own files; grouped from plain by the mean over a group, Ainslie et al. 2023."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mha_course.layers import MultiHeadAttention
from mha_course.own_chance import OwnChance
from mha_course.sizes import check_number, check_sizes, is_whole_number
from mha_course.variants.collaborative import CollaborativeHeads, starting_mixing
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.composed import ComposedTrace
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.talking_heads import TalkingHeads

SENTENCES = 2  # of n tokens each, so that nothing rests on a single one


@dataclass(frozen=True, eq=False)
class NearPlain:
    """A layer beside the plain one that it shares its weights with, both in float64.

    layer, plain: the two. x (2, n, d_model): what both read. output_difference: the largest |difference| of
    two numbers of their outputs; gradient_difference: of two gradients of a shared parameter, for a loss that
    weighs every output. maps, plain_maps (h, n, n): what the values of the first sentence are summed with,
    gates included.
    moving: the numbers that t moves, as matrices by name; words: at which of them the two layers are equal.
    """

    name: str
    t: float
    layer: MultiHeadAttention
    plain: MultiHeadAttention
    x: Tensor
    output_difference: float
    gradient_difference: float
    maps: Tensor
    plain_maps: Tensor
    moving: Mapping[str, Tensor]
    words: str


class FadingWindows(OverlappingHeads):
    """Overlapping heads whose features from neighbours count `share` times: 1 is the layer, 0 the plain one.

    Edges are faded in queries, keys and values. Made to go from one layer to the other; nobody trains it."""

    share: float = 1.0

    def windows(self, x: Tensor) -> Tensor:
        """Windows as in `OverlappingHeads`, the edges times `share`."""
        fade = x.new_full((self.d_k,), self.share)
        fade[self.overlap : self.overlap + self.own] = 1.0
        return super().windows(x) * fade


def towards_plain(
    name: str,
    t: float,
    d_model: int = 24,
    h: int = 4,
    n: int = 7,
    seed: int = 0,
    overlap: int | None = None,
    chosen: int | None = None,
) -> NearPlain:
    """A layer of the variant at distance t, from 0 to 1, from the setting at which it is the plain layer.

    name: one of NAMES. overlap: features that an overlapping head takes from either side, half of its own
    when left out; chosen: routed heads that a token of the mixture chooses, all when left out (with fewer it
    is not the plain layer at t = 0 either). The global random state is not touched.

    Raises: ValueError for another name, a t outside 0 to 1, sizes that the layer can't have, and an overlap
    or a chosen that doesn't fit.
    """
    if name not in NAMES:
        raise ValueError(f"{name!r} is none of the variants here; there are {', '.join(NAMES)}.")
    check_number(0, 1, t=t)
    n, h = check_sizes(n=n, h=h)
    (seed,) = check_sizes(0, seed=seed)
    g = torch.Generator().manual_seed(seed)
    plain = _drawn(lambda: MultiHeadAttention(d_model, h), g)
    x = torch.randn(SENTENCES, n, d_model, generator=g, dtype=torch.float64)
    weigh = torch.randn(SENTENCES, n, d_model, generator=g, dtype=torch.float64)
    options = {"overlapping": overlap, "mixture": chosen}
    for option, of in (("overlap", "overlapping"), ("chosen", "mixture")):
        if options[of] is not None and name != of:
            raise ValueError(f"{option} is a number of the {of} heads, not of {name!r}.")
    with torch.no_grad():
        pair = _MAKE[name](plain, float(t), g, options.get(name))
    layer, trace = pair.layer.eval(), pair.layer.trace(x)
    gradients = _gradients(layer, x, weigh), _gradients(plain, x, weigh)
    with torch.no_grad():
        apart = float((layer(x) - plain(x)).abs().max())
        maps = trace.composed_weights if isinstance(trace, ComposedTrace) else trace.weights
        if isinstance(layer, MixtureOfHeads):
            maps = maps * layer.routing(x).gates.transpose(1, 2)[..., None]
        return NearPlain(
            name,
            float(t),
            layer,
            plain,
            x,
            apart,
            max(float((one - other).abs().max()) for one, other in pair.shared(*gradients)),
            maps[0].detach(),
            plain.trace(x).weights[0].detach(),
            {key: matrix.detach() for key, matrix in pair.moving(x).items()},
            pair.words,
        )


Gradients = Mapping[str, Tensor]
PLAIN_NAMES = ("w_q.weight", "w_k.weight", "w_v.weight", "w_o.weight")


def _as_they_are(own: Gradients, plain: Gradients) -> list[tuple[Tensor, Tensor]]:
    return [(own[name], plain[name]) for name in PLAIN_NAMES]


@dataclass(frozen=True, eq=False)
class _Pair:
    """A layer, the numbers that t moved, words, and which of its gradients goes with which of the plain's."""

    layer: MultiHeadAttention
    moving: Callable[[Tensor], Mapping[str, Tensor]]
    words: str
    shared: Callable[[Gradients, Gradients], list[tuple[Tensor, Tensor]]] = _as_they_are


def _grouped(plain: MultiHeadAttention, t: float, g: torch.Generator, _: None) -> _Pair:
    """Groups of two (one head alone where h is odd): the layer's key heads are the means of the plain's."""
    h, kv = plain.h, plain.h // 2 if plain.h % 2 == 0 else 1
    layer = _drawn(lambda: MultiHeadAttention(plain.d_model, h, n_kv_heads=kv), g)
    for name in ("w_q", "w_o"):
        getattr(layer, name).weight.copy_(getattr(plain, name).weight)

    def by_group(weight: Tensor) -> Tensor:
        return weight.view(kv, h // kv, -1, plain.d_model)

    for name in ("w_k", "w_v"):
        own = by_group(getattr(plain, name).weight)
        mean = own.mean(1, keepdim=True)
        getattr(layer, name).weight.copy_(mean.reshape(-1, plain.d_model))
        # In place of drifting apart, each head of a group walks to the mean as t falls.
        own.copy_(mean + t * (own - mean))

    def shared(own: Gradients, plains: Gradients) -> list[tuple[Tensor, Tensor]]:
        pairs = [(own[name], plains[name]) for name in ("w_q.weight", "w_o.weight")]
        for name in ("w_k.weight", "w_v.weight"):
            pairs.append((own[name], by_group(plains[name]).sum(1).reshape(-1, plain.d_model)))
        return pairs

    def moving(x: Tensor) -> Mapping[str, Tensor]:
        flat = nn.functional.normalize(plain.w_k.weight.reshape(h, -1), dim=-1)
        return {"likeness of the plain layer's key heads": flat @ flat.T}

    words = "the plain key heads of a group are equal, and so are its value heads"
    return _Pair(layer, moving, words, shared)


def _collaborative(plain: MultiHeadAttention, t: float, g: torch.Generator, _: None) -> _Pair:
    layer = _sharing(_drawn(lambda: CollaborativeHeads(plain.d_model, plain.h), g), plain)
    blocks = starting_mixing(plain.h, layer.width).double()
    # At t = 1 these are the draws that the authors' code starts from.
    drawn = 0.2 * torch.randn(blocks.shape, generator=g, dtype=torch.float64)
    layer.mixing.copy_(blocks + t * (drawn - blocks))
    words = "every row of M is 1 on its head's own block and 0 elsewhere"
    return _Pair(layer, lambda x: {"M": layer.mixing}, words)


def _overlapping(plain: MultiHeadAttention, t: float, g: torch.Generator, overlap: int | None) -> _Pair:
    h, own = plain.h, plain.d_k
    overlap = max(1, own // 2) if overlap is None else overlap
    layer = _drawn(lambda: FadingWindows(plain.d_model, h, overlap), g)
    layer.share = t
    for name in ("w_q", "w_k", "w_v"):
        getattr(layer, name).weight.copy_(getattr(plain, name).weight)

    def middle(weight: Tensor) -> Tensor:
        """Columns of a head's own features: (d_model, h * own) of (d_model, h * d_v)."""
        window = weight.view(plain.d_model, h, layer.d_v)
        return window[..., layer.overlap : layer.overlap + own].flatten(1)

    layer.w_o.weight.view(plain.d_model, h, -1)[..., layer.overlap : layer.overlap + own] = (
        plain.w_o.weight.view(plain.d_model, h, own)
    )

    def shared(own_: Gradients, plains: Gradients) -> list[tuple[Tensor, Tensor]]:
        return [
            (middle(own_[name]) if name == "w_o.weight" else own_[name], plains[name]) for name in PLAIN_NAMES
        ]

    def moving(x: Tensor) -> Mapping[str, Tensor]:
        # A window read off the layer itself: which features, one at a time, reach which head.
        one_by_one = torch.eye(h * own, dtype=torch.float64)[None]
        return {"share of each feature in a head's window": layer.windows(one_by_one)[0].sum(-1)}

    words = "a head takes nothing from its neighbours: their features count 0 times, or o = 0"
    return _Pair(layer, moving, words, shared)


def _mixture(plain: MultiHeadAttention, t: float, g: torch.Generator, chosen: int | None) -> _Pair:
    common = max(1, plain.h // 4)
    routed = plain.h - common
    chosen = routed if chosen is None else chosen
    if not is_whole_number(chosen) or not 0 <= chosen <= routed:
        raise ValueError(f"chosen={chosen!r} must lie in 0..{routed}, the routed heads of h={plain.h}.")
    layer = _sharing(_drawn(lambda: MixtureOfHeads(plain.d_model, plain.h, common, chosen), g), plain)
    for router in (layer.router_shared, layer.router_routed, layer.router_types):
        if router is not None:
            # Long enough for logits of about 1, as trained routers have them; a new layer's are near 0.
            draws = torch.randn(router.weight.shape, generator=g, dtype=torch.float64)
            router.weight.copy_(t * draws / plain.d_model**0.5)
    words = "every routed head is chosen and the routers are 0, so that every gate is 1"
    return _Pair(layer, lambda x: {"gate of each head, token by token": layer.routing(x).gates[0]}, words)


def _talking(plain: MultiHeadAttention, t: float, g: torch.Generator, _: None) -> _Pair:
    layer = _sharing(_drawn(lambda: TalkingHeads(plain.d_model, plain.h), g), plain)
    eye = torch.eye(plain.h, dtype=torch.float64)
    for shares in (layer.p_scores, layer.p_weights):
        shares.copy_(eye + t * 0.5 * torch.randn(eye.shape, generator=g, dtype=torch.float64))
    words = "both matrices P are the identity: a head listens to itself only"
    moving = {"P of the scores": layer.p_scores, "P of the weights": layer.p_weights}
    return _Pair(layer, lambda x: moving, words)


def _composable(plain: MultiHeadAttention, t: float, g: torch.Generator, _: None) -> _Pair:
    layer = _sharing(_drawn(lambda: DynamicallyComposableHeads(plain.d_model, plain.h), g), plain)
    eye = torch.eye(plain.h, dtype=torch.float64)
    for part in (layer.before, layer.after):
        hidden, rank = part.w_1.shape[-1], part.rank

        def draw(*shape: int) -> Tensor:
            return torch.randn(shape, generator=g, dtype=torch.float64)

        # All three branches add about 0.3 at t = 1: far more than the authors start with, enough to be seen.
        part.w_1.copy_(draw(*part.w_1.shape) * (2 / (plain.d_model + hidden)) ** 0.5)
        part.w_2.copy_(draw(*part.w_2.shape) * 0.3 / hidden**0.5)
        part.w_2[:, :, rank:] *= t
        part.d.copy_(t * draw(*part.d.shape) * 0.3 / plain.d_model**0.5)
        part.w_b.copy_(eye + t * 0.3 * draw(*eye.shape))
    words = "w_2 and the gates are 0 and W_b is the identity, so that W is the identity for every pair"

    def moving(x: Tensor) -> Mapping[str, Tensor]:
        def pair(part: nn.Module) -> Tensor:
            return part.matrices(x, x)[0, -1, 0]

        n = x.shape[1]
        return {
            f"W of the scores, query {n}, key 1": pair(layer.before),
            f"W of the weights, query {n}, key 1": pair(layer.after),
        }

    return _Pair(layer, moving, words)


_MAKE: dict[str, Callable[[MultiHeadAttention, float, torch.Generator, int | None], _Pair]] = {
    "grouped": _grouped,
    "collaborative": _collaborative,
    "overlapping": _overlapping,
    "mixture": _mixture,
    "talking": _talking,
    "composable": _composable,
}
NAMES = tuple(_MAKE)


def _drawn(make: Callable[[], MultiHeadAttention], g: torch.Generator) -> MultiHeadAttention:
    """A layer in float64 whose projections are drawn from g; what else it has is left to be set."""
    with OwnChance(torch.Generator()):
        layer = make().double()
    for projection in (layer.w_q, layer.w_k, layer.w_v, layer.w_o):
        # Scores of size 1 or so: with Xavier's numbers every map of such a small layer is nearly uniform.
        nn.init.xavier_uniform_(projection.weight, gain=1.5, generator=g)
    return layer


def _sharing(layer: MultiHeadAttention, plain: MultiHeadAttention) -> MultiHeadAttention:
    """The layer with the four projections of the plain one."""
    for name in ("w_q", "w_k", "w_v", "w_o"):
        getattr(layer, name).weight.copy_(getattr(plain, name).weight)
    return layer


def _gradients(layer: MultiHeadAttention, x: Tensor, weigh: Tensor) -> dict[str, Tensor]:
    names, parameters = zip(*layer.named_parameters(), strict=True)
    with torch.enable_grad():
        found = torch.autograd.grad((layer(x) * weigh).sum(), parameters, allow_unused=True)
    return {
        name: torch.zeros_like(p) if one is None else one
        for name, p, one in zip(names, parameters, found, strict=True)
    }
