"""BugHunt: twelve suspects, probes to run on them, the evidence, a name, and the verdict on it."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping

import traitlets

from mha_course import progress_bugs
from mha_course.bug_hunt.faults import all_faults, fault_of, suspects
from mha_course.bug_hunt.finding import Finding, Measured, Table
from mha_course.bug_hunt.naming import Verdict, name_bug, right_verdict
from mha_course.bug_hunt.overview import overview
from mha_course.bug_hunt.probes import GROUPS
from mha_course.bug_hunt.probing import all_probes, probe
from mha_course.bug_hunt.revealing import reveal, steps_of
from mha_course.bug_hunt.suspect import check_suspect, suspect
from mha_course.widgets.base import CourseWidget

__all__ = ["BugHunt"]

D_MODEL, H = 12, 3


class BugHunt(CourseWidget):
    """The bug hunt: choose a suspect, run probes on it beside the sound layer, say what is wrong with it.

    number: the suspect to begin with, 1 to 12. What was found is kept in my_course/ and shown by every later
    hunt; the evidence stays as long as this widget does. All of it can be done by code, too: see `bug_hunt`.

    Raises: ValueError for a number that no suspect has.
    """

    js = (
        "svg_pieces.js",
        "cell_tips.js",
        "shaded_matrix.js",
        "marked_text.js",
        "lesson_link.js",
        "bug_hunt_map.js",
        "bug_hunt_evidence.js",
        "bug_hunt_naming.js",
        "bug_hunt_suspects.js",
        "bug_hunt_overview.js",
        "bug_hunt.js",
    )
    css = ("pieces.css", "shaded_matrix.css", "marked_text.css", "lesson_link.css", "bug_hunt.css")
    root = "mha-hunt"
    settings = ("number", "ran", "said", "insisted")

    number = traitlets.Int(1).tag(sync=True)
    ran = traitlets.Dict().tag(sync=True)  # the number of a suspect, as text -> keys of probes, in order
    said = traitlets.List().tag(sync=True)  # the last name given: [number, short name]
    insisted = traitlets.List().tag(sync=True)  # suspects whose lines were asked for before they were found
    told = traitlets.Dict().tag(sync=True)

    def __init__(self, number: int = 1) -> None:
        check_suspect(number)
        self._measured: dict[tuple[int, str], Measured] = {}
        self._verdicts: dict[int, Verdict] = {}
        self._noted: tuple[str, ...] = ()
        probes = all_probes()
        super().__init__(
            number=int(number),
            told={
                "count": len(suspects()),
                "groups": [
                    {
                        "name": name,
                        "probes": [
                            {"key": k, "title": probes[k].title, "does": probes[k].does} for k in keys
                        ],
                    }
                    for name, keys in GROUPS.items()
                ],
                "names": [{"key": key, "title": fault.title} for key, fault in all_faults().items()],
            },
        )

    @traitlets.validate("number")
    def _is_suspect(self, proposal: Mapping) -> int:
        check_suspect(proposal["value"])
        return proposal["value"]

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Who was found, the evidence on the suspect that is chosen, and the verdict on its last name."""
        number = self.number
        ran = self._probes_run(number)
        trouble = self._judge(ran)
        kept = _kept()
        found = bool(kept.get(number, {}).get("found"))
        opened = found or number in self.insisted
        if opened and not found:
            trouble = trouble or _open(number)
            kept = _kept()
        verdict = self._verdicts.get(number)  # a wrong one is false
        if verdict is None and found:
            verdict = right_verdict(number)
        self.alt = _in_words(number, kept, ran)
        return {
            "number": number,
            "layer": f"d_model = {D_MODEL}, h = {H}, so d_k = {D_MODEL // H}",
            "suspects": [
                {
                    "found": bool(kept.get(each, {}).get("found")),
                    "shown": bool(kept.get(each, {}).get("shown")),
                }
                for each in suspects()
            ],
            "evidence": [self._evidence(number, key) for key in ran],
            "found": found,
            "wrong": len(kept.get(number, {}).get("wrong", [])),
            "verdict": None if verdict is None else _verdict(verdict),
            "answer": all_faults()[fault_of(number).key].title if opened else "",
            "lines": _lines(number) if opened else [],
            "overview": _overview(),
            "trouble": trouble,
        }, b""

    def _probes_run(self, number: int) -> list[str]:
        keys = self.ran.get(str(number))
        known = all_probes()
        return [key for key in dict.fromkeys(keys) if key in known] if isinstance(keys, list) else []

    def _judge(self, ran: list[str]) -> str:
        """The verdict on a name that was sent; once, however often the answer is computed."""
        asked = tuple(map(str, self.said))
        if len(asked) != 2 or asked == self._noted:
            return ""
        self._noted = asked
        number, name = self.said
        verdict = name_bug(number, name, seen=ran)
        if verdict.suspect is not None:
            self._verdicts[verdict.suspect] = verdict
        return verdict.remark

    def _evidence(self, number: int, key: str) -> dict[str, object]:
        if (number, key) not in self._measured:
            self._measured[number, key] = probe(key, suspect(number, D_MODEL, H))
        measured = self._measured[number, key]
        return {
            "key": key,
            "title": measured.title,
            "apart": bool(measured.apart()),
            "rows": measured.rows(),
            "sound": _finding(measured.sound),
            "suspect": _finding(measured.suspect),
        }

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """The live hunt, and for places without a front end what to write in its place."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        n = self.number
        code = f'bug_hunt.probe("blocked", bug_hunt.suspect({n})); bug_hunt.name_bug({n}, "mask-reversed")'
        data["text/html"] = (
            f"<p><strong>The bug hunt.</strong> {html.escape(self.alt)} By code: "
            f"<code>{html.escape(code)}</code>.</p>"
        )
        return data, metadata


def _kept() -> dict[int, progress_bugs.Hunted]:
    """What is kept of the hunt; nothing where it can't be read (a lesson must go on)."""
    try:
        return progress_bugs.hunted()
    except (OSError, ValueError):
        return {}


def _open(number: int) -> str:
    """Note that the lines of a suspect were asked for."""
    try:
        reveal(number, insist=True)
        return ""
    except (OSError, ValueError) as problem:
        return f"This could not be kept: {problem}"


def _in_words(number: int, kept: Mapping[int, progress_bugs.Hunted], ran: list[str]) -> str:
    found = sum(bool(entry["found"]) for each, entry in kept.items() if each in suspects())
    probes = {1: "1 probe was run on it"}.get(len(ran), f"{len(ran)} probes were run on it")
    return f"{found} of {len(suspects())} suspects found. Suspect {number} is chosen; {probes}."


def _overview() -> dict[str, object] | None:
    """Which probe tells which of the suspects that were found; None while there is none."""
    try:
        found = overview()
    except (OSError, ValueError):
        return None
    rows = [
        {"number": each, "title": fault_of(each).title, "told": list(told)}
        for each, told in found.rows.items()
    ]
    return {"sentence": found.sentence(), "rows": rows, "fewest": list(found.fewest)} if rows else None


def _finding(finding: Finding) -> dict[str, object]:
    return {"sentence": finding.sentence, "table": None if finding.table is None else _table(finding.table)}


def _table(table: Table) -> dict[str, object]:
    rows, columns = table.labels()
    return {
        "title": table.title,
        # JSON has no nan.
        "values": [[None if math.isnan(v) else round(v, 5) for v in row] for row in table.values],
        "rows": table.rows,
        "columns": table.columns,
        "row_labels": list(rows),
        "column_labels": list(columns),
        "blocked": sorted(map(list, table.blocked)),
    }


def _verdict(verdict: Verdict) -> dict[str, object]:
    link = verdict.place.link(verdict.shows) if verdict.place else None
    return {
        "right": verdict.passed,
        "name": verdict.name,
        "title": verdict.title,
        "says": verdict.says,
        "evidence": verdict.evidence,
        "probe": verdict.probe,
        "mend": verdict.mend,
        "met": verdict.met,
        "link": link,
        "shows": verdict.shows,
    }


def _lines(number: int) -> list[dict[str, object]]:
    return [
        {"name": step.name, "sound": list(map(list, step.sound)), "suspect": list(map(list, step.suspect))}
        for step in steps_of(number)
    ]
