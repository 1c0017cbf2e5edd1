"""What a wrong shift or wrong queries do to position vectors: by which angle, or how far, they are turned."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, close

_FARTHEST = 5


def read_shift(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """A reading of a shift matrix: what stands outside the blocks, and the angle of each block."""
    k, frequencies = evidence.cases[i].arguments
    want, got = evidence.expected[i].leaves, evidence.got[i].leaves
    if len(got) != 1 or got[0].shape != want[0].shape or not bool(got[0].isfinite().all()):
        return None
    have, pairs = got[0].double(), len(frequencies)
    if any(close(other, want[0].double()) for other in (-have, have.flip(0), have.flip(1))):
        return None  # a sign or an order, which are told elsewhere
    blocks = have.view(pairs, 2, pairs, 2).transpose(1, 2)
    own = torch.eye(pairs, dtype=torch.bool)
    stray = (blocks[~own].abs() > 1e-4).nonzero()
    if len(stray):
        says = "Numbers stand outside the 2 × 2 blocks on the diagonal: pairs are mixed with each other."
        return Finding("pairs-mixed", says, look="which rows and columns belong to a pair.")
    return _turned_otherwise(blocks[own], k, frequencies.double())


def _turned_otherwise(blocks: Tensor, k: int, frequencies: Tensor) -> Finding | None:
    """Blocks (pairs, 2, 2) that are rotations by other angles, or no rotations."""
    lengths = blocks.norm(dim=-1)
    if float((lengths - lengths[0, 0]).abs().max()) < 1e-3 and abs(float(lengths[0, 0]) - 1) > 1e-3:
        return None  # one factor for all, which is told elsewhere
    turned = blocks[:, 0, 0] - blocks[:, 1, 1], blocks[:, 0, 1] + blocks[:, 1, 0], lengths - 1
    broken = (torch.stack([part.abs().view(len(blocks), -1).amax(-1) for part in turned]) > 1e-3).any(0)
    if bool(broken.any()):
        j = int(broken.nonzero()[0])
        says = f"The block of pair {j} is no rotation: it changes lengths, or mirrors."
        return Finding("no-rotation", says, look="the four entries of a block.")
    angle = torch.atan2(blocks[:, 0, 1], blocks[:, 0, 0])
    off = torch.remainder(angle - k * frequencies + math.pi, 2 * math.pi) - math.pi
    wrong = (off.abs() > 1e-3).nonzero().flatten().tolist()
    if not wrong:
        return None
    j = wrong[0]
    wanted = torch.remainder(k * frequencies[j] + math.pi, 2 * math.pi) - math.pi
    says = f"Pair {j} is turned by {float(angle[j]):.4g}; k times its frequency is {float(wanted):.4g}."
    return Finding("wrong-angle", says, look="how the angle of a pair is made.")


def read_queries(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """A reading of queries: how many positions away they look, and whether a factor comes on top."""
    pe, turn, beta = (a.double() if isinstance(a, Tensor) else a for a in evidence.cases[i].arguments)
    got = evidence.got[i].leaves
    if len(got) != 1 or got[0].shape != pe.shape or not bool(got[0].isfinite().all()):
        return None
    have, factor = got[0].double(), beta * math.sqrt(pe.shape[1])
    for places in range(-_FARTHEST, _FARTHEST + 1):
        made = factor * pe @ torch.linalg.matrix_power(turn if places >= 0 else turn.T, abs(places)).T
        scale = float((have * made).sum() / made.square().sum())
        if scale and torch.allclose(scale * made, have, rtol=1e-3, atol=1e-3 * float(have.abs().max())):
            return _looked(places, scale)
    return None


def _looked(places: int, scale: float) -> Finding | None:
    if places == 1:
        return None  # a factor alone is told elsewhere
    where = {0: "at their own position", -1: "at the next position"}.get(
        places, f"{abs(places)} positions {'back' if places > 0 else 'ahead'}"
    )
    extra = (
        "" if abs(scale - 1) < 1e-3 else f" Besides, they are {scale:.4g} times as long as they should be."
    )
    says = f"These queries look {where}; they should look one back.{extra}"
    return Finding("looks-elsewhere", says, look="how often, and in which direction, the rows are turned.")
