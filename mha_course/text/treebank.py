"""Reading sentences with dependency trees from CoNLL-U files, the course's own treebank among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from mha_course.data_files import data_path
from mha_course.text.parsed_sentence import ParsedSentence

COURSE_TREEBANK = "treebank/course_treebank.conllu"
_COLUMNS = 10


@dataclass(frozen=True)
class TreebankSentence:
    """A sentence of a treebank: its tree, and the text as it was written."""

    parsed: ParsedSentence
    text: str


def read_conllu(path: Path, subtypes: bool = True) -> list[ParsedSentence]:
    """The trees of all sentences of a CoNLL-U file; for the rest see `read_treebank`."""
    return [sentence.parsed for sentence in read_treebank(path, subtypes)]


def read_treebank(path: Path, subtypes: bool = True, only_trees: bool = False) -> list[TreebankSentence]:
    """All sentences of a CoNLL-U file, with their texts.

    Ranges such as 4-5 (a word written together) and empty nodes such as 8.1 are no words of the tree, as
    the format says. The text is that of the comment "# text"; without one it is put together from the forms,
    by SpaceAfter=No. subtypes: keep "nmod:poss"; else it becomes "nmod". only_trees: leave sentences out
    whose heads are no tree with one root, instead of raising.

    Raises: ValueError that names file and line when a line is not CoNLL-U, or says that it is not UTF-8.
    Source: Universal Dependencies, CoNLL-U format (Buchholz and Marsi 2006 for its ancestor).
    """
    return list(_sentences(path, subtypes, only_trees))


def merged_relations(sentence: ParsedSentence, merged: Mapping[str, str]) -> ParsedSentence:
    """The same sentence with some relations under another name, such as "nsubj:pass" as "nsubj"."""
    return replace(sentence, relations=tuple(merged.get(name, name) for name in sentence.relations))


@lru_cache(maxsize=1)
def course_treebank() -> tuple[ParsedSentence, ...]:
    """The sentences that were written and annotated for this course.

    Raises: FileNotFoundError when data/ is missing.
    """
    return tuple(read_conllu(data_path(COURSE_TREEBANK)))


@dataclass
class _Block:
    """The lines of one sentence, as they come."""

    rows: list[tuple[str, str, int, str]] = field(default_factory=list)
    text: str | None = None
    forms: list[str] = field(default_factory=list)  # what was written, with the blank behind it
    together: int = 0  # up to this word the form of a range was taken already

    def add(self, line: str, where: str, subtypes: bool) -> None:
        """One line that is no comment."""
        columns = line.split("\t")
        if len(columns) != _COLUMNS:
            raise ValueError(f"{where}: {len(columns)} columns; CoNLL-U has {_COLUMNS}, set apart by tabs.")
        number, form = columns[:2]
        first, _, last = number.partition("-")
        if number.isdecimal() or (first.isdecimal() and last.isdecimal()):
            if int(first) > self.together:
                self.forms.append(form + ("" if "SpaceAfter=No" in columns[9].split("|") else " "))
            self.together = max(self.together, int(last or 0))
        if not number.isdecimal():
            return
        if int(number) != len(self.rows) + 1:  # heads are such numbers: they would point at other words
            raise ValueError(f"{where}: the word is numbered {number}; the next one is {len(self.rows) + 1}.")
        if not columns[6].isdecimal():
            raise ValueError(f"{where}: the head is {columns[6]!r}; a number is wanted, 0 for the root.")
        relation = columns[7] if subtypes else columns[7].partition(":")[0]
        self.rows.append((form, columns[3], int(columns[6]) - 1, relation))

    def sentence(self, where: str) -> TreebankSentence:
        """The sentence that the lines make."""
        try:
            parsed = ParsedSentence(*(tuple(column) for column in zip(*self.rows, strict=True)))
        except ValueError as error:
            raise _NoTree(f"{where}: {error}") from None
        return TreebankSentence(parsed, "".join(self.forms).strip() if self.text is None else self.text)


class _NoTree(ValueError):
    """The lines are CoNLL-U, but their heads are no tree."""


def _sentences(path: Path, subtypes: bool, only_trees: bool) -> Iterator[TreebankSentence]:
    block = _Block()
    # splitlines() would also break lines at signs that may stand in a word, such as U+2028.
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise ValueError(
            f"{path.name} is no text in UTF-8, as CoNLL-U files are: save it as UTF-8."
        ) from None
    for number, line in enumerate([*lines, ""], 1):
        line, where = line.removesuffix("\r"), f"{path.name}, line {number}"
        if not line.strip(" \t"):
            if block.rows:
                try:
                    yield block.sentence(where if number <= len(lines) else f"{path.name}, last sentence")
                except _NoTree:
                    if not only_trees:
                        raise
            block = _Block()
        elif line.startswith("#"):
            name, _, value = line[1:].partition("=")
            if name.strip() == "text":
                block.text = value.strip()
        else:
            block.add(line, where, subtypes)
