"""A quick question: choices, an explanation for each, and as many tries as it takes."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

import traitlets

from mha_course import progress
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.question_texts import Question, find_question

__all__ = ["QuickQuestion", "ask"]


class QuickQuestion(CourseWidget):
    """One question; what was answered is kept in my_course/ and shown again by the next run.

    The view gets the choices alone. Which of them is right, and why, goes to the browser with the answer
    to a try: a wrong choice with its own reason, and after the right one the reasons of all the others.
    """

    js = ("marked_text.js", "question.js")
    css = ("marked_text.css", "question.css")
    root = "mha-ask-box"
    settings = ("said",)

    question = Text().tag(sync=True)
    choices = traitlets.List(Text()).tag(sync=True)
    several = traitlets.Bool(False).tag(sync=True)
    said = traitlets.List(traitlets.Int()).tag(sync=True)

    def __init__(self, question: Question) -> None:
        self.about = question
        self._trouble = ""
        kept = _kept(question)
        # What was kept is shown again, and is no new try.
        self._noted = (tuple(kept), 0)
        alt = f"Question: {_plain(question.text)} Choices: "
        super().__init__(
            question=question.text,
            choices=[choice.text for choice in question.choices],
            several=question.several,
            said=kept,
            alt=alt + "; ".join(_plain(choice.text) for choice in question.choices) + ".",
        )

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """What is right and wrong in the choices that were sent, each with its reason."""
        chosen = sorted({i for i in self.said if 0 <= i < len(self.choices)})
        if not chosen or (len(chosen) > 1 and not self.several):
            return {}, b""
        right = set(chosen) == self.about.right
        asked = (tuple(chosen), self.stamp)
        if asked != self._noted:
            self._trouble = _keep(self.about, chosen, right)
            self._noted = asked
        others = [i for i in range(len(self.choices)) if i not in chosen] if right else []
        return {
            "chosen": chosen,
            "right": right,
            "answered": right or self._right_before(),
            "missing": self.about.right > set(chosen),
            "notes": [self._note(i) for i in chosen],
            "others": [self._note(i) for i in others],
            "trouble": self._trouble,
        }, b""

    def _right_before(self) -> bool:
        """Whether it was answered right before: then a look at another choice is no failed try."""
        try:
            return bool(progress.answers().get(self.about.key, {}).get("right"))
        except (OSError, ValueError):
            return False

    def _note(self, i: int) -> dict[str, object]:
        choice = self.about.choices[i]
        return {"choice": i, "right": choice.right, "because": choice.because}

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """The live form, and for places without a front end the question and its choices alone."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        choices = "".join(f'<li dir="auto">{_marked(choice)}</li>' for choice in self.choices)
        data["text/html"] = (
            f'<p dir="auto"><strong>Question.</strong> {_marked(self.question)}</p><ul>{choices}</ul>'
        )
        return data, metadata


def ask(key: str) -> QuickQuestion:
    """Show the quick question of that key. Raises: ValueError with the nearest keys when there is none."""
    return QuickQuestion(find_question(key))


def _kept(question: Question) -> list[int]:
    """The choices that were kept; none where the file can't be read (a lesson must go on)."""
    try:
        kept = progress.answers().get(question.key)
    except (OSError, ValueError):
        return []
    return question.chosen(kept["choice"]) if kept else []


def _keep(question: Question, chosen: list[int], right: bool) -> str:
    try:
        return progress.save_answer(question.key, question.said(chosen), right) or ""
    except (OSError, ValueError) as problem:
        return f"This could not be kept: {problem}"


def _plain(text: str) -> str:
    return text.replace("`", "")


def _marked(text: str) -> str:
    """Text as HTML: everything escaped, words between `backticks` in code type."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
