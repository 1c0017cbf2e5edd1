"""`python -m mha_course.training.record_pattern_fits` searches the heads of every width for every pattern.

A few minutes of one core. What is exact by formula isn't searched (see `models/low_rank_fits.py`).
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import Tensor

from mha_course.data_files import DATA_FOLDER
from mha_course.models.low_rank_fits import FILE, N
from mha_course.models.pattern_fit import fit_scores
from mha_course.models.wanted_patterns import PATTERNS, centred, width_needed

SEEDS = 4


def record_pattern_fits(path: Path, seeds: int = SEEDS) -> None:
    """Write queries and keys (8, d_k) of the nearest heads as JSON, by pattern and width."""
    fits = {}
    for pattern in PATTERNS:
        wanted = pattern.make(N)
        fits[pattern.name] = []
        for d_k in range(1, width_needed(wanted)):
            found, scores = fit_scores(wanted, d_k, seeds)
            q, k = factors(centred(scores), d_k)
            fits[pattern.name].append({"q": _rounded(q), "k": _rounded(k)})
            print(f"{pattern.name}, d_k = {d_k}: {found:.2e} nats", flush=True)
    heads = ",\n ".join(
        f'"{name}": [\n  ' + ",\n  ".join(json.dumps(one) for one in rows) + "\n ]"
        if rows
        else f'"{name}": []'
        for name, rows in fits.items()
    )
    path.write_text(f'{{"n": {N}, "seeds": {seeds}, "fits": {{\n {heads}\n}}}}\n', encoding="utf-8")


def factors(scores: Tensor, d_k: int) -> tuple[Tensor, Tensor]:
    """Queries and keys (n, d_k) whose plain products are the scores (n, n), of rank d_k at most."""
    u, s, v = torch.linalg.svd(scores)
    root = s[:d_k].sqrt()
    return u[:, :d_k] * root, v[:d_k].T * root


def _rounded(values: Tensor) -> list:
    # Rounded queries and keys still make scores of rank d_k, rounded scores would not.
    return [[float(f"{value:.6g}") for value in row] for row in values.tolist()]


if __name__ == "__main__":
    torch.set_num_threads(1)
    record_pattern_fits(DATA_FOLDER / FILE)
