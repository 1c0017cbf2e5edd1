"""How fast the course's layer is: against nn.MultiheadAttention, and against keeping the weights.

    python benchmarks/layer_speed.py [--threads N] [--rounds 5]

Prints a Markdown table. Times are those of forward and backward together; the two rivals take turns
(interleaved pairs), each round gives the median ratio of its pairs, and the table shows the median
of the rounds. Peak memory is measured in a process of its own for each rival.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from mha_course.attention import merge_heads, split_heads
from mha_course.layers import MultiHeadAttention

COMPARED = [((5, 10, 512), 8, 60), ((4, 256, 512), 8, 8)]
TEXTBOOK_SHAPE = (4, 512, 512)


def textbook(layer: MultiHeadAttention) -> Callable[[Tensor], Tensor]:
    """The version of the textbooks: scores, softmax and weights as tensors of their own, (b, h, n, n).

    Written as The Annotated Transformer writes it (Rush 2018), without dropout, and keeping the weights.
    """

    def forward(x: Tensor) -> Tensor:
        q, k, v = (split_heads(w(x), layer.h) for w in (layer.w_q, layer.w_k, layer.w_v))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(layer.d_k)
        layer.kept = scores.softmax(dim=-1)
        return layer.w_o(merge_heads(layer.kept @ v))

    return forward


def torch_layer(layer: nn.MultiheadAttention) -> Callable[[Tensor], Tensor]:
    """PyTorch's own layer, asked for no weights so that it may use the fused kernel."""
    return lambda x: layer(x, x, x, need_weights=False)[0]


def seconds(forward: Callable[[Tensor], Tensor], x: Tensor) -> float:
    """Time of one forward and backward pass."""
    start = time.perf_counter()
    forward(x).sum().backward()
    return time.perf_counter() - start


def ratio(ours: Callable, theirs: Callable, x: Tensor, pairs: int, rounds: int) -> tuple[float, float, float]:
    """Median over rounds of the median ratio ours / theirs, and the smallest and largest round."""
    for forward in (ours, theirs):
        for _ in range(3):
            seconds(forward, x)
    found = []
    for _ in range(rounds):
        found.append(statistics.median(seconds(ours, x) / seconds(theirs, x) for _ in range(pairs)))
    return statistics.median(found), min(found), max(found)


def make_pair(d_model: int, h: int) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Our layer and PyTorch's with the same weights, without bias."""
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(d_model, h, batch_first=True, bias=False)
    return MultiHeadAttention.from_torch(theirs), theirs


def peak_so_far() -> float:
    """Largest resident memory of this process until now, in MB (Linux and macOS)."""
    if sys.platform == "linux":
        # getrusage would also count the parent that started this process.
        with open("/proc/self/status", encoding="utf-8") as status:
            return next(float(line.split()[1]) / 1e3 for line in status if line.startswith("VmHWM"))
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def peak_memory(which: str) -> float:
    """MB that ten passes of one rival add to the peak of a fresh process."""
    ours, _ = make_pair(TEXTBOOK_SHAPE[-1], 8)
    x = torch.randn(*TEXTBOOK_SHAPE, requires_grad=True)
    forward = ours if which == "fused" else textbook(ours)
    seconds(forward, x[:1, :8].detach().requires_grad_())
    before = peak_so_far()
    for _ in range(10):
        seconds(forward, x)
    return peak_so_far() - before


def machine() -> str:
    """Processor, cores in use, system, Python and PyTorch, for the line above the table."""
    processor = platform.processor() or platform.machine()
    if sys.platform == "linux":
        with open("/proc/cpuinfo", encoding="utf-8") as described:
            names = [line.split(":", 1)[1].strip() for line in described if line.startswith("model name")]
        processor = names[0] if names else processor
    return (
        f"{processor}, {os.cpu_count()} cores, {torch.get_num_threads()} threads, {platform.system()}, "
        f"Python {platform.python_version()}, torch {torch.__version__}, {datetime.date.today()}"
    )


def print_row(what: str, middle: float, low: float, high: float) -> None:
    print(f"| {what} | {middle:.2f} | {low:.2f} .. {high:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peak", choices=["fused", "textbook"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.peak:
        print(peak_memory(options.peak))
        return
    print(f"Machine: {machine()}\n")
    print("| forward + backward | ratio (median of rounds) | smallest .. largest round |")
    print("|---|---|---|")
    for shape, h, pairs in COMPARED:
        ours, theirs = make_pair(shape[-1], h)
        x = torch.randn(*shape, requires_grad=True)
        found = ratio(ours, torch_layer(theirs), x, pairs, options.rounds)
        print_row(f"`mha(x)` against nn.MultiheadAttention, {shape}, h {h}", *found)
    ours, _ = make_pair(TEXTBOOK_SHAPE[-1], 8)
    x = torch.randn(*TEXTBOOK_SHAPE, requires_grad=True)
    found = ratio(textbook(ours), ours, x, 4, options.rounds)
    print_row(f"keeping the weights against `mha(x)`, {TEXTBOOK_SHAPE}, h 8", *found)
    if sys.platform != "win32":
        peaks = {}
        for which in ("fused", "textbook"):
            command = [sys.executable, __file__, "--peak", which, "--threads", str(options.threads)]
            peaks[which] = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        print(f"\nPeak memory added: keeping the weights {peaks['textbook']:.0f} MB, ", end="")
        print(f"`mha(x)` {peaks['fused']:.0f} MB")


if __name__ == "__main__":
    main()
