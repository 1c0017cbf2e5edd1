"""Does a head follow the place or the word? The words are put into another order, and its answers compared.

A head that looks at the word before does so in any order of the words. A head that looks from "cat" at "old"
because of these two words finds "old" wherever it stands. Both can't be true of a word whose neighbour moved
away, so only such words are asked.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.attention_maps import AttentionMaps

Attend = Callable[[Sequence[str]], AttentionMaps]
LEAST_ASKED = 20  # words that can tell, below which no verdict is given


@dataclass(frozen=True, eq=False)
class Followed:
    """Counts of every head over all words of all sentences, each (layers, heads).

    asked: words whose answer can tell place from word. place: of these, how often the head looked as many
    words to the left or right as before. word: how often it looked at the same word as before. itself: how
    often a word looked at itself before the shuffle, which can't tell. rows: all words. place_chance,
    word_chance: what looking anywhere would give, on average, as a number of hits.
    """

    asked: Tensor
    place: Tensor
    word: Tensor
    itself: Tensor
    rows: Tensor
    place_chance: Tensor
    word_chance: Tensor

    def __add__(self, other: Followed) -> Followed:
        return Followed(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    def shares(self, layer: int, head: int) -> dict[str, float]:
        """place, word and neither as shares of the words asked; 0 everywhere when none was. From 0."""
        asked = max(1, int(self.asked[layer, head]))
        place, word = (float(each[layer, head]) / asked for each in (self.place, self.word))
        return {
            "place": place,
            "word": word,
            "neither": (1 - place - word) if self.asked[layer, head] else 0.0,
        }

    def verdict(self, layer: int, head: int) -> str:
        """ "place", "word", "neither" or "cannot tell". layer, head: from 0.

        A head follows what it keeps in at least half of the words asked. Fewer than 20 words can't tell:
        then most words look at themselves, or the shuffle moved their pairs together.
        """
        if self.asked[layer, head] < LEAST_ASKED:
            return "cannot tell"
        shares = self.shares(layer, head)
        return next((name for name in ("place", "word") if shares[name] >= 0.5), "neither")


def shuffled_order(n: int, seed: int) -> list[int]:
    """A random order of n places that is not the order they have; for n = 1 there is only that one.

    Entry j says which word stands at place j.
    """
    rng, order = random.Random(seed), list(range(n))
    while n > 1 and order == sorted(order):
        rng.shuffle(order)
    return order


def followed(before: Tensor, after: Tensor, order: Sequence[int], words: Sequence[str]) -> Followed:
    """Compare the largest weight of every row before and after a shuffle of one sentence.

    before, after: (layers, heads, n, n). order: which word stands at each place after the shuffle. words: in
    the first order; two places with the same word count as the same answer.

    Raises: ValueError when shapes, order and words don't belong together.
    """
    n = len(words)
    if before.shape != after.shape or before.ndim != 4 or before.shape[-2:] != (n, n):
        shapes = f"{tuple(before.shape)} and {tuple(after.shape)}"
        raise ValueError(f"{n} words need weights (layers, heads, {n}, {n}), twice; got {shapes}.")
    if sorted(order) != list(range(n)):
        raise ValueError(f"order must hold each place from 0 to {n - 1} once; got {list(order)}.")
    told = expected(before, order, words)
    order, same = torch.tensor(order), _same(words)
    place_of = order.argsort()
    answer = after[..., place_of, :].argmax(
        -1
    )  # a place of the new order, for the words in their first order
    asked = told.place >= 0
    old = before.argmax(-1)
    place = asked & (answer == told.place)
    word = asked & same[order[answer], old]
    itself = old == torch.arange(n)
    live = before.sum(-1) > 0
    itself = itself & live
    alike = same.sum(-1)[old]
    return Followed(
        asked.sum(-1),
        place.sum(-1),
        word.sum(-1),
        itself.sum(-1),
        live.sum(-1),
        asked.sum(-1) / n,
        (asked * alike).sum(-1) / n,
    )


def followed_over(attend: Attend, sentences: Iterable[Sequence[str]], seed: int = 0) -> Followed:
    """Shuffle each sentence once, from the seed, and add up what every head follows.

    attend: from words to AttentionMaps; see `over_words`. Sentences of fewer than 3 words are left out.
    Raises: ValueError when no sentence is left, and as `over_words`.
    """
    total: Followed | None = None
    for i, words in enumerate(list(sentence) for sentence in sentences):
        if len(words) < 3:
            continue
        order = shuffled_order(len(words), seed + i)
        before = over_words(attend(words), words)
        after = over_words(attend([words[j] for j in order]), [words[j] for j in order])
        found = followed(before, after, order, words)
        total = found if total is None else total + found
    if total is None:
        raise ValueError("no sentence of three words or more to shuffle.")
    return total


@dataclass(frozen=True, eq=False)
class Expected:
    """Where the answer of every row lies after a shuffle, (layers, heads, n), rows in the first order.

    place: if the head looks as far to the left or right as before; word: if it looks at the same word as
    before. Both are places of the new order, and −1 where the two can't be told apart.
    """

    place: Tensor
    word: Tensor


def expected(before: Tensor, order: Sequence[int], words: Sequence[str]) -> Expected:
    """What either rule foretells for the new order. Arguments as in `followed`."""
    n, order, same = len(words), torch.tensor(order), _same(words)
    place_of = order.argsort()  # where each word stands now
    rows = torch.arange(n)
    old = before.argmax(-1)  # a place, and a word, of the first order
    as_far = place_of + old - rows  # where the same distance leads now
    inside = (as_far >= 0) & (as_far < n)
    led_to = order[as_far.clamp(0, n - 1)]  # the word that stands there
    tells = inside & ~same[led_to, old] & (old != rows) & (before.sum(-1) > 0)
    return Expected(as_far.where(tells, -1), place_of[old].where(tells, -1))


def _same(words: Sequence[str]) -> Tensor:
    names = [word.casefold() for word in words]
    return torch.tensor([[a == b for b in names] for a in names])


def over_words(maps: AttentionMaps, words: Sequence[str]) -> Tensor:
    """(layers, heads, n, n) of the n words; special tokens before or after them are cut off.

    Nothing is rescaled. Raises: ValueError when the tokens aren't the words, as with word pieces.
    """
    n, tokens = len(words), maps.query_tokens
    extra = len(tokens) - n
    wanted = [word.casefold() for word in words]
    if tokens == maps.key_tokens and extra >= 0:
        found = [token.casefold() for token in tokens]
        starts = [s for s in range(extra + 1) if found[s : s + n] == wanted]
        # A model may show a word that it doesn't know under another name: then the number decides.
        starts = starts or ([0] if extra == 0 else [])
        if starts:
            here = slice(starts[0], starts[0] + n)
            return maps.weights[..., here, here]
    raise ValueError(
        f"{n} words became {len(tokens)} tokens, so no word can be followed. For a model with word pieces: "
        "lambda words: model.attend(words, special=False, words=True)"
    )
