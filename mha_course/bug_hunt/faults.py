"""The faults by name: what each is called, the layer that has it, and what is said once it is found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mha_course.bug_hunt import decoys, faults_of_masks, faults_of_shapes, faults_of_sums
from mha_course.bug_hunt.sound_layer import SoundLayer

_LAYERS: dict[str, type[SoundLayer]] = {
    "head-size-floored": faults_of_shapes.HeadSizeFloored,
    "mask-added": faults_of_masks.MaskAdded,
    "weights-after-dropout": faults_of_sums.AfterDropout,
    "view-alone": faults_of_shapes.ViewAlone,
    "large-negative": faults_of_masks.LargeNegative,
    "scaled-by-d-model": faults_of_sums.ScaledByModel,
    "sequence-first": faults_of_shapes.SequenceFirst,
    "heads-averaged": faults_of_sums.HeadsAveraged,
    "mask-reversed": faults_of_masks.MaskReversed,
    "without-w-o": faults_of_sums.WithoutFusion,
    "empty-row-nan": faults_of_masks.EmptyRowNaN,
    "input-split": faults_of_shapes.InputSplit,
    "not-scaled": decoys.Unscaled,
    "softmax-over-queries": decoys.OverQueries,
    "dropout-in-eval": decoys.DropoutAlways,
    "mask-off-by-one": decoys.MaskShifted,
    "queries-for-keys": decoys.RolesSwapped,
    "values-unprojected": decoys.ValuesUnprojected,
}
# Suspect k is the k-th of these. The order tells nothing: neighbours have nothing in common.
_SUSPECTS = (
    "view-alone",
    "heads-averaged",
    "empty-row-nan",
    "head-size-floored",
    "scaled-by-d-model",
    "mask-added",
    "sequence-first",
    "weights-after-dropout",
    "without-w-o",
    "large-negative",
    "input-split",
    "mask-reversed",
)


@dataclass(frozen=True)
class Fault:
    """A fault: key, title, the layer that has it, and, if a suspect has it, what there is to learn from it.

    title: what is wrong, as the list of names has it. explains: what goes wrong and why it is overlooked;
    mend: how to put it right; met: where it was met; cell, shows: a cell of a lesson and what it shows.
    """

    key: str
    title: str
    layer: type[SoundLayer]
    explains: str = ""
    mend: str = ""
    met: str = ""
    cell: str = ""
    shows: str = ""


@lru_cache
def all_faults() -> dict[str, Fault]:
    """Every fault by its key, those of the suspects and the others, sorted by title."""
    texts = json.loads(Path(__file__).with_name("faults.json").read_text(encoding="utf-8"))
    found = [Fault(key, layer=_LAYERS[key], **entry) for key, entry in texts.items()]
    return {fault.key: fault for fault in sorted(found, key=lambda fault: fault.title.lower())}


def suspects() -> range:
    """The numbers of the suspects, from 1."""
    return range(1, len(_SUSPECTS) + 1)


def fault_of(number: int) -> Fault:
    """What is wrong with the suspect of that number."""
    return all_faults()[_SUSPECTS[number - 1]]
