"""A reference with the imports that it needs, so that it runs wherever it is pasted."""

from __future__ import annotations

import ast
import builtins
from types import ModuleType

from mha_course.exercises.exercise import Exercise


def runnable_source(exercise: Exercise) -> str:
    """The reference's source below the import lines for every name that it takes from elsewhere.

    Raises: ValueError when it uses a name of its module that no import brings, which would not run elsewhere.
    """
    source = exercise.source()
    space = exercise.reference.__globals__
    names = [name for name in _names_from_outside(source) if not hasattr(builtins, name)]
    lines = sorted({_import_of(name, space.get(name), exercise.name) for name in names})
    return "\n".join([*lines, "", "", source]) if lines else source


def _names_from_outside(source: str) -> list[str]:
    tree = ast.parse(source)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return list(dict.fromkeys(node.id for node in names if node.id not in own))


def _import_of(name: str, value: object, exercise: str) -> str:
    if isinstance(value, ModuleType):
        return f"import {name}" if value.__name__ == name else f"import {value.__name__} as {name}"
    if isinstance(value, type) and not value.__module__.startswith("mha_course"):
        return f"from {value.__module__} import {name}"
    raise ValueError(f"the reference of {exercise} uses {name!r}, which no import brings.")
