"""What a wrong list of ids is: right ids and others, a shift, something that was looked up differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome

_PLACE = "which tokens get an id, and in which order."


def read_ids(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """A reading of the ids in case i."""
    tokens, vocabulary = evidence.cases[i].arguments
    got = evidence.got[i].leaves
    if len(got) != 1 or got[0].is_complex():
        return None
    want = evidence.expected[i].leaves[0].tolist()
    if got[0].ndim == 2:
        return _nested(want, got[0].tolist(), len(vocabulary))
    if got[0].ndim == 0:
        says = f"It returns one number, `{got[0].item()}`; a list is wanted, with one id for each token."
        return Finding("one-number", says, look="`return` inside a loop, and what is put together.")
    if got[0].ndim != 1:
        return None
    have = got[0].tolist()
    if any(x != x for x in have):
        if not all(x != x for x in have):
            return None
        says = "Every entry is `None`: `print` and `append` give nothing back."
        return Finding("all-none", says, look="what stands in front of `for` in the list.")
    return (
        _otherwise(evidence)
        or _length(want, have, tokens, vocabulary)
        or _shifted(want, have)
        or _whose(want, have, tokens, vocabulary)
    )


def _otherwise(evidence: Evidence) -> Finding | None:
    """What was looked up instead, the same in every case that came to an end."""
    fits: dict[str, str] | None = None
    for case, out, expected in zip(evidence.cases, evidence.got, evidence.expected, strict=True):
        if out.error is not None or not case.arguments[0]:
            continue
        if len(out.leaves) != 1 or out.leaves[0].ndim != 1:
            return None
        if out.leaves[0].is_floating_point() and out.leaves[0].numel():
            return None
        have = out.leaves[0].tolist()
        made = _made(*case.arguments, expected.leaves[0].tolist())
        same = {words: look for words, look, ids in made if ids == have}
        fits = same if fits is None else {words: look for words, look in fits.items() if words in same}
    if not fits:
        return None
    words, look = next(iter(fits.items()))
    return Finding("looked-up-otherwise", words, look=look)


def _nested(want: list[int], have: list[list[float]], size: int) -> Finding | None:
    if [[x] for x in want] == have:
        return Finding("nested", "Each id stands in a list of its own.", look="the brackets.")
    if [want] == have:
        return Finding("nested", "The list of ids stands in another list.", look="the outermost brackets.")
    if len(have) == len(want) and all(sum(row) == 1 and set(row) <= {0, 1} for row in have):
        says = "These are rows of zeros with a 1 (one-hot); the ids themselves are wanted."
        return Finding("one-hot", says, look="the last step.")
    return None


def _made(tokens: list[str], vocabulary: dict[str, int], want: list[int]) -> Iterator[tuple[str, str, list]]:
    """Other look-ups, with words and where to look."""
    unknown = vocabulary["<unk>"]
    key = "what is done to a token before it is looked up."
    fallback = 'the entry that the vocabulary keeps for unknown words, `"<unk>"`.'
    for words, change in (
        ("Every token is written in capitals before it is looked up.", str.upper),
        ("Every token gets a capital first letter before it is looked up.", str.capitalize),
        ("Every token gets a capital first letter before it is looked up.", str.title),
        ("Tokens are written in small letters before they are looked up.", str.lower),
        ("Large and small letters are exchanged before a token is looked up.", str.swapcase),
        ("The letters of each token are turned round before it is looked up.", lambda t: t[::-1]),
        ("Each token loses its first letter before it is looked up.", lambda t: t[1:]),
        ("Each token loses its last letter before it is looked up.", lambda t: t[:-1]),
        ("Only the first letter of each token is looked up.", lambda t: t[:1]),
        ("Each token is looked up with a space in front.", lambda t: " " + t),
    ):
        yield words, key, [vocabulary.get(change(t), unknown) for t in tokens]
        for other in (0, -1, None):
            both = f"{words} And: unknown words get `{other}`."
            yield both, f"{key} And: {fallback}", [vocabulary.get(change(t), other) for t in tokens]
    either = "Id 0 is taken for a missing word: `or` and `if` count 0 as False."
    yield either, "what counts as False.", [vocabulary.get(t) or unknown for t in tokens]
    known = [vocabulary[t] for t in tokens if t in vocabulary]
    yield "Known words only, each once.", _PLACE, list(dict.fromkeys(known))
    yield "Known words only, sorted.", _PLACE, sorted(known)
    yield "Known words only, in reversed order.", _PLACE, known[::-1]
    for words, other in (
        ("the size of the vocabulary", len(vocabulary)),
        ("the largest id plus 1", max(vocabulary.values()) + 1),
        ("the largest id", max(vocabulary.values())),
        ("the id of padding", vocabulary.get("<pad>", 0)),
    ):
        says = f"Unknown words get {words}, `{other}`."
        yield says, fallback, [vocabulary.get(t, other) for t in tokens]
    ids = list(vocabulary.values())
    ranked = {t: rank for rank, t in enumerate(sorted(vocabulary))}
    yield (
        "These are places in the sorted vocabulary.",
        "keys and values of the dictionary.",
        [ranked.get(t, ranked["<unk>"]) for t in tokens],
    )
    yield "The numbers are lengths of words.", "what is looked up.", [len(t) for t in tokens]
    yield "These are all ids of the vocabulary, whatever the tokens are.", "what the loop goes over.", ids
    yield (
        "These are all ids of the vocabulary, whatever the tokens are.",
        "what the loop goes over.",
        sorted(ids),
    )
    yield (
        "The ids stand in the order of the vocabulary, not of the tokens.",
        "what the loop goes over.",
        [vocabulary[t] for t in vocabulary if t in tokens],
    )
    yield (
        "Every token is looked up letter by letter.",
        "what the loop goes over.",
        [vocabulary.get(letter, unknown) for t in tokens for letter in t],
    )
    yield "It counts how often each token comes.", "what is looked up.", [tokens.count(t) for t in tokens]
    yield (
        "These are the places where each word stands first in the sentence.",
        "what is looked up.",
        [tokens.index(t) for t in tokens],
    )
    numbers = {t: n for n, t in enumerate(dict.fromkeys(tokens))}
    yield (
        "The words are numbered anew, in the order of the sentence.",
        "where the numbers come from.",
        [numbers[t] for t in tokens],
    )
    yield (
        "The words are numbered from 1.",
        "where the numbers come from.",
        [k + 1 for k in range(len(tokens))],
    )
    yield (
        "1 for a known word and 0 for an unknown one: that is whether it is there, not its id.",
        ("what is looked up."),
        [int(t in vocabulary) for t in tokens],
    )
    first = next((k for k, t in enumerate(tokens) if t not in vocabulary), len(tokens))
    yield "The result ends at the first unknown word.", "`break` and `return` inside the loop.", want[:first]
    yield (
        "The result ends with the first unknown word.",
        "`break` and `return` inside the loop.",
        want[: first + 1],
    )
    last = [want[first]] + known if first < len(tokens) else []
    yield "Unknown words come first, then the known ones.", _PLACE, last
    carried: list[int] = []
    for t in tokens:
        carried.append(vocabulary[t] if t in vocabulary else carried[-1] if carried else unknown)
    yield "An unknown word gets the id of the word before it.", fallback, carried


def _length(
    want: list[int], have: list[float], tokens: list[str], vocabulary: dict[str, int]
) -> Finding | None:
    """Right ids, and too many or too few of them."""
    counts = f"{len(tokens)} tokens, {len(have)} ids"
    if len(have) > len(want):
        more = len(have) - len(want)
        if have == want * (len(have) // max(len(want), 1)):
            return Finding("more-ids", f"The whole list comes more than once: {counts}.", look=_PLACE)
        if have[more:] == want:
            says = f"All ids are right, and {_listed(have[:more])} stands in front besides: {counts}."
            return Finding("more-ids", says, look="what is put in before the first token.")
        if have[:-more] == want:
            says = f"All ids are right, and {_listed(have[-more:])} follows besides: {counts}."
            return Finding("more-ids", says, look="what is put in after the last token.")
        if more == 2 and have[1:-1] == want:
            says = f"All ids are right; {have[0]} in front and {have[-1]} at the end are too many: {counts}."
            return Finding("more-ids", says, look="what is put in around the tokens.")
        if have == [x for x in want for _ in range(2)]:
            return Finding("more-ids", f"Each id comes twice: {counts}.", look=_PLACE)
        unknown = vocabulary["<unk>"]
        if [x for x in have if x != unknown] == [x for x in want if x != unknown]:
            says = f"Known words are right. There are {have.count(unknown)} ids for unknown words: {counts}."
            return Finding("more-ids", says, look="what happens when a token is not in the vocabulary.")
    if len(have) < len(want):
        for k in range(1, len(want)):
            if have == want[:-k] or have == want[k:]:
                end = "last" if have == want[:-k] else "first"
                words = f"the {end} token is" if k == 1 else f"the {end} {k} tokens are"
                says = f"What is there is right, but {words} missing: {counts}."
                return Finding("fewer-ids", says, look="where the loop begins and ends.")
        if have == want[::2]:
            return Finding("fewer-ids", f"Every second token is left out: {counts}.", look=_PLACE)
        lost = _left_out(want, have, tokens)
        if lost:
            listed = in_a_row([f"`{token}`" for token in lost[:4]])
            says = f"The ids that are there stand in order, and {listed} got none: {counts}."
            return Finding("fewer-ids", says, look="what happens to these tokens.")
        known = [vocabulary[t] for t in tokens if t in vocabulary]
        if len(have) == len(known):
            says = f"There is one id for each known word only: {counts}."
            return Finding("fewer-ids", says, look="what happens to a token that is not in the vocabulary.")
    return None


def _left_out(want: list[int], have: list[float], tokens: list[str]) -> list[str]:
    """The tokens without an id, where the ids that are there stand in their order; empty when they don't."""
    lost, left = [], list(have)
    for number, token in zip(want, tokens, strict=True):
        if left and left[0] == number:
            left.pop(0)
        else:
            lost.append(token)
    return [] if left or not have else lost


def _listed(ids: list[float]) -> str:
    return ", ".join(f"`{int(x)}`" for x in ids[:3])


def _shifted(want: list[int], have: list[float]) -> Finding | None:
    """As many ids as wanted: all off by one number, or moved by a place."""
    if len(want) != len(have) or not want:
        return None
    gaps = {b - a for a, b in zip(want, have, strict=True)}
    if len(gaps) == 1 and gaps != {0}:
        gap = gaps.pop()
        says = f"Every id is too {'large' if gap > 0 else 'small'} by {abs(gap):g}."
        return Finding("ids-shifted", says, look="what is added to or taken from an id.")
    if (
        all(x and b / x == have[0] / want[0] for x, b in zip(want, have, strict=True))
        and want[0]
        and want != have
    ):
        return Finding(
            "ids-scaled", f"Every id is {have[0] / want[0]:g} times what it should be.", look="a factor."
        )
    for k in (1, -1):
        if have == want[-k:] + want[:-k]:
            way = "later" if k > 0 else "earlier"
            says = f"Every id stands one place {way}; the one that falls off comes in again at the other end."
            return Finding("ids-moved", says, look=_PLACE)
        if have[max(k, 0) : len(have) + min(k, 0)] == want[max(-k, 0) : len(want) + min(-k, 0)]:
            says = f"Every id stands one place {'later' if k > 0 else 'earlier'} than it should."
            return Finding("ids-moved", says, look=_PLACE)
    if want != have and sorted(want) == sorted(have):
        return Finding(
            "ids-in-another-order", "The right ids, in another order than the tokens.", look=_PLACE
        )
    if len(set(have)) == 1:
        return Finding(
            "always-the-same", f"Every token gets the same id, {have[0]:g}.", look="what is looked up."
        )
    return None


def _whose(
    want: list[int], have: list[float], tokens: list[str], vocabulary: dict[str, int]
) -> Finding | None:
    """Whose ids stand there in place of the right ones."""
    if len(want) != len(have) or any(isinstance(x, bool) for x in have):
        return None
    words = {number: word for word, number in vocabulary.items()}
    wrong = [k for k, (a, b) in enumerate(zip(want, have, strict=True)) if a != b]
    if not wrong:
        return None
    said = []
    for k in wrong[:2]:
        owner = words.get(int(have[k]))
        of = f"the id of `{owner}`" if owner else "no id of the vocabulary"
        said.append(f"`{tokens[k]}` gets `{have[k]:g}`, {of}")
    says = f"{'; '.join(said)}{' and so on' if len(wrong) > 2 else ''}."
    if len(wrong) < len(want):
        says += f" {len(want) - len(wrong)} of {len(want)} ids are right."
    return Finding("ids-of-others", says, look="what is looked up for these tokens.")
