"""Answers of models that are kept: for the same numbers only, and no reader changes them for the next one."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch

from mha_course.heads.ablation import without_heads
from mha_course.heads.gating import FixedGates, HeadGates, gated, noisy_heads
from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training.gloss_batches import GlossData, gloss_data
from mha_course.training.gloss_marks import gloss_marks
from mha_course.training.kept_answers import contents, kept_answers
from mha_course.training.leaderboard import held_out_loss
from mha_course.training.train_gloss import accuracy


@pytest.fixture
def model() -> GlossModel:
    return GlossModel(GlossSizes(d_model=12, h=3, d_ff=20))


def sentences(model: GlossModel) -> GlossData:
    return gloss_data(list(draw_sentences(4, 5)), model.vocabulary)


def counting() -> tuple[list[int], object]:
    asked: list[int] = []

    @kept_answers
    def ask(model: GlossModel, data: GlossData, share: float = 1.0) -> dict[str, float]:
        asked.append(1)
        return {"sum": share * model(data.ids[None])["stem"].sum().item()}

    return asked, ask


def test_the_same_numbers_answer_at_once_and_others_anew(model: GlossModel) -> None:
    asked, ask = counting()
    data = sentences(model)
    first = ask(model, data)
    assert ask(deepcopy(model), deepcopy(data)) == first and len(asked) == 1
    assert not model.training
    assert ask(model, data, share=2.0) != first and len(asked) == 2
    with without_heads(model, [(1, 2)]):
        assert ask(model, data) != first and len(asked) == 3
    with gated(model, [FixedGates(torch.tensor([1.0, 0.5, 1.0])), None]):
        assert ask(model, data) != first and len(asked) == 4
    assert ask(model, data) == first and len(asked) == 4
    data.ids[0] = data.ids[1]
    assert ask(model, data) != first and len(asked) == 5
    model.encoder.layers[1].attention.scale = 3.0
    ask(model, data)
    assert len(asked) == 6
    ask.forget()
    ask(model, data)
    assert len(asked) == 7


def test_what_a_reader_changes_stays_with_the_reader(model: GlossModel) -> None:
    data = sentences(model)
    before = accuracy(model, data)
    kept = dict(before)
    before["stem"] = 2.0
    again = accuracy(model, data)
    assert again == kept
    again.clear()
    assert accuracy(model, data) == kept
    marks = gloss_marks(model, data)
    loss = marks.loss.clone()
    marks.loss.zero_()
    assert torch.equal(gloss_marks(model, data).loss, loss)
    assert held_out_loss(model, data) == held_out_loss(deepcopy(model), data)


def test_a_model_that_may_answer_otherwise_next_time_is_always_asked(model: GlossModel) -> None:
    asked, ask = counting()
    data = sentences(model)
    with noisy_heads(model, [(1, 1)], share=0.5):
        assert ask(model, data) != ask(model, data) and len(asked) == 2
    with gated(model, [HeadGates(3, g=torch.Generator()), None]):
        assert contents(model) is None
    hook = model.parts["stem"].register_forward_hook(lambda *_: None)
    assert contents(model) is None
    hook.remove()
    assert contents(model) == contents(deepcopy(model)) is not None

    class Own(torch.nn.Module):
        def forward(self, heads: torch.Tensor) -> torch.Tensor:
            return heads

    with gated(model, [Own(), None]):
        assert contents(model) is None
    model.parts["stem"].forward = lambda x: x
    assert contents(model) is None
