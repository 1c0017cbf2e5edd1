"""What stands where W_O should: read from the matrix that takes the right concatenation to the output."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.evidence import Finding, in_a_row
from mha_course.exercises.reading.changed_matrix import changed_matrix
from mha_course.exercises.reading.layer_probes import Asked

_LOOK = "what happens between the heads and the `return` line."


def behind_the_concatenation(
    asked: Asked, w_o: Tensor, matrix: Tensor, of_x: Tensor, fixed: Tensor, with_w_o: bool
) -> Finding | None:
    """The heads are right; the output is concat times `matrix`, plus x times `of_x`, plus `fixed`.

    w_o: what `matrix` should be, (d_model, d_model).
    """
    if not bool(matrix.any()) and bool(of_x.any()):
        how = {" (a residual connection)": "as it is", " before W_O": "times W_O"}
        words = how.get(_as_it_is(of_x, w_o), "times something")
        says = f"The heads take no part: the output is the input, {words}."
        return Finding("heads-without-effect", says, look="what is returned, and what is multiplied there.")
    said = []
    if bool(of_x.any()):
        said.append(f"the input is added{_as_it_is(of_x, w_o)}")
    if bool(fixed.any()):
        said.append("something fixed is added, whatever the input is (a bias, or random numbers)")
    said += _of_matrix(asked, w_o, matrix, with_w_o)
    if not said:
        return None
    text = "; and ".join(said)
    says = f"The heads are right. Behind them, {text}."
    return Finding("behind-the-heads", says, look=_LOOK)


def _as_it_is(of_x: Tensor, w_o: Tensor) -> str:
    """How the input takes part, in words."""
    c = float(of_x.diagonal().mean())
    if torch.allclose(of_x, c * torch.eye(len(of_x), dtype=of_x.dtype), atol=1e-3):
        return " (a residual connection)" if abs(c - 1) < 1e-3 else f" {c:.4g} times"
    if torch.allclose(of_x, w_o, atol=1e-3):
        return " before W_O"
    return ", changed by a matrix"


def _of_matrix(asked: Asked, w_o: Tensor, matrix: Tensor, with_w_o: bool) -> list[str]:
    eye = torch.eye(asked.d_model, dtype=w_o.dtype)
    if torch.allclose(matrix, w_o, atol=1e-3):
        return []
    if not bool(matrix.any()):
        return ["the heads get lost: they have no effect"]
    sources = [("W_O", w_o)]
    if with_w_o:
        sources += [("W_O transposed", w_o.T), ("no W_O at all", eye)]
    found = None
    for name, source in sources:
        meets = matrix @ torch.linalg.inv(source)
        meets = torch.where(meets.abs() < 2e-3, torch.zeros_like(meets), meets)
        count = int((meets != 0).sum())
        if count <= 3 * asked.d_model and (found is None or count < found[0]):
            found = (count, name, meets)
    if found is None:
        return [_other(asked, w_o, matrix, with_w_o)]
    _, name, meets = found
    said = [] if name == "W_O" else [f"{name} {'takes part' if 'no' not in name else 'follows'}"]
    return said + _rows(asked, meets, with_w_o)


def _rows(asked: Asked, meets: Tensor, with_w_o: bool) -> list[str]:
    """Which feature of the concatenation meets which row, where that isn't its own."""
    h, d_k, d = asked.h, asked.d_k, asked.d_model
    rows = [meets[j].nonzero()[:, 0].tolist() for j in range(d)]
    line = "row {} of W_O" if with_w_o else "place {} of the concatenation"
    lost = [i for i in range(h) if not any(rows[i * d_k : (i + 1) * d_k])]
    if lost:
        names = in_a_row([str(i + 1) for i in lost])
        kept = in_a_row([str(i + 1) for i in range(h) if i not in lost])
        return [
            f"head{'s' * (len(lost) > 1)} {names} of {h} get{'s' * (len(lost) == 1)} lost; only {kept} "
            "has an effect"
            if len(lost) == h - 1
            else f"head{'s' * (len(lost) > 1)} {names} of {h} is lost"
        ]
    off = [j for j in range(d) if rows[j] != [j]]
    if not off:
        factors = meets.diagonal()
        if bool((factors - factors[0]).abs().max() < 2e-3):
            return [f"the output is {_named(asked, float(factors[0]))} what it should be"]
        by_head = factors.reshape(h, d_k)
        if bool((by_head - by_head[:, :1]).abs().max() < 2e-3):
            shown = in_a_row([f"{float(f):.3g}" for f in by_head[:, 0]])
            return [f"the heads count differently: {shown} times"]
        return ["the features of the concatenation count differently, each with a factor of its own"]
    j = off[0]
    what = f"feature {j % d_k} of head {j // d_k + 1}"
    if not rows[j]:
        return [f"{what} gets lost"]
    if len(rows[j]) > 1:
        places = in_a_row([str(r) for r in rows[j]])
        return [
            f"{what} meets {line.replace('row', 'rows').replace('place', 'places').format(places)}, and "
            "it should meet one (heads are added up or averaged)"
        ]
    blocks = [{r // d_k for row in rows[i * d_k : (i + 1) * d_k] for r in row} for i in range(h)]
    whole = all(len(block) == 1 for block in blocks)
    ordered = whole and all(
        rows[i * d_k + p] == [next(iter(blocks[i])) * d_k + p] for i in range(h) for p in range(d_k)
    )
    if ordered:
        of = [
            f"head {i + 1} meets the {'rows' if with_w_o else 'places'} of head {next(iter(blocks[i])) + 1}"
            for i in range(h)
            if blocks[i] != {i}
        ]
        return [in_a_row(of)]
    first = in_a_row([str(r[0]) for r in rows[j // d_k * d_k : (j // d_k + 1) * d_k] if r])
    lines = line.replace("row", "rows").replace("place", "places").format(first)
    return [f"head {j // d_k + 1}, with {d_k} features, meets {lines}"]


def _named(asked: Asked, factor: float) -> str:
    known = {
        1 / asked.h: "1/h times",
        asked.h: "h times",
        asked.d_k**-0.5: "1/(the root of d_k) times",
        asked.d_k**0.5: "the root of d_k times",
        asked.d_model**-0.5: "1/(the root of d_model) times",
        asked.d_model**0.5: "the root of d_model times",
        1 / asked.d_k: "1/d_k times",
        1 / asked.n: "1/n times",
        asked.n: "n times",
        1 / asked.d_model: "1/d_model times",
        asked.d_model: "d_model times",
        -1.0: "the opposite of",
        asked.h**-0.5: "1/(the root of h) times",
    }
    return next((words for c, words in known.items() if abs(c - factor) < 2e-3), f"{factor:.4g} times")


def _other(asked: Asked, w_o: Tensor, matrix: Tensor, with_w_o: bool) -> str:
    """A matrix that isn't made of whole rows of W_O."""
    if not with_w_o:
        return "the concatenation is multiplied by a matrix"
    q, k, v = (w.double() for w in (asked.w_q, asked.w_k, asked.w_v))
    for name, other in (("W_Q", q), ("W_K", k), ("W_V", v)):
        for words, made in (
            (f"{name} stands where W_O should", other),
            (f"{name} transposed stands where W_O should", other.T),
            (f"{name} comes before W_O once more", other @ w_o),
            (f"{name} comes behind W_O", w_o @ other),
        ):
            if torch.allclose(matrix, made, atol=2e-3):
                return words
    if torch.allclose(matrix, w_o + torch.eye(len(w_o)), atol=2e-3):
        return "the concatenation is added to the output"
    changed = changed_matrix(matrix, w_o, asked.h)
    if changed:
        return changed
    after = torch.linalg.inv(w_o) @ matrix
    after = torch.where(after.abs() < 2e-3, torch.zeros_like(after), after)
    d = asked.d_model
    if int((after != 0).sum()) <= 2 * d:
        j = next((j for j in range(d) if after[:, j].nonzero()[:, 0].tolist() != [j]), None)
        if j is None:
            return "the features of the output are scaled, each with a factor of its own"
        got = after[:, j].nonzero()[:, 0].tolist()
        holds = f"what belongs in feature {got[0]}" if got else "nothing"
        return f"the features of the output are moved: feature {j} holds {holds}"
    if bool(((matrix.flatten()[:, None] - w_o.flatten()).abs().amin(1) < 2e-3).all()):
        return "the numbers of W_O stand in other places: rows and columns are mixed by a reshape"
    return "another matrix than W_O follows"
