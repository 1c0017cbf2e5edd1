"""Reading weights by place: which keys get none, which too much, which hidden ones still count."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.evidence import in_a_row
from mha_course.exercises.reading.rows import mixed_rows, row_sums
from mha_course.exercises.reading.weights import NEG_INF, Reading, near
from mha_course.exercises.witness import number

_LOOK_MASK = "where the mask takes effect, and on what."


def read_places(scores: Tensor, have: Tensor, mask: Tensor | None) -> Reading | None:
    """What wrong weights show entry by entry: hidden keys with weight, open keys without, added terms.

    scores: as they should be, (..., n_q, n_k). mask: True = may attend, or None.
    """
    scores, have = scores.double(), have.double()
    if not bool(have.isfinite().all()):
        return None
    hidden = torch.zeros_like(scores, dtype=torch.bool) if mask is None else (~mask).expand_as(scores)
    found = _other_mask(scores, have, mask) if mask is not None else None
    found = found or _leak(scores, have, hidden) or _lacking(scores, have, hidden)
    return found or _added(scores, have, hidden)


def _other_mask(scores: Tensor, have: Tensor, mask: Tensor) -> Reading | None:
    """A softmax under another mask than the one given."""
    full = mask.expand(*mask.shape[:-2], *scores.shape[-2:])
    n_q, n_k = full.shape[-2:]
    places = torch.arange(n_k) - torch.arange(n_q)[:, None]
    others = {
        "The mask is ignored.": torch.ones_like(full),
        "The mask is read the wrong way round.": ~full,
        "The mask is shifted by one key.": full.roll(1, -1),
        "The mask is shifted by one key. ": full.roll(-1, -1),
        "The mask is shifted by one query.": full.roll(1, -2),
        "The mask is shifted by one query. ": full.roll(-1, -2),
        "The mask stands in reversed order along the keys.": full.flip(-1),
        "The mask stands in reversed order along the queries.": full.flip(-2),
        "The mask's first row is used for every query.": full[..., :1, :].expand_as(full),
        "The mask's last row is used for every query.": full[..., -1:, :].expand_as(full),
        "A key counts as open when any query may attend to it.": full.any(-2, keepdim=True).expand_as(full),
        "The last key is hidden, whatever the mask says.": full & (torch.arange(n_k) < n_k - 1),
        "The first key is hidden, whatever the mask says.": full & (torch.arange(n_k) > 0),
        "Later keys are hidden besides the mask (a causal mask).": full & (places <= 0),
        "Later keys are hidden and the mask is not used (a causal mask).": (places <= 0).expand_as(full),
        "A query's own place is open, whatever the mask says.": full | (places == 0),
        "A query's own place is hidden, whatever the mask says.": full & (places != 0),
        "The first key is open to all, whatever the mask says.": full | (torch.arange(n_k) == 0),
        "The last key is open to all, whatever the mask says.": full | (torch.arange(n_k) == n_k - 1),
    }
    if n_q * n_k == full.numel():
        turned = full.T.reshape(n_q, n_k)
        others["The mask is turned by a reshape: rows hold pieces of others."] = turned
    plain = scores.softmax(-1)
    for words, other in others.items():
        for given, after in ((scores.masked_fill(~other, NEG_INF).softmax(-1), False), (plain * other, True)):
            if torch.allclose(given, have, rtol=1e-3, atol=2e-6):
                late = " And: it comes after the softmax, so that rows don't sum to 1." if after else ""
                return Reading("another-mask", words.strip() + late, _LOOK_MASK)
    return None


def mask_after_softmax(scores: Tensor, have: Tensor, mask: Tensor) -> Reading | None:
    """A mask that comes after the softmax, and what is done about the sum of the rows then."""
    left = scores.softmax(-1) * mask
    open_keys = mask.sum(-1, keepdim=True)
    for words, weights in (
        ("what is left is divided by the sums of the columns.", left / left.sum(-2, keepdim=True)),
        ("what is left is divided by the sum of everything.", left / left.sum((-2, -1), keepdim=True)),
        ("what is left is divided by the number of open keys, not by its sum.", left / open_keys),
        ("what is left is divided by the number of keys.", left / left.shape[-1]),
        ("what is left is divided by its length (L2 norm).", left / left.norm(dim=-1, keepdim=True)),
        ("what is left is divided by its largest entry.", left / left.amax(-1, keepdim=True)),
        ("then there is a second softmax, in which a weight of 0 counts as exp(0) = 1.", left.softmax(-1)),
        ("then there is a second softmax.", left.masked_fill(~mask, NEG_INF).softmax(-1)),
        ("what is left is softened over the queries.", left.softmax(-2)),
    ):
        if torch.allclose(weights, have, rtol=1e-3, atol=2e-6, equal_nan=True):
            says = f"The mask comes after the softmax, and {words}"
            return Reading("mask-after-softmax-and-more", says, "the order of mask and softmax.")
    return None


def _leak(scores: Tensor, have: Tensor, hidden: Tensor) -> Reading | None:
    """Hidden keys that got weight: how much, and what their scores became."""
    leaking = hidden & (have.abs() > 2e-5)
    if not bool(leaking.any()):
        return None
    at = leaking.nonzero()[0].tolist()
    seen = f"Hidden keys still get weight: query {at[-2]} gives key {at[-1]} a weight of "
    seen += f"`{number(have[tuple(at)])}`."
    others = ~hidden & hidden.any(-1, keepdim=True)
    if bool((have[others].abs() < 1e-6).all()):
        says = f"Hidden keys win: where some are hidden they get all the weight, the open ones none. {seen}"
        return Reading("hidden-keys-get-weight", says, "the sign of what hides a key.")
    # Rows that sum to 1 were made by a softmax in which hidden keys took part.
    shared = bool(((have.sum(-1) - 1).abs() < 3e-6).all())
    what = _hidden_score(scores, have, hidden) if shared else ""
    if what:
        return Reading("hidden-keys-get-weight", f"{what} {seen}", _LOOK_MASK)
    weights = scores.masked_fill(hidden, NEG_INF).softmax(-1)
    if near(torch.where(hidden, weights, have), weights):
        there = have[hidden]
        same = bool(torch.allclose(there, there[:1], rtol=1e-3))
        value = f" (always `{number(there[0])}`)" if same else ""
        says = f"The open keys are right. {seen[:-1]}{value}: it is put in after the softmax."
        return Reading("hidden-keys-get-weight", says, "what happens to the weights after the softmax.")
    plain = scores.softmax(-1)
    if near(torch.where(hidden, plain, have), plain):
        share = have[hidden] / plain[hidden]
        if float(share.max() - share.min()) < 1e-3:
            says = f"The mask comes after the softmax: hidden weights times {float(share[0]):.3g} only."
            return Reading("hidden-keys-get-weight", f"{says} {seen}", "the order of mask and softmax.")
        says = "The open keys keep what they have without a mask: the mask only comes after the softmax."
        return Reading("hidden-keys-get-weight", f"{says} {seen}", "the order of mask and softmax.")
    what = _hidden_score(scores, have, hidden)
    if what:
        return Reading("hidden-keys-get-weight", f"{what} {seen}", _LOOK_MASK)
    return Reading("hidden-keys-get-weight", seen, _LOOK_MASK)


def _hidden_score(scores: Tensor, have: Tensor, hidden: Tensor) -> str:
    """What the scores of hidden keys became, where the open ones are right up to the row's sum; or ""."""
    if not bool((have > 1e-30).all()):
        return ""
    logs = have.log()
    offset = logs - scores
    opened = ~hidden
    row = torch.where(opened, offset, 0.0).sum(-1, keepdim=True) / opened.sum(-1, keepdim=True).clamp_min(1)
    if bool((torch.where(opened, offset - row, 0.0).abs() > 2e-3).any()):
        return ""
    became, moved = (logs - row)[hidden], (offset - row)[hidden]
    if float(became.max() - became.min()) < 5e-3:
        c = float(became.mean())
        return f"Hidden scores are set to {c:.3g}, and exp({c:.3g}) is not 0."
    if float(moved.max() - moved.min()) < 5e-3:
        c = float(moved.mean())
        return f"Hidden scores only {'lose' if c < 0 else 'gain'} {abs(c):.3g}."
    times = became / scores[hidden]
    if float(times.max() - times.min()) < 5e-3 * max(1.0, abs(float(times[0]))):
        return f"Hidden scores are multiplied by {float(times.mean()):.3g} only."
    return ""


def _lacking(scores: Tensor, have: Tensor, hidden: Tensor) -> Reading | None:
    """Open keys without weight: which, and whether the rest shares 1."""
    weights = scores.masked_fill(hidden, NEG_INF).softmax(-1)
    none = ~hidden & (have.abs() < 1e-9) & (weights > 1e-6)
    if not bool(none.any()):
        return None
    kept = torch.where(none, 0.0, weights)
    shared = kept / kept.sum(-1, keepdim=True)
    which = _which(none, weights, hidden)
    if torch.allclose(have, kept, rtol=1e-3, atol=2e-6):
        says = f"{which} The other weights are as before, so that rows don't sum to 1."
    elif torch.allclose(have, shared, rtol=1e-3, atol=2e-6, equal_nan=True):
        says = f"{which} The others share 1 among them."
    else:
        says = which
    return Reading("keys-left-out", says, "what makes a weight 0.")


def _which(none: Tensor, weights: Tensor, hidden: Tensor) -> str:
    """The keys that get no weight, in words."""
    flat = none.reshape(-1, *none.shape[-2:])
    n_q, n_k = flat.shape[-2:]
    columns = none.reshape(-1, n_k)
    rows = none.reshape(-1, n_q, n_k).all(-1)
    opened = ~hidden
    if bool(columns.any(0).any()) and bool(((none | hidden).reshape(-1, n_k).all(0) == columns.any(0)).all()):
        keys = columns.any(0).nonzero().flatten().tolist()
        if keys == [n_k - 1]:
            return "The last key gets no weight in any row."
        if keys == [0]:
            return "The first key gets no weight in any row."
        return (
            f"Key{'s' if len(keys) > 1 else ''} {in_a_row([str(k) for k in keys])} get no weight in any row."
        )
    if bool(rows.any()) and bool((rows[..., None] == flat).all()):
        which = rows.any(0).nonzero().flatten().tolist()
        one = len(which) == 1
        listed = in_a_row([str(r) for r in which])
        return f"Quer{'y' if one else 'ies'} {listed} give{'s' if one else ''} no weight to any key."
    places = torch.arange(n_k) - torch.arange(n_q)[:, None]
    for words, pattern in (
        ("Keys after a query's own place get no weight: a causal mask that nobody asked for.", places > 0),
        ("Keys before a query's own place get no weight.", places < 0),
        ("Keys from a query's own place on get no weight.", places >= 0),
        ("The key at a query's own place gets no weight.", places == 0),
        ("Only keys near a query's own place get weight: a window.", places.abs() > 1),
        ("Only keys near a query's own place get weight: a window.", places.abs() > 2),
    ):
        if bool((none == (pattern & opened)).all()):
            return words
    kept = opened & ~none
    counts = kept.sum(-1)
    least = torch.where(kept, weights, 2.0).amin(-1)
    most = torch.where(none, weights, -1.0).amax(-1)
    if bool((least >= most).all()):
        if int(counts.max()) == int(counts.min()):
            return f"Only the {int(counts[0].flatten()[0])} largest weights of a row are kept (top-k)."
        if float(most.max()) <= float(least.min()):
            return (
                f"Small weights are cut off: `{float(most.max()):.3g}` becomes 0, "
                f"`{float(least.min()):.3g}` stays."
            )
        return "The smallest weights of a row become 0."
    at = none.nonzero()[0].tolist()
    return f"Some open keys get no weight: query {at[-2]} gives key {at[-1]} none."


def _added(scores: Tensor, have: Tensor, hidden: Tensor) -> Reading | None:
    """Something that was added to the scores: by key, by distance, at some places only."""
    opened = ~hidden
    mixed = mixed_rows(scores.masked_fill(hidden, NEG_INF).softmax(-1), have, opened)
    if mixed:
        return mixed
    if not bool((have[opened] > 1e-12).all()):
        return None
    n_q, n_k = scores.shape[-2:]
    offset = torch.where(opened, have.clamp_min(1e-300).log() - scores, 0.0)
    row = offset.sum(-1, keepdim=True) / opened.sum(-1, keepdim=True).clamp_min(1)
    offset = torch.where(opened, offset - row, 0.0)
    if bool((offset.abs() < 2e-3).all()):
        return row_sums(scores, have)
    if bool(hidden.any()):
        return None
    if bool((offset.abs() < 5e-3).all()):
        return None  # too little to tell what it is
    mean = offset.reshape(-1, n_q, n_k).mean((0, 1))
    if bool(((offset - mean).abs() < 3e-3).all()):
        steps = mean.diff()
        if float(steps.max() - steps.min()) < 5e-3:
            more = float(steps.mean())
            says = f"Something is added to the scores: each key gets {more:.3g} more than the one before."
            return Reading("added-by-key", says, "what is added to the scores.")
        if near((mean - mean.median()).abs().sort().values[:-1], torch.zeros(n_k - 1, dtype=mean.dtype)):
            key = int((mean - mean.median()).abs().argmax())
            more = float(mean[key] - mean.median())
            how = "raised" if more > 0 else "lowered"
            says = f"The scores of key {key} are {how} by {abs(more):.3g} in every row."
            return Reading("added-by-key", says, f"what happens to key {key}.")
        says = "Something is added to the scores that depends on the key alone."
        return Reading("added-by-key", says, "what is added to the scores.")
    if scores.ndim > 2 and bool(((offset - offset.mean(-2, keepdim=True)).abs() < 3e-3).all()):
        says = (
            "Something is added to the scores that is the same for all queries: it depends on the key alone."
        )
        return Reading("added-by-key", says, "what is added to queries or scores.")
    places = (torch.arange(n_k) - torch.arange(n_q)[:, None]).expand_as(scores)
    for words, place in (("distance between query and key", places), ("distance, either way", places.abs())):
        x = place.double() - place.double().mean(-1, keepdim=True)
        slope = float((x * offset).sum() / (x * x).sum())
        if abs(slope) > 1e-3 and bool(((offset - slope * x).abs() < 5e-3).all()):
            says = f"Something is added to the scores that depends on the {words}: {slope:.3g} a step."
            return Reading("added-by-distance", says, "what is added to the scores.")
    return None
