"""Mixture of heads (MoH): shared heads that every token uses, and routed heads of which each token chooses K.

    output_t = sum_i g_ti head_ti W_O^(i) (+ bias);  g_ti = 0 for routed heads that token t has not chosen

A token chooses by its query side, so keys and values of every head are still needed; what is saved are the
rows of W_Q, the scores, the weighted sums and the rows of W_O of the heads it leaves out. Source: Jin, Zhu,
Yuan, Yan 2024, and their code, which computes all heads and multiplies some by 0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.attention import merge_heads, split_heads
from mha_course.layers import KeysAndValues, MultiHeadAttention
from mha_course.sizes import is_whole_number
from mha_course.traces import AttentionTrace

Gates = Literal["code", "paper"]


@dataclass(frozen=True, eq=False)
class Routing:
    """How the tokens weigh the heads.

    gates (b, n, h), shared heads first, 0 where a routed head is not chosen; chosen (b, n, routed) bool;
    probabilities (b, n, routed), the router's softmax over all routed heads; types (b, n, 2), the softmax
    over shared and routed; balance, the load-balance loss: routed times the paper's with gates "code"."""

    gates: Tensor
    chosen: Tensor
    probabilities: Tensor
    types: Tensor
    balance: Tensor


class MixtureOfHeads(MultiHeadAttention):
    """Multi-head attention with `shared` heads for all tokens and `chosen` of the other h - shared by token.

    gates: "paper" are softmax over the heads of a type times the type's share, so they sum to at most 1;
    "code" are the authors' released ones, renormalised over the chosen and scaled, so that a head's gate is 1
    on average: 2 (alpha_shared * shared * softmax + alpha_routed * chosen * softmax over the chosen).

    With "code", routers at zero and all routed heads chosen it is the plain layer. Without shared or without
    chosen heads there are no types to weigh. Routers have no bias: d_model (h + 2) parameters.

    `forward` computes the chosen heads only; `trace` all of them, with the gates applied to `heads`.
    Source of the two kinds: Jin et al. 2024, equations 5 and 6, and their code.
    Raises: ValueError as `MultiHeadAttention`, and for shared or chosen that don't fit h.
    """

    def __init__(
        self,
        d_model: int,
        h: int,
        shared: int,
        chosen: int,
        gates: Gates = "code",
        d_k: int | None = None,
        d_v: int | None = None,
        bias: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(d_model, h, d_k, d_v, bias=bias, dropout=dropout)
        for name, count, most in (("shared", shared, h), ("chosen", chosen, h - shared)):
            if not is_whole_number(count) or not 0 <= count <= most:
                raise ValueError(
                    f"{name}={count!r} of h={h} heads with shared={shared!r} must lie in 0..{most}."
                )
        if shared + chosen == 0:
            raise ValueError("shared=0 and chosen=0 leave no head to compute.")
        if gates not in ("code", "paper"):
            raise ValueError(f"gates={gates!r} can be 'code' or 'paper'.")
        self.shared, self.chosen, self.gates = int(shared), int(chosen), gates
        self.router_shared = nn.Linear(d_model, self.shared, bias=False) if shared else None
        self.router_routed = nn.Linear(d_model, h - self.shared, bias=False) if h > shared else None
        self.router_types = nn.Linear(d_model, 2, bias=False) if shared and chosen else None
        for router in (self.router_shared, self.router_routed, self.router_types):
            if router is not None:
                nn.init.trunc_normal_(router.weight, std=0.02)

    def routing(self, query: Tensor) -> Routing:
        """Gates, choices and balance loss for tokens query (b, n_q, d_model).

        balance = sum over routed heads of P_i f_i, with P_i the mean probability of head i and f_i the share
        of tokens that chose it (times the number of routed heads with gates "code"): K / routed when evenly
        spread. f_i has no gradient."""
        # In full precision also under autocast: rounding to bfloat16 would send tokens to other heads.
        with torch.autocast(query.device.type, enabled=False):
            return self._routing(query.to(self.w_q.weight.dtype))

    def _routing(self, query: Tensor) -> Routing:
        b, n, _ = query.shape
        empty = query.new_zeros(b, n, 0)
        types = self.router_types(query).softmax(-1) if self.router_types is not None else None
        of_shared = self.router_shared(query).softmax(-1) if self.router_shared is not None else empty
        probabilities = self.router_routed(query).softmax(-1) if self.router_routed is not None else empty
        picked = probabilities.topk(self.chosen, dim=-1).indices
        chosen = torch.zeros_like(probabilities, dtype=torch.bool).scatter(-1, picked, True)
        of_routed = probabilities.masked_fill(~chosen, 0.0)
        if self.gates == "code":
            of_shared = self.shared * of_shared
            of_routed = self.chosen * of_routed / of_routed.sum(-1, keepdim=True).clamp_min(1e-9)
        if types is not None:
            scale = 2 if self.gates == "code" else 1
            of_shared = scale * types[..., :1] * of_shared
            of_routed = scale * types[..., 1:] * of_routed
        # No token chooses nothing, so the mean over none counts as 0.
        tokens = max(1, b * n)
        shares = chosen.to(probabilities.dtype).sum((0, 1)) / tokens
        spread = (probabilities.sum((0, 1)) / tokens * shares).sum()
        balance = spread * (probabilities.shape[-1] if self.gates == "code" else 1)
        none = query.new_tensor([float(self.shared > 0), float(self.chosen > 0)]).expand(b, n, 2)
        return Routing(
            torch.cat([of_shared, of_routed], -1),
            chosen,
            probabilities,
            none if types is None else types,
            balance,
        )

    def forward(
        self,
        query: Tensor,
        key: Tensor | KeysAndValues | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Attend from query to key and value, in the chosen heads only. Arguments as `MultiHeadAttention`."""
        if self.gate is not None:
            return self.trace(query, key, value, mask).output
        known, mask = self._keys_and_mask(query, key, value, mask)
        routing = self.routing(query)
        output = self._of_shared(query, known, mask, routing)
        for routed in range(self.h - self.shared):
            output = self._with_routed(output, query, known, mask, routing, routed)
        return output if self.w_o.bias is None else output + self.w_o.bias

    def trace(
        self,
        query: Tensor,
        key: Tensor | KeysAndValues | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> AttentionTrace:
        """Every stage of all heads; `heads` and what follows have the gates applied."""
        plain = super().trace(query, key, value, mask)
        heads = plain.heads * self.routing(query).gates.transpose(1, 2)[..., None]
        concat = merge_heads(heads)
        contributions = heads @ self.w_o.weight.T.view(self.h, self.d_v, self.d_model)
        return AttentionTrace(
            plain.q, plain.k, plain.v, plain.scores, plain.weights, heads, concat, contributions,
            self.w_o(concat), plain.bias, plain.mask,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, shared={self.shared}, chosen={self.chosen}, gates={self.gates!r}"

    def _of_shared(
        self, query: Tensor, known: KeysAndValues, mask: Tensor | None, routing: Routing
    ) -> Tensor:
        """What the shared heads write, (b, n_q, d_model), all of them in one go."""
        if not self.shared:
            return query.new_zeros(query.shape)
        heads = slice(0, self.shared)
        rows = self._rows_of(heads, self.d_k)
        q = split_heads(F.linear(query, *self._some(self.w_q, rows)), self.shared)
        z = self._attended(q, known.k[:, heads], known.v[:, heads], _for_heads(mask, heads))
        z = merge_heads(z * routing.gates[..., heads].transpose(1, 2)[..., None])
        return z @ self.w_o.weight[:, self._rows_of(heads, self.d_v)].T

    def _with_routed(
        self,
        output: Tensor,
        query: Tensor,
        known: KeysAndValues,
        mask: Tensor | None,
        routing: Routing,
        routed: int,
    ) -> Tensor:
        """The output with one routed head's share added, for the tokens that chose it."""
        sentence, token = routing.chosen[..., routed].nonzero(as_tuple=True)
        if not len(sentence):
            return output
        head = self.shared + routed
        one = slice(head, head + 1)
        # Sentences choose a head differently often: its queries are packed to the left, (b, 1, longest, d_k).
        counts = routing.chosen[..., routed].sum(1)
        place = torch.arange(len(sentence), device=query.device) - (counts.cumsum(0) - counts)[sentence]
        shape = (query.shape[0], int(counts.max()))
        projected = F.linear(query[sentence, token], *self._some(self.w_q, self._rows_of(one, self.d_k)))
        # Types follow the products: under autocast they are narrower than the query's.
        q = projected.new_zeros(*shape, self.d_k).index_put((sentence, place), projected)
        allowed = None
        if mask is not None:
            mask = _for_heads(mask, one).expand(shape[0], 1, query.shape[1], -1)
            allowed = mask.new_ones(shape[0], 1, shape[1], mask.shape[-1])
            allowed[sentence, 0, place] = mask[sentence, 0, token]
        z = self._attended(q[:, None], known.k[:, one], known.v[:, one], allowed)[sentence, 0, place]
        z = z * routing.gates[sentence, token, head][:, None]
        written = z @ self.w_o.weight[:, self._rows_of(one, self.d_v)].T
        return output.index_put((sentence, token), written.to(output.dtype), accumulate=True)

    def _attended(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        dropout_p = self.dropout if self.training else 0.0
        if mask is None:
            return F.scaled_dot_product_attention(q, k, v, dropout_p=dropout_p, scale=self.scale)
        empty = ~mask.any(dim=-1, keepdim=True)
        heads = F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask | empty, dropout_p=dropout_p, scale=self.scale
        )
        return heads.masked_fill(empty, 0.0)

    @staticmethod
    def _rows_of(heads: slice, width: int) -> slice:
        return slice(heads.start * width, heads.stop * width)

    @staticmethod
    def _some(linear: nn.Linear, rows: slice) -> tuple[Tensor, Tensor | None]:
        return linear.weight[rows], None if linear.bias is None else linear.bias[rows]


@contextmanager
def balance_losses(model: nn.Module) -> Iterator[list[Tensor]]:
    """Collect the balance loss of every `MixtureOfHeads` in the model, one a call, while the block runs.

    `with balance_losses(model) as losses: loss = task(model(x)) + 0.01 * sum(losses) / len(losses)`.
    Collected anew each time, so that none is counted twice. Source of the factor 0.01: Jin et al. 2024.
    """
    losses: list[Tensor] = []

    def note(layer: MixtureOfHeads, args: tuple, kwargs: dict) -> None:
        losses.append(layer.routing(args[0] if args else kwargs["query"]).balance)

    layers = [layer for layer in model.modules() if isinstance(layer, MixtureOfHeads)]
    hooks = [layer.register_forward_pre_hook(note, with_kwargs=True) for layer in layers]
    try:
        yield losses
    finally:
        for hook in hooks:
            hook.remove()


def _for_heads(mask: Tensor | None, heads: slice) -> Tensor | None:
    """The part of a 4-D mask that belongs to these heads; a mask for all of them stays as it is."""
    return mask if mask is None or mask.shape[1] == 1 else mask[:, heads]
