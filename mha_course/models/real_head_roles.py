"""What was measured of the heads of a real pretrained model: data/real_heads/roles.json.

Made by `python -m mha_course.models.measure_real_heads`; numbers only, no sentence of the treebank.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from mha_course.data_files import data_path
from mha_course.heads.head_table import HeadTable
from mha_course.heads.resemblance import LayersDiffer, Resemblance

FILE = "real_heads/roles.json"
# The relations over which (head, relation) pairs are counted, in both directions: those of table 1 of
# Clark et al. 2019 as UD names them, without possessives and particles, with obl, nmod and conj.
COUNTED_RELATIONS = (
    *("nsubj", "obj", "ccomp", "obl", "nmod", "amod", "advmod"),
    *("det", "case", "aux", "mark", "compound", "conj"),
)

FEWEST_KEPT = 20  # questions below which a measure is not written


@dataclass(frozen=True, eq=False)
class RealHeadRoles:
    """The roles of a real model's heads, by each choice, and what else was measured.

    table: the word itself left out, special tokens dropped. self_allowed, special_allowed: over words when
    the word itself may answer, and when a special token may win (then neighbours are over pieces, likewise).
    habits, control_habits: for each habit (layers, heads) means, see heads/habits.py. resemblance: of all
    pairs of heads; layers_differ: its test. rare_by_sum, rare_by_mean: the best share of "rarest word" over
    words by an untrained model, with the weights to a word's pieces summed and averaged. words, pieces: how
    many there were.
    """

    table: HeadTable
    self_allowed: HeadTable
    special_allowed: HeadTable
    habits: Mapping[str, Tensor]
    control_habits: Mapping[str, Tensor]
    resemblance: Resemblance
    layers_differ: LayersDiffer
    rare_by_sum: float
    rare_by_mean: float
    words: int
    pieces: int

    def pairs(self, counted: tuple[str, ...] | None = COUNTED_RELATIONS) -> dict[str, int]:
        """How many (head, relation) pairs pass, by choice. counted: these relations; None for all."""
        tables = {
            "the word itself left out": self.table,
            "the word itself allowed": self.self_allowed,
            "special tokens may win": self.special_allowed,
        }
        return {choice: len(table.pairs(counted)) for choice, table in tables.items()}

    def file_form(self) -> dict[str, object]:
        """As lists and numbers, for a JSON file."""
        return {
            "table": self.table.file_form(),
            "self_allowed": self.self_allowed.file_form(),
            "special_allowed": self.special_allowed.file_form(),
            "habits": {name: _rounded(values) for name, values in self.habits.items()},
            "control_habits": {name: _rounded(values) for name, values in self.control_habits.items()},
            "resemblance": {
                "matrix": _rounded(self.resemblance.matrix, 4),
                "layers": self.resemblance.layers,
                "heads": self.resemblance.heads,
                "rows": self.resemblance.rows,
                "within": round(self.layers_differ.within, 4),
                "between": round(self.layers_differ.between, 4),
                "p": round(self.layers_differ.p, 5),
            },
            "rare_by_sum": _share(self.rare_by_sum),
            "rare_by_mean": _share(self.rare_by_mean),
            "words": self.words,
            "pieces": self.pieces,
        }

    @classmethod
    def from_file_form(cls, form: Mapping[str, object]) -> RealHeadRoles:
        """What `file_form` gave. Raises: KeyError when something is missing."""
        alike = form["resemblance"]
        return cls(
            *(HeadTable.from_file_form(form[name]) for name in ("table", "self_allowed", "special_allowed")),
            *({k: torch.tensor(v) for k, v in form[name].items()} for name in ("habits", "control_habits")),
            Resemblance(torch.tensor(alike["matrix"]), alike["layers"], alike["heads"], alike["rows"]),
            LayersDiffer(alike["within"], alike["between"], alike["p"]),
            *(float("nan") if form[k] is None else form[k] for k in ("rare_by_sum", "rare_by_mean")),
            *(form[name] for name in ("words", "pieces")),
        )


@lru_cache(maxsize=1)
def real_head_roles() -> RealHeadRoles:
    """The roles of the heads of all-MiniLM-L6-v2, measured on 1,000 sentences of UD English-EWT.

    Raises: FileNotFoundError when data/ is missing.
    """
    return read_roles(data_path(FILE))


def read_roles(path: Path) -> RealHeadRoles:
    """Read what `write_roles` wrote."""
    return RealHeadRoles.from_file_form(json.loads(path.read_text(encoding="utf-8")))


def write_roles(roles: RealHeadRoles, path: Path) -> None:
    """Write everything as JSON."""
    form = roles.file_form()
    for name in ("table", "self_allowed", "special_allowed"):
        # What was hardly ever asked says nothing, and there is a lot of it.
        form[name]["measures"] = [m for m in form[name]["measures"] if m["total_asked"] >= FEWEST_KEPT]
    text = json.dumps(form, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A line a measure, so that a change can be seen in the history.
    path.write_text(text.replace('{"name":', '\n{"name":') + "\n", encoding="utf-8")


def _rounded(values: Tensor, places: int = 4) -> list:
    return [[round(number, places) for number in row] for row in values.tolist()]


def _share(number: float) -> float | None:
    """Three places; None for nan, which JSON doesn't know."""
    return None if number != number else round(number, 3)
