"""The lines of the two Parsons problems: in a right order, then those that don't belong, with reasons."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One piece of a function, a line or a block. because: why it does not belong; "" when it does."""

    text: str
    because: str = ""


SPLIT_LINES = (
    Line("b, n, d_model = x.shape"),
    Line("d_k = d_model // h"),
    Line("cut = x.view(b, n, h, d_k)"),
    Line("heads = cut.transpose(1, 2)"),
    Line("return heads"),
    Line(
        "d_k = d_model / h",
        "`/` gives a float, even where nothing remains. A size is a whole number.",
    ),
    Line(
        "cut = x.view(b, h, n, d_k)",
        "`view` deals out the numbers in the order of memory. A head would get stretches of a few tokens, "
        "not a piece of each. The shape doesn't tell.",
    ),
    Line(
        "heads = cut.transpose(2, 3)",
        "This swaps the heads with the features inside them. The tokens stay in front.",
    ),
)

LAYER_LINES = (
    Line("b, n, d_model = x.shape"),
    Line("d_k = d_model // h"),
    Line("q, k, v = x @ w_q, x @ w_k, x @ w_v"),
    Line("q, k, v = (t.view(b, n, h, d_k).transpose(1, 2) for t in (q, k, v))"),
    Line("scores = q @ k.transpose(-2, -1) / d_k**0.5"),
    Line('if mask is not None:\n    scores = scores.masked_fill(~mask, float("-inf"))'),
    Line("weights = torch.softmax(scores, dim=-1)"),
    Line("heads = weights @ v"),
    Line("concat = heads.transpose(1, 2).reshape(b, n, d_model)"),
    Line("return concat @ w_o"),
    Line(
        "scores = q @ k.transpose(-2, -1) / d_model**0.5",
        "A score adds up as many products as one head is wide. This divides by the root of the width of all "
        "heads together: the weights come out too even.",
    ),
    Line(
        "weights = torch.softmax(scores, dim=-2)",
        "This softmax runs over the queries. A token then shares out what it gives, not what it takes, and "
        "the weights of a query don't sum to 1.",
    ),
    Line(
        "if mask is not None:\n    weights = weights.masked_fill(~mask, 0.0)",
        "Here the hidden tokens have had their share of the softmax already. What is left of a row doesn't "
        "sum to 1.",
    ),
    Line(
        "concat = heads.reshape(b, n, d_model)",
        "The heads still stand in front of the tokens. Joined like this, a row holds several tokens of one "
        "head, not one token of every head.",
    ),
    Line(
        "return concat",
        "So the heads lie side by side and never meet, and one of the four matrices is not used.",
    ),
)
