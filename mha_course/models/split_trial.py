"""Small models trained with a right and with two wrong ways to split, for lesson 03.

Each reads sentences of drawn token numbers and names one token at every position: itself ("copy"), the first
of the sentence ("first"), or the next one ("next", behind a causal mask). Copying asks for no other position,
so a wrong split may still learn it. The next token is drawn, so behind an honest mask nobody can name it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.attention import merge_heads, scaled_dot_product_attention, split_heads
from mha_course.masks import causal_mask
from mha_course.models.one_thread import one_thread
from mha_course.models.trained_once import trained_once

TASKS = ("copy", "first", "next")
VOCABULARY = 11
D_MODEL = 24
H = 4
N = 7


def split_by_view_alone(x: Tensor, h: int) -> Tensor:
    """The wrong split: (b, n, d_model) read as (b, h, n, d_k) without a transpose. Tokens are mixed."""
    b, n, d_model = x.shape
    return x.reshape(b, h, n, d_model // h)


def merge_by_view_alone(x: Tensor) -> Tensor:
    """The wrong merge: (b, h, n, d_k) read as (b, n, h * d_k). It undoes `split_by_view_alone`."""
    b, h, n, d_k = x.shape
    return x.reshape(b, n, h * d_k)


# name -> how to split and how to merge
WAYS: dict[str, tuple[Callable[[Tensor, int], Tensor], Callable[[Tensor], Tensor]]] = {
    "right": (split_heads, merge_heads),
    "view both ways": (split_by_view_alone, merge_by_view_alone),
    "view, then transpose back": (split_by_view_alone, merge_heads),
}


class TinyReader(nn.Module):
    """Token and position vectors, one attention layer split in the way named, and a guess at each position.

    No residual path: what a position says, it must have got through the heads.
    """

    def __init__(self, way: str, causal: bool = False) -> None:
        super().__init__()
        self.mask = causal_mask(N) if causal else None
        self.split, self.merge = WAYS[way]
        self.words = nn.Embedding(VOCABULARY, D_MODEL)
        self.places = nn.Embedding(N, D_MODEL)
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(D_MODEL, D_MODEL, bias=False) for _ in range(4))
        self.guess = nn.Linear(D_MODEL, VOCABULARY)

    def attend(self, x: Tensor) -> Tensor:
        """The attention layer: (b, n, d_model) -> (b, n, d_model)."""
        q, k, v = (self.split(w(x), H) for w in (self.w_q, self.w_k, self.w_v))
        return self.w_o(self.merge(scaled_dot_product_attention(q, k, v, self.mask)[0]))

    def forward(self, ids: Tensor) -> Tensor:
        """ids (b, n) -> a score for every token of the vocabulary, (b, n, VOCABULARY)."""
        return self.guess(self.attend(self.words(ids) + self.places.weight))


@dataclass(frozen=True)
class Trial:
    """The cross-entropy at every step, and the share of right answers on 500 new sentences."""

    losses: list[float]
    accuracy: float


def train_reader(way: str, task: str, steps: int = 150, b: int = 32, seed: int = 0) -> Trial:
    """Train a TinyReader with Adam; a few tenths of a second. The global random state is left as it was.

    way: a key of WAYS. task: one of TASKS. Guessing blindly costs log(11) = 2.4.
    Raises: ValueError for an unknown way or task.
    """
    if way not in WAYS or task not in TASKS:
        raise ValueError(f"way={way!r} must be one of {list(WAYS)}, task={task!r} one of {list(TASKS)}.")
    with one_thread():
        return _train(way, task, steps, b, seed)


@trained_once
def _train(way: str, task: str, steps: int, b: int, seed: int) -> Trial:
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = TinyReader(way, causal=task == "next")
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)
    losses = []
    for _ in range(steps):
        ids, wanted = _sentences(b, task, generator)
        loss = F.cross_entropy(model(ids).flatten(0, 1), wanted.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    ids, wanted = _sentences(500, task, generator)
    with torch.no_grad():
        right = model(ids).argmax(dim=-1) == wanted
    accuracy = right[wanted >= 0].float().mean().item()
    return Trial(losses, accuracy)


def _sentences(b: int, task: str, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """ids and wanted, both (b, N); -100, which cross_entropy leaves out, where there is no next token."""
    ids = torch.randint(VOCABULARY, (b, N), generator=generator)
    if task == "copy":
        return ids, ids
    if task == "first":
        return ids, ids[:, :1].expand(b, N)
    return ids, F.pad(ids[:, 1:], (0, 1), value=-100)
