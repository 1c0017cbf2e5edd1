"""Probes by name: what each asks of a layer, and how one is run."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.bug_hunt.finding import Finding, Measured
from mha_course.bug_hunt.suspect import Suspect
from mha_course.models.one_thread import one_thread
from mha_course.sizes import as_written


@dataclass(frozen=True)
class Probe:
    """A measurement: its key, its name, what is done to the layer, and the function that does it."""

    key: str
    title: str
    does: str
    run: Callable[[Suspect], Finding]


_PROBES: dict[str, Probe] = {}


def registered(key: str, title: str, does: str) -> Callable[[Callable[[Suspect], Finding]], Callable]:
    """Make a function a probe. It gets a layer in eval mode, in float32, that is its own to change."""

    def keep(run: Callable[[Suspect], Finding]) -> Callable[[Suspect], Finding]:
        _PROBES[key] = Probe(key, title, does, run)
        return run

    return keep


def all_probes() -> dict[str, Probe]:
    """Every probe by its key, in the order in which they are offered."""
    # They enter themselves when their files are read.
    from mha_course.bug_hunt import probes

    return {key: _PROBES[key] for group in probes.GROUPS.values() for key in group}


def find_probe(key: object) -> Probe:
    """The probe of that key. Raises: ValueError with the nearest keys, or all of them."""
    known = all_probes()
    if isinstance(key, str) and key in known:
        return known[key]
    said = key if isinstance(key, str) else ""
    near = difflib.get_close_matches(said, known, n=2, cutoff=0.5) or list(known)
    raise ValueError(f"There is no probe {as_written(key)}. There is {', '.join(map(repr, near))}.")


def measure(key: str, layer: Suspect) -> Finding:
    """Run a probe on a copy of a layer, whose state stays as it is.

    An error of the layer is a finding, too. Raises: ValueError for another key, and for something that is no
    layer of the hunt.
    """
    probe = find_probe(key)
    if not isinstance(layer, Suspect):
        raise ValueError(
            f"A probe takes what suspect(...) or healthy(...) returns; got {type(layer).__name__}."
        )
    copy = layer.like(dtype=torch.float32).eval()
    try:
        with one_thread(), torch.no_grad():
            return probe.run(copy)
    except RuntimeError as error:
        said = str(error).strip().splitlines()[0]
        return Finding(f"The layer stops with an error: {said}", {"error": said})


def probe(key: str, layer: Suspect) -> Measured:
    """Run a probe on a layer and on the sound layer with the same weights. Raises as `measure`."""
    found = measure(key, layer)
    who = "sound layer" if layer.number is None else f"suspect {layer.number}"
    return Measured(key, find_probe(key).title, who, found, measure(key, _sound_beside(layer)))


def _sound_beside(layer: Suspect) -> Suspect:
    """The sound layer with the same weights; where none has these sizes, one a little narrower."""
    try:
        return layer.sound()
    except ValueError:
        return layer.like(d_model=max(layer.h, layer.d_model - layer.d_model % layer.h)).sound()


@dataclass(frozen=True)
class Drawn:
    """What a probe feeds a layer: x (b, n, d_model), and a second x of the same kind to change it with."""

    x: Tensor
    other: Tensor
    b: int
    n: int


def drawn(layer: Suspect) -> Drawn:
    """Standard normal tokens, fixed by the seed; b and n differ from each other, from h and from d_k."""
    taken = {layer.h, layer.d_model, layer.d_model // layer.h}
    b = next(size for size in (5, 6, 8, 10) if size not in taken)
    n = next(size for size in (7, 9, 11, 13) if size not in taken)
    generator = torch.Generator().manual_seed(1000 + layer.seed)
    x, other = torch.randn(2, b, n, layer.d_model, generator=generator)
    return Drawn(x, other, b, n)


def moved(a: Tensor, b: Tensor) -> float:
    """The largest difference between two tensors; nan where one of them holds one."""
    return (a - b).abs().max().item()
