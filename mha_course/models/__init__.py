"""Models to look into. `AttentionMaps` is what each of them hands out."""

from __future__ import annotations

from mha_course.attention_maps import AttentionMaps

__all__ = ["AttentionMaps", "load_course_model", "load_pretrained"]
_WHERE = {
    "load_course_model": "mha_course.models.course_models",
    "load_pretrained": "mha_course.models.pretrained",
}


def __getattr__(name: str) -> object:
    """Loaders are imported when asked for: who wants one kind of model needn't wait for the others."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_WHERE[name]), name)
