"""What wrong lists of nearest words hold: which words are looked at, which is taken, what is given."""

from __future__ import annotations

import functools

from mha_course.exercises.mistakes.of_nearest_words import NEAREST_MISTAKES, nearest_with
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare


def _same_side(i: int, places: list[int], n: int) -> int:
    before = [j for j in places if j < i]
    return before[-1] if before else min(places)


def _other_side(i: int, places: list[int], n: int) -> int:
    after = [j for j in places if j > i]
    return after[0] if after else places[-1]


_HAS = (
    rare("Every word counts, whatever its tag is.", lambda tag, wanted, own: True),
    rare("Tags that begin alike are taken for the same.", lambda tag, wanted, own: tag[0] == wanted[0]),
    rare("It is a word with another tag than the word itself.", lambda tag, wanted, own: tag != own),
    rare("`in` asks for a part of the text: other tags fit as well.", lambda tag, wanted, own: tag in wanted),
)
_AMONG = (
    rare(
        "Only the word before and the one after are looked at.",
        lambda i, places, tags: [j for j in places if abs(j - i) == 1],
    ),
    rare(
        "Only words up to two places away are looked at.",
        lambda i, places, tags: [j for j in places if 0 < abs(j - i) <= 2],
    ),
    rare(
        "Only words up to three places away are looked at.",
        lambda i, places, tags: [j for j in places if 0 < abs(j - i) <= 3],
    ),
    rare(
        "Words before and the word itself are looked at.",
        lambda i, places, tags: [j for j in places if j <= i],
    ),
    rare(
        "Words after and the word itself are looked at.",
        lambda i, places, tags: [j for j in places if j >= i],
    ),
    Way("Word 0 is never found.", lambda i, places, tags: [j for j in places if j != i and j > 0]),
    Way(
        "The last word is never found.",
        lambda i, places, tags: [j for j in places if j != i and j < len(tags) - 1],
    ),
    rare(
        "The word right before is never found.",
        lambda i, places, tags: [j for j in places if j not in (i, i - 1)],
    ),
    rare(
        "The word right after is never found.",
        lambda i, places, tags: [j for j in places if j not in (i, i + 1)],
    ),
    rare("Only the word itself is looked at.", lambda i, places, tags: [j for j in places if j == i]),
    rare(
        "The first word with the tag is left out.", lambda i, places, tags: [j for j in places[1:] if j != i]
    ),
    rare(
        "The last word with the tag is left out.", lambda i, places, tags: [j for j in places[:-1] if j != i]
    ),
)
_PICKS = (
    Way(
        "Words before have the right of way: one after is taken only where there is none before.", _same_side
    ),
    Way(
        "Words after have the right of way: one before is taken only where there is none after.", _other_side
    ),
    rare(
        "It is the second nearest word with the tag.",
        lambda i, places, n: sorted(places, key=lambda j: abs(j - i))[min(1, len(places) - 1)],
    ),
    rare(
        "The sum of the two places is made small, not their distance.",
        lambda i, places, n: min(places, key=lambda j: abs(j + i)),
    ),
    rare(
        "The difference is made small with its sign: far words before win.",
        lambda i, places, n: min(places, key=lambda j: j - i),
    ),
    rare(
        "The difference is made small with its sign: far words after win.",
        lambda i, places, n: min(places, key=lambda j: i - j),
    ),
    rare(
        "Of equals the one before, but the distance is counted from the word before.",
        lambda i, places, n: min(places, key=lambda j: abs(j - i + 1)),
    ),
    rare(
        "The distance is counted from the word after.",
        lambda i, places, n: min(places, key=lambda j: abs(j - i - 1)),
    ),
    rare(
        "The farthest is taken, of equals the one after.",
        lambda i, places, n: max(places, key=lambda j: (abs(j - i), j)),
    ),
)
_GIVES = (
    rare("It says how often a word was found: 1 for each.", lambda i, j, n: 1),
    rare("These are the words' own places, not those found.", lambda i, j, n: i),
    rare("Places are counted from the end.", lambda i, j, n: n - 1 - j),
    rare("These are places minus n: -1 is the last word.", lambda i, j, n: j - n),
    rare("The distance is turned round.", lambda i, j, n: i - j),
    rare("Places are counted one too low.", lambda i, j, n: j - 1),
    rare("The two places are added up.", lambda i, j, n: j + i),
    rare("It is the number of words between the two.", lambda i, j, n: abs(j - i) - 1),
)
_NONE = (
    rare("Where no other word has the tag it says n. -1 is asked for.", lambda i, n: n),
    rare("Where no other word has the tag it says 1. -1 is asked for.", lambda i, n: 1),
    rare("Where no other word has the tag it says -2. -1 is asked for.", lambda i, n: -2),
    rare("Where no other word has the tag it says n - 1. -1 is asked for.", lambda i, n: n - 1),
    rare("Where no other word has the tag it says -100. -1 is asked for.", lambda i, n: -100),
    rare("Where no other word has the tag it says 999. -1 is asked for.", lambda i, n: 999),
    rare("Where no other word has the tag it says `None`. -1 is asked for.", lambda i, n: float("nan")),
)
_FINISH = (
    Way(
        "Words without an answer are left out of the list. Each word has its entry.",
        lambda found, tags, wanted: [j for j in found if j >= 0],
    ),
    Way(
        "Words that have the tag themselves get -1. They have a nearest other word, too.",
        lambda found, tags, wanted: [-1 if t == wanted else j for j, t in zip(found, tags, strict=True)],
    ),
    Way(
        "Only words that have the tag themselves get an answer.",
        lambda found, tags, wanted: [j if t == wanted else -1 for j, t in zip(found, tags, strict=True)],
    ),
    rare(
        "Words that have the tag themselves are left out of the list.",
        lambda found, tags, wanted: [j for j, t in zip(found, tags, strict=True) if t != wanted],
    ),
    rare(
        "Only words that have the tag themselves are in the list.",
        lambda found, tags, wanted: [j for j, t in zip(found, tags, strict=True) if t == wanted],
    ),
    rare(
        "Everything is -1: no word is ever found.",
        lambda found, tags, wanted: [-1] * len(tags),
        "what is compared with `wanted`, and `j != i`.",
    ),
    rare("The list is in reverse order.", lambda found, tags, wanted: found[::-1]),
    rare("The last word is missing.", lambda found, tags, wanted: found[:-1]),
    rare("The first word is missing.", lambda found, tags, wanted: found[1:]),
    rare("The list is sorted.", lambda found, tags, wanted: sorted(found)),
    rare(
        "It is a list of the places that have the tag.",
        lambda found, tags, wanted: [j for j, t in enumerate(tags) if t == wanted],
    ),
    rare(
        "Every place stands there once: the list has become a set.",
        lambda found, tags, wanted: sorted(set(found)),
    ),
    rare("Word 0 gets -1.", lambda found, tags, wanted: [-1, *found[1:]]),
    rare("The last word gets -1.", lambda found, tags, wanted: [*found[:-1], -1]),
    rare(
        "It says whether there is such a word; its place is asked for.",
        lambda found, tags, wanted: [int(j >= 0) for j in found],
    ),
    rare("All words get the answer of the first one.", lambda found, tags, wanted: [found[0]] * len(found)),
    rare("All words get the answer of the last one.", lambda found, tags, wanted: [found[-1]] * len(found)),
)


@functools.cache
def _more() -> tuple[tuple[list[str], str], ...]:
    """Longer lists, in which chance plays no part."""
    return (
        ("NOUN DET ADJ NOUN ADP DET VERB PRON ADV NOUN VERB NOUN NOUN ADV VERB DET".split(), "NOUN"),
        ("ADV VERB ADJ DET PRON VERB ADP NOUN ADJ DET NOUN VERB".split(), "VERB"),
        ("ADJ ADV DET NOUN VERB PRON ADP".split(), "ADP"),
        ("PUNCT AUX PRON AUX PUNCT NOUN NOUN AUX PUNCT".split(), "PUNCT"),
    )


NEAREST = Recipe(
    nearest_with,
    (
        Slot("among", "which words are looked at.", (*ways_of(NEAREST_MISTAKES, "among"), *_AMONG)),
        Slot("pick", "which of them is taken.", (*ways_of(NEAREST_MISTAKES, "pick"), *_PICKS)),
        Slot("give", "what is put into the list.", (*ways_of(NEAREST_MISTAKES, "give"), *_GIVES)),
        Slot("none", "what stands for none.", (*ways_of(NEAREST_MISTAKES, "none"), *_NONE)),
        Slot(
            "has", "how it is asked whether a word has the tag.", (*ways_of(NEAREST_MISTAKES, "has"), *_HAS)
        ),
        Slot("finish", "which words have an entry.", _FINISH),
    ),
    _more,
)
