"""The whole Transformer: what may see what, what is kept, and writing word by word."""

from __future__ import annotations

import pytest
import torch

from mha_course.transformer import Decoder, DecoderTraces, FeedForward, Residual, TokenEmbedding, Transformer

B, N_SOURCE, N_TARGET, D_MODEL, H = 3, 7, 5, 12, 4
SOURCE_WORDS, TARGET_WORDS = 11, 13


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(SOURCE_WORDS, TARGET_WORDS, D_MODEL, H, n_layers=(2, 3), d_ff=20).double().eval()


@pytest.fixture
def pair() -> tuple[torch.Tensor, torch.Tensor]:
    g = torch.Generator().manual_seed(1)
    source = torch.randint(1, SOURCE_WORDS, (B, N_SOURCE), generator=g)
    source[1, 4:] = 0
    return source, torch.randint(1, TARGET_WORDS, (B, N_TARGET), generator=g)


def test_shapes_and_layers(model: Transformer, pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    assert model(*pair).shape == (B, N_TARGET, TARGET_WORDS)
    assert len(model.encoder.layers) == 2 and len(model.decoder.layers) == 3
    assert model.encode(pair[0]).shape == (B, N_SOURCE, D_MODEL)


def test_the_future_of_the_target_changes_nothing_before_it(model: Transformer, pair) -> None:
    source, target = pair
    other = target.clone()
    other[:, 3:] = other[:, 3:] % (TARGET_WORDS - 1) + 1
    before, after = model(source, target), model(source, other)
    torch.testing.assert_close(before[:, :3], after[:, :3])
    assert (before[:, 3:] - after[:, 3:]).abs().amax(-1).min() > 1e-3


def test_every_source_word_counts_for_every_target_word(model: Transformer, pair) -> None:
    source, target = pair
    for place in range(4):
        other = source.clone()
        other[:, place] = other[:, place] % (SOURCE_WORDS - 1) + 1
        assert (model(source, target) - model(other, target)).abs().amax(-1).min() > 1e-6


def test_padding_changes_nothing(model: Transformer, pair) -> None:
    source, target = pair
    together = model(source, target)[1]
    torch.testing.assert_close(together, model(source[1:2, :4], target[1:2])[0])


def test_remembered_keys_and_values_give_the_same(model: Transformer, pair) -> None:
    source, target = pair
    memory = model.encode(source)
    known = model.decoder.remember(memory)
    assert len(known) == 3 and known[0].k.shape == (B, H, N_SOURCE, D_MODEL // H)
    torch.testing.assert_close(model.decode(known, source, target), model.decode(memory, source, target))
    with pytest.raises(ValueError, match="2 layers, but there are 3"):
        model.decode(known[:2], source, target)
    with pytest.raises(ValueError, match="don't fit b=2"):
        model.decode(known, source[:2], target[:2])


def test_what_is_kept_is_what_was_computed(model: Transformer, pair) -> None:
    source, target = pair
    encoder, decoder = [], DecoderTraces()
    logits = model.decode(model.encode(source, encoder), source, target, decoder)
    torch.testing.assert_close(logits, model(source, target))
    assert [t.weights.shape for t in encoder] == [(B, H, N_SOURCE, N_SOURCE)] * 2
    assert [t.weights.shape for t in decoder.decoder] == [(B, H, N_TARGET, N_TARGET)] * 3
    assert [t.weights.shape for t in decoder.cross] == [(B, H, N_TARGET, N_SOURCE)] * 3
    assert decoder.cross[0].weights[1, :, :, 4:].abs().max() == 0
    assert torch.triu(decoder.decoder[0].weights, 1).abs().max() == 0


def test_attend_gives_one_set_of_maps_a_kind(model: Transformer, pair) -> None:
    source, target = pair[0][:1], pair[1][:1]
    words, written = [f"s{i}" for i in range(N_SOURCE)], [f"t{i}" for i in range(N_TARGET)]
    maps = model.attend(source, target, words, written)
    assert maps.encoder.weights.shape == (2, H, N_SOURCE, N_SOURCE) and maps.encoder.kind == "encoder"
    assert maps.decoder.weights.shape == (3, H, N_TARGET, N_TARGET) and maps.decoder.kind == "decoder"
    assert maps.cross.weights.shape == (3, H, N_TARGET, N_SOURCE) and maps.cross.kind == "cross"
    assert maps.cross.query_tokens == tuple(written) and maps.cross.key_tokens == tuple(words)
    assert maps.decoder.allowed is not None and not maps.decoder.allowed[0, 1]
    with pytest.raises(ValueError, match="one sentence pair"):
        model.attend(*pair, words, written)


def test_translating_writes_the_likeliest_word_each_time(model: Transformer, pair) -> None:
    source, start, end = pair[0][:1], 1, 2
    steps = list(model.translate(source, start, end, most=6))
    written = torch.tensor([[start, *(step.id for step in steps)]])
    # Teacher forcing on what was written gives the same probabilities in one go.
    logits = model(source, written[:, :-1])[0]
    for i, step in enumerate(steps):
        assert step.id == int(logits[i].argmax())
        torch.testing.assert_close(step.probabilities, logits[i].softmax(-1))
        assert step.cross.shape == (3, H, N_SOURCE)
        torch.testing.assert_close(step.cross.sum(-1), torch.ones(3, H, dtype=torch.float64))
    assert len(steps) == 6 or steps[-1].id == end
    assert end not in [step.id for step in steps[:-1]]


def test_translating_stops_at_the_end(model: Transformer, pair) -> None:
    with torch.no_grad():
        model.to_words.weight.zero_()
        model.to_words.bias.zero_()
        model.to_words.bias[2] = 1.0
    steps = list(model.translate(pair[0][:1], start=1, end=2))
    assert [step.id for step in steps] == [2]


def test_pre_norm_leaves_a_path_on_which_nothing_is_normalised() -> None:
    x = torch.randn(B, N_TARGET, D_MODEL, generator=torch.Generator().manual_seed(3))
    nothing = torch.zeros_like
    torch.testing.assert_close(Residual(D_MODEL, "pre")(x, nothing), x)
    after = Residual(D_MODEL, "post")(x, nothing)
    torch.testing.assert_close(after, torch.nn.functional.layer_norm(x, (D_MODEL,)))
    seen = []
    Residual(D_MODEL, "pre")(x, lambda y: seen.append(y) or y)
    torch.testing.assert_close(seen[0].mean(-1), torch.zeros(B, N_TARGET), atol=1e-6, rtol=0)
    with pytest.raises(ValueError, match="'before' must be"):
        Residual(D_MODEL, "before")


def test_feed_forward_treats_each_token_by_itself() -> None:
    torch.manual_seed(4)
    layer, x = FeedForward(D_MODEL, 20), torch.randn(B, N_TARGET, D_MODEL)
    shuffled = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(layer(x)[:, shuffled], layer(x[:, shuffled]))
    by_hand = (x @ layer.w_1.weight.T + layer.w_1.bias).clamp(min=0) @ layer.w_2.weight.T + layer.w_2.bias
    torch.testing.assert_close(layer(x), by_hand)


def test_embeddings_know_word_and_place() -> None:
    torch.manual_seed(5)
    read = TokenEmbedding(SOURCE_WORDS, D_MODEL)
    x = read(torch.tensor([[3, 3, 5]]))
    assert (x[0, 0] - x[0, 1]).abs().max() > 0.1
    assert (x[0, 1] - x[0, 2]).abs().max() > 0.1
    with pytest.raises(ValueError, match="even"):
        TokenEmbedding(SOURCE_WORDS, 13)(torch.tensor([[1]]))


def test_sizes_are_checked() -> None:
    with pytest.raises(ValueError, match="n_layers=0"):
        Decoder(0, D_MODEL, H)
    with pytest.raises(ValueError, match="h can be 1, 2, 3, 4, 6 or 12"):
        Transformer(SOURCE_WORDS, TARGET_WORDS, D_MODEL, 5)
