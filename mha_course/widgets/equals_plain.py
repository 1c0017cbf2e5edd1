"""EqualsPlain: a variant of the heads that walks to the plain layer under a slider."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import traitlets

from mha_course.models.one_thread import one_thread
from mha_course.sizes import check_number, check_sizes, is_whole_number
from mha_course.variants.towards_plain import NAMES, NearPlain, towards_plain
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.equals_plain_numbers import ROUNDING, TOLD, bill, size_in_words, verdict

__all__ = ["EqualsPlain"]

STOPS = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0)
MOST = {"h": 8, "d_model": 48, "n": 10}  # what can be drawn side by side


class EqualsPlain(CourseWidget):
    """A variant at distance t from the setting at which it is plain multi-head attention.

    With "grouped" it is the plain layer that moves: at t = 0 the heads of a group are equal in it, too.

    name: "grouped", "collaborative", "overlapping", "mixture", "talking" or "composable". t: from 0, where
    the two are equal, to 1. option: the overlap o of overlapping heads (half a head when left out), the
    routed heads that a token of the mixture chooses (all when left out); the others have none. d_model, h,
    n, seed: of the layer and of what it reads. Seen: the largest difference of outputs and of gradients, over
    all t; the numbers that t moves; every head's map beside the plain head's; and what both cost. `near()`
    gives the two layers as they stand.

    Raises: ValueError for another name, a t outside 0 to 1, sizes that the layer can't have or that can't be
    drawn, and an option that doesn't fit. Sources: those of the variants.
    """

    js = ("svg_pieces.js", "cell_tips.js", "shaded_matrix.js", "distance_chart.js", "equals_plain.js")
    css = ("pieces.css", "cost_pieces.css", "shaded_matrix.css", "equals_plain.css")
    root = "mha-near"
    settings = ("t", "option")

    t = traitlets.Float(1.0).tag(sync=True)
    option = traitlets.Int(0).tag(sync=True)
    variant = Text("", read_only=True).tag(sync=True)
    told = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        name: str,
        t: float = 1.0,
        option: int | None = None,
        d_model: int = 24,
        h: int = 4,
        n: int = 7,
        seed: int = 0,
    ) -> None:
        if name not in NAMES:
            raise ValueError(f"{name!r} is none of the variants here; there are {', '.join(NAMES)}.")
        if option is not None and TOLD[name].option is None:
            raise ValueError(f"option={option!r}: {name} heads have no such number; leave it out.")
        for word, size in (("d_model", d_model), ("h", h), ("n", n)):
            check_sizes(**{word: size})
            if size > MOST[word]:
                raise ValueError(f"{word}={size}: at most {MOST[word]} can be drawn side by side.")
        self._sizes = {"d_model": int(d_model), "h": int(h), "n": int(n), "seed": seed}
        self._name, self._found = name, {}
        with one_thread():
            first = towards_plain(name, t, **self._sizes, **self._as_option(option))
        self._most = {"overlapping": first.plain.d_k, "mixture": h - max(1, h // 4)}.get(name, 0)
        if option is None:
            option = {"overlapping": max(1, first.plain.d_k // 2), "mixture": self._most}.get(name, 0)
        self.set_trait("variant", name)
        one = TOLD[name]
        super().__init__(
            t=float(t),
            option=int(option),
            told={
                "title": one.title,
                "formula": one.formula,
                "distance": one.distance,
                "equal": f"Equal to plain heads when {first.words}.",
                "option": None if one.option is None else list(one.option),
                "options": list(range(self._most + 1)),
                "bill": one.bill,
            },
        )

    def near(self) -> NearPlain:
        """The variant and the plain layer as they stand, with what is apart."""
        with self._lock:
            return self._near(self.t)

    @traitlets.validate("t")
    def _between(self, proposal: Mapping) -> float:
        check_number(0, 1, t=proposal["value"])
        return proposal["value"]

    @traitlets.validate("option")
    def _fits(self, proposal: Mapping) -> int:
        value = proposal["value"]
        if not is_whole_number(value) or not 0 <= value <= self._most:
            raise ValueError(f"option={value!r} must be a whole number in 0..{self._most}.")
        return value

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Differences at every stop, the numbers that moved, all maps, and the bill."""
        stops = sorted({*STOPS, self.t})
        curve = [self._near(t) for t in stops]
        found = self.near()
        option = self.option if TOLD[self._name].option else None
        words = verdict(
            self._name, self.t, found.output_difference, found.gradient_difference, option, self._most
        )
        self.alt = self._in_words(found, words)
        share = self.option / self._most if self._most else 1.0
        return {
            "t": self.t,
            "stops": stops,
            "option": option,
            "output": [one.output_difference for one in curve],
            "gradient": [one.gradient_difference for one in curve],
            "rounding": ROUNDING,
            "now": {
                "output": size_in_words(found.output_difference),
                "gradient": size_in_words(found.gradient_difference),
            },
            "moving": [_drawn(key, matrix, found) for key, matrix in found.moving.items()],
            "maps": _rounded(found.maps),
            "plain_maps": _rounded(found.plain_maps),
            "words": words,
            "bill": bill(self._name, found.layer, self._sizes["n"], share),
        }, b""

    def still_png(self) -> bytes | None:
        """The numbers that t moves, with what is apart in the note."""
        from mha_course.plots import matrices

        found = self.near()
        heads = [f"head {i + 1}" for i in range(found.layer.h)]
        tokens = [f"token {i + 1}" for i in range(self._sizes["n"])]
        return matrices(
            dict(found.moving),
            row_labels=tokens if self._name == "mixture" else heads,
            column_labels=heads,
            title=f"{TOLD[self._name].title}, t = {self.t:g}",
            note=f"Largest difference of an output {size_in_words(found.output_difference)}, of a gradient "
            f"{size_in_words(found.gradient_difference)}. {self.told['equal']}",
        ).png()

    def _near(self, t: float) -> NearPlain:
        asked = (t, self.option)
        if asked not in self._found:
            if len(self._found) > 200:
                self._found.clear()
            option = self.option if TOLD[self._name].option else None
            with one_thread():
                self._found[asked] = towards_plain(self._name, t, **self._sizes, **self._as_option(option))
        return self._found[asked]

    def _as_option(self, option: int | None) -> dict[str, int | None]:
        which = {"overlapping": "overlap", "mixture": "chosen"}.get(self._name)
        return {} if which is None else {which: option}

    def _in_words(self, found: NearPlain, words: str) -> str:
        option = TOLD[self._name].option
        more = f", {option[0]} = {self.option}" if option else ""
        return (
            f"{TOLD[self._name].title}, {found.layer.h} heads, t = {self.t:g}{more}: "
            f"largest difference of an output {size_in_words(found.output_difference)}, of a gradient "
            f"{size_in_words(found.gradient_difference)}. {words} {self.told['equal']}"
        )


def _rounded(values: torch.Tensor) -> list:
    # Four decimals are drawn and told; the fifth is for a shade.
    return (values * 1e5).round().div(1e5).tolist()


def _drawn(name: str, matrix: torch.Tensor, found: NearPlain) -> dict[str, object]:
    """A matrix for the view: rows and columns stand for heads, a head's block of features, or tokens."""
    rows, columns = matrix.shape
    h = found.layer.h
    return {
        "name": name,
        "values": _rounded(matrix),
        "rows": "token" if found.name == "mixture" else "head",
        "block": 1 if columns == h else columns // h,
    }
