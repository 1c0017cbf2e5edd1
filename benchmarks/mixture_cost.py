"""What a mixture of heads saves and what it takes: FLOPs and time against plain heads of the same sizes.

    python benchmarks/mixture_cost.py [--threads 1] [--rounds 5] [--backward]

Prints a Markdown table. FLOPs are counted by PyTorch while the layer runs, where no fused kernel hides any.
Time is that of `layer(x)`; both layers take turns, each round gives the median ratio of its pairs, and the
table shows the median of the rounds with the smallest and largest. The mixture computes the chosen heads
only: keys and values of all heads, since any token may be looked at, and the routers on top.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mha_course.layers import MultiHeadAttention
from mha_course.variants.mixture_of_heads import MixtureOfHeads

D_MODEL, H = 256, 8


@dataclass(frozen=True)
class Case:
    """One comparison: b sentences of n tokens, `shared` heads for all tokens and `chosen` of the others."""

    b: int
    n: int
    shared: int
    chosen: int


CASES = (
    Case(1, 256, 2, 3),
    Case(8, 256, 2, 3),
    Case(1, 1_024, 2, 3),
    Case(1, 2_048, 2, 3),
    Case(1, 256, 2, 1),
    Case(1, 256, 2, 6),
    Case(1, 256, 5, 0),
)


def layers_of(case: Case) -> tuple[MixtureOfHeads, MultiHeadAttention]:
    """The mixture and plain heads with the same projections, both with biases."""
    torch.manual_seed(0)
    mixture = MixtureOfHeads(D_MODEL, H, case.shared, case.chosen, bias=True).eval()
    plain = MultiHeadAttention(D_MODEL, H, bias=True).eval()
    plain.load_state_dict({name: t for name, t in mixture.state_dict().items() if "router" not in name})
    return mixture, plain


def flops(layer: nn.Module, x: Tensor) -> int:
    """FLOPs of one forward pass."""
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        layer(x)
    return int(counter.get_total_flops())


def seconds(layer: nn.Module, x: Tensor, backward: bool) -> float:
    """Time of one forward pass, with the backward one if asked for."""
    start = time.perf_counter()
    with torch.set_grad_enabled(backward):
        y = layer(x)
        if backward:
            y.sum().backward()
    return time.perf_counter() - start


def measured(case: Case, rounds: int, backward: bool) -> str:
    """One line of the table."""
    mixture, plain = layers_of(case)
    x = torch.randn(case.b, case.n, D_MODEL, generator=torch.Generator().manual_seed(1))
    for layer in (mixture, plain):
        for _ in range(3):
            seconds(layer, x, backward)
    # Half a second a round, at least five pairs.
    pairs = max(5, int(0.5 / max(1e-4, seconds(mixture, x, backward) + seconds(plain, x, backward))))
    ratios, times = [], []
    for _ in range(rounds):
        both = [(seconds(mixture, x, backward), seconds(plain, x, backward)) for _ in range(pairs)]
        ratios.append(statistics.median(a / b for a, b in both))
        times.append(statistics.median(b for _, b in both))
    counted = flops(mixture, x) / flops(plain, x)
    heads = (
        f"{case.shared} + {case.chosen} of {H - case.shared}" if case.chosen else f"{case.shared}, no other"
    )
    return (
        f"| {case.n:,} | {case.b} | {heads} | {(case.shared + case.chosen) / H:.0%} | {counted:.2f} | "
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) | "
        f"{1e3 * statistics.median(times):.1f} |"
    )


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1, help="threads of torch")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of which the median is shown")
    parser.add_argument("--backward", action="store_true", help="time forward and backward together")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    passes = "forward and backward" if chosen.backward else "forward"
    print(
        f"Mixture of heads against plain heads, d_model {D_MODEL}, h {H}, {passes}, "
        f"{chosen.threads} thread(s), {platform.machine()}, torch {torch.__version__}\n"
    )
    print("| n | b | heads: shared + chosen | heads used | FLOPs / plain | time / plain | plain, ms |")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        print(measured(case, chosen.rounds, chosen.backward), flush=True)


if __name__ == "__main__":
    main()
