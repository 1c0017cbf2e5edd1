"""Reading sentences with dependency trees from CoNLL-U files, the course's own treebank among them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from mha_course.data_files import data_path
from mha_course.text.parsed_sentence import ParsedSentence

COURSE_TREEBANK = "treebank/course_treebank.conllu"
_COLUMNS = 10


def read_conllu(path: Path, subtypes: bool = True) -> list[ParsedSentence]:
    """All sentences of a CoNLL-U file.

    Ranges such as 4-5 (a word written together) and empty nodes such as 8.1 are left out, as the format
    says. subtypes: keep "nmod:poss"; else it becomes "nmod".

    Raises: ValueError that names file and line when a line is not CoNLL-U.
    Source: Universal Dependencies, CoNLL-U format (Buchholz and Marsi 2006 for its ancestor).
    """
    return list(_sentences(path, subtypes))


@lru_cache(maxsize=1)
def course_treebank() -> tuple[ParsedSentence, ...]:
    """The sentences that were written and annotated for this course.

    Raises: FileNotFoundError when data/ is missing.
    """
    return tuple(read_conllu(data_path(COURSE_TREEBANK)))


def _sentences(path: Path, subtypes: bool) -> Iterator[ParsedSentence]:
    rows: list[tuple[str, str, int, str]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            if rows:
                yield _sentence(rows, f"{path.name}, line {number}")
            rows = []
        elif not line.startswith("#"):
            row = _row(line, f"{path.name}, line {number}", subtypes)
            rows += [row] if row else []
    if rows:
        yield _sentence(rows, f"{path.name}, last sentence")


def _row(line: str, where: str, subtypes: bool) -> tuple[str, str, int, str] | None:
    columns = line.split("\t")
    if len(columns) != _COLUMNS:
        raise ValueError(f"{where}: {len(columns)} columns; CoNLL-U has {_COLUMNS}, set apart by tabs.")
    if not columns[0].isdigit():
        return None
    if not columns[6].isdigit():
        raise ValueError(f"{where}: the head is {columns[6]!r}; a number is wanted, 0 for the root.")
    relation = columns[7] if subtypes else columns[7].partition(":")[0]
    return columns[1], columns[3], int(columns[6]) - 1, relation


def _sentence(rows: list[tuple[str, str, int, str]], where: str) -> ParsedSentence:
    try:
        return ParsedSentence(*(tuple(column) for column in zip(*rows, strict=True)))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
