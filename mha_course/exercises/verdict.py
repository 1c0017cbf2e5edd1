"""Verdict: what a teacher would say about an answer, as text and as a box in the notebook."""

from __future__ import annotations

from dataclasses import dataclass

from mha_course.exercises.shown.panel import marked, panel, paragraph


@dataclass(frozen=True)
class Verdict:
    """The judgement of one answer.

    passed: whether it is right. diagnosis: a short id of what is wrong, None when nothing is.
    says: the kind of mistake; witness: one entry of the result that shows it; look: where to look;
    remarks: what else is worth knowing. None of them holds the answer.
    """

    exercise: str
    passed: bool
    diagnosis: str | None
    says: str
    witness: str = ""
    look: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """Everything that is said, as one text."""
        look = f"Where to look: {self.look}" if self.look else ""
        return "\n".join(part for part in (self.says, self.witness, look, *self.remarks) if part)

    def __bool__(self) -> bool:
        return self.passed

    def _title(self) -> str:
        if self.passed:
            return f"✓ {self.exercise}: right"
        if self.diagnosis == "not-attempted":
            return f"{self.exercise}: not attempted yet"
        return f"⚠ {self.exercise}: not yet right" if self.exercise else "⚠ Nothing was checked"

    def _repr_html_(self) -> str:
        kind = "ok" if self.passed else "open" if self.diagnosis == "not-attempted" else "warn"
        look = f"<p><strong>Where to look:</strong> {marked(self.look)}</p>" if self.look else ""
        body = "".join(
            [
                paragraph(self._title(), "title"),
                paragraph(self.says) if self.says else "",
                paragraph(self.witness) if self.witness else "",
                look,
                *(paragraph(remark, "note") for remark in self.remarks),
            ]
        )
        return panel(body, kind, f"Check of {self.exercise}" if self.exercise else "Check", stop=True)

    def __repr__(self) -> str:
        return f"{self._title()}\n{self.message}".replace("`", "").rstrip()
