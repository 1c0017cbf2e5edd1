"""one_target_each as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F


def looped(values, targets, *, head=lambda i, h: i, target=lambda i, t: t[i], join=torch.cat):
    h = values.shape[0]
    return join([values[head(i, h), target(i, targets)] for i in range(h)])


def added_up(values, targets):
    total = 0
    for i, target in enumerate(targets):
        total = total + values[i, target]
    return total


def averaged(values, targets):
    weights = F.one_hot(torch.tensor(targets), values.shape[1]).to(values.dtype)
    return torch.einsum("hn,hnd->d", weights, values) / len(targets)


def into_a_buffer(values, targets, *, head=None):
    h, _, d_v = values.shape
    out = torch.empty(h * d_v, dtype=values.dtype)
    for i in range(h):
        out[i * d_v : (i + 1) * d_v] = values[i if head is None else head, targets[i]]
    return out


def in_front(values, targets):
    out = values.new_empty(0)
    for i, target in enumerate(targets):
        out = torch.cat([values[i, target], out])
    return out


def dealt_out(values, targets):
    h, _, d_v = values.shape
    out = torch.empty(h * d_v, dtype=values.dtype)
    for i in range(h):
        out[i::h] = values[i, targets[i]]
    return out


def shared_weights(values, targets):
    weights = torch.zeros(values.shape[1], dtype=values.dtype)
    for target in targets:
        weights[target] += 1 / len(targets)
    return torch.cat([weights @ head for head in values])


def attended(values, targets, *, hot=1.0, cold=0.0):
    h, n, _ = values.shape
    weights = torch.full((h, n), cold, dtype=values.dtype)
    weights[torch.arange(h), targets] = hot
    return (weights[:, None] @ values).flatten()


def softened(values, targets, scale):
    weights = (scale * F.one_hot(torch.tensor(targets), values.shape[1])).to(values.dtype).softmax(-1)
    return torch.einsum("hn,hnd->hd", weights, values).flatten()


def gathered(values, targets):
    index = torch.tensor(targets)[:, None, None].expand(-1, 1, values.shape[2])
    return values.gather(1, index).reshape(-1)


def number_by_number(values, targets):
    return torch.stack([values[i, t, j] for i, t in enumerate(targets) for j in range(values.shape[2])])


def last_not_filled(values, targets):
    h, _, d_v = values.shape
    out = torch.zeros(h * d_v, dtype=values.dtype)
    for i in range(h - 1):
        out[i * d_v : (i + 1) * d_v] = values[i, targets[i]]
    return out


def returned_at_once(values, targets):
    parts = []
    for i, target in enumerate(targets):
        parts.append(values[i, target])
        return torch.cat(parts)


WRONG = [
    ("average-for-concat", averaged),
    ("average-for-concat", partial(looped, join=lambda parts: sum(parts) / len(parts))),
    ("sum-for-concat", added_up),
    ("sum-for-concat", partial(looped, join=lambda parts: torch.stack(parts).sum(0))),
    ("first-head-for-all", partial(looped, head=lambda i, h: 0)),
    ("first-head-for-all", lambda values, targets: torch.cat([values[0][t] for t in targets])),
    ("first-head-for-all", partial(into_a_buffer, head=0)),
    ("same-target-for-all", partial(looped, target=lambda i, t: t[0])),
    ("same-target-for-all", lambda values, targets: values.transpose(0, 1)[targets[0]].reshape(-1)),
    ("heads-reversed", in_front),
    ("heads-reversed", partial(looped, join=lambda parts: torch.cat(list(reversed(parts))))),
    ("targets-reversed", partial(looped, target=lambda i, t: t[-1 - i])),
    ("targets-reversed", lambda v, t: torch.cat([one[x] for one, x in zip(v, reversed(t), strict=True)])),
    ("stacked", lambda values, targets: values[torch.arange(len(targets)), targets]),
    ("stacked", partial(looped, join=torch.vstack)),
    ("features-interleaved", dealt_out),
    ("features-interleaved", partial(looped, join=lambda parts: torch.stack(parts).T.reshape(-1))),
    ("counted-from-one", partial(looped, target=lambda i, t: t[i] - 1)),
    ("counted-from-one", lambda v, t: v.roll(1, 1)[range(len(t)), t].flatten()),
    ("average-in-every-head", shared_weights),
    ("average-in-every-head", lambda v, t: torch.cat([sum(one[x] for x in t) / len(t) for one in v])),
]

RIGHT = [
    looped,
    into_a_buffer,
    attended,
    gathered,
    number_by_number,
    lambda values, targets: values[torch.arange(len(targets)), targets].flatten(),
    lambda values, targets: torch.stack([values[i][t] for i, t in enumerate(targets)]).reshape(-1),
    lambda values, targets: torch.hstack([v[t] for v, t in zip(values, targets, strict=True)]),
    lambda values, targets: torch.from_numpy(np.concatenate([values[i, t] for i, t in enumerate(targets)])),
    lambda values, targets: values.flatten(0, 1)[
        [i * values.shape[1] + t for i, t in enumerate(targets)]
    ].view(-1),
    lambda v, t: torch.einsum("hn,hnd->hd", F.one_hot(torch.tensor(t), v.shape[1]).to(v.dtype), v).flatten(),
]

UNLISTED = [
    ("chooses among the 2 heads here", lambda v, t: torch.cat([v[x, i] for i, x in enumerate(t)])),
    ("chooses among the 2 heads here", lambda v, t: v[t].flatten()),
    (
        "`\\(n, h, d_v\\)`. It is one of `targets`",
        lambda v, t: torch.cat([v.transpose(0, 1)[i, x] for i, x in enumerate(t)]),
    ),
    ("Part 1 holds head 2's value at token 3", partial(looped, head=lambda i, h: h - 1)),
    ("Part 1 holds head 2's value at token 3", partial(looped, head=lambda i, h: (i + 1) % h)),
    ("Part 1 holds head 1's value at token 1", partial(looped, target=lambda i, t: t[-1])),
    ("Part 1 holds head 1's value at token 1", partial(looped, target=lambda i, t: sorted(t)[i])),
    ("Part 1 holds head 1's value at token 0", partial(looped, target=lambda i, t: i)),
    ("Part 1 holds head 1's value at token 4", lambda v, t: v.roll(-1, 1)[range(len(t)), t].flatten()),
    ("Part 1 holds 0.5 times head 1", lambda v, t: looped(v, t) / len(t)),
    ("Part 1 holds 2 times head 1", lambda v, t: looped(v, t) * 2),
    ("Part 1 holds -1 times head 1", lambda v, t: -looped(v, t)),
    ("average of all tokens in head 1", lambda values, targets: values.mean(1).flatten()),
    ("sum of all tokens in head 1", lambda values, targets: values.sum(1).flatten()),
    ("sum of all targets in head 1", lambda values, targets: values[:, targets].sum(1).flatten()),
    ("largest of all tokens in head 1", lambda values, targets: values.amax(1).flatten()),
    ("average of all heads at token 3", lambda values, targets: values.mean(0)[targets].flatten()),
    ("sum of all heads at token 3", lambda values, targets: values.sum(0)[targets].flatten()),
    ("features in reversed order", lambda v, t: torch.cat([v[i, x].flip(0) for i, x in enumerate(t)])),
    ("after a softmax", lambda v, t: torch.cat([v[i, x].softmax(0) for i, x in enumerate(t)])),
    ("after a ReLU", lambda v, t: looped(v, t).relu()),
    ("without its sign", lambda v, t: looped(v, t).abs()),
    ("rounded", lambda v, t: looped(v, t).round()),
    ("rounded to two decimals", lambda v, t: looped(v, t).round(decimals=2)),
    ("float16", lambda v, t: looped(v, t).half().to(v.dtype)),
    ("is a mix: 0.405 of head 1 token 3", partial(softened, scale=1)),
    ("is a mix: 0.974 of head 1 token 3", partial(softened, scale=5)),
    ("is a mix: 1 of head 1 token 0, 1 of head 1 token 1", partial(attended, hot=0.0, cold=1.0)),
    ("is a mix", lambda v, t: torch.cat([v[i, x] + v[i, 0] for i, x in enumerate(t)])),
    ("Part 2 is all 0", last_not_filled),
    ("with 2 heads there should be 2. Yours: head 1 token 3.", returned_at_once),
    ("4 parts", lambda values, targets: values[:, targets].flatten()),
    ("10 parts", lambda values, targets: values.flatten()),
    ("largest of the heads", partial(looped, join=lambda parts: torch.stack(parts).amax(0))),
    ("features of each head are added up", partial(looped, join=lambda parts: torch.stack(parts).sum(1))),
    ("one number", partial(looped, join=lambda parts: torch.cat(parts).sum())),
    ("side by side as columns", partial(looped, join=lambda parts: torch.stack(parts, 1))),
    ("at all targets", lambda values, targets: values[:, targets]),
    ("read from head 1, and the heads have an axis", lambda values, targets: values[0, targets]),
    ("a row each", lambda v, t: v.transpose(0, 1).flatten(1)[t]),
    ("along the features", lambda v, t: torch.cat([v[i, :, x % v.shape[2]] for i, x in enumerate(t)])),
    ("not yet applied", lambda v, t: F.one_hot(torch.tensor(t), v.shape[1]).to(v.dtype)),
    ("tokens one after.*added up", lambda v, t: v.roll(-1, 1)[range(len(t)), t].sum(0)),
    ("zeros at the end", lambda v, t: F.pad(looped(v, t), (0, 2))),
    ("The last 1 number", lambda v, t: looped(v, t)[:-1]),
    ("softmax is applied to the result", lambda v, t: looped(v, t).softmax(0)),
    ("number by number", lambda v, t: looped(v, t).flip(0)),
    ("starts with head 2 token 1 feature 0 and head 1", lambda v, t: dealt_out(v.flip(0), t[::-1])),
    ("with one head", lambda v, t: looped(v, t) if len(t) > 1 else v[:, t[0]]),
    ("changes its argument `targets`", lambda v, t: torch.cat([v[i, t.pop(0)] for i in range(len(t))])),
]
