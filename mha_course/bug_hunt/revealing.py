"""The lines that are wrong, beside the sound ones; open once a suspect was found, or to who insists."""

from __future__ import annotations

import difflib
import inspect
import textwrap
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType

from mha_course import progress_bugs
from mha_course.bug_hunt.faults import fault_of
from mha_course.bug_hunt.sound_layer import SoundLayer
from mha_course.bug_hunt.suspect import check_suspect

Line = tuple[str, bool]


@dataclass(frozen=True)
class Step:
    """One step: its lines in the sound layer and in the suspect, each with whether it differs."""

    name: str
    sound: tuple[Line, ...]
    suspect: tuple[Line, ...]


@dataclass(frozen=True)
class Revealed:
    """What is wrong with a suspect, in code; without steps while it is closed."""

    number: int
    title: str
    says: str
    steps: tuple[Step, ...] = ()

    def __repr__(self) -> str:
        parts = [f"{self.title}\n{self.says}".replace("`", "")]
        for step in self.steps:
            for who, lines in (("sound", step.sound), (f"suspect {self.number}", step.suspect)):
                if lines:
                    parts.append(
                        f"{who}:\n" + "\n".join(f"{'>' if new else ' '} {text}" for text, new in lines)
                    )
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        from mha_course.bug_hunt.showing import revealed_html

        return revealed_html(self)


def reveal(number: int, insist: bool = False) -> Revealed:
    """The broken lines of a suspect beside the sound ones, once its fault was named rightly.

    insist: show them before that, too; that is noted. Raises: ValueError for a number that no suspect has.
    """
    check_suspect(number)
    number = int(number)
    if number not in progress_bugs.found_bugs():
        if not insist:
            return Revealed(
                number,
                f"Suspect {number} opens once you have named its fault",
                f"Measure, compare, and try `name_bug({number}, ...)`; a wrong name is answered by a "
                f"measurement. To see the lines all the same: `reveal({number}, insist=True)`.",
            )
        progress_bugs.note_shown(number)
    fault = fault_of(number)
    title = fault.title[:1].upper() + fault.title[1:]
    return Revealed(number, f"Suspect {number}: {title}", f"{fault.explains} {fault.mend}", steps_of(number))


@lru_cache
def steps_of(number: int) -> tuple[Step, ...]:
    """The steps in which a suspect differs from the sound layer, as they stand in the package."""
    steps = []
    for name, function in vars(fault_of(number).layer).items():
        if isinstance(function, FunctionType):
            steps.append(_step(name, _lines(getattr(SoundLayer, name, None)), _lines(function)))
    return tuple(steps)


def _step(name: str, sound: list[str], broken: list[str]) -> Step:
    same_left, same_right = set(), set()
    for block in difflib.SequenceMatcher(None, sound, broken, autojunk=False).get_matching_blocks():
        same_left |= set(range(block.a, block.a + block.size))
        same_right |= set(range(block.b, block.b + block.size))
    return Step(
        name,
        tuple((line, i not in same_left) for i, line in enumerate(sound)),
        tuple((line, i not in same_right) for i, line in enumerate(broken)),
    )


def _lines(function: FunctionType | None) -> list[str]:
    return [] if function is None else textwrap.dedent(inspect.getsource(function)).rstrip().splitlines()
