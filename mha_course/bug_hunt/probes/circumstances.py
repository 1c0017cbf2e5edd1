"""The circumstances: the report, training, half precision, a width that h doesn't divide."""

from __future__ import annotations

import torch

from mha_course.bug_hunt.finding import Finding, Table, number, rows_of
from mha_course.bug_hunt.probes.dependence import STILL, shape
from mha_course.bug_hunt.probing import drawn, moved, registered
from mha_course.bug_hunt.suspect import Suspect


@registered(
    "rows",
    "The weights as reported",
    "One look, without a mask. Which shape has the report, and what do its rows sum to?",
)
def rows(layer: Suspect) -> Finding:
    """Shape and row sums of what `look` returns."""
    given = drawn(layer)
    weights = layer.look(given.x)[1]
    least, most = weights.sum(-1).min().item(), weights.sum(-1).max().item()
    return Finding(
        f"For b = {given.b}, n = {given.n}, h = {layer.h} the report has the shape {shape(weights)}. "
        f"Its rows sum to {number(least)} at least and {number(most)} at most.",
        {
            "shape of the report": shape(weights),
            "smallest sum of a row": least,
            "largest sum of a row": most,
        },
    )


@registered(
    "training",
    "In training",
    "train() switches dropout on, eval() off. Do two calls agree, and what do the reported rows sum to?",
)
def training(layer: Suspect) -> Finding:
    """Call twice in either mode."""
    x = drawn(layer).x
    agree = {}
    for mode in ("eval", "train"):
        getattr(layer, mode)()
        agree[mode] = "agree" if moved(layer(x), layer(x)) < STILL else "differ"
    weights = layer.look(x)[1]
    sums = weights.sum(-1)
    least, most = sums.min().item(), sums.max().item()
    first = weights[0, 0] if weights.ndim == 4 else weights[0]
    return Finding(
        f"Dropout {layer.dropout:g}. Two calls in eval mode {agree['eval']}, two in training "
        f"{agree['train']}. In training the reported rows sum to {number(least)} at least and "
        f"{number(most)} at most.",
        {
            "two calls in eval mode": agree["eval"],
            "two calls in training": agree["train"],
            "smallest sum of a row in training": least,
            "largest sum of a row in training": most,
        },
        Table("First map of sentence 1, in training", rows_of(first.tolist()), "query ↓", "key →"),
    )


@registered(
    "half",
    "In half precision",
    "The same weights in float16, with a mask that hides the last key. How far from float32?",
)
def half(layer: Suspect) -> Finding:
    """float16 beside float32."""
    given = drawn(layer)
    mask = torch.ones(given.n, given.n, dtype=torch.bool)
    mask[:, -1] = False
    narrow = layer.like(dtype=torch.float16)
    difference = moved(narrow(given.x.half(), mask).float(), layer(given.x, mask))
    return Finding(
        f"In float16 the output is {number(difference)} away from the one in float32 at most.",
        {"distance from float32": difference},
    )


@registered(
    "odd_width",
    "A width that h doesn't divide",
    "Another such layer is asked for, one feature wider. Is it refused, or built, and how wide?",
)
def odd_width(layer: Suspect) -> Finding:
    """Build the layer with a width of h · d_k + 1."""
    width = layer.d_model // layer.h * layer.h + 1
    if layer.h == 1:
        return Finding("With one head every width can be had.", {"another width": "any"})
    try:
        built = layer.like(d_model=width)
    except ValueError as refused:
        return Finding(
            f"d_model = {width} with h = {layer.h} is refused: {refused}", {"another width": "refused"}
        )
    columns = built.w_q.weight.shape[0]
    return Finding(
        f"d_model = {width} with h = {layer.h} is built. Its W_Q has {columns} columns.",
        {"another width": f"built, {columns} columns in W_Q"},
    )
