"""How many matrix products depend on each other: counted on the graph that PyTorch keeps for its gradients.

Every result remembers the operation that made it, and that operation the ones that made its operands. The
longest way down this graph is the number of steps that have to wait for each other, however many processors
there are. The shortest way from one token's output to another token's input is how far apart the two are:
what a signal has to go through, and a gradient on its way back. Only matrix products are counted; a sum over
n terms is one product here, though even with a processor for each term it takes about log2(n) additions.
Source: the comparison is that of Vaswani et al. 2017, table 1, which states both orders.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mha_course.layers import MultiHeadAttention
from mha_course.sizes import check_sizes

PRODUCTS = ("MmBackward0", "AddmmBackward0", "BmmBackward0", "BaddbmmBackward0")
# Kernels that do many products at once hide how long the chain is, so they are refused.
HIDING = ("MkldnnRnnLayer", "ScaledDotProduct", "CudnnRnn", "MiopenRnn")


@dataclass(frozen=True)
class Chains:
    """For n tokens: steps, the longest chain of products behind the whole output; path, the fewest products
    between the first token's input and the last token's output. (The state of a GRU also goes on through its
    gate, number by number and without a matrix product; so its path says less than a plain RNN's.)
    """

    n: int
    steps: int
    path: int


Tokens = Sequence[Tensor]


def attention(layer: MultiHeadAttention) -> Callable[[Tokens], Tokens]:
    """Self-attention from tokens (b, d_model) to tokens, all at once."""
    return lambda tokens: layer.trace(torch.stack(list(tokens), dim=1)).output.unbind(1)


def recurrence(layer: nn.RNN | nn.GRU) -> Callable[[Tokens], Tokens]:
    """A recurrent layer with batch_first, given its tokens (b, d_model) one after the other."""

    def forward(tokens: Tokens) -> Tokens:
        state, outputs = None, []
        for token in tokens:
            output, state = layer(token[:, None], state)
            outputs.append(output[:, 0])
        return outputs

    return forward


def count_chains(layer: Callable[[Tokens], Tokens], n: int, d_model: int, b: int = 2) -> Chains:
    """Run a layer on n random tokens of (b, d_model) and count on the graphs of what it returns for each.

    Tokens are tensors of their own: an operation on all of them at once stands in the graph as one, and
    would connect tokens that never met.

    Raises: ValueError for sizes below 1, for a layer whose last output doesn't depend on the first token, and
    for a kernel that does many products at once, in which nothing can be counted.
    """
    check_sizes(n=n, d_model=d_model, b=b)
    g = torch.Generator().manual_seed(0)
    with torch.enable_grad():
        tokens = [torch.randn(b, d_model, generator=g).requires_grad_() for _ in range(n)]
        outputs = list(layer(tokens))
        whole = torch.stack(outputs)
    return Chains(n, longest_chain(whole), shortest_path(outputs[-1], tokens[0]))


def longest_chain(result: Tensor) -> int:
    """The most matrix products, one after the other, that a result had to wait for.

    Raises: ValueError when the result has no graph, or a kernel in it hides its products.
    """
    longest: dict[object, int] = {}
    for node in _upwards(_graph(result)):
        below = [longest[child] for child in _children(node)]
        longest[node] = max(below, default=0) + _is_product(node)
    return longest[_graph(result)]


def shortest_path(result: Tensor, leaf: Tensor) -> int:
    """The fewest matrix products between a leaf (an input that wants gradients) and a result.

    Raises: ValueError when the result has no graph or doesn't depend on the leaf.
    """
    start = _graph(result)
    best = {start: _is_product(start)}
    waiting = deque([start])
    # Breadth first by products: nodes that cost nothing go to the front.
    while waiting:
        node = waiting.popleft()
        if getattr(node, "variable", None) is leaf:
            return best[node]
        for child in _children(node):
            length = best[node] + _is_product(child)
            if length < best.get(child, length + 1):
                best[child] = length
                (waiting.append if _is_product(child) else waiting.appendleft)(child)
    raise ValueError("the result doesn't depend on this leaf.")


def _graph(result: Tensor) -> torch.autograd.graph.Node:
    if result.grad_fn is None:
        raise ValueError("the result has no graph: it was computed without gradients.")
    return result.grad_fn


def _children(node: torch.autograd.graph.Node) -> list[torch.autograd.graph.Node]:
    return [child for child, _ in node.next_functions if child is not None]


def _is_product(node: torch.autograd.graph.Node) -> bool:
    name = node.name()
    if any(hiding in name for hiding in HIDING):
        kernel = name.removesuffix("Backward0")
        raise ValueError(f"{kernel} does many products at once; they can't be counted.")
    return name in PRODUCTS


def _upwards(top: torch.autograd.graph.Node) -> Iterator[torch.autograd.graph.Node]:
    """Every operation after those that it depends on; without recursion, since chains are long."""
    done: set[torch.autograd.graph.Node] = set()
    stack = [(top, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif node not in done:
            done.add(node)
            stack.append((node, True))
            stack += [(child, False) for child in _children(node)]
