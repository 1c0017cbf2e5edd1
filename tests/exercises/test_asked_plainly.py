"""What nothing explains is asked with plain numbers, and told with the first of them that comes out wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mha_course.exercises import check
from tests.exercises.written import balance_loss as BL
from tests.exercises.written import circuits as CI
from tests.exercises.written import clear_difference as CD
from tests.exercises.written import collaborative_scores as CS
from tests.exercises.written import composition_matrices as CM
from tests.exercises.written import expected_open as EO
from tests.exercises.written import gated_output as GO
from tests.exercises.written import hard_concrete_gate as HC
from tests.exercises.written import head_at_its_mean as HM
from tests.exercises.written import head_confidence as CO
from tests.exercises.written import head_importance as IM
from tests.exercises.written import prune_heads as PR
from tests.exercises.written import talk as TA
from tests.exercises.written import two_stage_gates as TG


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))


ASKED: list[tuple[str, Callable, str, str]] = [
    (
        "gated_output",
        lambda x, w, g: GO.by_einsum(x, w, g.clamp(min=0.2)),
        "asked-plainly-2",
        "gates 0 and 1 the result should be `(0, 0, 0, 4, 5, 6)`; yours is `(0.2, 0.4, 0.6, 4, 5, 6)`.",
    ),
    (
        "head_at_its_mean",
        lambda x, r, i: HM.put(x, i, x[:, i][r].mean(0) / len(x)),
        "asked-plainly-4",
        "the result should be `(3, 3, 3, 3)`; yours is `(1.5, 1.5, 1.5, 1.5)`. In plainer cases it is right.",
    ),
    (
        "head_importance",
        lambda h, s: IM.by_einsum(h.roll(1, 1), s),
        "asked-plainly-8",
        "With two heads of one number, 2 and 1, whose slopes are 3 and -4, the result should be `(6, 4)`; "
        "yours is `(3, 8)`.",
    ),
    (
        "head_confidence",
        lambda w, n: CO.masked(w.sqrt(), n),
        "asked-plainly-1",
        "all rows (0.5, 0.3, 0.2), the result should be `0.5`; yours is `0.7071`.",
    ),
    (
        "hard_concrete_gate",
        lambda a, u, beta, g, z: HC.by_logit(a, u, beta + 1, g, z),
        "asked-plainly-3",
        "the result should be `(0.7579, 0.4421)`; yours is `(0.6797, 0.5203)`.",
    ),
    (
        "expected_open",
        lambda a, beta, g, z: EO.by_tensors(a, beta, g, z) * beta,
        "asked-plainly-5",
        "With one gate, log alpha 0, beta = 2, gamma = -0.5 and zeta = 1.5, the result should be `0.9`; "
        "yours is `1.8`.",
    ),
    (
        "collaborative_scores",
        lambda q, k, m, d_k: CS.by_einsum(q, k, m, d_k).tril(),
        "asked-plainly-9",
        "With the query 1, the keys 2 and 3, mixing 1 and d_k = 1, the result should be `(2, 3)`; yours is "
        "`(2, 0)`. In plainer cases it is right.",
    ),
    (
        "content_bias",
        lambda w, b, h: (w * b).T.reshape(len(w), h, -1).sum(-1).T,
        "asked-plainly-7",
        "the bias (1, 10) and two heads the result should be `(1, 3, 20, 40)`; yours is `(1, 20, 3, 40)`.",
    ),
    (
        "prune_heads",
        lambda q, k, v, o, h, kept: PR.by_view(q, k, v, o, h, list(range(kept[-1]))),
        "other-places-kept",
        "its columns 0, 1, 4, 5 should be left; yours are 0, 1, 2, 3.",
    ),
    (
        "two_stage_gates",
        lambda x, s, r, t, k: TG.by_scatter(x, s, r / 2, t, k),
        "asked-plainly-4",
        "the result should be `(0.5, 0.0833, 0.1667, 0.25)`; yours is `(0.5, 0.1206, 0.1705, 0.2089)`.",
    ),
    (
        "balance_loss",
        lambda p, c: BL.flat(p.square(), c),
        "asked-plainly-2",
        "With one token, P = (0.75, 0.25) and the first head chosen, the result should be `1.5`; yours is "
        "`1.125`. In plainer cases it is right.",
    ),
    (
        "talk",
        lambda s, p, w, mask: TA.by_einsum(s, p.tril(), w, mask),
        "asked-plainly-6",
        "the result should be `(0.25, 0.75, 0.25, 0.75)`; yours is `(0.25, 0.75, 0.5, 0.5)`.",
    ),
    (
        "composition_matrices",
        lambda b, q1, q2, gq, k1, k2, gk: CM.by_einsum(b, q1, q2, gq, k1, k2.flip(1), gk),
        "asked-plainly-7",
        "two branches of the key, ((1, 0), (0, -2)) and ((3, 4), (5, 6)), and the rest 0, the result should "
        "be `(3, 4, -10, -12)`; yours is `(5, 6, -6, -8)`.",
    ),
    (
        "circuits",
        lambda *given: (CI.by_chunks(*given)[0], CI.by_chunks(*given)[1].tanh()),
        "small-layer-1",
        "The QK circuits are right. In a layer with one head of one feature, the OV circuit of head 1 should "
        "have `12` in row 2, column 2; yours has `1`.",
    ),
    (
        "clear_difference",
        lambda losses, plain: CD.by_where(losses, plain, wide=lambda x: CD.spread(x) * 0.9),
        "asked-plainly-9",
        "With losses (3, 4, 5), and plain heads (2.05, 2.05), the result should be `0`; yours is `1.95`.",
    ),
]


@pytest.mark.parametrize(("name", "fn", "id_", "words"), ASKED, ids=[asked[0] for asked in ASKED])
def test_the_first_plain_number_that_is_wrong_is_told(name: str, fn: Callable, id_: str, words: str) -> None:
    verdict = check(name, fn)
    assert verdict.diagnosis == id_, verdict
    assert words in verdict.message, verdict
    assert verdict.look and verdict.witness


def test_what_was_done_to_a_right_result_is_told_first() -> None:
    verdict = check("head_importance", lambda h, s: IM.by_einsum(h, s).exp())
    assert "The exponential" in verdict.message
    pruned = check("prune_heads", lambda *given: tuple(w + 1 for w in PR.by_view(*given)))
    assert "off by the same amount" in pruned.message and "should be left" not in pruned.message


def test_sentences_may_meet_where_a_mean_goes_over_all_of_them() -> None:
    verdict = check("head_at_its_mean", lambda x, r, i: -HM.by_sums(x, r, i))
    assert "opposite sign" in verdict.message and "influence" not in verdict.message
    mixing = check("batched_heads", lambda x, q, k, v, h: (x + x.flip(0).sin()) @ (q + k + v).tan())
    assert "influence" in mixing.message


def test_axes_that_meet_are_those_of_the_error() -> None:
    def wrong(weights, lengths):
        real = torch.arange(weights.shape[-1]) < lengths[:, None]
        largest = weights.masked_fill(~real[:, None, None], 0).amax(-1)
        return (largest * weights[:, None]).sum((0, 2)) / real.sum()

    message = check("head_confidence", wrong).message
    assert "`h` = 3 meets `n` = 7" in message and "matrix product" not in message


def test_calls_inside_of_pytorch_are_no_part_of_an_error() -> None:
    def wrong(w_q, w_k, w_v, w_o, h, kept):
        return w_q.unflatten(1, (h, -2)), w_k, w_v, w_o

    message = check("prune_heads", wrong).message
    assert "invalid shape dimension -2" in message and "Exception raised from" not in message


def test_words_fit_the_code_that_makes_the_mistake() -> None:
    dealt = check("share_keys", lambda k, h: k[:, torch.arange(h) % k.shape[1]])
    assert dealt.diagnosis == "dealt-in-turn" and "`%`" in dealt.look and "`repeat`" in dealt.look
    early = check(
        "hard_concrete_gate",
        lambda a, u, beta, g, z: g + (z - g) * ((torch.logit(u) + a) / beta).sigmoid().clamp(0, 1),
    )
    assert early.diagnosis == "not-cut" and "A cut in front of the stretch does nothing" in early.message


def test_numbers_near_0_are_no_sign_that_arguments_have_no_effect() -> None:
    tiny = check("attainable_flops", lambda f, m, p, w: (f / m * w).clamp(max=p).sqrt() / 1e9)
    assert not tiny.passed and "no effect" not in tiny.message, tiny


def test_a_changed_list_is_told_by_the_methods_of_lists() -> None:
    def emptied(answers, seats):
        until, steps = [0] * seats, []
        while answers:
            until.sort()
            until[0] += answers.pop(0)
            steps.append(until[0])
        return steps

    verdict = check("finish_steps", emptied)
    assert verdict.diagnosis == "changed-input" and "`pop`" in verdict.look
