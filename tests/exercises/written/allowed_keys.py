"""allowed_keys as students write it: the answers to `decoder_mask`, and those that empty sentences bring."""

from __future__ import annotations

import torch

from tests.exercises.written import decoder_mask as before
from tests.exercises.written.decoder_mask import by_rule, cut_off, real, right, tril


def no_row_empty(fill):
    """A mask whose rows without any True get `fill`."""

    def mask(lengths, n):
        out = cut_off(lengths, n)
        for row in out.view(-1, n):
            if not row.any():
                row.copy_(fill(n))
        return out

    return mask


def row_by_row(at):
    """The same with the query's own place known."""

    def mask(lengths, n):
        out = right(lengths, n).clone()
        for s, query in (~out.any(-1)).nonzero()[:, [0, 2]].tolist():
            out[s, 0, query, at(query)] = True
        return out

    return mask


def filled_from_the_left(lengths, n):
    out = torch.ones(len(lengths), 1, n, n).tril()
    for s, length in enumerate(lengths):
        out[s, :, :, : n - int(length)] = 0
    return out.bool()


def safe(lengths, n, filled):
    out = right(lengths, n)
    return torch.where(out.any(-1, keepdim=True), out, filled)


WRONG = [
    *before.WRONG,
    ("empty-sentence-gets-a-word", lambda lengths, n: right(torch.maximum(lengths, torch.tensor(1)), n)),
    ("empty-sentence-gets-a-word", by_rule(lambda q, k, m: k <= q and k < (m or 1))),
    ("empty-rows-opened", no_row_empty(lambda n: torch.ones(n))),
    ("empty-rows-opened", lambda lengths, n: safe(lengths, n, torch.tensor(True))),
    ("empty-sentence-gets-a-word", row_by_row(lambda query: 0)),
    ("empty-sentence-gets-a-word", no_row_empty(lambda n: torch.arange(n) == 0)),
    ("empty-rows-see-themselves", row_by_row(lambda query: query)),
    ("empty-rows-see-themselves", lambda lengths, n: safe(lengths, n, torch.eye(n, dtype=torch.bool))),
    ("empty-sentence-causal", by_rule(lambda q, k, m: k <= q and (m == 0 or k < m))),
    ("empty-sentence-causal", lambda lengths, n: right(torch.where(lengths > 0, lengths, n), n)),
    ("padding-sees-itself", by_rule(lambda q, k, m: k == q or (k <= q and k < m))),
    ("padding-sees-itself", lambda lengths, n: tril(n) & (real(lengths, n) | torch.eye(n).bool())),
    ("padding-on-the-left", filled_from_the_left),
    ("as-long-as-the-longest", lambda lengths, n: right(lengths, lengths.max())),
    ("as-long-as-the-longest", lambda lengths, n: cut_off(lengths, max(lengths.tolist()))),
    ("padding-on-the-left", lambda lengths, n: tril(n) & real(lengths, n).flip(-1)),
]

WRONG += [
    (id_, fn)
    for words, fn in before.UNLISTED
    for listed, id_ in (
        ("Padding is looked for", "padding-on-the-left"),
        ("Padding sees itself", "padding-sees-itself"),
    )
    if words.startswith(listed)
]

RIGHT = [
    *before.RIGHT,
    lambda lengths, n: torch.ones(n, n).tril().mul((torch.arange(n) < lengths[:, None])[:, None, None]) > 0,
    lambda lengths, n: torch.stack([(tril(n) & (torch.arange(n) < m))[None] for m in lengths.tolist()]),
    lambda lengths, n: ~(torch.ones(n, n).triu(1).bool() | (torch.arange(n) >= lengths.view(-1, 1, 1, 1))),
    lambda lengths, n: (torch.cumsum(torch.eye(n), 0) * real(lengths, n)).bool(),
]

# What the lesson on the decoder leaves to its reader, and what is listed here.
LISTED = ("Padding is looked for at the left end", "Padding sees itself")

UNLISTED = [
    *(pair for pair in before.UNLISTED if not pair[0].startswith(LISTED)),
    (r"Yours holds numbers, 1 where True is wanted", lambda lengths, n: tril(n) * real(lengths, n) * 1),
    (r"Yours holds numbers\.", lambda lengths, n: torch.where(right(lengths, n), 0.0, -1e9)),
    (r"is wanted|should have shape", lambda lengths, n: right(lengths, n)[lengths > 0]),
    (r"Along axis 3 `n` = 6 meets 2", lambda lengths, n: right(lengths, n) & tril(n)[:, :2]),
    (r"Read as symbols, yours is", lambda lengths, n: right(lengths, n).expand(-1, len(lengths), -1, -1)),
    (
        r"Earlier words, or the word itself, are hidden \(11 of 49; in sentence 2, query 0, key 0\)",
        lambda lengths, n: right(lengths, n) & (lengths > 2).view(-1, 1, 1, 1),
    ),
    (
        r"right for sentences of different lengths, and wrong where a sentence is empty. Later words",
        lambda lengths, n: right(lengths, n) | ~tril(n) & bool((lengths == 0).any()),
    ),
    (r"returns a list; a tensor is wanted", lambda lengths, n: right(lengths, n).int().tolist()),
    (r"Two calls with the same arguments", lambda lengths, n: torch.rand(len(lengths), 1, n, n) > 0.5),
]
