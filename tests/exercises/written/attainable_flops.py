"""attainable_flops as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch


def looped(
    flops,
    moved,
    peak,
    bandwidth,
    *,
    of=lambda f, m: f / m,
    slope=lambda i, p, w: i * w,
    roof=lambda s, p, w: s if s < p else p,
    end=lambda r, f, m, p, w: r,
):
    found = []
    for f, m in zip(flops.tolist(), moved.tolist(), strict=True):
        s = slope(of(f, m), peak, bandwidth)
        found.append(end(roof(s, peak, bandwidth), f, m, peak, bandwidth))
    return torch.tensor(found, dtype=flops.dtype)


def by_where(flops, moved, peak, bandwidth, *, turned=False):
    intensity = flops / moved
    below = intensity > peak / bandwidth if turned else intensity < peak / bandwidth
    return torch.where(below, intensity * bandwidth, torch.full_like(flops, peak))


def by_time(flops, moved, peak, bandwidth, *, longest=torch.maximum, end=lambda f, t: f / t):
    return end(flops, longest(flops / peak, moved / bandwidth))


def by_numpy(flops, moved, peak, bandwidth):
    roof = np.minimum(flops.numpy() / moved.numpy() * bandwidth, peak)
    return torch.from_numpy(roof).to(flops.dtype)


def by_min_of_stack(flops, moved, peak, bandwidth):
    slope = bandwidth * flops / moved
    return torch.stack([slope, torch.ones_like(slope) * peak]).min(dim=0).values


def by_assignment(flops, moved, peak, bandwidth):
    roof = flops / moved * bandwidth
    roof[roof > peak] = peak
    return roof


def by_share(flops, moved, peak, bandwidth):
    ridge = peak / bandwidth
    return peak * ((flops / moved) / ridge).clamp(max=1.0)


def slope_of(flops, moved, bandwidth):
    return flops / moved * bandwidth


def no_overlap(flops, moved, peak, bandwidth):
    return flops / (flops / peak + moved / bandwidth)


WRONG = [
    ("larger-of-the-two", partial(by_where, turned=True)),
    ("larger-of-the-two", lambda f, m, p, w: slope_of(f, m, w).clamp(min=p)),
    ("larger-of-the-two", partial(by_time, longest=torch.minimum)),
    ("memory-only", lambda f, m, p, w: slope_of(f, m, w)),
    ("memory-only", partial(looped, roof=lambda s, p, w: s)),
    ("peak-for-all", lambda f, m, p, w: torch.full_like(f, p)),
    ("peak-for-all", partial(looped, roof=lambda s, p, w: p)),
    ("bytes-per-flop", partial(looped, of=lambda f, m: m / f)),
    ("bytes-per-flop", lambda f, m, p, w: (m / f * w).clamp(max=p)),
    ("divided-by-bandwidth", partial(looped, slope=lambda i, p, w: i / w)),
    ("divided-by-bandwidth", lambda f, m, p, w: torch.clamp(f / m / w, max=p)),
    ("peak-and-bandwidth-swapped", lambda f, m, p, w: by_where(f, m, w, p)),
    (
        "peak-and-bandwidth-swapped",
        partial(looped, slope=lambda i, p, w: i * p, roof=lambda s, p, w: min(s, w)),
    ),
    ("intensity-only", lambda f, m, p, w: f / m),
    ("intensity-only", partial(looped, slope=lambda i, p, w: i, roof=lambda s, p, w: s)),
    ("cut-at-the-ridge", lambda f, m, p, w: (f / m).clamp(max=p / w)),
    ("cut-at-the-ridge", partial(looped, slope=lambda i, p, w: i, roof=lambda s, p, w: min(s, p / w))),
    ("share-of-the-peak", partial(looped, end=lambda r, f, m, p, w: r / p)),
    ("share-of-the-peak", lambda f, m, p, w: (f / m / (p / w)).clamp(max=1)),
    ("seconds", partial(by_time, end=lambda f, t: t)),
    ("seconds", partial(looped, end=lambda r, f, m, p, w: max(f / p, m / w))),
    ("one-after-the-other", no_overlap),
    ("one-after-the-other", partial(looped, end=lambda r, f, m, p, w: f / (f / p + m / w))),
    ("one-intensity-for-all", lambda f, m, p, w: torch.full_like(f, min(float(f.sum() / m.sum() * w), p))),
    (
        "one-intensity-for-all",
        lambda f, m, p, w: torch.stack([by_where(f.sum(), m.sum(), p, w) for _ in f]),
    ),
    ("bandwidth-below-the-ridge", lambda f, m, p, w: torch.where(f / m < p / w, w, p).to(f.dtype)),
    ("bandwidth-below-the-ridge", partial(looped, roof=lambda s, p, w: w if s < p else p)),
    ("intensity-left-out", lambda f, m, p, w: torch.full_like(f, min(p, w))),
    ("intensity-left-out", partial(looped, slope=lambda i, p, w: w)),
    ("only-moved", lambda f, m, p, w: (m * w).clamp(max=p)),
    ("only-moved", partial(looped, of=lambda f, m: m)),
    ("flops-cut-off", lambda f, m, p, w: f.clamp(max=p)),
    ("flops-cut-off", partial(looped, end=lambda r, f, m, p, w: min(f, p))),
    ("bytes-a-second", partial(looped, end=lambda r, f, m, p, w: r / f * m)),
    ("bytes-a-second", lambda f, m, p, w: m / torch.maximum(f / p, m / w)),
    ("slowest-for-all", lambda f, m, p, w: by_where(f, m, p, w).min().repeat(len(f))),
    ("slowest-for-all", lambda f, m, p, w: torch.full_like(f, min(looped(f, m, p, w).tolist()))),
]

RIGHT = [looped, by_where, by_time, by_numpy, by_min_of_stack, by_assignment, by_share]

UNLISTED = [
    ("are GFLOPs, 1,000,000,000 FLOPs each", lambda f, m, p, w: by_where(f, m, p, w) / 1e9),
    ("are TFLOPs", lambda f, m, p, w: by_where(f, m, p, w) * 1e-12),
    ("are GFLOPs", lambda f, m, p, w: (f / m * (w / 1e9)).clamp(max=p / 1e9)),
    ("Python's own `min`", lambda f, m, p, w: min(p, slope_of(f, m, w))),
    ("multiplied by the bandwidth", lambda f, m, p, w: (f * w).clamp(max=p)),
    ("multiplied by `peak`", lambda f, m, p, w: (f / m * p).clamp(max=p)),
    ("added up", lambda f, m, p, w: slope_of(f, m, w) + p),
    ("mean of the two", lambda f, m, p, w: (slope_of(f, m, w) + p) / 2),
    ("added up. Each has its own", lambda f, m, p, w: by_where(f, m, p, w).sum()),
    ("flat roof is the bandwidth", lambda f, m, p, w: slope_of(f, m, w).clamp(max=w)),
    ("peak / bandwidth", lambda f, m, p, w: slope_of(f, m, w).clamp(max=p / w)),
    ("compar", lambda f, m, p, w: torch.where(f / m < p, slope_of(f, m, w), torch.full_like(f, p))),
    ("memory is the limit", lambda f, m, p, w: slope_of(f, m, w) < p),
    ("a list", lambda f, m, p, w: [min(a / c * w, p) for a, c in zip(f.tolist(), m.tolist(), strict=True)]),
    ("one number|many", lambda f, m, p, w: min(slope_of(f, m, w), p)),
    ("shape", lambda f, m, p, w: torch.minimum(slope_of(f, m, w)[:, None], torch.tensor([p, w]))),
    ("once for all stages", lambda f, m, p, w: _chosen_once(f, m, p, w)),
    ("halved", lambda f, m, p, w: (slope_of(f, m, w) / 2).clamp(max=p)),
]


def _chosen_once(flops, moved, peak, bandwidth):
    if flops.sum() / moved.sum() < peak / bandwidth:
        return slope_of(flops, moved, bandwidth)
    return torch.full_like(flops, peak)
