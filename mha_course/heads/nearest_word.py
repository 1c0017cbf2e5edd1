"""A tougher baseline for a relation: look at the nearest word of the right part of speech.

A head that beats every fixed offset may still know no more than "the next noun". This rule knows the parts
of speech, which no head is told, but neither the tree nor the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.heads.criteria import Criterion, questions
from mha_course.text.parsed_sentence import ParsedSentence

SIDES = ("before", "after", "nearer")
MOST_CLASSES = 3
_FAR = 1_000_000


@dataclass(frozen=True)
class NearestWord:
    """What the rule hits for one relation in one direction.

    upos: the parts of speech that it looks for. side: "before" the word, "after" it, or the "nearer" one
    (of two that are equally near, the one before). held: share of hits on the sentences that judge; total:
    on all. asked: questions on the sentences that judge.
    """

    name: str
    upos: tuple[str, ...]
    side: str
    held: float
    total: float
    asked: int

    def __str__(self) -> str:
        where = {"before": "before it", "after": "behind it", "nearer": "on either side"}[self.side]
        return f"nearest {' or '.join(self.upos)} {where}: {self.held:.2f}"


def nearest_words(
    sentences: Sequence[ParsedSentence], criteria: Sequence[Criterion]
) -> dict[str, NearestWord]:
    """The rule at its best for each syntactic criterion, by the criterion's name.

    It looks for the one, two or three most frequent parts of speech of the targets, on one side or both;
    which of these nine ways is best is decided on the sentences at even places, as heads are.
    """
    classes = sorted({pos for sentence in sentences for pos in sentence.upos})
    syntactic = [criterion for criterion in criteria if criterion.kind == "syntactic"]
    asked = [questions(sentence, syntactic, None) for sentence in sentences]
    codes = [torch.tensor([classes.index(pos) for pos in sentence.upos]) for sentence in sentences]
    seen = torch.zeros(len(syntactic), len(classes))
    for questions_, code in list(zip(asked, codes, strict=True))[::2]:
        of_class = torch.nn.functional.one_hot(code, len(classes)).float()
        seen.index_add_(0, questions_.criterion, questions_.targets.float() @ of_class)
    most = min(MOST_CLASSES, len(classes))
    ranked = seen.argsort(descending=True)
    wanted = torch.zeros(len(syntactic), most, len(classes), dtype=torch.bool)
    for k in range(most):
        wanted[:, k:, :].scatter_(2, ranked[:, k][:, None, None].expand(-1, most - k, 1), True)
    halves = torch.zeros(2, len(syntactic), most, len(SIDES))
    counts = torch.zeros(2, len(syntactic))
    for i, (questions_, code) in enumerate(zip(asked, codes, strict=True)):
        hit = _hits(code, questions_.row, questions_.targets, wanted[questions_.criterion])
        halves[i % 2].index_add_(0, questions_.criterion, hit.float())
        counts[i % 2] += torch.bincount(questions_.criterion, minlength=len(syntactic))
    found = {}
    for c, criterion in enumerate(syntactic):
        classes_of, side = divmod(int(halves[0, c].argmax()), len(SIDES))
        upos = tuple(classes[j] for j in ranked[c, : classes_of + 1].tolist() if seen[c, j] > 0)
        hits, of = halves[:, c, classes_of, side], counts[:, c]
        held = float(hits[1] / of[1]) if of[1] else float("nan")
        total = float(hits.sum() / of.sum()) if of.sum() else float("nan")
        found[criterion.name] = NearestWord(criterion.name, upos, SIDES[side], held, total, int(of[1]))
    return found


def _hits(code: Tensor, row: Tensor, targets: Tensor, wanted: Tensor) -> Tensor:
    """(m, most, 3) bool: whether the nearest wanted word before, after or on either side is a target.

    code: (n,) part of speech of each word. row: (m,). targets: (m, n). wanted: (m, most, classes).
    """
    distance = torch.arange(len(code)) - row[:, None]  # (m, n)
    able = wanted[:, :, code]  # (m, most, n)
    before = torch.where(able & (distance < 0)[:, None], -distance[:, None], _FAR).min(-1)
    after = torch.where(able & (distance > 0)[:, None], distance[:, None], _FAR).min(-1)
    nearer = torch.where(before.values <= after.values, before.indices, after.indices)
    reach = torch.minimum(before.values, after.values)
    places = torch.stack([before.indices, after.indices, nearer], -1)
    there = torch.stack([before.values, after.values, reach], -1) < _FAR
    return targets.gather(1, places.flatten(1)).reshape(places.shape) & there
