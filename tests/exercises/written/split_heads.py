"""split_heads as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def right(x, h):
    return x.unflatten(-1, (h, -1)).movedim(-2, 1)


def by_slices(start: Callable[[int, int, int], int], axis: int = 1) -> Callable:
    """Slices of d_k features; start(i, h, d_k) says where the one of head i begins."""

    def split(x, h):
        size = x.shape[-1] // h
        parts = []
        for i in range(h):
            first = start(i, h, size)
            parts.append(x[..., first : first + size])
        return torch.stack(parts, dim=axis)

    return split


def by_index(pick: Callable[..., tuple]) -> Callable:
    """Filled number by number: pick gives sentence, token and feature for a place of the result."""

    def split(x, h):
        b, n, d_model = x.shape
        d_k = d_model // h
        out = torch.zeros(b, h, n, d_k)
        for s in range(b):
            for head in range(h):
                for t in range(n):
                    for f in range(d_k):
                        out[s, head, t, f] = x[pick(s, head, t, f, b=b, h=h, n=n, d_k=d_k)]
        return out

    return split


def loop_split(x, h):
    b, n, d_model = x.shape
    d_k = d_model // h
    out = torch.zeros(b, h, n, d_k)  # float32, whatever x is: a remark, not a failure
    for i in range(h):
        for t in range(n):
            out[:, i, t] = x[:, t, i * d_k : (i + 1) * d_k]
    return out


def numpy_reshape(x, h):
    return torch.from_numpy(x.numpy().reshape(x.shape[0], h, x.shape[1], -1))


def cut_and_back(x, h):
    b, n, d_model = x.shape
    x = x.view(b, n, h, d_model // h)
    return x.contiguous().view(b, h, n, d_model // h)


def forgot_to_assign(x, h):
    b, n, d_model = x.shape
    heads = x.view(b, n, h, d_model // h)
    heads.transpose(1, 2)
    return heads


def stacked_in_front(x, h):
    parts = []
    for part in x.chunk(h, dim=-1):
        parts.append(part)
    return torch.stack(parts)


def never_moves(x, h):
    d_k = x.shape[-1] // h
    heads = []
    for _ in range(h):
        heads.append(x[:, :, 0:d_k])
    return torch.stack(heads, dim=1)


def reversed_list(x, h):
    parts = list(x.chunk(h, -1))
    parts.reverse()
    return torch.stack(parts, 1)


def inserted_in_front(x, h):
    d_k, heads = x.shape[2] // h, []
    for i in range(h):
        heads.insert(0, x[..., i * d_k : i * d_k + d_k])
    return torch.stack(heads, 1)


def shifted_tokens(x, h):
    b, n, _ = x.shape
    order = [(t - 1) % n for t in range(n)]
    return right(x[:, order], h)


def dealt_by_loop(x, h):
    b, n, d_model = x.shape
    flat = x.mT.reshape(b, -1)
    size = n * (d_model // h)
    return torch.stack([flat[:, i * size : (i + 1) * size].view(b, n, -1) for i in range(h)], 1)


def folded(x, h):
    b, n, d_model = x.shape
    heads = x.reshape(b, n, h, d_model // h).permute(0, 2, 1, 3)
    return heads.reshape(b * h, n, d_model // h)


WRONG = [
    ("view-without-transpose", numpy_reshape),
    ("view-without-transpose", cut_and_back),
    ("view-without-transpose", lambda x, h: x.flatten(1).unflatten(1, (h, x.shape[1], -1))),
    (
        "view-without-transpose",
        lambda x, h: torch.stack(x.flatten(1).chunk(h, 1), 1).unflatten(2, (x.shape[1], -1)),
    ),
    ("interleaved", lambda x, h: torch.stack([x[..., i::h] for i in range(h)], 1)),
    ("interleaved", by_index(lambda s, i, t, f, b, h, n, d_k: (s, t, f * h + i))),
    ("interleaved", lambda x, h: torch.einsum("bndh->bhnd", x.unflatten(2, (-1, h)))),
    ("not-transposed", lambda x, h: torch.stack(x.chunk(h, -1), 2)),
    ("not-transposed", forgot_to_assign),
    ("not-transposed", lambda x, h: x.unfold(2, x.shape[2] // h, x.shape[2] // h)),
    ("tokens-and-features-turned", lambda x, h: torch.einsum("bnhd->bhdn", x.unflatten(2, (h, -1)))),
    ("tokens-and-features-turned", lambda x, h: x.mT.reshape(x.shape[0], h, -1, x.shape[1])),
    ("heads-in-front", stacked_in_front),
    ("heads-in-front", lambda x, h: x.unflatten(-1, (h, -1)).permute(2, 0, 1, 3)),
    ("heads-in-front", lambda x, h: list(x.split(x.shape[-1] // h, dim=-1))),
    ("heads-last", lambda x, h: torch.stack(x.tensor_split(h, -1), -1)),
    ("heads-last", lambda x, h: x.unflatten(2, (h, -1)).swapaxes(2, 3)),
    ("heads-reversed", reversed_list),
    ("heads-reversed", inserted_in_front),
    ("heads-reversed", by_slices(lambda i, h, d_k: (h - 1 - i) * d_k)),
    ("first-slice-for-all", never_moves),
    ("first-slice-for-all", by_slices(lambda i, h, d_k: 0)),
    ("first-slice-for-all", lambda x, h: x[:, None, :, : x.shape[2] // h].repeat(1, h, 1, 1)),
    ("h-as-size", lambda x, h: torch.stack(x.split(h, -1), 1)),
    ("h-as-size", lambda x, h: x.unflatten(-1, (-1, h)).permute(0, 2, 1, 3)),
    ("batch-and-heads-merged", folded),
    ("batch-and-heads-merged", lambda x, h: torch.cat([torch.stack(s.chunk(h, -1)) for s in x])),
    ("overlapping-slices", by_slices(lambda i, h, d_k: i)),
    ("overlapping-slices", lambda x, h: x.unfold(2, x.shape[2] // h, 1)[:, :, :h].transpose(1, 2)),
    ("tokens-rotated", shifted_tokens),
    ("tokens-rotated", lambda x, h: right(torch.cat([x[:, -1:], x[:, :-1]], 1), h)),
    ("tokens-dealt-out", dealt_by_loop),
    ("tokens-dealt-out", lambda x, h: x.mT.contiguous().view(x.shape[0], h, x.shape[1], x.shape[2] // h)),
]


class Splitter(nn.Module):
    def forward(self, x, h):
        return torch.stack(x.tensor_split(h, dim=2)).transpose(0, 1)


def selected(x, h):
    heads = x.new_empty(x.shape[0], h, x.shape[1], x.shape[2] // h)
    for i, part in enumerate(x.split(x.shape[2] // h, 2)):
        heads[:, i].copy_(part)
    return heads


def checked(x, h):
    b, n, d_model = x.size()
    if d_model % h != 0:
        raise ValueError("no")
    return x.as_strided((b, h, n, d_model // h), (n * d_model, d_model // h, d_model, 1))


def gathered(x, h):
    d_k = x.shape[-1] // h
    columns = torch.arange(h)[:, None] * d_k + torch.arange(d_k)
    return x[:, :, columns].permute(0, 2, 1, 3)


RIGHT = [
    right,
    loop_split,
    selected,
    checked,
    gathered,
    Splitter(),
    by_index(lambda s, i, t, f, b, h, n, d_k: (s, t, i * d_k + f)),
    by_slices(lambda i, h, d_k: i * d_k),
    lambda x, h: x.reshape(*x.shape[:2], h, -1).permute(0, 2, 1, 3),
    lambda x, h: torch.stack(x.chunk(h, dim=-1), dim=1),
    lambda x, h: x.unflatten(-1, (h, -1)).transpose(1, 2).contiguous(),
    lambda x, h: torch.einsum("bnhd->bhnd", x.view(x.shape[0], x.shape[1], h, -1)),
    lambda x, h: torch.from_numpy(np.stack(np.split(x.numpy(), h, axis=-1), axis=1)),
    lambda x, h: x.view(x.size(0), -1, h, x.size(2) // h).swapaxes(1, 2),
    lambda x, h: x.unfold(2, x.shape[2] // h, x.shape[2] // h).permute(0, 2, 1, 3),
    lambda x, h: torch.stack([torch.stack(sentence.chunk(h, 1)) for sentence in x]),
    lambda x, h: x.mT.unflatten(1, (h, -1)).mT,
]


def last_head_forgotten(x, h):
    d_k = x.shape[-1] // h
    out = torch.zeros(x.shape[0], h, x.shape[1], d_k)
    for i in range(max(1, h - 1)):
        out[:, i] = x[..., i * d_k : (i + 1) * d_k]
    return out


def first_token_forgotten(x, h):
    out = torch.zeros_like(right(x, h))
    out[:, :, 1:] = right(x, h)[:, :, 1:]
    return out


def first_sentence_only(x, h):
    out = torch.zeros_like(right(x, h))
    out[0] = right(x, h)[0]
    return out


def flipped_in_head_two(x, h):
    return torch.stack([part.flip(1) if i == 1 else part for i, part in enumerate(x.chunk(h, -1))], 1)


def three_heads(x, h):
    return x.view(x.shape[0], x.shape[1], 3, x.shape[2] // 3).transpose(1, 2)


def size_four(x, h):
    return x.view(x.shape[0], x.shape[1], h, 4).transpose(1, 2)


kept: list[torch.Tensor] = []


def remembering(x, h):
    if not kept:
        kept.append(right(x, h))
    return kept[0]


def printing(x, h):
    print(end=str(right(x, h))[:0])


async def waiting(x, h):
    return right(x, h)


def truncating(x, h):
    out = torch.zeros(right(x, h).shape, dtype=torch.long)
    out[:] = right(x, h)
    return out.to(x.dtype)


UNLISTED = [
    (r"[Tt]he tokens run backwards", lambda x, h: right(x, h).flip(2)),
    (r"[Ii]n each head the features run backwards", lambda x, h: right(x, h).flip(3)),
    (r"heads run backwards.*features run backwards", lambda x, h: right(x.flip(-1), h)),
    (r"Sentences 1 and 2 have changed places", lambda x, h: right(x, h).flip(0)),
    (
        r"Heads 1 and 2 have changed places",
        lambda x, h: right(x, h)[:, [1, 0, *range(2, h)][:h] if h > 1 else [0]],
    ),
    (r"each place holds the next token", lambda x, h: right(x.roll(-1, 1), h)),
    (r"each place holds the next head", by_slices(lambda i, h, d_k: (i + 1) % h * d_k)),
    (r"heads are rotated.*the head before", lambda x, h: right(x, h).roll(1, 1)),
    (r"In each head the features are rotated", lambda x, h: right(x, h).roll(2, 3)),
    (r"head 3 holds features 9, 10, 11 and 0", lambda x, h: right(x.roll(-1, -1), h)),
    (r"moved on by one place, over the ends", lambda x, h: right(x, h).roll(1)),
    (r"numbers of the input have moved on by one place", lambda x, h: right(x.roll(1), h)),
    (r"head 2 holds features 3 to 6.*more than once", by_slices(lambda i, h, d_k: min(i * h, h * d_k - d_k))),
    (r"In head 2 the tokens run backwards.*Heads 1 and 3 are in order", flipped_in_head_two),
    (r"Sentence 1 stands in the place of every sentence", lambda x, h: right(x[:1].expand_as(x), h)),
    (r"Only sentence 1 is there", lambda x, h: right(x, h)[0]),
    (r"[Oo]nly head 1 is there; heads 2 and 3 are missing", lambda x, h: x[..., : x.shape[-1] // h]),
    (r"[Oo]nly head 3 is there", lambda x, h: right(x, h)[:, -1]),
    (r"Head 3 is missing", lambda x, h: right(x, h)[:, : max(1, h - 1)]),
    (r"Token 4 is missing", lambda x, h: right(x, h)[:, :, :-1]),
    (r"Token 0 is missing", lambda x, h: right(x[:, 1:], h)),
    (r"In each head feature 3 is missing", lambda x, h: right(x, h)[..., :-1]),
    (r"Every head holds all features: nothing is cut", lambda x, h: x[:, None].expand(-1, h, -1, -1)),
    (r"as it came: nothing", lambda x, h: x),
    (r"axes are `\(n, b, h, d_k\)`", lambda x, h: x.unflatten(2, (h, -1)).transpose(0, 1)),
    (
        r"axes are `\(b, d_k, n, h\)`",
        lambda x, h: x.unflatten(2, (h, -1)).permute(0, 3, 1, 2),
    ),
    (r"axes are `\(h \* b, n, d_k\)`", lambda x, h: torch.cat(x.chunk(h, -1))),
    (r"`\(b, h \* n, d_k\)`.*joined or cut", lambda x, h: torch.cat(x.chunk(h, -1), 1)),
    (r"come in the order `\(h, b, n, d_k\)`", lambda x, h: torch.cat(x.chunk(h, -1)).view(right(x, h).shape)),
    (r"cut anew into `\(b, h, d_k, n\)`", lambda x, h: x.reshape(len(x), h, -1, x.shape[1]).transpose(2, 3)),
    (r"sentence 1 holds numbers of sentences", lambda x, h: x.reshape(h, *x.shape[:2], -1).transpose(0, 1)),
    (r"axis of heads has size 1, and it is gone", lambda x, h: right(x, h).squeeze()),
    (r"axis of tokens has size 1, and it is gone", lambda x, h: right(x, h).squeeze(2)),
    (r"axis of features has size 1, and it is gone", lambda x, h: right(x, h).squeeze(3)),
    (r"axis of sentences has size 1, and it is gone", lambda x, h: right(x, h).squeeze(0)),
    (r"an axis of size 1 too many", lambda x, h: right(x, h)[:, None]),
    (r"Head 3 is 0 throughout", last_head_forgotten),
    (r"Token 0 is 0 throughout", first_token_forgotten),
    (r"Sentence 2 is 0 throughout", first_sentence_only),
    (r"Everything is 0: nothing of the input", lambda x, h: torch.zeros_like(right(x, h))),
    (r"zeros are put on at the edge", lambda x, h: F.pad(right(x, h), (0, 1))),
    (r"Every number is 2 times", lambda x, h: right(x, h) * 2),
    (r"Every number is 2 times.*wrong as well.*tokens run backwards", lambda x, h: right(x, h).flip(2) * 2),
    (r"Every number has the opposite sign", lambda x, h: -right(x, h)),
    (r"off by the same amount, `1`", lambda x, h: right(x, h) + 1),
    (r"Negative numbers have lost their sign", lambda x, h: right(x, h).abs()),
    (r"Negative numbers have become 0", lambda x, h: right(x, h).relu()),
    (r"cut off to whole ones", truncating),
    (r"rounded to whole ones", lambda x, h: right(x, h).round()),
    (r"digits are lost on the way", lambda x, h: right(x, h).bfloat16().to(x.dtype)),
    (r"digits are lost on the way", lambda x, h: right(x, h).round(decimals=2)),
    (r"softmax is taken over the features", lambda x, h: right(x, h).softmax(-1)),
    (r"softmax is taken over the heads", lambda x, h: right(x, h).softmax(1)),
    (r"mean over the features is subtracted", lambda x, h: right(x, h) - right(x, h).mean(-1, keepdim=True)),
    (r"standardised over the features", lambda x, h: F.layer_norm(right(x, h), (x.shape[2] // h,))),
    (r"divided by their length over the features", lambda x, h: F.normalize(right(x, h), dim=-1)),
    (r"running sum", lambda x, h: right(x, h).cumsum(2)),
    (r"Every number is squared", lambda x, h: right(x, h) ** 2),
    (r"sorted along the features", lambda x, h: right(x, h).sort(-1).values),
    (r"depends on the token alone", lambda x, h: right(x, h) + torch.arange(x.shape[1])[:, None]),
    (r"heads are added up\.", lambda x, h: right(x, h).sum(1)),
    (r"heads are averaged", lambda x, h: right(x, h).mean(1)),
    (r"tokens are averaged", lambda x, h: right(x, h).mean(2)),
    (r"heads are reduced to the largest", lambda x, h: right(x, h).amax(1)),
    (r"added up, and that stands in the place", lambda x, h: right(x, h).sum(1, True).expand(-1, h, -1, -1)),
    (r"3 things, tensors of shape .* in a tuple", lambda x, h: x.chunk(h, -1)),
    (r"2 things, a tensor and a number; a tensor alone", lambda x, h: (right(x, h), h)),
    (r"tuple of 4 numbers", lambda x, h: right(x, h).shape),
    (r"returns `True`", lambda x, h: True),
    (r"tuple with one thing", lambda x, h: (right(x, h),)),
    (r"function, and nobody calls it", lambda x, h: right),
    (r"`async def` gives a coroutine", waiting),
    (r"returns nothing.*\n*.*\n*.*`print` shows", printing),
    (r"what the first one gave", remembering),
    (r"`3` stands in the code", three_heads),
    (r"have room for 168 numbers; there are 210[^$]*`4` stands in the code", size_four),
    (r"`\(b, n, h, h\)`, have room", lambda x, h: x.view(*x.shape[:2], h, h).transpose(1, 2)),
    (r"tokens are cut here", lambda x, h: torch.stack(x.chunk(h, 1), 1)),
    (r"Axis 1 is cut here: the tokens", lambda x, h: x.unflatten(1, (h, -1))),
    (r"Two calls", lambda x, h: right(x, h) + torch.rand(())),
]
