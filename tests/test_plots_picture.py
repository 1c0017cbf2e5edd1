"""Picture: words for those who can't see it, two themes, nothing global touched, nothing clipped."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib.text import Text
from PIL import Image

from mha_course import plots, theme
from mha_course.plots import drawn_once, png
from mha_course.plots.canvas import Canvas
from mha_course.plots.picture import Picture, framed

HOSTILE = '"><script>alert(1)</script>'
TOKENS = ["my", "friend", "antidisestablishment", "plays", "the", "oboe", "."]


def weights(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.softmax(2 * torch.randn(*shape, generator=generator), dim=-1)


EVERY_KIND: dict[str, Callable[[], Picture]] = {
    "heatmap": lambda: plots.heatmap(weights(7, 7), TOKENS, title="One head", note="Random weights. " * 12),
    "heatmap, wide": lambda: plots.heatmap(weights(3, 7), TOKENS[:3], TOKENS, title="A long finding " * 9),
    "heatmap, 90 tokens": lambda: plots.heatmap(weights(90, 90), (TOKENS * 13)[:90]),
    "head grid": lambda: plots.head_grid(weights(2, 8, 7, 7), TOKENS, title="Eight heads"),
    "head grid, long": lambda: plots.head_grid(weights(5, 24, 24), (TOKENS * 4)[:24], note="Five heads."),
    "matrix": lambda: plots.matrix(
        weights(3, 7) - 0.3, TOKENS[:3], TOKENS, row_name="query ↓", column_name="key →"
    ),
    "matrix, plain": lambda: plots.matrix(weights(16, 60) - 0.02, title="W_O"),
    "matrices": lambda: plots.matrices(
        {"x": weights(3, 4), "W": weights(4, 2), "x W": weights(3, 2)}, ["·", "="]
    ),
    "blocks": lambda: plots.blocks(torch.arange(60).view(5, 12), [0] * 4 + [1] * 4 + [2] * 4, highlight=2),
    "blocks of heads": lambda: plots.blocks(torch.arange(60).view(3, 5, 4), title="Three heads"),
    "split": lambda: plots.split_picture(12, 3),
    "split, falling": lambda: plots.split_picture(48, 12, token=1, n=4),
    "layer map": lambda: plots.layer_map("weights"),
    "layer map, whole": lambda: plots.layer_map(),
    "block map": lambda: plots.layer_map("block"),
    "lines": lambda: plots.lines(
        [2, 4, 8, 16, 32, 64], {f"series {i}": [i / 99 + 1 / d for d in range(1, 7)] for i in range(9)},
        title="Nine series that end close together", x_label="d_k", y_label="entropy", log_x=True,
    ),
    "bars": lambda: plots.bars(
        ["a", "a much longer name than usual", "c"], [0.1, 0.999, 0.5], "Bars", "share",
        baseline=0.99, errors=[0.1] * 3,
    ),
    "scatter": lambda: plots.scatter(
        torch.linspace(0, 1, 30) ** 3, torch.linspace(1e-4, 30, 30), [f"L2H{i}" for i in range(30)],
        ["previous word", "next word", "no role"] * 10, "Thirty heads", "importance", "cost", log_y=True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("which", ["light", "dark"])
def test_no_text_is_clipped(kind: str, which: theme.Theme) -> None:
    canvas = EVERY_KIND[kind]()._canvas(which)
    canvas.figure.canvas.draw()
    texts = canvas.figure.findobj(Text)
    assert sum(bool(text.get_text()) for text in texts) >= 3
    for text in texts:
        if text.get_text():
            box = text.get_window_extent()
            inside = (
                box.x0 >= 0 and box.y0 >= 0 and box.x1 <= canvas.width * 2 and box.y1 <= canvas.height * 2
            )
            assert inside, f"{text.get_text()!r} leaves the picture: {box}"


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_level_words_do_not_overlap(kind: str) -> None:
    canvas = EVERY_KIND[kind]()._canvas("light")
    canvas.figure.canvas.draw()
    level = [t for t in canvas.figure.findobj(Text) if t.get_text() and t.get_rotation() == 0]
    boxes = [text.get_window_extent() for text in level]
    for i, one in enumerate(boxes):
        for j in range(i):
            other = boxes[j]
            wide = min(one.x1, other.x1) - max(one.x0, other.x0)
            high = min(one.y1, other.y1) - max(one.y0, other.y0)
            names = (level[i].get_text(), level[j].get_text())
            # Boxes hold the room for descenders: a pixel or two of it may be shared.
            assert wide <= 2 or high <= 4, f"{names} overlap by {wide:.0f} x {high:.0f} device px"


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_every_picture_has_words_and_two_themes_of_moderate_size(kind: str) -> None:
    picture = EVERY_KIND[kind]()
    assert len(picture.alt) > 40
    light, dark = (pixels(picture.png(which)) for which in ("light", "dark"))
    assert light.shape == dark.shape
    assert light.mean() > 150 > 80 > dark.mean()
    assert np.array_equal(light[0, 0], [255, 255, 255]) and np.array_equal(dark[0, 0], [0x15, 0x17, 0x1C])
    assert max(len(picture.png("light")), len(picture.png("dark"))) < 100_000


class Images(HTMLParser):
    """Every element with its attributes, as a browser would read them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_html_holds_two_images_of_which_one_is_hidden() -> None:
    html = EVERY_KIND["bars"]()._repr_html_()
    elements = Images(html).found
    assert [tag for tag, _ in elements] == ["style", "img", "img"]
    light, dark = (attributes for tag, attributes in elements if tag == "img")
    assert light["alt"] == dark["alt"] and "0.999" not in light["class"]
    assert "display: block" in light["style"] and "display: none" in dark["style"]
    assert all("max-width: 100%" in image["style"] for image in (light, dark))
    assert '[data-jp-theme-light="false"] .mha-picture-light{display:none!important}' in html
    data = [image["src"].removeprefix("data:image/png;base64,") for image in (light, dark)]
    assert data[0] != data[1] and all(re.fullmatch(r"[A-Za-z0-9+/=]+", one) for one in data)


def test_the_dark_twin_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    both = EVERY_KIND["bars"]()._repr_html_()
    monkeypatch.setenv("MHA_COURSE_PICTURES", "light")
    alone = EVERY_KIND["bars"]()._repr_html_()
    assert [tag for tag, _ in Images(alone).found] == ["img"] and alone in both
    assert 0.4 < len(alone) / len(both) < 0.6, "half as large"
    monkeypatch.setenv("MHA_COURSE_PICTURES", "both")
    assert EVERY_KIND["bars"]()._repr_html_() == both


def test_image_has_two_device_pixels_for_each_css_pixel() -> None:
    picture = EVERY_KIND["heatmap"]()
    width = int(Images(picture._repr_html_()).found[1][1]["width"])
    assert pixels(picture.png()).shape[1] == 2 * width
    # On a narrow or enlarged page labels of 11 px never shrink below 8.5 px.
    least = int(re.search(r"min-width: (\d+)px", picture._repr_html_()).group(1))
    assert 11 * least / width >= 8.45 and "max-width: 100%" in picture._repr_html_()


@pytest.mark.parametrize("where", ["token", "title", "note", "series"])
def test_hostile_words_stay_words(where: str) -> None:
    tokens = ["a", HOSTILE if where == "token" else "b", "c"]
    title = HOSTILE if where == "title" else None
    note = HOSTILE if where == "note" else None
    picture = plots.heatmap(weights(3, 3), tokens, title=title, note=note)
    if where == "series":
        picture = plots.lines([1, 2, 5], {HOSTILE: [1, 2, 3]})
    elements = Images(picture._repr_html_()).found
    assert [tag for tag, _ in elements] == ["style", "img", "img"]
    assert HOSTILE in elements[1][1]["alt"]


def test_mimebundle_holds_html_and_words_only() -> None:
    picture = EVERY_KIND["layer map"]()
    bundle = picture._repr_mimebundle_()
    # JupyterLab drops the alt text of an image/png, so there is none.
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == f"Picture: {picture.alt}"


def test_no_alt_no_picture() -> None:
    with pytest.raises(ValueError, match="alternative text"):
        Picture(lambda canvas: None, 40, 30, "  \n ")


def test_save_writes_the_theme_asked_for(tmp_path: Path) -> None:
    picture = EVERY_KIND["bars"]()
    picture.save(tmp_path / "light.png")
    picture.save(str(tmp_path / "dark.png"), theme="dark")
    assert (tmp_path / "light.png").read_bytes() == picture.png("light") != picture.png("dark")
    assert (tmp_path / "dark.png").read_bytes() == picture.png("dark")
    with pytest.raises(ValueError, match="picture.pdf"):
        picture.save(tmp_path / "picture.pdf")


def test_pyplot_is_never_imported() -> None:
    code = (
        "import sys\nfrom mha_course import plots\n"
        "plots.layer_map('split')._repr_html_()\n"
        "plots.lines([1, 2], {'a': [1, 2]})._repr_html_()\n"
        "plots.heatmap([[0.2, 0.8], [1, 0]], ['三月', '🎉'])._repr_html_()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "drawing wrote warnings to stderr"


def test_student_settings_neither_change_nor_are_changed() -> None:
    plain = EVERY_KIND["bars"]().png()
    before = dict(matplotlib.rcParams)
    red = dict.fromkeys(("figure.facecolor", "text.color", "axes.facecolor", "hatch.color"), "red")
    changed = red | {"font.size": 31, "lines.linewidth": 9, "figure.autolayout": True, "savefig.dpi": 33}
    drawn_once.forget()
    with matplotlib.rc_context(changed):
        assert EVERY_KIND["bars"]().png() == plain
    assert dict(matplotlib.rcParams) == before


def test_drawing_leaves_global_random_numbers_alone() -> None:
    from mha_course.plots import layer_stages

    layer_stages.small_trace.cache_clear()
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    drawn_once.forget()
    plots.layer_map("block").png()
    assert torch.equal(torch.rand(3), expected)


def test_four_threads_draw_the_same_as_one() -> None:
    alone = {kind: EVERY_KIND[kind]().png() for kind in ("bars", "lines", "matrix", "blocks")}
    drawn_once.forget()
    found: dict[str, bytes] = {}
    threads = [
        threading.Thread(target=lambda k=kind: found.update({k: EVERY_KIND[k]().png()})) for kind in alone
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == alone


def test_title_and_note_stand_in_the_alt_text_once() -> None:
    picture = framed(lambda canvas, x, y: None, 300, 40, "What is seen", "A finding", "n = 12, 3 seeds")
    assert picture.alt == "A finding. What is seen. n = 12, 3 seeds."


def test_dollars_are_no_formula() -> None:
    drawn = plots.heatmap(weights(2, 2), ["$x_1$", "$\\frac{1}$"], title="costs $5 and $6")
    texts = [text.get_text() for text in drawn.figure.findobj(Text)]
    assert "$x_1$" in texts and "costs $5 and $6" in texts
    drawn.png()  # a broken formula would raise here


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def test_palette_keeps_areas_exactly_and_letters_nearly() -> None:
    canvas = Canvas(420, 230)
    ramp = theme.sequential("light")
    for i in range(120):
        canvas.rect(10 + 26 * (i % 15), 10 + 24 * (i // 15), 25, 23, ramp[2 * i])
    for i in range(40):
        colour = theme.head_colour(i, "light")
        canvas.text(12 + 95 * (i % 4), 12 + 21 * (i // 4), f"Words {i}", 13, colour)
    canvas.figure.canvas.draw()
    full = np.asarray(canvas.figure.canvas.buffer_rgba())[..., :3].astype(int)
    small = pixels(png.encode(canvas.figure))
    assert len(np.unique(full.reshape(-1, 3), axis=0)) > 1000
    assert len(np.unique(small.reshape(-1, 3), axis=0)) <= 256
    error = np.abs(full - small).max(axis=-1)
    assert error.max() <= 32
    values, counts = np.unique(full.reshape(-1, 3), axis=0, return_counts=True)
    for colour in values[counts > 400]:
        assert error[(full == colour).all(axis=-1)].max() == 0
