"""What the OutputMixer's view is sent: the numbers of one sentence, cut to what can be drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mha_course.text.readable import readable
from mha_course.widgets.mixer_numbers import MixerNumbers

__all__ = ["MOST_HEADS", "mixer_payload"]

MOST_HEADS = 12
MOST_ROWS = 8
MOST_COLUMNS = 32


def _round_up(value: float) -> float:
    """Return the next round number (1, 2, 2.5 or 5 times a power of ten), for the end of a colour scale."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        (m * power for m in (1, 1.5, 2, 2.5, 3, 4, 5, 8, 10) if m * power >= value * 0.999), 10 * power
    )


def _rounded(values: Tensor) -> Any:
    return (values.double() * 1e5).round().div(1e5).tolist()


def _names_fit(numbers: MixerNumbers, features: Any, by_head: Any) -> None:
    if features is not None and len(features) != numbers.d_model:
        raise ValueError(f"feature_names has {len(features)} names, the output {numbers.d_model} features")
    if by_head is not None and [len(names) for names in by_head] != [numbers.d_v] * numbers.h:
        raise ValueError(
            f"head_feature_names has one list for each of {numbers.h} heads, each of {numbers.d_v} names"
        )


def mixer_payload(
    numbers: MixerNumbers,
    words: Sequence[str],
    features: Sequence[str] | None = None,
    by_head: Sequence[Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return, ready for JSON, what the view of the OutputMixer draws for every token.

    A group is a head, the heads beyond the twelfth together, or W_O's bias. Shapes inside: concat (n, drawn
    heads, rows); shares (n, groups, columns); products (n, groups, groups), the products of the groups' whole
    shares, from which the view gets the length of any sum; lengths (n), of the outputs with all heads on.
    Raises: ValueError for names that do not fit.
    """
    _names_fit(numbers, features, by_head)
    drawn, columns = min(numbers.h, MOST_HEADS), min(numbers.d_model, MOST_COLUMNS)
    rows = min(numbers.d_v, MOST_ROWS)
    groups: list[dict[str, Any]] = []
    for i in range(drawn):
        names = [readable(name) for name in by_head[i][:rows]] if by_head is not None else None
        band = _rounded(numbers.w_o[i, :rows, :columns])
        groups.append(
            {
                "title": f"head {i + 1}",
                "chip": str(i + 1),
                "slot": i % 12 + 1,
                "band": band,
                "names": names,
                "fixed": False,
            }
        )
    shares = [numbers.shares[:, i] for i in range(drawn)]
    if numbers.h > drawn:
        title = f"heads {drawn + 1} to {numbers.h}" if numbers.h > drawn + 1 else f"head {drawn + 1}"
        missing = "their bands are not drawn"
        groups.append(
            {
                "title": title,
                "chip": "…",
                "slot": 0,
                "band": None,
                "names": None,
                "fixed": False,
                "missing": missing,
            }
        )
        shares.append(numbers.shares[:, drawn:].sum(1))
    has_bias = bool(numbers.bias.abs().max() > 0)
    if has_bias:
        missing = "added once, whatever the heads say"
        groups.append(
            {
                "title": "bias",
                "chip": "b",
                "slot": 0,
                "band": None,
                "names": None,
                "fixed": True,
                "missing": missing,
            }
        )
        shares.append(numbers.bias.expand(numbers.n, -1))
    stacked = torch.stack(shares, dim=1).double()
    d_model, h, d_v = numbers.d_model, numbers.h, numbers.d_v
    notes = []
    if columns < d_model:
        notes.append(f"the first {columns} of {d_model} output features")
    if rows < d_v:
        notes.append(f"the first {rows} of {d_v} rows of each band")
    tops = torch.maximum(numbers.concat.double().abs().amax((1, 2)), stacked.abs().amax((1, 2))).tolist()
    dtype = str(numbers.shares.dtype).removeprefix("torch.")
    return {
        "stamp": f"{id(numbers)}-{numbers.n}",
        "tokens": [str(word) for word in words],
        "groups": groups,
        "columns": columns,
        "featureNames": [readable(name) for name in features] if features is not None else None,
        "concat": _rounded(numbers.concat[:, :drawn, :rows]),
        "shares": _rounded(stacked[:, :, :columns]),
        "sizes": _rounded(stacked.norm(dim=-1)),
        "products": (stacked @ stacked.transpose(1, 2)).tolist(),
        "lengths": numbers.output.double().norm(dim=-1).tolist(),
        "scales": [_round_up(top) for top in tops],
        "scaleW": _round_up(float(numbers.w_o.abs().max())),
        "facts": f"one token · d_model = {d_model}, h = {h}, d_v = {d_v}",
        "text": {
            "concat": f"{h * d_v} values",
            "wo": f"{h * d_v} × {d_model}, a band of {d_v} {'rows' if d_v > 1 else 'row'} a head",
            "shares": "head i · its band of W_O",
            "size": "length of the vector",
        },
        "gap": f"{numbers.gap():.1e}",
        "sumWords": f"the sum of the {h} shares" + (" and the bias" if has_bias else ""),
        "dtype": dtype,
        "hasBias": has_bias,
        "note": "Drawn: " + "; ".join(notes) + ". Sums and lengths are over all of them." if notes else "",
    }
