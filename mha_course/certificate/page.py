"""The certificate as a page of its own: one file that needs no network, to be read, printed or sent."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path

from mha_course.certificate import words
from mha_course.certificate.record import Record
from mha_course.certificate.sheet import squares_png
from mha_course.exercises.shown.tallies import LessonTally, Tally

_COLUMNS = ("Exercises", "Questions", "Puzzles", "Predictions")


def page(record: Record) -> str:
    """The whole page as HTML; everything that came from outside is escaped."""
    named = f"Certificate of {record.name}" if record.name else "Certificate"
    # Nothing may be loaded, whatever should stand in the page.
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(named)}: {words.TITLE}</title>\n<style>{_rules()}</style>\n</head>\n"
        f"<body>\n<main>\n{_head(record)}\n{_facts(record)}\n{_squares(record)}\n{_table(record)}\n"
        f"{_foot(record)}\n</main>\n</body>\n</html>\n"
    )


def _rules() -> str:
    text = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)).strip()


def _head(record: Record) -> str:
    name = f'<p class="name" dir="auto">{html.escape(record.name)}</p>'
    day = f'<time datetime="{record.when:%Y-%m-%d}">{words.date(record)}</time>'
    return (
        f'<header>\n<p class="kind">{words.KIND}</p>\n<h1>{words.TITLE}</h1>\n'
        + (name if record.name else '<p class="by-hand">name</p>')
        + f"\n<p>{html.escape(words.summary(record))}</p>\n"
        + f'<p class="day">{day} · course version {html.escape(record.version)}</p>\n</header>'
    )


def _facts(record: Record) -> str:
    note = words.clock_note(record.clock)
    rows = [
        f"<div><dt>{html.escape(what)}"
        + (f"<br>{html.escape(note)}" if note and what == words.CLOCK else "")
        + f"</dt><dd>{html.escape(much)}</dd></div>"
        for what, much in words.facts(record)
    ]
    return "<dl>\n" + "\n".join(rows) + "\n</dl>"


def _squares(record: Record) -> str:
    light, dark = (_data(squares_png(record, theme)) for theme in ("light", "dark"))
    on_dark = "screen and (prefers-color-scheme: dark)"  # paper is white
    alt = html.escape(words.squares_alt(record))
    return (
        f'<figure>\n<div class="rows"><picture><source media="{on_dark}" srcset="{dark}">'
        f'<img alt="{alt}" src="{light}"></picture></div>\n'
        f"<figcaption>{words.KEY}</figcaption>\n</figure>"
    )


def _data(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _table(record: Record) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Lesson", *_COLUMNS))
    body = "\n".join(_row(row) for row in record.rows)
    sums = [_total([_kinds(row)[i] for row in record.rows]) for i in range(len(_COLUMNS))]
    foot = "".join(f"<td>{total}</td>" for total in sums)
    return (
        f'<section>\n<h2>Lesson by lesson</h2>\n<div class="rows"><table>\n<thead><tr>{head}</tr></thead>\n'
        f'<tbody>\n{body}\n</tbody>\n<tfoot><tr><th scope="row">All</th>{foot}</tr></tfoot>\n'
        "</table></div>\n</section>"
    )


def _row(row: LessonTally) -> str:
    title = f"{html.escape(row.lesson.number)} · {html.escape(row.lesson.title)}"
    return f'<tr><th scope="row">{title}</th>{"".join(map(_cell, _kinds(row)))}</tr>'


def _kinds(row: LessonTally) -> tuple[Tally, ...]:
    return (row.exercises, row.questions, row.puzzles, row.predictions)


def _cell(kind: Tally) -> str:
    if kind.complete:
        return f'<td class="done">✓ {kind}</td>'
    return f"<td>{kind}</td>" if kind.done else f'<td class="open">{kind}</td>'


def _total(kinds: list[Tally]) -> str:
    return f"{sum(len(kind.done) for kind in kinds)} of {sum(len(kind.names) for kind in kinds)}"


def _foot(record: Record) -> str:
    remarks = "".join(f"<p>⚠ {html.escape(remark)}</p>" for remark in record.remarks)
    honest = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in words.WHAT_IT_IS)
    return f"<footer>\n<h2>What this is</h2>\n{honest}{remarks}\n</footer>"
