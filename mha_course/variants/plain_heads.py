"""Which layers can be taken apart head by head, and which can't because their heads meet."""

from __future__ import annotations

from mha_course.layers import MultiHeadAttention
from mha_course.variants.grouped_query import GroupedQueryAttention


def check_plain_heads(layer: MultiHeadAttention, what: str) -> None:
    """Raise ValueError unless every head is a slice of the projections, as in a plain or a grouped layer.

    what: the words behind "so" in the message, for instance "none can be taken out".
    """
    own = {name for kind in type(layer).__mro__ for name in vars(kind) if kind not in _PLAIN}
    changed = own & {"forward", "trace", "queries", "shared_keys_and_values", "_project_and_split"}
    if changed:
        raise ValueError(
            f"the heads of {type(layer).__name__} are more than slices of its projections, so {what}."
        )


_PLAIN = {MultiHeadAttention, GroupedQueryAttention, *MultiHeadAttention.__mro__}
