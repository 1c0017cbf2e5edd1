"""How much heads resemble each other: Jensen-Shannon divergence of their rows, and a picture of it.

Sources: Lin 1991 (the divergence), Clark et al. 2019, section 6 (of attention heads), Torgerson 1952 (the
picture), Endres and Schindelin 2003 (why its root is a distance).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor


def jensen_shannon(p: Tensor, q: Tensor) -> Tensor:
    """The Jensen-Shannon divergence of distributions, in nats: 0 when equal, at most log 2.

    p, q: (..., n), broadcast against each other, each summing to 1 over the last axis. With m halfway
    between them it is half of KL(p||m) plus half of KL(q||m), which is entropy(m) less the mean entropy.
    Returns: (...).
    Source: Lin 1991.
    """
    return _entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2


@dataclass(frozen=True, eq=False)
class Resemblance:
    """Divergence of every pair of heads, layer after layer.

    matrix: (n, n) for n = layers * heads, the mean divergence of a row in nats, 0 on the diagonal. layers,
    heads: how many. rows: how many rows the mean is over.
    """

    matrix: Tensor
    layers: int
    heads: int
    rows: int

    @property
    def layer_of(self) -> Tensor:
        """(n,): the layer of each head, from 0."""
        return torch.arange(self.layers).repeat_interleave(self.heads)

    def within_each(self) -> Tensor:
        """(layers,): the mean over the pairs of heads of a layer, its variety; nan with one head a layer."""
        blocks = self.matrix.reshape(self.layers, self.heads, self.layers, self.heads)
        sums = torch.stack([blocks[i, :, i, :].sum() for i in range(self.layers)])
        pairs = self.heads * (self.heads - 1)
        return sums / pairs if pairs else torch.full((self.layers,), float("nan"))

    def test(self, permutations: int = 2_000, seed: int = 0) -> LayersDiffer:
        """Whether heads of one layer resemble each other more than heads of different layers."""
        return layers_differ(self.matrix, self.layer_of, permutations, seed)

    def points(self) -> tuple[Tensor, Tensor]:
        """(n, 2) a place in the plane for each head, and (2,) the share of the picture on each axis.

        The root of the divergence is a distance, so the divergence itself is taken as squared distance.
        """
        return classical_mds(self.matrix)


@dataclass(frozen=True)
class LayersDiffer:
    """within, between: mean divergence of pairs of one layer, and of different layers. p: how often a
    random dealing of heads to layers gives as large a difference (one-sided)."""

    within: float
    between: float
    p: float


def head_resemblance(
    weights: Iterable[Tensor], special: Iterable[Iterable[int]] | None = None
) -> Resemblance:
    """The divergence of all pairs of heads, a mean over all rows of all sentences.

    weights: for each sentence (layers, heads, n, n), over all tokens, so that rows sum to 1. special: for
    each sentence the places of special tokens, whose rows are left out; as targets they count. Heads are
    compared row by row, then averaged: two heads that look at different words in each sentence differ, even
    if they look equally far.

    Raises: ValueError when there is no sentence.
    """
    total, rows, shape = None, 0, (0, 0)
    places = iter(special) if special is not None else None
    for w in weights:
        real = torch.ones(w.shape[-2], dtype=torch.bool)
        if places is not None:
            real[list(next(places))] = False
        shape, a = tuple(w.shape[:2]), w[:, :, real].flatten(0, 1)
        found = _all_pairs(a)
        total = found if total is None else total + found
        rows += int(real.sum())
    if total is None:
        raise ValueError("there is no sentence.")
    return Resemblance(total / max(1, rows), *shape, rows)


def layers_differ(matrix: Tensor, layer_of: Tensor, permutations: int = 2_000, seed: int = 0) -> LayersDiffer:
    """A permutation test: is the mean over pairs of one layer smaller than over pairs of two layers?

    matrix: (n, n) symmetric divergences. layer_of: (n,). The layers are dealt out anew `permutations` times;
    p counts the dealing that was observed as one of them, so it is never 0.
    Source: Fisher 1935 (permutation tests), Mantel 1967 (of distances).
    """
    n, g = len(layer_of), torch.Generator().manual_seed(seed)
    off = ~torch.eye(n, dtype=torch.bool)

    def means(labels: Tensor) -> tuple[float, float]:
        same = labels[:, None] == labels
        return float(matrix[same & off].mean()), float(matrix[~same].mean())

    within, between = means(layer_of)
    as_large = 1
    for _ in range(permutations):
        a, b = means(layer_of[torch.randperm(n, generator=g)])
        as_large += b - a >= between - within
    return LayersDiffer(within, between, as_large / (permutations + 1))


def classical_mds(squared: Tensor, dimensions: int = 2) -> tuple[Tensor, Tensor]:
    """Points whose distances come nearest to the given ones, and how much each axis tells.

    squared: (n, n) squared distances. Centring both ways turns them into inner products; the eigenvectors
    with the largest eigenvalues are the axes. Signs of the axes mean nothing: here the entry that is
    largest in size is positive.

    Returns: (n, dimensions), and (dimensions,) the share of each axis in all positive eigenvalues.

    Raises: ValueError for a matrix that is not square or has fewer rows than dimensions.
    Source: Torgerson 1952.
    """
    if squared.ndim != 2 or squared.shape[0] != squared.shape[1] or len(squared) < dimensions:
        raise ValueError(f"squared distances must be (n, n), n >= {dimensions}; got {tuple(squared.shape)}.")
    d = squared.double()
    inner = -(d - d.mean(0) - d.mean(1, keepdim=True) + d.mean()) / 2
    values, vectors = torch.linalg.eigh((inner + inner.T) / 2)
    values, vectors = values.flip(0).clamp(min=0), vectors.flip(1)
    axes = vectors[:, :dimensions]
    largest = axes.gather(0, axes.abs().argmax(0, keepdim=True))
    points = axes * torch.where(largest < 0, -1.0, 1.0) * values[:dimensions].sqrt()
    return points.float(), (values[:dimensions] / values.sum().clamp(min=1e-12)).float()


def _entropy(p: Tensor) -> Tensor:
    return -torch.special.xlogy(p, p).sum(-1)


def _all_pairs(a: Tensor) -> Tensor:
    """(n, n) summed over rows. a: (n, rows, keys)."""
    n = len(a)
    entropy = _entropy(a)
    found = a.new_zeros(n, n)
    for i in range(n - 1):  # one head against all that follow: the whole at once would not fit into a cache
        halfway = _entropy((a[i] + a[i + 1 :]) / 2) - (entropy[i] + entropy[i + 1 :]) / 2
        found[i, i + 1 :] = halfway.sum(-1)
    return (found + found.T).clamp(min=0)
