"""What the probes say of every suspect and every fault, in the usual sizes; measured once."""

from __future__ import annotations

from functools import lru_cache

from mha_course.bug_hunt.faults import all_faults
from mha_course.bug_hunt.finding import Finding
from mha_course.bug_hunt.probing import all_probes, measure
from mha_course.bug_hunt.suspect import Suspect, healthy, suspect, with_fault


@lru_cache
def findings_of(number: int) -> dict[str, Finding]:
    """All probes on a suspect, by their keys."""
    return _findings(suspect(number))


@lru_cache
def findings_with(fault: str) -> dict[str, Finding]:
    """All probes on a layer with that fault."""
    return _findings(with_fault(all_faults()[fault].layer, healthy()))


@lru_cache
def findings_of_the_sound_layer() -> dict[str, Finding]:
    """All probes on a layer with nothing wrong."""
    return _findings(healthy())


def _findings(layer: Suspect) -> dict[str, Finding]:
    return {key: measure(key, layer) for key in all_probes()}
