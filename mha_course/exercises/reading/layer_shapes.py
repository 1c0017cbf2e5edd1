"""Results of the layer that have another shape: which step is missing, or one too many."""

from __future__ import annotations

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.reading.layer_probes import Call

# Products of sizes, as they stand in a shape.
_SHAPES = {
    ("b", "h", "n", "n"): "These are weights or scores, one map for each head. The output is wanted.",
    ("b", "h", "n", "d_k"): "The heads are not put together: they still have an axis of their own.",
    ("b", "n", "h", "d_k"): "The heads are not put together: they still have an axis of their own.",
    ("h", "b", "n", "d_k"): "The heads are stacked in front, and not put together.",
    ("b", "n", "d_k", "h"): "The heads are stacked behind the features, and not put together.",
    ("b", "h", "n", "d_model"): (
        "There is one output for each head. The layer's output is one for all: their shares are summed."
    ),
    ("h", "b", "n", "d_model"): (
        "There is one output for each head. The layer's output is one for all: their shares are summed."
    ),
    ("b", "n", "d_k"): "Only d_k features come out: one head alone, or heads that were added up or averaged.",
    ("bh", "n", "d_k"): "Sentences and heads are still one axis, `(b * h, n, d_k)`.",
    ("b", "hn", "d_k"): "The heads lie behind each other along the tokens, `(b, h * n, d_k)`.",
    ("b", "n", "hd_model"): (
        "The heads' shares of the output stand side by side, each d_model wide. They are summed."
    ),
    ("b", "n", "n"): "This is one map of weights or scores for each sentence. The output is wanted.",
    ("b", "d_model"): "The axis of tokens is gone: each token has an output of its own.",
    ("n", "d_model"): "The axis of sentences is gone: each sentence has an output of its own.",
    ("n", "b", "d_model"): "Axis 0 holds the tokens and axis 1 the sentences. Wanted is `(b, n, d_model)`.",
    ("bn", "d_model"): "Sentences and tokens are still one axis, `(b * n, d_model)`.",
}


def shape_of_a_layer(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """What another shape of the output says about the steps, or None."""
    sizes, leaves = evidence.cases[i].sizes, evidence.got[i].leaves
    if len(leaves) != 1:
        return None
    have, want = tuple(leaves[0].shape), tuple(evidence.expected[i].leaves[0].shape)
    if have == want:
        return None
    known = {"d_k": sizes["d_model"] // sizes["h"], **sizes}
    known |= {"bh": known["b"] * known["h"], "hn": known["h"] * known["n"], "bn": known["b"] * known["n"]}
    known |= {"hd_model": known["h"] * known["d_model"]}
    for names, words in _SHAPES.items():
        if tuple(known[name] for name in names) == have:
            says = f"{words} The shape should be `(b, n, d_model)` = `{want}`; yours is `{have}`."
            return Finding("shape-of-another-step", says, look="the last steps, and the shape after each.")
    return None
