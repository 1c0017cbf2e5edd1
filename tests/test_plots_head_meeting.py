"""head_meeting: line widths are the numbers, none for nothing, dashes below zero, and the words."""

from __future__ import annotations

import pytest
import torch
from matplotlib.lines import Line2D
from matplotlib.text import Text

from mha_course import plots, theme
from mha_course.layers import MultiHeadAttention
from mha_course.plots.head_meeting import LEAST, stroke_of
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.line_up import VARIANTS
from mha_course.variants.meeting import meeting
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.talking_heads import TalkingHeads


def talking(numbers: list[list[float]]) -> TalkingHeads:
    layer = TalkingHeads(6, 2)
    with torch.no_grad():
        layer.p_scores.copy_(torch.tensor(numbers))
    return layer


def lines(picture: plots.Picture) -> list[Line2D]:
    """Lines between columns; those of the legend are shorter."""
    found = [line for line in picture.figure.findobj(Line2D) if len(line.get_xdata()) == 2]
    return [line for line in found if line.get_xdata()[1] - line.get_xdata()[0] > 60]


def words(picture: plots.Picture) -> list[str]:
    return [text.get_text() for text in picture.figure.findobj(Text)]


def test_there_is_a_line_for_each_number_and_none_for_nothing() -> None:
    assert len(lines(plots.head_meeting(meeting(MultiHeadAttention(12, 4))))) == 16
    small = 0.9 * LEAST
    picture = plots.head_meeting(meeting(talking([[1.0, 0.0], [small, -0.5]])))
    assert len(lines(picture)) == 2 + 2 + 2 + 2
    dashed = [line for line in lines(picture) if line.is_dashed()]
    assert len(dashed) == 1 and dashed[0].get_color() == theme.head_colour(1)


def test_widths_are_in_proportion_on_one_scale() -> None:
    picture = plots.head_meeting(meeting(talking([[2.0, 1.0], [0.0, -0.5]])))
    found = sorted(line.get_linewidth() for line in lines(picture))
    thickest = found[-1]
    assert found[0] == pytest.approx(thickest / 4) and found.count(thickest) == 1
    assert found.count(found[1]) == 7, "all factors of 1 are alike"
    assert found[1] == pytest.approx(thickest / 2)
    assert stroke_of(0.0, 2.0) == 0 and stroke_of(0.021, 2.0) > 0
    assert {"2", "0.50", "−1"} <= set(words(picture)), "the legend says what widths mean"


def test_the_words_hold_the_numbers() -> None:
    picture = plots.head_meeting(meeting(talking([[2.0, 0.25], [0.0, -0.5]])), "Two heads", "As they are.")
    assert picture.alt.startswith("Two heads.") and picture.alt.endswith("As they are.")
    assert "scores to maps (P before): 3 of 4 links" in picture.alt
    assert "head 1 to head 1: 2; head 2 to head 2: −0.50; head 1 to head 2: 0.25" in picture.alt
    plain = plots.head_meeting(meeting(MultiHeadAttention(12, 4))).alt
    assert "scores to maps: each head for itself, factor 1" in plain and "added up" in plain


def test_heads_that_are_left_out_are_hollow_and_gates_stand_beside_their_lines() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(2)
        layer, x = MixtureOfHeads(12, 6, 2, 1), torch.randn(5, 12)
    found = meeting(layer, x, 3)
    picture = plots.head_meeting(found)
    out = [str(i + 1) for i, box in enumerate(found.columns[1].boxes) if not box.used]
    assert len(out) == 3 and f"Not computed: heads {', '.join(out)}." in picture.alt
    assert words(picture).count("routed, left out") == 3 and words(picture).count("shared") == 2
    gates = [f"{float(gate):.2f}" for gate in found.links[3].flatten() if gate != 0]
    assert all(gate in words(picture) for gate in gates)


@pytest.mark.parametrize("each", VARIANTS, ids=lambda each: each.name)
def test_every_variant_can_be_drawn_in_both_themes(each: object) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(4)
        found = meeting(each.make(24, 4, 0.0), torch.randn(5, 24), 1, (3, 0))
    picture = plots.head_meeting(found, title=each.words)
    assert picture.png("light")[:4] == picture.png("dark")[:4] == b"\x89PNG"
    assert picture._width <= 838
    width, height = picture._canvas("light").width, picture._canvas("light").height
    for line in lines(picture):
        assert all(0 <= x <= width for x in line.get_xdata())
        assert all(0 <= y <= height for y in line.get_ydata())


def test_many_features_are_drawn_without_names() -> None:
    picture = plots.head_meeting(meeting(CollaborativeHeads(96, 8, mixing="ones")))
    assert picture._height < 720 and "95" not in words(picture) and "768 of 768 links" in picture.alt


def test_only_a_meeting_is_drawn() -> None:
    with pytest.raises(TypeError, match="MultiHeadAttention"):
        plots.head_meeting(MultiHeadAttention(12, 4))
