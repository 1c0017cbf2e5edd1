"""What depends on what: the order of the tokens, the other sentences, the features that a head reads."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.bug_hunt.finding import Finding, Table, number, rows_of
from mha_course.bug_hunt.probing import drawn, moved, registered
from mha_course.bug_hunt.suspect import Suspect

STILL = 1e-4  # rounding in float32 stays far below


@registered(
    "order",
    "Tokens in another order",
    "The tokens of each sentence are shuffled. Is the output the old one, shuffled in the same way?",
)
def order(layer: Suspect) -> Finding:
    """Permute the tokens."""
    given = drawn(layer)
    shuffled = torch.arange(given.n).roll(3)
    shuffled[[0, 1]] = shuffled[[1, 0]]
    difference = moved(layer(given.x[:, shuffled]), layer(given.x)[:, shuffled])
    return Finding(
        "The tokens change places. The new output and the old one, with its rows in the new places, are "
        f"{number(difference)} apart at most.",
        {"distance from the old output in the new order": difference},
    )


@registered(
    "neighbours",
    "Other sentences",
    "One sentence of the batch is replaced. Which sentences' outputs move?",
)
def neighbours(layer: Suspect) -> Finding:
    """Change one sentence after another."""
    given = drawn(layer)
    before = layer(given.x)
    rows = []
    for i in range(given.b):
        changed = given.x.clone()
        changed[i] = given.other[i]
        rows.append((layer(changed) - before).abs().amax((1, 2)).tolist())
    others = sum(move > STILL for i, row in enumerate(rows) for j, move in enumerate(row) if i != j)
    pairs = given.b * (given.b - 1)
    return Finding(
        f"One of {given.b} sentences is replaced. Of all pairs (replaced sentence, other sentence) "
        f"the other's output moves in {others} of {pairs}.",
        {"pairs in which another sentence's output moves": others},
        Table("How far each sentence's output moves", rows_of(rows), "replaced sentence ↓", "output →"),
    )


@registered(
    "features",
    "Features that a head reads",
    "A slice of d_k input features is replaced in every token. Which heads' maps move?",
)
def features(layer: Suspect) -> Finding:
    """Change one slice of the features after another."""
    given, d_k = drawn(layer), layer.d_model // layer.h
    before = layer.look(given.x)[1]
    if before.ndim != 4:
        return Finding(
            f"The report has the shape {shape(before)}: no axis of heads, no head's map.",
            {"heads in the report": "none"},
        )
    rows = []
    for i in range(layer.h):
        changed, part = given.x.clone(), slice(i * d_k, (i + 1) * d_k)
        changed[..., part] = given.other[..., part]
        rows.append((layer.look(changed)[1] - before).abs().amax((0, 2, 3)).tolist())
    moving = sum(move > STILL for row in rows for move in row)
    return Finding(
        f"Of the {layer.h**2} pairs (slice of {d_k} features, head) the head's map moves in {moving}.",
        {"heads in the report": layer.h, "share of slices that move a head's map": moving / layer.h**2},
        Table("How far each head's map moves", rows_of(rows), "slice of the input ↓", "head →"),
    )


def shape(x: Tensor) -> str:
    """A tensor's shape as it reads: "(5, 3, 7, 7)"."""
    return str(tuple(x.shape))
