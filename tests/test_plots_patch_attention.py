"""patch_attention: which numbers it draws, where, and what it refuses."""

from __future__ import annotations

import pytest
import torch
from matplotlib.image import AxesImage
from matplotlib.text import Text

from mha_course import theme as themes
from mha_course.attention_maps import AttentionMaps
from mha_course.plots import patch_attention
from mha_course.plots.attention_map import rgb_table


def children(picture: object) -> list:
    """Everything that the light picture is made of, in the order of drawing."""
    return picture.figure.axes[0].get_children()


def texts(picture: object) -> list[str]:
    return [child.get_text() for child in children(picture) if isinstance(child, Text)]


@pytest.fixture
def maps() -> torch.Tensor:
    """Two layers of three heads over nine patches."""
    g = torch.Generator().manual_seed(4)
    return torch.randn(2, 3, 9, 9, generator=g).mul(2).softmax(-1)


@pytest.fixture
def image() -> torch.Tensor:
    return torch.rand(6, 6, generator=torch.Generator().manual_seed(5))


def test_every_head_is_drawn_from_the_row_of_the_chosen_patch(
    maps: torch.Tensor, image: torch.Tensor
) -> None:
    picture = patch_attention(image, maps, patch=5, layer=1, vmax=1.0)
    tables = [child.get_array() for child in children(picture) if isinstance(child, AxesImage)]
    tables = [table for table in tables if table.shape == (3, 3, 3)]
    assert len(tables) == 3
    ramp = rgb_table(themes.sequential("light"))
    for head, table in enumerate(tables):
        shade = (255 * maps[1, head, 5].view(3, 3)).round().int().numpy()
        shade[maps[1, head, 5].view(3, 3).numpy() < 0.004] = 0
        assert (table == ramp[shade]).all()


def test_without_a_patch_it_is_the_mean_of_all_rows(maps: torch.Tensor, image: torch.Tensor) -> None:
    picture = patch_attention(image, maps[0])
    mean = maps[0].mean(1)
    best = int(mean[2].argmax())
    assert f"head 3: row {best // 3 + 1} column {best % 3 + 1} {mean[2, best]:.2f}" in picture.alt
    assert "the mean of all patches" in picture.alt and "An even share would be 0.11" in picture.alt


def test_names_and_note_come_from_the_maps_and_layers_are_named(
    maps: torch.Tensor, image: torch.Tensor
) -> None:
    names = tuple(f"p{i}" for i in range(9))
    picture = patch_attention(image, AttentionMaps(maps, names, names, note="a made-up model"), patch=7)
    assert "patch p7, which is ringed" in picture.alt and "a made-up model" in picture.alt
    assert "layer 2 head 3: p" in picture.alt
    assert {"layer 1", "layer 2"} <= set(texts(picture))
    one = patch_attention(image, AttentionMaps(maps, names, names), layer=1)
    assert "layer 2" in texts(one) and "layer 1" not in texts(one)


def test_the_scale_ends_in_the_largest_weight_shown(maps: torch.Tensor, image: torch.Tensor) -> None:
    picture = patch_attention(image, maps, patch=2, layer=0)
    assert f"{maps[0, :, 2].max():.2f}" in texts(picture)


def test_both_themes_can_be_drawn_and_differ(maps: torch.Tensor, image: torch.Tensor) -> None:
    picture = patch_attention(image, maps)
    assert picture.png("light") != picture.png("dark")


@pytest.mark.parametrize("h", [1, 5, 12, 16])
def test_no_picture_is_wider_than_a_page(h: int, image: torch.Tensor) -> None:
    maps = torch.full((2, h, 9, 9), 1 / 9)
    assert patch_attention(image, maps).figure.get_figwidth() * 100 <= 838


def test_what_it_refuses(maps: torch.Tensor, image: torch.Tensor) -> None:
    for wrong, words in (
        ({"image": image[:5]}, r"image must be \(side, side\)"),
        ({"image": image[:4, :4]}, "9 patches can't be the squares"),
        ({"maps": maps[..., :8, :8]}, "8 patches can't be the squares"),
        ({"maps": maps[0, 0]}, r"maps must be \(layers, h, n, n\)"),
        ({"maps": maps + 1}, "between 0 and 1"),
        ({"patch": 9}, "patch=9: there are 9, from 0 to 8"),
        ({"layer": 2}, "layer=2: there are 2, from 0 to 1"),
        ({"vmax": 0.0}, "vmax"),
    ):
        with pytest.raises(ValueError, match=words):
            patch_attention(**({"image": image, "maps": maps} | wrong))
