"""Proofs: short functions that a card runs, and whose source it shows.

A proof draws from a generator of its own, asserts what its card claims, and returns the numbers it found.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from mha_course.interview import proofs
from mha_course.text.readable import readable


@dataclass(frozen=True)
class Shown:
    """What a proof has shown: one sentence, and the numbers it computed, by what they are."""

    sentence: str
    numbers: Mapping[str, float] = field(default_factory=dict)


Proof = Callable[[], Shown]
_PROOFS: dict[str, Proof] = {}


def proof(function: Proof) -> Proof:
    """Make a function known as a proof, under its own name.

    Raises: ValueError where another module has a proof of that name.
    """
    name = function.__name__
    known = _PROOFS.get(name)
    if known is not None and known.__module__ != function.__module__:
        raise ValueError(f"{name!r} is a proof of {known.__module__} and of {function.__module__}")
    _PROOFS[name] = function
    return function


def all_proofs() -> dict[str, Proof]:
    """Every proof by its name. Raises: ValueError where two modules have one of the same name."""
    for module in pkgutil.iter_modules(proofs.__path__):
        importlib.import_module(f"{proofs.__name__}.{module.name}")
    return dict(_PROOFS)


def find_proof(name: str) -> Proof:
    """The proof of that name. Raises: ValueError with the nearest names when there is none."""
    known = all_proofs()
    if isinstance(name, str) and name in known:
        return known[name]
    near = difflib.get_close_matches(str(name), known, n=3)
    tail = f" The nearest: {', '.join(near)}." if near else ""
    raise ValueError(f"There is no proof {readable(repr(name))[:100]}.{tail}")


def run_proof(name: str) -> Shown:
    """Run the proof of that name; gradients are on inside, whatever they were outside.

    Raises: ValueError for an unknown name; AssertionError, with what was expected, where it fails.
    """
    function = find_proof(name)
    with torch.enable_grad():
        return function()


def source_of(name: str) -> str:
    """The source of a proof as it stands in its file, without the decorator.

    Raises: ValueError for an unknown name.
    """
    lines = textwrap.dedent(inspect.getsource(find_proof(name))).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(lines[start:]) + "\n"


def summary_of(name: str) -> str:
    """What a proof says of itself in one line. Raises: ValueError for an unknown name."""
    return (inspect.getdoc(find_proof(name)) or "").partition("\n")[0]
