"""Stand-in word vectors: random, but the same word always gets the same one."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor


def token_vectors(tokens: Sequence[str], d_model: int, seed: int = 0) -> Tensor:
    """A vector of independent standard normal numbers for every token, fixed by its spelling and the seed.

    No table is needed, so any word in any script has a vector. The global random state is not touched.

    Returns: (n, d_model) float32.
    """
    if not tokens:
        return torch.empty(0, d_model)
    return torch.stack([_vector(token, d_model, seed) for token in tokens])


@lru_cache(maxsize=4096)
def _vector(token: str, d_model: int, seed: int) -> Tensor:
    # One letter with an accent can be written as one code point or as two: that is still one word.
    token = unicodedata.normalize("NFC", token)
    # hash() differs from run to run, so the spelling is hashed by BLAKE2.
    digest = hashlib.blake2b(f"{seed}:{token}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest, "big") % 2**63)
    return torch.randn(d_model, generator=generator)
