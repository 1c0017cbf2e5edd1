"""Scores as they come out otherwise: other comparisons, and what is done to them afterwards, with words."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

Made = tuple[str, Tensor]


def compared(q: Tensor, k: Tensor) -> Iterator[Made]:
    """Other ways to compare each query with each key, not yet divided, with their words."""
    unit_q, unit_k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    half = q.shape[-1] // 2
    apart = q.unsqueeze(-2) - k.unsqueeze(-3)
    both = q.unsqueeze(-2) * k.unsqueeze(-3)
    sums_q, sums_k = q.sum(-1)[..., :, None], k.sum(-1)[..., None, :]
    yield "Queries and keys are normalised to length 1 first (cosines)", unit_q @ unit_k.mT
    yield "The queries are normalised to length 1 first", unit_q @ k.mT
    yield "The keys are normalised to length 1 first", q @ unit_k.mT
    yield "These are distances, not dot products", apart.norm(dim=-1)
    yield "These are negative distances, not dot products", -apart.norm(dim=-1)
    yield "These are squared distances, not dot products", apart.square().sum(-1)
    yield "These are negative squared distances, not dot products", -apart.square().sum(-1)
    yield "These are sums of absolute differences, not dot products", apart.abs().sum(-1)
    yield "These are negative sums of absolute differences, not dot products", -apart.abs().sum(-1)
    yield "Queries and keys are added, and the features summed; a dot product multiplies", sums_q + sums_k
    yield "Keys are taken from queries, and the features summed; a dot product multiplies", apart.sum(-1)
    yield "The features are summed before the product, not after it", sums_q * sums_k
    yield "The largest product of features counts, not their sum", both.amax(-1)
    yield "The smallest product of features counts, not their sum", both.amin(-1)
    yield "The product goes over the features where a sum belongs", both.prod(-1)
    yield "The sign of the products of features is lost", both.abs().sum(-1)
    yield "The signs of queries and keys are lost", q.abs() @ k.abs().mT
    yield "The squares of the products are summed, and a root taken", both.square().sum(-1).sqrt()
    yield "The squares of the products are summed", both.square().sum(-1)
    yield "The last feature takes no part", q[..., :-1] @ k[..., :-1].mT
    yield "The first feature takes no part", q[..., 1:] @ k[..., 1:].mT
    yield "Only the first feature takes part", both[..., 0]
    yield "Only the last feature takes part", both[..., -1]
    yield "Only the first half of the features takes part", both[..., :half].sum(-1)
    yield "Only the second half of the features takes part", both[..., half:].sum(-1)
    yield "Every second feature takes part only", both[..., ::2].sum(-1)
    yield "The features stand in reversed order on one side", q @ k.flip(-1).mT
    yield "The features are shifted by one on one side", q @ k.roll(1, -1).mT
    yield "The features are shifted by one on one side", q @ k.roll(-1, -1).mT
    yield "The features are sorted first", q.sort(-1).values @ k.sort(-1).values.mT
    yield "A softmax is applied to the queries first", q.softmax(-1) @ k.mT
    yield "A softmax is applied to the keys first", q @ k.softmax(-1).mT
    yield "A softmax is applied to queries and keys first", q.softmax(-1) @ k.softmax(-1).mT
    yield "Negative numbers in queries and keys are treated as 0 first", q.relu() @ k.relu().mT
    yield "The queries are standardised first", F.layer_norm(q, q.shape[-1:]) @ k.mT
    yield (
        "Queries and keys are standardised first",
        F.layer_norm(q, q.shape[-1:]) @ F.layer_norm(k, k.shape[-1:]).mT,
    )
    yield (
        "The mean of the features is taken from queries and keys first",
        (q - q.mean(-1, True)) @ (k - k.mean(-1, True)).mT,
    )
    yield "The mean of all keys is taken from each key first", q @ (k - k.mean(-2, True)).mT
    yield "The mean of all queries is taken from each query first", (q - q.mean(-2, True)) @ k.mT
    yield "The keys stand in reversed order", q @ k.flip(-2).mT
    yield "The queries stand in reversed order", q.flip(-2) @ k.mT
    yield "The keys are shifted by one place", q @ k.roll(1, -2).mT
    yield "The keys are shifted by one place", q @ k.roll(-1, -2).mT
    yield "The queries are shifted by one place", q.roll(1, -2) @ k.mT
    yield "The queries are shifted by one place", q.roll(-1, -2) @ k.mT
    yield (
        "All queries are replaced by their mean",
        (q.mean(-2, keepdim=True) @ k.mT).expand(*q.shape[:-1], -1),
    )
    yield (
        "Additive attention: a tanh of query plus key, summed",
        (q.unsqueeze(-2) + k.unsqueeze(-3)).tanh().sum(-1),
    )
    yield "A tanh is applied to queries and keys first", q.tanh() @ k.tanh().mT
    yield "Every query is replaced by the first one", q[..., :1, :] @ k.mT
    yield "Every key is replaced by the first one", q @ k[..., :1, :].mT
    if q.ndim > 2:
        yield "Queries meet the keys of another sentence", q @ k.flip(0).mT
        yield "Queries meet the keys of another sentence", q @ k.roll(1, 0).mT
        yield "Queries meet the keys of another sentence", q @ k.roll(-1, 0).mT
        yield "Only the first sentence's keys are used, for all sentences", q @ k[:1].mT
        yield "Only the first sentence's queries are used, for all sentences", q[:1] @ k.mT
        yield "Only the last sentence's keys are used, for all sentences", q @ k[-1:].mT
        yield (
            "The scores of all sentences are added up",
            (q @ k.mT).sum(0, keepdim=True).expand(*q.shape[:-1], k.shape[-2]),
        )
        yield (
            "The scores are averaged over the sentences",
            (q @ k.mT).mean(0, keepdim=True).expand(*q.shape[:-1], k.shape[-2]),
        )
    yield (
        "`k` is brought into shape by a reshape, which turns no axes: rows hold pieces of other tokens",
        q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]),
    )
    turned = (k @ q.mT).reshape(*q.shape[:-1], k.shape[-2])
    yield (
        "The product is keys times queries, brought into shape by a reshape: rows hold pieces of others",
        turned,
    )


def _refilled(s: Tensor) -> Tensor:
    """As when s[j, i] is written for s[i, j], in a square of the smaller size."""
    n = min(s.shape[-2:])
    out = torch.zeros_like(s)
    out[..., :n, :n] = s[..., :n, :n].mT
    return out


def changed(s: Tensor, d_k: int) -> Iterator[Made]:
    """What may have been done to scores afterwards, with words."""
    n_q, n_k = s.shape[-2:]
    later = torch.arange(n_k) > torch.arange(n_q)[:, None]
    yield "Negative scores are set to 0 (a ReLU).", s.relu()
    yield "The sign of the scores is lost.", s.abs()
    yield "The scores are squared.", s * s
    yield "A tanh is applied to the scores.", s.tanh()
    yield "A sigmoid is applied to the scores.", s.sigmoid()
    yield "The exponential of the scores is taken; that belongs to the softmax.", s.exp()
    yield "The logarithm of a softmax is taken.", s.log_softmax(-1)
    yield "A softmax over the queries has been applied.", s.softmax(-2)
    yield "A softmax over the keys has been applied.", s.softmax(-1)
    yield "A softmax over the sentences has been applied.", s.softmax(0)
    yield "A softmax has been applied, and after it comes another division.", s.softmax(-1) / d_k**0.5
    yield (
        "Only the largest score of a row is kept, as 1.",
        torch.zeros_like(s).scatter(-1, s.argmax(-1, True), 1.0),
    )
    yield "The scores are rounded down (`//` or `floor`).", s.floor()
    yield "The scores are rounded to whole numbers.", s.round()
    yield "The scores are cut to whole numbers (`int`).", s.trunc()
    yield "The scores are rounded to one decimal.", s.round(decimals=1)
    yield "The scores are rounded to two decimals.", s.round(decimals=2)
    yield "The scores are rounded to three decimals.", s.round(decimals=3)
    yield "The scores lose the digits that float16 can't hold.", s.half().double()
    yield "The scores lose the digits that bfloat16 can't hold.", s.bfloat16().double()
    yield "The root of the absolute scores is taken.", s.abs().sqrt()
    yield "The root of the scores is taken, and of negative ones it is NaN.", s.sqrt()
    yield "A softcap (a tanh of large scores) flattens them.", 50 * (s / 50).tanh()
    yield "Rows and columns are mixed while the result is filled.", _refilled(s)
    yield "The scores are averaged over the queries.", s.mean(-2, keepdim=True).expand_as(s)
    yield "The scores are averaged over the keys.", s.mean(-1, keepdim=True).expand_as(s)
    yield "The scores are clamped to -1 ... 1.", s.clamp(-1, 1)
    yield "The scores are clamped to 0 ... 1.", s.clamp(0, 1)
    yield "The row's largest score is subtracted; that belongs to the softmax.", s - s.amax(-1, keepdim=True)
    yield "The row's mean is subtracted.", s - s.mean(-1, keepdim=True)
    yield "The mean of all scores is subtracted.", s - s.mean()
    yield "Each row is standardised.", (s - s.mean(-1, keepdim=True)) / s.std(-1, keepdim=True)
    yield "The scores are divided by their standard deviation.", s / s.std()
    yield "Each row is divided by its sum.", s / s.sum(-1, keepdim=True)
    yield "Each row is divided by its largest score.", s / s.amax(-1, keepdim=True)
    yield "Each row is divided by its length (L2 norm).", s / s.norm(dim=-1, keepdim=True)
    yield (
        "Later keys are hidden (-inf), as by a causal mask that nobody asked for.",
        s.masked_fill(later, -math.inf),
    )
    yield "Later keys get -1e9, as by a causal mask that nobody asked for.", s.masked_fill(later, -1e9)
    yield "Later keys get 0, as by a causal mask that nobody asked for.", s.masked_fill(later, 0.0)
    yield "The scores are sorted.", s.sort(-1).values
    yield "The scores are summed up along the keys (`cumsum`).", s.cumsum(-1)
    yield "The keys stand in reversed order.", s.flip(-1)
    yield "The queries stand in reversed order.", s.flip(-2)
    yield "The sentences stand in reversed order.", s.flip(0)
    yield "1 divided by the scores comes out.", 1 / s
    if n_q * n_k:
        turned = s.mT.reshape(s.shape)
        yield "The axes of queries and keys are mixed by a reshape: rows hold pieces of others.", turned
