"""Expressions of the sizes that a wrong factor may be made of, with their words, from the plainest on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

Sizes = dict[str, int]

# The sizes in the order in which they come to mind; the first expression that fits is named.
ORDER = ("d_k", "n_k", "n_q", "n", "d_v", "d_model", "h", "b")
POWERS: tuple[tuple[float, str], ...] = (
    (0.5, "the root of {}"),
    (1.0, "{}"),
    (0.25, "the fourth root of {}"),
    (2.0, "the square of {}"),
    (1.5, "{} times its root"),
)
BENT: tuple[tuple[str, Callable[[int], float]], ...] = (
    ("({} + 1)", lambda s: s + 1.0),
    ("({} - 1)", lambda s: s - 1.0),
    ("the root of {}, cut down to a whole number", lambda s: float(math.isqrt(s))),
    ("the root of {}, rounded to a whole number", lambda s: float(round(math.sqrt(s)))),
    ("the root of {}, rounded up to a whole number", lambda s: float(math.ceil(math.sqrt(s)))),
    ("the root of ({} + 1)", lambda s: math.sqrt(s + 1)),
    ("the root of ({} - 1)", lambda s: math.sqrt(max(s - 1, 0))),
    ("half of {}", lambda s: s / 2),
    ("half of {}, cut down to a whole number", lambda s: float(s // 2)),
    ("1 plus the root of {}", lambda s: 1 + math.sqrt(s)),
    ("the logarithm of {}", lambda s: math.log(s)),
    ("the binary logarithm of {}", lambda s: math.log2(s)),
    ("the cube root of {}", lambda s: s ** (1 / 3)),
    ("e to the power of {}", lambda s: math.exp(min(s, 500))),
    ("2 to the power of {}", lambda s: 2.0 ** min(s, 500)),
)
TIMES: tuple[float, ...] = (2.0, 0.5, 4.0, 0.25, 3.0, 10.0, 0.1, 8.0, math.sqrt(2), math.sqrt(0.5), 100.0)


def expressions(names: Sequence[str]) -> Iterator[tuple[str, Callable[[Sizes], float]]]:
    """Expressions of the sizes, from the plainest on, each with its words."""
    for power, words in POWERS:
        for name in names:
            yield words.format(name), lambda s, name=name, power=power: s[name] ** power
    for words, bent in BENT:
        for name in names:
            yield words.format(name), lambda s, name=name, bent=bent: max(bent(s[name]), 0.0)
    for one, other in itertools.combinations(names, 2):
        both = f"{one} times {other}"
        yield f"the root of {both}", lambda s, a=one, c=other: math.sqrt(s[a] * s[c])
        yield both, lambda s, a=one, c=other: float(s[a] * s[c])
        yield f"the root of {one} + {other}", lambda s, a=one, c=other: math.sqrt(s[a] + s[c])
    for one, other in itertools.permutations(names, 2):
        yield f"{one} times the root of {other}", lambda s, a=one, c=other: s[a] * math.sqrt(s[c])
        yield f"{one} / {other}", lambda s, a=one, c=other: s[a] / s[c]
        yield f"the root of {one} / {other}", lambda s, a=one, c=other: math.sqrt(s[a] / s[c])
    for three in itertools.combinations(names, 3):
        words = " times ".join(three)
        yield f"the root of {words}", lambda s, t=three: math.sqrt(math.prod(s[name] for name in t))
        yield words, lambda s, t=three: float(math.prod(s[name] for name in t))
