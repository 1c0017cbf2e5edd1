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

from mha_course.exercises.evidence import Finding
from mha_course.exercises.exercise import Case, Exercise
from mha_course.exercises.outcome import PACKAGE, Outcome, run

MISSING = object()
_EMPTY_BODY = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "COPY_FREE_VARS", "CACHE"}


def not_a_function(exercise: Exercise, fn: Any, arguments: tuple[Any, ...]) -> Finding | None:
    """What to say when something else was handed over, or a function that can't take the arguments."""
    call = f'`check("{exercise.name}", {exercise.name})`'
    if fn is MISSING:
        return Finding("no-function", f"Hand your function over as well: {call}.")
    own = own_function(fn)
    if own:
        says = f"This is the course's own function (`{own}`). It works; the exercise is to write yours."
        return Finding("course-function", says, look="the name handed over: which cell defines it?")
    if not callable(fn):
        kind = "nothing (`None`)" if fn is None else "`...`" if fn is ... else with_article(type(fn).__name__)
        says = f"You handed over {kind}. Hand over the function itself, without calling it: {call}."
        return Finding("not-a-function", says)
    if isinstance(fn, type) and not issubclass(fn, Tensor):
        says = f"You handed over the class `{fn.__name__}`: calling it makes an object, and judges nothing."
        return Finding("not-a-function", says, look=f"hand over a function: {call}.")
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*arguments)
    except TypeError:
        takes = ", ".join(str(p) for p in signature.parameters.values())
        yours = f"takes `({takes})`" if takes else "takes no arguments"
        if any(p.kind is p.KEYWORD_ONLY for p in signature.parameters.values()):
            takes = ", ".join(p.name for p in signature.parameters.values())
            yours = f"takes `({takes})`, some of them by name only (behind a `*`)"
        says = f"It is called as `{exercise.signature.split(' ->')[0]}`; yours {yours}."
        return Finding("wrong-arguments", says, look="the `def` line.")
    return None


def with_article(name: str) -> str:
    """A type's name as it reads in a sentence: "an `int`", "a `list`"."""
    return f"{'an' if name[:1].lower() in 'aeio' else 'a'} `{name}`"


def is_stub(fn: Any, outcome: Outcome) -> bool:
    """Whether nothing was written yet: it returns `...`, works with one, has no body, or says so itself."""
    if "ellipsis" in outcome.odd or _says_not_written(outcome):
        return True
    if isinstance(outcome.error, (TypeError, AttributeError)) and "ellipsis" in str(outcome.error):
        return True
    code = getattr(inspect.unwrap(fn) if callable(fn) else fn, "__code__", None)
    return (
        isinstance(code, CodeType)
        and outcome.odd == ("nothing",)
        and all(step.opname in _EMPTY_BODY for step in dis.get_instructions(code))
    )


def _says_not_written(outcome: Outcome) -> bool:
    """A `raise NotImplementedError` of the student's; PyTorch raises it, too, where it can't do something."""
    if not isinstance(outcome.error, NotImplementedError):
        return False
    return "raise" in outcome.line or not str(outcome.error)


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
        run(fn, case.fresh(), exercise.results, quiet=True)
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
        if isinstance(fn.__globals__.get(name), (int, Tensor)) and not name.startswith("_")
    ]
    if not names:
        return ""
    listed = ", ".join(f"`{name}`" for name in names[:3])
    return (
        f"It reads {listed} from outside the function. The check uses other sizes than the notebook, so take "
        "everything from the arguments."
    )


def names_in_another_order(exercise: Exercise, fn: Any) -> str:
    """A remark on arguments that have the right names in another order, or ""."""
    try:
        yours = list(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return ""
    wanted = list(inspect.signature(exercise.reference).parameters)
    if yours == wanted or sorted(yours) != sorted(wanted):
        return ""
    return f"It is called as `{exercise.signature.split(' ->')[0]}`; yours names them `({', '.join(yours)})`."
