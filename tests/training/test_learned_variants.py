"""What trained variants learned: the measure itself on planted choices, then what the lesson says."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch

from mha_course.models.course_models import load_course_model
from mha_course.training import learned_variants
from mha_course.training.gloss_without_heads import held_out_glosses
from mha_course.training.kept_rows import kept_gloss_row
from mha_course.training.leaderboard import held_out_loss
from mha_course.training.learned_variants import (
    composing_taken_away,
    heads_chosen,
    routings_of,
    talk_taken_away,
)
from mha_course.training.scored_sentences import scored_sentences


def planted(seed: int, share: float, sentences: int = 40, n: int = 9) -> tuple[list, list]:
    """Choices of 2 of 5 heads, labels "a" to "c"; a share of the tokens chooses by its label, others not."""
    g = torch.Generator().manual_seed(seed)
    favourites = {"a": (0, 1), "b": (2, 3), "c": (4, 0)}
    chosen, labels = [], []
    for _ in range(sentences):
        names = ["abc"[i] for i in torch.randint(3, (n,), generator=g)]
        rows = torch.zeros(n, 5, dtype=torch.bool)
        for row, name in zip(rows, names, strict=True):
            own = torch.rand((), generator=g) < share
            row[list(favourites[name]) if own else torch.randperm(5, generator=g)[:2]] = True
        chosen.append(rows)
        labels.append(tuple(names))
    return chosen, labels


def test_choices_by_label_are_foretold_and_random_ones_are_not() -> None:
    by_label, by_all, shuffled = learned_variants._foretold(*planted(1, share=1.0), seed=0)
    assert by_label == 1 and by_all < 0.6 and shuffled < 0.8
    by_label, by_all, shuffled = learned_variants._foretold(*planted(2, share=0.0), seed=0)
    for found in (by_label, by_all, shuffled):
        assert found == pytest.approx(0.4, abs=0.06)


def test_what_was_learned_on_the_first_half_is_asked_on_the_second() -> None:
    chosen, labels = planted(3, share=1.0)
    # In the second half every label chooses two heads further on, none of them its own favourite.
    turned = [rows.roll(2, 1) if i >= 20 else rows for i, rows in enumerate(chosen)]
    assert learned_variants._foretold(turned, labels, 0)[0] == 0


def test_a_label_that_the_first_half_lacks_gets_the_usual_heads() -> None:
    first = torch.tensor([[1, 1, 0], [1, 1, 0], [0, 1, 1]]).double()
    second = torch.tensor([[1, 1, 0], [0, 1, 1]]).double()
    assert learned_variants._share_foretold(first, ["a", "a", "b"], second, ["new", "b"]) == 1


def test_routings_are_those_of_the_layers() -> None:
    model, sentence = kept_gloss_row("mixture"), scored_sentences()[0]
    found = routings_of(model, [sentence])
    kept: list = []
    model(torch.tensor([model.vocabulary.encode(sentence.words)]), kept)
    assert [len(layer) for layer in found] == [1, 1]
    for layer, trace in zip(found, kept, strict=True):
        gates = layer[0].gates[0]
        assert gates.shape == (len(sentence.words), 8)
        # A head with gate 0 adds nothing.
        assert torch.equal(gates.T == 0, trace.contributions[0].abs().sum(-1) == 0)
    with pytest.raises(ValueError, match="without a mixture"):
        routings_of(load_course_model(), [sentence])


def test_words_of_a_class_choose_alike_beyond_the_controls() -> None:
    found = heads_chosen("upos")
    trained, untrained = found[:2], found[2:]
    assert [(one.layer, one.trained) for one in found] == [(1, True), (2, True), (1, False), (2, False)]
    for one, control in zip(trained, untrained, strict=True):
        assert one.by_label > one.by_all + 0.15 and one.by_label > one.shuffled + 0.1
        assert control.by_label < control.by_all + 0.1
        assert sum(one.shares) == pytest.approx(3)
        assert 0.3 < min(one.shares) and max(one.shares) < 0.7
    with pytest.raises(ValueError, match="label='lemma'"):
        heads_chosen("lemma")


def test_the_word_itself_tells_as_much_of_random_routers() -> None:
    found = heads_chosen("words")
    for one, control in zip(found[:2], found[2:], strict=True):
        assert one.by_label > 0.7 and control.by_label > 0.7


def test_talking_heads_without_some_talk() -> None:
    data, model = held_out_glosses(120), kept_gloss_row("talking")
    before = [p.clone() for p in model.parameters()]
    lost = talk_taken_away(data=data)
    assert lost["as trained"] == pytest.approx(held_out_loss(model, data))
    assert lost["scores not mixed"] > lost["as trained"] + 0.4
    assert lost["as trained"] < lost["weights not mixed"] < lost["as trained"] + 0.25
    assert lost["off-diagonal shuffled"] > lost["as trained"] + 0.3
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_composable_heads_without_some_branches() -> None:
    data, model = held_out_glosses(120), kept_gloss_row("composable")
    lost = composing_taken_away(data=data)
    usual = lost["as trained"]
    assert usual == pytest.approx(held_out_loss(model, data))
    assert usual < lost["without the static part"] < usual + 0.2
    assert usual + 0.2 < lost["without gates"] < lost["without low rank"] < lost["no composing"]
    assert lost["dynamic parts: another token's"] > usual + 2
    assert lost["dynamic parts: their mean"] > usual + 1
    assert "side" not in vars(model.encoder.layers[0].attention.before)


def test_replacing_what_tokens_say_by_itself_changes_nothing() -> None:
    part = kept_gloss_row("composable").encoder.layers[1].attention.after
    g = torch.Generator().manual_seed(3)
    x, maps = torch.randn(2, 5, 48, generator=g), torch.rand(2, 8, 5, 5, generator=g)
    expected = part(maps, x, x)
    made = deepcopy(part)
    learned_variants._replaced(made, lambda said: said)
    assert torch.allclose(made(maps, x, x), expected, atol=1e-6)
    learned_variants._replaced(made, torch.zeros_like)
    assert torch.allclose(made(maps, x, x), torch.einsum("bits,ij->bjts", maps, part.w_b), atol=1e-6)
