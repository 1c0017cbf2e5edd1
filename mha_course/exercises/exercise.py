"""What an exercise is: one declarative entry with its reference, drawn inputs, known mistakes and hints."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Generator, Tensor

Inputs = Callable[[Generator], "list[Case]"]


@dataclass(frozen=True)
class Case:
    """One call of the student's function.

    label: when this happens, in words that fit into a sentence ("with three heads", "without a mask").
    sizes: every size by its symbol, all different, so that no two axes can be mistaken for each other.
    required: whether a pass depends on it; a failure elsewhere becomes a remark.
    loud: not required, but where it is got wrong this has to show (an error, NaN): a wrong result that looks
    right doesn't pass. edge: a special case, named only where it is got wrong. narrower: functions that do
    less than is asked for here, and pass all the same.
    refuses: the right answer is to raise a ValueError that names the arguments.
    coded: names of the axes of the first argument when it holds 0, 1, 2, ...: each number then says
    where it comes from.
    """

    label: str
    arguments: tuple[Any, ...]
    sizes: dict[str, int] = field(default_factory=dict)
    required: bool = True
    refuses: bool = False
    loud: bool = False
    edge: bool = False
    narrower: tuple[Callable[..., Any], ...] = ()
    coded: tuple[str, ...] = ()

    def fresh(self) -> tuple[Any, ...]:
        """The arguments, copied: whatever the function does to them stays with it."""
        return tuple(_copy(argument) for argument in self.arguments)

    def in_words(self) -> str:
        """The sizes as they read in a sentence: "b=2, n=5"."""
        return ", ".join(f"{name}={size}" for name, size in self.sizes.items())


@dataclass(frozen=True)
class Mistake:
    """A known mistake: what it computes, and what a teacher would say about it.

    wrong: a real function with the exercise's signature that makes the mistake. Partials of one function
    with different keywords are tried in pairs as well.
    says: what kind of mistake it is, in one or two sentences. look: where to look, without the answer.
    Both may name the sizes of the case as {n}, {d_model}, ...
    alone: said first where the mistake is the only one, since together with another it would not be true.
    often: made so often that it is also looked for together with two others.
    """

    id: str
    wrong: Callable[..., Any]
    says: str
    look: str
    alone: str = ""
    often: bool = False


@dataclass(frozen=True)
class Returned:
    """One thing that the function returns: its name, its axes as symbols, and what it is made of.

    kind: float or bool (a tensor), number (one whole number), numbers (a list of whole numbers), share (one
    number, in a tensor or not).
    """

    name: str
    axes: tuple[str, ...] = ()
    kind: str = "float"
    rows_sum_to_one: bool = False


@dataclass(frozen=True)
class Exercise:
    """One place where the student writes a function.

    inputs: draws the cases; sizes are fixed, numbers come from the generator.
    one_of: labels of cases of which one must be right; in the others an answer may then stop, or give
    another shape, which is only remarked upon.
    styles: other right ways to do one step, as settings for mistakes that are partials: a mistake can look
    different with each (a hidden score may be -inf or a large negative number).
    twins: names of the course's own functions that do the same, as "attention.split_heads".
    also: other names under which it is found.
    finite_gradients: a right result whose gradients are NaN does not pass.
    learns_through: whether a model could learn through the function, so that a way back is worth a remark.
    reads: reads what an unknown wrong answer did, whatever its numbers: a Finding from the Evidence and one
    more call with other arguments, or None.
    on_the_way: from the arguments, what a right answer (or a common wrong one) holds on its way, each with a
    name, so that an error can say what met in it.
    special: what only this exercise can say about a wrong answer that is no known mistake: a Finding from
    a case, what was expected and what came (two Outcomes), or None.
    readers: the same for what takes more than one case, or more calls, to see: each gets the evidence, the
    number of the case to talk about, and a way to call the answer on other arguments; the first Finding is
    taken. They are asked when something came back that holds numbers, whatever its shape.
    inspects: how right numbers came about: a Finding that keeps them from passing, or None, and a remark.
    """

    name: str
    lesson: str
    title: str
    prompt: str
    signature: str
    reference: Callable[..., Any]
    inputs: Inputs
    returns: tuple[Returned, ...]
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, str, str]
    why: str
    one_of: tuple[str, ...] = ()
    styles: tuple[dict[str, Any], ...] = ()
    twins: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    finite_gradients: bool = False
    learns_through: bool = True
    reads: Callable[[Any, Callable[..., Any]], Any] | None = None
    special: Callable[[Case, Any, Any], Any] | None = None
    on_the_way: Callable[[tuple[Any, ...]], list[Any]] | None = None
    readers: tuple[Callable[[Any, int, Callable[[tuple[Any, ...]], Any]], Any], ...] = ()
    inspects: Callable[[Any, Callable[..., Any]], tuple[Any, str]] | None = None

    def cases(self, seed: int = 0) -> list[Case]:
        """The calls by which an answer is judged; the same for the same seed."""
        return self.inputs(torch.Generator().manual_seed(seed))

    @property
    def results(self) -> int:
        """How many things are returned; 0 stands for one list of numbers."""
        return 0 if self.returns[0].kind == "numbers" else len(self.returns)

    def counts(self, case: Case) -> bool:
        """Whether a pass can depend on the case."""
        return case.required or case.label in self.one_of

    def ways(self, mistake: Mistake) -> list[Callable[..., Any]]:
        """The functions that make a mistake: as listed, and in each other style that fits."""
        ways = [mistake.wrong]
        for style in self.styles if isinstance(mistake.wrong, functools.partial) else ():
            if not set(style) & set(mistake.wrong.keywords):
                ways.append(functools.partial(mistake.wrong, **style))
        return ways

    def source(self) -> str:
        """The reference as text, the way `solution` shows it."""
        return textwrap.dedent(inspect.getsource(self.reference)).rstrip()


def draw(g: Generator, *shape: int, spread: float = 1.0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normal numbers of the given shape, mean 0 and standard deviation `spread`."""
    return (torch.randn(shape, generator=g, dtype=torch.float64) * spread).to(dtype)


def numbered(*shape: int) -> Tensor:
    """0, 1, 2, ... as float32 in the given shape: each number says where it comes from."""
    count = 1
    for size in shape:
        count *= size
    return torch.arange(count, dtype=torch.float32).reshape(shape)


def _copy(argument: Any) -> Any:
    if isinstance(argument, Tensor):
        return argument.clone()
    if isinstance(argument, dict):
        return {name: _copy(value) for name, value in argument.items()}
    if isinstance(argument, Sequence) and not isinstance(argument, (str, tuple)):
        return list(argument)
    return argument
