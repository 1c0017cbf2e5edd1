"""Modules that sit between a layer's heads and W_O: they scale heads, learn whether a head may speak, replace
its output by its mean, or add noise to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Generator, Tensor, nn

from mha_course.heads.ablation import Head, all_heads, attention_layers
from mha_course.heads.hard_concrete import HardConcrete
from mha_course.sizes import check_number, check_sizes


class FixedGates(nn.Module):
    """Scales each head by a number of its own: values (h,)."""

    def __init__(self, values: Tensor) -> None:
        super().__init__()
        self.register_buffer("values", torch.as_tensor(values).detach().clone())

    def forward(self, heads: Tensor) -> Tensor:
        """heads (b, h, n, d_v) -> the same shape. Raises: ValueError for another h."""
        return _scaled(heads, self.values)


class HeadGates(nn.Module):
    """A learned hard concrete gate for each of h heads, independent of the input.

    In training one gate a head is drawn for every batch; otherwise there is no noise. start: log_alpha at the
    beginning; 2 leaves a head open 94 % of the time, so that learning starts close to the whole model.
    (Voita's code starts near 0, with gates half open.) rounded: gates without noise are 0 or 1 as in the
    paper, else as in its code. g: where the noise comes from.
    Raises: ValueError for no heads, and for a start that isn't finite.
    """

    def __init__(
        self,
        h: int,
        start: float = 2.0,
        concrete: HardConcrete | None = None,
        rounded: bool = False,
        g: Generator | None = None,
    ) -> None:
        super().__init__()
        check_sizes(h=h)
        check_number(start=start)
        self.concrete = HardConcrete() if concrete is None else concrete
        self.log_alpha = nn.Parameter(torch.full((h,), float(start)))
        self.rounded, self.g = rounded, g

    def values(self) -> Tensor:
        """(h,): a fresh draw in training, the gates without noise otherwise."""
        if self.training:
            return self.concrete.sample(self.log_alpha, self.concrete.noise(self.log_alpha, self.g))
        return (
            self.concrete.rounded(self.log_alpha) if self.rounded else self.concrete.inference(self.log_alpha)
        )

    def expected_l0(self) -> Tensor:
        """How many of the heads are open on average."""
        return self.concrete.expected_l0(self.log_alpha)

    def forward(self, heads: Tensor) -> Tensor:
        """heads (b, h, n, d_v) -> the same shape. Raises: ValueError for another h."""
        return _scaled(heads, self.values())


class ReplacedByMean(nn.Module):
    """Puts a fixed vector in the place of some heads' outputs. off: (h,) bool; means: (h, d_v)."""

    def __init__(self, off: Tensor, means: Tensor) -> None:
        super().__init__()
        self.register_buffer("off", off)
        self.register_buffer("means", means)

    def forward(self, heads: Tensor) -> Tensor:
        """heads (b, h, n, d_v) -> the same shape."""
        return torch.where(self.off[:, None, None], self.means.to(heads.dtype)[:, None], heads)


class NoisyHeads(nn.Module):
    """Adds normal noise to some heads' outputs. on: (h,) bool; share: its size beside theirs (rms).

    Raises: ValueError for a share that isn't a finite number of at least 0.
    """

    def __init__(self, on: Tensor, share: float, g: Generator | None = None) -> None:
        super().__init__()
        check_number(0, share=share)
        self.register_buffer("on", on)
        self.share, self.g = share, g

    def forward(self, heads: Tensor) -> Tensor:
        """heads (b, h, n, d_v) -> the same shape."""
        noise = torch.randn(heads.shape, generator=self.g, dtype=heads.dtype)
        size = self.share * heads.detach().pow(2).mean((0, 2, 3), keepdim=True).sqrt()
        return heads + noise * size * self.on[:, None, None]


@contextmanager
def in_eval_mode(model: nn.Module) -> Iterator[None]:
    """Inside the block all parts of a model are in eval mode; afterwards each is in the mode that it had."""
    before = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, training in before.items():
            module.training = training


@contextmanager
def gated(model: nn.Module, gates: Sequence[nn.Module | None]) -> Iterator[None]:
    """Inside `with gated(model, gates):` each attention layer carries its gate; afterwards all is as it was.

    gates: one a layer, None for none. A gate that is there already works first. Raises: ValueError for
    another number of gates than layers.
    """
    layers = attention_layers(model)
    if len(gates) != len(layers):
        raise ValueError(f"{len(layers)} attention layers need as many gates; got {len(gates)}.")
    before = [layer.gate for layer in layers]
    try:
        for layer, old, new in zip(layers, before, gates, strict=True):
            both = old is not None and new is not None
            layer.gate = nn.Sequential(old, new) if both else old if new is None else new
        yield
    finally:
        for layer, old in zip(layers, before, strict=True):
            layer.gate = old


@contextmanager
def heads_at_their_mean(model: nn.Module, heads: Iterable[Head], means: Sequence[Tensor]) -> Iterator[None]:
    """Inside the block these heads say the same to every token, namely their mean.

    heads: pairs (layer, head) from 1. means: for each layer (h, d_v), from `head_means`. A milder removal
    than silence: what the layers behind expect on average is still there.
    Raises: ValueError for a head that isn't there, and for means of other shapes.
    """
    chosen = _by_layer(model, heads)
    wanted = [(layer.h, layer.d_v) for layer in attention_layers(model)]
    got = [tuple(mean.shape) for mean in means]
    if got != wanted:
        raise ValueError(f"means must be one (h, d_v) for each layer, {wanted}; got {got}.")
    with gated(model, [ReplacedByMean(off, mean) for off, mean in zip(chosen, means, strict=True)]):
        yield


@contextmanager
def noisy_heads(
    model: nn.Module, heads: Iterable[Head], share: float, g: Generator | None = None
) -> Iterator[None]:
    """Inside the block these heads' outputs carry normal noise of `share` times their own size (rms).

    heads: pairs (layer, head) from 1. Raises: ValueError for a head that isn't there, and for a share that
    isn't a finite number of at least 0.
    """
    with gated(model, [NoisyHeads(on, share, g) for on in _by_layer(model, heads)]):
        yield


@torch.no_grad()
def head_means(model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]]) -> list[Tensor]:
    """For each layer (h, d_v): the mean output of every head over all real tokens.

    batches: what the model is called with, and which of its tokens (b, n) are real, True = real.
    Raises: ValueError for no real token, and for `real` of another shape than (b, n).
    """
    recorders = [_Recorder() for _ in attention_layers(model)]
    sums: list[Tensor | float] = [0.0] * len(recorders)
    count = 0
    with gated(model, recorders):
        for inputs, real in batches:
            model(inputs)
            count += int(real.sum())
            for i, recorder in enumerate(recorders):
                b, _, n, _ = recorder.heads.shape
                if real.shape != (b, n):
                    raise ValueError(
                        f"layer {i + 1} has (b, n) = {(b, n)} tokens; got real {tuple(real.shape)}."
                    )
                sums[i] = sums[i] + (recorder.heads * real[:, None, :, None]).sum((0, 2))
    if not count:
        raise ValueError("there is no token to take a mean over.")
    return [total / count for total in sums]


class _Recorder(nn.Module):
    def forward(self, heads: Tensor) -> Tensor:
        self.heads = heads
        return heads


def _scaled(heads: Tensor, values: Tensor) -> Tensor:
    if values.shape != heads.shape[1:2]:
        raise ValueError(f"h={heads.shape[1]} heads need as many gates; got {tuple(values.shape)}.")
    return heads * values.to(heads.dtype)[:, None, None]


def _by_layer(model: nn.Module, heads: Iterable[Head]) -> list[Tensor]:
    """For each layer (h,) bool."""
    layers, known = attention_layers(model), set(all_heads(model))
    chosen = [torch.zeros(layer.h, dtype=torch.bool) for layer in layers]
    for one in map(tuple, heads):
        if one not in known:
            raise ValueError(f"no head {one} (layer, head), counted from 1.")
        chosen[one[0] - 1][one[1] - 1] = True
    return chosen
