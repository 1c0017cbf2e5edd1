"""Pretrained models to look into: any BERT-, GPT-2-, Marian- or T5-like one, read from a folder.

The library transformers is imported here only, and only when a model is loaded.
"""

from mha_course.models.pretrained.loading import load_pretrained
from mha_course.models.pretrained.model import PretrainedModel, TextPairMaps

__all__ = ["PretrainedModel", "TextPairMaps", "load_pretrained"]
