"""token_ids as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from itertools import chain

import numpy as np
import torch


def by_membership(tokens, vocabulary, *, otherwise):
    ids = []
    for token in tokens:
        if token in vocabulary:
            ids.append(vocabulary[token])
        else:
            ids.append(otherwise)
    return ids


def by_exception(tokens, vocabulary, fallback):
    ids = []
    for token in tokens:
        try:
            ids.append(vocabulary[token])
        except KeyError:
            ids.append(fallback)
    return ids


def known_only(tokens, vocabulary):
    ids = []
    for token in tokens:
        if token not in vocabulary:
            continue
        ids.append(vocabulary[token])
    return ids


def with_key_error(tokens, vocabulary):
    ids = []
    for token in tokens:
        ids.append(vocabulary[token])
    return ids


def grows(tokens, vocabulary):
    ids = []
    for token in tokens:
        if token not in vocabulary:
            vocabulary[token] = len(vocabulary)
        ids.append(vocabulary[token])
    return ids


def places(tokens, vocabulary):
    names = list(vocabulary.keys())
    return [names.index(t if t in names else "<unk>") for t in tokens]


def numbered_words(tokens, vocabulary):
    rank = {word: place for place, word in enumerate(vocabulary)}
    return [rank.get(t, rank["<unk>"]) for t in tokens]


def lowered(tokens, vocabulary):
    tokens = [t.lower() for t in tokens]
    return by_membership(tokens, vocabulary, otherwise=vocabulary["<unk>"])


def seen_before(tokens, vocabulary):
    ids, seen = [], set()
    for token in tokens:
        if token not in seen:
            seen.add(token)
            ids.append(vocabulary.get(token, vocabulary["<unk>"]))
    return ids


def in_front(tokens, vocabulary):
    ids = []
    for token in tokens:
        ids.insert(0, vocabulary.get(token, vocabulary["<unk>"]))
    return ids


def sorted_in_place(tokens, vocabulary):
    ids = [vocabulary.get(t, vocabulary["<unk>"]) for t in tokens]
    ids.sort()
    return ids


def counts_up(tokens, vocabulary):
    ids = []
    for _ in tokens:
        ids.append(len(ids))
    return ids


def stops_at_unknown(tokens, vocabulary):
    ids = []
    for token in tokens:
        if token not in vocabulary:
            break
        ids.append(vocabulary[token])
    return ids


def carries_on(tokens, vocabulary):
    ids, last = [], vocabulary["<unk>"]
    for token in tokens:
        last = vocabulary.get(token, last)
        ids.append(last)
    return ids


def returns_early(tokens, vocabulary):
    for token in tokens:
        return vocabulary.get(token, vocabulary["<unk>"])
    return []


def skips_first(tokens, vocabulary):
    return [vocabulary.get(tokens[k], vocabulary["<unk>"]) for k in range(1, len(tokens))]


def defaulting(tokens, vocabulary):
    table = defaultdict(lambda: vocabulary["<unk>"], vocabulary)
    return [table[token] for token in tokens]


class Missing(dict):
    def __missing__(self, key):
        return self["<unk>"]


def subclassed(tokens, vocabulary):
    return [*map(Missing(vocabulary).__getitem__, tokens)]


def filled(tokens, vocabulary):
    ids = np.full(len(tokens), vocabulary["<unk>"])
    for place, token in enumerate(tokens):
        if token in vocabulary:
            ids[place] = vocabulary[token]
    return ids.tolist()


def recursive(tokens, vocabulary):
    if not tokens:
        return []
    head, *tail = tokens
    return [vocabulary.get(head, vocabulary["<unk>"]), *recursive(tail, vocabulary)]


WRONG = [
    ("unknown-left-out", lambda t, v: [i for i in map(v.get, t) if i is not None]),
    ("unknown-left-out", known_only),
    ("unknown-is-zero", lambda t, v: [v[x] if x in v else 0 for x in t]),
    ("unknown-is-zero", partial(by_exception, fallback=0)),
    ("unknown-is-minus-one", partial(by_membership, otherwise=-1)),
    ("unknown-is-minus-one", lambda t, v: [v[x] if x in v.keys() else -1 for x in t]),
    ("unknown-is-none", lambda t, v: list(map(v.get, t))),
    ("unknown-is-none", partial(by_exception, fallback=None)),
    ("unknown-stops", with_key_error),
    ("unknown-stops", lambda t, v: list(map(v.__getitem__, t))),
    ("unknown-grows-the-vocabulary", grows),
    ("unknown-grows-the-vocabulary", lambda t, v: [v[x] if x in v else v.setdefault(x, len(v)) for x in t]),
    ("position-for-id", counts_up),
    ("position-for-id", lambda t, v: [place for place, _ in enumerate(t)]),
    ("rank-for-id", places),
    ("rank-for-id", numbered_words),
    ("small-letters", lowered),
    ("small-letters", lambda t, v: [v.get(x, v["<unk>"]) for x in " ".join(t).casefold().split()]),
    ("each-word-once", seen_before),
    ("each-word-once", lambda t, v: [v.get(x, v["<unk>"]) for x in sorted(set(t), key=t.index)]),
    ("sorted-ids", sorted_in_place),
    ("sorted-ids", lambda t, v: np.sort([v.get(x, v["<unk>"]) for x in t]).tolist()),
    ("order-reversed", in_front),
    ("order-reversed", lambda t, v: [v.get(x, v["<unk>"]) for x in reversed(t)]),
    ("everything-unknown", lambda t, v: [v["<unk>"]] * len(t)),
    ("everything-unknown", lambda t, v: [v.get(place, v["<unk>"]) for place in range(len(t))]),
]

RIGHT = [
    lambda t, v: by_exception(t, v, v["<unk>"]),
    lambda t, v: by_membership(t, v, otherwise=v["<unk>"]),
    lambda t, v: [v[x] if x in v else v["<unk>"] for x in t],
    lambda t, v: list(map(v.__getitem__, (x if x in v else "<unk>" for x in t))),
    lambda t, v: torch.tensor([v.get(x, v["<unk>"]) for x in t], dtype=torch.long),
    lambda t, v: tuple(v.get(x, v["<unk>"]) for x in t),
    defaulting,
    subclassed,
    filled,
    recursive,
    lambda tokens, vocabulary: list(chain([vocabulary.get(x, vocabulary["<unk>"]) for x in tokens])),
    lambda tokens, vocabulary: [
        ({"": vocabulary["<unk>"]} | vocabulary).get(x, vocabulary["<unk>"]) for x in tokens
    ],
]

UNLISTED = [
    ("Id 0 is taken for a missing word", lambda t, v: [v.get(x) or v["<unk>"] for x in t]),
    ("have two arguments changed places", lambda vocabulary, tokens: [vocabulary.get(t, 1) for t in tokens]),
    ("in capitals before", lambda t, v: [v.get(x.upper(), v["<unk>"]) for x in t]),
    ("capital first letter", lambda t, v: [v.get(x.capitalize(), v["<unk>"]) for x in t]),
    ("looked up letter by letter", lambda t, v: [v.get(c, v["<unk>"]) for x in t for c in x]),
    ("too large by 1", lambda t, v: [v.get(x, v["<unk>"]) + 1 for x in t]),
    ("too small by 1", lambda t, v: [v.get(x, v["<unk>"]) - 1 for x in t]),
    ("2 times what it should be", lambda t, v: [2 * v.get(x, v["<unk>"]) for x in t]),
    ("Unknown words get id 1", lambda t, v: [v.get(x, 1) for x in t]),
    ("Unknown words get id 10", lambda t, v: [v.get(x, len(v)) for x in t]),
    ("they share one", lambda t, v: [v.get(x, 20 + k) for k, x in enumerate(t)]),
    ("stands in front besides", lambda t, v: [0, *(v.get(x, v["<unk>"]) for x in t)]),
    ("follows besides", lambda t, v: [*(v.get(x, v["<unk>"]) for x in t), 0]),
    ("in front and 0 at the end", lambda t, v: [1, *(v.get(x, v["<unk>"]) for x in t), 0]),
    ("the last token is missing", lambda t, v: [v.get(t[k], v["<unk>"]) for k in range(len(t) - 1)]),
    ("the first token is missing", skips_first),
    ("Every second token", lambda t, v: [v.get(x, v["<unk>"]) for x in t[::2]]),
    ("Each id comes twice", lambda t, v: [v.get(x, v["<unk>"]) for x in t for _ in range(2)]),
    ("more than once", lambda t, v: [v.get(x, v["<unk>"]) for x in t] * 3),
    ("ends at the first unknown", stops_at_unknown),
    ("the id of the word before", carries_on),
    ("one number, `11`", returns_early),
    ("list of its own", lambda t, v: [[v.get(x, v["<unk>"])] for x in t]),
    ("in another list", lambda t, v: [[v.get(x, v["<unk>"]) for x in t]]),
    ("one-hot", lambda t, v: torch.eye(14)[[v.get(x, v["<unk>"]) for x in t]]),
    ("type `dict`", lambda t, v: {x: v.get(x, v["<unk>"]) for x in t}),
    ("type `set`", lambda t, v: {v.get(x, v["<unk>"]) for x in t}),
    ("put `\\[ \\]` or `list", lambda t, v: (v.get(x, v["<unk>"]) for x in t)),
    ("is the text `'<unk>'`", lambda t, v: [v.get(x, "<unk>") for x in t]),
    ("is the text `'11'`", lambda t, v: [str(v.get(x, v["<unk>"])) for x in t]),
    ("whether it is there", lambda t, v: [int(x in v) for x in t]),
    ("lengths of words", lambda t, v: [len(x) for x in t]),
    ("how often each token", lambda t, v: [t.count(x) for x in t]),
    ("places in the sorted", lambda t, v: [sorted(v).index(x if x in v else "<unk>") for x in t]),
    ("all ids of the vocabulary", lambda t, v: list(v.values())),
    ("order of the vocabulary", lambda t, v: [i for w, i in v.items() if w in t]),
    ("numbered anew", lambda t, v: [list(dict.fromkeys(t)).index(x) for x in t]),
    ("stands first in the sentence", lambda t, v: [t.index(x) for x in t]),
    ("numbered from 1", lambda t, v: list(range(1, len(t) + 1))),
    ("place later", lambda t, v: [v.get(x, v["<unk>"]) for x in t[-1:] + t[:-1]]),
    ("place earlier", lambda t, v: [v.get(x, v["<unk>"]) for x in t[1:] + t[:1]]),
    ("yours are floats", lambda t, v: [float(v.get(x, v["<unk>"])) for x in t]),
    ("The key is `<unk>`", lambda t, v: [v.get(x, v["unk"]) for x in t]),
    ("The key is `<unk>`", lambda t, v: [v.get(x, v["[UNK]"]) for x in t]),
    ("no id of the vocabulary", lambda t, v: [v.get(x, v["<unk>"]) + 20 * (k == 1) for k, x in enumerate(t)]),
    ("Every token gets the same id, 5", lambda t, v: [5 for _ in t]),
    ("Known words only, each once", lambda t, v: list(dict.fromkeys(v[x] for x in t if x in v))),
    ("changes its argument `tokens`", lambda t, v: [v.get(t.pop(0), v["<unk>"]) for _ in range(len(t))]),
]
