"""What is handed in: a stub, the course's own function, a wrapper around it, or a student's function."""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

from torch import Tensor

from mha_course.exercises.exercise import Case, Exercise
from mha_course.exercises.outcome import PACKAGE, Outcome, run

_EMPTY_BODY = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "COPY_FREE_VARS", "CACHE"}


def is_stub(fn: Any, outcome: Outcome) -> bool:
    """Whether nothing was written yet: it returns `...`, works with one, has no body, or says so itself."""
    if "ellipsis" in outcome.odd or isinstance(outcome.error, NotImplementedError):
        return True
    if isinstance(outcome.error, (TypeError, AttributeError)) and "ellipsis" in str(outcome.error):
        return True
    code = getattr(inspect.unwrap(fn) if callable(fn) else fn, "__code__", None)
    return (
        isinstance(code, CodeType)
        and outcome.odd == ("nothing",)
        and all(step.opname in _EMPTY_BODY for step in dis.get_instructions(code))
    )


def own_function(fn: Any) -> str | None:
    """The full name of a function that belongs to the course itself, else None."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    fn = getattr(fn, "__func__", fn)
    if isinstance(fn, ModuleType):
        return fn.__name__ if fn.__name__.split(".")[0] == "mha_course" else None
    module = getattr(fn, "__module__", None) if callable(fn) else None
    if not isinstance(module, str) or module.split(".")[0] != "mha_course":
        return None
    return f"{module}.{getattr(fn, '__qualname__', type(fn).__name__)}"


def calls_twin(exercise: Exercise, fn: Callable[..., Any], case: Case) -> str | None:
    """The course's own function for this exercise when the student's calls it, else None."""
    called: list[str] = []
    wanted = {*exercise.twins, f"{exercise.reference.__module__}.{exercise.reference.__qualname__}"}

    def watch(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            module = frame.f_globals.get("__name__", "").removeprefix("mha_course.")
            name = f"{module}.{frame.f_code.co_qualname}"
            if name in wanted or f"mha_course.{name}" in wanted:
                called.append(name)

    if sys.getprofile() is not None:
        return None  # someone measures; a second watcher would end that
    sys.setprofile(watch)
    try:
        run(fn, case.fresh(), len(exercise.returns), quiet=True)
    finally:
        sys.setprofile(None)
    return called[0] if called else None


def read_from_outside(fn: Any) -> str:
    """A remark on numbers and tensors that the function reads from the notebook, or ""."""
    fn = inspect.unwrap(fn) if callable(fn) else fn
    if not isinstance(fn, FunctionType):
        return ""
    names = [
        name
        for name in dict.fromkeys(
            step.argval for step in dis.get_instructions(fn) if step.opname == "LOAD_GLOBAL"
        )
        if isinstance(fn.__globals__.get(name), (int, float, Tensor)) and not name.startswith("_")
    ]
    if not names:
        return ""
    listed = ", ".join(f"`{name}`" for name in names[:3])
    return (
        f"It reads {listed} from outside the function. The check uses other sizes than the notebook, so take "
        "everything from the arguments."
    )
