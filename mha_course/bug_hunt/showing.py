"""Findings, verdicts and lines of code as HTML: quiet boxes in the course's colours, light and dark."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mha_course.bug_hunt.faults import fault_of
from mha_course.bug_hunt.probing import all_probes
from mha_course.theme import colours

if TYPE_CHECKING:
    from mha_course.bug_hunt.finding import Measured
    from mha_course.bug_hunt.naming import Verdict
    from mha_course.bug_hunt.overview import Overview
    from mha_course.bug_hunt.revealing import Line, Revealed

_TELLS = '<span aria-hidden="true">●</span><span class="mhb-sr">differs</span>'
_SILENT = '<span class="mhb-sr">like the sound layer</span>'


def _variables(theme: str) -> str:
    palette = colours("dark" if theme == "dark" else "light")
    return "".join(f"--mhb-{name.replace('_', '-')}:{value};" for name, value in palette.items())


def _style() -> str:
    rules = Path(__file__).with_name("showing.css").read_text(encoding="utf-8")
    rules = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", rules, flags=re.DOTALL)).strip()
    # JupyterLab says its theme with an attribute of <body>; elsewhere the reader's own preference counts.
    return (
        f"<style>.mhb{{{_variables('light')}}}"
        f'[data-jp-theme-light="false"] .mhb,.vscode-dark .mhb{{{_variables("dark")}}}'
        "@media (prefers-color-scheme:dark){"
        f"body:not([data-jp-theme-light]):not([data-vscode-theme-kind]) .mhb{{{_variables('dark')}}}}}"
        f"{rules}</style>"
    )


def measured_html(measured: Measured) -> str:
    """A finding in words, and its measures beside the sound layer's; those that differ are in bold."""
    who = measured.who[:1].upper() + measured.who[1:]
    body = _paragraph(measured.title, "title") + _paragraph(measured.suspect.sentence)
    rows = measured.rows()
    if rows is None:
        body += _paragraph(f"The sound layer: {measured.sound.sentence}")
    else:
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in ("Measure", who, "Sound"))
        lines = "".join(
            f'<tr class="{"mhb-apart" if apart else "mhb-same"}">'
            f'<th scope="row" class="mhb-measure">{html.escape(name)}</th>'
            f"<td>{html.escape(mine)}</td><td>{html.escape(sound)}</td></tr>"
            for name, mine, sound, apart in rows
        )
        body += f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    differs = "Bold: more than rounding apart." if rows and measured.apart() else ""
    if not measured.apart():
        differs = "No measure differs by more than rounding."
    return _box(body + (_paragraph(differs, "note") if differs else ""), "", measured.title)


def verdict_html(verdict: Verdict) -> str:
    """A verdict on a name."""
    parts = [_paragraph(verdict.title, "title"), _paragraph(verdict.says)]
    if verdict.evidence:
        parts.append(_paragraph(verdict.evidence))
    for lead, text in (("To mend it: ", verdict.mend), ("Where it was met: ", verdict.met)):
        if text:
            parts.append(f"<p><strong>{lead}</strong>{_marked(text)}</p>")
    if verdict.place is not None:
        place = verdict.place
        target = html.escape(f"{place.file}#cell-id={place.cell}")
        link = f'<a href="{target}">{html.escape(place.label())}</a>'
        parts.append(f"<p><strong>In the lessons: </strong>{link}, {_marked(verdict.shows)}.</p>")
    if verdict.remark:
        parts.append(_paragraph(verdict.remark, "note"))
    return _box("".join(parts), "ok" if verdict.passed else "warn", verdict.title)


def revealed_html(revealed: Revealed) -> str:
    """The sound lines and the broken ones beside each other; those that differ are marked."""
    body = _paragraph(revealed.title, "title") + _paragraph(revealed.says)
    for step in revealed.steps:
        sides = (("sound", step.sound), (f"suspect {revealed.number}", step.suspect))
        body += (
            "<div class='mhb-sides'>" + "".join(_code(who, lines) for who, lines in sides if lines) + "</div>"
        )
    return _box(body, "", revealed.title)


def overview_html(overview: Overview) -> str:
    """A row for each suspect that was found, a column for each probe, a dot where it tells."""
    probes = all_probes()
    head = "".join(
        f'<th scope="col"><span>{html.escape(one.title)}{" ★" if key in overview.fewest else ""}</span></th>'
        for key, one in probes.items()
    )
    rows = "".join(
        f'<tr><th scope="row">{number} {_marked(fault_of(number).title)}</th>'
        + "".join(f"<td>{_TELLS if key in told else _SILENT}</td>" for key in probes)
        + "</tr>"
        for number, told in overview.rows.items()
    )
    table = (
        '<div class="mhb-wide" tabindex="0" role="group" aria-label="Probes and faults">'
        f'<table class="mhb-overview"><thead><tr><th scope="col">found</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
    note = _paragraph(
        "● the probe differs from the sound layer's.  ★ one of the fewest that suffice.", "note"
    )
    body = _paragraph("Which probe tells which fault", "title") + _paragraph(overview.sentence())
    return _box(body + (table + note if overview.rows else ""), "", "Which probe tells which fault")


def names_html(names: Mapping[str, str]) -> str:
    """The names and what they say, as a table."""
    rows = "".join(
        f'<tr><th scope="row"><code>{html.escape(key)}</code></th><td>{_marked(title)}</td></tr>'
        for key, title in names.items()
    )
    return _box(f"{_paragraph('Names of faults', 'title')}<table>{rows}</table>", "", "Names of faults")


def _code(who: str, lines: tuple[Line, ...]) -> str:
    shown = "".join(
        f'<span class="{"mhb-new" if new else "mhb-same"}">{html.escape(text)}\n</span>'
        for text, new in lines
    )
    return f'<figure><figcaption>{html.escape(who)}</figcaption><pre tabindex="0">{shown}</pre></figure>'


def _box(body: str, kind: str, label: str) -> str:
    plain = html.escape(label.replace("`", ""))
    return f'{_style()}<div class="mhb mhb-{kind or "plain"}" role="group" aria-label="{plain}">{body}</div>'


def _paragraph(text: str, kind: str = "") -> str:
    """One paragraph of marked text; kind: title or note."""
    return f'<p class="mhb-{kind}">{_marked(text)}</p>' if kind else f"<p>{_marked(text)}</p>"


def _marked(text: str) -> str:
    """Text as HTML: everything escaped, words between `backticks` in code type."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
