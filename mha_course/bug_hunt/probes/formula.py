"""Against the formula: one head written out, the factor of the scores, what the gradients reach."""

from __future__ import annotations

import torch

from mha_course import attention
from mha_course.bug_hunt.finding import Finding, Table, number, rows_of
from mha_course.bug_hunt.probes.dependence import shape
from mha_course.bug_hunt.probing import drawn, moved, registered
from mha_course.bug_hunt.suspect import Suspect


@registered(
    "one_head",
    "One head, written out",
    "The same weights with h = 1, beside softmax(Q Kᵀ / √d_k) V W_O written out. How far apart?",
)
def one_head(layer: Suspect) -> Finding:
    """One head against plain attention with the same weights."""
    single, x = layer.like(h=1), drawn(layer).x
    heads, _ = attention.scaled_dot_product_attention(single.w_q(x), single.w_k(x), single.w_v(x))
    difference = moved(single(x), single.w_o(heads))
    return Finding(
        f"With h = 1 the layer and the formula are {number(difference)} apart at most.",
        {"distance from the formula": difference},
    )


@registered(
    "scale",
    "The factor of the scores",
    "A weight is a power of e, so its log shows the score. Is it a multiple of q · k, and which?",
)
def scale(layer: Suspect) -> Finding:
    """Fit the log of the weights by the products of queries and keys, within each row."""
    d_k = layer.d_model // layer.h
    if d_k == 0:
        return Finding(
            "There are more heads than features: d_k = 0, and no head has a product q · k.", {"d_k": 0}
        )
    x = drawn(layer).x
    q, k = (attention.split_heads(w(x), layer.h) for w in (layer.w_q, layer.w_k))
    products, weights = q @ k.transpose(-2, -1), layer.look(x)[1]
    if weights.shape != products.shape:
        return Finding(
            f"The report has the shape {shape(weights)}, the products q · k have {shape(products)}: "
            "they can't be laid beside each other.",
            {"shape of the report": shape(weights)},
        )
    # Softmax takes something off each row's scores; without the mean of the row that is gone.
    a, b = ((s - s.mean(-1, keepdim=True)).flatten() for s in (products, weights.log()))
    factor = (a @ b / (a @ a)).item()
    fit = (a @ b / (a.norm() * b.norm())).item()
    width = 1 / factor**2 if abs(factor) > 0.01 else float("inf")
    return Finding(
        f"The log of the weights is {number(factor)} · (q · k), with a correlation of {number(fit)}. A "
        f"factor of 1 / √m would mean m = {number(width)}; d_k = {d_k}, "
        f"d_model = {layer.d_model}.",
        {"factor of the scores": factor, "m, if that is 1 / √m": width, "correlation with q · k": fit},
    )


@registered(
    "gradients",
    "What the gradients reach",
    "One backward pass. Which entries of the four weight matrices get a gradient?",
)
def gradients(layer: Suspect) -> Finding:
    """Send a drawn gradient back, and see where it arrives."""
    given, h, d_k = drawn(layer), layer.h, layer.d_model // layer.h
    with torch.enable_grad():
        (layer(given.x) * given.other).sum().backward()
    reached = {}
    for name, projection in (("W_Q", layer.w_q), ("W_K", layer.w_k), ("W_V", layer.w_v), ("W_O", layer.w_o)):
        grad = projection.weight.grad
        reached[name] = 0.0 if grad is None else (grad != 0).float().mean().item()
    shares = ", ".join(f"{name} {share:.0%}" for name, share in reached.items())
    of_w_q = layer.w_q.weight.grad[:, : h * d_k].abs().reshape(h, d_k, h, d_k).mean((1, 3))
    return Finding(
        f"Entries with a gradient: {shares}.",
        {f"entries of {name} with a gradient": share for name, share in reached.items()},
        Table("Mean size of W_Q's gradient", rows_of(of_w_q.tolist()), "head ↓", "slice of the input →"),
    )
