"""How the exercises' words are shown: a quiet box in the course's colours, light and dark, text escaped."""

from __future__ import annotations

import html
import io
import keyword
import re
import tokenize

from mha_course.theme import colours

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
    palette = colours("dark" if theme == "dark" else "light")
    return "".join(f"--mhx-{name}:{palette[token]};" for name, token in _TOKENS.items())


# JupyterLab says its theme with an attribute of <body>; elsewhere the reader's own preference counts.
STYLE = (
    "<style>"
    f".mhx{{{_variables('light')}color:var(--mhx-ink);background:var(--mhx-surface);"
    "border:1px solid var(--mhx-edge);border-radius:8px;padding:10px 16px;margin:4px 0;max-width:838px;"
    "box-sizing:border-box;font:400 14px/1.5 var(--jp-ui-font-family,system-ui),sans-serif;"
    "font-variant-numeric:tabular-nums}"
    f'[data-jp-theme-light="false"] .mhx,.vscode-dark .mhx{{{_variables("dark")}}}'
    "@media (prefers-color-scheme:dark){"
    f"body:not([data-jp-theme-light]):not([data-vscode-theme-kind]) .mhx{{{_variables('dark')}}}}}"
    ".mhx p{margin:4px 0;color:inherit;overflow-wrap:anywhere}"
    ".mhx .mhx-title{font-size:15px;font-weight:600;margin:0 0 4px}"
    ".mhx .mhx-note{color:var(--mhx-ink2);font-size:13px}"
    ".mhx code{font-family:var(--jp-code-font-family,monospace);font-size:.93em;background:none;"
    "color:inherit;padding:0;border:0}"
    ".mhx-ok{border-color:var(--mhx-ok)}.mhx-ok .mhx-title{color:var(--mhx-ok)}"
    ".mhx-warn{border-color:var(--mhx-warn);background:var(--mhx-warn-ground)}"
    ".mhx-warn .mhx-title{color:var(--mhx-warn)}"
    ".mhx-open{border-style:dashed}"
    ".mhx details{margin:4px 0}.mhx summary{cursor:pointer;font-weight:600;padding:2px 0;width:fit-content}"
    ".mhx summary:focus-visible{outline:2px solid var(--mhx-focus);outline-offset:2px;border-radius:4px}"
    ".mhx pre{margin:8px 0;padding:10px 12px;overflow-x:auto;border-radius:6px;background:var(--mhx-raised);"
    "color:var(--mhx-ink);font:400 13px/1.5 var(--jp-code-font-family,monospace);white-space:pre}"
    ".mhx .k{font-weight:600;color:var(--mhx-focus)}.mhx .s{color:var(--mhx-ok)}"
    ".mhx .c{color:var(--mhx-ink2);font-style:italic}.mhx .d{color:var(--mhx-warn)}"
    ".mhx table{border-collapse:collapse;margin:4px 0;font-size:13px;background:none;color:inherit}"
    ".mhx th,.mhx td{text-align:left;padding:4px 16px 4px 0;border:0;border-bottom:1px solid var(--mhx-line);"
    "background:none;color:inherit}.mhx .mhx-done{color:var(--mhx-ok)}"
    "</style>"
)


def panel(body: str, kind: str = "", label: str = "") -> str:
    """A box around HTML that is safe already. kind: ok, warn, open or nothing."""
    classes = f"mhx mhx-{kind}" if kind else "mhx"
    named = f' role="group" aria-label="{html.escape(label)}"' if label else ""
    return f'{STYLE}<div class="{classes}"{named}>{body}</div>'


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
    return f"<pre>{_highlighted(source)}</pre>"


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
