"""Which probe tells which fault, for the suspects that were found; and how few probes tell them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from mha_course import progress_bugs
from mha_course.bug_hunt.faults import fault_of, suspects
from mha_course.bug_hunt.measured_once import findings_of, findings_of_the_sound_layer
from mha_course.bug_hunt.probing import all_probes


@dataclass(frozen=True)
class Overview:
    """For each suspect that was found, the probes that tell; and the fewest that suffice.

    rows: number -> keys of probes. fewest: keys of a smallest set in which every row has at least one.
    """

    rows: Mapping[int, tuple[str, ...]]
    fewest: tuple[str, ...]

    def sentence(self) -> str:
        """What there is to learn from it."""
        if not self.rows:
            return "No suspect was found yet: the overview grows with every one."
        titles = [f"“{all_probes()[key].title}”" for key in self.fewest]
        listed = titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"
        if len(self.rows) == 1:
            return f"One suspect found. {listed} is enough to see that something is wrong with it."
        verb = "is" if len(titles) == 1 else "are"
        each = "each of them" if len(self.rows) > 2 else "both"
        found = f"{len(self.rows)} of {len(suspects())} suspects found."
        return f"{found} {listed} {verb} enough to see that something is wrong with {each}."

    def __repr__(self) -> str:
        keys = list(all_probes())
        lines = [self.sentence()]
        for number, told in self.rows.items():
            marks = ", ".join(key for key in keys if key in told)
            lines.append(f"{number:2d}  {fault_of(number).title}: {marks}".replace("`", ""))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from mha_course.bug_hunt.showing import overview_html

        return overview_html(self)


def overview() -> Overview:
    """Which probes tell which of the suspects that were found; those still at large are left out."""
    found = [number for number in progress_bugs.found_bugs() if number in suspects()]
    rows = {number: telling(number) for number in found}
    return Overview(rows, fewest_for(rows))


def telling(number: int) -> tuple[str, ...]:
    """The probes whose finding on a suspect differs from that on the sound layer."""
    sound = findings_of_the_sound_layer()
    return tuple(key for key, finding in findings_of(number).items() if finding.apart(sound[key]))


def fewest_for(rows: Mapping[int, tuple[str, ...]]) -> tuple[str, ...]:
    """A smallest set of probes with at least one from each row; the first in the order of the probes."""
    keys = list(all_probes())
    for size in range(len(keys) + 1):
        for chosen in combinations(keys, size):
            if all(set(chosen) & set(told) for told in rows.values()):
                return chosen
    raise ValueError("A row without any probe can't be told by one.")
