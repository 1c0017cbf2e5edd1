"""One axis of a result, in words: reversed, rotated, two changed places, some missing, one for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mha_course.exercises.evidence import in_a_row
from mha_course.exercises.witness import counted


@dataclass(frozen=True)
class Along:
    """What stands along one axis. cost: how far from nothing at all; words: a clause, "" when it is right."""

    cost: float
    words: str = ""


def plural(word: str) -> str:
    """The word for several."""
    return word + "s"


def names(word: str, indices: Sequence[int]) -> str:
    """Heads 1 and 3, tokens 0 to 4, feature 2: as they read in a sentence, runs in short."""
    shown = [counted(word, i) for i in indices]
    if len(shown) == 1:
        return f"{word} {shown[0]}"
    return f"{plural(word)} {run(shown)}"


def verb(indices: Sequence[int], one: str, several: str) -> str:
    """The form of a verb that goes with so many."""
    return one if len(indices) == 1 else several


def run(shown: Sequence[int]) -> str:
    """Numbers in short: "0 to 4", "11 down to 8", "0, 3, 6, ...", or one by one."""
    steps = {b - a for a, b in zip(shown, shown[1:], strict=False)}
    if len(shown) > 2 and steps == {1}:
        return f"{shown[0]} to {shown[-1]}"
    if len(shown) > 2 and steps == {-1}:
        return f"{shown[0]} down to {shown[-1]}"
    if len(shown) > 6:
        return ", ".join(map(str, shown[:5])) + ", ..."
    return in_a_row([str(i) for i in shown])


def along(word: str, size: int, held: Sequence[int]) -> Along:
    """What an axis holds in its places 0, 1, ..., when it should hold 0 to size - 1 in order."""
    held, n, all_ = list(held), len(held), list(range(size))
    the = f"the {plural(word)}"
    if held == all_:
        return Along(0)
    if n == 1:
        return Along(1, f"only {names(word, held)} is there")
    if sorted(held) == all_:
        return _reordered(word, the, held, all_)
    missing = [i for i in all_ if i not in held]
    are = verb(missing, "is", "are")
    if len(set(held)) == n:
        kept = f"only {names(word, held)} are there" if len(held) <= len(missing) else ""
        lost = f"{names(word, missing)} {are} missing"
        rest = "" if sorted(held) == held else f", and the others stand in the order {_listed(word, held)}"
        return Along(1 if sorted(held) == held else 2, (kept or lost) + rest)
    if len(set(held)) == 1:
        return Along(1, f"{names(word, held[:1])} stands in the place of every {word}")
    lost = f"; {names(word, missing)} {are} missing" if missing else ""
    if n == size:
        wrong = [place for place, i in enumerate(held) if i != place]
        if len(wrong) == 1:
            place = wrong[0]
            there = f"in the place of {names(word, [place])} stands {names(word, [held[place]])} once more"
            return Along(1.5, there)
        if all(i == min(place + 1, size - 1) for place, i in enumerate(held)):
            return Along(1.5, f"each place holds the next {word}, and the last one comes twice{lost}")
        if all(i == max(place - 1, 0) for place, i in enumerate(held)):
            return Along(1.5, f"each place holds the {word} before, and the first one comes twice{lost}")
    return Along(2, f"{the} stand there as {_listed(word, held)}{lost}")


def _reordered(word: str, the: str, held: list[int], all_: list[int]) -> Along:
    n = len(held)
    if n > 2 and held == all_[::-1]:
        return Along(1, f"{the} run backwards ({_listed(word, held)})")
    wrong = [i for i in all_ if held[i] != i]
    if len(wrong) == 2:
        return Along(1, f"{names(word, wrong)} have changed places")
    if all(i == (place + held[0]) % n for place, i in enumerate(held)):
        by = held[0] if held[0] <= n // 2 else held[0] - n
        way = "next" if by == 1 else "before" if by == -1 else ""
        which = {"next": f"the next {word}", "before": f"the {word} before"}.get(way) or (
            f"the {word} {abs(by)} places {'on' if by > 0 else 'back'}"
        )
        first = f"place {counted(word, 0)} holds {names(word, held[:1])}"
        return Along(1, f"{the} are rotated: each place holds {which} ({first})")
    return Along(2, f"{the} stand in the order {_listed(word, held)}")


def _listed(word: str, held: Sequence[int]) -> str:
    shown = [str(counted(word, i)) for i in held]
    return ", ".join(shown if len(shown) <= 8 else [*shown[:7], "..."])
