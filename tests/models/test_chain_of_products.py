"""Steps that wait for each other and paths between tokens, counted on graphs, against hand counts."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from mha_course.layers import MultiHeadAttention
from mha_course.models.chain_of_products import (
    Chains,
    attention,
    count_chains,
    longest_chain,
    recurrence,
    shortest_path,
)


def test_chains_of_a_small_graph_counted_by_hand() -> None:
    a, b, m = (torch.randn(3, 3, requires_grad=True) for _ in range(3))
    x = a @ m  # one product behind a
    y = x @ (b @ m) + x  # two behind each; x also goes on without a product
    assert longest_chain(y.tanh()) == 2
    assert shortest_path(y, a) == 1
    assert shortest_path(y, b) == 2
    assert longest_chain(a + b) == 0 and shortest_path(a + b, a) == 0
    z = (y @ m) @ m
    assert (longest_chain(z), shortest_path(z, a), shortest_path(z, m)) == (4, 3, 1)


@pytest.mark.parametrize("n", [1, 2, 5, 33])
def test_attention_stays_and_recurrence_grows(n: int) -> None:
    # q or k, scores, weighted sum, W_O; the way through W_V, weights and W_O is the shortest.
    assert count_chains(attention(MultiHeadAttention(12, 3)), n, 12) == Chains(n, 4, 3)
    rnn = nn.RNN(12, 7, batch_first=True)
    # The first token meets W_ih, then every step W_hh; the start of the chain is the zero state's product.
    assert count_chains(recurrence(rnn), n, 12) == Chains(n, n, n)


def test_gates_make_no_step_more() -> None:
    gru = count_chains(recurrence(nn.GRU(12, 7, batch_first=True)), 9, 12)
    assert gru.steps == 9
    assert gru.path == 1  # the state goes on through its gate as well, number by number


def test_two_layers_of_attention_are_twice_as_long() -> None:
    first, second = attention(MultiHeadAttention(12, 3)), attention(MultiHeadAttention(12, 4))
    assert count_chains(lambda tokens: second(first(tokens)), 6, 12) == Chains(6, 8, 6)


def test_a_long_text_neither_overflows_nor_takes_long() -> None:
    assert count_chains(recurrence(nn.RNN(6, 4, batch_first=True)), 1500, 6).steps == 1500


def test_recurrence_is_what_the_layer_computes_at_once() -> None:
    rnn, x = nn.RNN(6, 4, batch_first=True), torch.randn(2, 5, 6)
    outputs = recurrence(rnn)(x.unbind(1))
    assert torch.allclose(torch.stack(outputs, dim=1), rnn(x)[0], atol=1e-6)


def test_what_cannot_be_counted_is_named() -> None:
    layer = MultiHeadAttention(12, 3)
    with pytest.raises(ValueError, match="ScaledDotProduct.* at once"):
        count_chains(lambda tokens: layer(torch.stack(list(tokens), 1)).unbind(1), 5, 12)
    with pytest.raises(ValueError, match="no graph"):
        longest_chain(torch.ones(3))
    with pytest.raises(ValueError, match="doesn't depend"):
        count_chains(lambda tokens: [t * 2 for t in tokens], 4, 12)
    with pytest.raises(ValueError, match="n=0"):
        count_chains(attention(layer), 0, 12)
