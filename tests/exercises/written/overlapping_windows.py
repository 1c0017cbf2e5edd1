"""overlapping_windows as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F


def sliced(
    x,
    h,
    overlap,
    *,
    pad=lambda x, o: F.pad(x, (o, o)),
    start=lambda i, own, o: i * own,
    width=lambda own, o: own + 2 * o,
    dim=1,
):
    """Slices of what was padded."""
    own = x.shape[-1] // h
    padded = pad(x, overlap)
    return torch.stack(
        [
            padded[..., start(i, own, overlap) : start(i, own, overlap) + width(own, overlap)]
            for i in range(h)
        ],
        dim,
    )


def feature_by_feature(
    x,
    h,
    overlap,
    *,
    first=lambda i, own, o: i * own - o,
    outside=lambda place, d: None,
    reach=lambda o, own: o,
):
    d = x.shape[-1]
    own = d // h
    o = reach(overlap, own)
    out = torch.zeros(x.shape[0], h, x.shape[1], own + 2 * o, dtype=x.dtype)
    for i in range(h):
        for j in range(own + 2 * o):
            place = first(i, own, o) + j
            if not 0 <= place < d:
                place = outside(place, d)
            if place is not None:
                out[:, i, :, j] = x[..., place]
    return out


def unfolded(x, h, overlap, *, step=lambda own, o: own, last=lambda w: w.transpose(1, 2), mode="constant"):
    own = x.shape[-1] // h
    padded = F.pad(x, (overlap, overlap), mode=mode)
    return last(padded.unfold(-1, own + 2 * overlap, step(own, overlap)))


def from_neighbours(
    x,
    h,
    overlap,
    *,
    order=lambda left, own, right: (left, own, right),
    near_left=lambda head, o: head[..., head.shape[-1] - o :],
    near_right=lambda head, o: head[..., :o],
    ring=False,
):
    """Heads first, then the ends of their neighbours."""
    b, n, d = x.shape
    heads = x.view(b, n, h, d // h).transpose(1, 2)
    nothing = torch.zeros_like(heads[:, :1])
    before = torch.cat((heads[:, -1:] if ring else nothing, heads[:, :-1]), dim=1)
    behind = torch.cat((heads[:, 1:], heads[:, :1] if ring else nothing), dim=1)
    return torch.cat(order(near_left(before, overlap), heads, near_right(behind, overlap)), dim=-1)


def by_index(x, h, overlap, *, places=lambda places, d: places + 1, reads=None):
    d = x.shape[-1]
    own = d // h
    window = torch.arange(-overlap, own + overlap) if reads is None else reads(own, overlap)
    wanted = torch.arange(h)[:, None] * own + window
    around = F.pad(x, (1, 1))
    return around[..., places(wanted, d).clamp(0, d + 1)].transpose(1, 2)


def by_matrix(x, h, overlap):
    """Each window as a product with ones and zeros."""
    d = x.shape[-1]
    own = d // h
    heads = []
    for i in range(h):
        picks = torch.zeros(d, own + 2 * overlap, dtype=x.dtype)
        for j in range(own + 2 * overlap):
            if 0 <= i * own - overlap + j < d:
                picks[i * own - overlap + j, j] = 1
        heads.append(x @ picks)
    return torch.stack(heads, dim=1)


def by_numpy(x, h, overlap):
    a = x.numpy()
    own = a.shape[-1] // h
    padded = np.pad(a, ((0, 0), (0, 0), (overlap, overlap)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, own + 2 * overlap, axis=-1)[:, :, ::own]
    return torch.from_numpy(windows.transpose(0, 2, 1, 3).copy())


def by_as_strided(x, h, overlap):
    own = x.shape[-1] // h
    padded = F.pad(x, (overlap, overlap)).contiguous()
    b, n, wide = padded.shape
    return padded.as_strided((b, h, n, own + 2 * overlap), (n * wide, own, wide, 1)).clone()


def ends_of_zeros(x, h, overlap):
    zeros = x.new_zeros(*x.shape[:-1], overlap)
    own = x.shape[-1] // h
    whole = torch.cat((zeros, x, zeros), dim=-1)
    return torch.stack([whole.narrow(-1, i * own, own + 2 * overlap) for i in range(h)], dim=1)


def pushed(i, own, o, h):
    return min(max(i * own - o, 0), h * own - own - 2 * o)


def over_tokens(x, h, overlap):
    b, n, d = x.shape
    heads = F.pad(x.view(b, n, h, d // h).transpose(1, 2), (0, 0, overlap, overlap))
    return torch.stack([heads[:, :, t : t + n] for t in range(2 * overlap + 1)], dim=-1).flatten(3)


def over_tokens_by_unfold(x, h, overlap):
    heads = x.unflatten(-1, (h, -1)).transpose(1, 2)
    return F.pad(heads, (0, 0, overlap, overlap)).unfold(2, 2 * overlap + 1, 1).flatten(3)


WRONG = [
    ("in-a-ring", partial(from_neighbours, ring=True)),
    ("in-a-ring", partial(unfolded, mode="circular")),
    ("in-a-ring", partial(feature_by_feature, outside=lambda place, d: place % d)),
    ("edge-repeated", partial(unfolded, mode="replicate")),
    ("edge-repeated", partial(feature_by_feature, outside=lambda place, d: 0 if place < 0 else d - 1)),
    (
        "pushed-inside",
        lambda x, h, o: sliced(x, h, o, pad=lambda x, o: x, start=lambda i, own, o: pushed(i, own, o, h)),
    ),
    (
        "pushed-inside",
        lambda x, h, o: feature_by_feature(x, h, o, first=lambda i, own, o: pushed(i, own, o, h)),
    ),
    ("left-side-only", partial(sliced, width=lambda own, o: own + o)),
    ("left-side-only", partial(from_neighbours, order=lambda left, own, right: (left, own))),
    ("right-side-only", partial(sliced, start=lambda i, own, o: i * own + o, width=lambda own, o: own + o)),
    ("right-side-only", partial(from_neighbours, order=lambda left, own, right: (own, right))),
    ("all-from-the-right", partial(sliced, pad=lambda x, o: F.pad(x, (0, 2 * o)))),
    ("all-from-the-right", partial(feature_by_feature, first=lambda i, own, o: i * own)),
    ("all-from-the-left", partial(sliced, pad=lambda x, o: F.pad(x, (2 * o, 0)))),
    ("all-from-the-left", partial(feature_by_feature, first=lambda i, own, o: i * own - 2 * o)),
    ("own-features-first", partial(from_neighbours, order=lambda left, own, right: (own, left, right))),
    (
        "own-features-first",
        lambda x, h, o: by_index(
            x,
            h,
            o,
            reads=lambda own, o: torch.cat(
                (torch.arange(own), torch.arange(-o, 0), torch.arange(own, own + o))
            ),
        ),
    ),
    (
        "far-ends",
        partial(
            from_neighbours,
            near_left=lambda head, o: head[..., :o],
            near_right=lambda head, o: head[..., head.shape[-1] - o :],
        ),
    ),
    (
        "far-ends",
        lambda x, h, o: by_index(
            x,
            h,
            o,
            reads=lambda own, o: torch.cat(
                (torch.arange(-own, o - own), torch.arange(own), torch.arange(2 * own - o, 2 * own))
            ),
        ),
    ),
    ("sides-exchanged", partial(from_neighbours, order=lambda left, own, right: (right, own, left))),
    (
        "sides-exchanged",
        lambda x, h, o: by_index(
            x,
            h,
            o,
            reads=lambda own, o: torch.cat(
                (torch.arange(own, own + o), torch.arange(own), torch.arange(-o, 0))
            ),
        ),
    ),
    ("no-overlap", lambda x, h, o: sliced(x, h, 0)),
    ("no-overlap", lambda x, h, o: x.unflatten(-1, (h, -1)).transpose(1, 2)),
    ("neighbours-only", partial(from_neighbours, order=lambda left, own, right: (left, right))),
    (
        "neighbours-only",
        lambda x, h, o: by_index(
            x, h, o, reads=lambda own, o: torch.cat((torch.arange(-o, 0), own + torch.arange(o)))
        ),
    ),
    ("overlap-in-all", partial(feature_by_feature, reach=lambda o, own: o // 2)),
    ("overlap-in-all", lambda x, h, o: sliced(x, h, o // 2)),
    ("windows-too-far-apart", partial(by_index, places=lambda places, d: _apart(places))),
    (
        "windows-too-far-apart",
        partial(feature_by_feature, first=lambda i, own, o: i * (own + 2 * o) - o),
    ),
    ("one-feature-early", partial(feature_by_feature, first=lambda i, own, o: i * own - o - 1)),
    ("one-feature-early", partial(by_index, places=lambda places, d: places)),
    ("one-feature-late", partial(feature_by_feature, first=lambda i, own, o: i * own - o + 1)),
    ("one-feature-late", partial(by_index, places=lambda places, d: places + 2)),
    ("tokens-for-features", over_tokens_by_unfold),
    (
        "tokens-for-features",
        lambda x, h, o: torch.stack(
            [
                F.pad(x.unflatten(-1, (h, -1)).transpose(1, 2), (0, 0, o, o))[:, :, t : t + x.shape[1]]
                for t in range(2 * o + 1)
            ],
            dim=-1,
        ).flatten(3),
    ),
    ("heads-behind-tokens", partial(unfolded, last=lambda w: w)),
    ("heads-behind-tokens", partial(sliced, dim=2)),
    ("cut-straight", lambda x, h, o: unfolded(x, h, o, last=lambda w: w.reshape(len(x), h, x.shape[1], -1))),
    ("cut-straight", lambda x, h, o: sliced(x, h, o, dim=2).view(x.shape[0], h, x.shape[1], -1)),
]

RIGHT = [
    sliced,
    feature_by_feature,
    unfolded,
    from_neighbours,
    by_index,
    by_matrix,
    by_numpy,
    by_as_strided,
    ends_of_zeros,
]

UNLISTED = [
    ("side by side", lambda x, h, o: unfolded(x, h, o, last=lambda w: w.flatten(2))),
    ("last two axes", lambda x, h, o: sliced(x, h, o).mT),
    ("reflected", lambda x, h, o: sliced(x, h, o, pad=lambda x, o: F.pad(x, (o, o), mode="reflect"))),
    ("one feature too far", partial(feature_by_feature, reach=lambda o, own: o + 1)),
    ("twice as far", partial(feature_by_feature, reach=lambda o, own: 2 * o)),
    ("lacks its last", partial(sliced, width=lambda own, o: own + 2 * o - 1)),
    ("reverse order", lambda x, h, o: sliced(x, h, o).flip(-1)),
    ("own features come last", partial(from_neighbours, order=lambda a, own, c: (a, c, own))),
    ("Heads come first", partial(sliced, dim=0)),
    ("reverse order|other way round|heads", lambda x, h, o: sliced(x, h, o).flip(1)),
    ("Only zeros were added", lambda x, h, o: F.pad(x, (o, o))),
    ("there are no windows", lambda x, h, o: x.unflatten(-1, (h, -1))),
    (
        "own . overlap apart|wrong|holds",
        partial(feature_by_feature, first=lambda i, own, o: i * (own + o) - o),
    ),
    (
        "there are zeros",
        lambda x, h, o: F.pad(x.unflatten(-1, (h, -1)).transpose(1, 2), (o, o)),
    ),
    ("last head is missing", lambda x, h, o: sliced(x, h, o)[:, :-1]),
    ("goes round to the last", lambda x, h, o: sliced(x, h, o, pad=lambda x, o: _left_ring(x, o))),
    ("added up", lambda x, h, o: sliced(x, h, o).sum(1)),
    ("The window|window holds", lambda x, h, o: _first_feature_twice(sliced(x, h, o))),
    ("don't overlap.*3 of them in place of 4", partial(unfolded, step=lambda own, o: own + 2 * o)),
    (
        "don't overlap.*behind tokens.*3 of them",
        partial(unfolded, step=lambda own, o: own + 2 * o, last=lambda w: w),
    ),
    ("d_model / h . overlap apart.*in place of 4", partial(unfolded, step=lambda own, o: own + o)),
    ("Windows are overlap apart", partial(unfolded, step=lambda own, o: o)),
    ("Windows are overlap apart", partial(unfolded, step=lambda own, o: max(o, 1))),
    ("Windows are one feature apart", partial(unfolded, step=lambda own, o: 1)),
    ("no zeros", lambda x, h, o: _slid(x, x.shape[-1] // h + 2 * o, x.shape[-1] // h)),
    (
        "2 . overlap zeros",
        lambda x, h, o: _slid(F.pad(x, (2 * o, 2 * o)), x.shape[-1] // h + 2 * o, x.shape[-1] // h),
    ),
    (
        "d_model / h features wide",
        lambda x, h, o: _slid(F.pad(x, (o, o)), x.shape[-1] // h, x.shape[-1] // h),
    ),
    (
        "around the tokens, not",
        lambda x, h, o: _slid(F.pad(x, (0, 0, o, o)), x.shape[-1] // h + 2 * o, x.shape[-1] // h),
    ),
    ("h features wide|h . 2 . overlap features wide", lambda x, h, o: _slid(F.pad(x, (o, o)), h + 2 * o, h)),
    ("nothing", lambda x, h, o: print(sliced(x, h, o).shape)),
]


def _slid(padded, size, step):
    return padded.unfold(-1, size, step).transpose(1, 2)


def _apart(places):
    wide = places.shape[1]
    return places[:1] + torch.arange(len(places))[:, None] * wide + 1


def _left_ring(x, o):
    return F.pad(torch.cat((x[..., x.shape[-1] - o :], x), -1), (0, o))


def _first_feature_twice(windows):
    out = windows.clone()
    out[..., 1] = out[..., 0]
    return out
