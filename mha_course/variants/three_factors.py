"""A tensor with three axes as a sum of products of three vectors (CP, also called PARAFAC).

T[i, a, b] ~ sum_r M[i, r] A[a, r] B[b, r]. With two factors held fixed the third is a least-squares problem,
so each is solved in turn, over and over; the error never rises. Source: Carroll and Chang 1970; Harshman 1970
(the decomposition, by alternating least squares)."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.attention import check_tensors
from mha_course.sizes import check_sizes


def three_factors(
    products: Tensor, rank: int, seed: int = 0, sweeps: int = 300, settled: float = 1e-10
) -> tuple[Tensor, Tensor, Tensor]:
    """M (h, rank), A (d_1, rank), B (d_2, rank) whose products come near the tensor (h, d_1, d_2) given.

    seed: of the random factors it starts from. sweeps: rounds at most; it stops earlier once the relative
    error falls by less than `settled` in a round. Other seeds may end at another error.

    Returns: factors in float64; columns of A and B have length 1, their size stands in M.
    Raises: ValueError for a tensor without three axes and for a rank or sweeps below 1.
    """
    check_tensors(products=products)
    check_sizes(rank=rank, sweeps=sweeps)
    if products.ndim != 3:
        raise ValueError(f"products must have three axes (h, d_1, d_2); got {tuple(products.shape)}.")
    t = products.detach().double()
    g = torch.Generator().manual_seed(seed)
    factors = [torch.randn(size, rank, generator=g, dtype=torch.float64).to(t.device) for size in t.shape]
    before = float("inf")
    for _ in range(sweeps):
        for axis in range(3):
            factors[axis] = _best(t, factors, axis)
        factors = _unit_columns(*factors)
        error = relative_error(t, *factors)
        if before - error < settled:
            break
        before = error
    return tuple(factors)


def relative_error(products: Tensor, m: Tensor, a: Tensor, b: Tensor) -> float:
    """Length of what the factors' products miss, as a share of the tensor's own length."""
    rebuilt = torch.einsum("ir,ar,br->iab", m, a, b)
    return float((products - rebuilt).norm() / products.norm())


def _best(t: Tensor, factors: list[Tensor], axis: int) -> Tensor:
    """Least squares for one factor: T unfolded along its axis, the others' products, their Gram matrix."""
    left, right = (factors[other] for other in range(3) if other != axis)
    unfolded = t.movedim(axis, 0).flatten(1)
    paired = torch.einsum("lr,sr->lsr", left, right).flatten(0, 1)
    gram = (left.T @ left) * (right.T @ right)
    # The pseudo-inverse: columns of a factor can become alike, and then the Gram matrix has no inverse.
    return unfolded @ paired @ torch.linalg.pinv(gram, hermitian=True)


def _unit_columns(m: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    lengths = [factor.norm(dim=0).clamp_min(torch.finfo(torch.float64).tiny) for factor in (a, b)]
    return [m * lengths[0] * lengths[1], a / lengths[0], b / lengths[1]]
