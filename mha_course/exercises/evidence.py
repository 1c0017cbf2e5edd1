"""Everything that is known about one answer, and what is found out from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mha_course.exercises.exercise import Case, Exercise
from mha_course.exercises.outcome import Outcome


@dataclass(frozen=True)
class Finding:
    """A diagnosis with its words: what is wrong, one entry that shows it, and where to look."""

    id: str
    says: str
    witness: str = ""
    look: str = ""


@dataclass(frozen=True)
class Evidence:
    """All calls of one answer: cases, what was expected, what came, which are right, and which count."""

    exercise: Exercise
    cases: Sequence[Case]
    expected: Sequence[Outcome]
    got: Sequence[Outcome]
    right: Sequence[bool]
    counts: Sequence[bool]

    def passes(self) -> bool:
        """Right in every case that counts, and in one of the groups of which one is enough."""
        one_of = self.exercise.one_of
        judged = zip(self._judged(), self.counts, strict=True)
        if not all(ok for (case, ok), counts in judged if counts and case.label not in one_of):
            return False
        if not one_of:
            return True
        # In a group that is not needed an answer may stop; wrong numbers in the right shape stay wrong.
        misled = any(
            case.label in one_of and not ok and self._looks_right(i)
            for i, (case, ok) in enumerate(self._judged())
        )
        whole = any(all(ok for case, ok in self._judged() if case.label == label) for label in one_of)
        return whole and not misled

    def _looks_right(self, i: int) -> bool:
        """Whether case i gave finite numbers in the shape that is wanted."""
        want, have = self.expected[i], self.got[i]
        return (
            have.error is None
            and [leaf.shape for leaf in want.leaves] == [leaf.shape for leaf in have.leaves]
            and not any(bool(leaf.isnan().any()) for leaf in have.leaves)
        )

    def first_wrong(self) -> int:
        """The case to talk about: the first wrong one that counts, an ordinary result before an error."""
        return self._first_wrong

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All cases, the one to talk about first: there most mistakes can be told from the answer."""
        first = self._first_wrong
        return (first, *(i for i in range(len(self.cases)) if i != first))

    @cached_property
    def _first_wrong(self) -> int:
        wrong = [i for i, ok in enumerate(self.right) if not ok and self.counts[i]]
        ordinary = [i for i in wrong if not self.cases[i].edge] or wrong
        # With one head many steps do nothing: numbers that came from there say less than an error elsewhere.
        telling = [i for i in ordinary if self.cases[i].sizes.get("h") != 1] or ordinary
        return next((i for i in telling if self.got[i].error is None), telling[0])

    def labels(self, right: bool) -> list[str]:
        """In words, when the answer is right (or wrong), for the cases that count."""
        labels = [
            case.label
            for i, (case, ok) in enumerate(self._judged())
            if ok == right and self.counts[i] and not case.refuses and not (right and case.edge)
        ]
        return list(dict.fromkeys(labels))

    def _judged(self) -> list[tuple[Case, bool]]:
        return list(zip(self.cases, self.right, strict=True))


def in_a_row(words: Sequence[str]) -> str:
    """Words as they read in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
