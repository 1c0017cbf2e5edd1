"""What is installed here, beside what the course was tested with."""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass
from html import escape
from importlib import metadata

from mha_course.workspace import my_course_dir, project_root

# What a student meets, in the order of the table. Everything else in requirements.txt serves these.
_USED_FOR = {
    "torch": "tensors, layers, gradients",
    "numpy": "lesson 01 by hand",
    "matplotlib": "still pictures",
    "jupyterlab": "the window you read this in",
    "ipywidgets": "forms and sliders",
    "anywidget": "the course's own widgets",
    "bertviz": "views of trained heads (planned)",
}


@dataclass(frozen=True)
class Part:
    """One row of the report. found or tested is None where it isn't known."""

    name: str
    found: str | None
    tested: str | None
    used_for: str

    @property
    def verdict(self) -> str:
        """One of "as tested", "another version" and "missing"; empty where no version is pinned."""
        if self.found is None:
            return "missing"
        # Wheels add a local part such as "+cpu", which says how torch was built, not which one it is.
        if self.tested is None:
            return ""
        return "as tested" if self.found.split("+")[0] == self.tested else "another version"


class EnvironmentReport:
    """A table of parts and one sentence. Jupyter shows it through `_repr_html_`."""

    def __init__(self, parts: list[Part], my_course: str) -> None:
        self.parts = parts
        self.my_course = my_course

    @property
    def ok(self) -> bool:
        """Whether nothing is missing. Another version usually works; it is said, not refused."""
        return all(part.found is not None for part in self.parts)

    @property
    def sentence(self) -> str:
        """What to do, if anything."""
        missing = [part.name for part in self.parts if part.found is None]
        if missing:
            return f"⚠ Missing: {', '.join(missing)}. Close JupyterLab and run: python start.py"
        other = [part.name for part in self.parts if part.verdict == "another version"]
        if other:
            return (
                f"All parts are here. Not the tested version: {', '.join(other)}. "
                "If something looks odd, run: python start.py"
            )
        return "✓ All parts are here, in the versions the course was tested with."

    def __repr__(self) -> str:
        lines = [
            f"{part.name:12s} {part.found or '—':12s} tested: {part.tested or '—':12s} {part.verdict}"
            for part in self.parts
        ]
        return "\n".join([*lines, self.sentence, f"Your work is kept in {self.my_course}"])

    def _repr_html_(self) -> str:
        cell = 'style="text-align:left;padding:2px 16px 2px 0"'
        head = "".join(f"<th scope='col' {cell}>{t}</th>" for t in ("part", "here", "tested", "", "used for"))
        rows = "".join(
            "<tr>"
            + f"<th scope='row' {cell}>{escape(part.name)}</th>"
            + "".join(
                f"<td {cell}>{escape(text)}</td>"
                for text in (part.found or "—", part.tested or "—", part.verdict, part.used_for)
            )
            + "</tr>"
            for part in self.parts
        )
        return (
            f'<table style="margin:0 0 8px"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
            f"<p>{escape(self.sentence)}</p>"
            f"<p>Your work is kept in <code>{escape(self.my_course)}</code></p>"
        )


def check_environment() -> EnvironmentReport:
    """Compare what is installed with the pins of requirements.txt; a missing part is a row, not an error.

    Nothing is imported for it. Raises: OSError when the student's folder can't be made.
    """
    pins = _pins()
    parts = [
        Part("python", platform.python_version(), None, f"{platform.system()}, {sys.implementation.name}")
    ]
    parts += [Part(name, _installed(name), pins.get(name), used_for) for name, used_for in _USED_FOR.items()]
    return EnvironmentReport(parts, str(my_course_dir()))


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _pins() -> dict[str, str]:
    """The exact versions of requirements.txt; empty where the file isn't there, as in an installed copy."""
    try:
        text = (project_root() / "requirements.txt").read_text(encoding="utf-8")
    except OSError:
        return {}
    return dict(re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;#]+)", text, flags=re.MULTILINE))
