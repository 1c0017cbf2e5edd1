"""The SoftmaxExplorer: torch's numbers, and the browser's own arithmetic against them."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from mha_course.widgets.softmax_explorer import SoftmaxExplorer
from mha_course.widgets.softmax_numbers import softmax_numbers

SCRIPT = Path(__file__).parents[1] / "mha_course" / "widgets" / "js" / "softmax_math.js"
ROWS = (
    ([2.0, 1.0, 0.1], 1.0),
    ([2.0, 1.0, 0.1], 0.125),
    ([8.0, -8.0], 8.0),
    ([-3.5], 2.0),
    ([0.0, 0.0, 0.0, 0.0, 0.0], 4.0),
    ([7.3, 7.3, -1.2, 0.4, 5.0, -7.9, 2.2], 0.0),
)


def test_numbers_are_those_of_torch_and_autograd() -> None:
    scores, factor = [2.0, 1.0, 0.1, -0.7], 0.5
    found = softmax_numbers(scores, factor)
    scaled = factor * torch.tensor(scores, dtype=torch.float64)
    assert found.weights == pytest.approx(torch.softmax(scaled, 0).tolist())
    jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), scaled)
    assert found.gradient == pytest.approx(float(jacobian.norm()))
    entropy = float(torch.distributions.Categorical(logits=scaled).entropy())
    assert found.spread == pytest.approx(entropy / math.log(4))


def test_ends_of_the_scale() -> None:
    even = softmax_numbers([3.0, -1.0, 0.5], 0.0)
    assert even.weights == pytest.approx([1 / 3] * 3) and even.spread == pytest.approx(1.0)
    sharp = softmax_numbers([8.0, -8.0, 0.0], 100.0)
    assert sharp.largest == 1.0 and sharp.spread == 0.0 and sharp.gradient == 0.0
    assert softmax_numbers([-4.0], 1.0).spread == 0.0


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the browser's arithmetic")
def test_the_browser_computes_the_same() -> None:
    program = SCRIPT.read_text(encoding="utf-8") + (
        f"\nconst rows = {json.dumps(ROWS)};"
        "\nconsole.log(JSON.stringify(rows.map(([scores, c]) => softmaxReadout(scores, c))));"
    )
    done = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True, timeout=60)
    for (scores, factor), found in zip(ROWS, json.loads(done.stdout), strict=True):
        expected = softmax_numbers(scores, factor)
        assert found["weights"] == pytest.approx(expected.weights, abs=1e-12)
        assert found["sum"] == pytest.approx(1.0, abs=1e-12)
        assert found["largest"] == pytest.approx(expected.largest, abs=1e-12)
        assert found["spread"] == pytest.approx(expected.spread, abs=1e-9)
        assert found["gradient"] == pytest.approx(expected.gradient, abs=1e-12)


@pytest.mark.parametrize(("arguments", "said"), [
    ({"scores": ()}, "non-empty"),
    ({"scores": (1.0, math.nan)}, "finite"),
    ({"scores": (1.0, 2.0), "labels": ["one"]}, "1 labels for 2 scores"),
    ({"scores": tuple(range(13))}, "13 scores"),
    ({"factor": -1.0}, "factor=-1.0"),
])  # fmt: skip
def test_what_cannot_be_shown_is_refused(arguments: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SoftmaxExplorer(**arguments)


def test_labels_and_factor_are_kept_as_given() -> None:
    explorer = SoftmaxExplorer((1.5, -9.5), labels=["<b>三月</b>", "العربية"], factor=1 / math.sqrt(48))
    assert explorer.labels == ["<b>三月</b>", "العربية"]
    assert explorer.factor in explorer.factors and explorer.limit == 10
    explorer.factor = 0.0
    assert explorer.readout().weights == pytest.approx([0.5, 0.5])
    assert SoftmaxExplorer().labels == ["score 1", "score 2", "score 3"]
