"""What the interview writes into its cards: numbers, links to the lessons, and the name of a topic."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence

from mha_course.interview.card import Card
from mha_course.text.readable import readable

MINUS = "\N{MINUS SIGN}"

# Digits and minus of a power of ten.
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number_in_words(value: object) -> str:
    """A number as a reader takes it in: thousands apart, four digits of a fraction, a true minus."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace("-", MINUS)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return readable(value)
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "∞" if number > 0 else f"{MINUS}∞"
    if number.is_integer() and abs(number) < 10**7:
        return f"{number:,.0f}".replace("-", MINUS)
    size = abs(number)
    if 0.001 <= size < 10**7:
        # As many decimals as make four digits, and none that says nothing.
        decimals = max(0, 3 - math.floor(math.log10(size)))
        text = f"{number:,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        digits, power = f"{number:.2e}".split("e")
        text = f"{digits.rstrip('0').rstrip('.')} · 10{str(int(power)).translate(_RAISED)}"
    return text.replace("-", MINUS)


def evidence_links(card: Card) -> list[dict[str, str]]:
    """The evidence of a card as lesson_link.js takes it; a cell that no lesson has any more is left out."""
    links = []
    for evidence in card.evidence:
        try:
            links.append(evidence.link())
        except (ValueError, OSError):
            continue
    return links


def topic_named(name: str | None, topics: Sequence[str]) -> str:
    """The topic of that name, small or capital letters; "" (all of them) for None.

    Raises: ValueError that names the topics nearest to it, or all.
    """
    if name is None or name == "":
        return ""
    wanted = str(name).strip().casefold()
    by_name = {topic.casefold(): topic for topic in topics}
    if wanted in by_name:
        return by_name[wanted]
    near = difflib.get_close_matches(wanted, by_name, n=3, cutoff=0.4)
    offered = "; ".join(by_name[one] for one in near) if near else "; ".join(topics)
    raise ValueError(f"There is no topic {readable(repr(name))[:100]}. Topics: {offered}.")
