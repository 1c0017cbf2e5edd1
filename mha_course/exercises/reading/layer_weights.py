"""What the weights of a wrong layer's heads are, once they have been read from its output."""

from __future__ import annotations

import itertools

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.evidence import Finding, in_a_row
from mha_course.exercises.reading.attention import other_scores
from mha_course.exercises.reading.factors import factor_finding, softmax_scale
from mha_course.exercises.reading.layer_probes import Asked, Call, drawn, fitted, seen_weights
from mha_course.exercises.reading.softmax import read_weights
from mha_course.exercises.reading.weights_over_axes import over_other_axes

_ID = "weights-of-heads"
_LOOK = "the steps from queries and keys to weights."


def read_head_weights(
    asked: Asked, have: Tensor, other: Asked | None, other_have: Tensor | None
) -> Finding | None:
    """What is wrong with weights (b, h, n, n) without a mask. other: a second draw; it tells sizes apart."""
    want = asked.weights().double()
    if torch.allclose(have, want, atol=1e-4):
        return None
    start = "The values and what comes behind the heads are right; the weights are not."
    empty = (have.abs().amax((0, 2, 3)) < 1e-6).tolist()
    right = ((have - want).abs().amax((0, 2, 3)) < 1e-4).tolist()
    if any(empty) and not all(empty):
        lost = [str(k + 1) for k, none in enumerate(empty) if none]
        names = f"Head {lost[0]}" if len(lost) == 1 else f"Heads {in_a_row(lost)}"
        start = f"{names} of {asked.h} {'gets' if len(lost) == 1 else 'get'} lost."
        if all(a or b for a, b in zip(empty, right, strict=True)):
            return Finding("heads-lost", f"{start} The rest is right.", look="where a loop starts and ends.")
        start += " And in the others the weights are wrong:"
    keep = torch.tensor([not none for none in empty] if any(empty) else [True] * asked.h)
    times = _constant_sum(have[:, keep])
    if times is not None:
        have = have / times
        start = f"{start} Behind the softmax they are multiplied by {times:.4g} (or the output is)."
        if torch.allclose(have[:, keep], want[:, keep], atol=1e-4):
            return Finding(_ID, start, look="a factor behind the softmax.")
    seen = [(asked.scores()[:, keep], asked.sizes, have[:, keep])]
    if other is not None and other_have is not None and not any(empty):
        seen.append((other.scores(), other.sizes, other_have / (times or 1.0)))
    found = _factor(seen)
    if found:
        plain = start.startswith("The values") and times is None
        return Finding(found.id, found.says if plain else f"{start} {found.says}", look=found.look)
    matched = "" if any(empty) else _other_heads(want, have)
    if matched:
        return Finding(
            _ID, f"{start} {matched}", look="which slice of queries and keys belongs to which head."
        )
    joint = over_other_axes(asked, have, want) if not any(empty) else ""
    if joint:
        return Finding(_ID, f"{start} {joint}", look="the axes over which sums are taken.")
    late = _relu(asked.scores()[:, keep], have[:, keep]) or _columns(have[:, keep])
    if late:
        return Finding(_ID, f"{start} {late}", look=_LOOK)
    q, k = (t[:, keep] for t in asked.queries_and_keys())
    # The reader of scores and weights allows for one rounding; here there were several.
    read = read_weights(asked.scores()[:, keep], _cleaned(have[:, keep]), None, tuple(other_scores(q, k)))
    if read:
        return Finding(_ID, f"{start} {read.says}", look=read.look)
    said = "" if any(empty) else _in_places(have) or _as_a_sum(asked, have)
    return Finding(_ID, f"{start} {said} {_sums(have[:, keep])}".strip(), look=_LOOK)


def read_hidden(mask: Tensor, call: Call) -> Finding | None:
    """What a layer that is right without a mask makes of one: masks of the same kind as the one given."""
    b, n, h, d_k = 2, 4, 3, 5
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    open_ = torch.tensor([[1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1]], dtype=torch.bool)
    lengths = (torch.arange(n) < torch.tensor([[3], [2]]))[:, None, None, :]
    if mask.ndim == 2:
        tried = [open_, causal]
    else:
        tried = [lengths if mask.shape[-2] == 1 else lengths & causal]
        if mask.shape[1] > 1:
            tried = [torch.stack([open_, causal, open_.T]).expand(b, h, n, n)]
    for one, spread in itertools.product(tried, (1.0, 5.0, 9.0)):
        asked = drawn(b, n, h, d_k, seed=6, mask=one, spread=spread)
        have = seen_weights(asked, call, True)
        if have is None or torch.allclose(have, asked.weights().double(), atol=1e-4):
            continue
        says = _of_mask(asked, have, one)
        if says:
            return Finding("mask-misread", says, look="where the mask takes effect, and on what.")
    return None


def _of_mask(asked: Asked, have: Tensor, mask: Tensor) -> str:
    full = mask.expand(asked.b, asked.h, asked.n, asked.n)
    low = _low_number(asked.scores().double(), have, full)
    if low:
        return low
    plain, want = asked.scores().double().softmax(-1), asked.weights().double()
    own = torch.eye(asked.n, dtype=torch.bool)
    others = {
        "The mask is transposed: rows and columns have changed places.": full.transpose(-2, -1),
        "The mask is not read: a causal mask stands in its place.": torch.ones_like(full).tril(),
        "A token's own place is open, whatever the mask says.": full | own,
        "A token's own place is hidden, whatever the mask says.": full & ~own,
        "The mask of head 1 is used for all heads.": full[:, :1].expand_as(full),
        "The mask of another sentence is used.": full.roll(1, 0),
        "Every sentence gets the mask of the first.": full[:1].expand_as(full),
        "Every sentence gets the mask of the last.": full[-1:].expand_as(full),
        "A key is hidden as soon as it is hidden in one of the sentences.": full.all(0, True).expand_as(full),
        "Rows are hidden in place of columns: queries are taken for keys.": (
            full[..., :1, :].transpose(-2, -1).expand_as(full)
        ),
    }
    scores = asked.scores().double()
    for words, turned in others.items():
        weights = scores.masked_fill(~turned, float("-inf")).softmax(-1).nan_to_num(1 / asked.n)
        safe = scores.masked_fill(~turned, -1e9).softmax(-1)
        if torch.equal(turned, full):
            continue
        if torch.allclose(weights, have, atol=1e-4) or torch.allclose(safe, have, atol=1e-4):
            return words
        if torch.allclose(plain * turned, have, atol=1e-4):
            return f"{words} And it comes after the softmax, so rows of weights don't sum to 1."
    for axis, name in ((1, "head"), (0, "sentence")):
        other = [a for a in range(4) if a != axis]
        right = (have - want).abs().amax(other) < 1e-4
        if bool(right.any()) and not bool(right.all()):
            some = in_a_row([str(k + 1) for k in right.nonzero()[:, 0].tolist()])
            bare = (have - plain).abs().amax(other) < 1e-4
            rest = " The others attend as if there were none." if bool((bare | right).all()) else ""
            one = int(right.sum()) == 1
            return f"Only {name}{'' if one else 's'} {some} of {len(right)} obey{'s' * one} the mask.{rest}"
    read = read_weights(asked.scores(), _cleaned(have), mask if mask.ndim == 2 else full)
    if read:
        return read.says
    leaking = float(have[~full].abs().max())
    if leaking > 1e-4:
        return f"Hidden keys still get weight, up to {leaking:.3g}. {_sums(have)}".strip()
    sums = _sums(have)
    tail = sums or "Among the open keys it is shared out wrongly."
    return f"Hidden keys get no weight, as it should be. {tail}"


def _low_number(scores: Tensor, have: Tensor, full: Tensor) -> str:
    """A number that hidden scores become, or that is added to them, and that is not low enough."""
    for number in (-1.0, -2.0, -5.0, -10.0, -15.0, -20.0, -25.0, -30.0, -40.0, -50.0, -60.0, -80.0, -100.0):
        if torch.allclose(scores.masked_fill(~full, number).softmax(-1), have, atol=1e-4):
            return (
                f"Hidden scores become {number:g}. That is not low enough: other scores can be lower still."
            )
        if torch.allclose((scores + number * ~full).softmax(-1), have, atol=1e-4):
            return f"{number:g} is added to hidden scores. That is not enough where scores are large."
    return ""


def _cleaned(have: Tensor) -> Tensor:
    return torch.where(have.abs() < 2e-6, torch.zeros_like(have), have)


def _factor(seen: list[tuple[Tensor, dict[str, int], Tensor]]) -> Finding | None:
    """A wrong factor of the scores, seen in draws of scores, sizes and weights."""
    sizes, scales = [], []
    for scores, of, have in seen:
        scale = softmax_scale(scores, have)
        if scale is None or not torch.allclose(have.sum(-1), torch.ones(()).double(), atol=1e-4):
            return None
        sizes.append(of)
        scales.append(scale)
    return factor_finding(sizes, scales, " on their way into the softmax")


def _constant_sum(have: Tensor) -> float | None:
    """What every row sums to, where that is always the same and neither 0 nor 1."""
    sums = have.sum(-1)
    mean = float(sums.mean())
    if float(sums.max() - sums.min()) > 1e-3 * abs(mean) or abs(mean) < 1e-3 or abs(mean - 1) < 1e-3:
        return None
    return mean


def _relu(scores: Tensor, have: Tensor) -> str:
    scores = scores.double().relu()
    total = scores.sum(-1, keepdim=True)
    if torch.allclose(scores / total.clamp_min(1e-9), have, atol=1e-3) and bool((total > 0).any()):
        return (
            "Negative scores become 0 and the rest is divided by its sum: a ReLU in place of the exponential."
        )
    return ""


def _columns(have: Tensor) -> str:
    sums = have.sum(-2)
    mean = float(sums.mean())
    if float(sums.max() - sums.min()) > 1e-3 * abs(mean) or abs(mean) < 1e-3:
        return ""
    other = "" if abs(mean - 1) < 1e-3 else f" And they are multiplied by {mean:.4g}."
    return f"They are normalised over the queries: each column sums to the same, not each row.{other}"


def _other_heads(want: Tensor, have: Tensor) -> str:
    """Heads that have the weights of others."""
    h = want.shape[1]
    of = [
        next((j for j in range(h) if torch.allclose(have[:, i], want[:, j], atol=1e-4)), None)
        for i in range(h)
    ]
    if None in of:
        right = [i for i in range(h) if of[i] == i]
        if right and len(right) < h:
            some = in_a_row([str(i + 1) for i in right])
            one = len(right) == 1
            return (
                f"Only {'head' if one else 'heads'} {some} of {h} {'has' if one else 'have'} the right ones."
            )
        mean = want.mean(1, keepdim=True).expand_as(want)
        if torch.allclose(have, mean, atol=1e-4):
            return "Every head has the average of all heads' weights."
        return ""
    if len(set(of)) == 1:
        return f"All heads have the weights of head {of[0] + 1}."
    return f"{in_a_row([f'head {i + 1} has those of head {j + 1}' for i, j in enumerate(of) if i != j])}."


def _in_places(have: Tensor) -> str:
    """Weights that don't depend on what the tokens are."""
    n = have.shape[-1]
    if torch.allclose(have, torch.full_like(have, 1 / n), atol=1e-4):
        return "All keys get the same weight: scores play no part."
    if torch.allclose(have, torch.eye(n).double().expand_as(have), atol=1e-4):
        return "Each token attends to itself alone."
    if torch.allclose(have, have[..., :1, :].expand_as(have), atol=1e-4):
        return "Every query gives the same weights: the queries play no part."
    if torch.allclose(have, have[:1].expand_as(have), atol=1e-4):
        return "Every sentence gets the same weights."
    if torch.allclose(have, have[:, :1].expand_as(have), atol=1e-4):
        return "All heads have the same weights."
    zero = have.abs() < 1e-6
    if bool(zero.any()) and bool((zero == zero[:1, :1]).all()):
        query, key = zero[0, 0].nonzero()[0].tolist()
        return (
            f"Some keys get no weight although there is no mask: query {query} gives key {key} none. Is a "
            "mask made inside?"
        )
    if bool(((have - 1).abs() < 1e-4).any(-1).all()):
        return "Each query puts all its weight on a single key: the largest score wins everything."
    return ""


def _as_a_sum(asked: Asked, have: Tensor) -> str:
    """What the scores were, from differences of logarithms: a sum of products of q, k, v and x."""
    if bool((have <= 1e-9).any()):
        return ""
    q, k = (t.double() for t in asked.queries_and_keys())
    v, x = asked.split(asked.x @ asked.w_v).double(), asked.split(asked.x).double()
    named = {"queries": q, "keys": k, "values": v, "slices of x": x}
    products = {f"{a} with {b}": one @ two.mT for a, one in named.items() for b, two in named.items()}
    whole = {"queries": asked.x @ asked.w_q, "keys": asked.x @ asked.w_k, "x": asked.x}
    for a, one in whole.items():
        for b, two in whole.items():
            full = (one @ two.mT).double()[:, None].expand_as(have)
            products[f"all features of {a} with all of {b}, heads not split"] = full
    products["queries with keys, both of length 1"] = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT
    products["the same for every head: queries with keys, summed over heads"] = (
        (q @ k.mT).sum(1, keepdim=True).expand_as(have)
    )
    places = torch.arange(asked.n, dtype=torch.float64)
    products["a number that grows with the key's place"] = places.expand_as(have)
    products["a number for the distance of the places"] = (places[:, None] - places).abs().expand_as(have)
    products["a number for a token's own place"] = torch.eye(asked.n).double().expand_as(have)
    # A token's place is the plainer reading, where the tokens of the draw happen to be at right angles.
    products = dict(sorted(products.items(), key=lambda item: not item[0].startswith("a number")))
    names, tables = list(products), [_centred(p) for p in products.values()]
    target = _centred(have.log())
    for count in (1, 2):
        for picked in _choices(len(names), count, names.index("queries with keys")):
            table = torch.stack([tables[p].flatten() for p in picked], -1)
            found = fitted(table, target.flatten())
            if found is not None and bool((found.abs() > 1e-3).all()):
                parts = [
                    "the right scores"
                    if names[p] == "queries with keys" and abs(float(c) - asked.d_k**-0.5) < 1e-3
                    else f"{float(c):.3g} times {names[p]}"
                    for c, p in zip(found, picked, strict=True)
                ]
                return f"What goes into the softmax reads as {' plus '.join(parts)}."
    return ""


def _choices(count: int, picked: int, base: int) -> list[tuple[int, ...]]:
    """Single ones, or pairs of which one is the products of queries and keys."""
    return [(p,) for p in range(count)] if picked == 1 else [(base, p) for p in range(count) if p != base]


def _centred(scores: Tensor) -> Tensor:
    return scores - scores.mean(-1, keepdim=True)


def _sums(have: Tensor) -> str:
    """Along which axis weights sum to 1, where it isn't the keys."""
    if torch.allclose(have.sum(-1), torch.ones(()).double(), atol=1e-3):
        return ""
    for axis, words in ((-2, "the queries"), (1, "the heads"), (0, "the sentences")):
        sums = have.sum(axis)
        if torch.allclose(sums, torch.ones_like(sums), atol=1e-3):
            return f"Weights sum to 1 over {words}, not over the keys."
    sums = have.sum(-1)
    if float(sums.max() - sums.min()) < 1e-3:
        return f"Every row of weights sums to {round(float(sums.mean()), 4):g}, not to 1."
    return f"Rows of weights don't sum to 1: one sums to {float(sums.flatten()[0]):.4g}."
