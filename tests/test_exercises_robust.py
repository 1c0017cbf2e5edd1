"""check survives whatever a student writes, and says something kind and true about it."""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from mha_course import attention, progress, record_file
from mha_course.exercises import check

b, n, h, d_model = 2, 5, 3, 12  # what a notebook has lying around
calls: list[int] = []


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(record_file, "_waiting", {})
    return tmp_path / "mine"


def right(x, h):
    return x.reshape(*x.shape[:2], h, -1).transpose(1, 2)


def endless(x, h):
    return endless(x, h)


def leaves(x, h):
    sys.exit(3)


def broken_error(x, h):
    class Worse(Exception):
        def __str__(self):
            raise RuntimeError

    raise Worse


def from_outside(x, h):
    return x.view(b, n, h, d_model // h).transpose(1, 2)


def remembers(x, h):
    calls.append(1)
    return right(x, h) + len(calls)


def adds_noise(x, h):
    return right(x, h) + torch.rand(())


async def waits(x, h):
    return x


def yields(x, h):
    yield x


def only_a_docstring(x, h):
    """Nothing here yet."""


def half_done(x, h):
    cut = ...
    return cut.transpose(1, 2)


def half_done_product(x, h):
    return x @ ...


def not_implemented(x, h):
    raise NotImplementedError


def writes_into_x(x, h):
    x += 1
    return right(x - 1, h)


def only_head_one(x, h):
    return right(x, h) * (torch.arange(h) < 1).view(-1, 1, 1)


class Hostile:
    def __eq__(self, other):
        raise ValueError

    def __repr__(self):
        raise ValueError


class HostileTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("no")


CASES: list[tuple[Callable | object, str, str]] = [
    (endless, "endless-recursion", "return endless(x, h)"),
    (leaves, "exits", "sys.exit(3)"),
    (broken_error, "raised", "raise Worse"),
    (lambda x, h: x.vew(3), "raised", "no attribute 'vew'"),
    (lambda x, h: x.view(7, 7), "raised", "b=2, n=5, d_model=12"),
    (lambda x, h: undefined_name, "unknown-name", "undefined_name"),  # noqa: F821
    (from_outside, "raised", "reads `b`, `n`, `d_model` from outside"),
    (remembers, "not-repeatable", "Two calls"),
    (adds_noise, "not-repeatable", "Two calls"),
    (waits, "wrong-type", "coroutine"),
    (yields, "a-generator", "yields"),
    (lambda x, h: None, "not-attempted", "So far"),
    (lambda x, h: print(end=""), "returned-nothing", "returns nothing"),
    (only_a_docstring, "not-attempted", "or nothing"),
    (half_done, "not-attempted", "..."),
    (half_done_product, "not-attempted", "..."),
    (not_implemented, "not-attempted", "NotImplementedError"),
    (lambda x, h: ..., "not-attempted", "..."),
    (lambda x, h: (x, ...), "not-attempted", "..."),
    (lambda x, h: right(x, h) if h == 3 else ..., "not-attempted", "still in there"),
    (None, "not-a-function", "None"),
    (..., "not-a-function", "without calling it"),
    (torch.ones(3), "not-a-function", "a `Tensor`"),
    (right(torch.ones(2, 5, 12), 3), "not-a-function", "without calling it"),
    (lambda x: x, "wrong-arguments", "split_heads(x, h)"),
    (lambda: 0, "wrong-arguments", "no arguments"),
    (lambda x, h, extra: x, "wrong-arguments", "extra"),
    (lambda x, h: right(x, h).numpy(), "numpy-array", "numbers are right"),
    (lambda x, h: np.zeros((2, 3)), "wrong-shape", "(2, 3)"),
    (lambda x, h: right(x, h).tolist(), "a-list", "numbers are right"),
    (lambda x, h: [1, 2], "a-list", "list"),
    (lambda x, h: "heads", "wrong-type", "`str`"),
    (lambda x, h: {"heads": x}, "wrong-type", "`dict`"),
    (lambda x, h: 3, "a-number", "one number"),
    (lambda x, h: Hostile(), "wrong-type", "`Hostile`"),
    (lambda x, h: (x, x), "wrong-number-of-results", "2 things"),
    (lambda x, h: x, "handed-back", "as it came"),
    (lambda x, h: right(x, h).double(), "wrong-dtype", "float64"),
    (lambda x, h: right(x, h).half(), "wrong-dtype", "float16"),
    (lambda x, h: right(x, h).int(), "wrong-dtype", "int32"),
    (lambda x, h: right(x, h).bool(), "wrong-dtype", "bool"),
    (lambda x, h: right(x, h).to(torch.complex64), "wrong-dtype", "complex64"),
    (lambda x, h: right(x, h).to("meta"), "wrong-device", "meta"),
    (lambda x, h: right(x, h) * float("nan"), "not-a-number", "NaN"),
    (lambda x, h: right(x, h) / 0, "infinite", "infinite"),
    (lambda x, h: right(x, h) * 3, "scaled", "3 times"),
    (lambda x, h: -right(x, h), "opposite-sign", "opposite sign"),
    (lambda x, h: right(x, h) + 2, "shifted", "by the same amount"),
    (lambda x, h: right(x, h).flip(3), "rearranged", "the features run backwards"),
    (
        lambda x, h: right(x, h) * (torch.arange(h) < 1).view(-1, 1, 1),
        "never-filled",
        "Heads 2 and 3 are 0 throughout",
    ),
    (lambda x, h: right(x, h) if h < 3 else right(x, h) ** 2, "numbers-changed", "right with two heads"),
    (writes_into_x, "changed-input", "argument `x`"),
    (attention.split_heads, "course-function", "course's own function"),
    (attention, "course-function", "course's own"),
    (lambda x, h: attention.split_heads(x, h), "course-function", "attention.split_heads"),
    (torch.nn.Linear(12, 12), "raised", "TypeError"),
    (torch.chunk, "wrong-number-of-results", "things"),
    (HostileTensor, "raised", "error"),
]


@pytest.mark.parametrize(("fn", "id_", "words"), CASES, ids=[f"{i}-{c[1]}" for i, c in enumerate(CASES)])
def test_nothing_gets_out_of_check(fn: object, id_: str, words: str) -> None:
    verdict = check("split_heads", fn)
    assert not verdict.passed
    assert verdict.diagnosis == id_, verdict
    assert words in verdict.message, verdict
    assert "mha_course/exercises" not in verdict.message
    assert verdict._repr_html_() and repr(verdict)
    assert "split_heads" not in progress.solved()


def test_a_missing_function_and_unknown_names_get_a_sentence() -> None:
    assert check("split_heads").diagnosis == "no-function"
    assert "`split_heads`" in check("split_head", right).message
    assert "`split_heads`" in check("SPLIT_HEADS", right).message
    assert "catalogue()" in check("qqqq", right).message
    assert "first, in quotes" in check(3, right).message
    assert "<script>" not in check("<script>x</script>", right)._repr_html_()
    assert check("", right).diagnosis == "unknown-exercise"
    assert check(right, "split_heads").passed  # the other way round is understood
    assert check("block_matrices", lambda w: torch.cat(list(w), 1)).exercise == "stack_heads"


def test_arguments_in_another_order_are_noticed() -> None:
    verdict = check("scaled_scores", lambda k, q: (q * 2) @ k.mT)
    assert "yours names them `(k, q)`" in verdict.message


def test_a_batched_answer_that_never_uses_a_matrix_is_told_so() -> None:
    verdict = check(
        "multi_head_attention", lambda x, w_q, w_k, w_v, w_o, h, mask=None: torch.tanh(x @ w_v) @ w_o
    )
    assert verdict.diagnosis == "unused-argument"
    assert "`w_q` and `w_k` have no effect" in verdict.message


def test_the_world_is_as_before() -> None:
    def meddles(x, h):
        torch.manual_seed(0)
        random.seed(0)
        np.random.seed(0)
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        sys.setrecursionlimit(3000)
        return right(x, h)

    torch.manual_seed(7)
    random.seed(7)
    np.random.seed(7)
    limit, threads = sys.getrecursionlimit(), torch.get_num_threads()
    expected = (torch.manual_seed(7) and torch.rand(2).tolist(), random.random(), np.random.rand())
    torch.manual_seed(7)
    random.seed(7)
    np.random.seed(7)
    assert check("split_heads", meddles).passed
    assert (torch.rand(2).tolist(), random.random(), np.random.rand()) == expected
    assert torch.is_grad_enabled() and torch.get_default_dtype() == torch.float32
    assert sys.getrecursionlimit() == limit and torch.get_num_threads() == threads
    assert sys.getprofile() is None


def test_inside_no_grad_it_still_works() -> None:
    with torch.no_grad():
        assert check("split_heads", right).passed
        assert not torch.is_grad_enabled()


def test_an_endless_loop_can_be_interrupted() -> None:
    def loops(x, h):
        while True:
            time.sleep(0.001)

    main = threading.main_thread().ident
    import _thread

    # Where tests run in the background, the shell may have it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    assert threading.get_ident() == main
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            check("split_heads", loops)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert torch.is_grad_enabled()


def test_what_is_printed_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    def talks(x, h):
        print("shape", tuple(x.shape))
        return right(x, h)

    assert check("split_heads", talks).passed
    assert capsys.readouterr().out == "shape (2, 5, 12)\n"


def test_attempts_and_solutions_are_noted_and_trouble_is_told(home: Path) -> None:
    check("split_heads", lambda x, h: ...)
    assert progress.attempted() == {}
    check("split_heads", lambda x, h: x)
    assert list(progress.attempted()) == ["split_heads"] and progress.solved() == {}
    check("split_heads", right)
    assert list(progress.solved()) == ["split_heads"]
    for path in sorted(home.glob("**/*"), reverse=True):
        path.unlink()
    home.rmdir()
    home.write_text("no folder", encoding="utf-8")
    verdict = check("merge_heads", lambda x: x.transpose(1, 2).flatten(2))
    assert verdict.passed and "until the notebook is closed" in verdict.message


def test_answers_come_quickly() -> None:
    def unknown(x, w_q, w_k, w_v, w_o, h, mask=None):
        return torch.tanh(x @ w_q @ w_k @ w_v @ w_o)

    check("multi_head_attention", unknown)  # what is computed once
    start = time.process_time()
    check("multi_head_attention", unknown)
    assert time.process_time() - start < 1.0


def test_what_torch_cannot_do_is_an_error_and_not_an_empty_function() -> None:
    verdict = check("attention", lambda q, k, v, mask=None: (v, torch.softmax(q > 0, -1)))
    assert verdict.diagnosis == "raised", verdict
    assert "Bool" in verdict.message or "bool" in verdict.message


def test_a_tensor_of_another_class_is_a_tensor() -> None:
    class Mine(torch.Tensor):
        pass

    assert check("split_heads", lambda x, h: right(x, h).as_subclass(Mine)).passed
    assert check("split_heads", lambda x, h: (2 * right(x, h)).as_subclass(Mine)).diagnosis != "not-judged"
