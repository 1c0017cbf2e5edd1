"""What wrong mixing matrices, collaborative scores and content biases did: steps done otherwise."""

from __future__ import annotations

import torch

from mha_course.exercises.mistakes.of_content_bias import CONTENT_MISTAKES, content_with
from mha_course.exercises.mistakes.of_mixing import (
    BLOCK_MISTAKES,
    SCORE_MISTAKES,
    blocks_with,
    scores_with,
)
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_SIZES = (
    Way("A block is width // h + 1 long, also where h divides the width.", lambda h, w: w // h + 1),
    Way("width / h is rounded to the nearest whole number.", lambda h, w: round(w / h)),
    rare("A block is h long, not width / h.", lambda h, w: h),
    rare("A block is h // width long.", lambda h, w: h // w),
    rare("A block is width % h long.", lambda h, w: w % h),
    rare("A block is (width + h) // h long: add h - 1, not h.", lambda h, w: (w + h) // h),
    rare("A block is one feature too short.", lambda h, w: -(-w // h) - 1),
    rare("A block is half as long as it should be.", lambda h, w: -(-w // h) // 2),
    rare("A block is twice as long as it should be.", lambda h, w: -(-w // h) * 2),
    rare("A block is as long as the root of the width.", lambda h, w: int(w**0.5)),
)
_OWNS = (
    Way("The last head reads all that stands behind, too.", lambda i, r, s, h: r >= i * s),
    rare("The last head has no block.", lambda i, r, s, h: (r // s == i) & (i < h - 1)),
    rare("The first head has no block.", lambda i, r, s, h: (r // s == i) & (i > 0)),
    rare("Only the first head has a block.", lambda i, r, s, h: (r // s == i) & (i == 0)),
    rare("Every head has the first block.", lambda i, r, s, h: (r < s).expand(h, -1)),
    rare("Every head has the last block.", lambda i, r, s, h: (r >= len(r) - s).expand(h, -1)),
    rare("Features are dealt in turn, from the last head on.", lambda i, r, s, h: h - 1 - r % h == i),
    rare("Features are dealt in turn, `%` by the length of a block.", lambda i, r, s, h: r % s == i),
    rare("`//` divides by h, not by the length of a block.", lambda i, r, s, h: r // h == i),
    rare("Each head reads a block and the block behind it.", lambda i, r, s, h: (r // s - i) // 2 == 0),
    rare("Each head reads a block and the block before it.", lambda i, r, s, h: (i - r // s) // 2 == 0),
    rare("Blocks are shifted by one head.", lambda i, r, s, h: r // s == i + 1),
    rare("Blocks are shifted by one head.", lambda i, r, s, h: r // s == i - 1),
    rare("Blocks are cut from the end.", lambda i, r, s, h: (len(r) - 1 - r) // s == h - 1 - i),
    rare("Blocks are cut from the end, the first head last.", lambda i, r, s, h: (len(r) - 1 - r) // s == i),
    rare("Only the first feature of each block is marked.", lambda i, r, s, h: r == i * s),
    rare("Only the last feature of each block is marked.", lambda i, r, s, h: r == (i + 1) * s - 1),
    rare("Blocks end one feature too early.", lambda i, r, s, h: (r // s == i) & (r < (i + 1) * s - 1)),
    rare("Blocks start one feature too early.", lambda i, r, s, h: (r >= i * s - 1) & (r < (i + 1) * s)),
    rare(
        "Every block lies one feature too early.",
        lambda i, r, s, h: (r >= i * s - 1) & (r < (i + 1) * s - 1),
    ),
    rare("Ones and zeros are exchanged.", lambda i, r, s, h: r // s != i),
    rare(
        "A block reaches from feature i to i + size: blocks start at i · size.",
        lambda i, r, s, h: (r >= i) & (r < i + s),
    ),
)
_BLOCK_ENDS = (
    Way("The rows are divided by how many ones they hold.", lambda m, s: m / m.sum(1, keepdim=True)),
    Way("A block holds its length instead of ones.", lambda m, s: m.float() * s),
    rare("The ones are divided by the root of their number.", lambda m, s: m / s**0.5),
    rare("The columns are divided by how many ones they hold.", lambda m, s: m / m.sum(0, keepdim=True)),
    rare("A softmax is taken of the rows.", lambda m, s: m.float().softmax(-1)),
    rare("A softmax is taken of the columns.", lambda m, s: m.float().softmax(0)),
    rare("0 and -inf stand there, as in a mask that is added.", lambda m, s: m.float().log()),
    rare("-1 stands where 0 should.", lambda m, s: 2 * m.float() - 1),
    rare("The head's number stands in its block, from 1 on.", lambda m, s: m * _numbers(m, 1)),
    rare("The head's number stands in its block, from 0 on.", lambda m, s: m * _numbers(m, 0)),
    rare("The block of each feature comes back, (width,).", lambda m, s: (m * _numbers(m, 0)).sum(0)),
    rare("All rows stand in one, (h * width,).", lambda m, s: m.float().flatten()),
    rare("There is an axis too many in front.", lambda m, s: m.float()[None]),
    rare("The lengths of the blocks come back, (h,).", lambda m, s: m.float().sum(1)),
    rare("Rows are summed up one by one.", lambda m, s: m.float().cumsum(0)),
    rare("Columns are summed up one by one.", lambda m, s: m.float().cumsum(1)),
)


def _numbers(m: torch.Tensor, first: int) -> torch.Tensor:
    return torch.arange(first, first + len(m)).float()[:, None]


BLOCKS = Recipe(
    blocks_with,
    (
        Slot("size", "how long a block is.", (*ways_of(BLOCK_MISTAKES, "size"), *_SIZES)),
        Slot("own", "where a block starts and ends.", (*ways_of(BLOCK_MISTAKES, "own"), *_OWNS)),
        Slot("finish", "what is done with the blocks.", (*ways_of(BLOCK_MISTAKES, "finish"), *_BLOCK_ENDS)),
    ),
    lambda: ((3, 14), (7, 23)),
)

_GIVEN = (
    Way("`mixing` is divided by the sum of each row.", lambda m: m / m.sum(-1, keepdim=True)),
    Way("Negative numbers of `mixing` become 0.", lambda m: m.relu()),
    Way("The signs of `mixing` get lost.", lambda m: m.abs()),
    Way("`mixing` goes through a sigmoid.", lambda m: m.sigmoid()),
    rare("The root of `mixing` is taken, which negative numbers don't have.", lambda m: m.sqrt()),
    rare("A softmax is taken over the heads of `mixing`.", lambda m: m.softmax(0)),
    rare("The exponential of `mixing` is taken.", lambda m: m.exp()),
    rare("1 is added to `mixing`.", lambda m: m + 1),
    rare("1 is divided by `mixing`.", lambda m: 1 / m),
    rare("Only ones of `mixing` are left where it is positive.", lambda m: (m > 0).to(m)),
    rare(
        "Every feature is weighed with the mean of its row.", lambda m: m.mean(1, keepdim=True).expand_as(m)
    ),
    rare("All heads weigh with the mean of all rows.", lambda m: m.mean(0, keepdim=True).expand_as(m)),
    rare("All heads weigh with the sum of all rows.", lambda m: m.sum(0, keepdim=True).expand_as(m)),
    rare("All heads weigh with the last row of `mixing`.", lambda m: m[-1:].expand_as(m)),
    rare("The features of `mixing` are in reverse order.", lambda m: m.flip(1)),
    rare("The rows of `mixing` have length 1.", lambda m: m / m.norm(dim=1, keepdim=True)),
    rare("The rows of `mixing` are shifted by one head.", lambda m: m.roll(1, 0)),
    rare("The rows of `mixing` are shifted by one head.", lambda m: m.roll(-1, 0)),
)
_WEIGHS = (
    Way("The features are divided by `mixing`, not multiplied.", lambda q, k, m: (q / m, k)),
    rare("`mixing` is added to queries and keys.", lambda q, k, m: (q + m, k + m)),
    rare("`mixing` is added to the keys.", lambda q, k, m: (q.expand(-1, len(m), -1, -1), k + m)),
    rare("`mixing` is subtracted from the queries.", lambda q, k, m: (q - m, k)),
    rare("`mixing` itself takes the place of the queries.", lambda q, k, m: (m.expand_as(q * m), k)),
    rare("`mixing` itself takes the place of the keys.", lambda q, k, m: (q, m.expand_as(k * m))),
    rare("Queries meet queries: the keys take no part.", lambda q, k, m: (q * m, q)),
    rare("Keys meet keys: the queries take no part.", lambda q, k, m: (k * m, k)),
    rare("Only one feature of each head is left.", lambda q, k, m: (q[..., :1] * m[..., :1], k[..., :1])),
)
_COMPARES = (
    rare(
        "Absolute differences are summed up.",
        lambda q, k: -torch.cdist(q, k.expand(-1, q.shape[1], -1, -1), 1),
    ),
    rare("These are distances, no products.", lambda q, k: -torch.cdist(q, k.expand(-1, q.shape[1], -1, -1))),
    rare("Queries and keys have length 1.", lambda q, k: _unit(q) @ _unit(k).mT),
    rare("Products are averaged over the features.", lambda q, k: q @ k.mT / q.shape[-1]),
)
_FACTORS = (
    Way("Scores are divided by the root of h.", lambda q, m, d: len(m) ** -0.5),
    Way("Scores are divided by the root of d_k / h.", lambda q, m, d: (d / len(m)) ** -0.5),
    Way("Scores are divided by the root of h * d_k.", lambda q, m, d: (d * len(m)) ** -0.5),
    Way("Scores are divided by the width.", lambda q, m, d: 1 / q.shape[-1]),
    rare("Scores are divided by width / h.", lambda q, m, d: len(m) / q.shape[-1]),
    rare("Scores are divided by the root of the number of queries.", lambda q, m, d: q.shape[-2] ** -0.5),
    rare("Scores are divided by the root of width * h.", lambda q, m, d: (q.shape[-1] * len(m)) ** -0.5),
    rare("Scores are divided by the root of width * d_k.", lambda q, m, d: (q.shape[-1] * d) ** -0.5),
    rare("Scores are divided by the square of `d_k`.", lambda q, m, d: d**-2.0),
    rare("Scores are multiplied by `d_k`.", lambda q, m, d: d),
    rare("Scores are divided by the root of width // h.", lambda q, m, d: (q.shape[-1] // len(m)) ** -0.5),
    rare("Scores are divided by half of `d_k`.", lambda q, m, d: 2 / d),
    rare("Scores are divided by the third root of `d_k`.", lambda q, m, d: d ** (-1 / 3)),
)
_SCORE_ENDS = (
    Way("A softmax is taken over the queries.", lambda s: s.softmax(-2)),
    Way("A softmax is taken over the heads.", lambda s: s.softmax(1)),
    Way("The mean over all heads comes back.", lambda s: s.mean(1)),
    Way("The mean over all heads stands in every head.", lambda s: s.mean(1, keepdim=True).expand_as(s)),
    Way("The sum over all heads stands in every head.", lambda s: s.sum(1, keepdim=True).expand_as(s)),
    rare("Only the first head comes back.", lambda s: s[:, 0]),
    rare("Only the first head comes back, with an axis of its own.", lambda s: s[:, :1]),
    rare("Heads and sentences are one axis.", lambda s: s.flatten(0, 1)),
    rare("Heads and queries are one axis.", lambda s: s.flatten(1, 2)),
    rare("The logarithm of a softmax is taken.", lambda s: s.log_softmax(-1)),
    rare("Keys stand last but one, heads last.", lambda s: s.permute(0, 2, 3, 1)),
    rare("Keys stand in front of queries, heads last.", lambda s: s.permute(0, 3, 2, 1)),
    rare("Sentences are added up.", lambda s: s.sum(0)),
    rare("Later keys are hidden. There is no mask here.", lambda s: _later_hidden(s)),
)


def _unit(x: torch.Tensor) -> torch.Tensor:
    return x / x.norm(dim=-1, keepdim=True)


def _later_hidden(s: torch.Tensor) -> torch.Tensor:
    later = torch.ones(s.shape[-2:], dtype=torch.bool).triu(1)
    return s.masked_fill(later, float("-inf"))


read_scores = Recipe(
    scores_with,
    (
        Slot("given", "what is done with `mixing`.", (*ways_of(SCORE_MISTAKES, "given"), *_GIVEN)),
        Slot("weigh", "where `mixing` takes part.", (*ways_of(SCORE_MISTAKES, "weigh"), *_WEIGHS)),
        Slot("compare", "the product of queries and keys.", _COMPARES),
        Slot("factor", "the factor of the scores.", (*ways_of(SCORE_MISTAKES, "factor"), *_FACTORS)),
        Slot("finish", "the last step.", (*ways_of(SCORE_MISTAKES, "finish"), *_SCORE_ENDS)),
    ),
).read

_CUTS = (
    rare(
        "The heads of `w_k` are in reverse order.",
        lambda w, h: w.unflatten(1, (h, -1)).transpose(0, 1).flip(0),
    ),
    rare(
        "The tokens' features of `w_k` are in reverse order.",
        lambda w, h: w.flip(0).unflatten(1, (h, -1)).transpose(0, 1),
    ),
    rare(
        "Every head uses the last part of `w_k`.",
        lambda w, h: w.unflatten(1, (h, -1)).transpose(0, 1)[-1:].expand(h, -1, -1),
    ),
)
_BIAS_CUTS = (
    rare("The parts of `b_q` are in reverse order.", lambda b, h: b.unflatten(0, (h, -1)).flip(0)),
    rare("Every head uses the last part of `b_q`.", lambda b, h: b.unflatten(0, (h, -1))[-1:].expand(h, -1)),
    rare(
        "Every head uses the mean of all parts of `b_q`.",
        lambda b, h: b.unflatten(0, (h, -1)).mean(0).expand(h, -1),
    ),
    rare(
        "Every head uses the sum of all parts of `b_q`.",
        lambda b, h: b.unflatten(0, (h, -1)).sum(0).expand(h, -1),
    ),
    rare(
        "Each head uses the mean of its part of `b_q`.",
        lambda b, h: b.unflatten(0, (h, -1)).mean(1, keepdim=True),
    ),
    rare("Each head uses the first entry of its part of `b_q`.", lambda b, h: b.unflatten(0, (h, -1))[:, :1]),
    rare(
        "The features within each part of `b_q` are in reverse order.",
        lambda b, h: b.unflatten(0, (h, -1)).flip(1),
    ),
)
_MEETS = (
    rare("`b_q` is subtracted from the columns of `w_k`.", lambda w, b: w - b[:, None]),
    rare("The columns of `w_k` are divided by `b_q`.", lambda w, b: w / b[:, None]),
    rare("`w_k` takes no part: the bias alone comes back.", lambda w, b: b[:, None].expand_as(w)),
    rare("The signs of `b_q` get lost.", lambda w, b: w * b[:, None].abs()),
    rare("`w_k` is squared.", lambda w, b: w**2 * b[:, None]),
    rare("`b_q` is squared.", lambda w, b: w * b[:, None] ** 2),
)
_ADDS = (
    rare("The largest product is taken, not the sum.", lambda p: p.amax(-1)),
    rare("Absolute values of the products are added up.", lambda p: p.abs().sum(-1)),
    rare("Squares are added up, and the root is taken.", lambda p: p.norm(dim=-1)),
    rare("The sum goes over d_model, not over d_k.", lambda p: p.sum(-2)),
    rare("Only the first feature of each head counts.", lambda p: p[..., 0]),
    rare("The last feature of each head is left out.", lambda p: p[..., :-1].sum(-1)),
    rare("The first feature of each head is left out.", lambda p: p[..., 1:].sum(-1)),
)
_CONTENT_ENDS = (
    Way("Everything is divided by d_k.", lambda c, d: c / d),
    Way("Everything is multiplied by the root of d_k.", lambda c, d: c * d**0.5),
    Way("The mean over the heads stands in every head.", lambda c, d: c.mean(0).expand_as(c)),
    rare("The mean over the heads comes back.", lambda c, d: c.mean(0)),
    rare("All vectors stand in one row.", lambda c, d: c.flatten()),
    rare("All vectors stand in one row, heads inside.", lambda c, d: c.T.flatten()),
    rare("Only the first head's vector comes back.", lambda c, d: c[0]),
    rare("There is one number for each head.", lambda c, d: c.sum(1)),
    rare("There is an axis too many in front.", lambda c, d: c[None]),
    rare("A softmax is taken over the features.", lambda c, d: c.softmax(-1)),
    rare("The heads are in reverse order.", lambda c, d: c.flip(0)),
)
_CONTENT_WHOLES = (
    rare(
        "The products of `w_k` and `b_q` are cut into rows, (h, d_k, d_model), and summed.",
        lambda p, h: p.reshape(h, -1, len(p)).sum(1),
    ),
    rare(
        "The products are summed over heads: one vector for each of the d_k features.",
        lambda p, h: p.unflatten(1, (h, -1)).sum(1).T,
    ),
    rare("The products of `w_k` and `b_q` come back, without any sum.", lambda p, h: p),
    rare("The products come back with heads as an axis, and no sum.", lambda p, h: p.unflatten(1, (h, -1))),
)
read_content = Recipe(
    content_with,
    (
        Slot("cut", "how the columns of `w_k` go to the heads.", (*ways_of(CONTENT_MISTAKES, "cut"), *_CUTS)),
        Slot(
            "cut_bias", "how `b_q` goes to the heads.", (*ways_of(CONTENT_MISTAKES, "cut_bias"), *_BIAS_CUTS)
        ),
        Slot("meet", "what the columns are multiplied by.", (*ways_of(CONTENT_MISTAKES, "meet"), *_MEETS)),
        Slot("add", "the sum.", (*ways_of(CONTENT_MISTAKES, "add"), *_ADDS)),
        Slot("finish", "the last step.", (*ways_of(CONTENT_MISTAKES, "finish"), *_CONTENT_ENDS)),
        Slot("whole", "which axis is cut.", (*ways_of(CONTENT_MISTAKES, "whole"), *_CONTENT_WHOLES)),
    ),
).read
