"""How the exercises' words are shown: a quiet box in the course's colours, light and dark, text escaped."""

from __future__ import annotations

import html
import io
import keyword
import re
import tokenize
from pathlib import Path

from mha_course.theme import colours, sequential

_TOKENS = {
    "surface": "surface",
    "raised": "raised",
    "ink": "ink",
    "ink2": "ink2",
    "ink3": "ink3",
    "edge": "edge",
    "line": "line",
    "focus": "focus",
    "warn": "warn",
    "warn-ground": "warn_ground",
    "ok": "ok",
}


def _variables(theme: str) -> str:
    theme = "dark" if theme == "dark" else "light"
    palette = colours(theme)
    # "How much" has the blue of the weights, at five eighths of their scale.
    much = f"--mhx-much:{sequential(theme)[160]};"
    return much + "".join(f"--mhx-{name}:{palette[token]};" for name, token in _TOKENS.items())


def _rules() -> str:
    text = Path(__file__).with_name("panel.css").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)).strip()


# JupyterLab says its theme with an attribute of <body>; elsewhere the reader's own preference counts.
STYLE = (
    "<style>"
    f".mhx{{{_variables('light')}}}"
    f'[data-jp-theme-light="false"] .mhx,.vscode-dark .mhx{{{_variables("dark")}}}'
    "@media (prefers-color-scheme:dark){"
    f"body:not([data-jp-theme-light]):not([data-vscode-theme-kind]) .mhx{{{_variables('dark')}}}}}"
    f"{_rules()}</style>"
)


def panel(body: str, kind: str = "", label: str = "", stop: bool = False) -> str:
    """A box around HTML that is safe already. kind: ok, warn, open or nothing; stop: Tab halts at the box."""
    classes = f"mhx mhx-{kind}" if kind else "mhx"
    named = f' role="group" aria-label="{html.escape(label)}"' if label else ""
    focus = ' tabindex="0"' if stop else ""
    return f'{STYLE}<div class="{classes}"{named}{focus}>{body}</div>'


def marked(text: str) -> str:
    """Text as HTML: everything escaped, words between `backticks` in code type, line breaks kept."""
    parts = re.split(r"`([^`\n]+)`", text)
    return "".join(
        f"<code>{html.escape(part)}</code>" if i % 2 else html.escape(part).replace("\n", "<br>")
        for i, part in enumerate(parts)
    )


def paragraph(text: str, kind: str = "") -> str:
    """One paragraph of marked text."""
    return f'<p class="mhx-{kind}">{marked(text)}</p>' if kind else f"<p>{marked(text)}</p>"


def code(source: str) -> str:
    """Python source as an escaped block; keywords, strings, numbers and comments are told apart."""
    return f'<pre tabindex="0">{_highlighted(source)}</pre>'


def _highlighted(source: str) -> str:
    lines, pieces = source.splitlines(keepends=True), []
    row, column = 1, 0

    def up_to(end: tuple[int, int]) -> str:
        nonlocal row, column
        text = ""
        while row < end[0]:
            text += lines[row - 1][column:] if row <= len(lines) else ""
            row, column = row + 1, 0
        if row <= len(lines):
            text += lines[row - 1][column : end[1]]
        column = end[1]
        return text

    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            pieces.append(html.escape(up_to(token.start)))
            text, name = html.escape(up_to(token.end)), _class_of(token)
            pieces.append(f'<span class="{name}">{text}</span>' if name and text else text)
    except (tokenize.TokenError, SyntaxError):
        return html.escape(source)
    return "".join(pieces).rstrip("\n")


def _class_of(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME and keyword.iskeyword(token.string):
        return "k"
    names = {tokenize.COMMENT: "c", tokenize.STRING: "s", tokenize.NUMBER: "d"}
    return names.get(token.type, "")
