"""Models beyond the lengths they were trained on, and rotary positions."""

from __future__ import annotations

import math

import pytest
import torch

from mha_course.models.beyond_length import TESTED, TRAINED, VOCABULARY, accuracy_from, train_on_short
from mha_course.models.course_models import load_course_model
from mha_course.positions import angular_frequencies, position_kernel, rotate_by_position
from mha_course.text.course_language.gloss import PARTS, gloss
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training.record import TRAINING_SEED
from mha_course.training.train_gloss import Recipe


def test_rotary_products_depend_on_the_distance_only() -> None:
    generator = torch.Generator().manual_seed(0)
    n, d_k = 7, 10
    q, k = torch.randn(2, d_k, dtype=torch.float64, generator=generator)
    rows = rotate_by_position(q.expand(3, n, d_k)), rotate_by_position(k.expand(3, n, d_k))
    scores = rows[0] @ rows[1].mT
    for offset in range(-n + 1, n):
        along = scores[0].diagonal(offset)
        assert torch.allclose(along, along[0].expand_as(along), atol=1e-12)
    later = rotate_by_position(q.expand(n, d_k), 90) @ rotate_by_position(k.expand(n, d_k), 90).T
    assert torch.allclose(later, scores[0], atol=1e-10)
    assert torch.allclose(rows[0].norm(dim=-1), q.norm().expand(3, n), atol=1e-12)
    assert not torch.allclose(scores[0], scores[0].T)


def test_rotary_with_one_content_for_all_is_the_kernel() -> None:
    n, d_k = 9, 6
    same = torch.tensor([1.0, 0.0], dtype=torch.float64).repeat(d_k // 2).expand(n, d_k)
    scores = rotate_by_position(same) @ rotate_by_position(same).T
    p = torch.arange(n)
    assert torch.allclose(scores, position_kernel(p[:, None] - p, d_k), atol=1e-12)
    with pytest.raises(ValueError, match="even"):
        rotate_by_position(torch.ones(n, 5))


def test_rotation_by_hand() -> None:
    x = torch.tensor([[1.0, 0.0, 0.0, 2.0]] * 3, dtype=torch.float64)
    turned = rotate_by_position(x)
    two, slow = torch.tensor(2.0, dtype=torch.float64), torch.tensor(0.02, dtype=torch.float64)
    expected = torch.stack([two.cos(), two.sin(), -2 * slow.sin(), 2 * slow.cos()])
    assert torch.allclose(turned[2], expected, atol=1e-12) and torch.equal(turned[0], x[0])


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "rotary"])
def test_what_is_learned_on_short_sentences_reaches_so_far(kind: str) -> None:
    before = torch.random.get_rng_state()
    trial = train_on_short(kind, seed=1)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert trial.right.shape == (TESTED,) and trial.right[0].isnan()
    within, beyond = trial.right[1:TRAINED].mean(), trial.right[TRAINED:].mean()
    assert trial.losses[-1] < 0.2 < trial.losses[0]
    assert within > 0.75
    chance = 1 / VOCABULARY
    low, high = {"sinusoidal": (1.5 * chance, 0.6), "learned": (0, 2 * chance), "rotary": (0.85, 1)}[kind]
    assert low <= beyond <= high


def test_rotary_heads_take_a_key_63_places_off_for_the_word_before() -> None:
    """Rows 1 to 17 have one 62 ahead, rows 64 to 79 one 64 back; the rows between have none."""
    turns = 63 * angular_frequencies(16)[:3].double() / (2 * math.pi)
    assert (turns[[0, 2]] - turns[[0, 2]].round()).abs().max() < 0.03 < (turns[1] - turns[1].round()).abs()
    right = train_on_short("rotary", seed=1).right
    ahead, none, back = right[1:18].mean(), right[18:64].mean(), right[64:].mean()
    assert ahead + 0.05 < none and back + 0.02 < none


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="rotary"):
        train_on_short("relative")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_lesson_8_says_of_the_course_model(seed: int) -> None:
    model = load_course_model(seed=seed)
    sentences = [s for s in draw_sentences(600, seed=987) if len(s.words) <= 8]
    found = {start: accuracy_from(model, sentences, start) for start in (0, 16, 24, 100)}
    assert min(found[0].values()) > 0.99
    for part in ("mutation", "liaison"):
        assert found[16][part] > 0.99 and found[24][part] < 0.85 < 0.9 < found[100][part]
    assert min(one["stem"] for one in found.values()) > 0.97
    maps = model.attend("every rather young drummer carries a small old book .".split()).weights
    looked = maps.argmax(-1)[..., 1:]
    assert (looked == torch.arange(looked.shape[-1])).float().mean(-1).max() == 1


def test_none_of_the_sentences_of_lesson_8_was_trained_on() -> None:
    trained_on = {s.words for s in draw_sentences(Recipe().sentences, TRAINING_SEED)}
    short = [s.words for s in draw_sentences(600, seed=987) if len(s.words) <= 8]
    assert len(short) > 100 and not trained_on & set(short)


def test_the_course_model_where_it_was_trained_and_beyond() -> None:
    sentences = [s for s in draw_sentences(300, seed=41) if len(s.words) <= 9]
    model = load_course_model()
    at_home, far = (accuracy_from(model, sentences, start) for start in (0, 40))
    assert min(at_home.values()) > 0.99
    assert far["mutation"] < 0.9 < far["stem"]  # what the word before decides, and what the word itself does
    one = sentences[0]
    ids = torch.tensor([model.vocabulary.encode(one.words)])
    for part in PARTS:
        wanted = torch.tensor(getattr(gloss(one), part))[1:]
        share = (model(ids)[part].argmax(-1)[0, 1:] == wanted).float().mean().item()
        assert accuracy_from(model, [one], 0)[part] == pytest.approx(share)
    with pytest.raises(ValueError, match="no sentences"):
        accuracy_from(model, [], 0)
