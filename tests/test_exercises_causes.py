"""An error whose cause is known gets it, and shapes are mentioned where the error is about shapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mha_course.exercises import check
from mha_course.exercises.causes import cause


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))


SHAPES = "the shapes that meet in it"
X = torch.zeros(2, 5, 12)
M = torch.ones(5, 7, dtype=torch.bool)
ERRORS: list[tuple[Callable[[], object], str]] = [
    (lambda: X - X.max(-1), "gives two things, values and places. Take `.values`, or use `amax`."),
    (lambda: torch.exp(X.min(-1)), "Take `.values`, or use `amin`."),
    (lambda: X.sort(-1).exp(), "`sort` with a `dim` gives two things, values and places. Take `.values`."),
    (lambda: X.aminmax(dim=1) - X, "Take `.min` or `.max`"),
    (lambda: X - X.amax(-1), SHAPES),
    (lambda: X @ X, SHAPES),
    (lambda: X[0] @ X[0], SHAPES),
    (lambda: X.view(7, 7), SHAPES),
    (lambda: X.unflatten(-1, (5, -1)), SHAPES),
    (lambda: torch.cat([X, X[0]]), SHAPES),
    (lambda: torch.cat([X, X[:, :3]], -1), "along which axis the parts go"),
    (lambda: torch.stack([X, X[:1]]), SHAPES),
    (lambda: torch.einsum("bnd,bkd->bnk", X, X[..., :3]), SHAPES),
    (lambda: X.expand(3, 3), SHAPES),
    (lambda: X.numpy() + torch.ones(7).numpy(), SHAPES),
    (lambda: X.numpy() @ X.numpy(), SHAPES),
    (lambda: X.view(2, 5, 3, 12 / 3), "a float stands there"),
    (lambda: range(12 / 3), "a float stands there"),
    (lambda: X[0.0:2.0], "a float stands there"),
    (lambda: X.transpose(1, 2).view(2, -1), "after a transpose"),
    (lambda: X.softmax(4), "There is no axis with that number"),
    (lambda: X[:, 9], "counting starts at 0"),
    (lambda: X[0, 0, 0, 0], "axes are named"),
    (lambda: ~None, "`None` here"),
    (lambda: X + None, "`None` here"),
    (lambda: X.masked_fill(None, 0), "`None` here"),
    (lambda: None.shape, "`None` here"),
    (lambda: X.masked_fill(torch.ones(2, 5, 12), 0), "the dtype of the mask"),
    (lambda: ~X, "the dtype of the mask"),
    (lambda: 1 - M, "`~` turns True and False round"),
    (lambda: 1 if M else 2, "a whole tensor has many"),
    (lambda: torch.sqrt(4), "the same in `math`"),
    (lambda: math.sqrt(X), "a whole tensor was given"),
    (lambda: math.exp(1000), "too large for a float"),
    (lambda: math.log(-0.1 / 1.1), "a number that has none"),
    (lambda: torch.sigmoid(0.5), "the same in `math`"),
    (lambda: (0.5).clamp(0, 1), "A plain number stands there"),
    (lambda: X.shape(), "call a function"),
    (lambda: X.size[0], "a name without its `( )`"),
    (lambda: X.exp / 2, "a name without its `( )`"),
    (lambda: X.softmax(), "other arguments"),
    (lambda: X.sum(dims=1), "other arguments"),
    (lambda: X.vew(2, 5), "Is `view` meant?"),
    (lambda: X.chunk(3).transpose(1, 2), "in a tuple or list"),
    (lambda: X.double() @ X.transpose(1, 2), "dtypes that meet"),
    (lambda: (lambda a, b: 0)(*X.shape), "other arguments"),
    (lambda: [(b, c) for b, c in [X.shape]], "The number of names in front of `=`"),
    (lambda: {}["a"], "The dictionary has no such key"),
    (lambda: 1 / 0, "divided by 0"),
    (lambda: __import__("nope"), "no module"),
    (lambda: X @ [1], "don't go together"),
]


@pytest.mark.parametrize(("fails", "words"), ERRORS, ids=[str(i) for i in range(len(ERRORS))])
def test_an_error_whose_cause_is_known_gets_it(fails: Callable[[], object], words: str) -> None:
    with pytest.raises(Exception) as caught:
        fails()
    text = " ".join(str(caught.value).split())
    told = " ".join(cause(caught.value, f"{type(caught.value).__name__}: {text}"))
    assert words in told, (text, told)
    assert (SHAPES in told) == (words == SHAPES), told


def test_causes_reach_the_verdict() -> None:
    verdict = check("softmax_rows", lambda s: (s - s.max(-1)).exp())
    assert verdict.diagnosis == "raised" and "or use `amax`" in verdict.message
    assert "shapes" not in verdict.message
    assert "or use `amax`" in check("softmax_rows", lambda s: s.max(-1)).message
    assert "has a value" in check("softmax_rows", used_too_early).message


def used_too_early(scores):
    powers = powers + scores  # noqa: F821
    return powers
