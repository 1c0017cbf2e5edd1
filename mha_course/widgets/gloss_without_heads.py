"""GlossWithoutHeads: switch heads of the course model off and watch the gloss of a sentence change."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cache

import traitlets

from mha_course.heads.ablation import Head, all_heads, random_groups, without_heads
from mha_course.models.course_models import load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.models.glossing import held_out_sentences, in_letters, right_gloss, write_gloss
from mha_course.text.course_language.gloss import PARTS, Gloss
from mha_course.text.tokens import tokenize
from mha_course.training.gloss_without_heads import accuracy_without, held_out_glosses, role_groups
from mha_course.widgets.base import CourseWidget, Text

__all__ = ["GlossWithoutHeads"]

MAX_TOKENS = 24
MAX_CHARACTERS = 2_000
SENTENCES = 200
RANDOM_GROUPS = 3
LENGTHS = range(9, 14)  # words of the sentences that are offered
# How the roles are named where their mark and colour are known (js/live_chart.js).
ROLES = {"previous word": "previous", "next word": "next", "syntax": "syntactic", "rarest word": "rarest"}


class GlossWithoutHeads(CourseWidget):
    """The gloss of a sentence in its four parts without some heads, beside the accuracy that is left.

    sentence: at most 24 words and marks are read, in small letters; None takes a sentence of the grammar that
    no model was trained on. Only such sentences have a right gloss to compare with. removed: heads that are
    off at first, (layer, head) from 1. against, a trait: whether random groups of as many other heads are
    tried as well. seed: of the random groups.

    The widget works on a copy of the model. Accuracies are those on 200 held-out sentences, over all words.
    Raises: ValueError for a head that the model doesn't have; FileNotFoundError when data/ is missing.
    """

    js = ("token_labels.js", "live_chart.js", "gloss_cards.js", "gloss_meters.js", "gloss_without_heads.js")
    css = ("live_training.css", "gloss_meters.css", "gloss_without_heads.css")
    root = "mha-without"
    settings = ("sentence", "removed", "against")

    sentence = Text("").tag(sync=True, echo_update=False)
    removed = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True, echo_update=False)
    against = traitlets.Bool(False).tag(sync=True, echo_update=False)
    heads = traitlets.List().tag(sync=True)
    groups = traitlets.Dict().tag(sync=True)
    examples = traitlets.List().tag(sync=True)
    seed = traitlets.Int(0).tag(sync=True)

    def __init__(
        self, sentence: str | None = None, removed: Sequence[Head] = (), against: bool = False, seed: int = 0
    ) -> None:
        self._model: GlossModel = copy.deepcopy(load_course_model())
        self._found: dict[tuple[Head, ...], dict[str, float]] = {}
        known = all_heads(self._model)
        wanted = sorted({(int(layer), int(head)) for layer, head in removed})
        if missing := [head for head in wanted if head not in known]:
            last = known[-1]
            raise ValueError(
                f"removed={missing[0]}: the model has {last[0]} layers of {last[1]} heads, from 1."
            )
        groups = role_groups()
        role_of = {head: ROLES[role] for role, heads in groups.items() for head in heads}
        super().__init__(
            sentence=examples()[0] if sentence is None else str(sentence),
            removed=[list(head) for head in wanted],
            against=bool(against),
            heads=[{"layer": layer, "head": i, "role": role_of.get((layer, i))} for layer, i in known],
            groups={ROLES[role]: [list(head) for head in heads] for role, heads in groups.items()},
            examples=list(examples()),
            seed=int(seed),
        )

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Each word's parts with all heads and without some, the right ones, and shares of right answers."""
        off, (words, found) = self._off(), self._read()
        header = {
            "words": words,
            "unknown": [i for i, word in enumerate(words) if word not in self._model.vocabulary],
            "cut": found if found > len(words) else 0,
            "most": MAX_TOKENS,
            "off": [list(head) for head in off],
            "whole": self._accuracy(()),
            "left": self._accuracy(off),
            "random": self._random(off) if self.against and off else None,
            "sentences": SENTENCES,
            "cards": [],
            "gold": False,
        }
        if words:
            gold = right_gloss(words)
            before = write_gloss(self._model, words)
            with without_heads(self._model, off):
                after = write_gloss(self._model, words)
            header |= {"cards": cards(before, after, gold, len(words)), "gold": gold is not None}
        self.alt = self._in_words(header)
        return header, b""

    def still_png(self) -> bytes | None:
        """Right answers by part without the heads that are off; the ticks are those with all heads."""
        from mha_course.plots import bars

        whole, left = self.answer["whole"], self.answer["left"]
        return bars(
            PARTS,
            [left[part] for part in PARTS],
            title=f"Right answers without {self._named() or 'any head missing'}",
            y_label="share of words",
            note=f"{SENTENCES} held-out sentences.",
            baseline=[whole[part] for part in PARTS],
            baseline_label="all heads",
            high=1,
        ).png()

    def _off(self) -> tuple[Head, ...]:
        known = set(all_heads(self._model))
        return tuple(sorted({tuple(pair) for pair in self.removed} & known))

    def _accuracy(self, off: tuple[Head, ...]) -> dict[str, float]:
        """Shares of right answers by part on held-out sentences, computed once for each group of heads."""
        if off not in self._found:
            self._found[off] = accuracy_without(off, held_out_glosses(SENTENCES), self._model)
        return self._found[off]

    def _random(self, off: tuple[Head, ...]) -> dict[str, object]:
        """What random groups of as many heads leave, other heads than these where there are enough."""
        others = len(all_heads(self._model)) - len(off) >= len(off)
        groups = random_groups(self._model, len(off), RANDOM_GROUPS, self.seed, but_not=off if others else ())
        found = [self._accuracy(group) for group in groups]
        return {
            "groups": len(groups),
            "mean": {part: sum(one[part] for one in found) / len(found) for part in PARTS},
            "least": {part: min(one[part] for one in found) for part in PARTS},
        }

    def _read(self) -> tuple[list[str], int]:
        tokens = [token.lower() for token in tokenize(self.sentence[:MAX_CHARACTERS])]
        return tokens[:MAX_TOKENS], len(tokens)

    def _named(self) -> str:
        return ", ".join(f"layer {layer} head {head}" for layer, head in self._off())

    def _in_words(self, header: Mapping[str, object]) -> str:
        parts = ", ".join(f"{part} {share:.2f}" for part, share in header["left"].items())
        right = f"Right answers on {SENTENCES} sentences: {parts}."
        if not header["words"]:
            return f"Gloss without a sentence. {right}"
        changed = sum(any(one[0] != one[1] for one in card.values()) for card in header["cards"])
        off = self._named() or "no head"
        return (
            f"Gloss of “{' '.join(header['words'])}” with {off} switched off: {changed} of "
            f"{len(header['words'])} words changed. {right}"
        )


def cards(before: Gloss, after: Gloss, gold: Gloss | None, n: int) -> list[dict[str, list[str | None]]]:
    """For each word, by part and for the whole word: with all heads, without some, and right (or None)."""
    spelled = [
        [in_letters(one, i) if one is not None else None for one in (before, after, gold)] for i in range(n)
    ]
    return [
        {name: [None if one is None else one[name] for one in word] for name in (*PARTS, "word")}
        for word in spelled
    ]


@cache
def examples() -> tuple[str, ...]:
    """Held-out sentences of a length that fits the view, as text."""
    fitting = [words for words in held_out_sentences() if len(words) in LENGTHS]
    return tuple(" ".join(words) for words in fitting[:12])
