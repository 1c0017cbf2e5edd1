"""How a mixture of heads routes: the gates of a sentence, and how often heads are chosen over many."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from mha_course import cost
from mha_course.models.glossing import held_out_sentences
from mha_course.text.vocabulary import Vocabulary
from mha_course.variants.mixture_of_heads import Gates, MixtureOfHeads, Routing
from mha_course.variants.variant_costs import variant_cost
from mha_course.widgets.gloss_reader import GlossReader

SENTENCES = 200


@dataclass(frozen=True, eq=False)
class Choices:
    """Over many tokens: how often each routed head is chosen, and its mean probability, (routed,) each.

    balance: the loss that pushes for an even spread, sum of their products (times `routed` with the gates of
    the code); even: its value where all are chosen equally often and likely; collapsed: where all tokens are
    sure of the same heads."""

    often: Tensor
    probability: Tensor
    balance: float
    even: float
    collapsed: float
    tokens: int


@torch.no_grad()
def routing_with(layer: MixtureOfHeads, gates: Gates, x: Tensor) -> Routing:
    """The routing of tokens x (b, n, d_model) with the gates of the code or the paper."""
    other = copy.copy(layer)
    other.gates = gates
    return other.routing(x)


def held_out_inputs(reader: GlossReader, sentences: int) -> list[Tensor]:
    """What each layer's attention gets for the words of held-out sentences, (tokens, d_model) a layer."""
    encode = reader.model.vocabulary.encode
    rows = [encode(words) for words in islice(held_out_sentences(), sentences)]
    pad, longest = encode([Vocabulary.PAD])[0], max(map(len, rows))
    ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])
    return [x[ids != pad] for x in reader.inputs(ids)]


def choices(layer: MixtureOfHeads, gates: Gates, x: Tensor) -> Choices:
    """How the tokens x (tokens, d_model) choose, all of them taken together."""
    found = routing_with(layer, gates, x[None])
    routed = layer.h - layer.shared
    scale = routed if gates == "code" else 1
    return Choices(
        found.chosen[0].double().mean(0),
        found.probabilities[0].double().mean(0),
        float(found.balance),
        scale * layer.chosen / routed if routed else 0.0,
        # All probability on the chosen heads, by every token.
        float(scale) if layer.chosen else 0.0,
        len(x),
    )


def saved(layer: MixtureOfHeads, n: int) -> tuple[int, int]:
    """FLOPs of this layer on one sentence of n words, and those of a plain one of the same sizes."""
    plain = cost.attention_flops(n, layer.d_model, layer.h, d_k=layer.d_k, d_v=layer.d_v)
    return variant_cost(layer, n).flops, plain["total"]


def steps_of(layer: MixtureOfHeads, found: Routing, gates: Gates, token: int) -> list[dict[str, object]]:
    """For each head of one token of the first sentence: its kind, and the factors whose product is its gate.

    share: within its kind (with the gates of the code over the chosen heads only); type: alpha of its kind;
    factor: what the code multiplies by, 1 with the paper's gates."""
    both = layer.router_types is not None
    rows = []
    for i in range(layer.h):
        is_shared = i < layer.shared
        chosen = is_shared or bool(found.chosen[0, token, i - layer.shared])
        gate = float(found.gates[0, token, i])
        alpha = float(found.types[0, token, 0 if is_shared else 1]) if both else 1.0
        count = layer.shared if is_shared else layer.chosen
        factor = (2 if both else 1) * count if gates == "code" else 1
        share = gate / (alpha * factor) if chosen and alpha > 0 else 0.0
        rows.append(
            {
                "head": i + 1,
                "kind": "shared" if is_shared else "routed",
                "chosen": chosen,
                "gate": gate,
                "alpha": alpha,
                "factor": factor,
                "share": share,
            }
        )
    return rows
