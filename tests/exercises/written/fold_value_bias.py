"""fold_value_bias as students write it: each known mistake in several styles, right ones, unlisted ones."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def by_hand(b_v, w_o, b_o):
    folded = []
    for column in range(w_o.shape[1]):
        total = b_o[column]
        for row in range(w_o.shape[0]):
            total = total + b_v[row] * w_o[row, column]
        folded.append(total)
    return torch.stack(folded)


def through_a_layer(b_v, w_o, b_o):
    layer = nn.Linear(len(b_v), len(b_o), dtype=w_o.dtype)
    with torch.no_grad():
        layer.weight.copy_(w_o.T)
        layer.bias.copy_(b_o)
        return layer(b_v)


def in_place(b_v, w_o, b_o):
    folded = b_o.clone()
    folded += b_v @ w_o
    return folded


def with_numpy(b_v, w_o, b_o):
    return torch.from_numpy(np.dot(b_v.numpy(), w_o.numpy()) + b_o.numpy())


RIGHT = [
    lambda b_v, w_o, b_o: F.linear(b_v, w_o.T, b_o),
    lambda b_v, w_o, b_o: (b_v[:, None] * w_o).sum(0) + b_o,
    lambda b_v, w_o, b_o: torch.einsum("i,ij->j", b_v, w_o) + b_o,
    lambda b_v, w_o, b_o: torch.addmv(b_o, w_o.T, b_v),
    lambda b_v, w_o, b_o: (b_v[None] @ w_o + b_o)[0],
    lambda b_v, w_o, b_o: w_o.T.mv(b_v).add(b_o),
    lambda b_v, w_o, b_o: torch.cat([b_v, torch.ones(1, dtype=b_v.dtype)]) @ torch.vstack([w_o, b_o]),
    lambda b_v, w_o, b_o: torch.matmul(w_o.t(), b_v.unsqueeze(1)).squeeze(1) + b_o,
    lambda b_v, w_o, b_o: sum(b * row for b, row in zip(b_v, w_o, strict=True)) + b_o,
    by_hand,
    through_a_layer,
    in_place,
    with_numpy,
]


def without_value_bias(b_v, w_o, b_o):
    values = torch.zeros_like(b_v)
    return torch.einsum("i,ij->j", values, w_o) + b_o


def without_output_bias(b_v, w_o, b_o):
    return torch.stack([(b_v * w_o[:, j]).sum() for j in range(w_o.shape[1])])


def as_linear(b_v, w_o, b_o):
    layer = nn.Linear(*w_o.shape)
    with torch.no_grad():
        layer.weight.copy_(w_o)
        layer.bias.copy_(b_o)
        return layer(b_v)


def all_through(b_v, w_o, b_o):
    bias = torch.add(b_v, b_o)
    return F.linear(bias, w_o.T)


def exchanged(b_v, w_o, b_o):
    out = b_v.clone()
    for i, b in enumerate(b_o):
        out = out + b * w_o[i]
    return out


def minus_value(b_v, w_o, b_o):
    return torch.addmv(b_o, w_o.T, b_v, alpha=-1)


def minus_output(b_v, w_o, b_o):
    moved = torch.einsum("i,ij->j", b_v, w_o)
    return torch.sub(moved, b_o)


def diagonal_only(b_v, w_o, b_o):
    return torch.stack([b_v[i] * w_o[i, i] + b_o[i] for i in range(len(b_v))])


def stars(b_v, w_o, b_o):
    return torch.stack([b_v * row + b_o for row in w_o])


def weighed_rows(b_v, w_o, b_o):
    return torch.stack([b * row + b_o for b, row in zip(b_v, w_o, strict=True)])


def ones_for_bias(b_v, w_o, b_o):
    return torch.ones_like(b_v) @ w_o + b_o


def summed_first(b_v, w_o, b_o):
    out = torch.zeros_like(b_o)
    for row in w_o:
        out += b_v.sum() * row
    return out + b_o


def once_a_feature(b_v, w_o, b_o):
    folded = b_o
    for _ in range(len(b_v)):
        folded = folded + b_v @ w_o
    return folded


def column_wise(b_v, w_o, b_o):
    return (w_o.T @ b_v[:, None]).T + b_o


WRONG = [
    ("value-bias-dropped", without_value_bias),
    ("value-bias-dropped", lambda b_v, w_o, b_o: b_o.clone()),
    ("output-bias-dropped", without_output_bias),
    ("output-bias-dropped", lambda b_v, w_o, b_o: torch.mv(w_o.T, b_v)),
    ("w_o-left-out", lambda b_v, w_o, b_o: torch.stack([b_v, b_o]).sum(0)),
    ("w_o-left-out", lambda b_v, w_o, b_o: b_v.add(b_o)),
    ("transposed", lambda b_v, w_o, b_o: F.linear(b_v, w_o, b_o)),
    ("transposed", as_linear),
    ("transposed", lambda b_v, w_o, b_o: torch.einsum("j,ij->i", b_v, w_o) + b_o),
    ("both-through-w_o", all_through),
    ("both-through-w_o", lambda b_v, w_o, b_o: torch.stack([b_v, b_o]).matmul(w_o).sum(0)),
    ("wrong-one-through-w_o", exchanged),
    ("wrong-one-through-w_o", lambda b_v, w_o, b_o: torch.addmv(b_v, w_o.t(), b_o)),
    ("subtracted", minus_value),
    ("subtracted", lambda b_v, w_o, b_o: F.linear(-b_v, w_o.T) + b_o),
    ("subtracted-the-other-way", minus_output),
    ("subtracted-the-other-way", lambda b_v, w_o, b_o: F.linear(b_v, w_o.T, -b_o)),
    ("entry-by-entry", diagonal_only),
    ("entry-by-entry", lambda b_v, w_o, b_o: torch.diag(w_o).mul(b_v).add(b_o)),
    ("broadcast", stars),
    ("broadcast", lambda b_v, w_o, b_o: torch.addcmul(b_o.expand_as(w_o), b_v.expand_as(w_o), w_o)),
    ("not-summed", weighed_rows),
    ("not-summed", lambda b_v, w_o, b_o: torch.diag(b_v) @ w_o + b_o),
    ("sum-of-rows", ones_for_bias),
    ("sum-of-rows", lambda b_v, w_o, b_o: torch.einsum("ij->j", w_o) + b_o),
    ("all-of-b_v-in-each", summed_first),
    ("all-of-b_v-in-each", lambda b_v, w_o, b_o: torch.einsum("k,ij->j", b_v, w_o) + b_o),
    ("counted-per-feature", once_a_feature),
    ("counted-per-feature", lambda b_v, w_o, b_o: torch.stack([b_v @ w_o] * b_v.numel()).sum(0) + b_o),
    ("with-an-extra-axis", column_wise),
    ("with-an-extra-axis", lambda b_v, w_o, b_o: F.linear(b_v.view(1, -1), w_o.T, b_o)),
]

UNLISTED = [
    ("2 b_o", lambda b_v, w_o, b_o: b_v @ w_o + 2 * b_o),
    ("entry by entry; biases are added", lambda b_v, w_o, b_o: (b_v @ w_o) * b_o),
    ("inverse of W_O", lambda b_v, w_o, b_o: torch.linalg.solve(w_o.T, b_v) + b_o),
    ("b_v doesn't belong there", lambda b_v, w_o, b_o: b_v @ w_o + b_o + b_v),
    ("b_v W_O belongs there, but once.*not 1/d_model times", lambda v, w, o: v @ w / len(v) + o),
    ("opposite sign", lambda b_v, w_o, b_o: -(b_v @ w_o) - b_o),
    ("softmax", lambda b_v, w_o, b_o: (b_v @ w_o + b_o).softmax(0)),
    ("One number in every place", lambda b_v, w_o, b_o: b_v @ w_o + b_o + 1),
    ("product of b_v and W_O goes through a ReLU", lambda b_v, w_o, b_o: (b_v @ w_o).relu() + b_o),
    ("in reversed order", lambda b_v, w_o, b_o: b_v @ w_o.flip(0) + b_o),
    ("Everything is 0", lambda b_v, w_o, b_o: torch.zeros_like(b_o)),
    ("W_O takes part twice", lambda b_v, w_o, b_o: b_v @ w_o @ w_o + b_o),
    ("W_O takes part twice", lambda b_v, w_o, b_o: (b_v @ w_o + b_o) @ w_o),
    ("W_O takes part twice", lambda b_v, w_o, b_o: b_v @ (w_o.T @ w_o) + b_o),
    ("added up to one number", lambda b_v, w_o, b_o: (b_v @ w_o + b_o).sum()),
    ("averaged to one number", lambda b_v, w_o, b_o: (b_v @ w_o + b_o).mean()),
    ("b_v summed, times b_o", lambda b_v, w_o, b_o: b_v @ (w_o + b_o)),
    ("divided by 2", lambda b_v, w_o, b_o: (b_v @ w_o + b_o) / 2),
    ("all of b_v summed, times the sums", lambda b_v, w_o, b_o: b_v.mean() * w_o.sum(0) + b_o),
    ("only the lower triangle of W_O", lambda b_v, w_o, b_o: b_v @ w_o.tril() + b_o),
    ("W_O b_o doesn't belong there", lambda b_v, w_o, b_o: w_o @ b_o + b_v),
    ("whole matrix comes out", lambda b_v, w_o, b_o: torch.outer(b_v, b_o)),
    ("whole matrix comes out", lambda b_v, w_o, b_o: w_o + b_v + b_o),
    ("(?i)shape", lambda b_v, w_o, b_o: torch.cat([b_v @ w_o, b_o])),
    ("b_v W_O transposed|other side", lambda b_v, w_o, b_o: (b_v + b_o) @ w_o.T),
    ("not the root of d_model|root of d_model", lambda v, w, o: v @ w / len(v) ** 0.5 + o),
    ("normalised", lambda b_v, w_o, b_o: F.layer_norm(b_v @ w_o + b_o, b_o.shape)),
    ("other side", lambda b_v, w_o, b_o: b_v @ (w_o + w_o.T) + b_o),
    ("b_o.*all of b_o summed|all of b_o summed", lambda b_v, w_o, b_o: b_v @ w_o + b_o.sum()),
    ("returns nothing", lambda b_v, w_o, b_o: print(end="")),
    ("2 things", lambda b_v, w_o, b_o: (b_v @ w_o, b_o)),
    ("changes its argument `b_o`", lambda b_v, w_o, b_o: b_o.add_(b_v @ w_o)),
]


UNLISTED += [
    ("b_v goes through a softmax", lambda b_v, w_o, b_o: F.softmax(b_v, 0) @ w_o + b_o),
    ("squeezed by a tanh", lambda b_v, w_o, b_o: torch.tanh(b_v @ w_o).add(b_o)),
    ("loses its signs", lambda b_v, w_o, b_o: torch.abs(b_v @ w_o) + b_o),
    ("b_v is scaled to length 1", lambda b_v, w_o, b_o: F.normalize(b_v, dim=0) @ w_o + b_o),
    ("first column of W_O alone", lambda b_v, w_o, b_o: b_v @ w_o[:, 0] + b_o),
    ("larger one of two", lambda b_v, w_o, b_o: torch.stack([b_v @ w_o, b_o]).amax(0)),
    ("last step.*ReLU", lambda b_v, w_o, b_o: F.relu(b_v @ w_o + b_o)),
]
