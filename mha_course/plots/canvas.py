"""A canvas measured in CSS pixels: every picture is put together from these few marks."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyBboxPatch, Polygon, Rectangle
from matplotlib.text import Text

from mha_course import theme as themes
from mha_course.plots import fonts
from mha_course.plots.drawn_once import Marks, drawn_once, mark
from mha_course.plots.png import encode

# A CSS pixel is a hundredth of an inch here, and pictures are drawn at twice that: sharp at 150 % zoom.
PIXELS_PER_INCH = 100
SHARPNESS = 2
_POINTS = 72 / PIXELS_PER_INCH


class Canvas:
    """A figure of width x height CSS pixels, y downwards, in the colours of one theme.

    Marks are kept and drawn when the figure is asked for: a picture that was drawn before, as when a cell
    runs again, is not drawn again. Nothing touches pyplot or the global rcParams, so a picture can be
    drawn on any thread.
    """

    def __init__(self, width: float, height: float, theme: themes.Theme = "light") -> None:
        self.width, self.height, self.theme = math.ceil(width), math.ceil(height), theme
        self.colours = themes.colours(theme)
        self._marks: Marks = []
        self._figure: Figure | None = None

    @property
    def figure(self) -> Figure:
        """The Matplotlib figure with all marks so far; it belongs to no pyplot window."""
        if self._figure is None:
            self._figure = Figure(
                figsize=(self.width / PIXELS_PER_INCH, self.height / PIXELS_PER_INCH),
                dpi=PIXELS_PER_INCH * SHARPNESS,
                facecolor=self.colours["surface"],
                edgecolor="none",
                layout="none",
            )
            FigureCanvasAgg(self._figure)
            self._axes = self._figure.add_axes((0, 0, 1, 1), xlim=(0, self.width), ylim=(self.height, 0))
            self._axes.set_axis_off()
            for name, given, named in self._marks:
                getattr(Canvas, name).__wrapped__(self, *given, **named)
        return self._figure

    def png(self) -> bytes:
        """The picture as a PNG file; drawn once for the same marks, as long as this Python lives."""
        same = (self.width, self.height, self.theme, fonts._fonts_installed(), self._marks)
        return drawn_once(same, lambda: encode(self.figure))

    def colour(self, name: str) -> str:
        """The hex colour of a token such as "ink2"; a hex colour is given back as it is."""
        return name if name.startswith("#") else self.colours[name]

    @mark
    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 12,
        colour: str = "ink2",
        ha: str = "left",
        bold: bool = False,
        code: bool = False,
        turn: float = 0.0,
    ) -> None:
        """One line of text. Level text has the middle of its letters at y, turned text its base line."""
        shown, font = fonts.font_for(text, size, bold, code)
        if not shown:
            return
        # Letters are about 0.72 of the size high: half of that below the middle is the base line.
        baseline = y if turn else y + 0.36 * size
        self._axes.add_artist(
            Text(
                x,
                baseline,
                shown,
                color=self.colour(colour),
                fontproperties=font,
                horizontalalignment=ha,
                verticalalignment="baseline",
                rotation=turn,
                rotation_mode="anchor",
                parse_math=False,
                usetex=False,
                zorder=6,
            )
        )

    @mark
    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str | None = None,
        edge: str | None = None,
        stroke: float = 1.0,
        radius: float = 0.0,
        z: float = 2.0,
    ) -> None:
        """A rectangle, with round corners if a radius is given."""
        style = {
            "facecolor": self.colour(fill) if fill else "none",
            "edgecolor": self.colour(edge) if edge else "none",
            "linewidth": stroke * _POINTS if edge else 0,
            "zorder": z,
        }
        if radius:
            box = f"round,pad=0,rounding_size={radius}"
            self._axes.add_artist(FancyBboxPatch((x, y), width, height, boxstyle=box, **style))
        else:
            self._axes.add_artist(Rectangle((x, y), width, height, **style))

    @mark
    def circle(
        self, x: float, y: float, radius: float, fill: str, edge: str, stroke: float = 1.0, z: float = 4.0
    ) -> None:
        """A disc with an outline."""
        self._axes.add_artist(
            Circle(
                (x, y),
                radius,
                facecolor=self.colour(fill),
                edgecolor=self.colour(edge),
                linewidth=stroke * _POINTS,
                zorder=z,
            )
        )

    @mark
    def line(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        colour: str = "edge",
        stroke: float = 1.0,
        dash: Sequence[float] | None = None,
        z: float = 3.0,
    ) -> None:
        """A line through points; dash: on and off lengths in px."""
        style = "-" if dash is None else (0, tuple(d / stroke for d in dash))
        round_ends = dash is None and stroke > 1.2
        self._axes.add_artist(
            Line2D(
                xs,
                ys,
                color=self.colour(colour),
                linewidth=stroke * _POINTS,
                linestyle=style,
                solid_capstyle="round" if round_ends else "butt",
                dash_capstyle="butt",
                solid_joinstyle="round",
                marker="",
                zorder=z,
            )
        )

    @mark
    def lines(self, segments: list[tuple], colour: str = "edge", stroke: float = 1.0, z: float = 3.0) -> None:
        """Many straight lines ((x0, y0), (x1, y1)) at once."""
        if segments:
            width = stroke * _POINTS
            self._axes.add_artist(
                LineCollection(
                    segments, colors=self.colour(colour), linewidths=width, linestyles="solid", zorder=z
                )
            )

    @mark
    def marker(self, x: float, y: float, shape: str, size: float, fill: str, edge: str = "surface") -> None:
        """A data point: a Matplotlib marker with an outline that lifts it off the line."""
        self._axes.add_artist(
            Line2D(
                [x],
                [y],
                marker=shape,
                markersize=size * _POINTS,
                markerfacecolor=self.colour(fill),
                markeredgecolor=self.colour(edge),
                markeredgewidth=1.2 * _POINTS,
                linestyle="none",
                zorder=5,
            )
        )

    @mark
    def area(self, points: Sequence[tuple[float, float]], fill: str, alpha: float, z: float = 2.0) -> None:
        """A filled polygon without outline, such as the band around a line."""
        self._axes.add_artist(
            Polygon(points, closed=True, facecolor=self.colour(fill), edgecolor="none", alpha=alpha, zorder=z)
        )

    @mark
    def cells(self, x: float, y: float, width: float, height: float, rgb: np.ndarray) -> None:
        """A table of colours (rows, columns, 3), 0 to 255, filling the rectangle; never smoothed."""
        image = AxesImage(self._axes, interpolation="nearest", origin="upper", zorder=1.0)
        image.set_extent((x, x + width, y + height, y))
        image.set_data(rgb.astype(np.uint8))
        self._axes.add_artist(image)
        self._axes.set(xlim=(0, self.width), ylim=(self.height, 0))

    def hatch(self, x: float, y: float, width: float, height: float) -> None:
        """Lines at 45 degrees, 6 px apart and in step over the whole picture: "not allowed"."""
        segments = []
        step = 8  # along an axis, which is close to 6 px across the lines
        for total in range(math.ceil((x + y) / step) * step, math.floor(x + y + width + height) + 1, step):
            left, right = max(x, total - y - height), min(x + width, total - y)
            if right > left:
                segments.append(((left, total - left), (right, total - right)))
        self.lines(segments, "edge", 1.0, z=2.0)

    def chip(self, x: float, y: float, head: int, size: float = 16) -> None:
        """The rounded chip of a head, counted from 0, showing its number from 1; (x, y) is its upper left."""
        fill = themes.head_colour(head, self.theme)
        self.rect(x, y, size, size, fill, radius=4, z=4)
        numeral = str(head + 1)
        self.text(
            x + size / 2,
            y + size / 2,
            numeral,
            11 if len(numeral) == 1 else 9.5,
            themes.text_on(fill),
            ha="center",
            bold=True,
        )

    def arrow(
        self, x0: float, y0: float, x1: float, y1: float, colour: str = "ink2", stroke: float = 1.5
    ) -> None:
        """A line with an open head at (x1, y1)."""
        self.line([x0, x1], [y0, y1], colour, stroke)
        way = math.atan2(y1 - y0, x1 - x0)
        barbs = [(x1 - 6 * math.cos(way + turn), y1 - 6 * math.sin(way + turn)) for turn in (0.6, -0.6)]
        self.line([barbs[0][0], x1, barbs[1][0]], [barbs[0][1], y1, barbs[1][1]], colour, stroke)


@lru_cache(maxsize=4096)
def _measured(text: str, size: float, bold: bool, code: bool, fonts_installed: int) -> float:
    shown, font = fonts.font_for(text, size, bold, code)
    if not shown:
        return 0.0
    renderer = RendererAgg(8, 8, 72 * SHARPNESS / _POINTS)
    width = renderer.get_text_width_height_descent(shown, font, ismath=False)[0]
    return width / SHARPNESS


def text_width(text: str, size: float = 12, bold: bool = False, code: bool = False) -> float:
    """Width of a line of text in px, with the fonts that it will be drawn in."""
    return _measured(text, float(size), bold, code, fonts._fonts_installed())


def wrap(text: str, width: float, size: float = 12, bold: bool = False) -> list[str]:
    """The text broken at blanks into lines of at most `width` px; line breaks in it are kept."""
    lines: list[str] = []
    for paragraph in str(text).split("\n"):
        line = ""
        for word in _pieces(paragraph.split(), width, size, bold):
            longer = f"{line} {word}" if line else word
            if line and text_width(longer, size, bold) > width:
                lines.append(line)
                line = word
            else:
                line = longer
        lines.append(line)
    return lines


def _pieces(words: list[str], width: float, size: float, bold: bool) -> Iterator[str]:
    """The words, those wider than a line cut into pieces that fit."""
    for word in words:
        while len(word) > 1 and text_width(word, size, bold) > width:
            lengths = range(1, len(word))
            fits = max(1, bisect.bisect(lengths, width, key=lambda n, w=word: text_width(w[:n], size, bold)))
            yield word[:fits]
            word = word[fits:]
        yield word
