"""Every step of cross-attention, and what people put in its place."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.mistakes.workbench import (
    first_for_all,
    interleaved,
    merge,
    merge_interleaved,
    merge_reversed,
    merge_without_transpose,
    split,
    without_transpose,
)
from mha_course.exercises.reading.recipes import Step, Way, rare

INF = math.inf


def _one_head(x: Tensor, h: int) -> Tensor:
    return x[:, None]


def _mean_of_heads(heads: Tensor) -> Tensor:
    return heads.mean(1).repeat(1, 1, heads.shape[1])


def _normal(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def _triangle(scores: Tensor, up_to: int, hidden: float) -> Tensor:
    return scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(up_to), hidden)


WHO = (
    Way("Queries, keys and values are all made of `y`: the target asks itself.", lambda y, m: (y, y, y)),
    rare(
        "Queries, keys and values are all made of `memory`: the source asks itself.", lambda y, m: (m, m, m)
    ),
    Way(
        "Queries are made of `memory`, keys and values of `y`: the source asks the target.",
        lambda y, m: (m, y, y),
    ),
    Way(
        "Keys and values are made of `memory` and `y`, one behind the other. Only the source is asked.",
        lambda y, m: (y, *[torch.cat([m, y], 1)] * 2),
    ),
    Way(
        "Keys and values are made of `y` and `memory`, one behind the other. Only the source is asked.",
        lambda y, m: (y, *[torch.cat([y, m], 1)] * 2),
    ),
    rare(
        "All source words get the same weight, as if they were averaged first.",
        lambda y, m: (y, *[m.mean(1, keepdim=True).expand_as(m)] * 2),
    ),
    rare(
        "All target words are averaged before they ask.",
        lambda y, m: (y.mean(1, keepdim=True).expand_as(y), m, m),
    ),
    rare("The target is normalised first (LayerNorm).", lambda y, m: (_normal(y), m, m)),
    rare("The source is normalised first (LayerNorm).", lambda y, m: (y, _normal(m), _normal(m))),
    rare(
        "Target and source are normalised first (LayerNorm).",
        lambda y, m: (_normal(y), _normal(m), _normal(m)),
    ),
    rare(
        "The source words are read backwards by the keys, and not by the values.",
        lambda y, m: (y, m.flip(1), m),
    ),
    rare("Everybody reads the source of the sentence before.", lambda y, m: (y, m.roll(1, 0), m.roll(1, 0))),
)


def _names(order: str) -> Step:
    def take(q: Tensor, k: Tensor, v: Tensor, o: Tensor) -> tuple[Tensor, ...]:
        by = {"q": q, "k": k, "v": v, "o": o, "1": torch.eye(len(q), dtype=q.dtype)}
        return tuple(by[name.lower()].T if name.isupper() else by[name] for name in order)

    return take


TAKES = (
    *(
        rare(f"{matrix} is transposed.", _names(order))
        for matrix, order in (("W_Q", "Qkvo"), ("W_K", "qKvo"), ("W_V", "qkVo"), ("W_O", "qkvO"))
    ),
    Way("W_Q, W_K and W_V are transposed.", _names("QKVo")),
    rare("All four matrices are transposed.", _names("QKVO")),
    rare("W_K and W_V are transposed.", _names("qKVo")),
    rare("W_Q and W_K are transposed.", _names("QKvo")),
    Way("W_K and W_V have changed places.", _names("qvko")),
    Way("W_Q and W_K have changed places.", _names("kqvo")),
    rare("W_Q and W_V have changed places.", _names("vkqo")),
    rare("W_V and W_O have changed places.", _names("qkov")),
    rare("W_Q and W_O have changed places.", _names("okvq")),
    rare("W_K and W_O have changed places.", _names("qovk")),
    rare(
        "W_O is multiplied with W_V, before the heads are cut; it belongs behind their concatenation.",
        lambda q, k, v, o: (q, k, v @ o, torch.eye(len(o), dtype=o.dtype)),
    ),
    rare(
        "The matrices have moved by one: W_K makes the queries, W_V the keys, W_Q the values.", _names("kvqo")
    ),
    rare(
        "The matrices have moved by one: W_V makes the queries, W_Q the keys, W_K the values.", _names("vqko")
    ),
)
CUTS = (
    Way("The heads are cut by `view` alone, so that each holds pieces of other tokens.", without_transpose),
    Way("Each head takes features that lie h apart; a head owns neighbouring columns.", interleaved),
    Way("Nothing is cut: there is one head as wide as d_model.", _one_head),
    rare("Every head gets the features of head 1.", first_for_all),
    rare("The features of every head stand in reverse order.", lambda x, h: split(x, h).flip(-1)),
)
JOINS = (
    Way("The heads are joined by `reshape` alone, so that rows mix tokens.", merge_without_transpose),
    Way("The features of the heads alternate when they are joined.", merge_interleaved),
    rare("The heads stand in reverse order.", merge_reversed),
    Way("The heads are averaged, and the mean stands h times.", _mean_of_heads),
    rare("The heads are added up, and the sum stands h times.", lambda t: t.sum(1).repeat(1, 1, t.shape[1])),
    rare("Head 1 stands h times.", lambda t: merge(t[:, :1].expand_as(t))),
    rare("The last head stands h times.", lambda t: merge(t[:, -1:].expand_as(t))),
    rare("Only head 1 is left: the others are 0.", lambda t: merge(torch.cat([t[:, :1], 0 * t[:, 1:]], 1))),
    rare("The last head is 0.", lambda t: merge(torch.cat([t[:, :-1], 0 * t[:, -1:]], 1))),
    rare("The heads are averaged in scale: everything is divided by h.", lambda t: merge(t) / t.shape[1]),
)
SOFTENS = (
    Way("The softmax runs over the queries.", lambda s: s.softmax(-2)),
    rare("The softmax runs over the heads.", lambda s: s.softmax(1)),
    rare("The softmax runs over the sentences.", lambda s: s.softmax(0)),
    rare(
        "The softmax runs over all queries and keys at once.", lambda s: s.flatten(2).softmax(-1).view_as(s)
    ),
    Way("There is no softmax: the scores themselves are the weights.", lambda s: s.nan_to_num(neginf=0.0)),
    Way("A sigmoid stands for the softmax: rows don't sum to 1.", torch.sigmoid),
    Way("`log_softmax` stands for `softmax`: the weights are negative.", lambda s: s.log_softmax(-1)),
    rare(
        "A ReLU and a division by the sum stand for the softmax.",
        lambda s: s.relu() / (s.relu().sum(-1, keepdim=True) + 1e-9),
    ),
    rare("A ReLU stands for the softmax.", torch.relu),
    rare(
        "Only the key with the largest score counts (`argmax`).",
        lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype),
    ),
    Way("The softmax is taken twice.", lambda s: s.softmax(-1).softmax(-1)),
    rare("The exponentials are not divided by their sum.", torch.exp),
    rare("The scores are divided by their sum, without exponentials.", lambda s: s / s.sum(-1, keepdim=True)),
    rare(
        "The weights are divided by the number of keys, after the softmax.",
        lambda s: s.softmax(-1) / s.shape[-1],
    ),
    rare("A tanh stands for the softmax.", torch.tanh),
    rare("A softmax of the powers of 2 is taken.", lambda s: (s * math.log(2)).softmax(-1)),
    rare(
        "The softmax has a 1 below the fraction bar (softmax1).",
        lambda s: s.exp() / (1 + s.exp().sum(-1, keepdim=True)),
    ),
    rare("The weights are squared after the softmax.", lambda s: s.softmax(-1) ** 2),
    Way(
        "A causal mask hides part of the source. All of it may be read.",
        lambda s: _triangle(s, 0, -1e9).softmax(-1),
    ),
    Way(
        "A causal mask hides the first key and some others. All of the source may be read.",
        lambda s: _triangle(s, -1, -1e9).softmax(-1),
    ),
    rare("1 is taken off the weights.", lambda s: s.softmax(-1) - 1),
)
HIDES = (
    Way("The mask has no effect: padding is looked at.", lambda s, m: s),
    Way("The mask is turned round: real words are hidden.", lambda s, m: s.masked_fill(m, -INF)),
    Way(
        "Scores of padding become 0 before the softmax, which leaves them a weight.",
        lambda s, m: s.masked_fill(~m, 0.0),
    ),
    rare(
        "Scores of padding become 1e-9, which is nearly 0 and leaves them a weight; -1e9 is far below.",
        lambda s, m: s.masked_fill(~m, 1e-9),
    ),
    *(
        rare(
            f"Scores of padding become {number}, which leaves them a weight.",
            lambda s, m, number=number: s.masked_fill(~m, number),
        )
        for number in (-1, 1, -10)
    ),
    rare("Scores of padding become infinite, with the wrong sign.", lambda s, m: s.masked_fill(~m, INF)),
    rare("Scores of padding become 1e9, with the wrong sign.", lambda s, m: s.masked_fill(~m, 1e9)),
    rare("The mask (1 and 0) is added to the scores.", lambda s, m: s + m),
    rare("The mask, turned round (0 and 1), is added to the scores.", lambda s, m: s + ~m),
    rare(
        "1 is taken off the scores of padding, which leaves them a weight.", lambda s, m: s - (~m).to(s.dtype)
    ),
    rare("1e9 is taken off the scores of real words, not of padding.", lambda s, m: s - 1e9 * m),
    rare("The first sentence's mask serves all.", lambda s, m: s.masked_fill(~m[:1], -INF)),
    rare("The last sentence's mask serves all.", lambda s, m: s.masked_fill(~m[-1:], -INF)),
    rare(
        "Each sentence gets the mask of the sentence before.", lambda s, m: s.masked_fill(~m.roll(1, 0), -INF)
    ),
    rare(
        "A key is hidden in all sentences when it is padding in one.",
        lambda s, m: s.masked_fill(~m.all(0, keepdim=True), -INF),
    ),
    rare(
        "A key is open in all sentences when it is real in one.",
        lambda s, m: s.masked_fill(~m.any(0, keepdim=True), -INF),
    ),
    rare(
        "The last key is hidden in every sentence.",
        lambda s, m: s.masked_fill(torch.arange(s.shape[-1]) == s.shape[-1] - 1, -INF),
    ),
)
LATES = (
    Way("The weights of padding become 0 after the softmax: rows no longer sum to 1.", lambda w, m: w * m),
)
COMPARES = (
    rare(
        "The scores of all heads are added up.",
        lambda q, k: (q @ k.mT).sum(1, keepdim=True).expand(-1, q.shape[1], -1, -1),
    ),
    rare(
        "The scores of all heads are averaged.",
        lambda q, k: (q @ k.mT).mean(1, keepdim=True).expand(-1, q.shape[1], -1, -1),
    ),
    rare(
        "Queries and keys are brought to length 1 (cosine).",
        lambda q, k: F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT,
    ),
    rare("Scores are minus the distance of query and key.", lambda q, k: -torch.cdist(q, k)),
    rare("Scores are minus the squared distance of query and key.", lambda q, k: -(torch.cdist(q, k) ** 2)),
    rare("Query and key of different heads meet.", lambda q, k: q @ k.flip(1).mT),
)
SCALES = (
    Way("The scores are not scaled.", lambda s, d, h: s),
    Way("The scores are divided by the root of d_model.", lambda s, d, h: s / math.sqrt(d * h)),
    Way("The scores are divided by d_k, without the root.", lambda s, d, h: s / d),
    rare(
        "The scores are multiplied by the root of d_k; they should be divided.",
        lambda s, d, h: s * math.sqrt(d),
    ),
    rare("The scores are rounded down (`//`).", lambda s, d, h: s // math.sqrt(d)),
    rare("The scores are rounded down before they are divided.", lambda s, d, h: s.floor() / math.sqrt(d)),
    rare(
        "The root of d_k stands above, the scores below the fraction bar.", lambda s, d, h: math.sqrt(d) / s
    ),
    rare("The scores lose their sign.", lambda s, d, h: s.abs() / math.sqrt(d)),
    rare("The scaled scores are squared.", lambda s, d, h: (s / math.sqrt(d)) ** 2),
    rare("The scores are squared before they are divided.", lambda s, d, h: s**2 / math.sqrt(d)),
    rare("The scores are divided by e to the power of d_k.", lambda s, d, h: s / math.exp(d)),
    rare("The scores have the wrong sign.", lambda s, d, h: -s / math.sqrt(d)),
    rare("The scores become 0 where they are negative.", lambda s, d, h: s.relu() / math.sqrt(d)),
    rare("The scores go through a tanh.", lambda s, d, h: (s / math.sqrt(d)).tanh()),
)
MIXES = (
    rare("The weights mix the keys; the values take no part.", lambda w, v, k: w @ k),
    rare("The weights mix keys and values, added up.", lambda w, v, k: w @ (v + k)),
    rare("The weights are divided by the root of d_k.", lambda w, v, k: w @ v / math.sqrt(v.shape[-1])),
    rare("The values of another head are mixed.", lambda w, v, k: w @ v.flip(1)),
    rare("The values are taken in reverse order.", lambda w, v, k: w @ v.flip(-2)),
)
FUSES = (
    Way("W_O is left out.", lambda c, w: c),
    Way("W_O stands on the other side: it is turned.", lambda c, w: c @ w.T),
    Way("W_O is applied twice.", lambda c, w: c @ w @ w),
    rare("The rows of W_O stand in reverse order.", lambda c, w: c @ w.flip(0)),
)
FINISHES = (
    Way("The target is added. That is the residual connection around the layer.", lambda out, y: out + y),
    Way(
        "The target is added and everything is normalised, as around the layer.",
        lambda out, y: _normal(out + y),
    ),
    rare("The result is normalised. LayerNorm stands around the layer.", lambda out, y: _normal(out)),
    rare("A ReLU stands at the end.", lambda out, y: out.relu()),
    rare("The target is a factor at the end.", lambda out, y: out * y),
    rare("A softmax is taken at the end.", lambda out, y: out.softmax(-1)),
    rare(
        "Everything is divided by the root of d_model at the end.", lambda out, y: out / out.shape[-1] ** 0.5
    ),
)
