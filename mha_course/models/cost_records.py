"""What attention cost on one quiet machine, recorded: students can lay their own numbers beside it."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache

import torch

from mha_course import cost
from mha_course.data_files import data_path
from mha_course.models.attention_or_recurrence import Raced, race
from mha_course.models.cost_pairs import PAIRS, Compared, compare
from mha_course.models.decoding_time import BatchTimed, decode_both_ways, time_over_batches
from mha_course.models.kept_weights import WeightsKept, memory_of_weights
from mha_course.models.own_machine import measure_machine, predicted_seconds
from mha_course.models.time_over_heads import HeadsTimed, time_over_heads

FILE = "models/attention_costs.json"
SHARED = 2  # key/value heads of the grouped run over batches, 8 query heads

Json = dict[str, object]


@dataclass(frozen=True)
class CostRecord:
    """Everything of one run of `python benchmarks/attention_costs.py --write`.

    made_on: processor, system, versions, day. machine: its peak and bandwidth. pairs: all of
    `cost_pairs.PAIRS`, compared. heads: a layer at every h. weights: memory of the weights by length. raced:
    attention beside recurrent layers. batches, shared_batches: decoding over batches, with plain heads and
    with 2 key/value heads for 8. decoding: 256 tokens with a cache and without ("with_cache" and "without" in
    seconds, "times_faster", "equal").
    """

    made_on: str
    machine: cost.Machine
    pairs: tuple[Compared, ...]
    heads: tuple[HeadsTimed, ...]
    weights: tuple[WeightsKept, ...]
    raced: tuple[Raced, ...]
    batches: tuple[BatchTimed, ...]
    shared_batches: tuple[BatchTimed, ...]
    decoding: Mapping[str, float | bool]


@cache
def recorded_costs() -> CostRecord:
    """The record that comes with the course. Raises: FileNotFoundError when data/ is missing."""
    return from_json(json.loads(data_path(FILE).read_text(encoding="utf-8")))


def from_json(found: Mapping[str, object]) -> CostRecord:
    """A record as `measure_costs` makes it. Raises: ValueError when it is of other pairs than `PAIRS`."""
    machine = cost.Machine(**found["machine"])
    if [pair["question"] for pair in found["pairs"]] != [pair.question for pair in PAIRS]:
        raise ValueError("the record is of other pairs: make it again with benchmarks/attention_costs.py.")
    pairs = []
    for pair, seen in zip(PAIRS, found["pairs"], strict=True):
        first, second = (predicted_seconds(one, machine) for one in (pair.first, pair.second))
        pairs.append(Compared(pair, (first, second), (seen["first"], seen["second"])))
    return CostRecord(
        found["made_on"],
        machine,
        tuple(pairs),
        tuple(HeadsTimed(**row) for row in found["heads"]),
        tuple(WeightsKept(**row) for row in found["weights"]),
        tuple(Raced(**row) for row in found["raced"]),
        tuple(BatchTimed(**row) for row in found["batches"]),
        tuple(BatchTimed(**row) for row in found["shared_batches"]),
        found["decoding"],
    )


def measure_costs(say: Callable[[str], None] = lambda what: None, seconds: float = 0.05) -> Json:
    """Measure all of it here, one thread; two to four minutes. say: told what comes next; seconds: for each
    stage and try. Peak and bandwidth are measured before and after the pairs, and the higher ones kept.
    """
    say("peak and bandwidth")
    before = measure_machine()
    compared = []
    for i, pair in enumerate(PAIRS, 1):
        say(f"pair {i} of {len(PAIRS)}: {pair.question}")
        compared.append(compare(pair, before, seconds))
    machine = _better(before, measure_machine())
    say("every number of heads")
    heads = time_over_heads(seconds=seconds, rounds=2)
    say("memory of the weights, and recurrent layers")
    weights, raced = memory_of_weights(), race(seconds=2 * seconds)
    say("batches")
    batches = [time_over_batches(machine, n_kv_heads=shared, seconds=seconds) for shared in (None, SHARED)]
    say("256 tokens with and without a cache")
    decoded = decode_both_ways()
    found = {
        "made_on": this_machine(),
        "machine": asdict(machine),
        "pairs": [
            {"question": c.pair.question, "first": c.measured[0], "second": c.measured[1]} for c in compared
        ],
        "heads": [asdict(row) for row in heads],
        "weights": [asdict(row) for row in weights],
        "raced": [asdict(row) for row in raced],
        "batches": [asdict(row) for row in batches[0]],
        "shared_batches": [asdict(row) for row in batches[1]],
        "decoding": {
            "with_cache": decoded.with_cache,
            "without": decoded.without,
            "times_faster": decoded.times_faster,
            "equal": decoded.equal,
        },
    }
    return _rounded(found)


def _better(one: cost.Machine, again: cost.Machine) -> cost.Machine:
    peak, bandwidth = max(one.peak, again.peak), max(one.bandwidth, again.bandwidth)
    return cost.Machine(one.name, peak, bandwidth, "measured by benchmarks/attention_costs.py")


def this_machine() -> str:
    """Processor, cores, system, versions and day, in one line."""
    processor = platform.processor() or platform.machine()
    if platform.system() == "Linux":
        with open("/proc/cpuinfo", encoding="utf-8") as described:
            names = [line.split(":", 1)[1].strip() for line in described if line.startswith("model name")]
        processor = names[0] if names else processor
    versions = f"Python {platform.python_version()}, torch {torch.__version__}"
    day = datetime.date.today()
    return f"{processor}, {os.cpu_count()} cores, one used, {platform.system()}, {versions}, {day}"


def _rounded(found: object) -> object:
    """Seconds to four digits: more would be noise."""
    if isinstance(found, dict):
        return {name: _rounded(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [_rounded(value) for value in found]
    return float(f"{found:.4g}") if isinstance(found, float) else found
