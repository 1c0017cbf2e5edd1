"""What a role is called has to fit the words that have it."""

from __future__ import annotations

from collections import defaultdict

import pytest

from mha_course.heads.criteria import TO_DEPENDENT, TO_HEAD
from mha_course.heads.role_names import role_in_full, role_in_short
from mha_course.text.treebank import course_treebank

NOUNS = {"NOUN", "PROPN", "PRON", "NUM"}  # whatever stands where a noun could
ENOUGH, MOST = 20, 0.7


def called(name: str) -> list[tuple[str, ...]]:
    """The two ends of a role's name, each in words, dependent first."""
    return [tuple(end.replace(",", "").split()) for end in role_in_full(name).split(" → ")]


def tags_of_relations() -> dict[str, list[tuple[str, str]]]:
    """For each relation of the course's treebank the parts of speech of dependent and head."""
    found = defaultdict(list)
    for sentence in course_treebank():
        for i, (relation, head) in enumerate(zip(sentence.relations, sentence.heads, strict=True)):
            if head is not None and head >= 0 and head != i:
                found[relation].append((sentence.upos[i], sentence.upos[head]))
    return found


def test_what_is_called_verb_or_noun_mostly_is_one() -> None:
    asked = 0
    for relation, pairs in tags_of_relations().items():
        if len(pairs) < ENOUGH:
            continue
        for side, words in enumerate(called(f"{relation}: {TO_HEAD}")):
            kind = next((word for word in words if word in ("verb", "noun")), None)
            if kind is None:
                continue
            fitting = {"VERB", "AUX"} if kind == "verb" else NOUNS
            share = sum(pair[side] in fitting for pair in pairs) / len(pairs)
            assert share >= MOST, (relation, words, share)
            asked += 1
    assert asked > 20


@pytest.mark.parametrize(
    ("name", "short", "full"),
    [
        (f"cc: {TO_HEAD}", "and → joined", "“and” or “but” → its joined word"),
        (f"cc: {TO_DEPENDENT}", "joined → and", "joined word → its “and” or “but”"),
        (f"conj: {TO_HEAD}", "2nd joined → 1st joined", "second joined word → first joined word"),
        (f"conj: {TO_DEPENDENT}", "1st joined → 2nd joined", "first joined word → its second joined word"),
        (f"xcomp: {TO_DEPENDENT}", "verb → predicate", "verb → its predicate without a subject of its own"),
    ],
)
def test_names_in_both_directions(name: str, short: str, full: str) -> None:
    assert (role_in_short(name), role_in_full(name)) == (short, full)
