"""Calls of the exercises at sizes that hypothesis draws: all different, so that no two axes look alike."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Generator, Tensor

from mha_course.exercises.exercise import draw, numbered
from mha_course.exercises.lessons.lesson_01 import drawn_mask
from mha_course.exercises.lessons.lesson_04_heads import projected
from mha_course.exercises.lessons.lesson_11_resemblance import drawn_distances, drawn_orders
from mha_course.exercises.lessons.lesson_12_guesses import drawn_maps
from mha_course.exercises.lessons.lesson_12_learned import drawn_noise
from tests.exercises.drawn_sizes_14 import CALLS_14
from tests.exercises.drawn_sizes_15 import CALLS_15
from tests.exercises.drawn_sizes_16 import CALLS_16

Arguments = tuple[Any, ...]
Call = Callable[["Sizes"], Arguments]


class Sizes:
    """Sizes that differ from one another, and the numbers that go with them."""

    def __init__(self, sizes: list[int], seed: int) -> None:
        self.b, self.h, self.n, self.m, self.d_k, self.d_v = sizes
        self.g: Generator = torch.Generator().manual_seed(seed)

    @property
    def d_model(self) -> int:
        return self.h * self.d_k

    def tensor(self, *shape: int) -> Tensor:
        return draw(self.g, *shape)

    def whole(self, low: int, high: int, count: int) -> list[int]:
        """Different whole numbers from low to high - 1."""
        return (torch.randperm(high - low, generator=self.g)[:count] + low).tolist()

    def __repr__(self) -> str:
        return f"b={self.b}, h={self.h}, n={self.n}, m={self.m}, d_k={self.d_k}, d_v={self.d_v}"


def drawn_sizes() -> st.SearchStrategy[Sizes]:
    """Six different sizes from 2 to 9, whose products differ as well, and a seed."""
    six = st.lists(st.integers(2, 9), min_size=6, max_size=6, unique=True)
    return st.builds(Sizes, six.filter(_no_product_is_a_size), st.integers(0, 2**20))


def some_sizes(count: int) -> list[Sizes]:
    """So many of them, the same each time."""
    g = random.Random(4)
    drawn = iter(lambda: g.sample(range(2, 10), 6), None)
    return [
        Sizes(six, g.randrange(2**20))
        for six in itertools.islice(filter(_no_product_is_a_size, drawn), count)
    ]


def _no_product_is_a_size(sizes: list[int]) -> bool:
    _, h, _, _, d_k, _ = sizes
    return h * d_k not in sizes


def _tokens(s: Sizes) -> Arguments:
    words = [f"word{i}" for i in range(s.n + s.m)]
    ids = s.whole(0, 40, len(words) + 1)
    vocabulary = dict(zip(["<unk>", *words[: s.n]], ids, strict=False))
    return [words[i] for i in s.whole(0, len(words), s.d_v)], vocabulary


def _attention(s: Sizes, hidden_rows: bool = False) -> Arguments:
    q, k, v = s.tensor(s.b, s.n, s.d_k), s.tensor(s.b, s.m, s.d_k), s.tensor(s.b, s.m, s.d_v)
    mask = drawn_mask(s.g, s.n, s.m)
    if hidden_rows:
        mask[s.whole(0, s.n, s.n // 2)] = False
    return q, k, v, mask


def _heads(s: Sizes) -> Arguments:
    return (*projected(s.g, s.b, s.n, s.d_model, 3), s.h)


def _layer(s: Sizes) -> Arguments:
    mask = drawn_mask(s.g, s.n, s.n) if s.m % 2 else None
    return (*projected(s.g, s.b, s.n, s.d_model, 4), s.h, mask)


def _cross(s: Sizes) -> Arguments:
    y, memory = s.tensor(s.b, s.n, s.d_model), s.tensor(s.b, s.m, s.d_model)
    matrices = [1.5 * s.d_model**-0.5 * s.tensor(s.d_model, s.d_model) for _ in range(4)]
    lengths = torch.randint(1, s.m + 1, (s.b,), generator=s.g)
    mask = (torch.arange(s.m) < lengths[:, None])[:, None, None] if s.d_v % 2 else None
    return y, memory, *matrices, s.h, mask


def _lengths(s: Sizes) -> Arguments:
    return torch.randint(1, s.n + 1, (s.b,), generator=s.g), s.n


def _answers(s: Sizes) -> Arguments:
    answers = torch.randint(s.d_v, (s.b, s.n), generator=s.g)
    real = torch.arange(s.n) < torch.randint(1, s.n + 1, (s.b, 1), generator=s.g)
    return 2 * s.tensor(s.b, s.n, s.d_v), answers.masked_fill(~real, -100)


def _frequencies(s: Sizes) -> Tensor:
    return 0.1 + 1.2 * torch.rand(s.h, generator=s.g)


def _queries(s: Sizes) -> Arguments:
    turn = torch.linalg.qr(s.tensor(s.d_k, s.d_k).double()).Q.float()
    return s.tensor(s.n, s.d_k), turn, 0.5 + s.m / 2


def _offset(s: Sizes) -> Arguments:
    return (2 * s.tensor(s.h, s.n + s.m, s.n + s.m)).softmax(-1), s.d_k - 6


def _targets(s: Sizes, n: int) -> Tensor:
    """A target for most words, -1 for the others; at least one word after and one before."""
    targets = torch.randint(-1, n, (n,), generator=s.g)
    targets[:2] = torch.tensor([1, 0])
    return targets


def _distant_targets(s: Sizes) -> Arguments:
    """Two targets right after, one right before; the others anywhere, too far away, or before and at home."""
    n, kind = s.n * s.m, (s.b + s.d_k) % 3
    place = torch.arange(n)
    anywhere, far = _targets(s, n), place + s.h + 1
    targets = (anywhere, far.where(far < n, torch.tensor(-1)), place - (place % 3 == 0).long())[kind]
    targets[:4] = torch.tensor([-1, 0, 3, 4])
    return targets, s.h


def _hits(s: Sizes) -> Arguments:
    asked = torch.randint(3, 9, (s.n + s.m,), generator=s.g).float()
    return torch.rand(s.n + s.m, s.h, generator=s.g) * asked[:, None], asked


def _special(s: Sizes) -> Arguments:
    """Special pieces at both ends, or in front only."""
    n = s.n + s.m + 2
    special = torch.arange(n) == 0
    special[n - 1] = bool(s.d_v % 2)
    scores = 2 * s.tensor(s.h, n, n)
    scores[:, :, 0] += 1.5
    return scores.softmax(-1), s.d_k - 6, special


def _tags(s: Sizes) -> Arguments:
    drawn = torch.randint(1 + s.h // 2, (s.n + s.m,), generator=s.g).tolist()
    drawn[0] *= s.b % 2  # now and then the first word has the tag
    return ["NOUN" if tag == 0 else f"tag {tag}" for tag in drawn], "NOUN"


def _some_zeros(s: Sizes, *shape: int) -> Tensor:
    """Rows that sum to 1, with zeros in them; the last weight of a row is none."""
    hidden = torch.rand(shape, generator=s.g) < 0.3
    hidden[..., -1] = False
    return (2 * s.tensor(*shape)).masked_fill(hidden, float("-inf")).softmax(-1)


def _pieces(s: Sizes) -> Arguments:
    sizes = torch.randint(1, 4, (s.n,), generator=s.g).tolist()
    sizes[s.m % s.n] += 1
    word_of = [-1, *(word for word, size in enumerate(sizes) for _ in range(size)), -1]
    return (2 * s.tensor(s.h, len(word_of), len(word_of))).softmax(-1), word_of


def _counted_words(s: Sizes) -> Arguments:
    n = s.n + s.m
    return (2 * s.tensor(s.h, n, n)).softmax(-1), torch.randint(n, (n,), generator=s.g)


def _cache(s: Sizes) -> Arguments:
    shapes = (s.n, s.d_k), (s.n, s.d_k), (s.n, s.d_v), (s.m, s.d_k), (s.m, s.d_v)
    return tuple(s.tensor(s.b, s.h, *shape) for shape in shapes)


def _devices(s: Sizes) -> Arguments:
    h = s.h * (2 + s.d_v % 2)
    d_model = h * s.d_k
    matrices = [s.tensor(d_model, d_model) / d_model**0.5 for _ in range(4)]
    return s.tensor(s.b, s.n, d_model), *matrices, h, s.h


def _stages(s: Sizes) -> Arguments:
    flops, moved = (most * torch.rand(s.n, generator=s.g) + 1 for most in (90, 9))
    return flops, moved, 10.0 * s.d_k, float(s.m)


def _relabelings(s: Sizes) -> Arguments:
    layers = torch.arange(s.n + s.m) % (2 + (s.n + s.m > 5))
    return drawn_distances(s.g, layers, 1), layers, drawn_orders(s.g, layers, s.d_v)


def _gates(s: Sizes) -> Arguments:
    """Heads, W_O and gates; the first gate is closed and the last one open."""
    gates = 0.15 + 0.7 * torch.rand(s.h, generator=s.g)
    gates[0], gates[-1] = 0.0, 1.0
    return s.tensor(s.b, s.h, s.n, s.d_v), s.tensor(s.h * s.d_v, s.d_model), gates


def _padded(s: Sizes, shortest: int) -> Tensor:
    """Lengths of b sentences of which none fills all n + m places."""
    return torch.randint(shortest, s.n + s.m, (s.b,), generator=s.g)


def _one_head(s: Sizes) -> Arguments:
    real = torch.arange(s.n + s.m) < _padded(s, 1)[:, None]
    return s.tensor(s.b, s.h, s.n + s.m, s.d_v) + 1, real, s.d_k % s.h


def _sentences(s: Sizes) -> Arguments:
    lengths = _padded(s, 3)
    return drawn_maps(s.g, s.h, lengths, s.n + s.m), lengths


def _limits(s: Sizes) -> tuple[float, float, float]:
    """A temperature, and two limits that lie beyond 0 and 1 by different amounts."""
    return 0.2 + s.m / 6, -0.03 * s.d_k, 1 + 0.05 * s.d_v


def _one_draw(s: Sizes) -> Arguments:
    return s.tensor(s.h, s.n), drawn_noise(s.g, s.h, s.n), *_limits(s)


def _matrices(s: Sizes) -> Arguments:
    shapes = [(s.n * s.m, s.h * width) for width in (s.d_k, s.d_k, s.d_v)]
    kept = sorted(s.whole(0, s.h, s.h - 1))
    return (*(s.tensor(*shape) for shape in shapes), s.tensor(s.h * s.d_v, s.n * s.m), s.h, kept)


CALLS: dict[str, Call] = {
    "token_ids": _tokens,
    "softmax_rows": lambda s: (s.tensor(s.n, s.m),),
    "scaled_scores": lambda s: (s.tensor(s.b, s.n, s.d_k), s.tensor(s.b, s.m, s.d_k)),
    "attention": _attention,
    "average_of_targets": lambda s: (s.tensor(s.n, s.d_v), s.whole(0, s.n, 2)),
    "one_target_each": lambda s: (
        s.tensor(s.h, s.n, s.d_v),
        torch.randint(s.n, (s.h,), generator=s.g).tolist(),
    ),
    "head_size": lambda s: (s.d_model, s.h),
    "split_heads": lambda s: (numbered(s.b, s.n, s.d_model), s.h),
    "stack_heads": lambda s: (numbered(s.h, s.m, s.d_k),),
    "loop_heads": _heads,
    "batched_heads": _heads,
    "causal_mask": lambda s: (s.n,),
    "padding_mask": _lengths,
    "empty_rows": lambda s: _attention(s, hidden_rows=True),
    "merge_heads": lambda s: (numbered(s.b, s.h, s.n, s.d_k),),
    "head_contributions": lambda s: (s.tensor(s.b, s.h, s.n, s.d_k), s.tensor(s.d_model, s.d_model)),
    "fold_value_bias": lambda s: (s.tensor(s.n), s.tensor(s.n, s.n), s.tensor(s.n)),
    "parameter_count": lambda s: (s.d_model, s.h, bool(s.n % 2)),
    "flop_count": lambda s: (s.n, s.d_model, s.h),
    "multi_head_attention": _layer,
    "sinusoidal_encoding": lambda s: (s.n + s.m, 2 * s.h),
    "shift_matrix": lambda s: (s.n - 5 or 2, _frequencies(s)),
    "position_kernel": lambda s: (3 * s.tensor(s.n), _frequencies(s)),
    "previous_token_queries": _queries,
    "offset_scores": _offset,
    "layer_norm": lambda s: (3 * s.tensor(s.b, s.n, s.d_k) + 2, s.tensor(s.d_k) + 2, s.tensor(s.d_k)),
    "feed_forward": lambda s: tuple(
        s.tensor(*shape) for shape in ((s.b, s.n, s.h), (s.h, s.d_v), (s.d_v,), (s.d_v, s.h), (s.h,))
    ),
    "shift_right": lambda s: (torch.randint(4, 90, (s.b, s.n), generator=s.g), 2),
    "decoder_mask": _lengths,
    "cross_attention": _cross,
    "warm_up_rates": lambda s: (s.n + s.m, s.m),
    "masked_cross_entropy": _answers,
    "argmax_share": lambda s: (s.tensor(s.h, s.n, s.n).softmax(-1), _targets(s, s.n)),
    "best_fixed_offset": _distant_targets,
    "held_out_score": _hits,
    "offset_score": _special,
    "nearest_with_tag": _tags,
    "row_evenness": lambda s: (_some_zeros(s, s.h, s.n, s.m),),
    "pieces_to_words": _pieces,
    "rarest_word_share": _counted_words,
    "jensen_shannon": lambda s: (_some_zeros(s, s.b, s.n, s.m), _some_zeros(s, s.b, s.n, s.m)),
    "permutation_p": _relabelings,
    "gated_output": _gates,
    "head_at_its_mean": _one_head,
    "head_importance": lambda s: (s.tensor(s.b, s.h, s.n, s.d_v), s.tensor(s.b, s.h, s.n, s.d_v)),
    "head_confidence": _sentences,
    "hard_concrete_gate": _one_draw,
    "expected_open": lambda s: (2 * s.tensor(s.n, s.h), *_limits(s)),
    "prune_heads": _matrices,
    "attainable_flops": _stages,
    "cached_intensity": lambda s: (s.b, s.n, s.h * s.d_v, s.h, s.d_k, s.m),
    "share_keys": lambda s: (numbered(s.b, s.h, s.n, s.d_k) + 1, s.h * s.d_v),
    "rotate_pairs": lambda s: (s.tensor(s.b, s.h, s.n, 2 * s.d_k), s.m, 50.0 * s.d_v),
    "attend_with_cache": _cache,
    "partial_outputs": _devices,
    "finish_steps": lambda s: (torch.randint(1, 8, (s.n + s.m,), generator=s.g).tolist(), s.h),
    "kv_cache_bytes": lambda s: (s.b, s.n, s.h * s.d_v * s.d_k, s.h * s.d_v, s.h, s.m, 4),
    **CALLS_14,
    **CALLS_15,
    **CALLS_16,
}
