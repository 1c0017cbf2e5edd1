"""An encoder block asked half by half: with other weights at 0 only one of its parts is left to be seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.exercise import Case, Exercise
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading.as_another import AsAnother
from mha_course.exercises.witness import number

Arguments = tuple[Any, ...]
Call = Callable[[Arguments], Outcome]
_HALF = "Where {} adds nothing, {} can be seen alone, and there is a fault in it."


def idle_parts(like: Tensor, d_ff: int = 5) -> dict[str, Tensor]:
    """Weights with which neither half adds anything and both LayerNorms have a gain of 1 and a bias of 0."""
    d_model, options = like.shape[-1], {"dtype": like.dtype}
    shapes = {"w_1": (d_model, d_ff), "b_1": (d_ff,), "w_2": (d_ff, d_model), "b_2": (d_model,)}
    shapes |= dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), (d_model, d_model))
    parts = {name: torch.zeros(*shape, **options) for name, shape in shapes.items()}
    for which in (1, 2):
        parts[f"gain_{which}"] = torch.ones(d_model, **options)
        parts[f"bias_{which}"] = torch.zeros(d_model, **options)
    return parts


class HalfByHalf:
    """A reader for blocks. attention, norm, feed: the exercises whose questions are put to its parts."""

    def __init__(self, attention: Exercise, norm: Exercise, feed: Exercise) -> None:
        called = "encoder_block, as {}".format
        self._norms = [
            AsAnother(norm, called("LayerNorm 1"), _first_norm_by_tokens, _added),
            AsAnother(norm, called("LayerNorm 2"), _only_norm(2), _added),
        ]
        attention, feed = _known_mistakes_alone(attention), _known_mistakes_alone(feed)
        self._attention = AsAnother(
            attention, called("attention"), _only_attention, _added, _with_normed_tokens(attention)
        )
        self._feed = AsAnother(feed, called("feed-forward"), _only_feed, _added, _with_normed_tokens(feed))

    def read(self, evidence: Evidence, i: int, call: Call) -> Finding | None:
        """The first part in which something is wrong; None where each is right by itself."""
        shape = evidence.got[i].leaves[0].shape if evidence.got[i].leaves else None
        if evidence.cases[i].edge or shape != evidence.expected[i].leaves[0].shape:
            return None
        return (
            _nothing_added(evidence.cases[i], call)
            or self._first_norm(call)
            or _after(self._norms[1].read(call), "The LayerNorm before the feed-forward part, seen alone:")
            or _after(self._attention.read(call), _HALF.format("the feed-forward part", "attention"))
            or _after(self._feed.read(call), _HALF.format("attention", "the feed-forward part"))
        )

    def _first_norm(self, call: Call) -> Finding | None:
        """What is wrong before the attention; None where it comes right whichever keys a query attends to."""
        token = torch.linspace(-2, 3, 3 * 4).reshape(3, 1, 4).sin() + 1
        # Both tokens of a sentence are the same, so a mask that is misread changes nothing.
        x = token.expand(3, 2, 4).clone()
        gain, bias = torch.tensor([0.5, 2.0, -1.0, 1.5]), torch.tensor([0.3, -0.4, 1.0, 0.2])
        out = call(_only_norm(1)((x, gain, bias)))
        want = torch.nn.functional.layer_norm(x, (4,), gain, bias)
        if out.error is None and len(out.leaves) == 1 and close(_added(out, (x,)).leaves[0], want):
            return None
        return _after(self._norms[0].read(call), "The LayerNorm before the attention, seen alone:")


def _after(finding: Finding | None, start: str) -> Finding | None:
    """A finding with a sentence in front."""
    return dataclasses.replace(finding, says=f"{start} {finding.says}") if finding else None


def _known_mistakes_alone(exercise: Exercise) -> Exercise:
    """Without readers, which ask about tokens that a LayerNorm in front would change."""
    return dataclasses.replace(exercise, reads=None, readers=(), special=None, on_the_way=None)


def _nothing_added(case: Case, call: Call) -> Finding | None:
    """With weights by which neither half adds anything, a pre-norm block gives back its input."""
    x, _, h, allowed = case.fresh()
    out = call((x.clone(), idle_parts(x), h, allowed))
    if out.error is not None or len(out.leaves) != 1 or out.leaves[0].shape != x.shape:
        return None
    have = out.leaves[0]
    if close(have, x):
        return None
    s, t, f = (int(k) for k in (~torch.isclose(have, x, rtol=2e-4, atol=2e-5)).nonzero()[0])
    says = (
        "With W_O, the second map and all biases at 0 neither half adds anything, so `x` should come out as "
        f"it came in. Entry [{s}, {t}, {f}] is {number(x[s, t, f])} in `x`; it comes out as "
        f"{number(have[s, t, f])}."
    )
    return Finding("not-the-input", says, look="the residual path: `x`, untouched, from start to end.")


def _added(out: Outcome, arguments: Arguments) -> Outcome:
    """What the block has added to its input."""
    x = arguments[0]
    b, n, d_model = x.shape
    if len(out.leaves) != 1 or out.leaves[0].shape not in (x.shape, (b * n, 1, d_model)):
        return out
    return dataclasses.replace(out, leaves=type(out.leaves)([out.leaves[0].reshape(x.shape) - x]))


def _only_norm(which: int) -> Callable[[Arguments], Arguments | None]:
    """(x, gain, bias) for a block that adds its LayerNorm of that number, and nothing else."""

    def translate(arguments: Arguments) -> Arguments | None:
        x, gain, bias = arguments
        b, n, d_model = x.shape
        eye = torch.eye(d_model, dtype=x.dtype)
        parts = idle_parts(x, 2 * d_model)
        parts |= {f"gain_{which}": gain, f"bias_{which}": bias}
        if which == 1:
            # Each token attends to itself alone: its value is handed on.
            parts |= {"w_v": eye, "w_o": eye}
        else:
            # relu(z) - relu(-z) is z.
            parts |= {"w_1": torch.cat([eye, -eye], 1), "w_2": torch.cat([eye, -eye], 0)}
        itself = torch.eye(n, dtype=torch.bool).expand(b, 1, n, n).clone()
        return (x, parts, 1, itself)

    return translate


def _first_norm_by_tokens(arguments: Arguments) -> Arguments | None:
    """As `_only_norm(1)`, with each token as a sentence: a NaN in one would spread, for 0 * NaN is NaN."""
    x, gain, bias = arguments
    return _only_norm(1)((x.reshape(-1, 1, x.shape[-1]), gain, bias))


def _only_attention(arguments: Arguments) -> Arguments | None:
    """The layer's arguments for a block whose feed-forward part adds nothing."""
    x, w_q, w_k, w_v, w_o, h, allowed = arguments
    return (x, idle_parts(x) | {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}, h, allowed)


def _only_feed(arguments: Arguments) -> Arguments | None:
    """The feed-forward part's arguments for a block whose attention adds nothing."""
    x, w_1, b_1, w_2, b_2 = arguments
    b, n, _ = x.shape
    allowed = torch.ones(b, 1, n, n, dtype=torch.bool)
    return (x, idle_parts(x) | {"w_1": w_1, "b_1": b_1, "w_2": w_2, "b_2": b_2}, 1, allowed)


def _with_normed_tokens(inside: Exercise) -> Callable[[Generator], list[Case]]:
    """That exercise's cases with tokens of mean 0 and variance 1, which a LayerNorm leaves as they are."""

    def inputs(g: Generator) -> list[Case]:
        found = []
        for case in inside.inputs(g):
            x, *others = case.arguments
            if x.shape[-1] < 2:
                continue
            centred = x - x.mean(-1, keepdim=True)
            # LayerNorm divides by the root of the variance and 1e-5.
            tokens = centred / (centred.square().mean(-1, keepdim=True) / (1 - 1e-5)).sqrt()
            found.append(Case(case.label, (tokens, *others), case.sizes, case.required, edge=case.edge))
        return found

    return inputs
