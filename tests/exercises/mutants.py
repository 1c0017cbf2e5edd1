"""Small changes to a function's source: what a slip of the keyboard makes of a right answer.

Each mutant is the function with one change: a constant or an axis off by one, an operand dropped, a product
turned round, a name replaced by another one in use, a method call left out, a statement deleted.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

_OTHER_OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Add, ast.Div),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Mult, ast.Div),
    ast.Mod: (ast.FloorDiv, ast.Mult),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt, ast.LtE),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMMUTING = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
_OTHER_METHODS = {
    "tril": ("triu",),
    "ones": ("zeros",),
    "amax": ("amin",),
    "sum": ("mean",),
    "sqrt": ("exp",),
    "exp": ("exp2", "sigmoid"),
    "softmax": ("sigmoid", "log_softmax"),
    "transpose": ("view",),
    "reshape": ("unflatten",),
    "all": ("any",),
    "any": ("all",),
}


@dataclass(frozen=True)
class Mutant:
    """A changed function. change: what was done, as "code of the line | before -> after"."""

    change: str
    fn: Callable[..., Any]


def mutants(fn: Callable[..., Any]) -> Iterator[Mutant]:
    """Every function that one small change makes of fn; those that Python refuses are left out."""
    text = textwrap.dedent(inspect.getsource(fn))
    tree = _Bare().visit(ast.parse(text))
    names, lines = _names(tree), text.splitlines()
    whole = _Whole(tree.body[0])
    seen = {whole.text()}
    for node, statement, put in whole.places():
        for other in _changed(node, names):
            new = ast.Pass() if other is None else other
            put(new if hasattr(new, "lineno") else ast.copy_location(new, node))
            source = whole.text(statement)
            put(node)  # every change is made in one and the same tree, and undone
            if source in seen:
                continue
            seen.add(source)
            made = _made(source, fn)
            if made is not None:
                line = lines[node.lineno - 1].partition("  #")[0].strip()
                after = "(nothing)" if other is None else ast.unparse(other)
                yield Mutant(f"{line} | {ast.unparse(node)} -> {after}", made)


Put = Callable[[ast.AST], None]


class _Whole:
    """A function's tree, of which one statement at a time changes: the text of the others is kept."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self._function = function
        self._texts = [self._written(statement) for statement in function.body]
        self._owners = {
            id(node): k for k, statement in enumerate(function.body) for node in ast.walk(statement)
        }
        first = ast.FunctionDef(function.name, function.args, [ast.Pass()], [], lineno=1)
        self._head = ast.unparse(first).removesuffix("pass").rstrip()

    def text(self, statement: int | None = None) -> str:
        """The function as it reads now, when nothing but this statement may have changed."""
        texts = list(self._texts)
        if statement is not None:
            texts[statement] = self._written(self._function.body[statement])
        return "\n".join([self._head, *texts])

    def places(self) -> list[tuple[ast.AST, int, Put]]:
        """Every node of the body, in the order of `ast.walk`: its statement, and how to put another there."""
        found: list[tuple[ast.AST, Put]] = []
        for parent in ast.walk(self._function):
            for field, value in ast.iter_fields(parent):
                if isinstance(value, ast.AST):
                    found.append((value, partial(setattr, parent, field)))
                elif isinstance(value, list):
                    places = [(item, partial(value.__setitem__, i)) for i, item in enumerate(value)]
                    found += [(item, put) for item, put in places if isinstance(item, ast.AST)]
        return [(node, self._owners[id(node)], put) for node, put in found if id(node) in self._owners]

    @staticmethod
    def _written(statement: ast.stmt) -> str:
        return textwrap.indent(ast.unparse(statement), "    ")


class _Bare(ast.NodeTransformer):
    """Takes types and words away: a change in them changes nothing."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        if ast.get_docstring(node) is not None:
            del node.body[0]
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node


def _names(tree: ast.AST) -> list[str]:
    """The function's arguments and variables, in the order in which they appear."""
    found = [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    found += [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(found))


def _changed(node: ast.AST, names: list[str]) -> Iterator[ast.AST | None]:
    """What may stand in a node's place; None deletes a statement."""
    match node:
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            for value in (node.value + 1, node.value - 1, -node.value, 0, node.value * 2):
                yield ast.Constant(value)
        case ast.Name(ctx=ast.Load()) if node.id in names:
            yield from (ast.Name(other, ast.Load()) for other in names if other != node.id)
        case ast.BinOp():
            for operator in _OTHER_OPERATORS.get(type(node.op), ()):
                yield ast.BinOp(node.left, operator(), node.right)
            yield from (node.left, node.right)
            if not isinstance(node.op, _COMMUTING):
                yield ast.BinOp(node.right, node.op, node.left)
        case ast.UnaryOp():
            yield node.operand
        case ast.Compare(ops=[operator]):
            for other in _OTHER_OPERATORS.get(type(operator), ()):
                yield ast.Compare(node.left, [other()], node.comparators)
        case ast.IfExp():
            yield from (node.body, node.orelse)
            yield ast.IfExp(node.test, node.orelse, node.body)
        case ast.Call():
            yield from _other_calls(node)
        case ast.Slice():
            if node.lower is not None:
                yield ast.Slice(None, node.upper, node.step)
            if node.upper is not None:
                yield ast.Slice(node.lower, None, node.step)
        case ast.Subscript(ctx=ast.Load()):
            yield node.value
        case ast.Tuple(ctx=ast.Load()) | ast.List(ctx=ast.Load()) if len(node.elts) > 1:
            yield from (type(node)(elements, ast.Load()) for elements in _swapped(node.elts))
        case ast.Assign(targets=[ast.Tuple() as target]):
            for elements in _swapped(target.elts):
                yield ast.Assign([ast.Tuple(elements, ast.Store())], node.value)
        case ast.If():
            yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
            yield None
        case ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Return():
            yield None
        case ast.Expr() if not isinstance(node.value, ast.Constant):
            yield None


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    """A call left out, with arguments swapped or dropped, or of another function."""
    if isinstance(node.func, ast.Attribute):
        yield node.func.value
        for name in _OTHER_METHODS.get(node.func.attr, ()):
            other = ast.Attribute(node.func.value, name, node.func.ctx)
            yield ast.Call(other, node.args, node.keywords)
    yield from node.args[:1]
    for arguments in _swapped(node.args):
        yield ast.Call(node.func, arguments, node.keywords)
    for i in range(len(node.args)):
        yield ast.Call(node.func, node.args[:i] + node.args[i + 1 :], node.keywords)
    for i in range(len(node.keywords)):
        yield ast.Call(node.func, node.args, node.keywords[:i] + node.keywords[i + 1 :])


def _swapped(nodes: list[Any]) -> Iterator[list[Any]]:
    """The list with two neighbours in each other's place, for each pair of neighbours."""
    for i in range(len(nodes) - 1):
        yield [*nodes[:i], nodes[i + 1], nodes[i], *nodes[i + 2 :]]


def _made(source: str, fn: Callable[..., Any]) -> Callable[..., Any] | None:
    """The function that a source defines, with fn's globals; None where Python can't compile it."""
    try:
        code = compile(source, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return None
    space = {**fn.__globals__, "__name__": "mutant"}
    exec(code, space)
    return space[fn.__name__]
