"""The course's own functions that an answer may not call are named as they stand in the package."""

from __future__ import annotations

import importlib
import inspect

import pytest
import torch

from mha_course.exercises.handing_in import calls_twin
from mha_course.exercises.registry import EXERCISES
from mha_course.layers import MultiHeadAttention

NAMED = [(name, twin) for name, exercise in EXERCISES.items() for twin in exercise.twins]


def code_of(twin: str) -> tuple[str, str]:
    """The module and the qualified name under which a watcher of calls meets a function."""
    parts = twin.split(".")
    modules = (
        1 if importlib.util.find_spec(f"mha_course.{parts[0]}").submodule_search_locations is None else 2
    )
    if parts[0] == "exercises":
        modules = 3
    found = importlib.import_module(".".join(["mha_course", *parts[:modules]]))
    for part in parts[modules:]:
        found = getattr(found, part)
    found = inspect.unwrap(found)
    return found.__module__, found.__code__.co_qualname


@pytest.mark.parametrize(("name", "twin"), NAMED, ids=[f"{name}-{twin}" for name, twin in NAMED])
def test_a_twin_is_a_function_of_the_course(name: str, twin: str) -> None:
    assert ".".join(code_of(twin)) == f"mha_course.{twin}"


def test_who_calls_the_twin_is_noticed_and_who_does_not_is_not() -> None:
    exercise = EXERCISES["encoder_block"]
    case = exercise.cases()[0]

    def borrowed(*given: object, **named: object) -> object:
        from mha_course.transformer.encoder import EncoderLayer

        return EncoderLayer(given[0].shape[-1], 1)(given[0])

    assert calls_twin(exercise, borrowed, case) == "transformer.encoder.EncoderLayer.forward"
    assert (
        calls_twin(exercise, lambda *given, **named: MultiHeadAttention(24, 4)(torch.zeros(2, 5, 24)), case)
        is None
    )
