"""Picture: a still figure with its words, shown in JupyterLab's light and dark theme."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from mha_course.plots.canvas import Canvas, text_width, wrap
from mha_course.text.readable import readable
from mha_course.theme import Theme

ONE_THEME = "MHA_COURSE_PICTURES"  # "light": without the dark pictures, a notebook is half as large
PADDING = 16
WIDEST = 838
TITLE_SIZE = 15
NOTE_SIZE = 12
_NARROWEST_NOTE = 440
# Labels of 11 px are still 8.5 px high at this share of the picture's own size.
_SMALLEST = 0.77

# The theme is an attribute that JupyterLab puts on <body>. Elsewhere (an exported page, VS Code) the
# reader's own preference counts. The light picture carries no rule: where style sheets are stripped,
# as in an untrusted notebook, it is the one that stays, and the dark one is hidden by its own style.
_DARK_HOSTS = ('[data-jp-theme-light="false"]', ".vscode-dark")
_NO_HOST = "body:not([data-jp-theme-light]):not([data-vscode-theme-kind])"


def _style() -> str:
    """Rules that swap the two pictures where the ground is dark."""

    def swap(under: str) -> str:
        return (
            f"{under} .mha-picture-light{{display:none!important}}"
            f"{under} .mha-picture-dark{{display:block!important}}"
        )

    rules = "".join(map(swap, _DARK_HOSTS))
    return f"<style>{rules}@media (prefers-color-scheme:dark){{{swap(_NO_HOST)}}}</style>"


class Picture:
    """A still picture that a notebook shows as `<img alt=...>`, one for each theme, and a file can hold.

    draw: called once for each theme with an empty canvas of width x height CSS px.
    alt: what is seen, in words, with the numbers that matter. Raises ValueError when it is empty.
    """

    def __init__(self, draw: Callable[[Canvas], None], width: float, height: float, alt: str) -> None:
        if not alt.strip():
            raise ValueError("A picture needs an alternative text that says what is seen.")
        self._draw, self._width, self._height = draw, width, height
        self.alt = " ".join(readable(alt).split())
        self._canvases: dict[Theme, Canvas] = {}
        self._files: dict[Theme, bytes] = {}

    @property
    def figure(self) -> Figure:
        """The Matplotlib figure in light colours; it belongs to no pyplot window."""
        return self._canvas("light").figure

    def png(self, theme: Theme = "light") -> bytes:
        """The picture as a PNG file with two device pixels for each CSS pixel."""
        if theme not in self._files:
            self._files[theme] = self._canvas(theme).png()
        return self._files[theme]

    def save(self, path: str | Path, theme: Theme = "light") -> None:
        """Write the picture as a PNG file. Raises ValueError for any other ending."""
        path = Path(path)
        if path.suffix.lower() != ".png":
            raise ValueError(f"A picture is saved as .png; got {path.name!r}.")
        path.write_bytes(self.png(theme))

    def _canvas(self, theme: Theme) -> Canvas:
        if theme not in self._canvases:
            canvas = Canvas(self._width, self._height, theme)
            self._draw(canvas)
            self._canvases[theme] = canvas
        return self._canvases[theme]

    def _image(self, theme: Theme) -> str:
        data = base64.b64encode(self.png(theme)).decode("ascii")
        width = self._canvas(theme).width
        # Where the page is narrow or enlarged the picture shrinks a little, then it is scrolled sideways.
        least = round(_SMALLEST * width)
        display = "block" if theme == "light" else "none"
        return (
            f'<img class="mha-picture mha-picture-{theme}" alt="{html.escape(self.alt)}" width="{width}" '
            f'style="display: {display}; width: {width}px; max-width: 100%; min-width: {least}px; '
            f'height: auto; border-radius: 8px"'
            f' src="data:image/png;base64,{data}">'
        )

    def _repr_html_(self) -> str:
        if os.environ.get(ONE_THEME) == "light":
            return self._image("light")
        return f"{_style()}{self._image('light')}{self._image('dark')}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"Picture: {self.alt}"


def framed(
    paint: Callable[[Canvas, float, float], None],
    width: float,
    height: float,
    alt: str,
    title: str | None = None,
    note: str | None = None,
    widest: float = WIDEST,
) -> Picture:
    """A picture with a title above and a note below what `paint(canvas, x, y)` draws at (x, y).

    width, height: size of that drawing in px. Title and note are wrapped, never clipped.
    """
    title, note = (
        cut(part, most) if part is not None else None for part, most in ((title, 300), (note, 2000))
    )
    room = widest - 2 * PADDING
    widths = [
        text_width((title or ""), TITLE_SIZE, bold=True),
        min(_NARROWEST_NOTE, text_width((note or ""), NOTE_SIZE)),
    ]
    inner = max(width, min(room, max(widths)))
    titles = wrap(title, inner, TITLE_SIZE, bold=True) if title else []
    notes = wrap(note, inner, NOTE_SIZE) if note else []
    top = PADDING + 21 * len(titles) + (7 if titles else 0)
    bottom = top + height + (10 if notes else 0)

    def draw(canvas: Canvas) -> None:
        for i, line in enumerate(titles):
            canvas.text(PADDING, PADDING + 9 + 21 * i, line, TITLE_SIZE, "ink", bold=True)
        paint(canvas, PADDING, top)
        for i, line in enumerate(notes):
            canvas.text(PADDING, bottom + 8 + 17 * i, line, NOTE_SIZE, "ink3")

    spoken = " ".join(_sentence(part) for part in (title, alt, note) if part)
    return Picture(draw, inner + 2 * PADDING, bottom + 17 * len(notes) + PADDING, spoken)


def cut(words: object, most: int) -> str:
    """The words as they can be shown, shortened where they are longer than anyone would read."""
    shown = readable(words)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "?", "!", ":", "…")) else text + "."
