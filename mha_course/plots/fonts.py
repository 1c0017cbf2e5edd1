"""Fonts for still pictures: which installed font holds a character, and what to draw where none does."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font, weight_dict
from matplotlib.ft2font import LoadFlags

TEXT_FAMILIES = ("Segoe UI", "Helvetica Neue", "Noto Sans", "DejaVu Sans")
CODE_FAMILIES = ("Cascadia Mono", "Menlo", "Noto Sans Mono", "DejaVu Sans Mono")

# Looked through first, so that Chinese isn't set in some odd font that also happens to hold it.
_PREFERRED = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans",
    "Hiragino Sans GB",
    "Yu Gothic",
    "Malgun Gothic",
    "Apple SD Gothic Neo",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Noto Sans KR",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Nirmala UI",
    "Kohinoor Devanagari",
    "Lohit Devanagari",
    "Segoe UI Emoji",
    "Segoe UI Symbol",
    "Noto Emoji",
    "Arial Unicode MS",
)
# It has a box for every character there is: the very thing that must not be drawn.
_LAST_RESORT = "Last Resort"
_REGULAR, _BOLD = 400, 700

_ESCAPE = "U+"
_ZERO_WIDTH_JOINER = 0x200D
_JOINERS = {0x200C, 0x200D, *range(0xFE00, 0xFE10)}
_SKIN_TONES = range(0x1F3FB, 0x1F400)


@dataclass(frozen=True)
class Drawable:
    """A text as it can be drawn: the text itself, the font families that hold it, whether all of them
    can be bold, and whether escapes such as U+1F389 stand for characters that no installed font can draw."""

    text: str
    families: tuple[str, ...]
    bold: bool
    has_stand_in: bool


def drawable(text: str, code: bool = False, bold: bool = False) -> Drawable:
    """The text with fonts that hold all of it; characters without a font become escapes like U+1F389."""
    shown = _drawable(text, code, bold, _fonts_installed())
    if bold and not shown.bold:
        # Some fonts for Chinese have no bold; asking for one writes a warning to stderr.
        return _drawable(text, code, False, _fonts_installed())
    return shown


def is_east_asian(char: str) -> bool:
    """True for characters that fill a square and are never turned: Chinese, Japanese, Korean."""
    return unicodedata.east_asian_width(char) in "WF" and not is_emoji(char)


def is_emoji(char: str) -> bool:
    """True for pictographs and the parts of flags."""
    return 0x1F000 <= ord(char) <= 0x1FAFF or 0x2600 <= ord(char) <= 0x27BF


def _fonts_installed() -> int:
    """Changes when a font is added, so that cached answers don't outlive their reason."""
    return len(fontManager.ttflist)


@lru_cache(maxsize=4096)
def _drawable(text: str, code: bool, bold: bool, fonts_installed: int) -> Drawable:
    base = _base_families(code, fonts_installed)
    families = list(base)
    drawn: list[str] = []
    stand_in = joined = False
    can_be_bold = True
    for char in text:
        char = " " if unicodedata.category(char) == "Zs" else char
        point = ord(char)
        if drawn and drawn[-1].startswith(_ESCAPE) and (point in _JOINERS or point in _SKIN_TONES):
            # What follows is a part of the same picture.
            joined = joined or point == _ZERO_WIDTH_JOINER
            continue
        if any(_holds(known, point, bold, fonts_installed) for known in families) and _harmless(char):
            drawn.append(char)
        elif point in _JOINERS or (point in _SKIN_TONES and drawn):
            continue
        else:
            family = _family_holding(point, bold, fonts_installed) if _harmless(char) else None
            if family is not None:
                families.append(family)
                can_be_bold = can_be_bold and _BOLD in _weights(family, fonts_installed)
                drawn.append(char)
            elif joined:
                # One picture made of several: name the first, the dots say that there is more.
                drawn[-1] = drawn[-1].rstrip("…") + "…"
            else:
                drawn.append(f"{_ESCAPE}{point:04X}")
                stand_in = True
        joined = False
    if stand_in:
        return Drawable(_shortened(drawn), tuple(families), bold and can_be_bold, True)
    return Drawable("".join(drawn), tuple(families), bold and can_be_bold, False)


def _harmless(char: str) -> bool:
    """False for control and direction characters, which would act on the text around them."""
    return char.isprintable() or ord(char) in _JOINERS


def _shortened(parts: list[str]) -> str:
    """Parts joined with blanks around escapes; at most two escapes in a row, for they are long."""
    words: list[str] = []
    escapes = 0
    for part in parts:
        is_escape = part.startswith(_ESCAPE) and len(part) > len(_ESCAPE)
        escapes = escapes + 1 if is_escape else 0
        if escapes == 3:
            words[-1] = words[-1].rstrip("…") + "…"
        elif escapes < 3:
            words.append(f" {part} " if is_escape else part)
    return " ".join("".join(words).split())


@lru_cache(maxsize=8)
def _base_families(code: bool, fonts_installed: int) -> tuple[str, ...]:
    """The first installed family of our list; a family that isn't there would flood stderr."""
    installed = set(fontManager.get_font_names())
    wanted = CODE_FAMILIES if code else TEXT_FAMILIES
    first = next((name for name in wanted if name in installed), wanted[-1])
    # Both DejaVu fonts come with Matplotlib and hold arrows, ticks and marks that others lack.
    return tuple(dict.fromkeys((first, wanted[-1], "DejaVu Sans")))


@lru_cache(maxsize=1024)
def _family_holding(point: int, bold: bool, fonts_installed: int) -> str | None:
    installed = {name for name in fontManager.get_font_names() if not name.startswith(_LAST_RESORT)}
    installed = {name for name in installed if _REGULAR in _weights(name, fonts_installed)}
    ordered = [name for name in _PREFERRED if name in installed]
    ordered += sorted(installed - set(ordered))
    return next((name for name in ordered if _holds(name, point, bold, fonts_installed)), None)


@lru_cache(maxsize=16384)
def _holds(family: str, point: int, bold: bool, fonts_installed: int) -> bool:
    """Whether the font file behind the family has an outline for the character."""
    try:
        bold = bold and _BOLD in _weights(family, fonts_installed)
        font = get_font(findfont(_properties(family, bold), fallback_to_default=False))
        if not font.scalable or not font.get_char_index(point):
            return False
        # Colour fonts list emoji whose outlines are empty: Agg would draw nothing.
        glyph = font.load_char(point, LoadFlags.NO_HINTING)
    except (ValueError, RuntimeError, OSError):
        return False
    char = chr(point)
    return glyph.width > 0 or char.isspace() or point in _JOINERS or unicodedata.combining(char) > 0


@lru_cache(maxsize=1024)
def _weights(family: str, fonts_installed: int) -> frozenset[int]:
    """The weights of a family's upright fonts, 400 for regular and 700 for bold."""
    fonts = (font for font in fontManager.ttflist if font.name == family and font.style == "normal")
    found = (font.weight for font in fonts if font.stretch == "normal")
    return frozenset(weight if isinstance(weight, int) else weight_dict.get(weight, 0) for weight in found)


@lru_cache(maxsize=256)
def _properties(family: str, bold: bool) -> FontProperties:
    return FontProperties(family=[family], weight="bold" if bold else "normal")


def font_for(text: str, size: float, bold: bool = False, code: bool = False) -> tuple[str, FontProperties]:
    """The drawable text and its font. size: CSS px, 100 to the inch. Stand-ins make the text smaller."""
    shown = drawable(text, code, bold)
    if shown.has_stand_in:
        size = min(size, max(9.0, 0.8 * size))
    return shown.text, _sized(shown.families, round(0.72 * size, 3), bold and shown.bold)


@lru_cache(maxsize=1024)
def _sized(families: tuple[str, ...], points: float, bold: bool) -> FontProperties:
    return FontProperties(family=list(families), size=points, weight="bold" if bold else "normal")
