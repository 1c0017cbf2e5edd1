"""merge_heads as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F


def right(x):
    return torch.cat(x.unbind(1), -1)


def number_by_number(pick: Callable[..., tuple]) -> Callable:
    """Filled number by number: pick gives sentence, head, token and feature for a place of the result."""

    def merge(x):
        b, h, n, d_k = x.shape
        out = torch.zeros(b, n, h * d_k)
        for s in range(b):
            for t in range(n):
                for c in range(h * d_k):
                    out[s, t, c] = x[pick(s, t, c, b=b, h=h, n=n, d_k=d_k)]
        return out

    return merge


def joined_rows(x):
    out = []
    for sentence in x:
        out.append(torch.cat(list(sentence), 0))
    return torch.stack(out)


def last_one_stays(x):
    for i in range(x.shape[1]):
        concat = x[:, i]
    return concat


def returned_too_early(x):
    for head in x.unbind(1):
        return head


def added(x):
    total = x[:, 0].clone()
    for i in range(1, x.shape[1]):
        total += x[:, i]
    return total


def prepended(x):
    concat = x[:, 0]
    for i in range(1, x.shape[1]):
        concat = torch.cat([x[:, i], concat], -1)
    return concat


def same_head(x):
    parts = []
    for _ in range(x.shape[1]):
        parts.append(x[:, 0, :, :])
    return torch.cat(parts, dim=-1)


def permuted_view(x):
    b, h, n, d_k = x.shape
    x = x.permute(0, 2, 1, 3)
    return x.view(b, n, h * d_k)


def swapped_view(x):
    turned = torch.swapaxes(x, 1, 2)
    return turned.view(*turned.shape[:2], -1)


WRONG = [
    ("reshape-without-transpose", lambda x: torch.from_numpy(x.numpy().reshape(x.shape[0], x.shape[2], -1))),
    ("reshape-without-transpose", lambda x: x.flatten(1).unflatten(1, (x.shape[2], -1))),
    ("reshape-without-transpose", lambda x: torch.stack([s.reshape(s.shape[1], -1) for s in x])),
    ("interleaved", lambda x: torch.stack(x.unbind(1), -1).flatten(2)),
    ("interleaved", number_by_number(lambda s, t, c, b, h, n, d_k: (s, c % h, t, c // h))),
    ("view-needs-contiguous", permuted_view),
    ("view-needs-contiguous", swapped_view),
    ("sum-for-concat", added),
    ("sum-for-concat", lambda x: torch.einsum("bhnd->bnd", x)),
    ("mean-for-concat", lambda x: sum(x.unbind(1)) / x.shape[1]),
    ("mean-for-concat", lambda x: torch.from_numpy(np.average(x.numpy(), axis=1))),
    ("heads-reversed", prepended),
    ("heads-reversed", lambda x: torch.cat([x[:, -1 - i] for i in range(x.shape[1])], 2)),
    ("first-head-only", returned_too_early),
    ("first-head-only", lambda x: x.narrow(1, 0, 1).squeeze(1)),
    ("last-head-only", last_one_stays),
    ("last-head-only", lambda x: x.unbind(1)[x.shape[1] - 1]),
    ("first-head-for-all", same_head),
    ("first-head-for-all", number_by_number(lambda s, t, c, b, h, n, d_k: (s, 0, t, c % d_k))),
    ("still-four-axes", lambda x: torch.stack(x.unbind(1), 2)),
    ("still-four-axes", lambda x: torch.einsum("bhnd->bnhd", x).contiguous()),
    ("along-the-tokens", lambda x: torch.cat(x.unbind(1), 1)),
    ("along-the-tokens", joined_rows),
    ("tokens-last", lambda x: x.mT.flatten(1, 2)),
    ("tokens-last", lambda x: torch.cat([head.mT for head in x.unbind(1)], 1)),
    ("batch-and-tokens-merged", lambda x: x.transpose(1, 2).reshape(-1, x.shape[1] * x.shape[3])),
    ("batch-and-tokens-merged", lambda x: torch.cat(list(right(x)))),
    ("sentences-reversed", lambda x: right(torch.stack(list(x)[::-1]))),
    ("sentences-reversed", number_by_number(lambda s, t, c, b, h, n, d_k: (b - 1 - s, c // d_k, t, c % d_k))),
    ("wrong-axes-turned", lambda x: x.mT.contiguous().view(x.shape[0], x.shape[2], -1)),
    ("wrong-axes-turned", lambda x: torch.einsum("bhnd->bhdn", x).reshape(len(x), x.shape[2], -1)),
]


def filled(x):
    b, h, n, d_k = x.shape
    concat = x.new_zeros(b, n, h * d_k)
    for i in range(h):
        concat[..., i * d_k : (i + 1) * d_k] = x[:, i]
    return concat


def token_by_token(x):
    return torch.stack([x[:, :, t].flatten(1) for t in range(x.shape[2])], dim=1)


def grown(x):
    concat, *others = x.unbind(dim=1)
    for head in others:
        concat = torch.concat([concat, head], dim=-1)
    return concat


RIGHT = [
    right,
    filled,
    token_by_token,
    grown,
    number_by_number(lambda s, t, c, b, h, n, d_k: (s, c // d_k, t, c % d_k)),
    lambda x: x.transpose(1, 2).contiguous().view(x.shape[0], x.shape[2], -1),
    lambda x: x.permute(0, 2, 1, 3).flatten(2),
    lambda x: torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1),
    lambda x: torch.einsum("bhnd->bnhd", x).reshape(x.shape[0], x.shape[2], -1),
    lambda x: torch.from_numpy(np.concatenate(list(x.numpy().swapaxes(0, 1)), axis=-1)),
    lambda x: x.mT.flatten(1, 2).mT,
    lambda x: torch.stack([torch.hstack(tuple(sentence)) for sentence in x]),
    lambda x: torch.movedim(x, 1, 2).reshape(len(x), x.size(2), x.size(1) * x.size(3)),
]


def last_forgotten(x):
    b, h, n, d_k = x.shape
    concat = torch.zeros(b, n, h * d_k)
    for i in range(max(1, h - 1)):
        concat[..., i * d_k : (i + 1) * d_k] = x[:, i]
    return concat


def off_by_one(x):
    return torch.cat([x[:, i - 1] for i in range(x.shape[1])], -1)


def turned_in_head_one(x):
    return right(torch.cat([x[:, :1].flip(2), x[:, 1:]], 1))


def evens_first(x):
    columns = range(x.shape[1] * x.shape[3])
    return right(x)[..., [*columns[::2], *columns[1::2]]]


def blocks_over_one_another(x):
    b, h, n, d_k = x.shape
    concat = torch.zeros(b, n, h * d_k)
    for i in range(h):
        end = min(i * h + d_k, h * d_k)
        concat[..., i * h : end] = x[:, i, :, : end - i * h]
    return concat


UNLISTED = [
    (r"head 2 begins in column 3", blocks_over_one_another),
    (r"`n` are taken for each other", lambda x: right(x).reshape(x.shape[0], x.shape[1], -1)),
    (r"[Tt]he tokens run backwards", lambda x: right(x).flip(1)),
    (r"[Tt]he columns run backwards", lambda x: right(x).flip(2)),
    (r"[Ii]n each head the features run backwards", lambda x: right(x.flip(3))),
    (r"In head 1 the tokens run backwards", turned_in_head_one),
    (r"heads are rotated: each place holds the head before", off_by_one),
    (r"columns are rotated: each place holds the column before", lambda x: right(x).roll(1, 2)),
    (r"tokens are rotated: each place holds the next token", lambda x: right(x).roll(-1, 1)),
    (r"moved on by one place", lambda x: right(x).roll(1)),
    (r"columns stand in the order 0, 2, 4", evens_first),
    (
        r"Heads 1 and 2 have changed places",
        lambda x: right(x[:, [1, 0, *range(2, x.shape[1])]] if x.shape[1] > 1 else x),
    ),
    (r"Head 2 is missing", lambda x: torch.cat([x[:, 0], x[:, -1]], -1)),
    (r"Head 3 is missing", lambda x: right(x[:, : max(1, x.shape[1] - 1)])),
    (r"Token 0 is missing", lambda x: right(x)[:, 1:]),
    (r"[Oo]nly token 0 is there", lambda x: right(x)[:, 0]),
    (r"Only sentence 1 is there", lambda x: right(x)[0]),
    (r"2 times over", lambda x: torch.cat([right(x), right(x)], -1)),
    (r"as it came: nothing", lambda x: x),
    (r"axes are `\(h \* b, n, d_k\)`", lambda x: torch.cat(x.unbind(1), 0)),
    (r"axes are `\(h, n, b \* d_k\)`", lambda x: torch.cat(x.unbind(0), -1)),
    (r"axes are `\(b, d_k, n \* h\)`", lambda x: x.transpose(1, 3).flatten(2)),
    (r"axes are `\(b, h \* n \* d_k\)`", lambda x: x.flatten(1)),
    (r"axes are `\(b, h, n \* d_k\)`", lambda x: x.flatten(2)),
    (
        r"come in the order `\(b, d_k, h, n\)`",
        lambda x: x.permute(0, 3, 1, 2).reshape(right(x).shape),
    ),
    (
        r"mixes tokens.* order `\(b, d_k, n, h\)`",
        lambda x: x.transpose(1, 3).reshape(right(x).shape),
    ),
    (
        r"sentence 1 holds numbers of sentences 1 and 2|mixes tokens",
        lambda x: x.transpose(0, 1).reshape(right(x).shape),
    ),
    (r"right order; only the shape", lambda x: right(x).reshape(x.shape[2], x.shape[0], -1)),
    (r"an axis of size 1 too many", lambda x: right(x).unsqueeze(1)),
    (r"axis of sentences has size 1, and it is gone", lambda x: right(x).squeeze()),
    (r"axis of tokens has size 1, and it is gone", lambda x: right(x).squeeze(1)),
    (r"Head 3 is 0 throughout", last_forgotten),
    (r"heads are multiplied", lambda x: x.prod(1)),
    (r"heads are reduced to the largest", lambda x: x.amax(1)),
    (
        r"heads are reduced to the largest",
        lambda x: F.max_pool1d(right(x), 1) * 0 + x.amax(1).repeat(1, 1, x.shape[1]),
    ),
    (r"tokens are averaged", lambda x: right(x).mean(1)),
    (r"Every number is 0.5 times", lambda x: right(x) / x.shape[3] ** 0.5),
    (r"opposite sign", lambda x: -right(x)),
    (r"off by the same amount", lambda x: right(x) + x.mean()),
    (r"Negative numbers have become 0", lambda x: F.relu(right(x))),
    (r"cut off to whole ones", lambda x: right(x).long().float()),
    (r"divided by their length over the heads and features", lambda x: F.normalize(right(x), dim=-1)),
    (r"standardised over the heads and features", lambda x: F.layer_norm(right(x), right(x).shape[2:])),
    (r"softmax is taken over the heads and features", lambda x: right(x).softmax(-1)),
    (
        r"depends on the head alone: 1, 2, 3",
        lambda x: right(x * torch.arange(1, x.shape[1] + 1)[:, None, None]),
    ),
    (r"depends on the token alone", lambda x: right(x) + torch.arange(x.shape[2])[:, None]),
    (r"zeros are put on at the edge", lambda x: F.pad(right(x), (0, 2))),
    (r"3 things, tensors of shape", lambda x: x.unbind(1)),
    (r"dropout", lambda x: F.dropout(right(x))),
    (r"`12` stands in the code", lambda x: x.transpose(1, 2).reshape(*x.transpose(1, 2).shape[:2], 12)),
]


def one_feature_apart(x):
    b, h, n, d_k = x.shape
    out = x.new_zeros(b, n, h * d_k)
    for i in range(h):
        out[:, :, i : i + d_k] = x[:, i]
    return out


UNLISTED += [("blocks lie over one another", one_feature_apart)]
