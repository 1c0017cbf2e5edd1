"""Noise inside a model, always measured against the size (root mean square) of what it is added to.

Two questions need two measures. Is one head's failure felt? Then a head gets noise of its own size
(`gating.noisy_heads`). Does the same noise harm more in one head, or spread over all? Then the noise's power,
summed over all features of the heads, is a fixed share of theirs, wherever it sits (`noise_in_concat`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import torch
from torch import Generator, Tensor, nn

from mha_course.heads.ablation import attention_layers
from mha_course.heads.gating import gated
from mha_course.sizes import check_number, check_sizes


class NoiseInConcat(nn.Module):
    """Adds normal noise to some features of the heads side by side.

    features: (h * d_v,) bool. share: the root of noise power over power, both summed over all features: with
    fewer features each gets more, and the sum stays.
    Raises: ValueError for a share that isn't a finite number of at least 0.
    """

    def __init__(self, features: Tensor, share: float, g: Generator | None = None) -> None:
        super().__init__()
        check_number(0, share=share)
        self.register_buffer("features", features)
        self.share, self.g = share, g

    def forward(self, heads: Tensor) -> Tensor:
        """heads (b, h, n, d_v) -> the same shape."""
        b, h, n, d_v = heads.shape
        on = self.features.view(h, 1, d_v)
        size = self.share * rms(heads) * (h * d_v / int(on.sum())) ** 0.5
        return heads + torch.randn(heads.shape, generator=self.g, dtype=heads.dtype) * size * on


@contextmanager
def noise_in_concat(
    model: nn.Module, features: Mapping[int, Tensor], share: float, g: Generator | None = None
) -> Iterator[None]:
    """Inside the block some layers' heads carry noise.

    features: for some layers, from 1, which features of the heads side by side, (h * d_v,) bool.
    Raises: ValueError for a layer that isn't there, another number of features, or none, features that
    aren't booleans, and a share that isn't a finite number of at least 0.
    """
    layers = attention_layers(model)
    for number, chosen in features.items():
        if not 1 <= number <= len(layers):
            raise ValueError(f"no attention layer {number}: there are {len(layers)}.")
        width = layers[number - 1].h * layers[number - 1].d_v
        booleans = isinstance(chosen, Tensor) and chosen.dtype == torch.bool
        if not booleans or chosen.shape != (width,) or not bool(chosen.any()):
            raise ValueError(f"layer {number} needs {width} booleans, one of them True at least.")
    gates = [
        NoiseInConcat(features[i], share, g) if i in features else None for i in range(1, len(layers) + 1)
    ]
    with gated(model, gates):
        yield


def head_features(h: int, d_v: int, heads: Iterable[int]) -> Tensor:
    """(h * d_v,) bool: the features of these heads, counted from 1. Raises: ValueError for one not there."""
    check_sizes(h=h, d_v=d_v)
    on = torch.zeros(h, d_v, dtype=torch.bool)
    for head in heads:
        check_sizes(0, head=head)
        if not 1 <= head <= h:
            raise ValueError(f"no head {head}: there are {h}.")
        on[head - 1] = True
    return on.flatten()


@contextmanager
def noise_into(modules: Iterable[nn.Module], share: float, g: Generator | None = None) -> Iterator[None]:
    """Inside the block these modules get a noisy input; what is given twice (query and key) stays the same.

    Works on the fast path of attention layers only, since `trace` is not the call itself.
    Raises: ValueError for a share that isn't a finite number of at least 0.
    """
    check_number(0, share=share)

    def noisy(module: nn.Module, given: tuple[object, ...]) -> tuple[object, ...]:
        known: dict[int, object] = {}
        for one in given:
            if isinstance(one, Tensor) and one.is_floating_point() and id(one) not in known:
                known[id(one)] = _with_noise(one, share, g)
        return tuple(known.get(id(one), one) for one in given)

    with _hooked(modules, lambda module: module.register_forward_pre_hook(noisy)):
        yield


@contextmanager
def noise_out_of(modules: Iterable[nn.Module], share: float, g: Generator | None = None) -> Iterator[None]:
    """Inside the block these modules' outputs are noisy. Raises: ValueError as `noise_into`."""
    check_number(0, share=share)

    def noisy(module: nn.Module, given: object, output: Tensor) -> Tensor:
        return _with_noise(output, share, g)

    with _hooked(modules, lambda module: module.register_forward_hook(noisy)):
        yield


def rms(x: Tensor) -> Tensor:
    """The root of the mean square of all numbers."""
    return x.detach().square().mean().sqrt()


def _with_noise(x: Tensor, share: float, g: Generator | None) -> Tensor:
    return x + share * rms(x) * torch.randn(x.shape, generator=g, dtype=x.dtype)


@contextmanager
def _hooked(modules: Iterable[nn.Module], hook: Callable[[nn.Module], object]) -> Iterator[None]:
    with ExitStack() as stack:
        for module in modules:
            stack.callback(hook(module).remove)
        yield
