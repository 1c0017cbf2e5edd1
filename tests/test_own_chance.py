"""Layers drawn from a generator of their own: the global one stays, and nothing large is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import nn

from mha_course.layers import MultiHeadAttention
from mha_course.own_chance import OwnChance
from mha_course.variants.line_up import VARIANTS

MAKERS = {
    "linear": lambda: nn.Linear(5, 7),
    "plain": lambda: MultiHeadAttention(24, 4, bias=True),
    **{one.name: (lambda one=one: one.make(24, 6, 0.1)) for one in VARIANTS},
    "drawn": lambda: nn.ParameterList([torch.randn(3, 4), torch.rand(5), torch.empty(6).uniform_()]),
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_global_generator_stays_and_the_own_one_decides(name: str) -> None:
    def parameters(seed: int) -> list[torch.Tensor]:
        with OwnChance(torch.Generator().manual_seed(seed)):
            return list(MAKERS[name]().parameters())

    state = torch.get_rng_state()
    one, same, other = parameters(3), parameters(3), parameters(4)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert any(not torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_the_first_layer_loads_nothing_more() -> None:
    told = (
        "import sys, torch\n"
        "from mha_course.models.random_layer import random_layer\n"
        "before = len(sys.modules)\n"
        "random_layer(24, 4, seed=5)\n"
        "print(len(sys.modules) - before)"
    )
    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 20  # the meta device would load about 500
