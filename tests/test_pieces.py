"""Pieces joined to words: against plain loops, and what the sum pays for."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mha_course.attention_maps import AttentionMaps
from mha_course.pieces import PieceMaps, pieces_to_words, word_matrix

QUERIES = (None, 0, 1, 1, 1, 2, None)  # the word with index 1 has three pieces
KEYS = (0, 0, None, 1, 3, 3, 3, 3, None)  # the word with index 2 has none


def random_weights(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).softmax(dim=-1)


def by_loops(
    weights: torch.Tensor, queries: tuple, keys: tuple, sizes: tuple[int, int], to: str, from_: str
) -> torch.Tensor:
    out = torch.zeros(*weights.shape[:-2], *sizes)
    for i in range(sizes[0]):
        rows = [p for p, word in enumerate(queries) if word == i]
        for j in range(sizes[1]):
            columns = [p for p, word in enumerate(keys) if word == j]
            for row in rows:
                for column in columns:
                    share = 1.0
                    share /= len(columns) if to == "mean" else 1
                    share /= len(rows) if from_ == "mean" else 1
                    out[..., i, j] += share * weights[..., row, column]
    return out


@pytest.mark.parametrize("to", ["sum", "mean"])
@pytest.mark.parametrize("from_", ["sum", "mean"])
def test_equal_to_plain_loops(to: str, from_: str) -> None:
    weights = random_weights(2, 5, 7, 9)
    found = pieces_to_words(weights, QUERIES, KEYS, to, from_)
    assert found.shape == (2, 5, 3, 4)
    torch.testing.assert_close(found, by_loops(weights, QUERIES, KEYS, (3, 4), to, from_))


@given(st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=1, max_size=11), st.integers(0, 99))
def test_any_assignment_equals_the_loops(words: list[int | None], seed: int) -> None:
    n = len(words)
    weights = random_weights(3, n, n, seed=seed)
    expected = by_loops(weights, tuple(words), tuple(words), (5, 5), "sum", "mean")
    torch.testing.assert_close(pieces_to_words(weights, words, n_query_words=5), expected)


def test_the_sum_pays_for_split_words_and_the_mean_does_not() -> None:
    uniform = torch.full((1, 1, 5, 5), 1 / 5)
    words = (0, 1, 1, 1, 2)
    summed = pieces_to_words(uniform, words)[0, 0]
    assert summed.argmax(dim=-1).tolist() == [1, 1, 1]
    torch.testing.assert_close(summed[0], torch.tensor([0.2, 0.6, 0.2]))
    meant = pieces_to_words(uniform, words, to="mean")[0, 0]
    torch.testing.assert_close(meant, torch.full((3, 3), 0.2))


def test_rows_keep_their_sum_unless_special_tokens_are_dropped() -> None:
    weights = random_weights(3, 2, 6, 6)
    whole = pieces_to_words(weights, (0, 0, 1, 2, 2, 2))
    torch.testing.assert_close(whole.sum(-1), torch.ones(3, 2, 3))
    without = pieces_to_words(weights, (None, 0, 1, 2, 2, 2))
    torch.testing.assert_close(without[..., 0, :].sum(-1), 1 - weights[..., 1, 0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"query_words": QUERIES[:-1]}, "7 pieces, but 6"),
        ({"key_words": None}, "n_q=7 and n_k=9"),
        ({"query_words": (None, 0, 1, 1, True, 2, None)}, "True is no index"),
        ({"query_words": (None, 0, 1, 1, -1, 2, None)}, "-1 is no index"),
        ({"to": "max"}, "to must be"),
        ({"from_": "max"}, "from_ must be"),
        ({"n_key_words": 3}, "index 3, but there are 3 words"),
        ({"weights": torch.ones(7, 9, dtype=torch.uint8)}, "floating"),
        ({"weights": [[1.0]]}, "torch tensor"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict, said: str) -> None:
    right = {"weights": random_weights(2, 7, 9), "query_words": QUERIES, "key_words": KEYS}
    pieces_to_words(**right)
    with pytest.raises(ValueError, match=said):
        pieces_to_words(**(right | change))


def test_the_matrix_of_the_mean_averages() -> None:
    assert word_matrix((0, 2, 2, None), 4, 4, "mean").tolist() == [
        [1, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0.5, 0.5, 0],
        [0, 0, 0, 0],
    ]


def piece_maps() -> PieceMaps:
    tokens = ("[CLS]", "a", "dis", "##ap", "##pear", "now", "[SEP]")
    causal = torch.ones(7, 7, dtype=torch.bool).tril()
    weights = random_weights(2, 3, 7, 7).masked_fill(~causal, 0.0)
    maps = AttentionMaps(weights, tokens, tokens, "decoder", causal, "cut")
    return PieceMaps(maps, QUERIES, QUERIES, ("a", "disappear", "now"), ("a", "disappear", "now"))


def test_pieces_with_and_without_special_tokens() -> None:
    read = piece_maps()
    assert read.pieces() is read.maps
    without = read.pieces(special=False)
    assert without.query_tokens == without.key_tokens == ("a", "dis", "##ap", "##pear", "now")
    assert torch.equal(without.weights, read.maps.weights[..., 1:6, 1:6])
    assert torch.equal(without.allowed, read.maps.allowed[1:6, 1:6])
    assert without.note == "cut; special tokens left out, nothing rescaled"
    assert without.kind == "decoder"


def test_words_with_and_without_special_tokens() -> None:
    read = piece_maps()
    words = read.words()
    assert words.query_tokens == ("a", "disappear", "now")
    torch.testing.assert_close(words.weights, pieces_to_words(read.maps.weights, QUERIES))
    assert words.allowed.tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert "joined" in words.note and "left out" in words.note
    whole = read.words(special=True)
    assert whole.query_tokens == ("[CLS]", "a", "disappear", "now", "[SEP]")
    assert "left out" not in whole.note
    torch.testing.assert_close(whole.weights[..., 1:4, 1:4], words.weights)
    torch.testing.assert_close(whole.weights[..., 0, 0], read.maps.weights[..., 0, 0])


@pytest.mark.parametrize(
    ("of_pieces", "expected"),
    [
        ((None, 1, 3, None), ["[", "w0", "w1", "w2", "w3", "w4", "]"]),
        ((None, None), ["[", "w0", "w1", "w2", "w3", "w4", "]"]),
        ((1, 3), ["w0", "w1", "w2", "w3", "w4"]),
        ((1, 3, None), ["w0", "w1", "w2", "w3", "w4", "]"]),
        ((), ["w0", "w1", "w2", "w3", "w4"]),
    ],
)
def test_words_without_a_piece_keep_their_place(of_pieces: tuple, expected: list[str]) -> None:
    n = len(of_pieces)
    special = iter("[]" if of_pieces and of_pieces[0] is None else "]")
    tokens = tuple(next(special) if word is None else f"p{word}" for word in of_pieces)
    maps = AttentionMaps(random_weights(1, 2, n, n), tokens, tokens)
    words = tuple(f"w{i}" for i in range(5))
    found = PieceMaps(maps, of_pieces, of_pieces, words, words).words(special=True)
    assert list(found.query_tokens) == expected
    torch.testing.assert_close(found.weights.sum(), maps.weights.sum())


def test_maps_and_words_must_go_together() -> None:
    maps = piece_maps().maps
    with pytest.raises(ValueError, match="index 2, but there are 2 words"):
        PieceMaps(maps, QUERIES, QUERIES, ("a", "b"), ("a", "b", "c"))
    with pytest.raises(ValueError, match="7 pieces, but 3"):
        PieceMaps(maps, QUERIES, (0, 1, 2), ("a", "b", "c"), ("a", "b", "c"))
