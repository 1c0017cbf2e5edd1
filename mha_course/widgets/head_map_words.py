"""What the HeadMap says about its examples, about a sentence of one's own, and of itself in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mha_course.heads.head_table import HeadTable
from mha_course.heads.measured import Measured
from mha_course.widgets.head_map_chart import words_of
from mha_course.widgets.head_map_examples import Ranked

Notice = dict[str, str]


def rank_words(
    mode: str, measure: Measured | None, ranked: Sequence[Ranked], place: int | None, i: int, count: int
) -> str:
    """Where the example on show stands among the others for the chosen head."""
    if mode == "own":
        return ""
    if measure is None:
        return f"Example {i + 1} of {count}."
    if place is None:
        return f"Example {i + 1} of {count}; for “{words_of(measure)}” nothing is asked here."
    one = ranked[place]
    return (
        f"Example {place + 1} of {len(ranked)}, from best to worst at “{words_of(measure)}”: "
        f"{one.right} of {one.asked} right."
    )


def empty_notice(example: str) -> Notice:
    """Nothing was typed."""
    return {"kind": "empty", "heading": "No sentence yet", "text": "Write one, or take", "sentence": example}


def closed_notice(why: str) -> Notice:
    """A sentence was set for heads that read none."""
    return {"kind": "note", "heading": "These heads read no sentence of your own", "text": why}


def unknown_notice(words: Sequence[str], example: str) -> Notice | None:
    """Words that the model reads as <unk>."""
    words = list(dict.fromkeys(words))
    if not words:
        return None
    many = len(words) > 1
    shown = ", ".join(words[:8]) + (f" and {len(words) - 8} more" if len(words) > 8 else "")
    text = f"{'It reads each of them' if many else 'It reads it'} as <unk>, the token for unknown words."
    heading = f"{len(words)} word{'s' if many else ''} that the model doesn’t know: {shown}"
    return {"kind": "note", "heading": heading, "text": text, "sentence": example}


def cut_notice(cut: int, kept: int) -> Notice | None:
    """A sentence was longer than what is shown."""
    if not cut:
        return None
    text = "Maps of a longer sentence would have cells too small to see."
    return {"kind": "note", "heading": f"{cut + kept} words, the first {kept} are read", "text": text}


def alt_text(
    table: HeadTable, roles: Mapping[str, Sequence[tuple[int, int]]], layer: int, head: int, rank: str
) -> str:
    """The whole picture in words: which heads have which role, and the chosen head's best score."""
    parts = []
    for name, heads in roles.items():
        listed = ", ".join(f"L{x} H{y}" for x, y in heads[:12]) or "none"
        more = f" and {len(heads) - 12} more" if len(heads) > 12 else ""
        parts.append(f"{name}: {listed}{more}")
    scores = table.of_head(layer, head)
    best = ""
    if scores:
        first = scores[0]
        rule = first.rule.replace("always -", "always −")
        best = f" {first.short} {first.value:.2f}, {rule} {first.baseline:.2f}."
    return (
        f"Head map of {table.model or 'a model'}, {table.n_layers} layers of {table.n_heads} heads. "
        f"{'; '.join(parts)}. Chosen: layer {layer}, head {head}.{best} {rank}".strip()
    )
