"""Predictions: a form that keeps what a student expects, and a note beside what happened.

What happens stands in outcomes.json, not in the lessons, so that nobody reads it before predicting.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import traitlets

from mha_course import progress
from mha_course.text.readable import readable
from mha_course.widgets.base import CourseWidget, Text

__all__ = ["Prediction", "Reveal", "predict", "reveal"]

LONGEST = 2000
_KEY = re.compile(r"[0-9a-z][0-9a-z._-]{0,79}")


def _checked_key(key: str) -> str:
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise ValueError(f"key={key!r}: a key such as '03-shape-of-heads', small letters, digits and hyphens")
    return key


def _load(key: str) -> str | None:
    """Return the kept text; None where there is none or the file cannot be read (a lesson must go on)."""
    try:
        kept = progress.load_prediction(key)
        return None if kept is None else readable(kept)
    except (OSError, ValueError):
        return None


class Prediction(CourseWidget):
    """A question with a place for the answer, kept in my_course/ under its key.

    With choices the answer is one of them, without it is free text of at most 2000 characters. A second run
    shows what was kept. Raises: ValueError for an unusable key, an empty question or repeated choices.
    """

    js = ("svg_pieces.js", "prediction.js")
    css = ("pieces.css", "prediction.css")
    root = "mha-predict-box"

    question = Text().tag(sync=True)
    choices = traitlets.List(Text()).tag(sync=True)
    said = Text().tag(sync=True)
    kept = Text().tag(sync=True)
    trouble = Text().tag(sync=True)

    def __init__(self, key: str, question: str, choices: Sequence[str] | None = None) -> None:
        options = [readable(choice) for choice in choices or ()]
        if not question.strip():
            raise ValueError("a prediction needs a question")
        if len(set(options)) != len(options) or any(not option.strip() for option in options):
            raise ValueError(f"choices differ from each other and are not empty; these are {options}")
        self.key = _checked_key(key)
        saved = _load(key) or ""
        alt = f"Prediction: {question}" + (f" Choices: {'; '.join(options)}." if options else "")
        super().__init__(question=question, choices=options, said=saved, kept=saved, alt=alt)
        self.observe(self._keep, names="said")

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Nothing to compute: the traits carry all."""
        return {}, b""

    def _keep(self, change: Mapping) -> None:
        with self._lock:
            text = str(change["new"]).strip()[:LONGEST]
            if not text or text == self.kept:
                return
            try:
                trouble = progress.save_prediction(self.key, text) or ""
            except (OSError, ValueError) as problem:
                with self.hold_sync():
                    self.trouble = f"This could not be kept: {problem}"
                    # Taken back, so that the same answer can be sent again.
                    self.said = self.kept
                return
            with self.hold_sync():
                self.trouble = trouble
                self.kept = text

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """The live form, and for places without a front end the question with what was kept."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        choices = "".join(f'<li dir="auto">{html.escape(choice)}</li>' for choice in self.choices)
        kept = f"<p>Kept: {html.escape(self.kept)}</p>" if self.kept else ""
        data["text/html"] = (
            f'<p dir="auto"><strong>Predict.</strong> {html.escape(self.question)}</p>'
            + (f"<ul>{choices}</ul>" if choices else "")
            + kept
        )
        return data, metadata


def predict(key: str, question: str, choices: Sequence[str] | None = None) -> Prediction:
    """Show a question and keep the student's answer under the key, in my_course/.

    With choices there are radio buttons, without a text box. Raises: ValueError as `Prediction`.
    """
    return Prediction(key, question, choices)


@dataclass(frozen=True)
class Reveal:
    """What was predicted (None: nothing kept) beside what happened."""

    predicted: str | None
    answer: str

    @property
    def agrees(self) -> bool:
        """Whether both are the same, leaving aside blanks and capitals."""
        return self.predicted is not None and _plain(self.predicted) == _plain(self.answer)

    def __repr__(self) -> str:
        if self.predicted is None:
            return _NOTHING_KEPT
        return f"you said: {self.predicted} | what happens: {self.answer}"

    def _repr_html_(self) -> str:
        if self.predicted is None:
            said = f'<span style="color:var(--jp-ui-font-color1,inherit)">{_NOTHING_KEPT}</span>'
        else:
            mark = " <strong>✓ as it happens</strong>" if self.agrees else ""
            said = f'<span dir="auto" style="white-space:pre-wrap">{html.escape(self.predicted)}</span>{mark}'
        happened = f'<span dir="auto" style="white-space:pre-wrap">{html.escape(self.answer)}</span>'
        if self.predicted is None:
            happened = f"<details><summary>show it anyway</summary>{happened}</details>"
        return (
            f'<div class="mha-reveal" style="{_BOX}">'
            f'<div style="{_LABEL}">You said</div><div data-part="said" style="{_TEXT}">{said}</div>'
            f'<div style="{_LABEL}">What happens</div>'
            f'<div data-part="answer" style="{_TEXT}">{happened}</div></div>'
        )


_NOTHING_KEPT = (
    "No prediction kept. Say what you expect in the form above, press “Keep my prediction”, then run this "
    "cell again."
)
# JupyterLab's own colours: the note then follows its theme, and has a readable default elsewhere.
_BOX = (
    "display:grid;grid-template-columns:max-content minmax(0,1fr);gap:4px 16px;max-width:838px;"
    "padding:10px 16px;margin:4px 0;border:1px solid var(--jp-border-color1,#868f9d);border-radius:8px;"
    "font-size:14px;line-height:1.5;"
    "font-family:var(--jp-ui-font-family,system-ui),sans-serif;color:var(--jp-ui-font-color0,inherit)"
)
_LABEL = "font-size:13px;color:var(--jp-ui-font-color1,inherit)"
_TEXT = "overflow-wrap:anywhere"


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()


@lru_cache
def outcomes() -> dict[str, str]:
    """What happens, for the key of every prediction in the lessons."""
    return json.loads(Path(__file__).with_name("outcomes.json").read_text(encoding="utf-8"))


def reveal(key: str, answer: str | None = None) -> Reveal:
    """Show the student's prediction beside what happens. Never raises.

    answer: what happens; the entry of outcomes.json when left out. Where no prediction was kept, the
    answer stays folded away.
    """
    known = isinstance(key, str)
    if answer is None:
        answer = outcomes().get(key, "nothing is noted under this key") if known else "no such key"
    return Reveal(_load(key) if known else None, readable(answer))
