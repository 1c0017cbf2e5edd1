"""The probes themselves, by what they ask: what depends on what, the mask, the formula, the circumstances."""

from mha_course.bug_hunt.probes import circumstances, dependence, formula, masks

__all__ = ["ORDER", "circumstances", "dependence", "formula", "masks"]

ORDER = (
    "rows",
    "order",
    "neighbours",
    "features",
    "blocked",
    "empty_row",
    "future",
    "one_head",
    "scale",
    "gradients",
    "training",
    "half",
    "odd_width",
)
