"""Models to look into. `AttentionMaps` is what each of them hands out."""

from mha_course.attention_maps import AttentionMaps

__all__ = ["AttentionMaps"]
