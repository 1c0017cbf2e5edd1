"""Reading which rows of W_O each head meets: one number at a time goes in; what comes out is looked up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.changed_matrix import changed_matrix

Call = Callable[[tuple[Any, ...]], Outcome]

_H, _N, _D_V = 3, 2, 4
_WIDTH = _H * _D_V


def read_blocks(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """What a wrong `head_contributions` multiplies with what; None when it can't be read."""
    g = torch.Generator().manual_seed(11)
    w = torch.randn(_WIDTH, _WIDTH, generator=g) + 0.1
    single = torch.eye(_H * _N * _D_V).reshape(-1, _H, _N, _D_V)
    heads = torch.randn(5, _H, _N, _D_V, generator=g)
    out, before = _aligned(_tensor(call((single.clone(), w.clone()))), len(single))
    whole, _ = _aligned(_tensor(call((heads.clone(), w.clone()))), len(heads))
    if out is None or whole is None:
        return _with(before, None, evidence, i) if before else _shape(evidence, i)
    # (head, token, feature) that goes in, (place, token) that comes out, and the row that it is multiplied by
    answer = out.reshape(_H, _N, _D_V, -1, _N, _WIDTH).double()
    made = torch.einsum("bhtp,htpijm->bijm", heads.double(), answer)
    if not torch.allclose(made, whole.double(), atol=1e-3):
        return _with(before, _no_product(call, heads, w), evidence, i)
    goes = answer.abs().amax(-1) > 1e-6
    elsewhere = ~torch.eye(_N, dtype=torch.bool)[None, :, None, None, :]
    if bool((goes & elsewhere).any()):
        return _with(before, _mixed_tokens(answer, w.double()), evidence, i)
    feeds, rows = goes[:, 0, :, :, 0].any(1), answer[:, 0, :, :, 0]
    found = _heads(feeds, rows, w.double()) if rows.shape[2] == _H else _summed(feeds, rows, w.double())
    return _with(before, found, evidence, i)


def _aligned(out: Tensor | None, count: int) -> tuple[Tensor | None, str]:
    """The result with its axes as they should be, and what is wrong with their order."""
    if out is None:
        return None, ""
    shape = tuple(out.shape)
    if shape == (count, _H, _N, _WIDTH):
        return out, ""
    if shape == (_H, count, _N, _WIDTH):
        return out.transpose(0, 1), "The axis of heads stands in front of the batch."
    if shape == (count, _N, _H, _WIDTH):
        return out.transpose(1, 2), "The axis of heads stands behind the tokens."
    if shape == (count, _N, _H * _WIDTH):
        words = "The shares stand beside each other along the features; an axis of heads is wanted."
        return out.reshape(count, _N, _H, _WIDTH).transpose(1, 2), words
    if shape == (_H * count, _N, _WIDTH):
        words = "The shares lie behind each other along the sentences; an axis of heads is wanted."
        return out.reshape(_H, count, _N, _WIDTH).transpose(0, 1), words
    if shape == (count, _H * _N, _WIDTH):
        words = "The shares lie behind each other along the tokens; an axis of heads is wanted."
        return out.reshape(count, _H, _N, _WIDTH), words
    if shape == (count, _N, _WIDTH):
        return out[:, None], "The axis of heads is gone."
    if shape == (count, _H, _N, _D_V):
        return None, "The result is d_v wide, as the heads are: there is no matrix product with W_O's blocks."
    if shape == (count, _H - 1, _N, _WIDTH):
        return None, "One head is missing: the loop starts too late or ends too early."
    return None, ""


def _with(before: str, found: Finding | None, evidence: Evidence, i: int) -> Finding | None:
    """Both what is wrong with the axes and what is wrong with the numbers."""
    if not before:
        return found
    have = tuple(evidence.got[i].leaves[0].shape)
    says = f"{before} Yours has shape `{have}`; wanted is `(b, h, n, d_model)`."
    if found is None:
        return Finding("axes-of-contributions", says, look="the axes of the result, one after the other.")
    return Finding(f"axes-of-contributions+{found.id}", f"{says} And: {found.says}", look=found.look)


def _summed(feeds: Tensor, answer: Tensor, w: Tensor) -> Finding | None:
    """Which heads are in a sum, and what each of them meets."""
    found = [j for j in range(_H) if feeds[j, 0]]
    if not found:
        return Finding("share-missing", "And it is 0: no head goes into it.", look="the product with W_O.")
    if len(found) < _H:
        names = in_a_row([str(j + 1) for j in found])
        one = len(found) == 1
        says = f"Only head{'' if one else 's'} {names} of {_H} {'comes' if one else 'come'} out."
        return Finding("some-heads-only", says, look="where the loop ends, or returns.")
    matrix = answer[:, :, 0].flatten(0, 1)
    if torch.allclose(matrix, w, atol=1e-5):
        return Finding("summed-up", "The shares are added up already: this is the output.", look="a sum.")
    for times, words in ((1 / _H, "averaged"), (1 / _H**0.5, "added up and divided by the root of h")):
        if torch.allclose(matrix, times * w, atol=1e-5):
            return Finding("summed-up", f"The shares are {words}.", look="a sum or a mean over the heads.")
    changed = changed_matrix(matrix, w, _H, closely=1e-4)
    says = f"The shares are added up; and {changed or 'W_O is not as it should be'}."
    return Finding("summed-up", says, look="the rows of W_O that belong to a head, and a sum.")


def _mixed_tokens(answer: Tensor, w: Tensor) -> Finding:
    look = "how axes are moved and joined before the product."
    # In memory the heads lie as (head, token, feature); joined by reshape alone, that order is cut anew.
    flat = answer.sum(3).reshape(-1, _N, _WIDTH)
    places = torch.arange(len(flat))
    cut = torch.zeros_like(flat)
    cut[places, places // _WIDTH] = w[places % _WIDTH]
    if torch.allclose(flat, cut, atol=1e-5):
        says = "The heads are joined by `reshape` alone: a row of the concatenation holds several tokens."
        return Finding(
            "tokens-mixed", says, look="the axes, before `reshape`: what should stand side by side?"
        )
    says = "Tokens are mixed: a token's share holds numbers of other tokens."
    return Finding("tokens-mixed", says, look=look)


def _heads(feeds: Tensor, answer: Tensor, w: Tensor) -> Finding | None:
    """feeds: (head that goes in, place it comes out). answer: (head, feature, place, d_model)."""
    sources = [[j for j in range(_H) if feeds[j, place]] for place in range(_H)]
    for place, found in enumerate(sources):
        if not found:
            says = f"Head {place + 1}'s share is 0: nothing goes into it."
            return Finding("share-missing", says, look="which heads the loop or the slice reaches.")
        if len(found) > 1:
            names = in_a_row([str(j + 1) for j in found])
            says = f"The share of head {place + 1} holds heads {names}. Each share is of one head."
            return Finding("heads-mixed", says, look="a sum over heads, and which axis it goes along.")
    moved = [(place, found[0]) for place, found in enumerate(sources) if found != [place]]
    rows = [[_met(answer[found[0], p, place], w) for p in range(_D_V)] for place, found in enumerate(sources)]
    if moved:
        place, head = moved[0]
        says = f"In the place of head {place + 1} stands the share of head {head + 1}."
        says += f" It meets {_in_words(rows[place])}."
        return Finding("heads-in-other-places", says, look="the order of the heads.")
    wanted = [[("row", head * _D_V + p, 1.0) for p in range(_D_V)] for head in range(_H)]
    wrong = [head for head in range(_H) if rows[head] != wanted[head]]
    if not wrong:
        return None
    factors = {
        m[2] / w[2] if m and m[:2] == w[:2] else None
        for head in range(_H)
        for m, w in zip(rows[head], wanted[head], strict=True)
    }
    if len(factors) == 1 and None not in factors:
        times = _named(factors.pop())
        says = (
            f"Every head meets its rows of W_O, but with a factor: each share is {times} what it should be."
        )
        return Finding("a-factor", says, look="a factor or a division; shares are summed as they are.")
    changed = changed_matrix(torch.stack([answer[i, :, i] for i in range(_H)]).flatten(0, 1), w, _H, 1e-4)
    if changed:
        says = f"{changed[:1].upper()}{changed[1:]} (with {_H} heads of {_D_V} features)."
        return Finding("other-rows", says, look="the places of a head in the concatenation: its rows of W_O.")
    said = {head: _in_words(rows[head]) for head in wrong}
    if len(wrong) == _H and len(set(said.values())) == 1:
        told = f"every head meets {said[0]}"
    else:
        told = "; ".join(f"head {head + 1} meets {said[head]}" for head in wrong[:2])
    says = f"With {_H} heads of {_D_V} features, {told}."
    right = [str(head + 1) for head in range(_H) if head not in wrong]
    if any(None not in rows[a] and rows[a] == rows[b] for a in range(_H) for b in range(a)):
        says += " The same rows serve several heads."
    if right:
        says += f" Right {'is head' if len(right) == 1 else 'are heads'} {in_a_row(right)}."
    elif all(m and m[0] == "row" and m[1] // _D_V == head for head in range(_H) for m in rows[head]):
        says += " These are its own rows, in another order or with other factors."
    return Finding(
        "other-rows", says, look="the places of a head in the concatenation, and what meets these."
    )


def _named(times: float) -> str:
    """A factor in words, where it is made of the sizes at hand."""
    made = {
        1 / _H: "1/h times",
        float(_H): "h times",
        1 / _D_V: "1/d_v times",
        float(_D_V): "d_v times",
        1 / _WIDTH: "1/d_model times",
        float(_WIDTH): "d_model times",
        1 / _N: "1/n times (or half)",
        float(_N): "n times (or twice)",
        _D_V**-0.5: "1/(the root of d_v) times (or half)",
        -1.0: "the opposite of",
        _WIDTH**-0.5: "1/(the root of d_model) times",
        _H**-0.5: "1/(the root of h) times",
    }
    return next((words for size, words in made.items() if abs(size - times) < 1e-3), f"{times:.4g} times")


def _met(row: Tensor, w: Tensor) -> tuple[str, int, float] | None:
    """Which row or column of W_O a feature is multiplied by, and how often; None when by neither."""
    if float(row.abs().max()) < 1e-6:
        return ("nothing", 0, 0.0)
    for kind, lines in (("row", w), ("column", w.T)):
        factors = (lines @ row) / (lines * lines).sum(1)
        fits = (lines * factors[:, None] - row).abs().amax(1) < 1e-4
        if bool(fits.any()):
            k = int(fits.nonzero()[0])
            return (kind, k, round(float(factors[k]), 4))
    if bool((row[:, None] - w.flatten()).abs().amin(1).amax() < 1e-5):
        return ("scattered", 0, 1.0)
    return None


def _in_words(met: list[tuple[str, int, float] | None]) -> str:
    """The rows that one head's features meet, in words."""
    kinds = {m[0] if m else "mix" for m in met}
    if kinds == {"nothing"}:
        return "nothing"
    if "scattered" in kinds:
        return "numbers from several rows of W_O side by side: rows and columns are mixed by a reshape"
    if kinds == {"mix"}:
        return "no row and no column of W_O: W_O is changed before the product, or something is added up"
    if len(kinds) > 1:
        met = [m for m in met if m and m[0] in ("row", "column")]
        kind = in_a_row(sorted({m[0] for m in met}))
        idle = " (some of its features meet nothing)" if "nothing" in kinds else ""
        return f"{kind}s {in_a_row([str(m[1]) for m in met])} of W_O{idle}"
    kind = next(iter(kinds))
    places = [m[1] for m in met if m]
    factors = {m[2] for m in met if m}
    times = f", {factors.pop():g} times" if len(factors) == 1 and factors != {1.0} else ""
    times = ", each with another factor" if len(factors) > 1 else times
    if len(set(places)) == 1:
        return f"{kind} {places[0]} of W_O with all its features{times}"
    return f"{kind}s {in_a_row([str(p) for p in places])} of W_O{times}"


def _no_product(call: Call, heads: Tensor, w: Tensor) -> Finding | None:
    """What holds of an answer that is no sum of products of the heads with one and the same matrix."""
    zero = _tensor(call((torch.zeros_like(heads), w.clone())))
    once, twice = _tensor(call((heads.clone(), w.clone()))), _tensor(call((2 * heads, w.clone())))
    if zero is None or once is None or twice is None:
        return None
    look = "what happens besides the product with W_O."
    if float(zero.abs().max()) > 1e-5:
        says = "Heads full of zeros should contribute nothing; here something is added, or a softmax applied."
        return Finding("something-added", says, look=look)
    if torch.allclose(twice, once, atol=1e-4):
        says = "Heads twice as large contribute the same: something is normalised."
        return Finding("something-normalised", says, look=look)
    if not torch.allclose(twice, 2 * once, atol=1e-3):
        says = "Heads twice as large don't contribute twice as much: this is more than a product with W_O."
        return Finding("no-product", says, look=look)
    turned = _tensor(call((-heads, w.clone())))
    if turned is not None and not torch.allclose(turned, -once, atol=1e-3):
        says = "Heads of the opposite sign don't contribute the opposite: signs are dropped somewhere."
        return Finding("no-product", says, look=look)
    if torch.allclose(_alone(call, heads, w), once[:1], atol=1e-3):
        return None
    says = "Sentences influence each other: alone, the first sentence gets other shares."
    return Finding("sentences-mix", says, look="what happens to axis 0.")


def _alone(call: Call, heads: Tensor, w: Tensor) -> Tensor:
    """The first sentence's shares when it comes alone."""
    out = _tensor(call((heads[:1].clone(), w.clone())))
    return torch.zeros(()) if out is None else out


def _shape(evidence: Evidence, i: int) -> Finding | None:
    """Which axis is gone from the answer."""
    sizes, have = evidence.cases[i].sizes, evidence.got[i].leaves[0].shape
    words = {"b": "sentences", "h": "heads", "n": "tokens", "d_model": "features"}
    gone = [name for name in words if sizes.get(name) not in have]
    if len(gone) != 1 or len(have) != 3:
        return None
    says = (
        f"The axis of {words[gone[0]]} is gone: the result should be `(b, h, n, d_model)`, yours has shape "
    )
    return Finding("axis-gone", f"{says}`{tuple(have)}`.", look="a sum, a mean, or an index along that axis.")


def _tensor(out: Outcome) -> Tensor | None:
    if out.error is not None or len(out.leaves) != 1 or not out.leaves[0].is_floating_point():
        return None
    return out.leaves[0]
