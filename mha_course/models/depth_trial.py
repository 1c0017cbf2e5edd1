"""Stacks of blocks with and without residual paths and LayerNorm, for lesson 09: what passes, what learns.

The task: read a sentence of drawn token numbers, and name at every place the token that stands there when
the sentence is read backwards. It takes looking somewhere else, and nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.layers import MultiHeadAttention
from mha_course.models.one_thread import one_thread
from mha_course.models.trained_once import trained_once
from mha_course.positions import sinusoidal_encoding
from mha_course.transformer import FeedForward, Residual

KINDS = ("pre-norm", "post-norm", "without residual", "without norm", "without both")
VOCABULARY = 11
D_MODEL = 24
H = 4
N = 7
CHANCE = 1 / VOCABULARY


class Around(nn.Module):
    """What stands around a sublayer: residual and LayerNorm, or one of them, or nothing."""

    def __init__(self, kind: str, d_model: int) -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} must be one of {', '.join(KINDS)}.")
        self.kind = kind
        self.residual = Residual(d_model, "post" if kind == "post-norm" else "pre")

    def forward(self, x: Tensor, sublayer: nn.Module) -> Tensor:
        """x (b, n, d_model) -> (b, n, d_model)."""
        if self.kind.endswith("-norm"):
            return self.residual(x, sublayer)
        if self.kind == "without residual":
            return sublayer(self.residual.norm(x))
        return x + sublayer(x) if self.kind == "without norm" else sublayer(x)


class Stack(nn.Module):
    """`layers` blocks of attention and feed-forward, with `Around` around both."""

    def __init__(self, kind: str, layers: int, d_model: int = D_MODEL, h: int = H) -> None:
        super().__init__()
        self.attentions = nn.ModuleList(MultiHeadAttention(d_model, h, bias=True) for _ in range(layers))
        self.feeds = nn.ModuleList(FeedForward(d_model, 4 * d_model) for _ in range(layers))
        self.around = nn.ModuleList(Around(kind, d_model) for _ in range(2 * layers))
        self.last_norm = nn.LayerNorm(d_model) if kind == "pre-norm" else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """x (b, n, d_model) -> (b, n, d_model)."""
        return self.last_norm(self.after_each(x)[-1])

    def after_each(self, x: Tensor) -> list[Tensor]:
        """x and what leaves every block, layers + 1 tensors (b, n, d_model)."""
        passed = [x]
        for i, (attention, feed) in enumerate(zip(self.attentions, self.feeds, strict=True)):
            x = self.around[2 * i](x, attention)
            x = self.around[2 * i + 1](x, feed)
            passed.append(x)
        return passed


def fresh_stack(kind: str, layers: int, d_model: int = D_MODEL, h: int = H, seed: int = 0) -> Stack:
    """An untrained stack; the same numbers for the same seed. Raises ValueError for an unknown kind."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Stack(kind, layers, d_model, h)


def likeness(x: Tensor) -> float:
    """How alike the tokens of a sentence are: mean cosine of two different ones, 1 = all point one way."""
    unit = F.normalize(x, dim=-1)
    n = x.shape[-2]
    cosines = unit @ unit.mT
    others = cosines.sum((-2, -1)) - cosines.diagonal(dim1=-2, dim2=-1).sum(-1)
    return float((others / (n * (n - 1))).mean())


@dataclass(frozen=True)
class DepthTrial:
    """The cross-entropy at every step, and the share of right answers on 500 new sentences."""

    losses: list[float]
    accuracy: float


def train_stack(
    kind: str, layers: int = 5, steps: int = 200, b: int = 32, seed: int = 0, rate: float = 3e-3
) -> DepthTrial:
    """Train a stack on reading backwards. The global random state is left as it was.

    kind: one of KINDS. rate: of Adam, without warm-up. Raises: ValueError for an unknown kind.
    """
    with one_thread():
        return _train(kind, layers, steps, b, seed, rate)


@trained_once
def _train(kind: str, layers: int, steps: int, b: int, seed: int, rate: float) -> DepthTrial:
    g = torch.Generator().manual_seed(seed)
    stack = fresh_stack(kind, layers, seed=seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        words, guess = nn.Embedding(VOCABULARY, D_MODEL), nn.Linear(D_MODEL, VOCABULARY)
    places = sinusoidal_encoding(N, D_MODEL)
    parameters = [*stack.parameters(), *words.parameters(), *guess.parameters()]
    optimiser, losses = torch.optim.Adam(parameters, lr=rate, fused=True), []
    for _ in range(steps):
        ids = torch.randint(VOCABULARY, (b, N), generator=g)
        logits = guess(stack(words(ids) + places))
        loss = F.cross_entropy(logits.flatten(0, 1), ids.flip(1).flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    ids = torch.randint(VOCABULARY, (500, N), generator=g)
    with torch.no_grad():
        right = guess(stack(words(ids) + places)).argmax(-1) == ids.flip(1)
    return DepthTrial(losses, right.float().mean().item())
