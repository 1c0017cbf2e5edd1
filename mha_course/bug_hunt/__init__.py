"""The bug hunt: twelve layers with a fault each, probes to examine them with, and verdicts on a name."""

from mha_course.bug_hunt.faults import suspects
from mha_course.bug_hunt.naming import name_bug, names
from mha_course.bug_hunt.overview import overview
from mha_course.bug_hunt.probing import all_probes, measure, probe
from mha_course.bug_hunt.revealing import reveal
from mha_course.bug_hunt.suspect import healthy, suspect

__all__ = [
    "all_probes",
    "healthy",
    "measure",
    "name_bug",
    "names",
    "overview",
    "probe",
    "reveal",
    "suspect",
    "suspects",
]
