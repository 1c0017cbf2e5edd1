"""What the AttentionExplorer says: its title, its notices, and the picture in words."""

from __future__ import annotations

from collections.abc import Mapping

from mha_course.attention import divisors_in_words
from mha_course.widgets.named_words import named_words


def heading(h: int, layer: int = 1, layers: int = 1) -> str:
    """The title of the still picture."""
    heads = "One head, one sentence" if h == 1 else f"{h} heads, one sentence"
    return f"{heads}, layer {layer} of {layers}" if layers > 1 else heads


def cut_notice(found: int, used: int) -> dict[str, str]:
    """Says that a text was longer than what is read."""
    return {
        "heading": f"{found:,} tokens, the explorer reads the first {used}",
        "text": "Maps of a longer text would have cells too small to see.",
    }


def moved_notice(wished: int, fitting: int, d_model: int) -> dict[str, str]:
    """Says that h was moved to a divisor of d_model."""
    text = f"{wished} does not divide d_model = {d_model}. h can be {divisors_in_words(d_model)}."
    return {"heading": f"h moved from {wished} to {fitting}", "text": text}


def below_a_still(header: Mapping) -> str:
    """What the live view writes beside its maps and a still picture can't: names of heads, unknown words."""
    named = [f"{i} {name}" for i, name in enumerate(header["names"], 1) if name]
    heads = f" Heads: {', '.join(named)}." if named else ""
    return heads + _unknown(header)


def in_words(header: Mapping, mask: str) -> str:
    """The alternative text: sizes, heads with their names and spread, and words that were not known."""
    h = header["h"]
    names = [name or f"head {i + 1}" for i, name in enumerate(header["names"] or [""] * h)]
    shown = ", ".join(
        f"{name} spread {spread:.2f}" if header["facts"] else name
        for name, spread in list(zip(names, header["spread"], strict=True))[:8]
    )
    more = "" if h <= 8 else f", and {h - 8} more"
    layer = f"layer {header['layer']} of {header['layers']}, " if header["layers"] > 1 else ""
    return (
        f"Attention weights of {h} head{'s' if h > 1 else ''} for {header['n']} tokens, "
        f"{layer}d_model {header['d_model']}, mask {mask}: {shown}{more}.{_unknown(header)}"
    )


def _unknown(header: Mapping) -> str:
    words = named_words(header["tokens"][i] for i in header["unknown"])
    return f" Read as <unk>, unknown to the model: {words}." if words else ""
