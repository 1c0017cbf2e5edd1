"""Gates and their price with one letter in the place of another: a slip that changes nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.reading.recipes import Way, rare

_GATE = ("log_alpha", "u", "beta", "gamma", "zeta")
_PRICE = ("log_alpha", "beta", "gamma", "zeta")

# Each place of the formula by the letter that belongs there, and where that is, in words.
_GATE_PLACES = {
    "u1": ("u", "under the first logarithm"),
    "u2": ("u", "under the second logarithm, behind 1 -"),
    "alpha": ("log_alpha", "behind the noise"),
    "beta": ("beta", "under the line"),
    "s": ("s", "in front of the stretch"),
    "zeta": ("zeta", "in the length of the stretch"),
    "gamma1": ("gamma", "in the length of the stretch"),
    "gamma2": ("gamma", "at the end of the stretch"),
}
_PRICE_PLACES = {
    "beta": ("beta", "in front of the logarithm"),
    "gamma": ("gamma", "under the logarithm"),
    "limit": ("zeta", "under the logarithm"),
    "alpha": ("log_alpha", "under the sigmoid"),
    "shift": ("shift", "under the sigmoid, behind the minus"),
}


# Places behind the step that makes the last of the letters, s or the shift.
_LATE = ("s", "zeta", "gamma1", "gamma2", "shift")


class _Gate:
    """A draw of a gate in which `other` stands in one place."""

    def __init__(self, place: str, other: str) -> None:
        self.place, self.other = place, other

    def __call__(self, *arguments: Any) -> Tensor:
        known = dict(zip(_GATE, arguments, strict=True))

        def at(place: str) -> Any:
            return known[self.other if place == self.place else _GATE_PLACES[place][0]]

        noise = _log(at("u1")) - _log(1 - at("u2"))
        known["s"] = torch.sigmoid((noise + at("alpha")) / at("beta"))
        return torch.as_tensor(at("s") * (at("zeta") - at("gamma1")) + at("gamma2")).clamp(0, 1)


class _Price:
    """The expected number of open gates in which `other` stands in one place."""

    def __init__(self, place: str, other: str) -> None:
        self.place, self.other = place, other

    def __call__(self, *arguments: Any) -> Tensor:
        known = dict(zip(_PRICE, arguments, strict=True))

        def at(place: str) -> Any:
            return known[self.other if place == self.place else _PRICE_PLACES[place][0]]

        known["shift"] = at("beta") * _log(-at("gamma") / at("limit"))
        return torch.sigmoid(at("alpha") - at("shift")).sum()


def _log(x: Any) -> Any:
    return x.log() if isinstance(x, Tensor) else math.log(x)


def _ways(kind: type, places: dict[str, tuple[str, str]], letters: Sequence[str]) -> Iterator[Way]:
    for place, (right, where) in places.items():
        for other in letters if place in _LATE else letters[:-1]:
            if other != right:
                says = f"`{other}` stands {where}, where `{right}` belongs."
                yield rare(says, kind(place, other), f"the place of `{right}`.")


GATE_LETTERS = tuple(_ways(_Gate, _GATE_PLACES, (*_GATE, "s")))
PRICE_LETTERS = tuple(_ways(_Price, _PRICE_PLACES, (*_PRICE, "shift")))
