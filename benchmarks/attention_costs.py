"""What attention costs on this machine, beside what the roofline model and the formulas say.

    python benchmarks/attention_costs.py [--write]

One thread, float32, processor time; two to four minutes, on a machine that does nothing else. Prints Markdown
tables; --write puts the numbers into data/models/attention_costs.json, which lesson 13 shows. The pairs of
settings stand in mha_course/models/cost_pairs.py and were fixed before any of them was measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping

from mha_course.data_files import DATA_FOLDER
from mha_course.models import cost_records
from mha_course.models.cost_records import CostRecord
from mha_course.models.counted_flops import counted_flops

AGREE = 2.0  # the largest factor between two ratios that still counts as agreement


def table(head: str, rows: list[str]) -> None:
    """A Markdown table; head and rows have their cells between bars."""
    print(f"\n{head}\n|{'---|' * (head.count('|') - 1)}")
    print(*rows, sep="\n")


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}"


def print_pairs(record: CostRecord) -> None:
    rows = []
    for one in record.pairs:
        counted = [counted_flops(s) for s in (one.pair.first, one.pair.second)]
        if any(c.plain != c.total for c in counted):
            raise RuntimeError(f"{one.pair.question}: PyTorch counts other FLOPs than the formula.")
        ratios = f"{one.predicted_ratio:.2f} | {one.measured_ratio:.2f} | {one.off_by:.2f}"
        rows.append(f"| {one.pair.question} | {ratios} |")
    table("| seconds of the second over the first | predicted | measured | off by a factor |", rows)
    agree = sum(one.off_by <= AGREE for one in record.pairs)
    print(
        f"\n{agree} of {len(record.pairs)} pairs agree within a factor of {AGREE:g}. Their FLOPs are those of"
    )
    print("PyTorch's counter under the MATH backend, to the last one.")


def print_stages(record: CostRecord) -> None:
    """How far each stage stays below its roof: measured over predicted, for every pair."""

    def over(measured: Mapping[str, float], predicted: Mapping[str, float]) -> str:
        return " | ".join(f"{measured[name] / predicted[name]:.1f}" for name in predicted)

    rows = [
        f"| {one.pair.question}, {which} | {over(one.measured[i], one.predicted[i])} |"
        for one in record.pairs
        for i, which in enumerate(("first", "second"))
    ]
    names = " | ".join(record.pairs[0].predicted[0])
    table(f"| measured over predicted seconds | {names} |", rows)


def print_rest(record: CostRecord) -> None:
    rows = [
        f"| {r.h} | {r.d_k} | {r.flops:,} | {milliseconds(r.total)} | {milliseconds(r.fused_total)} "
        f"| {r.softmax_share:.2f} | {r.kept_bytes / 1e6:.1f} |"
        for r in record.heads
    ]
    table("| h | d_k | FLOPs | ms by stages | ms fused | softmax's share | weights, MB |", rows)
    rows = [
        f"| {r.n} | {r.formula / 1e6:.1f} | {r.kept / 1e6:.1f} | {r.fused / 1e6:.1f} | {r.sets:.2f} |"
        for r in record.weights
    ]
    table("| n | b h n^2 numbers, MB | kept, MB | fused, MB | difference over formula |", rows)
    rows = [
        f"| {r.n} | "
        + " | ".join(f"{r.flops[k] / 1e6:.1f}, {milliseconds(r.seconds[k])}" for k in r.flops)
        + " |"
        for r in record.raced
    ]
    table("| n | attention, MFLOP and ms | RNN | GRU |", rows)
    for what, batches in (("plain heads", record.batches), ("2 key/value heads of 8", record.shared_batches)):
        rows = []
        for r in batches:
            cells = [
                f"{1e6 * r.predicted[k]:.0f} | {1e6 * r.measured[k]:.0f} | {r.flop_per_byte[k]:.2f}"
                for k in ("projections", "attention")
            ]
            rows.append(f"| {r.b} | {' | '.join(cells)} |")
        columns = "predicted | measured | FLOP/byte"
        table(f"| {what}, us a token: b | projections {columns} | attention {columns} |", rows)
    d = record.decoding
    print(
        f"\n256 tokens at d_model 512: {d['with_cache']:.2f} s with a cache, {d['without']:.2f} s without, ",
        end="",
    )
    print(f"{d['times_faster']:.1f} times faster, equal results: {d['equal']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the record that lesson 13 shows")
    options = parser.parse_args()
    found = cost_records.measure_costs(lambda what: print(what, file=sys.stderr, flush=True))
    record = cost_records.from_json(found)
    machine = record.machine
    print(f"Machine: {record.made_on}. Peak {machine.peak / 1e9:.1f} GFLOP/s, bandwidth ", end="")
    print(f"{machine.bandwidth / 1e9:.1f} GB/s, ridge {machine.ridge:.1f} FLOP/byte.")
    print_pairs(record)
    print_stages(record)
    print_rest(record)
    if options.write:
        text = json.dumps(found, indent=None, separators=(",", ":")).replace("},{", "},\n{") + "\n"
        (DATA_FOLDER / cost_records.FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
