"""Roles in plain words: short enough for a caption, and in full for whoever asks.

A card of a trained model names the best head for every criterion (see `criteria.py`). Here the same is told
the other way round: for each head, what it is the best one at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mha_course.heads.criteria import NEXT, PREVIOUS, RAREST, TO_DEPENDENT, TWO_RAREST

# For a relation: dependent and head, in a word as short as it can be, and in full.
_RELATIONS = {
    "acl": ("acl", "noun", "verb that describes a noun", "its noun"),
    "acl:relcl": ("relcl", "noun", "verb of a relative clause", "its noun"),
    "advcl": ("advcl", "verb", "verb of a side clause", "main verb"),
    "advmod": ("adv", "verb", "adverb", "what it modifies"),
    "amod": ("adj", "noun", "adjective", "its noun"),
    "appos": ("appos", "noun", "noun that explains another", "the noun before it"),
    "aux": ("aux", "verb", "auxiliary", "its verb"),
    "case": ("prep", "noun", "preposition", "its noun"),
    # "and" joins nouns as well as verbs, so neither of these two may speak of verbs.
    "cc": ("and", "joined", "“and” or “but”", "its joined word"),
    "ccomp": ("clause", "verb", "verb of a clause that is an object", "its verb"),
    "compound": ("1st noun", "2nd noun", "first noun of a compound", "its last noun"),
    "compound:prt": ("particle", "verb", "particle", "its verb"),
    "conj": ("2nd joined", "1st joined", "second joined word", "first joined word"),
    "cop": ("be", "predicate", "form of “be”", "its predicate"),
    "det": ("det", "noun", "determiner", "its noun"),
    "expl": ("there", "verb", "“there” or “it” that stands for nothing", "its verb"),
    "flat": ("2nd name", "1st name", "second part of a name", "its first part"),
    "iobj": ("whom", "verb", "indirect object", "its verb"),
    "mark": ("mark", "verb", "word that opens a side clause", "its verb"),
    "nmod": ("nmod", "noun", "noun behind a preposition", "noun before it"),
    "nmod:poss": ("poss", "noun", "his, her, my …", "its noun"),
    "nsubj": ("subj", "verb", "subject", "its verb"),
    "nummod": ("num", "noun", "numeral", "its noun"),
    "obj": ("obj", "verb", "object", "its verb"),
    "obl": ("obl", "verb", "noun behind a preposition", "its verb"),
    "punct": ("stop", "verb", "full stop", "main verb"),
    "xcomp": ("predicate", "verb", "predicate without a subject of its own", "its verb"),
}
_OTHERS = {
    PREVIOUS: ("previous", "word → previous word"),
    NEXT: ("next", "word → next word"),
    RAREST: ("rarest", "word → rarest word of the sentence"),
    TWO_RAREST: ("2 rarest", "word → one of the two rarest words"),
}


@dataclass(frozen=True)
class HeadLabel:
    """What a head is the best one at, in order of how much that tells about it.

    short: for a caption, with the share of hits; "" for a head without a role. full: one sentence a role.
    """

    short: str = ""
    full: tuple[str, ...] = ()


def role_in_short(name: str) -> str:
    """A criterion's name for a caption, such as "det → noun"."""
    return _in_words(name, 0, 0)


def role_in_full(name: str) -> str:
    """A criterion's name in words that need no glossary, such as "determiner → its noun"."""
    return _in_words(name, 2, 1)


def head_labels(
    roles: Sequence[Mapping[str, object]],
    n_layers: int,
    h: int,
    passed: Sequence[Sequence[Mapping[str, object] | None]] = (),
) -> tuple[HeadLabel, ...]:
    """One label a head, layer after layer, from the roles of one training run on a card.

    Only the best head of each role is named by a card, so a head without a label may still be good at one.
    passed: for each layer and head a role that it passes (name, score) or None; names the heads that are
    the best ones at nothing.
    """
    # A head that finds the rarest word finds one of the two rarest as well: that is no second role.
    finds_rarest = [tuple(role["head"]) for role in roles if role["role"] == RAREST]
    labels = []
    for head in [(layer, i) for layer in range(1, n_layers + 1) for i in range(1, h + 1)]:
        own = [role for role in roles if tuple(role["head"]) == head]
        if head in finds_rarest:
            own = [role for role in own if role["role"] != TWO_RAREST]
        own.sort(key=_more_hits, reverse=True)
        other = passed[head[0] - 1][head[1] - 1] if passed else None
        if not own and other is not None:
            share, name = percent(other["score"]), other["name"]
            full = f"{role_in_full(name)} {share} (another head is better at it)"
            labels.append(HeadLabel(f"{role_in_short(name)} {share}", (full,)))
            continue
        labels.append(HeadLabel(_caption(own), tuple(map(_sentence, own))))
    return tuple(labels)


def percent(share: float) -> str:
    """A share as a whole percentage; 100 % only where nothing is missing."""
    return f"{100 if share >= 0.9995 else min(99, round(100 * share))} %"


def _more_hits(role: Mapping[str, object]) -> float:
    """Hits above those of the best simple rule: roles of frequent words tell more about a head."""
    return (role["held"] - role["baseline"]) * role["asked"]


def _caption(own: Sequence[Mapping[str, object]]) -> str:
    if not own:
        return ""
    more = f" +{len(own) - 1}" if len(own) > 1 else ""
    return f"{role_in_short(own[0]['role'])} {percent(own[0]['held'])}{more}"


def _sentence(role: Mapping[str, object]) -> str:
    rule = role["rule"].replace("always -", "always −").replace("longest", "the longest")
    return f"{role_in_full(role['role'])} {percent(role['held'])} ({rule}: {percent(role['baseline'])})"


def _in_words(name: str, first: int, full: int) -> str:
    if name in _OTHERS:
        return _OTHERS[name][full]
    relation, _, direction = name.partition(": ")
    dependent, head = _RELATIONS.get(relation, (relation, "head", relation, "its head"))[first : first + 2]
    if direction == TO_DEPENDENT:
        # "its" belongs to the word that comes first.
        head, dependent = (head.removeprefix("its "), f"its {dependent}") if full else (head, dependent)
        return f"{head} → {dependent}"
    return f"{dependent} → {head}"
