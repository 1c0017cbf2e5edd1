"""Pruning heads: gates that are learned on a trained model under a price for every open head, and then heads
taken out for good, so that the smaller layer computes what the gated one did.

Source: Voita et al. 2019, section 6. The loss is L = L_task + strength * sum P(g != 0) over all heads of all
layers. (Their code takes the mean over layers, so its coefficient is the number of layers times this one.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Generator, Tensor, nn

from mha_course.cost import attention_flops, parameter_count
from mha_course.heads.ablation import Head, attention_layers
from mha_course.heads.gating import HeadGates, gated, in_eval_mode
from mha_course.layers import AttentionTrace, KeysAndValues, MultiHeadAttention
from mha_course.sizes import check_number, check_sizes
from mha_course.variants.some_heads import layer_of_heads

Batch = TypeVar("Batch")


@dataclass(frozen=True)
class GateRecipe:
    """How gates are learned.

    strength: the price of an open head, lambda. steps: updates. gate_rate, weight_rate: largest learning
    rates (Adam) of log_alpha and of the model's weights; weight_rate = 0 freezes the model. start: log_alpha
    at the beginning. ramp: updates over which the price grows from 0; over the last `settle` updates gates
    have no noise and don't change, so that the weights get used to them.

    Raises: ValueError for negative numbers, numbers that aren't finite, and phases longer than the whole.
    """

    strength: float = 0.05
    steps: int = 600
    gate_rate: float = 0.05
    weight_rate: float = 3e-4
    start: float = 2.0
    ramp: int = 50
    settle: int = 100

    def __post_init__(self) -> None:
        check_sizes(steps=self.steps)
        check_sizes(0, ramp=self.ramp, settle=self.settle)
        check_number(0, strength=self.strength, gate_rate=self.gate_rate, weight_rate=self.weight_rate)
        check_number(start=self.start)
        if self.ramp + self.settle > self.steps:
            raise ValueError(f"ramp={self.ramp} and settle={self.settle} don't fit in steps={self.steps}.")

    def price(self, step: int) -> float:
        """What an open head costs in this update (from 1); nothing any more while the weights settle."""
        if step > self.steps - self.settle:
            return 0.0
        return self.strength * min(1.0, step / self.ramp) if self.ramp else self.strength


@dataclass(frozen=True, eq=False)
class GateStep:
    """One update: its number from 1, the task's loss, the expected number of open heads, the gates without
    noise, for each layer (h,).
    """

    number: int
    loss: float
    expected_open: float
    gates: tuple[Tensor, ...]

    @property
    def kept(self) -> int:
        """Heads whose gate is not 0."""
        return sum(int((gate > 0).sum()) for gate in self.gates)


def gates_for(model: nn.Module, start: float = 2.0, seed: int = 0, **options: object) -> list[HeadGates]:
    """A learned gate module for each attention layer; all draw from one generator with this seed."""
    g = Generator().manual_seed(seed)
    return [HeadGates(layer.h, start, g=g, **options) for layer in attention_layers(model)]


def learn_gates(
    model: nn.Module,
    gates: Sequence[HeadGates],
    batches: Iterable[Batch],
    loss: Callable[[nn.Module, Batch], Tensor],
    recipe: GateRecipe,
) -> Iterator[GateStep]:
    """Learn gates on a trained model, in place, and yield after every update; stop asking, and it stops.

    loss: the task's loss on a batch. The model runs without dropout, so that noise comes from the gates only.
    Between updates the model carries no gates: it can be looked at as it is. Modes (`training`) and
    `requires_grad` are those of learning until the end, and then as they were.
    Raises: ValueError for a loss that isn't finite.
    """
    weights = [p for p in model.parameters() if recipe.weight_rate]
    wanted = [p.requires_grad for p in model.parameters()]
    alphas = [gate.log_alpha for gate in gates]
    # Two optimisers, since Voita's gates learn much faster than weights that are trained already.
    of_gates = torch.optim.Adam(alphas, recipe.gate_rate, betas=(0.9, 0.98))
    of_weights = torch.optim.Adam(weights, recipe.weight_rate, betas=(0.9, 0.98)) if weights else None
    try:
        with in_eval_mode(model):
            for number, batch in zip(range(1, recipe.steps + 1), batches, strict=False):
                settling = number > recipe.steps - recipe.settle
                for gate in gates:
                    gate.train(not settling)
                for p in model.parameters():
                    p.requires_grad_(of_weights is not None)
                with gated(model, gates), torch.enable_grad():
                    found = loss(model, batch)
                    if not bool(found.isfinite().all()):
                        raise ValueError(
                            f"the loss of step {number} is {found.tolist()}: gates can't be learned from it."
                        )
                    open_now = sum(gate.expected_l0() for gate in gates)
                    for optimiser in (of_gates, of_weights):
                        if optimiser is not None:
                            optimiser.zero_grad(set_to_none=True)
                    whole = found + recipe.price(number) * open_now
                    if whole.requires_grad:
                        whole.backward()
                if not settling:
                    of_gates.step()
                if of_weights is not None:
                    left = 1 - (number - 1) / recipe.steps
                    of_weights.param_groups[0]["lr"] = recipe.weight_rate * left
                    nn.utils.clip_grad_norm_(weights, 1.0)
                    of_weights.step()
                yield GateStep(number, float(found.detach()), float(open_now.detach()), gate_values(gates))
    finally:
        for gate in gates:
            gate.eval()
        for p, before in zip(model.parameters(), wanted, strict=True):
            p.requires_grad_(before)


@torch.no_grad()
def gate_values(gates: Sequence[HeadGates]) -> tuple[Tensor, ...]:
    """For each layer (h,): the gates without noise."""
    return tuple(
        (
            gate.concrete.rounded(gate.log_alpha) if gate.rounded else gate.concrete.inference(gate.log_alpha)
        ).clone()
        for gate in gates
    )


def survivors(gates: Sequence[Tensor]) -> list[Head]:
    """The heads whose gate is not 0, (layer, head) from 1."""
    return [
        (i, j) for i, layer in enumerate(gates, 1) for j, gate in enumerate(layer.tolist(), 1) if gate > 0
    ]


class NoHeads(nn.Module):
    """What is left of a layer of which no head is: W_O's bias, the same for every token; without bias, zeros.

    h and n_kv_heads: 0. It is called as the layer that it stands for, with a cache too; its keys and values
    have a head axis of length 0.
    """

    def __init__(self, layer: MultiHeadAttention) -> None:
        super().__init__()
        self.d_model, self.h, self.n_kv_heads = layer.d_model, 0, 0
        self.d_k, self.d_v = layer.d_k, layer.d_v
        self.bias = None if layer.w_o.bias is None else nn.Parameter(layer.w_o.bias.detach().clone())

    def keys_and_values(self, key: Tensor, value: Tensor | None = None) -> KeysAndValues:
        """Keys (b, 0, n_k, d_k) and values (b, 0, n_k, d_v) of key (b, n_k, d_model)."""
        return KeysAndValues(*self.shared_keys_and_values(key, key))

    def shared_keys_and_values(self, key: Tensor, value: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """The same, as a cache takes them."""
        b, n_k, _ = key.shape
        return key.new_zeros(b, 0, n_k, self.d_k), key.new_zeros(b, 0, n_k, self.d_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor | KeysAndValues | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """query (b, n_q, d_model) -> (b, n_q, d_model)."""
        return torch.zeros_like(query) if self.bias is None else self.bias.expand_as(query)

    def trace(
        self,
        query: Tensor,
        key: Tensor | KeysAndValues | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> AttentionTrace:
        """All stages, with a head axis of length 0."""
        b, n_q, _ = query.shape
        known = key if isinstance(key, KeysAndValues) else self.keys_and_values(query if key is None else key)

        def none(*sizes: int) -> Tensor:
            return query.new_zeros(b, 0, *sizes)

        q, scores = none(n_q, self.d_k), none(n_q, known.k.shape[2])
        heads, shares = none(n_q, self.d_v), none(n_q, self.d_model)
        concat = query.new_zeros(b, n_q, 0)
        return AttentionTrace(
            q, known.k, known.v, scores, scores, heads, concat, shares, self(query), self.bias, None
        )


@torch.no_grad()
def pruned_layer(layer: MultiHeadAttention, gate: Tensor) -> MultiHeadAttention | NoHeads:
    """The layer without the heads whose gate is 0; what the other gates scale is now in W_O's rows.

    gate: (h,), fixed numbers. The result computes what the gated layer did, with smaller W_Q, W_K, W_V and
    W_O. A gate module on the layer is left out.
    Raises: ValueError for another number of gates than heads, and for gates that aren't finite.
    """
    if gate.shape != (layer.h,):
        raise ValueError(f"h={layer.h} heads need as many gates; got {tuple(gate.shape)}.")
    if not bool(gate.isfinite().all()):
        raise ValueError(f"gate={gate.tolist()}: gates must be finite numbers.")
    kept = gate.nonzero().flatten().tolist()
    if not kept:
        return NoHeads(layer)
    before, layer.gate = layer.gate, None
    try:
        small = layer_of_heads(layer, kept)
    finally:
        layer.gate = before
    small.w_o.weight.mul_(gate[kept].to(small.w_o.weight).repeat_interleave(layer.d_v))
    return small


def pruned_model(model: nn.Module, gates: Sequence[Tensor]) -> nn.Module:
    """A copy of the model in which every attention layer is a `pruned_layer`, the model itself if it is one.

    gates: for each layer (h,). Raises: ValueError for another number of gates than layers or heads.
    """
    made = deepcopy(model)
    layers = attention_layers(made)
    if len(gates) != len(layers):
        raise ValueError(f"{len(layers)} attention layers need as many gates; got {len(gates)}.")
    smaller = {id(layer): pruned_layer(layer, gate) for layer, gate in zip(layers, gates, strict=True)}
    for module in list(made.modules()):
        # Not named_children(): that leaves out the second name of a layer that has two.
        for name, child in list(module._modules.items()):
            if id(child) in smaller:
                setattr(module, name, smaller[id(child)])
    return smaller.get(id(made), made)


@dataclass(frozen=True)
class AttentionSize:
    """Heads, parameters and FLOPs of all attention layers of a model together."""

    heads: int
    parameters: int
    flops: int


def attention_size(model: nn.Module, n: int, b: int = 1) -> AttentionSize:
    """Counted by formula, `cost.parameter_count` and `cost.attention_flops`; what pruning saves is the
    difference of two. A layer without heads has no FLOPs. Raises: ValueError for lengths below 0.
    """
    n, b = check_sizes(0, n=n, b=b)
    heads = parameters = flops = 0
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            sizes = {"d_k": module.d_k, "d_v": module.d_v, "n_kv_heads": module.n_kv_heads}
            bias = module.w_o.bias is not None
            heads += module.h
            parameters += parameter_count(module.d_model, module.h, bias=bias, **sizes)
            flops += attention_flops(n, module.d_model, module.h, b, **sizes)["total"]
        elif isinstance(module, NoHeads):
            parameters += 0 if module.bias is None else module.d_model
    return AttentionSize(heads, parameters, flops)
