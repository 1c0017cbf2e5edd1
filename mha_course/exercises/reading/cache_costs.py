"""What wrong intensities of cached attention count: FLOPs, queries and outputs, the cache, the fraction."""

from __future__ import annotations

from mha_course.exercises.mistakes.of_cache_costs import (
    INTENSITY_MISTAKES,
    cached,
    intensity_with,
    pairs,
    queries,
)
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_GIVEN = (
    rare(
        "The numbers are those for `length` + 1 keys: the new token's own is among the `length` already.",
        lambda z: z._replace(n=z.n + 1),
        "where 1 is added to `length`.",
    ),
    rare("The numbers are those for `length` - 1 keys.", lambda z: z._replace(n=z.n - 1)),
    rare("`h` and `n_kv_heads` have changed places.", lambda z: z._replace(h=z.kv, kv=z.h)),
    rare("`length` and `d_k` have changed places.", lambda z: z._replace(n=z.d, d=z.n)),
    rare("`b` and `length` have changed places.", lambda z: z._replace(b=z.n, n=z.b)),
    rare("Heads are taken for d_k / h wide.", lambda z: z._replace(d=z.d / z.h)),
)
_FLOPS = (
    Way("The FLOPs are doubled once too often.", lambda z: 8 * pairs(z) * z.d),
    Way("The FLOPs are those of one sequence.", lambda z: 4 * z.h * z.n * z.d),
    Way("The FLOPs are those of one head.", lambda z: 4 * z.b * z.n * z.d),
    Way("The FLOPs lack `d_k`: every product has as many terms.", lambda z: 4 * pairs(z)),
    Way("The FLOPs lack `length`: a query meets every key.", lambda z: 4 * z.b * z.h * z.d),
    rare(
        "The FLOPs are those of `length` + 1 keys: the new token's own is among the `length` already.",
        lambda z: 4 * z.b * z.h * (z.n + 1) * z.d,
    ),
    rare("The scaling is counted, one operation a score.", lambda z: 4 * pairs(z) * z.d + pairs(z)),
    Way(
        "A sum of d terms is counted as d - 1 additions. The custom is two for each multiply-add.",
        lambda z: pairs(z) * (2 * z.d - 1) + queries(z) * (2 * z.n - 1),
    ),
    rare("The FLOPs are three times a product, not four.", lambda z: 3 * pairs(z) * z.d),
    rare("The weighted sum is counted for the key heads only.", lambda z: 2 * pairs(z) * z.d + 2 * cached(z)),
    rare("The FLOPs are those of one key head.", lambda z: 4 * z.b * z.n * z.d * z.h // z.kv),
    rare("A product is counted for every pair of keys.", lambda z: 2 * z.b * z.h * z.n**2 * z.d),
    rare("The two products are multiplied, not added.", lambda z: (2 * pairs(z) * z.d) ** 2),
    rare("The FLOPs are 0: the two products are subtracted.", lambda z: 0),
)
_OUTSIDE = (
    Way("Queries and outputs are counted for the key heads only.", lambda z: 2 * z.b * z.kv * z.d),
    Way("Queries and outputs are counted for one sequence.", lambda z: 2 * z.h * z.d),
    Way("Queries and outputs are counted for one head.", lambda z: 2 * z.b * z.d),
    Way("Queries and outputs are counted for all tokens.", lambda z: 2 * pairs(z) * z.d),
    rare("Queries lack `d_k`.", lambda z: z.b * z.h + queries(z)),
    rare("Queries and outputs lack `d_k`.", lambda z: 2 * z.b * z.h),
    rare("Queries are counted for all tokens.", lambda z: pairs(z) * z.d + queries(z)),
    rare("Outputs are subtracted.", lambda z: 0),
    rare("The new key and value are counted once more.", lambda z: 2 * queries(z) + 2 * z.b * z.kv * z.d),
    rare("Queries or outputs are counted for the key heads only.", lambda z: queries(z) + z.b * z.kv * z.d),
    rare("Queries or outputs are counted for one sequence.", lambda z: queries(z) + z.h * z.d),
    rare("Queries or outputs are counted for one head.", lambda z: queries(z) + z.b * z.d),
    rare("Queries and outputs are counted twice.", lambda z: 4 * queries(z)),
    rare("Queries or outputs are counted twice.", lambda z: 3 * queries(z)),
    rare("Scores are among the bytes. They never leave the chip.", lambda z: 2 * queries(z) + pairs(z)),
    rare("Queries and outputs are multiplied, not added.", lambda z: queries(z) ** 2),
)
_INSIDE = (
    Way("Keys and values are counted for one head.", lambda z: 2 * z.b * z.n * z.d),
    Way("Keys and values lack `d_k`.", lambda z: 2 * z.b * z.kv * z.n),
    Way("Keys and values lack `length`.", lambda z: 2 * z.b * z.kv * z.d),
    rare(
        "Keys and values of `length` + 1 tokens are read: the new token is among the `length` already.",
        lambda z: 2 * z.b * z.kv * (z.n + 1) * z.d,
    ),
    rare("Keys and values of `length` - 1 tokens are read.", lambda z: 2 * z.b * z.kv * (z.n - 1) * z.d),
    Way("Keys and values are counted twice.", lambda z: 4 * cached(z)),
    rare("Three things are read of the cache.", lambda z: 3 * cached(z)),
    rare("The cache is not read at all.", lambda z: 0),
    rare("Keys and values are multiplied, not added.", lambda z: cached(z) ** 2),
    rare("Keys are read for every query head, values are not.", lambda z: pairs(z) * z.d + cached(z)),
    rare("Values lack `length` (or keys do).", lambda z: cached(z) + z.b * z.kv * z.d),
    rare("Values lack `d_k` (or keys do).", lambda z: cached(z) + z.b * z.kv * z.n),
    rare(
        "The cache is read once for the batch, and once for each sequence.",
        lambda z: cached(z) + z.kv * z.n * z.d,
    ),
)
_RATIO = (
    Way("The FLOPs are not divided by anything.", lambda f, m, z: f),
    rare("These are the bytes alone.", lambda f, m, z: z.s * m),
    rare("These are the numbers that are moved.", lambda f, m, z: m),
    Way("The result is divided by the batch once more.", lambda f, m, z: f / (z.s * m) / z.b),
    Way("The result is divided by h once more.", lambda f, m, z: f / (z.s * m) / z.h),
    Way("The result is multiplied by h once more.", lambda f, m, z: f / (z.s * m) * z.h),
    Way(
        "The result is multiplied by the size of a group once more.",
        lambda f, m, z: f / (z.s * m) * z.h / z.kv,
    ),
    rare("Bytes are subtracted from FLOPs.", lambda f, m, z: f - z.s * m),
    rare("FLOPs and bytes are multiplied.", lambda f, m, z: f * m * z.s),
    rare("FLOPs and bytes are added up.", lambda f, m, z: f + m * z.s),
    rare("`bytes_per_number` is squared.", lambda f, m, z: f / (z.s**2 * m)),
    rare("The fraction is upside down, and per number.", lambda f, m, z: m / f),
    rare("A number counts as 4 bytes, whatever `bytes_per_number` says.", lambda f, m, z: f / (4 * m)),
    rare("A number counts as 2 bytes, whatever `bytes_per_number` says.", lambda f, m, z: f / (2 * m)),
    rare("`bytes_per_number` is added, not multiplied.", lambda f, m, z: f / (z.s + m)),
)
_FINISH = (
    rare("The result is rounded.", lambda x, z: round(x)),
    rare("The result is rounded to one decimal.", lambda x, z: round(x, 1)),
    rare("The result is rounded to two decimals.", lambda x, z: round(x, 2)),
    rare("The result is cut off at 1.", lambda x, z: min(x, 1.0)),
    rare("1 is subtracted.", lambda x, z: x - 1),
    rare("1 is added.", lambda x, z: x + 1),
    rare(
        "This is the value for a very long cache, 2 / bytes times the size of a group.",
        lambda x, z: 2 / z.s * z.h / z.kv,
    ),
    rare("This is the value for a very long cache of plain heads, 2 / bytes.", lambda x, z: 2 / z.s),
)


def _slot(name: str, look: str, ways: tuple[Way, ...]) -> Slot:
    return Slot(name, look, (*ways_of(INTENSITY_MISTAKES, name), *ways))


INTENSITY = Recipe(
    intensity_with,
    (
        _slot("given", "the order of the arguments, and what they say.", _GIVEN),
        _slot("flops", "the two products.", _FLOPS),
        _slot("inside", "the bytes of keys and values.", _INSIDE),
        _slot("outside", "the bytes of queries and outputs.", _OUTSIDE),
        _slot("ratio", "the fraction.", _RATIO),
        _slot("finish", "the last step.", _FINISH),
    ),
    lambda: ((3, 17, 12, 3, 5, 2), (4, 6, 10, 5, 8, 1)),
)
