"""A pretrained model's attention as layers of the course: the same numbers, stage by stage."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.shared_space import dimensions_needed, shared_space
from mha_course.models.pretrained import PretrainedModel
from mha_course.models.pretrained.as_layers import pretrained_layers
from mha_course.models.sharing_records import spectra
from tests.real_model import real_model


def test_each_layer_has_the_weights_of_the_model(models: dict[str, PretrainedModel]) -> None:
    model = models["bert"]
    layers = pretrained_layers(model)
    assert len(layers) == model.n_layers and {layer.h for layer in layers} == {model.n_heads}
    x = torch.randn(2, 5, layers[0].d_model, generator=torch.Generator().manual_seed(1))
    for layer, block in zip(layers, model.network.encoder.layer, strict=True):
        heads, weights = block.attention.self(x)[:2]
        trace = layer.trace(x)
        assert torch.allclose(trace.weights, weights, atol=1e-6)
        assert torch.allclose(trace.concat, heads, atol=1e-5)
        assert torch.allclose(trace.output, block.attention.output.dense(heads), atol=1e-5)


def test_other_models_are_refused(models: dict[str, PretrainedModel]) -> None:
    with pytest.raises(ValueError, match="no attention layers that are built as BERT's"):
        pretrained_layers(models["gpt2"])


def test_the_recorded_spectra_are_those_of_the_real_model() -> None:
    layers = pretrained_layers(real_model())
    for place in (0, 5):
        space, told = shared_space(layers[place]), spectra("all-MiniLM-L6-v2")[place]
        assert tuple(dimensions_needed(space.heads, 0.9).tolist()) == told.heads
        assert int(dimensions_needed(space.summed, 0.9)) == told.summed
