"""Exercises of lesson 10: the learning rate, the loss over real words, and three steps of an honest score."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_scores import HELD_OUT_MISTAKES, OFFSET_MISTAKES, SHARE_MISTAKES
from mha_course.exercises.mistakes.of_training import LOSS_MISTAKES, RATE_MISTAKES
from mha_course.exercises.reading.counted_hits import read_shares
from mha_course.exercises.reading.held_out_probes import read_held_out
from mha_course.exercises.reading.loss_probes import read_loss
from mha_course.exercises.reading.rates import read_rates
from mha_course.exercises.reading.smallest import read_fixed_offset

NONE = -100  # no answer is asked for here


def warm_up_rates(steps: int, warm_up: int) -> Tensor:
    """Learning rate of updates 1 .. steps as a share of the largest: (steps,)."""
    number = torch.arange(1, steps + 1)
    rising = number / warm_up
    # From the end of the warm-up to the last update, half a cosine goes from 1 to 0.
    done = (number - warm_up) / (steps - warm_up)
    falling = 0.5 * (1 + torch.cos(math.pi * done))
    return torch.where(number <= warm_up, rising, falling)


def masked_cross_entropy(logits: Tensor, answers: Tensor) -> Tensor:
    """Mean loss over the words with an answer: (b, n, classes), (b, n) -> one number."""
    asked = answers != -100
    log_p = logits[asked].log_softmax(dim=-1)  # (words that are asked, classes)
    right = answers[asked]
    return -log_p[torch.arange(len(right)), right].mean()


def argmax_share(weights: Tensor, targets: Tensor) -> Tensor:
    """Share of words whose largest weight, their own left out, is on the target: (h, n, n), (n,) -> (h,)."""
    n = len(targets)
    # Below every weight, so that the largest is never on the diagonal.
    others = weights.masked_fill(torch.eye(n, dtype=torch.bool), -1.0)
    asked = targets >= 0
    hits = others.argmax(dim=-1)[:, asked] == targets[asked]
    return hits.float().mean(dim=-1)


def best_fixed_offset(targets: Tensor, largest: int) -> int:
    """The distance, 0 left out, that hits the most targets; of equals the nearest: (n,), number -> number."""
    n = len(targets)
    asked = targets >= 0
    # Sorting keeps the order of equals: -1, 1, -2, 2, ...
    offsets = sorted((k for k in range(-largest, largest + 1) if k), key=abs)
    hits = [int((torch.arange(n) + k == targets)[asked].sum()) for k in offsets]
    return offsets[hits.index(max(hits))]


def held_out_score(hits: Tensor, asked: Tensor) -> Tensor:
    """Share of hits on odd sentences of the head with most hits on even ones: (s, h), (s,) -> one number."""
    best = hits[0::2].sum(dim=0).argmax()
    # From here on only sentences that had no say in the choice.
    return hits[1::2, best].sum() / asked[1::2].sum()


def _rate_inputs(g: Generator) -> list[Case]:
    def case(label: str, steps: int, warm_up: int, **options: bool) -> Case:
        return Case(label, (steps, warm_up), {"steps": steps, "warm_up": warm_up}, **options)

    return [
        case("with a short warm-up", 12, 4),
        case("with a long warm-up", 20, 13),
        case("with a warm-up of one step", 9, 1, edge=True),
    ]


def _loss_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, n: int, classes: int, lengths: list[int], **options: object) -> Case:
        dtype = options.pop("dtype", torch.float32)
        logits = draw(g, b, n, classes, spread=2.0, dtype=dtype)
        answers = torch.randint(classes, (b, n), generator=g)
        real = torch.arange(n) < torch.tensor(lengths)[:, None]
        answers = answers.masked_fill(~real, NONE)
        return Case(label, (logits, answers), {"b": b, "n": n, "classes": classes}, **options)

    return [
        case("with three sentences", 3, 6, 7, [6, 4, 2]),
        case("with two sentences", 2, 7, 3, [3, 7]),
        case("without padding", 2, 5, 3, [5, 5], edge=True),
        case("in float64", 2, 5, 6, [5, 3], dtype=torch.float64, required=False),
    ]


def _share_inputs(g: Generator) -> list[Case]:
    def case(label: str, h: int, targets: list[int], **options: object) -> Case:
        n, dtype = len(targets), options.pop("dtype", torch.float32)
        weights = draw(g, h, n, n, spread=0.7, dtype=dtype)
        for head in range(h):
            for row, target in enumerate(targets):
                if target >= 0 and (head + row) % (head + 2) == 0:
                    weights[head, row, target] += 3.0
                if (head + 2 * row) % 3 == 0:
                    weights[head, row, row] += 4.0  # many heads look at the word itself
        return Case(label, (weights.softmax(-1), torch.tensor(targets)), {"h": h, "n": n}, **options)

    return [
        case("with three heads", 3, [2, 2, -1, 2, 6, 4, 4, -1]),
        case("with two heads", 2, [1, 5, -1, 2, 3, -1, 5]),
        case("with a target for every word", 4, [1, 2, 3, 4, 5, 0], edge=True),
        case("in float64", 2, [3, -1, 1, 2, 0], dtype=torch.float64, required=False),
    ]


def _offset_inputs(g: Generator) -> list[Case]:
    def case(label: str, targets: list[int], largest: int, **options: bool) -> Case:
        sizes = {"n": len(targets), "largest": largest}
        return Case(label, (torch.tensor(targets), largest), sizes, **options)

    return [
        case("with targets before and after", [-1, 7, -1, -1, -1, 8, 1, 7, 3, 7], 3),
        case("with one word more", [-1, 0, -1, 3, -1, 5, 8, 2, 6, 6, 5], 3),
        case("with the best distance ahead", [0, 1, 4, -1, -1, 5, 6, 4, -1], 3),
        case("with many targets out of reach", [2, 3, 4, 6, 7, 8, 9, 6, -1, -1, -1, -1], 2),
        case("with the best distance at the edge", [-1, -1, 5, -1, 7, 3, 8, -1, 5, 6, -1], 3),
        case("with equals on both sides", [1, 1, 4, -1, 7, 2, 4, 4, -1], 2),
        case("with targets at the ends", [8, 0, 3, 4, -1, -1, 3, -1, -1], 3),
        case("with two words more", [3, 1, 0, 0, 6, 3, 4, 8, 9, 6, 8, -1], 2),
        case("with distances up to 4", [2, 2, -1, 1, 6, 4, 4, -1, 6, -1, 9, 9], 4, edge=True),
    ]


def _held_inputs(g: Generator) -> list[Case]:
    def case(label: str, sentences: int, heads: int, seed: int, **options: object) -> Case:
        # Seeds for which other ways to pick lead to other heads: few numbers do that by chance.
        drawn, dtype = torch.Generator().manual_seed(seed), options.pop("dtype", torch.float32)
        asked = torch.randint(3, 13, (sentences,), generator=drawn).to(dtype)
        hits = (torch.rand(sentences, heads, generator=drawn) * (asked[:, None] + 1)).floor()
        sizes = {"sentences": sentences, "h": heads}
        return Case(label, (hits.to(dtype), asked), sizes, **options)

    return [
        case("with four heads", 10, 4, 10_276),
        case("with an odd number of sentences", 9, 5, 2_060),
        case("with six heads", 12, 6, 12_652),
        case("with three heads", 8, 3, 500, edge=True),
        case("in float64", 6, 3, 500, dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="warm_up_rates",
        lesson="10",
        title="The learning rate of every update",
        prompt=(
            "Return the learning rate of updates 1 to `steps` as a share of the largest, `(steps,)`. Up to "
            "update "
            "`warm_up`, included, it rises in equal steps and reaches 1. From there half a cosine takes it "
            "down "
            "to 0 at the last update: with a share `done` of the way behind it, it is `(1 + cos(π · done)) "
            "/ 2`."
        ),
        signature="warm_up_rates(steps, warm_up) -> rates",
        reference=warm_up_rates,
        inputs=_rate_inputs,
        returns=(Returned("rates", ("steps",)),),
        mistakes=RATE_MISTAKES,
        hints=(
            "Two pieces: one that rises, one that falls. They meet at update `warm_up`, where both are 1.",
            "`done` is 0 at update `warm_up` and 1 at update `steps`. By what is it divided?",
            (
                "number = 1, 2, ..., steps\nrising = number / warm_up\n"
                "done = (number - warm_up) / (steps - warm_up)\n"
                "rising where number <= warm_up, else (1 + cos(pi * done)) / 2"
            ),
        ),
        why="Early updates are wild, since every weight is random; late ones only have to settle.",
        readers=(read_rates,),
    ),
    Exercise(
        name="masked_cross_entropy",
        lesson="10",
        title="A loss that doesn't count padding",
        prompt=(
            "`logits` is `(b, n, classes)`. `answers` is `(b, n)`: the right class of each word, or -100 "
            "where "
            "nothing is asked. Return the cross-entropy in nats, averaged over the words that are asked, one "
            "number. Write it with `log_softmax` or `exp`, not with `F.cross_entropy`."
        ),
        signature="masked_cross_entropy(logits, answers) -> loss",
        reference=masked_cross_entropy,
        inputs=_loss_inputs,
        returns=(Returned("loss", ()),),
        mistakes=LOSS_MISTAKES,
        hints=(
            "The cross-entropy of one word is minus the logarithm of the probability of its right class.",
            "Pick the words that are asked first: `logits[asked]` is `(words, classes)`. Then the mean is a "
            "plain one.",
            (
                "asked = where answers are not -100\nlog_p = log_softmax of logits[asked] over the classes\n"
                "minus the mean of log_p at the right classes"
            ),
        ),
        twins=(),
        why="Padding has no right answer. Counted, it could be most of the loss of a batch.",
        readers=(read_loss,),
    ),
    Exercise(
        name="argmax_share",
        lesson="10",
        title="The score of a head",
        prompt=(
            "`weights` is `(h, n, n)`, `targets` is `(n,)`: for each word the position it should look at, "
            "or -1 "
            "for none. Return for each head the share of the words with a target whose largest weight lies "
            "on "
            "it, `(h,)`. A word's weight on itself is left out before the largest is taken."
        ),
        signature="argmax_share(weights, targets) -> share",
        reference=argmax_share,
        inputs=_share_inputs,
        returns=(Returned("share", ("h",)),),
        mistakes=SHARE_MISTAKES,
        hints=(
            "Three steps: hide the diagonal, take the position of the largest weight, compare with the "
            "target.",
            "Words without a target neither hit nor miss: they are in no count.",
            (
                "others = weights, -1 on the diagonal\nlook = position of the largest in each row\n"
                "asked = where targets are not -1\nmean over the asked words of (look equals target)"
            ),
        ),
        why="A score of a head is a share of words, so its denominator is the words that were asked.",
        readers=(read_shares,),
    ),
    Exercise(
        name="best_fixed_offset",
        lesson="10",
        title="The rule to beat",
        prompt=(
            "A rule without any head: always look at the word k positions away. `targets` is `(n,)`, -1 "
            "where there "
            "is none. Return the k from `-largest` to `largest`, 0 left out, that hits the most targets, an "
            "`int`. "
            "Of equally good ones take the nearest, and of k and -k the one before the word, -k."
        ),
        signature="best_fixed_offset(targets, largest) -> k",
        reference=best_fixed_offset,
        inputs=_offset_inputs,
        returns=(Returned("k", (), "number"),),
        mistakes=OFFSET_MISTAKES,
        hints=(
            "The distance of a target is its position minus that of the word. Which distance is most "
            "frequent?",
            "Try the distances from the nearest on, and keep the first that is better than all before it.",
            (
                "for k = -1, 1, -2, 2, ... up to largest:\n    count the words with target == position + k\n"
                "return the first k with the highest count"
            ),
        ),
        why="A determiner stands right before its noun half of the time. A head has to beat that.",
        readers=(read_fixed_offset,),
    ),
    Exercise(
        name="held_out_score",
        lesson="10",
        title="Picked here, judged there",
        prompt=(
            "`hits` is `(s, h)`: how often each of `h` heads hit in each of `s` sentences; `asked` is "
            "`(s,)`: how many "
            "words were asked. Pick the head with most hits in sentences 0, 2, 4, ... Return its share of "
            "hits in "
            "sentences 1, 3, 5, ..., one number."
        ),
        signature="held_out_score(hits, asked) -> share",
        reference=held_out_score,
        inputs=_held_inputs,
        returns=(Returned("share", ()),),
        mistakes=HELD_OUT_MISTAKES,
        hints=(
            "Two halves: one only picks, the other only judges.",
            "`hits[0::2]` are the even sentences. Over which axis is the sum that picks a head?",
            (
                "best = head with the largest sum of hits over even sentences\n"
                "sum of its hits over odd sentences / sum of asked over odd sentences"
            ),
        ),
        why="The best of many heads is lucky as well as good. On other sentences the luck is gone.",
        readers=(read_held_out,),
    ),
)
