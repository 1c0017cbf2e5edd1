"""An answer that holds another exercise's inside: asked what that one asks, and judged as it would be."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from mha_course.exercises.combining import several_known_mistakes
from mha_course.exercises.describing import describe
from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.exercise import Case, Exercise
from mha_course.exercises.outcome import Outcome, agree, run
from mha_course.exercises.recognising import Calls, known_mistake
from mha_course.exercises.world import world_saved_once

Arguments = tuple[Any, ...]
Call = Callable[[Arguments], Outcome]


class AsAnother:
    """A way to put another exercise's questions to an answer.

    inside: the exercise whose questions are put. translate: from that exercise's arguments to those of the
    answer, or None where it has no such arguments. back: from what the answer gives, and the other
    exercise's arguments, to what is judged; as it is when left out. called: the name under which its tables
    are kept, another than that of any exercise, since the answers are no answers to that one. inputs: other
    cases. labels: other words for the labels of cases.
    """

    def __init__(
        self,
        inside: Exercise,
        called: str,
        translate: Callable[[Arguments], Arguments | None],
        back: Callable[[Outcome, Arguments], Outcome] = lambda out, arguments: out,
        inputs: Callable[[Any], list[Case]] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self._translate, self._back, self._labels = translate, back, labels or {}
        self.exercise = dataclasses.replace(inside, name=called, inputs=inputs or inside.inputs, twins=())

    @cached_property
    def _cases(self) -> list[Case]:
        return [
            dataclasses.replace(case, label=self._labels.get(case.label, case.label))
            for case in self.exercise.cases()
            if self._translate(case.arguments) is not None
        ]

    @cached_property
    def _expected(self) -> list[Outcome]:
        return [self._run(self.exercise.reference, case) for case in self._cases]

    @cached_property
    def _known(self) -> Sequence[Sequence[Calls]]:
        results = self.exercise.results
        return [
            [Calls(way, self._cases, results) for way in self.exercise.ways(mistake)]
            for mistake in self.exercise.mistakes
        ]

    def read(self, call: Call) -> Finding | None:
        """What would be said of the answer there; None where it is right, or stops with an error."""
        asked = self._asked(call)
        got = [asked(case.fresh()) for case in self._cases]
        right = [agree(want, have) for want, have in zip(self._expected, got, strict=True)]
        counts = [self.exercise.counts(case) or case.loud for case in self._cases]
        evidence = Evidence(self.exercise, self._cases, self._expected, got, right, counts)
        if evidence.passes() or got[evidence.first_wrong()].error is not None:
            return None
        with world_saved_once():
            found = known_mistake(evidence, self._known) or several_known_mistakes(evidence, self._known)
        return found or describe(evidence, asked)

    def _asked(self, call: Call) -> Call:
        """The answer as a function of the other exercise's arguments."""

        def asked(arguments: Arguments) -> Outcome:
            own = self._translate(arguments)
            if own is None:
                return Outcome(error=TypeError("no such arguments"), error_text="TypeError")
            out = call(own)
            return out if out.error is not None else self._back(out, arguments)

        return asked

    def _run(self, fn: Callable[..., Any], case: Case) -> Outcome:
        return run(fn, case.fresh(), self.exercise.results, quiet=True)
