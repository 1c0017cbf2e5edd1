"""The exercises: `check` an answer, ask for a `hint`, see a `solution`, list them all, keep track."""

from mha_course.exercises.checking import check
from mha_course.exercises.shown.progress_report import progress_report
from mha_course.exercises.shown.showing import catalogue, hint, solution
from mha_course.exercises.shown.taking_along import export_progress, import_progress

__all__ = ["catalogue", "check", "export_progress", "hint", "import_progress", "progress_report", "solution"]
