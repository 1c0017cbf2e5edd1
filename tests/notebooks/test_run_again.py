"""After Run All every cell can be run again by itself: no name that it reads was given to something else.

A name that two cells bind, and a third one reads, means one thing on the way down and another when a student
goes back to the third cell.
"""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
SETTLED = [path for path in NOTEBOOKS if path.name < "17"]


class Names(ast.NodeVisitor):
    """What a cell binds at its top level, and what it reads that it hasn't bound before."""

    def __init__(self, source: str) -> None:
        self.bound: set[str] = set()
        self.read: set[str] = set()
        self._inside: list[set[str]] = []  # names of the functions and comprehensions around
        self.visit(ast.parse(source))

    def visit_Name(self, name: ast.Name) -> None:
        if isinstance(name.ctx, ast.Store):
            (self._inside[-1] if self._inside else self.bound).add(name.id)
        elif name.id not in self.bound and not any(name.id in names for names in self._inside):
            self.read.add(name.id)

    def visit_alias(self, alias: ast.alias) -> None:
        self.bound.add((alias.asname or alias.name).split(".")[0])

    def visit_Assign(self, assign: ast.Assign) -> None:
        for part in (assign.value, *assign.targets):
            self.visit(part)

    def visit_AugAssign(self, assign: ast.AugAssign) -> None:
        if isinstance(assign.target, ast.Name):
            self.read.add(assign.target.id)
        self.generic_visit(assign)

    def visit_For(self, loop: ast.For) -> None:
        for part in (loop.iter, loop.target, *loop.body, *loop.orelse):
            self.visit(part)

    def visit_FunctionDef(self, function: ast.FunctionDef) -> None:
        self.bound.add(function.name)
        self._scope([*ast.walk(function.args)], [*function.body])

    def visit_Lambda(self, function: ast.Lambda) -> None:
        self._scope([*ast.walk(function.args)], [function.body])

    def _scope(self, arguments: list[ast.AST], body: list[ast.AST]) -> None:
        self._inside.append({part.arg for part in arguments if isinstance(part, ast.arg)})
        for part in body:
            self.visit(part)
        self._inside.pop()

    def _comprehension(self, node: ast.AST) -> None:
        self._inside.append(set())
        for clause in node.generators:
            for part in (clause.iter, clause.target, *clause.ifs):
                self.visit(part)
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                self.visit(getattr(node, field))
        self._inside.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def rebound(sources: dict[str, str]) -> list[str]:
    """Cell and name, where a cell reads what several others bind."""
    cells = {cell: Names(source) for cell, source in sources.items()}
    return [
        f"{cell} reads {name!r}, bound in {', '.join(owners)}"
        for cell, names in cells.items()
        for name in sorted(names.read - set(dir(builtins)))
        if len(owners := [other for other, theirs in cells.items() if name in theirs.bound]) > 1
    ]


def test_names_are_seen_where_they_stand() -> None:
    assert Names("for i in a:\n    b = i + c\nd = [e for e in b if e]").read == {"a", "c"}
    assert Names("def f(x, y=1):\n    z = x\n    return z + w\nf(2)").read == {"w"}
    assert Names("x = x + 1").read == {"x"} and Names("x += 1").read == {"x"}
    cells = {"one": "x = 1", "two": "y = x", "three": "x = 2\nprint(x)"}
    assert rebound(cells) == ["two reads 'x', bound in one, three"]
    assert rebound({**cells, "three": "z = 2"}) == []


@pytest.mark.parametrize("path", SETTLED, ids=lambda path: path.stem)
def test_every_cell_can_be_run_again(path: Path) -> None:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert rebound({cell.id: cell.source for cell in cells}) == []
