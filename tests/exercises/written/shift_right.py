"""shift_right as students write it: each known mistake twice, right ones, unlisted ones."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from tests.exercises.written.examined import shift_right as examined


def right(targets, start):
    first = targets.new_full((targets.shape[0], 1), start)
    return torch.cat((first, targets[:, :-1]), dim=-1)


def filled(targets, start):
    out = torch.empty_like(targets)
    out[:, 0] = start
    out[:, 1:] = targets[:, :-1]
    return out


def by_lists(change):
    """Sentence by sentence, as lists of Python."""

    def shift(targets, start):
        return torch.tensor([change(row, start) for row in targets.tolist()], dtype=targets.dtype)

    return shift


def overwritten(place, by):
    """Moved round, and then one place overwritten."""

    def shift(targets, start):
        out = targets.roll(by, 1)
        out[:, place] = start
        return out

    return shift


def down(targets, start):
    out = targets.roll(1, 0)
    out[0] = start
    return out


def along_everything(targets, start):
    out = targets.roll(1)
    out[0, 0] = start
    return out


WRONG = [
    ("not-shifted", lambda targets, start: targets.clone()),
    ("not-shifted", by_lists(lambda row, start: row)),
    ("start-for-the-first-word", overwritten(0, 0)),
    ("start-for-the-first-word", by_lists(lambda row, start: [start, *row[1:]])),
    ("one-too-long", by_lists(lambda row, start: [start, *row])),
    ("one-too-long", lambda targets, start: F.pad(targets, (1, 0), value=start)),
    ("start-left-out", lambda targets, start: targets[:, :-1]),
    ("start-left-out", lambda targets, start: targets.narrow(1, 0, targets.shape[1] - 1)),
    ("shifted-left", overwritten(-1, -1)),
    ("shifted-left", by_lists(lambda row, start: [*row[1:], start])),
    ("last-comes-first", lambda targets, start: torch.cat([targets[:, -1:], targets[:, :-1]], 1)),
    ("last-comes-first", by_lists(lambda row, start: [row[-1], *row[:-1]])),
    ("first-comes-last", lambda targets, start: torch.cat([targets[:, 1:], targets[:, :1]], 1)),
    ("first-comes-last", by_lists(lambda row, start: [*row[1:], row[0]])),
    ("start-everywhere", by_lists(lambda row, start: [start] * len(row))),
    ("start-everywhere", lambda targets, start: targets * 0 + start),
    ("start-for-the-last-word", overwritten(-1, 0)),
    ("start-for-the-last-word", by_lists(lambda row, start: [*row[:-1], start])),
    ("start-behind", by_lists(lambda row, start: [*row, start])),
    ("start-behind", lambda targets, start: F.pad(targets, (0, 1), value=start)),
    ("shifted-by-two", by_lists(lambda row, start: [start, start, *row[:-2]])),
    ("shifted-by-two", lambda targets, start: F.pad(targets[:, :-2], (2, 0), value=start)),
    ("zero-for-start", lambda targets, start: F.pad(targets[:, :-1], (1, 0))),
    ("zero-for-start", by_lists(lambda row, start: [0, *row[:-1]])),
    ("first-word-twice", by_lists(lambda row, start: [row[0], *row[:-1]])),
    (
        "first-word-twice",
        lambda targets, start: targets[:, [0, *range(targets.shape[1] - 1)]],
    ),
    ("sentences-shifted", down),
    ("sentences-shifted", lambda targets, start: F.pad(targets[:-1], (0, 0, 1, 0), value=start)),
    ("over-the-edge", along_everything),
    (
        "over-the-edge",
        lambda targets, start: torch.tensor([start, *targets.flatten().tolist()])[:-1].view(targets.shape),
    ),
    ("reversed", by_lists(lambda row, start: [start, *row[-2::-1]])),
    ("reversed", lambda targets, start: overwritten(0, 0)(targets.flip(1), start)),
]

RIGHT = [
    right,
    filled,
    overwritten(0, 1),
    by_lists(lambda row, start: [start, *row[:-1]]),
    lambda targets, start: F.pad(targets[:, :-1], (1, 0), value=start),
    lambda targets, start: F.pad(targets, (1, -1), value=start),
    lambda targets, start: torch.hstack([torch.tensor([[start]] * len(targets)), targets[:, :-1]]),
    lambda targets, start: torch.from_numpy(np.insert(targets.numpy(), 0, start, axis=1)[:, :-1].copy()),
]

UNLISTED = [
    (r"should have shape", lambda targets, start: right(targets, start)[0]),
    (r"stops with an error", lambda targets, start: torch.cat([start, targets[:, :-1]], 1)),
    (r"stops with an error", lambda targets, start: torch.cat([torch.tensor([start]), targets], 1)),
    (r"floats", lambda targets, start: right(targets, start).float()),
    (r"list; a tensor", lambda targets, start: right(targets, start).tolist()),
    (r"sentences stand in reverse", lambda targets, start: right(targets, start).flip(0)),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
