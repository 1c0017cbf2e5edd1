"""Exercises of lesson 11, on one head: its score for an offset, a tougher baseline, how broadly it looks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_evenness import EVENNESS_MISTAKES
from mha_course.exercises.mistakes.of_nearest_words import NEAREST_MISTAKES
from mha_course.exercises.mistakes.of_offset_score import OFFSET_SCORE_MISTAKES
from mha_course.exercises.reading.evenness import EVENNESS
from mha_course.exercises.reading.nearest_words import NEAREST
from mha_course.exercises.reading.never import never
from mha_course.exercises.reading.offset_score import OFFSET_SCORE


def offset_score(weights: Tensor, offset: int, special: Tensor) -> Tensor:
    """Share of rows whose largest weight lies `offset` places away, special pieces taken out: (h,)."""
    kept = ~special
    w = weights[:, kept][:, :, kept]
    n = w.shape[-1]
    target = torch.arange(n) + offset
    # A row without such a place can neither hit nor miss.
    live = (target >= 0) & (target < n)
    hits = w.argmax(dim=-1) == target
    return hits[:, live].float().mean(dim=-1)


def nearest_with_tag(tags: Sequence[str], wanted: str) -> list[int]:
    """For each word the index of the nearest other word with the tag, -1 for none."""
    nearest = []
    for i in range(len(tags)):
        places = [j for j, tag in enumerate(tags) if tag == wanted and j != i]
        # Of equals `min` keeps the first, and that is the one before the word.
        nearest.append(min(places, key=lambda j: abs(j - i), default=-1))
    return nearest


def row_evenness(weights: Tensor) -> Tensor:
    """Mean entropy of the rows divided by log n_k: (h, n_q, n_k) -> (h,)."""
    n_k = weights.shape[-1]
    # Where there is no weight, log 1 stands in for log 0: the term is 0 either way.
    logs = torch.where(weights > 0, weights, 1.0).log()
    entropy = -(weights * logs).sum(dim=-1)
    return entropy.mean(dim=-1) / math.log(n_k)


def _offset_inputs(g: Generator) -> list[Case]:
    def case(
        label: str, h: int, n: int, offset: int, special: list[int], seed: int, **options: object
    ) -> Case:
        # Seeds for which heads differ, and wrong ways from right ones: few numbers do that by chance.
        g, dtype = torch.Generator().manual_seed(seed), options.pop("dtype", torch.float32)
        is_special = torch.zeros(n, dtype=torch.bool)
        is_special[special] = True
        w = draw(g, h, n, n, dtype=dtype)
        for head in range(h):
            for q in range(n):
                target = q + offset
                if 0 <= target < n and (q + head) % (head + 2) < head + 1:
                    w[head, q, target] += 3.0
                if (2 * head + 3 * q) % 4 == 0:
                    w[head, q, q] += 4.0  # many rows look at the piece itself
                if special and (2 * q + head) % 3 == 0:
                    w[head, q, special[0]] += 4.5  # a place where heads park their weight
        sizes = {"h": h, "n": n, "special": len(special)}
        return Case(label, (w.softmax(-1), offset, is_special), sizes, **options)

    return [
        case("with the piece before", 3, 9, -1, [0, 8], 17),
        case("with the piece after", 4, 10, 1, [0, 9], 81),
        case("with two pieces before", 2, 12, -2, [0, 10, 11], 11),
        case("with a special piece in front only", 2, 11, 3, [0], 83),
        case("without a special piece", 2, 8, -1, [], 7, edge=True),
        case("in float64", 3, 7, 1, [0, 6], 134, dtype=torch.float64, required=False),
    ]


def _nearest_inputs(g: Generator) -> list[Case]:
    def case(label: str, tags: str, wanted: str, **options: bool) -> Case:
        words = tags.split()
        sizes = {"n": len(words), "found": words.count(wanted)}
        return Case(label, (words, wanted), sizes, **options)

    return [
        case("with several nouns", "DET ADJ NOUN VERB ADP DET NOUN NOUN", "NOUN"),
        case("with a verb at the start", "VERB PRON DET NOUN ADP VERB ADV PRON ADV VERB NOUN", "VERB"),
        case("with two of equal distance", "PRON DET NOUN ADP NOUN DET NOUN CCONJ PRON ADP DET", "DET"),
        case("with one such word", "PRON VERB DET ADJ NOUN ADV", "VERB"),
        case("with one such word at the start", "NOUN VERB DET ADJ ADV", "NOUN"),
        case("without any such word", "PRON VERB DET NOUN", "ADJ", edge=True),
    ]


def _even_inputs(g: Generator) -> list[Case]:
    def case(label: str, h: int, n_q: int, n_k: int, open_to: list[int], **options: object) -> Case:
        dtype = options.pop("dtype", torch.float32)
        scores = draw(g, h, n_q, n_k, dtype=dtype) * torch.linspace(0.5, 2.5, h)[:, None, None].to(dtype)
        hidden = torch.arange(n_k) >= torch.tensor(open_to)[:, None]
        w = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        return Case(label, (w,), {"h": h, "n_q": n_q, "n_k": n_k}, **options)

    return [
        case("with two heads", 2, 4, 7, [7, 7, 7, 7]),
        case("with more rows than keys", 3, 6, 5, [5] * 6),
        case("with weights of 0", 2, 5, 8, [8, 3, 6, 2, 5]),
        case("with a mask like a staircase", 3, 6, 9, [1, 3, 4, 6, 7, 9]),
        case("in float64", 2, 3, 6, [6, 4, 5], dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="offset_score",
        lesson="11",
        title="The score of a head for an offset",
        prompt=(
            "`weights` is `(h, n, n)`, the maps of h heads over pieces. `special` is `(n,)`, `True` where a "
            "piece is one like `[CLS]` or `[SEP]`; they stand at the ends of the text. Take them out, from "
            "the rows and from the columns. Return for each head the share of rows whose largest weight lies "
            "`offset` places away (-1: the piece before), `(h,)`. Rows that have no such place are in no "
            "count."
        ),
        signature="offset_score(weights, offset, special) -> share",
        reference=offset_score,
        inputs=_offset_inputs,
        returns=(Returned("share", ("h",)),),
        mistakes=OFFSET_SCORE_MISTAKES,
        hints=(
            "Two questions a row: is it counted, and does it hit? Special pieces should be in neither.",
            "A boolean index on axis 1 cuts rows, one on axis 2 columns. From then on, n is what is left.",
            (
                "w = the maps without special pieces\ntarget of each row: its own place plus the offset\n"
                "keep the rows whose target is one of the places that are left\n"
                "share of them whose largest weight lies on the target"
            ),
        ),
        why=(
            "A head that parks its weight on [CLS] may still have a clear second choice. Whether special "
            "pieces compete decides which heads are positional, so a score has to say it."
        ),
        special=never(
            Returned("share", ("h",)),
            "Every share is 0: no row that counts ever hits.",
            "what the place of the largest weight is compared with.",
        ),
        readers=(OFFSET_SCORE.read,),
    ),
    Exercise(
        name="nearest_with_tag",
        lesson="11",
        title="A tougher baseline",
        prompt=(
            "`tags` is a list with the part of speech of each word, `wanted` one of them. Return a list: for "
            "each word the index of the nearest other word with that tag. Of two that are equally near take "
            "the one before the word; where there is none, -1."
        ),
        signature="nearest_with_tag(tags, wanted) -> places",
        reference=nearest_with_tag,
        inputs=_nearest_inputs,
        returns=(Returned("list of places", ("n",), kind="numbers"),),
        mistakes=NEAREST_MISTAKES,
        hints=(
            "For each word: which other words have the tag, and which of them has the smallest distance?",
            "`min(places, key=...)` keeps the first of equals, and takes a `default` for an empty list.",
            (
                "for each word i:\n    places = all j with the tag, i itself left out\n"
                "    the place with the smallest |j - i|, the first of equals; -1 if there is no place"
            ),
        ),
        why=(
            "A determiner's noun is mostly the nearest noun. A head that finds it may know no more than "
            "parts of speech."
        ),
        readers=(NEAREST.read,),
    ),
    Exercise(
        name="row_evenness",
        lesson="11",
        title="How broadly a head looks",
        prompt=(
            "`weights` is `(h, n_q, n_k)`. Take the entropy of each row, minus the sum of `a log a`, average "
            "it over the rows, and divide by `log n_k`: `(h,)`, 1 for equal weights, 0 for rows with one "
            "weight of 1. A weight of 0 adds 0."
        ),
        signature="row_evenness(weights) -> evenness",
        reference=row_evenness,
        inputs=_even_inputs,
        returns=(Returned("evenness", ("h",)),),
        mistakes=EVENNESS_MISTAKES,
        hints=(
            "Three steps: a sum along each row, a mean over the rows, one division.",
            "`log(0)` is -inf, and `0 * -inf` is NaN. `torch.xlogy(a, a)` and `torch.where` avoid it.",
            (
                "entropy of a row = -sum over the keys of a * log(a), 0 where a is 0\n"
                "mean over the rows / log(n_k)"
            ),
        ),
        why=(
            "Entropy grows with the length of the text. Divided by its largest value, log n_k, it compares "
            "heads over texts of any length."
        ),
        special=never(
            Returned("evenness", ("h",)),
            "Everything is 0, as if each row had one weight of 1: every term is 0, or the result is cut off.",
            "the logarithms, and `//`.",
        ),
        readers=(EVENNESS.read,),
    ),
)
