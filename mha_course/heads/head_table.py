"""HeadTable: for every head and every role one number, beside all that it has to be seen beside.

What a map of the heads shows. Built from scores with `head_table` (see `table_of_scores.py`) or read
from a file with `HeadTable.from_file_form`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from mha_course.heads.criteria import NEXT, PREVIOUS, RAREST
from mha_course.heads.habits import BROAD, SPECIAL
from mha_course.heads.measured import (
    BROAD_SHARE,
    RARE_SHARE,
    SPECIAL_SHARE,
    HeadScore,
    Measured,
    read,
    score_of,
    written,
)
from mha_course.heads.roles import FEWEST_ASKED, POSITIONAL_SHARE, SYNTACTIC_GAIN

# Whoever finds the punctuation of a sentence has not found its syntax.
NO_SYNTAX = frozenset({"punct"})


@dataclass(frozen=True, eq=False)
class HeadRole:
    """One row of sliders in the map: a role, a number for every head, and where the threshold starts.

    key: "previous", "next", "syntactic", "rare", "special" or "broad". badge: a sign of one to four
    characters. unit: "share" (0 to 1), or "points": share above the best fixed offset, -1 to 1. threshold:
    where the slider starts; a head has the role when its value is at least that. values, low, high:
    (layers, heads), nan where too little was asked. control: (layers, heads) of an untrained model, or None.
    baseline: of the simple rule named in `rule`, in the same unit; nan without one. of: for each layer and
    head the question that the value is about. asked: (layers, heads), how often it came up.
    """

    key: str
    badge: str
    name: str
    unit: str
    threshold: float
    values: Tensor
    low: Tensor
    high: Tensor
    control: Tensor | None
    baseline: float
    rule: str
    of: tuple[tuple[Measured, ...], ...]
    asked: Tensor

    def having(self, threshold: float | None = None) -> Tensor:
        """(layers, heads) bool: which heads have the role at this threshold."""
        return self.values >= (self.threshold if threshold is None else threshold)


@dataclass(frozen=True, eq=False)
class HeadTable:
    """Everything measured about the heads of a model.

    model: its name. source: of the sentences, with their licence. sentences: how many. note: which choices
    were made about special tokens, the word itself and pieces. measures: one a question.
    """

    model: str
    source: str
    sentences: int
    note: str
    measures: tuple[Measured, ...]

    def __post_init__(self) -> None:
        if not self.measures:
            raise ValueError("a table needs at least one measure.")

    @property
    def n_layers(self) -> int:
        return self.measures[0].values.shape[0]

    @property
    def n_heads(self) -> int:
        return self.measures[0].values.shape[1]

    def measure(self, name: str) -> Measured:
        """The measure of this name. Raises: ValueError with the names there are."""
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise ValueError(f"nothing was measured by the name {name!r}; there are {', '.join(self.names())}.")

    def names(self) -> tuple[str, ...]:
        """The names of all measures."""
        return tuple(measure.name for measure in self.measures)

    def roles(self) -> tuple[HeadRole, ...]:
        """The roles of the map, in its order; those that were not measured are left out."""
        known = {measure.name: measure for measure in self.measures}
        rows = (
            ("previous", "−1", "previous token", POSITIONAL_SHARE, known.get(PREVIOUS)),
            ("next", "+1", "next token", POSITIONAL_SHARE, known.get(NEXT)),
            ("rare", "rare", "rare word", RARE_SHARE, known.get(RAREST)),
            ("special", "[ ]", "special token", SPECIAL_SHARE, known.get(SPECIAL)),
            ("broad", "~", "broad", BROAD_SHARE, known.get(BROAD)),
        )
        found = [_simple_role(*row) for row in rows if row[-1] is not None]
        syntactic = self._syntactic()
        if syntactic is not None:
            found.insert(sum(role.key in ("previous", "next") for role in found), syntactic)
        return tuple(found)

    def of_head(self, layer: int, head: int, kind: str = "syntactic") -> list[HeadScore]:
        """The scores of one head, counted from 1, those first that lie most above their baseline.

        Raises: ValueError for a head that isn't there.
        """
        if not (1 <= layer <= self.n_layers and 1 <= head <= self.n_heads):
            raise ValueError(f"no head {head} in layer {layer}: {self.n_layers} layers of {self.n_heads}.")
        scores = [score_of(measure, layer, head) for measure in self.measures if measure.kind == kind]
        return sorted(scores, key=lambda score: (score.verdict == "too few", -score.gain))

    def best(self, name: str) -> HeadScore:
        """The head that is best at one question, picked on one half of the sentences, judged on the other."""
        picked = self.measure(name).picked.nan_to_num(-1.0)
        layer, head = divmod(int(picked.argmax()), self.n_heads)
        return score_of(self.measure(name), layer + 1, head + 1)

    def pairs(self, relations: Sequence[str] | None = None) -> list[HeadScore]:
        """All heads and relations ten points above the best offset on the sentences that judge.

        relations: None means all that were asked often enough. A looser count than the verdict of a
        HeadScore, which wants the same of all sentences too.
        """
        found = []
        for measure in self.measures:
            counts = relations is None or measure.relation in relations
            if measure.kind != "syntactic" or not counts or measure.asked < FEWEST_ASKED:
                continue
            passing = (measure.gain >= SYNTACTIC_GAIN).nonzero().tolist()
            found += [score_of(measure, layer + 1, head + 1) for layer, head in passing]
        return found

    def _syntactic(self) -> HeadRole | None:
        """For each head the relation that it is best at on the sentences that pick.

        Rare relations are left out: with many of them and few questions each, any head is good at one.
        """
        fewest = max(FEWEST_ASKED, self.sentences // 10)
        able = [
            m
            for m in self.measures
            if m.kind == "syntactic" and m.relation not in NO_SYNTAX and m.asked >= fewest
        ]
        if not able:
            return None
        picked = torch.stack([m.picked - m.total_baseline for m in able]).nan_to_num(-1.0)
        which = picked.argmax(0)
        chosen = tuple(tuple(able[i] for i in row) for row in which.tolist())

        def taken(values: list[Tensor]) -> Tensor:
            return torch.stack(values).gather(0, which[None])[0]

        control = None
        if all(m.control is not None for m in able):
            # The best relation of each untrained head, so that the control may choose as well.
            control = torch.stack([m.control - m.baseline for m in able]).amax(0)
        return HeadRole(
            *("syntactic", "dep", "syntactic", "points", SYNTACTIC_GAIN),
            taken([m.gain for m in able]),
            taken([m.low - m.baseline for m in able]),
            taken([m.high - m.baseline for m in able]),
            control,
            0.0,
            "best fixed offset",
            chosen,
            taken([torch.full(m.values.shape, m.asked) for m in able]),
        )

    def file_form(self) -> dict[str, object]:
        """The table as lists and numbers for a JSON file, rounded to five places."""
        whole = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "measures"}
        return {**whole, "measures": [written(measure) for measure in self.measures]}

    @classmethod
    def from_file_form(cls, form: Mapping[str, object]) -> HeadTable:
        """The table that `file_form` wrote. Raises: KeyError when something is missing."""
        names = [f.name for f in fields(cls) if f.name != "measures"]
        return cls(**{name: form[name] for name in names}, measures=tuple(map(read, form["measures"])))


def _simple_role(key: str, badge: str, name: str, threshold: float, measure: Measured) -> HeadRole:
    layers, heads = measure.values.shape
    return HeadRole(
        *(key, badge, name, "share", threshold, measure.values, measure.low, measure.high),
        *(measure.control, measure.baseline, measure.rule),
        ((measure,) * heads,) * layers,
        torch.full((layers, heads), measure.asked),
    )
