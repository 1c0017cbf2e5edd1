"""What a probe measures on a layer, and that beside the sound layer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mha_course.plots import Picture, matrices

Value = float | str
# Rounding moves what is measured by 1e-6, in half precision by 1e-3. A fault moves it by far more than this.
_CLEAR = 0.02


@dataclass(frozen=True)
class Table:
    """A small table of numbers from 0 on to be drawn in shades; nan stays nan.

    rows, columns: what the axes are, such as "query ↓". blocked: cells (row, column) that a mask forbids.
    row_labels, column_labels: one a line; left out, tokens count from 0 and all else from 1.
    """

    title: str
    values: tuple[tuple[float, ...], ...]
    rows: str
    columns: str
    blocked: frozenset[tuple[int, int]] = frozenset()
    row_labels: tuple[str, ...] = ()
    column_labels: tuple[str, ...] = ()

    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of rows and columns: those given, else counted."""
        first = 0 if self.rows.startswith(("query", "changed token")) else 1
        counted = [tuple(str(i + first) for i in range(n)) for n in (len(self.values), len(self.values[0]))]
        return self.row_labels or counted[0], self.column_labels or counted[1]


@dataclass(frozen=True)
class Finding:
    """What a probe found: a sentence, the measures in it by name, and a table that shows them, or None."""

    sentence: str
    measures: Mapping[str, Value] = field(default_factory=dict)
    table: Table | None = None

    def apart(self, other: Finding) -> list[str]:
        """The measures in which two findings differ by more than rounding, or that only one of them has."""
        return list(self.gaps(other))

    def gaps(self, other: Finding) -> dict[str, float]:
        """How far apart those measures are, as a share of the larger; 1 for what is no number."""
        names = [*self.measures, *(name for name in other.measures if name not in self.measures)]
        found = {name: _gap(self.measures.get(name), other.measures.get(name)) for name in names}
        return {name: gap for name, gap in found.items() if gap > 0}


@dataclass(frozen=True, eq=False)
class Measured:
    """One probe on a layer, with the sound layer of the same weights beside it.

    probe: its key; title: its name; who: the layer's name. suspect, sound: the two findings.
    """

    probe: str
    title: str
    who: str
    suspect: Finding
    sound: Finding

    def apart(self) -> list[str]:
        """The measures in which the layer differs clearly from the sound one."""
        return self.suspect.apart(self.sound)

    def rows(self) -> list[tuple[str, str, str, bool]] | None:
        """Each measure: its name, the layer's value, the sound one's, whether they differ.

        None where the two have other measures, because the layer stops with an error, for instance.
        """
        mine, sound = self.suspect.measures, self.sound.measures
        if mine.keys() != sound.keys():
            return None
        apart = set(self.apart())
        return [(name, number(mine[name]), number(sound[name]), name in apart) for name in mine]

    def plot(self) -> Picture:
        """Both tables, the sound layer's and this one's, on one scale.

        Raises: ValueError for a probe that measures single numbers only.
        """
        tables = {"sound": self.sound.table, self.who.lower(): self.suspect.table}
        shown = {name: table for name, table in tables.items() if table is not None}
        if not shown:
            raise ValueError(f"The probe {self.probe!r} measures single numbers: there is no table to draw.")
        first = next(iter(shown.values()))
        rows, columns = first.labels()
        return matrices(
            {name: _hatched(table) for name, table in shown.items()},
            title=self.title,
            note=f"{first.title}. {first.rows}   {first.columns}",
            row_labels=rows,
            column_labels=columns,
        )

    def __repr__(self) -> str:
        width = max(len(self.who), len("sound"))
        lines = [(self.who, self.suspect), ("sound", self.sound)]
        said = [f"{name:<{width}}  {finding.sentence}" for name, finding in lines]
        return "\n".join([self.title, *said]).replace("`", "")

    def _repr_html_(self) -> str:
        from mha_course.bug_hunt.showing import measured_html

        return measured_html(self)


def number(value: Value) -> str:
    """A measure as it reads in a sentence: 0 for what is rounding, two decimals, a true minus."""
    if isinstance(value, str):
        return value
    value = float(value)
    if not math.isfinite(value):
        return str(value).replace("-", "−")
    if abs(value) < 5e-4:
        return "0"
    if round(value, 4).is_integer():
        return f"{value:.0f}".replace("-", "−")
    text = f"{value:.2f}" if abs(value) >= 0.0095 else f"{value:.1g}"
    return text.replace("-", "−")


def _hatched(table: Table) -> list[list[float]]:
    """The numbers, with −∞ for a blocked cell without weight: pictures hatch that."""
    return [
        [float("-inf") if (r, c) in table.blocked and value == 0 else value for c, value in enumerate(row)]
        for r, row in enumerate(table.values)
    ]


def rows_of(values: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    """Lists of numbers as a table holds them."""
    return tuple(tuple(float(v) for v in row) for row in values)


def _gap(a: Value | None, b: Value | None) -> float:
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        return float(a != b)
    if not (math.isfinite(a) and math.isfinite(b)):
        return float(str(a) != str(b))
    size = max(abs(a), abs(b))
    return min(1.0, abs(a - b) / size) if abs(a - b) > _CLEAR + _CLEAR * size else 0.0
