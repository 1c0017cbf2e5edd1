"""What was done to a matrix before it took part in a product."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mha_course.exercises.evidence import in_a_row

# With W_O for the matrix's name.
_CHANGES: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("W_O's signs are dropped (an absolute value)", torch.abs),
    ("negative numbers of W_O become 0", torch.relu),
    ("W_O is squared entry by entry", torch.square),
    ("1 is added to every number of W_O", lambda w: w + 1),
    ("a softmax is applied to the rows of W_O", lambda w: w.softmax(1)),
    ("a softmax is applied to the columns of W_O", lambda w: w.softmax(0)),
    ("the rows of W_O are scaled to length 1", lambda w: w / w.norm(dim=1, keepdim=True)),
    ("the columns of W_O are scaled to length 1", lambda w: w / w.norm(dim=0, keepdim=True)),
    ("the mean of each row of W_O is taken off", lambda w: w - w.mean(1, keepdim=True)),
    ("the mean of each column of W_O is taken off", lambda w: w - w.mean(0, keepdim=True)),
    ("W_O is inverted", lambda w: torch.linalg.pinv(w)),
    ("W_O is inverted and transposed", lambda w: torch.linalg.pinv(w).T),
    ("W_O is made symmetric", lambda w: (w + w.T) / 2),
    ("W_O and its transpose are added", lambda w: w + w.T),
    ("W_O takes part twice", lambda w: w @ w),
    ("W_O takes part twice, once transposed", lambda w: w @ w.T),
    ("W_O takes part twice, once transposed", lambda w: w.T @ w),
    ("the columns of W_O stand in reversed order", lambda w: w.flip(1)),
    ("the rows of W_O stand in reversed order", lambda w: w.flip(0)),
    ("the columns of W_O are moved on by one place", lambda w: w.roll(1, 1)),
    ("the columns of W_O are moved back by one place", lambda w: w.roll(-1, 1)),
    ("the rows of W_O are moved on by one place", lambda w: w.roll(1, 0)),
    ("the rows of W_O are moved back by one place", lambda w: w.roll(-1, 0)),
    ("the identity is added to W_O", lambda w: w + torch.eye(*w.shape, dtype=w.dtype)),
    ("W_O is transposed, and its rows then reversed", lambda w: w.T.flip(0)),
    ("the numbers of W_O are rounded", torch.round),
    ("W_O goes through a tanh", torch.tanh),
    ("W_O goes through an exponential", torch.exp),
)


def changed_matrix(have: Tensor, w: Tensor, h: int = 1, closely: float = 2e-3) -> str:
    """What makes `have` from W_O, in words; "" where nothing known does. h: number of heads, for blocks."""
    have, w = have.double(), w.double()
    for words, change in (*_CHANGES, *_of_blocks(h)):
        try:
            made = change(w)
        except RuntimeError:
            continue  # only square matrices can be added to their transposes
        if made.shape == have.shape and torch.allclose(have, made, atol=closely, rtol=closely):
            return words
    return _part(have, w, h, closely)


def _of_blocks(h: int) -> list[tuple[str, Callable[[Tensor], Tensor]]]:
    def blocks(w: Tensor) -> Tensor:
        return w.reshape(h, w.shape[0] // h, w.shape[1])

    def for_all(block: Tensor) -> Tensor:
        return block.repeat(h, 1)

    if h < 2:
        return []
    return [
        ("the heads' blocks of W_O are averaged", lambda w: for_all(blocks(w).mean(0))),
        ("the heads' blocks of W_O are added up", lambda w: for_all(blocks(w).sum(0))),
        ("every head meets the last block of W_O", lambda w: for_all(blocks(w)[-1])),
        ("every head meets the first block of W_O", lambda w: for_all(blocks(w)[0])),
        ("each head meets the block of the head before it", lambda w: blocks(w).roll(1, 0).flatten(0, 1)),
        ("each head meets the block of the head behind it", lambda w: blocks(w).roll(-1, 0).flatten(0, 1)),
        ("the blocks of W_O are given out in reversed order", lambda w: blocks(w).flip(0).flatten(0, 1)),
    ]


def _part(have: Tensor, w: Tensor, h: int, closely: float) -> str:
    """Which part of W_O takes part, where the rest counts as 0."""
    kept = (have - w).abs() < closely
    if not bool((kept | (have.abs() < closely)).all()) or bool(kept.all()):
        return ""
    gone = (have.abs() < closely) & (w.abs() >= closely)
    for lines, name in ((gone.all(1), "row"), (gone.all(0), "column")):
        of = lines[:, None] if name == "row" else lines[None, :]
        if bool(lines.any()) and bool((gone == (of & (w.abs() >= closely))).all()):
            stay = (~lines).nonzero()[:, 0].tolist()
            lost = lines.nonzero()[:, 0].tolist()
            some, verb = (lost, "are left out") if len(lost) <= len(stay) else (stay, "take part only")
            places = in_a_row([str(p) for p in some])
            one = len(some) == 1
            verb = verb.replace("are", "is").replace("take", "takes") if one else verb
            return f"{name}{'' if one else 's'} {places} of the {len(lines)} {name}s of W_O {verb}"
    square = w.shape[0] == w.shape[1]
    for words, part in (("lower triangle", w.tril()), ("upper triangle", w.triu())):
        if square and torch.allclose(have, part, atol=closely):
            return f"only the {words} of W_O takes part"
    if square and torch.allclose(have, w.diagonal().diag(), atol=closely):
        return "only the diagonal of W_O takes part"
    if h > 1 and square and w.shape[0] % h == 0:
        keep = torch.block_diag(*[torch.ones(w.shape[0] // h, w.shape[0] // h)] * h).to(w.dtype)
        if torch.allclose(have, w * keep, atol=closely):
            return "W_O is cut in both directions: each head meets only the block on the diagonal"
    return f"only {int(kept.sum())} of the {w.numel()} numbers of W_O take part"
