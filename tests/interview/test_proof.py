"""How proofs are registered, found, run and shown."""

from __future__ import annotations

import inspect

import pytest
import torch

from mha_course.interview import proof as registry
from mha_course.interview.proof import Shown, all_proofs, find_proof, proof, run_proof, source_of, summary_of


@pytest.fixture
def own_proofs(monkeypatch: pytest.MonkeyPatch) -> dict:
    """The registry for this test only."""
    all_proofs()
    kept = dict(registry._PROOFS)
    monkeypatch.setattr(registry, "_PROOFS", kept)
    return kept


def gradients_on() -> Shown:
    """Gradients are on inside."""
    w = torch.ones(3, requires_grad=True)
    w.square().sum().backward()
    assert w.grad is not None, "no gradient"
    return Shown("Gradients are on.", {"gradient": w.grad.max().item()})


def test_a_proof_is_known_by_its_own_name(own_proofs: dict) -> None:
    assert proof(gradients_on) is gradients_on
    assert find_proof("gradients_on") is gradients_on
    assert proof(gradients_on) is gradients_on, "a module that is loaded again may register again"


def test_two_modules_cannot_have_a_proof_of_one_name(own_proofs: dict) -> None:
    name = next(iter(own_proofs))

    def other() -> Shown:
        return Shown("Something else.")

    other.__name__ = name
    with pytest.raises(ValueError, match=name):
        proof(other)


def test_gradients_are_on_inside_and_what_was_set_outside_stays(own_proofs: dict) -> None:
    proof(gradients_on)
    with torch.no_grad():
        assert run_proof("gradients_on").numbers == {"gradient": 2.0}
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_a_proof_that_fails_says_what_it_expected(own_proofs: dict) -> None:
    def never() -> Shown:
        """Never holds."""
        assert 1 > 2, "one should be more than two"
        return Shown("Never.")

    proof(never)
    with pytest.raises(AssertionError, match="one should be more than two"):
        run_proof("never")


def test_the_source_is_that_of_the_file_without_the_decorator() -> None:
    for name, function in all_proofs().items():
        source = source_of(name)
        assert source.startswith(f"def {name}() -> Shown:\n")
        assert inspect.getsource(function) == "@proof\n" + source
        assert f'"""{summary_of(name)}"""' in source


@pytest.mark.parametrize("ask", [find_proof, run_proof, source_of, summary_of])
def test_an_unknown_name_names_the_nearest(ask: object) -> None:
    name = next(iter(all_proofs()))
    with pytest.raises(ValueError, match=name):
        ask(name[:-1])  # type: ignore[operator]
    for no_name in ("三月", None, 5):
        with pytest.raises(ValueError, match="no proof"):
            ask(no_name)  # type: ignore[operator]


def test_each_module_of_proofs_brings_some() -> None:
    modules = {function.__module__.rpartition(".")[0] for function in all_proofs().values()}
    assert modules == {"mha_course.interview.proofs"}
