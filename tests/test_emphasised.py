"""The emphasised notice: features, groups and the HTML that shows it."""

from __future__ import annotations

import pytest
import torch

from mha_course.text.emphasised import (
    ASPECTS,
    NOTICE,
    StyledText,
    StyledWord,
    alike,
    aspect_columns,
    style_features,
)


def test_every_word_has_one_feature_in_each_aspect():
    x = style_features(NOTICE)
    assert x.shape == (11, 14)
    for columns in aspect_columns().values():
        assert torch.equal(x[:, columns].sum(-1), torch.ones(11))


def test_features_name_the_values():
    x = style_features([StyledWord("oboe", "large", "grey", "red", "italic")])
    values = [value for group in ASPECTS.values() for value in group]
    assert [values[i] for i in x[0].nonzero().flatten().tolist()] == ["large", "grey", "red", "italic"]


def test_alike_spreads_a_weight_of_one_over_words_set_alike():
    words = [StyledWord("a", colour="red"), StyledWord("b"), StyledWord("c", colour="red")]
    expected = torch.tensor([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]])
    assert torch.equal(alike(words, "colour"), expected)
    assert torch.equal(alike(words, "size"), torch.full((3, 3), 1 / 3))


def test_the_four_aspects_group_the_notice_in_four_ways():
    maps = [alike(NOTICE, aspect) for aspect in ASPECTS]
    for i, first in enumerate(maps):
        for second in maps[i + 1 :]:
            assert (first - second).abs().max() > 0.2


def test_unknown_values_and_aspects_are_refused_by_name():
    with pytest.raises(ValueError, match="colour='green'.*black, red, blue"):
        StyledWord("oboe", colour="green")
    with pytest.raises(KeyError, match="size, background, colour, style"):
        alike(NOTICE, "font")


def test_words_are_data_not_markup():
    html = StyledText([StyledWord("<img src=x onerror=alert(1)>", style="bold")])._repr_html_()
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert "font-weight:700" in html
