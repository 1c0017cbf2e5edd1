"""held_out_score: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import torch


def loop(h, a):
    tot = [0.0] * h.shape[1]
    for s in range(0, len(h), 2):
        for i in range(h.shape[1]):
            tot[i] += float(h[s, i])
    b = tot.index(max(tot))
    return torch.tensor(
        sum(float(h[s, b]) for s in range(1, len(h), 2)) / sum(float(a[s]) for s in range(1, len(h), 2)),
        dtype=h.dtype,
    )


def e(x):
    return x[::2]


def o(x):
    return x[1::2]


def B(h):
    return int(e(h).sum(0).argmax())


def npx(h, a):
    h, a = (h.numpy(), a.numpy())
    b = h[::2].sum(0).argmax()
    return torch.tensor(h[1::2, b].sum() / a[1::2].sum())


WRONG = [
    ("judged-on-all", lambda h, a: h[:, B(h)].sum() / a.sum()),
    ("picked-on-all", lambda h, a: o(h)[:, h.sum(0).argmax()].sum() / o(a).sum()),
    ("judged-where-picked", lambda h, a: e(h)[:, B(h)].sum() / e(a).sum()),
    ("picked-where-judged", lambda h, a: o(h)[:, o(h).sum(0).argmax()].sum() / o(a).sum()),
    ("halves-swapped", lambda h, a: e(h)[:, o(h).sum(0).argmax()].sum() / e(a).sum()),
    ("mean-of-shares", lambda h, a: (o(h)[:, B(h)] / o(a)).mean()),
    ("divided-by-all-asked", lambda h, a: o(h)[:, B(h)].sum() / a.sum()),
    ("picked-where-judged", lambda h, a: (o(h).sum(0) / o(a).sum()).max()),
    ("all-heads", lambda h, a: o(h).sum(0) / o(a).sum()),
    ("hits-counted", lambda h, a: o(h)[:, B(h)].sum()),
    ("divided-by-sentences", lambda h, a: o(h)[:, B(h)].mean()),
    (
        "first-half-and-second",
        lambda h, a: h[len(h) // 2 :, h[: len(h) // 2].sum(0).argmax()].sum() / a[len(h) // 2 :].sum(),
    ),
]

RIGHT = [
    loop,
    npx,
    lambda h, a: o(h)[:, B(h)].sum() / o(a).sum(),
    lambda h, a: (o(h).sum(0) / o(a).sum())[B(h)],
    lambda h, a: (
        h[torch.arange(len(h)) % 2 == 1].sum(0)[e(h).mean(0).argmax()]
        / a[torch.arange(len(a)) % 2 == 1].sum()
    ),
    lambda h, a: (
        (h * (torch.arange(len(h)) % 2)[:, None]).sum(0)[
            (h * (1 - torch.arange(len(h)) % 2)[:, None]).sum(0).argmax()
        ]
        / (a * (torch.arange(len(a)) % 2)).sum()
    ),
]

UNLISTED = [
    (
        "The head is picked by the mean of its shares, not by its hits in all\\.",
        lambda h, a: o(h)[:, (e(h) / e(a)[:, None]).mean(0).argmax()].sum() / o(a).sum(),
    ),
    (
        "The asked words are those of the even sentences; the hits are those",
        lambda h, a: o(h)[:, B(h)].sum() / e(a).sum(),
    ),
    ("The shares of all heads are averaged\\.", lambda h, a: (o(h).sum(0) / o(a).sum()).mean()),
    (
        "The head's own number is not used: the hits of all heads are added up\\.",
        lambda h, a: o(h).sum() / o(a).sum(),
    ),
    (
        "The head with the fewest hits is picked\\.",
        lambda h, a: o(h)[:, e(h).sum(0).argmin()].sum() / o(a).sum(),
    ),
    ("Head 1 \\(index 0\\) is judged, whatever was picked\\.", lambda h, a: o(h)[:, 0].sum() / o(a).sum()),
    ("The last head is judged, whatever was picked\\.", lambda h, a: o(h)[:, -1].sum() / o(a).sum()),
    ("The hits are divided by the number of all sentences\\.", lambda h, a: o(h)[:, B(h)].sum() / len(h)),
    (
        "The score on the sentences that judge is taken off the one on those",
        lambda h, a: e(h)[:, B(h)].sum() / e(a).sum() - o(h)[:, B(h)].sum() / o(a).sum(),
    ),
    ("It returns one number; a tensor is wanted\\.", lambda h, a: B(h)),
    (
        "It returns 2 things, a number and a tensor; a tensor alone is wanted\\.",
        lambda h, a: ((B(h), o(h)[:, B(h)].sum() / o(a).sum())),
    ),
    (
        "The head is judged on every third sentence, 2::3; the odd ones should",
        lambda h, a: h[2::3, B(h)].sum() / a[2::3].sum(),
    ),
    (
        "The head is picked on the even sentences without sentence 0, 2::2;",
        lambda h, a: h[1::2, h[2::2].sum(0).argmax()].sum() / a[1::2].sum(),
    ),
    (
        "The head is picked on every fourth sentence, 0::4; the even ones",
        lambda h, a: h[1::2, h[0::4].sum(0).argmax()].sum() / a[1::2].sum(),
    ),
    (
        "The hits are added up over the heads, so that a sentence is picked,",
        lambda h, a: o(h)[:, min(int(e(h).sum(1).argmax()), h.shape[1] - 1)].sum() / o(a).sum(),
    ),
    (
        "The head is picked by its hits in one sentence, the most\\.",
        lambda h, a: o(h)[:, int(e(h).argmax()) % h.shape[1]].sum() / o(a).sum(),
    ),
    ("In every sentence its own best head is counted\\.", lambda h, a: o(h).max(1).values.sum() / o(a).sum()),
    (
        "The head is picked by the sentences in which it is the best\\.",
        lambda h, a: o(h)[:, e(h).argmax(1).mode().values].sum() / o(a).sum(),
    ),
    ("This is the share of misses\\.", lambda h, a: 1 - o(h)[:, B(h)].sum() / o(a).sum()),
    ("These are per cent\\.", lambda h, a: 100 * o(h)[:, B(h)].sum() / o(a).sum()),
    ("The second best head is judged\\.", lambda h, a: o(h)[:, e(h).sum(0).argsort()[-2]].sum() / o(a).sum()),
    (
        "The head is judged on every second odd sentence, 3::4; the odd ones",
        lambda h, a: o(o(h))[:, B(h)].sum() / o(o(a)).sum(),
    ),
    (
        "The head is judged on the odd sentences without sentence 1, 3::2; the",
        lambda h, a: h[3::2, B(h)].sum() / a[3::2].sum(),
    ),
    ("The head is judged on sentence 1 alone; the odd ones should judge\\.", lambda h, a: h[1, B(h)] / a[1]),
    (
        "Hits and asked words have changed places above and below the fraction",
        lambda h, a: o(a).sum() / o(h)[:, B(h)].sum(),
    ),
    (
        "The numbers are right\\. The result is a number; a tensor is wanted\\.",
        lambda h, a: float(o(h)[:, B(h)].sum() / o(a).sum()),
    ),
    ("The heads of odd number are added up, not the sentences\\.", lambda h, a: h[:, 1::2].sum() / a.sum()),
    (
        "In every sentence the head that was best in the sentence before is",
        lambda h, a: sum(h[s, h[s - 1].argmax()] for s in range(1, len(h), 2)) / o(a).sum(),
    ),
    ("The median of the sentences' shares is returned\\.", lambda h, a: (o(h)[:, B(h)] / o(a)).median()),
    ("It returns a list; a tensor is wanted\\.", lambda h, a: ([o(h)[:, B(h)].sum() / o(a).sum()])),
    (
        "One number is wanted; yours has shape `\\(1,\\)`\\. There is one axis too",
        lambda h, a: (o(h)[:, B(h)].sum() / o(a).sum())[None],
    ),
    (
        "One number is wanted; yours has shape `\\(5,\\)`\\. There is one axis too",
        lambda h, a: o(h)[:, B(h)] / o(a),
    ),
    (
        "`hits` and `asked` have no effect: with other numbers in them the",
        lambda h, a: (o(h)[:, B(h)].sum() / o(a).sum()).round(),
    ),
    (
        "`hits` and `asked` have no effect: with other numbers in them the",
        lambda h, a: o(h)[:, B(h)].sum() // o(a).sum(),
    ),
    (
        "The hits are divided by sentences times heads\\.",
        lambda h, a: o(h)[:, B(h)].sum() / (len(o(h)) * h.shape[1]),
    ),
    (
        "The head is picked on the odd sentences; the even ones should pick\\.",
        lambda h, a: o(h)[:, (e(h).sum(0) - o(h).sum(0)).argmax()].sum() / o(a).sum(),
    ),
    (
        "`hits` and `asked` have no effect: with other numbers in them the",
        lambda h, a: (o(h)[:, B(h)] == o(a)).float().mean(),
    ),
    (
        "1 is added above and below the fraction bar\\.",
        lambda h, a: (o(h)[:, B(h)].sum() + 1) / (o(a).sum() + 1),
    ),
]
