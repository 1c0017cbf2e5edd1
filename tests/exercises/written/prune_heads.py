"""prune_heads as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch


def sliced(w_q, w_k, w_v, w_o, h, kept, *, at=lambda i: i, heads=None, o_heads=None, o=None):
    """One head's slice after the other, side by side."""
    stay = [at(i) for i in kept] if heads is None else heads(kept, h)
    made = []
    for w in (w_q, w_k, w_v):
        width = w.shape[1] // h
        made.append(torch.cat([w[:, i * width : (i + 1) * width] for i in stay], dim=1))
    width = w_o.shape[0] // h
    rows = torch.cat([w_o[i * width : (i + 1) * width] for i in (o_heads(stay) if o_heads else stay)])
    return (*made, rows if o is None else o(w_o, rows, h, stay))


def by_view(w_q, w_k, w_v, w_o, h, kept, *, last=lambda *parts: parts):
    d_model = w_q.shape[0]

    def cut(w):
        return w.reshape(d_model, h, -1)[:, kept].reshape(d_model, -1)

    return last(cut(w_q), cut(w_k), cut(w_v), w_o.reshape(h, -1, d_model)[kept].reshape(-1, d_model))


def by_mask(w_q, w_k, w_v, w_o, h, kept, *, turned=False, spread=torch.repeat_interleave, o_too=True):
    stay = torch.tensor([(i in kept) != turned for i in range(h)])

    def columns(w):
        return w[:, spread(stay, w.shape[1] // h)]

    rows = w_o[spread(stay, w_o.shape[0] // h)] if o_too else w_o
    return columns(w_q), columns(w_k), columns(w_v), rows


def by_index_select(w_q, w_k, w_v, w_o, h, kept, *, axis=1, o_axis=0, only=("q", "k", "v", "o")):
    def places(count):
        width = count // h
        return (torch.tensor(kept)[:, None] * width + torch.arange(width)).flatten()

    made = []
    for name, w in zip("qkvo", (w_q, w_k, w_v, w_o), strict=True):
        dim = o_axis if name == "o" else axis
        made.append(w.index_select(dim, places(w.shape[dim])) if name in only else w)
    return tuple(made)


def by_chunk(w_q, w_k, w_v, w_o, h, kept):
    q, k, v = (torch.hstack([w.chunk(h, dim=1)[i] for i in kept]) for w in (w_q, w_k, w_v))
    return q, k, v, torch.vstack([w_o.chunk(h, dim=0)[i] for i in kept])


def by_numpy(w_q, w_k, w_v, w_o, h, kept):
    made = [np.concatenate([np.split(w.numpy(), h, 1)[i] for i in kept], 1) for w in (w_q, w_k, w_v)]
    made.append(np.concatenate([np.split(w_o.numpy(), h, 0)[i] for i in kept], 0))
    return tuple(torch.from_numpy(part) for part in made)


def by_deleting(w_q, w_k, w_v, w_o, h, kept):
    """From the last head to the first, whatever is not kept is cut out."""
    parts = [w_q, w_k, w_v, w_o.T]
    for i in reversed([i for i in range(h) if i not in kept]):
        widths = [w.shape[1] for w in (w_q, w_k, w_v)] + [w_o.shape[0]]
        parts = [
            torch.cat([w[:, : i * size // h], w[:, (i + 1) * size // h :]], 1)
            for w, size in zip(parts, widths, strict=True)
        ]
    return parts[0], parts[1], parts[2], parts[3].T.contiguous()


def by_einsum(w_q, w_k, w_v, w_o, h, kept):
    chosen = torch.eye(h, dtype=w_q.dtype)[kept]

    def columns(w):
        return torch.einsum("dhv,kh->dkv", w.unflatten(1, (h, -1)), chosen).flatten(1)

    rows = torch.einsum("hvd,kh->kvd", w_o.unflatten(0, (h, -1)), chosen).flatten(0, 1)
    return columns(w_q), columns(w_k), columns(w_v), rows


def dealt(w_q, w_k, w_v, w_o, h, kept, *, o_alone=False):
    def columns(w):
        return torch.cat([w[:, i::h] for i in kept], 1)

    rows = torch.cat([w_o[i::h] for i in kept])
    if o_alone:
        return (*by_view(w_q, w_k, w_v, w_o, h, kept)[:3], rows)
    return columns(w_q), columns(w_k), columns(w_v), rows


def silenced(w_q, w_k, w_v, w_o, h, kept):
    on = torch.tensor([float(i in kept) for i in range(h)], dtype=w_q.dtype)
    made = [w * on.repeat_interleave(w.shape[1] // h) for w in (w_q, w_k, w_v)]
    return (*made, w_o * on.repeat_interleave(w_o.shape[0] // h)[:, None])


def zeroed(w_q, w_k, w_v, w_o, h, kept):
    q, k, v, o = (w.clone() for w in (w_q, w_k, w_v, w_o))
    for i in set(range(h)) - set(kept):
        for w in (q, k, v, o.T):
            width = w.shape[1] // h
            w[:, i * width : (i + 1) * width] = 0
    return q, k, v, o


def as_keys(w_q, w_k, w_v, w_o, h, kept):
    d_k = w_q.shape[1] // h
    places = (torch.tensor(kept)[:, None] * d_k + torch.arange(d_k)).reshape(-1)
    return (*(w.index_select(1, places) for w in (w_q, w_k, w_v)), w_o.index_select(0, places))


def as_keys_looped(w_q, w_k, w_v, w_o, h, kept):
    d_k = w_k.shape[1] // h
    places = [i * d_k + j for i in kept for j in range(d_k)]
    return w_q[:, places], w_k[:, places], w_v[:, places], w_o[places, :]


WRONG = [
    ("w_o-whole", partial(by_mask, o_too=False)),
    ("w_o-whole", partial(sliced, o=lambda w_o, rows, h, stay: w_o)),
    ("columns-of-w_o", partial(by_index_select, o_axis=1)),
    ("columns-of-w_o", lambda q, k, v, o, h, kept: (*by_view(q, k, v, o, h, kept)[:3], _columns(o, h, kept))),
    ("w_v-whole", partial(by_index_select, only="qko")),
    (
        "w_v-whole",
        lambda q, k, v, o, h, kept: (*by_view(q, k, v, o, h, kept)[:2], v, by_view(q, k, v, o, h, kept)[3]),
    ),
    ("w_k-whole", partial(by_index_select, only="qvo")),
    (
        "w_k-whole",
        lambda q, k, v, o, h, kept: by_view(q, k, v, o, h, kept, last=lambda a, _, c, d: (a, k, c, d)),
    ),
    ("others-kept", partial(by_mask, turned=True)),
    ("others-kept", partial(sliced, heads=lambda kept, h: [i for i in range(h) if i not in kept])),
    ("counted-from-one", lambda q, k, v, o, h, kept: by_view(q, k, v, o, h, [i - 1 for i in kept])),
    ("counted-from-one", lambda q, k, v, o, h, kept: by_chunk(q, k, v, o, h, [i - 1 for i in kept])),
    ("first-ones-kept", partial(sliced, heads=lambda kept, h: range(len(kept)))),
    ("first-ones-kept", lambda q, k, v, o, h, kept: _first(q, k, v, o, h, len(kept))),
    ("one-place-a-head", lambda q, k, v, o, h, kept: (q[:, kept], k[:, kept], v[:, kept], o[kept])),
    (
        "one-place-a-head",
        lambda q, k, v, o, h, kept: tuple(
            w.index_select(d, torch.tensor(kept)) for w, d in ((q, 1), (k, 1), (v, 1), (o, 0))
        ),
    ),
    ("features-dealt", dealt),
    ("features-dealt", lambda q, k, v, o, h, kept: _dealt(q, k, v, o, h, kept)),
    ("w_o-dealt", partial(dealt, o_alone=True)),
    (
        "w_o-dealt",
        lambda q, k, v, o, h, kept: (*by_chunk(q, k, v, o, h, kept)[:3], _dealt(q, k, v, o, h, kept)[3]),
    ),
    ("rows-of-w_q", partial(by_index_select, axis=0)),
    ("rows-of-w_q", lambda q, k, v, o, h, kept: (*(_rows(w, h, kept) for w in (q, k, v)), _rows(o, h, kept))),
    ("d_k-everywhere", as_keys_looped),
    ("d_k-everywhere", as_keys),
    ("silenced-only", silenced),
    ("silenced-only", zeroed),
    ("w_o-in-another-order", partial(sliced, o_heads=lambda stay: stay[::-1])),
    (
        "w_o-in-another-order",
        lambda q, k, v, o, h, kept: (*by_mask(q, k, v, o, h, kept)[:3], _rows(o, h, kept[::-1])),
    ),
    ("w_o-scaled-up", partial(sliced, o=lambda w_o, rows, h, stay: rows * h / len(stay))),
    ("w_o-scaled-up", lambda q, k, v, o, h, kept: by_view(q, k, v, o / (len(kept) / h), h, kept)),
    ("q-and-k-swapped", partial(by_view, last=lambda q, k, v, o: (k, q, v, o))),
    ("q-and-k-swapped", lambda q, k, v, o, h, kept: by_chunk(k, q, v, o, h, kept)),
    ("transposed", partial(by_view, last=lambda q, k, v, o: (q.T, k.T, v.T, o.T))),
    ("transposed", lambda *a: [w.mT for w in by_mask(*a)]),
]

RIGHT = [sliced, by_view, by_mask, by_index_select, by_chunk, by_numpy, by_deleting, by_einsum]

UNLISTED = [
    ("Every head is kept", lambda q, k, v, o, h, kept: (q, k, v, o)),
    ("heads after", lambda q, k, v, o, h, kept: by_view(q, k, v, o, h, [(i + 1) % h for i in kept])),
    ("Only the first head", lambda q, k, v, o, h, kept: by_view(q, k, v, o, h, kept[:1])),
    (
        "last head of `kept` is left out|Only the first head",
        lambda q, k, v, o, h, kept: by_view(q, k, v, o, h, kept[:-1]),
    ),
    (
        "from the first to the last",
        lambda q, k, v, o, h, kept: by_view(q, k, v, o, h, list(range(kept[0], kept[-1] + 1))),
    ),
    (
        "last heads are kept",
        lambda q, k, v, o, h, kept: by_view(q, k, v, o, h, list(range(h - len(kept), h))),
    ),
    ("reverse order", lambda q, k, v, o, h, kept: by_view(q, k, v, o, h, kept[::-1])),
    ("You return `\\(w_q, w_k, w_o, w_v\\)`", partial(by_view, last=lambda q, k, v, o: (q, k, o, v))),
    ("You return 3 things", partial(by_view, last=lambda q, k, v, o: (q, k, v))),
    ("W_O is transposed", partial(by_view, last=lambda q, k, v, o: (q, k, v, o.T))),
    ("divided by the number of heads", lambda q, k, v, o, h, kept: by_view(q, k, v, o / len(kept), h, kept)),
    ("averaged", lambda q, k, v, o, h, kept: _averaged(q, k, v, o, h, kept)),
    ("axis for heads", lambda *a: _with_heads(*a)),
    ("W_Q is returned for W_K", partial(by_view, last=lambda q, k, v, o: (q, q, v, o))),
    ("alternate", lambda q, k, v, o, h, kept: _alternating(q, k, v, o, h, kept)),
    ("Of W_Q, W_K and W_V rows are taken and of W_O columns.*nn.Linear", lambda *a: _linear_slices(*a)),
    ("Of W_Q, W_K and W_V rows are taken and of W_O columns", lambda *a: _linear_places(*a)),
    ("Of W_Q, W_K and W_V rows are taken and of W_O columns", lambda *a: _linear_view(*a)),
    ("Of W_Q, W_K and W_V rows are taken and of W_O columns", lambda *a: _linear_mask(*a)),
    ("Of W_Q, W_K and W_V rows are taken and of W_O columns", lambda *a: _linear_chunks(*a)),
    (
        "Of W_O columns are taken",
        lambda *a: (*by_view(*a)[:3], _linear_slices(*a)[3]),
    ),
    (
        "Of W_O columns are taken",
        lambda *a: (*by_view(*a)[:3], _linear_places(a[2].T, a[2].T, a[2], *a[3:])[3]),
    ),
    ("Of W_V rows are taken", lambda *a: (*by_view(*a)[:2], _linear_slices(*a)[2], by_view(*a)[3])),
    ("keep all their columns", lambda q, k, v, o, h, kept: (q, k, v, by_view(q, k, v, o, h, kept)[3])),
]


def _linear_slices(w_q, w_k, w_v, w_o, h, kept):
    """Weights as nn.Linear keeps them: a head's rows of the first three, its columns of the last."""
    d_k, d_v = w_q.shape[1] // h, w_v.shape[1] // h
    q, k = (torch.cat([w[i * d_k : (i + 1) * d_k] for i in kept]) for w in (w_q, w_k))
    v = torch.cat([w_v[i * d_v : (i + 1) * d_v] for i in kept])
    return q, k, v, torch.cat([w_o[:, i * d_v : (i + 1) * d_v] for i in kept], 1)


def _linear_places(w_q, w_k, w_v, w_o, h, kept):
    d_k, d_v = w_q.shape[1] // h, w_v.shape[1] // h
    keys = [i * d_k + j for i in kept for j in range(d_k)]
    values = [i * d_v + j for i in kept for j in range(d_v)]
    return w_q[keys], w_k[keys], w_v[values], w_o[:, values]


def _linear_view(w_q, w_k, w_v, w_o, h, kept):
    d_model = w_q.shape[0]
    q, k, v = (w.reshape(h, -1, d_model)[kept].reshape(-1, d_model) for w in (w_q, w_k, w_v))
    return q, k, v, w_o.reshape(d_model, h, -1)[:, kept].reshape(d_model, -1)


def _linear_mask(w_q, w_k, w_v, w_o, h, kept):
    stay = torch.zeros(h, dtype=torch.bool)
    stay[kept] = True
    keys, values = (stay.repeat_interleave(w.shape[1] // h) for w in (w_q, w_v))
    return w_q[keys], w_k[keys], w_v[values], w_o[:, values]


def _linear_chunks(w_q, w_k, w_v, w_o, h, kept):
    made = [torch.vstack([w.chunk(h)[i] for i in kept]) for w in (w_q, w_k, w_v)]
    return (*made, torch.hstack([w_o.chunk(h, 1)[i] for i in kept]))


def _columns(w, h, kept):
    width = w.shape[1] // h
    return torch.cat([w[:, i * width : (i + 1) * width] for i in kept], 1)


def _rows(w, h, kept):
    width = w.shape[0] // h
    return torch.cat([w[i * width : (i + 1) * width] for i in kept], 0)


def _first(q, k, v, o, h, count):
    return (*(w[:, : count * (w.shape[1] // h)] for w in (q, k, v)), o[: count * (o.shape[0] // h)])


def _dealt(q, k, v, o, h, kept):
    made = [w.unflatten(1, (-1, h))[..., kept].transpose(1, 2).flatten(1) for w in (q, k, v)]
    return (*made, o.unflatten(0, (-1, h))[:, kept].transpose(0, 1).flatten(0, 1))


def _averaged(q, k, v, o, h, kept):
    made = [w.unflatten(1, (h, -1))[:, kept].mean(1) for w in (q, k, v)]
    return (*made, o.unflatten(0, (h, -1))[kept].mean(0))


def _with_heads(q, k, v, o, h, kept):
    return (*(w.unflatten(1, (h, -1))[:, kept] for w in (q, k, v)), _rows(o, h, kept))


def _alternating(q, k, v, o, h, kept):
    made = [w.unflatten(1, (h, -1))[:, kept].transpose(1, 2).flatten(1) for w in (q, k, v)]
    return (*made, _rows(o, h, kept))
