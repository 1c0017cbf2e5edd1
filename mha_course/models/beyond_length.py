"""Models beyond the lengths they were trained on, for lesson 08: small ones, and the course model.

The small ones read 20 drawn tokens and name, at every position, the token before. Each gets its positions in
another way: "sinusoidal" and "learned" vectors are added to the input, "rotary" turns queries and keys
(Su et al. 2021). Then they read longer sentences.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.attention import merge_heads, scaled_dot_product_attention, split_heads
from mha_course.models.gloss_model import GlossModel
from mha_course.models.one_thread import one_thread
from mha_course.models.trained_once import trained_once
from mha_course.positions import rotate_by_position, sinusoidal_encoding
from mha_course.text.course_language.gloss import PARTS, gloss
from mha_course.text.course_language.grammar import CourseSentence

KINDS = ("sinusoidal", "learned", "rotary")
TRAINED, TESTED = 20, 80  # positions
VOCABULARY = 13
D_MODEL, H = 32, 2


class WordBefore(nn.Module):
    """One attention layer that names the token before, with positions of the kind given.

    No residual path: what a position says, it must have got through the heads.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.words = nn.Embedding(VOCABULARY, D_MODEL)
        nn.init.normal_(self.words.weight, std=D_MODEL**-0.5)
        # About as long as the sinusoids; rows from TRAINED on stay as they are drawn.
        self.places = nn.Embedding(TESTED, D_MODEL)
        nn.init.normal_(self.places.weight, std=0.5**0.5)
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(D_MODEL, D_MODEL, bias=False) for _ in range(4))
        self.guess = nn.Linear(D_MODEL, VOCABULARY)

    def forward(self, ids: Tensor) -> Tensor:
        """ids (b, n) -> a score for every token of the vocabulary, (b, n, VOCABULARY)."""
        n = ids.shape[1]
        x = self.words(ids) * math.sqrt(D_MODEL)
        if self.kind == "sinusoidal":
            x = x + sinusoidal_encoding(n, D_MODEL)
        elif self.kind == "learned":
            x = x + self.places.weight[:n]
        q, k, v = (split_heads(w(x), H) for w in (self.w_q, self.w_k, self.w_v))
        if self.kind == "rotary":
            q, k = rotate_by_position(q), rotate_by_position(k)
        return self.guess(self.w_o(merge_heads(scaled_dot_product_attention(q, k, v)[0])))


@dataclass(frozen=True)
class LengthTrial:
    """The cross-entropy at every step, and the share of right answers at each position, (TESTED,).

    right[0] is NaN: the first token has none before it.
    """

    losses: list[float]
    right: Tensor


def train_on_short(kind: str, seed: int = 0, steps: int = 400, b: int = 32) -> LengthTrial:
    """Train a `WordBefore` on TRAINED tokens with Adam, and test it on 300 new sentences of TESTED.

    Two or three seconds. Guessing is right once in 13 times. The global random state is left as it was.
    Raises: ValueError for a kind that is none of KINDS.
    """
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} must be one of {', '.join(KINDS)}.")
    with one_thread(), torch.enable_grad():
        return _train(kind, seed, steps, b)


@trained_once
def _train(kind: str, seed: int, steps: int, b: int) -> LengthTrial:
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = WordBefore(kind)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005, fused=True)
    losses = []
    for _ in range(steps):
        ids = torch.randint(VOCABULARY, (b, TRAINED), generator=generator)
        loss = F.cross_entropy(model(ids)[:, 1:].flatten(0, 1), ids[:, :-1].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    ids = torch.randint(VOCABULARY, (300, TESTED), generator=generator)
    with torch.no_grad():
        hits = (model(ids)[:, 1:].argmax(-1) == ids[:, :-1]).float().mean(0)
    return LengthTrial(losses, torch.cat([torch.tensor([torch.nan]), hits]))


def accuracy_from(model: GlossModel, sentences: Sequence[CourseSentence], start: int) -> Mapping[str, float]:
    """How often a course model is right, for each part of the gloss, when positions count from `start`.

    Words and their distances stay as they are; only the first position is another one. The first word of
    a sentence is left out: it has no word before it, and a trained model knows it by its position 0.
    Raises: ValueError for no sentences.
    """
    if not sentences:
        raise ValueError("no sentences to be right or wrong about.")
    by_length: dict[int, list[CourseSentence]] = defaultdict(list)
    for sentence in sentences:
        by_length[len(sentence.words)].append(sentence)
    hits: dict[str, list[Tensor]] = {part: [] for part in PARTS}
    with one_thread(), torch.no_grad():
        for n, group in by_length.items():
            ids = torch.tensor([model.vocabulary.encode(sentence.words) for sentence in group])
            words = model.read.words(ids) * math.sqrt(model.sizes.d_model)
            y = model.encoder(words + sinusoidal_encoding(n, model.sizes.d_model, start))
            right = [gloss(sentence) for sentence in group]
            for part in PARTS:
                wanted = torch.tensor([getattr(one, part) for one in right])
                hits[part].append((model.parts[part](y).argmax(-1) == wanted)[:, 1:].flatten())
    return {part: torch.cat(found).float().mean().item() for part, found in hits.items()}
