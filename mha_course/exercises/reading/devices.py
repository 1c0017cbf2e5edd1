"""What wrong shares of devices hold: heads, cuts, scores and sums; else what each share is made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.mistakes.of_devices import (
    DEVICE_MISTAKES,
    features_of,
    in_order,
    shares_with,
)
from mha_course.exercises.mistakes.workbench import (
    first_for_all,
    heads_with,
    layer_with,
    merge_interleaved,
    merge_reversed,
    split,
)
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading.device_probes import read_backwards
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, of_the_whole, rare

_TAKES = (
    rare("W_Q and W_K have changed places.", lambda q, k, v, o: (k, q, v, o)),
    rare("W_K and W_V have changed places.", lambda q, k, v, o: (q, v, k, o)),
    rare("W_Q and W_V have changed places.", lambda q, k, v, o: (v, k, q, o)),
    rare("Keys are made with W_Q.", lambda q, k, v, o: (q, q, v, o)),
    rare("Queries are made with W_K.", lambda q, k, v, o: (k, k, v, o)),
    rare("Values are made with W_K.", lambda q, k, v, o: (q, k, k, o)),
    rare("Values are made with W_Q.", lambda q, k, v, o: (q, k, q, o)),
    rare("Keys are made with W_V.", lambda q, k, v, o: (q, v, v, o)),
    rare("Queries are made with W_V.", lambda q, k, v, o: (v, k, v, o)),
    rare("Everything is made with W_Q.", lambda q, k, v, o: (q, q, q, o)),
    rare("W_O is transposed.", lambda q, k, v, o: (q, k, v, o.T)),
    rare("W_Q, W_K and W_V are transposed.", lambda q, k, v, o: (q.T, k.T, v.T, o)),
    rare("All four matrices are transposed.", lambda q, k, v, o: (q.T, k.T, v.T, o.T)),
    rare("W_V stands for W_O.", lambda q, k, v, o: (q, k, v, v)),
    rare("W_Q stands for W_O.", lambda q, k, v, o: (q, k, v, q)),
    rare("W_K stands for W_O.", lambda q, k, v, o: (q, k, v, k)),
)
_HOLDS = (
    rare("Every device holds the last heads.", lambda h, devices, d: in_order(h, devices, d)[-1:] * devices),
    rare(
        "Each device starts one head after the other, and they overlap.",
        lambda h, devices, d: [features_of(range(r, r + h // devices), d) for r in range(devices)],
    ),
    rare(
        "Each device starts one feature after the other, and they overlap.",
        lambda h, devices, d: [torch.arange(r, r + h // devices * d) for r in range(devices)],
    ),
    rare(
        "Each device starts one head's width after the other; they overlap.",
        lambda h, devices, d: [torch.arange(r * d, r * d + h // devices * d) for r in range(devices)],
    ),
    rare("The heads of each device are in reverse order.", lambda h, devices, d: _reversed(h, devices, d)),
    rare("The last device is missing.", lambda h, devices, d: in_order(h, devices, d)[:-1]),
    rare("The first device is missing.", lambda h, devices, d: in_order(h, devices, d)[1:]),
    rare(
        "Each device holds all heads from its first one on.",
        lambda h, devices, d: [features_of(range(r * h // devices, h), d) for r in range(devices)],
    ),
    rare(
        "Each device holds all heads up to its last one.",
        lambda h, devices, d: [features_of(range((r + 1) * h // devices), d) for r in range(devices)],
    ),
)
_CUTS = (
    rare("Every device has the first columns of W_Q, W_K and W_V.", lambda w, own: w[:, : len(own)]),
    rare("Every device has the last columns of W_Q, W_K and W_V.", lambda w, own: w[:, -len(own) :]),
    rare("W_Q, W_K and W_V are transposed before they are cut.", lambda w, own: w.T[:, own]),
)
_MANY = (rare("As many heads as devices are cut on each.", lambda h, devices: devices),)
_HEADS = (
    rare("Every head on a device gets the features of its first one.", first_for_all),
    rare("The heads of a device are in reverse order.", lambda t, h: split(t, h).flip(1)),
)
_FACTORS = (
    rare("The scores are divided by d_k, not by its root.", lambda q, **sizes: 1 / q.shape[-1]),
    rare("The scores are multiplied by the root of d_k.", lambda q, **sizes: math.sqrt(q.shape[-1])),
    rare("The scores are multiplied by d_k.", lambda q, **sizes: q.shape[-1]),
    rare("The scores are divided by the root of n.", lambda q, n, **sizes: 1 / math.sqrt(n)),
    rare("The scores are divided by the root of h.", lambda q, h, **sizes: 1 / math.sqrt(h)),
    rare(
        "The scores are divided by the root of the heads on a device.",
        lambda q, **sizes: 1 / math.sqrt(q.shape[1]),
    ),
    rare("The root of d_k is rounded down.", lambda q, **sizes: 1 / math.isqrt(q.shape[-1])),
    rare("The scores are negative.", lambda q, **sizes: -1 / math.sqrt(q.shape[-1])),
    rare(
        "The scores are divided by the root of twice d_k.", lambda q, **sizes: 1 / math.sqrt(2 * q.shape[-1])
    ),
    rare("The scores are divided by exp(d_k).", lambda q, **sizes: math.exp(-q.shape[-1])),
    rare("The scores are divided by d_k - 1 under the root.", lambda q, **s: 1 / math.sqrt(q.shape[-1] - 1)),
    rare("The scores are divided by d_k + 1 under the root.", lambda q, **s: 1 / math.sqrt(q.shape[-1] + 1)),
)
_SOFTENS = (
    rare("There is no softmax.", lambda s: s),
    rare("The softmax is taken over the sentences.", lambda s: s.softmax(0)),
    rare("The softmax is a log_softmax.", lambda s: s.log_softmax(-1)),
    rare("The softmax is a sigmoid.", lambda s: s.sigmoid()),
    rare("A causal mask hides later tokens; none is asked for.", lambda s: _causal(s).softmax(-1)),
    rare("All weights are equal.", lambda s: torch.full_like(s, 1 / s.shape[-1])),
    rare("The largest weight is 1, all others 0.", lambda s: (s == s.amax(-1, keepdim=True)).to(s)),
    rare("Exponentials are taken, and no row is divided by its sum.", lambda s: s.exp()),
    rare("Every softmax is taken twice.", lambda s: s.softmax(-1).softmax(-1)),
    rare(
        "Exponentials are divided by the sum over all keys and queries.",
        lambda s: s.flatten(-2).softmax(-1).view_as(s),
    ),
    rare("The weights are turned round: keys look at queries.", lambda s: s.softmax(-1).mT),
)
_JOINS = (
    rare("The features of the heads alternate when they are joined.", merge_interleaved),
    rare("The last head comes first when they are joined.", merge_reversed),
)
_ROWS = (
    rare("Every device has the last rows of W_O.", lambda w_o, own: w_o[-len(own) :]),
    rare("The columns of W_O are taken, and transposed.", lambda w_o, own: w_o[:, own].T),
    rare("The rows of W_O are those of the next device.", lambda w_o, own: w_o.roll(-len(own), 0)[own]),
    rare("The rows of W_O are those of the device before.", lambda w_o, own: w_o.roll(len(own), 0)[own]),
    rare(
        "W_O is dealt out row by row.", lambda w_o, own: w_o[int(own[0]) // len(own) :: len(w_o) // len(own)]
    ),
    rare("The rows of a device are in reverse order.", lambda w_o, own: w_o[own.flip(0)]),
)
_GATHERS = (
    rare("The shares are summed up one after the other (`cumsum`).", lambda s: torch.stack(s).cumsum(0)),
    rare("The axis of devices is the last one.", lambda s: torch.stack(s, -1)),
    rare("The axis of devices stands behind that of tokens.", lambda s: torch.stack(s, 2)),
    rare("The shares stand below one another as more sentences.", lambda s: torch.cat(s)),
    rare("The shares stand below one another as more tokens.", lambda s: torch.cat(s, 1)),
    rare("Only the share of the last device comes back.", lambda s: s[-1]),
    rare("Only the share of the first device comes back.", lambda s: s[0]),
    rare("The share of the last device stands for all.", lambda s: torch.stack([s[-1]] * len(s))),
    rare("Every share is divided by the number of devices.", lambda s: torch.stack(s) / len(s)),
    rare("Every share is multiplied by the number of devices.", lambda s: torch.stack(s) * len(s)),
    rare("The shares are multiplied with one another.", lambda s: torch.stack(s).prod(0)),
)
_PROJECTS = (
    rare("The projections go through a ReLU.", lambda x, w, own: (x @ w).relu()),
    rare("`x` is added to its projections.", lambda x, w, own: x @ w + x[..., own]),
    rare("There is no projection: a device has its part of `x`.", lambda x, w, own: x[..., own]),
)
_WHOLES = (
    rare(
        "The concatenation is not cut: every device has all heads, and the rows of W_O of its own.",
        lambda x, q, k, v, o, h, devices: _masked_rows(x, q, k, v, o, h, devices),
    ),
    rare("The sentences are shared out to the devices.", lambda *given: _along(0, *given)),
    rare("The tokens are shared out to the devices.", lambda *given: _along(1, *given)),
    rare("The output is cut into the features of the devices.", lambda *given: _cut_output(*given)),
)


def _reversed(h: int, devices: int, d_k: int) -> list[Tensor]:
    each = h // devices
    return [features_of(range((r + 1) * each - 1, r * each - 1, -1), d_k) for r in range(devices)]


def _causal(s: Tensor) -> Tensor:
    hidden = torch.ones(s.shape[-2:], dtype=torch.bool).triu(1)
    return s.masked_fill(hidden, float("-inf"))


def _masked_rows(*given: Any) -> Tensor:
    x, q, k, v, o, h, devices = given
    concat = heads_with(x, q, k, v, h)
    return torch.stack([concat @ torch.roll(o, -r, 0) for r in range(devices)])


def _along(axis: int, *given: Any) -> Tensor:
    *layer, devices = given
    return torch.cat(layer_with(*layer).chunk(devices, axis)).unsqueeze(0)


def _cut_output(*given: Any) -> Tensor:
    *layer, devices = given
    output = layer_with(*layer)
    own = torch.arange(output.shape[-1]) * devices // output.shape[-1]
    return torch.stack([output * (own == r) for r in range(devices)])


def _slot(name: str, look: str, ways: tuple[Way, ...] = ()) -> Slot:
    return Slot(name, look, (*ways_of(DEVICE_MISTAKES, name), *ways))


_RECIPE = Recipe(
    shares_with,
    (
        _slot("holds", "which heads a device holds.", _HOLDS),
        _slot("cut", "how W_Q, W_K and W_V are cut.", _CUTS),
        _slot("rows", "how W_O is cut.", _ROWS),
        _slot("many", "the number of heads on a device.", _MANY),
        _slot("heads", "how features become heads.", _HEADS),
        _slot("factor", "the factor of the scores.", _FACTORS),
        _slot("soften", "what becomes of the scores.", _SOFTENS),
        _slot("join", "how heads are joined.", _JOINS),
        _slot("fuse", "what comes behind the heads."),
        _slot("gather", "how shares are put together.", _GATHERS),
        _slot("project", "what is done with `x`.", _PROJECTS),
        _slot("take", "which matrix is used for what.", _TAKES),
        _slot("whole", "what each device computes.", _WHOLES),
    ),
)


def read_devices(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The steps done otherwise where they are known; else which heads are in each share, and their sum."""
    found = _RECIPE.read(evidence, i, call)
    if found:
        return found
    given = evidence.cases[i].arguments
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    if have.shape != want.shape or not have.is_floating_point() or not bool(have.isfinite().all()):
        return None
    if of_the_whole(evidence, i):
        return None  # of the whole, which is told elsewhere
    return _of_order(want, have) or _of_heads(given, have) or read_backwards(call) or _of_sum(want, have)


def _of_order(want: Tensor, have: Tensor) -> Finding | None:
    """The right shares in another order."""
    if len(want) > 4:
        return None
    for order in permutations(range(len(want))):
        if list(order) != sorted(order) and close(want[list(order)], have):
            listed = ", ".join(str(r + 1) for r in order)
            says = f"The shares are right, in another order: {listed}."
            return Finding("devices-in-another-order", says, look="the order in which shares are collected.")
    return None


def _of_heads(given: tuple[Any, ...], have: Tensor) -> Finding | None:
    """What each share is made of, as a sum of the heads' contributions."""
    *_, h, devices = given
    each = shares_with(*given[:-1], h)  # one device a head: (h, b, n, d_model)
    solved = torch.linalg.lstsq(each.double().flatten(1).T, have.double().flatten(1).T)
    factors = solved.solution.T
    rest = have.double().flatten(1) - factors @ each.double().flatten(1)
    if float(rest.abs().max()) > 1e-3 * float(have.abs().max().clamp_min(1e-6)):
        return None
    right = torch.arange(h) * devices // h
    for r in range(devices):
        wanted = (right == r).double()
        if torch.allclose(factors[r], wanted, atol=1e-2):
            continue
        held = [j + 1 for j in range(h) if abs(float(factors[r, j])) > 1e-2]
        own = [j + 1 for j in range(h) if right[j] == r]
        names = in_a_row([str(j) for j in held]) or "none"
        wanted_names = in_a_row([str(j) for j in own])
        says = f"The share of device {r + 1} is made of heads {names}; it should be of {wanted_names}."
        if held == own:
            off = next(j for j in own if abs(float(factors[r, j - 1]) - 1) > 1e-2)
            says = (
                f"In the share of device {r + 1}, head {off} counts {float(factors[r, off - 1]):.4g} times."
            )
        return Finding("other-heads", says, look="which heads a device holds.")
    return None


def _of_sum(want: Tensor, have: Tensor) -> Finding | None:
    """Whether at least the sum is right, or some of the shares."""
    if close(want.sum(0), have.sum(0)):
        says = "The sum over the devices is the layer's output, but its shares are not those of whole heads."
        return Finding("sum-right", says, look="what is cut: columns of three matrices, rows of the fourth.")
    right = [r for r in range(len(want)) if close(want[r], have[r])]
    if right:
        names = in_a_row([str(r + 1) for r in right])
        says = f"Of {len(want)} shares, that of device {names} is right, and the others are not."
        return Finding("not-all-shares", says, look="where the number of the device takes part.")
    return None
