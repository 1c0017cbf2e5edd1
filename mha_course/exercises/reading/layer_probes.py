"""A layer asked from outside: which weights its heads give, what comes behind the concatenation, which way
the values take. Each is read from calls with chosen matrices, whatever the code looks like."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mha_course.exercises.outcome import Outcome

Call = Callable[[tuple[Any, ...]], Outcome]


@dataclass(frozen=True)
class Asked:
    """One draw: sizes, inputs, and what the right layer makes of them on the way."""

    b: int
    n: int
    h: int
    d_k: int
    x: Tensor
    w_q: Tensor
    w_k: Tensor
    w_v: Tensor
    w_o: Tensor
    mask: Tensor | None = None

    @property
    def d_model(self) -> int:
        """All heads side by side."""
        return self.h * self.d_k

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes by their symbols."""
        return {"b": self.b, "n": self.n, "d_model": self.d_model, "h": self.h, "d_k": self.d_k}

    def split(self, y: Tensor) -> Tensor:
        """(b, n, d_model) -> (b, h, n, d_k)."""
        return y.reshape(self.b, self.n, self.h, self.d_k).transpose(1, 2)

    def merge(self, heads: Tensor) -> Tensor:
        """(b, h, n, d_k) -> (b, n, d_model)."""
        return heads.transpose(1, 2).reshape(self.b, self.n, self.d_model)

    def queries_and_keys(self) -> tuple[Tensor, Tensor]:
        """(b, h, n, d_k) each."""
        return self.split(self.x @ self.w_q), self.split(self.x @ self.w_k)

    def scores(self) -> Tensor:
        """Scaled, nothing hidden: (b, h, n, n)."""
        q, k = self.queries_and_keys()
        return q @ k.transpose(-2, -1) / math.sqrt(self.d_k)

    def weights(self) -> Tensor:
        """As they should be: (b, h, n, n)."""
        scores = self.scores()
        return (scores if self.mask is None else scores.masked_fill(~self.mask, -math.inf)).softmax(-1)

    def concat(self) -> Tensor:
        """All heads side by side, as they should be."""
        return self.merge(self.weights() @ self.split(self.x @ self.w_v))

    def asked(self, call: Call, with_w_o: bool, **other: Tensor) -> Tensor | None:
        """What the answer gives, with some of the matrices replaced; None when that is no such tensor."""
        names = ("x", "w_q", "w_k", "w_v", *(("w_o",) if with_w_o else ()))
        arguments = [other.get(name, getattr(self, name)).clone() for name in names]
        more = () if self.mask is None else (self.mask.clone(),)
        out = call((*arguments, self.h, *more))
        if out.error is not None or len(out.leaves) != 1 or out.leaves[0].shape != self.x.shape:
            return None
        leaf = out.leaves[0]
        return leaf if leaf.is_floating_point() and bool(leaf.isfinite().all()) else None


def drawn(
    b: int, n: int, h: int, d_k: int, seed: int, mask: Tensor | None = None, spread: float = 1.0
) -> Asked:
    """Random inputs whose queries and keys have about the spread given."""
    g = torch.Generator().manual_seed(seed)
    d = h * d_k
    w = [torch.randn(d, d, generator=g) / math.sqrt(d) for _ in range(4)]
    # Within a head's slice the tokens are at right angles, where there is room: weights can be read exactly.
    x = torch.randn(b, n, h, d_k, generator=g).transpose(1, 2)
    if n <= d_k:
        x = torch.linalg.qr(x.transpose(-2, -1))[0].transpose(-2, -1) * math.sqrt(d_k)
    return Asked(b, n, h, d_k, spread * x.transpose(1, 2).reshape(b, n, d), *w, mask)


def seen_weights(asked: Asked, call: Call, with_w_o: bool) -> Tensor | None:
    """The weights (b, h, n, n) that the answer's heads give, read from its output; None where they can't be.

    With the identity for W_V and W_O each slice of the output is weights times a slice of x. Needs n < d_k,
    and holds only if they explain the output with the drawn matrices as well.
    """
    eye = torch.eye(asked.d_model)
    out = asked.asked(call, with_w_o, w_v=eye, w_o=eye)
    whole = asked.asked(call, with_w_o)
    if out is None or whole is None:
        return None
    weights = asked.split(out).double() @ torch.linalg.pinv(asked.split(asked.x).double())
    made = asked.merge(weights @ asked.split(asked.x @ asked.w_v).double())
    made = made @ asked.w_o.double() if with_w_o else made
    return weights if torch.allclose(made, whole.double(), rtol=2e-3, atol=2e-3) else None


def fitted(table: Tensor, result: Tensor) -> Tensor | None:
    """The matrix M with table @ M = result, where there is one. Both have more rows than columns."""
    a, y = table.double().numpy(), result.double().numpy()
    found = np.linalg.lstsq(a, y, rcond=1e-8)[0]
    if np.abs(a @ found - y).max() > 3e-4 * max(1.0, float(np.abs(y).max())):
        return None
    return torch.from_numpy(np.where(np.abs(found) < 1e-4, 0.0, found))
