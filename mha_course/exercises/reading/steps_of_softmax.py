"""What people write for the exponential, the sum and after the division: words and a function each."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Step = tuple[str, Callable[[Tensor], Tensor]]


def _row(x: Tensor) -> Tensor:
    return x.sum(-1, keepdim=True)


def _hard(w: Tensor) -> Tensor:
    return torch.zeros_like(w).scatter(-1, w.argmax(-1, keepdim=True), 1.0)


POSITIVE: tuple[Step, ...] = (
    ("", lambda s: s.exp()),
    ("", lambda s: (s - s.amax(-1, keepdim=True)).exp()),
    ("A tanh stands where the exponential belongs.", lambda s: s.tanh()),
    (
        "The exponential of the absolute score, with its sign, stands where the exponential belongs.",
        lambda s: s.sign() * s.abs().exp(),
    ),
    (
        "A longer series (1 + s + s²/2 + s³/6) stands where the exponential belongs.",
        lambda s: 1 + s + s * s / 2 + s**3 / 6,
    ),
    ("The scores themselves are normalised: the exponential is missing.", lambda s: s),
    ("Powers of 2 stand where powers of e belong.", lambda s: torch.exp2(s)),
    ("Powers of 10 stand where powers of e belong.", lambda s: 10.0**s),
    ("Powers of 3 stand where powers of e belong.", lambda s: 3.0**s),
    ("Squares stand where the exponential belongs.", lambda s: s * s),
    ("Absolute values stand where the exponential belongs.", lambda s: s.abs()),
    ("A ReLU stands where the exponential belongs: negative scores get weight 0.", lambda s: s.relu()),
    ("A sigmoid stands where the exponential belongs.", lambda s: s.sigmoid()),
    ("A softplus stands where the exponential belongs.", lambda s: torch.nn.functional.softplus(s)),
    ("`expm1` stands where the exponential belongs: 1 is taken away after it.", lambda s: torch.expm1(s)),
    (
        "`expm1` stands where the exponential belongs: 1 is taken away after it.",
        lambda s: torch.expm1(s - s.amin(-1, keepdim=True)),
    ),
    (
        "`expm1` stands where the exponential belongs: 1 is taken away after it.",
        lambda s: torch.expm1(s - s.amax(-1, keepdim=True)),
    ),
    ("1 is added after the exponential.", lambda s: s.exp() + 1),
    ("1 + score stands where the exponential belongs.", lambda s: 1 + s),
    ("A short series (1 + s + s²/2) stands where the exponential belongs.", lambda s: 1 + s + s * s / 2),
    ("ELU + 1 stands where the exponential belongs.", lambda s: torch.nn.functional.elu(s) + 1),
    (
        "The row's smallest score is subtracted and no exponential is taken.",
        lambda s: s - s.amin(-1, keepdim=True),
    ),
    (
        "The row's largest score is subtracted and no exponential is taken.",
        lambda s: s - s.amax(-1, keepdim=True),
    ),
)

BY: tuple[Step, ...] = (
    ("", _row),
    ("The division by the row's sum is missing.", lambda x: torch.ones_like(x)),
    (
        "The division by the row's sum is missing; only the row's largest entry is taken out.",
        lambda x: x.amax(-1, keepdim=True),
    ),
    ("The sum that divides goes down the columns, over the queries.", lambda x: x.sum(-2, keepdim=True)),
    ("The sum that divides goes over the whole matrix.", lambda x: x.sum((-2, -1), keepdim=True)),
    (
        "Each row is divided by its length (L2 norm), not by its sum: the squares sum to 1.",
        lambda x: x.norm(dim=-1, keepdim=True),
    ),
    (
        "Each row is divided by its mean, so that it sums to the number of keys.",
        lambda x: x.mean(-1, keepdim=True),
    ),
    ("Each row is divided by the number of keys, not by its sum.", lambda x: torch.full_like(x, x.shape[-1])),
    (
        "Each row is divided by the number of queries, not by its sum.",
        lambda x: torch.full_like(x, x.shape[-2]),
    ),
    ("The sum that divides is too large by 1.", lambda x: _row(x) + 1),
    ("The sum that divides leaves the entry itself out.", lambda x: _row(x) - x),
    ("The sum that divides is a running one (`cumsum`).", lambda x: x.cumsum(-1)),
    ("The sum that divides is squared.", lambda x: _row(x) ** 2),
    ("The root of the sum divides, not the sum.", lambda x: _row(x).sqrt()),
    ("The logarithm of the sum divides, not the sum.", lambda x: _row(x).log()),
    ("Each row is divided by its sum twice.", lambda x: _row(x) * x.shape[-1]),
    ("Every row sums to 2: half the sum divides.", lambda x: _row(x) / 2),
    ("Every row sums to 1/2: twice the sum divides.", lambda x: _row(x) * 2),
    ("Each row is divided by its first entry.", lambda x: x[..., :1]),
    ("Each row is divided by its last entry.", lambda x: x[..., -1:]),
    ("Each row is divided by its smallest entry.", lambda x: x.amin(-1, keepdim=True)),
    ("All rows are divided by the sum of the first one.", lambda x: _row(x)[..., :1, :]),
    ("All rows are divided by the sum of the last one.", lambda x: _row(x)[..., -1:, :]),
    ("The largest entry of the whole matrix divides.", lambda x: x.amax((-2, -1), keepdim=True)),
    ("The sum that divides leaves the last key out.", lambda x: x[..., :-1].sum(-1, keepdim=True)),
    ("The sum that divides leaves the first key out.", lambda x: x[..., 1:].sum(-1, keepdim=True)),
    ("The sum is subtracted, not divided by.", lambda x: x / (x - _row(x))),
    ("The division is turned round: the sum is divided by the entry.", lambda x: x * x / _row(x)),
    ("The weights are multiplied by the sum, not divided.", lambda x: 1 / _row(x)),
)

# Only where there is an axis of sentences.
BY_SENTENCES: tuple[Step, ...] = (
    (
        "The sum that divides goes over everything, all sentences together.",
        lambda x: x.sum((-3, -2, -1), keepdim=True),
    ),
    ("The sum that divides goes over the sentences.", lambda x: x.sum(-3, keepdim=True)),
)

AFTER: tuple[Step, ...] = (
    ("The weights are rounded to one decimal.", lambda w: (w * 10).round() / 10),
    ("The weights are rounded to two decimals.", lambda w: (w * 100).round() / 100),
    ("The weights are rounded to three decimals.", lambda w: (w * 1000).round() / 1000),
    ("The weights are rounded to whole numbers.", lambda w: w.round()),
    ("The weights are squared afterwards.", lambda w: w * w),
    ("The weights are squared and divided by their sum afterwards.", lambda w: w * w / _row(w * w)),
    ("The root of the weights is taken afterwards.", lambda w: w.sqrt()),
    ("The logarithm of the weights is returned.", lambda w: w.log()),
    ("1 minus the weights is returned.", lambda w: 1 - w),
    ("The logarithm of the weights is returned, with a minus.", lambda w: -w.log()),
    ("Each weight is multiplied by the number of keys.", lambda w: w * w.shape[-1]),
    ("Each weight is divided by the number of keys.", lambda w: w / w.shape[-1]),
    ("The largest of each row is divided out, so that it becomes 1.", lambda w: w / w.amax(-1, keepdim=True)),
    (
        "The weights are turned by a reshape, not by a transpose: rows hold pieces of others.",
        lambda w: w.mT.reshape(w.shape),
    ),
    ("The weights are rounded to four decimals.", lambda w: (w * 10000).round() / 10000),
    ("The weights are rounded down to whole numbers.", lambda w: w.floor()),
    ("Softmax is applied again to the weights.", lambda w: w.softmax(-1)),
    ("The weights go through a sigmoid afterwards.", lambda w: w.sigmoid()),
    ("The weights of each row stand in reversed order.", lambda w: w.flip(-1)),
    ("The weights lose the digits that float16 can't hold.", lambda w: w.half().double()),
    ("The weights lose the digits that bfloat16 can't hold.", lambda w: w.bfloat16().double()),
    ("Minus the weights is returned.", lambda w: -w),
    ("The weights of a row are summed up along the keys (`cumsum`).", lambda w: w.cumsum(-1)),
    ("The weights of a row are sorted.", lambda w: w.sort(-1).values),
    ("The weights of a row are sorted.", lambda w: w.sort(-1, descending=True).values),
    ("The weights' mean is taken away, so that rows sum to 0.", lambda w: w - w.mean(-1, keepdim=True)),
    ("The weights are percentages: 100 times too large.", lambda w: w * 100),
    ("All the weight goes to the key with the smallest score.", lambda w: _hard(-w)),
    ("All the weight goes to the key with the largest score.", lambda w: _hard(w)),
    ("Only the largest weight of a row is kept; the rest is 0.", lambda w: w * _hard(w)),
    ("The largest weight of a row is taken out.", lambda w: w * (1 - _hard(w))),
    (
        "A weight is 1 where it is above the row's mean, and 0 elsewhere.",
        lambda w: (w > w.mean(-1, keepdim=True)).to(w.dtype),
    ),
    ("All keys get the same weight; the scores have no effect.", lambda w: torch.ones_like(w) / w.shape[-1]),
    ("The weights are averaged over the queries.", lambda w: w.mean(-2, keepdim=True).expand_as(w)),
    (
        "The weights are averaged over the sentences.",
        lambda w: w.mean(0, keepdim=True).expand_as(w) if w.ndim > 2 else w * float("nan"),
    ),
    ("Every weight is multiplied by its score.", lambda w: w * w.log()),
    ("Softmax is applied again to the weights (over the queries).", lambda w: w.softmax(-2)),
    ("The weights are divided by the column sums as well.", lambda w: w / w.sum(-2, keepdim=True)),
)
