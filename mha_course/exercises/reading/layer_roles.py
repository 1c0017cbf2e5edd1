"""Which matrix makes the queries, the keys, the values and the output: every exchange is tried at once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import agree, close
from mha_course.exercises.reading.layer_probes import Call

_LOOK = "which matrix stands where, in the code and in the `def` line."


def exchanged_roles(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """Matrices in other roles, transposed or left out, with the right scale or a frequent other one."""
    arguments = evidence.cases[i].arguments
    with_w_o = isinstance(arguments[4], Tensor)
    if len(arguments) > 6 and arguments[6] is not None or len(evidence.got[i].leaves) != 1:
        return None
    have = evidence.got[i].leaves[0]
    if not have.is_floating_point() or have.shape != arguments[0].shape:
        return None
    made, names = _table(arguments, with_w_o)
    fits = (made - have).abs().flatten(4).amax(-1) <= 2e-4 * max(1.0, float(have.abs().max()))
    for at in fits.nonzero().tolist():
        if all(_again(evidence, k, at, with_w_o) for k in _others(evidence, i)):
            says = _in_words(at, names, with_w_o)
            if says:
                says += " And the mask has no effect." if with_w_o and _mask_idle(evidence, call) else ""
                return Finding("matrices-exchanged", says, look=_LOOK)
    return None


def _table(arguments: tuple[Any, ...], with_w_o: bool) -> tuple[Tensor, list[list[str]]]:
    """The layer for every choice, (scale, scores, values, end, b, n, d_model), and the choices' names."""
    x, w_q, w_k, w_v, *rest = arguments
    w_o, h = (rest[0], rest[1]) if with_w_o else (torch.eye(x.shape[-1], dtype=x.dtype), rest[0])
    b, n, d = x.shape
    eye = torch.eye(d, dtype=x.dtype)
    makers = {"W_Q": w_q, "W_K": w_k, "W_V": w_v, "no matrix": eye}
    makers |= {f"{name} transposed": w.T for name, w in list(makers.items())[:3]}
    if with_w_o:
        makers |= {"W_O": w_o, "W_O transposed": w_o.T, "W_V, then W_O": w_v @ w_o}
    ends = {"W_O": w_o}
    if with_w_o:
        ends |= {"W_O transposed": w_o.T, "nothing": eye, "W_V": w_v, "W_Q": w_q, "W_K": w_k}
    scales = {"": (d // h) ** -0.5, "The scores are not divided by the root of d_k.": 1.0}
    scales |= {"The scores are divided by the root of d_model.": d**-0.5}
    scales |= {"The scores are divided by d_k, not by its root.": h / d}
    cut = torch.stack([(x @ w).reshape(b, n, h, d // h).transpose(1, 2) for w in makers.values()])
    scores = torch.einsum("pbhqk,rbhmk->prbhqm", cut, cut).flatten(0, 1)
    weights = torch.stack([(scores * scale).softmax(-1) for scale in scales.values()])
    heads = torch.einsum("spbhqm,vbhmk->spvbqhk", weights, cut).flatten(-2)
    made = torch.stack([heads @ end for end in ends.values()], 3)
    pairs = [f"{q}|{k}" for q in makers for k in makers]
    return made, [list(scales), pairs, list(makers), list(ends)]


def _again(evidence: Evidence, k: int, at: list[int], with_w_o: bool) -> bool:
    """Whether one choice explains another case, too."""
    made, _ = _table(evidence.cases[k].arguments[: 6 if with_w_o else 5], with_w_o)
    return close(made[tuple(at)], evidence.got[k].leaves[0])


def _others(evidence: Evidence, i: int) -> list[int]:
    """One more case without a mask, of other sizes."""
    found = [
        k
        for k, case in enumerate(evidence.cases)
        if k != i
        and evidence.counts[k]
        and evidence.got[k].error is None
        and len(evidence.got[k].leaves) == 1
        and evidence.got[k].leaves[0].shape == case.arguments[0].shape
        and not (len(case.arguments) > 6 and case.arguments[6] is not None)
    ]
    return found[:1]


def _mask_idle(evidence: Evidence, call: Call) -> bool:
    """Whether a mask makes no difference."""
    for case, got in zip(evidence.cases, evidence.got, strict=True):
        if len(case.arguments) > 6 and case.arguments[6] is not None and got.error is None:
            bare = call((*case.fresh()[:6], None))
            return agree(bare, got)
    return False


def _in_words(at: list[int], names: list[list[str]], with_w_o: bool) -> str:
    scale, (q, k), v, end = (
        names[0][at[0]],
        names[1][at[1]].split("|"),
        names[2][at[2]],
        names[3][at[3]],
    )
    said = [
        f"The {what} are made with {name}." if name != "no matrix" else f"The {what} are slices of the input."
        for what, name, right in (("queries", q, "W_Q"), ("keys", k, "W_K"), ("values", v, "W_V"))
        if name != right
    ]
    if with_w_o and end != "W_O":
        said.append("W_O is left out at the end." if end == "nothing" else f"At the end stands {end}.")
    return " ".join([*said, scale]).strip()
