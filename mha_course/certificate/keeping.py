"""certificate: what a student calls. It writes the certificate to my_course/ and shows it."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass
from pathlib import Path

from mha_course import record_file
from mha_course.certificate import words
from mha_course.certificate.page import page
from mha_course.certificate.record import Record, record
from mha_course.certificate.sheet import can_be_drawn, sheet_png
from mha_course.exercises.shown.panel import panel, paragraph
from mha_course.workspace import my_course_dir

PAGE, PICTURE = "certificate.html", "certificate.png"


@dataclass(frozen=True, repr=False)
class Certificate:
    """A certificate: its numbers, its picture, and the folder in which both files are.

    folder: None when they could not be written; remarks: sentences on what could not be read or written.
    """

    record: Record
    png: bytes
    folder: Path | None
    remarks: tuple[str, ...]

    @property
    def alt(self) -> str:
        """All that the picture shows, in words."""
        return words.alt(self.record)

    def __repr__(self) -> str:
        kept = [f"It is in {self.folder / PAGE} and {self.folder / PICTURE}."] if self.folder else []
        return "\n".join([self.alt, *kept, *self.remarks])

    def _repr_html_(self) -> str:
        # The page is as wide as it needs on a screen; the picture has two pixels to each of its own.
        width = int.from_bytes(self.png[16:20], "big") // 2
        data = base64.b64encode(self.png).decode("ascii")
        picture = (
            f'<img alt="{html.escape(self.alt)}" width="{width}" style="display: block; max-width: 100%; '
            f'height: auto; border-radius: 8px; margin-bottom: 8px" src="data:image/png;base64,{data}">'
        )
        return panel(picture + self._kept() + "".join(map(_remark, self.remarks)), label="Certificate")

    def _kept(self) -> str:
        if self.folder is None:
            return ""
        links = (
            f'<a href="{PAGE}">{PAGE}</a> (a page to print or to send) and <a href="{PICTURE}">{PICTURE}</a>'
        )
        return f"<p>Kept in my_course/: {links}. A new call brings both up to date.</p>"


def certificate(name: str = "") -> Certificate:
    """Write my_course/certificate.html and certificate.png with all that is done up to now, and show it.

    name: as it should stand there, in any script; left out, there is a line to write on by hand. What was
    there before is replaced. Says what could not be read or written. Never raises for what a student gives.
    """
    found = record(name if isinstance(name, str) else "")
    remarks = list(found.remarks)
    if not isinstance(name, str):
        remarks.insert(0, 'The name goes in quotes: `certificate("Ada Lovelace")`.')
    if not can_be_drawn(found.name):
        remarks.append(
            "No font of this machine has all characters of the name; the picture shows their numbers (U+…). "
            f"The page, {PAGE}, has the name as you wrote it."
        )
    png = sheet_png(found)
    folder = None
    try:
        folder = my_course_dir()
        record_file.replace(folder / PICTURE, png)
        record_file.replace(folder / PAGE, page(found).encode("utf-8"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        remarks.append(f"The certificate is shown here only: my_course/ can't be written ({reason}).")
        folder = None
    return Certificate(found, png, folder, tuple(remarks))


def _remark(sentence: str) -> str:
    return paragraph(f"⚠ {sentence}", "note")
