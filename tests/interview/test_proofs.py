"""Every proof runs, holds, is short and quick, and leaves everything outside as it was."""

from __future__ import annotations

import ast
import math
import random
import re
import threading
import time
from numbers import Real

import numpy as np
import pytest
import torch

from mha_course.interview.proof import Shown, all_proofs, run_proof, source_of, summary_of
from mha_course.models.one_thread import one_thread

NAMES = list(all_proofs())


def outside() -> tuple:
    """Whatever a proof could change for those who come after it."""
    numpy_state = np.random.get_state()
    return (
        torch.get_rng_state().tolist(),
        random.getstate(),
        (numpy_state[0], numpy_state[1].tolist(), *numpy_state[2:]),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_anomaly_enabled(),
    )


@pytest.mark.parametrize("name", NAMES)
def test_it_holds_and_leaves_everything_outside_as_it_was(name: str) -> None:
    before = outside()
    shown = run_proof(name)
    assert outside() == before
    assert isinstance(shown, Shown)
    assert re.fullmatch(r"[^\n]{8,160}[.]", shown.sentence), shown.sentence
    assert not re.search(r"\b(just|simply|obviously)\b|!", shown.sentence)
    assert 1 <= len(shown.numbers) <= 8
    for label, number in shown.numbers.items():
        assert isinstance(label, str) and 1 <= len(label) <= 60, label
        assert isinstance(number, Real) and not isinstance(number, bool), f"{label}: {number!r}"
        assert math.isfinite(number), f"{label}: {number}"


@pytest.mark.parametrize("name", NAMES)
def test_it_gives_the_same_again_whatever_was_drawn_before_and_on_another_thread(name: str) -> None:
    """A widget's button may run it on a thread of its own, while a cell draws from the global generator."""
    torch.manual_seed(1)
    first = run_proof(name)
    torch.manual_seed(2)
    found: list[Shown] = []
    with torch.no_grad():
        worker = threading.Thread(target=lambda: found.append(run_proof(name)))
        worker.start()
        worker.join()
    assert found == [first]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_short_enough_to_be_read_in_a_card(name: str) -> None:
    source = source_of(name)
    assert len(source.splitlines()) <= 18
    assert "\n" not in summary_of(name) and summary_of(name).endswith("."), "one line says what it shows"
    (function,) = ast.parse(source).body
    claims = [node for node in ast.walk(function) if isinstance(node, ast.Assert)]
    assert claims, "nothing is claimed"
    assert all(claim.msg is not None for claim in claims), "an assertion that fails should say why"
    assert not [n for n in ast.walk(function) if isinstance(n, ast.Import | ast.ImportFrom)]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_quick(name: str) -> None:
    run_proof(name)  # what is loaded at the first call isn't counted
    spent = []
    with one_thread():
        for _ in range(3):
            start = time.thread_time()
            run_proof(name)
            spent.append(time.thread_time() - start)
    assert min(spent) < 0.3
