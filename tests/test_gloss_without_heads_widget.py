"""GlossWithoutHeads: the gloss with and without heads, against the model itself and the right glosses."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.ablation import without_heads
from mha_course.models.course_models import load_course_model
from mha_course.models.glossing import held_out_sentences, in_letters, right_gloss, write_gloss
from mha_course.text.course_language.gloss import PARTS, gloss, written
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training.gloss_without_heads import accuracy_without, held_out_glosses, role_groups
from mha_course.training.record import TESTING_SEED
from mha_course.widgets import GlossWithoutHeads
from mha_course.widgets.gloss_without_heads import SENTENCES, cards, examples


def test_the_right_glosses_are_those_of_the_held_out_sentences() -> None:
    drawn = list(draw_sentences(7, TESTING_SEED))
    assert [right_gloss(sentence.words) for sentence in drawn] == [gloss(sentence) for sentence in drawn]
    assert right_gloss("the cat sees a cat that sees a cat .".split()) is None
    assert all(right_gloss(text.split()) is not None for text in examples())
    assert len(held_out_sentences()) == 400


def test_a_gloss_is_the_likeliest_class_of_each_part() -> None:
    model, words = load_course_model(), examples()[1].split()
    found = write_gloss(model, words)
    with torch.no_grad():
        logits = model(torch.tensor([model.vocabulary.encode(words)]))
    for part in PARTS:
        assert getattr(found, part) == tuple(logits[part][0].argmax(-1).tolist())
    letters = in_letters(found, 2)
    assert letters["word"] == written(found, 2) and set(letters) == {*PARTS, "word"}
    with pytest.raises(ValueError, match="no word"):
        write_gloss(model, [])


def test_cards_accuracies_and_groups_are_those_of_the_model() -> None:
    off = role_groups()["previous word"]
    widget = GlossWithoutHeads(removed=off)
    answer, words = widget.answer, examples()[0].split()
    assert answer["words"] == words and answer["gold"]
    assert answer["off"] == [list(head) for head in off]
    before = write_gloss(load_course_model(), words)
    changed = load_course_model()
    with without_heads(changed, off):
        after = write_gloss(changed, words)
    assert answer["cards"] == cards(before, after, right_gloss(words), len(words))
    data = held_out_glosses(SENTENCES)
    assert answer["left"] == pytest.approx(accuracy_without(off, data))
    assert answer["whole"] == pytest.approx(accuracy_without((), data))
    assert answer["left"]["mutation"] < answer["whole"]["mutation"] - 0.05
    assert answer["random"] is None


def test_the_shared_model_is_left_alone() -> None:
    model = load_course_model()
    kept = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    widget = GlossWithoutHeads(removed=[(1, 2), (2, 7), (1, 7)])
    widget.removed = [[1, 1]]
    assert all(torch.equal(tensor, kept[name]) for name, tensor in model.state_dict().items())
    assert widget.answer["off"] == [[1, 1]]


def test_random_groups_stand_beside_when_asked_for() -> None:
    widget = GlossWithoutHeads(removed=[(1, 7), (2, 1)], against=True, seed=4)
    random = widget.answer["random"]
    assert random["groups"] == 3
    assert all(random["least"][part] <= random["mean"][part] <= 1 for part in PARTS)
    widget.removed = []
    assert widget.answer["random"] is None and widget.answer["left"] == widget.answer["whole"]
    # More than half of the heads: there aren't as many others, so the groups come from all.
    widget.removed = [[layer, head] for layer in (1, 2) for head in range(1, 8)]
    assert widget.answer["random"]["groups"] == 3


def test_words_from_elsewhere() -> None:
    widget = GlossWithoutHeads(sentence="The <b>ocelot</b> sees 猫 $x$ .", removed=[(2, 2)])
    assert not widget.answer["gold"] and all(card["stem"][2] is None for card in widget.answer["cards"])
    assert "<" in widget.answer["words"] and len(widget.answer["unknown"]) > 3
    widget.sentence = "cat " * 60
    assert len(widget.answer["words"]) == 24 and widget.answer["cut"] == 60
    widget.sentence = "  "
    assert widget.answer["cards"] == [] and "without a sentence" in widget.alt


def test_still_and_words() -> None:
    widget = GlossWithoutHeads(removed=[(2, 2), (2, 4)])
    data, metadata = widget._repr_mimebundle_()
    assert metadata["image/png"]["alt"] == widget.alt == data["text/plain"]
    assert "layer 2 head 2, layer 2 head 4" in widget.alt and "mutation" in widget.alt
    with pytest.raises(ValueError, match="2 layers of 8 heads"):
        GlossWithoutHeads(removed=[(3, 1)])
