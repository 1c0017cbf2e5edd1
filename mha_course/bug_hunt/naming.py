"""Names for faults, and the verdict on one: right, with what there is to learn, or refuted by measurement."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from mha_course import progress_bugs
from mha_course.bug_hunt.faults import Fault, all_faults, fault_of, suspects
from mha_course.bug_hunt.finding import Finding, number
from mha_course.bug_hunt.measured_once import findings_of, findings_of_the_sound_layer, findings_with
from mha_course.bug_hunt.probing import all_probes
from mha_course.bug_hunt.suspect import Suspect
from mha_course.lesson_places import Place, place_of
from mha_course.sizes import as_written, is_whole_number

PLAIN = 0.5  # a measure twice as large, or half as large: nobody takes that for chance


class Names(dict[str, str]):
    """The names to choose from: short name -> what it says."""

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{key:<{width}}  {title}" for key, title in self.items()).replace("`", "")

    def _repr_html_(self) -> str:
        from mha_course.bug_hunt.showing import names_html

        return names_html(self)


@dataclass(frozen=True)
class Verdict:
    """What a teacher would say about a name.

    suspect: the number, None for something else; name: the short name, "" for an unknown one. passed: whether
    it is right. says, evidence, mend, met: the words; place, shows: where a lesson shows it, and what is seen
    there; remark: what couldn't be kept; probe: the one that speaks against a wrong name.
    """

    suspect: int | None
    name: str
    passed: bool
    says: str
    evidence: str = ""
    mend: str = ""
    met: str = ""
    place: Place | None = None
    shows: str = ""
    remark: str = ""
    probe: str = field(default="", repr=False)

    @property
    def title(self) -> str:
        """Its first line."""
        who = "No such suspect" if self.suspect is None else f"Suspect {self.suspect}"
        if self.passed:
            return f"✓ {who}: found"
        return f"⚠ {who}" + (": not that" if self.name else ": no such name" if self.suspect else "")

    @property
    def message(self) -> str:
        """Everything that is said, as one text."""
        where = f"In the lessons: {self.place.label()}, {self.shows}." if self.place else ""
        mend = f"To mend it: {self.mend}" if self.mend else ""
        met = f"Where it was met: {self.met}" if self.met else ""
        parts = (self.says, self.evidence, mend, met, where, self.remark)
        return "\n".join(part for part in parts if part)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"{self.title}\n{self.message}".replace("`", "")

    def _repr_html_(self) -> str:
        from mha_course.bug_hunt.showing import verdict_html

        return verdict_html(self)


def names() -> Names:
    """Every name that `name_bug` knows: twelve faults that the suspects have, and some that none has."""
    return Names({fault.key: fault.title for fault in all_faults().values()})


def name_bug(number: object, name: object, seen: Sequence[str] = ()) -> Verdict:
    """Say what is wrong with a suspect, by its number and a short name; a right name is kept as found.

    seen: probes that were run already; a wrong name is refuted by one of them, if they can. Never raises for
    what a student writes: an unknown number or name gets a sentence.
    """
    number = number.number if isinstance(number, Suspect) else number
    if not is_whole_number(number) or number not in suspects():
        return Verdict(
            None, "", False, f"There are suspects 1 to {len(suspects())}. Write the number of one."
        )
    number = int(number)
    named = _find(name)
    if named is None:
        return Verdict(number, "", False, _unknown(name))
    true = fault_of(number)
    trouble = progress_bugs.note_name(number, named.key, named.key == true.key) or ""
    if named.key != true.key:
        probe, words = _against(number, named, tuple(seen))
        return Verdict(
            number,
            named.key,
            False,
            f"“{_sentence(named.title)}” is not what is wrong here.",
            words,
            remark=trouble,
            probe=probe,
        )
    return right_verdict(number, trouble)


def right_verdict(number: int, remark: str = "") -> Verdict:
    """What is said once a suspect was found. remark: what couldn't be kept."""
    true = fault_of(number)
    return Verdict(
        number,
        true.key,
        True,
        f"{_sentence(true.title)}. {true.explains}",
        mend=true.mend,
        met=true.met,
        place=place_of(true.cell),
        shows=true.shows,
        remark=remark,
    )


def _find(name: object) -> Fault | None:
    """The fault with that short name, or with that title."""
    if not isinstance(name, str):
        return None
    wanted = " ".join(name.lower().replace("`", "").split())
    for fault in all_faults().values():
        in_words = fault.title.lower().replace("`", "")
        if wanted == in_words or wanted.replace(" ", "-").replace("_", "-") == fault.key:
            return fault
    return None


def _unknown(name: object) -> str:
    """What is said to a name that is in no list."""
    said = as_written(name)
    near = difflib.get_close_matches(name if isinstance(name, str) else "", all_faults(), n=2, cutoff=0.5)
    hint = f"Did you mean {' or '.join(f'`{key}`' for key in near)}?" if near else "`names()` lists them all."
    return f"`{said}` is none of the names. {hint}"


def _against(suspect_number: int, named: Fault, seen: tuple[str, ...]) -> tuple[str, str]:
    """The probe that speaks most clearly against a name, and what it says."""
    mine, theirs = findings_of(suspect_number), findings_with(named.key)
    sound = findings_of_the_sound_layer()
    ranked = []
    for place, key in enumerate(all_probes()):
        if theirs[key].apart(mine[key]):
            # First a symptom that such a fault would have, the plain ones before the slight ones, and among
            # them what was measured already.
            expected = bool(theirs[key].apart(sound[key]))
            plain = max(theirs[key].gaps(mine[key]).values()) >= PLAIN
            ranked.append((not expected, not plain, key not in seen, place, key))
    key = min(ranked)[-1]
    said = _contrast(theirs[key], mine[key])
    return key, f"The probe “{all_probes()[key].title}” speaks against it. {said}"


def _contrast(expected: Finding, found: Finding) -> str:
    """What such a fault would measure, beside what was measured."""
    if "error" in expected.measures:
        return "Such a layer would stop with an error there; this one goes on."
    if "error" in found.measures:
        return "This suspect stops with an error there, and such a fault causes none."
    gaps = expected.gaps(found)
    shared = [label for label in gaps if label in expected.measures and label in found.measures]
    if shared:
        label = next((one for one in shared if gaps[one] >= PLAIN), max(shared, key=gaps.__getitem__))
        would, does = number(expected.measures[label]), number(found.measures[label])
        return f"{_sentence(label)}: with that fault {would}, with this suspect {does}."
    return f"With that fault: {expected.sentence} With this suspect: {found.sentence}"


def _sentence(text: str) -> str:
    """A clause with a capital letter, unless it begins with code."""
    return text[:1].upper() + text[1:]
