"""The numbers in the questions of lesson 15, computed again."""

from __future__ import annotations

from statistics import fmean

import pytest
import torch

from mha_course.masks import causal_mask
from mha_course.variants.composable import DynamicComposition
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.talking_heads import TalkingHeads
from mha_course.widgets.question_texts import find_question


def told(key: str) -> str:
    """All that a question says, as one text."""
    question = find_question(key)
    return " ".join([question.text, *(part for c in question.choices for part in (c.text, c.because))])


def right(key: str) -> set[str]:
    """The texts of the right choices."""
    question = find_question(key)
    return {question.choices[i].text for i in question.right}


def gate_sum(shared: float, gates: str = "code") -> float:
    """The sum of gates of one token that weighs the kinds so; 2 shared heads, 3 of 6 routed ones."""
    layer = MixtureOfHeads(16, 8, shared=2, chosen=3, gates=gates).requires_grad_(False)
    x = torch.randn(1, 1, 16, generator=torch.Generator().manual_seed(4))
    wanted = torch.tensor([shared, 1 - shared]).log()
    layer.router_types.weight.copy_(wanted[:, None] * x[0] / x.square().sum())
    routing = layer.routing(x)
    assert routing.types[0, 0, 0] == pytest.approx(shared, abs=1e-5)
    return float(routing.gates.sum())


def test_what_the_gates_of_the_code_sum_to() -> None:
    assert right("15-code-gates") == {"5.4"}
    assert gate_sum(0.3) == pytest.approx(5.4, abs=1e-4) and 2 * (0.3 * 2 + 0.7 * 3) == pytest.approx(5.4)
    assert gate_sum(0.4) == pytest.approx(5.2, abs=1e-4) and gate_sum(0.5) == pytest.approx(5, abs=1e-4)
    assert gate_sum(0.3, "paper") < 1
    assert "with equal weights of 0.5" in told("15-code-gates")


def test_a_mask_at_the_end_lets_later_tokens_through_the_sums() -> None:
    layer = TalkingHeads(12, 3, noise=0.2).requires_grad_(False)
    g = torch.Generator().manual_seed(6)
    x, other = torch.randn(1, 5, 12, generator=g), torch.randn(1, 5, 12, generator=g)
    other[:, :4] = x[:, :4]  # only the last token is another

    def output(text: torch.Tensor, late: bool) -> torch.Tensor:
        if not late:
            return layer(text, mask=causal_mask(5))
        traced = layer.trace(text)
        weights = traced.composed_weights.masked_fill(~causal_mask(5), 0.0)
        return layer.w_o((weights @ traced.v).transpose(1, 2).flatten(2))

    for late in (False, True):
        difference = (output(x, late) - output(other, late))[:, :4].abs().max()
        assert bool(difference > 1e-4) is late and torch.isfinite(output(x, late)).all()
    assert right("15-mask-last") == {"depends on later tokens, through the sums of the softmax"}


def test_the_rank_of_what_depends_on_the_tokens() -> None:
    part = DynamicComposition(10, 8, rank=2).double().requires_grad_(False)
    part.w_2.mul_(50)
    part.d.mul_(50)
    x = torch.randn(1, 7, 10, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    of_query, of_key = part.side(x, 0), part.side(x, 1)
    w = part.matrices(x, x)[0, 2, 5]
    rest = w - part.w_b - torch.diag(of_query.g[0, 2]) - torch.diag(of_key.g[0, 5])
    assert int(torch.linalg.matrix_rank(rest)) == 4 and int(torch.linalg.matrix_rank(w)) == 8
    assert right("15-pair-matrix") == {"4"}


def test_a_gain_below_the_spread() -> None:
    variant, plain = (0.90, 0.94, 0.98), (0.95, 1.00, 1.02)
    assert fmean(variant) == pytest.approx(0.94) and fmean(plain) == pytest.approx(0.99)
    spreads = [max(losses) - min(losses) for losses in (variant, plain)]
    assert max(spreads) == pytest.approx(0.08) and fmean(plain) - fmean(variant) < max(spreads)
    assert right("15-small-gain") == {"no different from plain heads"}
    assert all(part in told("15-small-gain") for part in ("0.94 and 0.99", "0.05 apart", "= 0.08"))
    assert min(variant) < min(plain)  # "its best seed beats every seed of plain heads"
