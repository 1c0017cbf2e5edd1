"""The probes themselves, by what they ask: what depends on what, the mask, the formula, the circumstances."""

from mha_course.bug_hunt.probes import circumstances, dependence, formula, masks

__all__ = ["GROUPS", "circumstances", "dependence", "formula", "masks"]

# As they are offered.
GROUPS = {
    "What it reports": ("rows", "training"),
    "What depends on what": ("order", "neighbours", "features"),
    "The mask": ("blocked", "empty_row", "future"),
    "Against the formula": ("one_head", "scale", "gradients"),
    "Other circumstances": ("half", "odd_width"),
}
