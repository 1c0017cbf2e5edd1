"""role_map: layers × heads coloured by what each head does, as a still picture."""

from __future__ import annotations

from collections.abc import Mapping

from mha_course import theme as themes
from mha_course.heads.head_table import HeadRole, HeadTable
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.picture import PADDING, WIDEST, Picture, framed

# Keys of the roles in the palette.
_IN_PALETTE = {
    "previous": "prev",
    "next": "next",
    "syntactic": "syn",
    "rare": "rare",
    "special": "special",
    "broad": "broad",
}
_AXIS, _TOP, _GAP = 34, 22, 3
_LEGEND_ROW = 22


def role_map(
    table: HeadTable,
    thresholds: Mapping[str, float] | None = None,
    chosen: tuple[int, int] | None = None,
    title: str | None = None,
    note: str | None = None,
) -> Picture:
    """Draw every head as a cell with the mark of its first role; a second role cuts the corner.

    thresholds: a share for some of the roles' keys, in place of the table's own. chosen: a head (layer, head)
    counted from 1, to be ringed. title, note: in place of the usual ones.
    Raises: ValueError for a key that isn't a role of the table, and for a head that isn't there.
    """
    roles = table.roles()
    limits = {role.key: role.threshold for role in roles}
    if unknown := set(thresholds or {}) - set(limits):
        raise ValueError(f"no role {', '.join(sorted(unknown))}; there are {', '.join(limits)}.")
    if chosen and not (1 <= chosen[0] <= table.n_layers and 1 <= chosen[1] <= table.n_heads):
        raise ValueError(f"no head {chosen}: {table.n_layers} layers of {table.n_heads}.")
    limits |= thresholds or {}
    passed = _passed(table, roles, limits)
    side = max(22, min(48, int((WIDEST - 2 * PADDING - _AXIS) / table.n_heads) - _GAP))
    width = max(_AXIS + (side + _GAP) * table.n_heads, 420)
    legend = _legend(roles, limits, passed, width)
    grid = _TOP + (side + _GAP) * table.n_layers
    height = grid + 10 + _LEGEND_ROW * len(legend)

    def paint(canvas: Canvas, x: float, y: float) -> None:
        canvas.text(x + _AXIS - 8, y + 8, "head", 12, ha="right")
        for head in range(table.n_heads):
            canvas.text(x + _AXIS + (side + _GAP) * head + side / 2, y + 8, str(head + 1), 12, ha="center")
        for layer in range(table.n_layers):
            top = y + _TOP + (side + _GAP) * layer
            canvas.text(x + _AXIS - 8, top + side / 2, f"L{layer + 1}", 12, ha="right")
            for head in range(table.n_heads):
                left = x + _AXIS + (side + _GAP) * head
                _cell(canvas, left, top, side, passed[layer, head], chosen == (layer + 1, head + 1))
        for row, entries in enumerate(legend):
            at = x + _AXIS
            for role, words in entries:
                middle = y + grid + 20 + _LEGEND_ROW * row
                _chip(canvas, at, middle - 8, 34, 16, role)
                canvas.text(at + 40, middle, words, 12)
                at += 40 + text_width(words, 12) + 18

    told = [f"{role.name}: {_listed(table, role, passed)}" for role in roles]
    alt = (
        f"Map of {table.n_layers} layers (rows) by {table.n_heads} heads (columns), coloured by role. "
        + "; ".join(told)
        + (f". Chosen: layer {chosen[0]}, head {chosen[1]}." if chosen else ".")
    )
    total = table.n_layers * table.n_heads
    heading = title if title is not None else f"What each of {total} heads does"
    said = note if note is not None else " ".join(part for part in (_source(table), table.note) if part)
    return framed(paint, width, height, alt, heading, said or None)


def _passed(
    table: HeadTable, roles: tuple[HeadRole, ...], limits: Mapping[str, float]
) -> dict[tuple[int, int], list[HeadRole]]:
    having = [(role, role.having(limits[role.key] - 1e-9)) for role in roles]
    return {
        (layer, head): [role for role, which in having if bool(which[layer, head])]
        for layer in range(table.n_layers)
        for head in range(table.n_heads)
    }


def _cell(canvas: Canvas, x: float, y: float, side: float, roles: list[HeadRole], chosen: bool) -> None:
    if chosen:
        canvas.rect(x - 3, y - 3, side + 6, side + 6, None, "ink", 2, radius=6, z=4)
    if not roles:
        look = themes.PALETTE["role"][canvas.theme]["none"]
        canvas.rect(x, y, side, side, look["fill"], look["edge"], 1, radius=4)
        return
    _chip(canvas, x, y, side, side, roles[0])
    if len(roles) > 1:
        look = themes.PALETTE["role"][canvas.theme][_IN_PALETTE[roles[1].key]]
        cut = side * 0.34
        for inset, fill in ((0, "surface"), (1.5, look["fill"])):
            reach = cut - 2.4 * inset
            corner = [(x + side - reach - inset, y + inset), (x + side - inset, y + inset)]
            canvas.area(
                [*corner, (x + side - inset, y + inset + reach)], canvas.colour(fill), 1.0, z=3 + inset
            )


def _chip(canvas: Canvas, x: float, y: float, width: float, height: float, role: HeadRole) -> None:
    look = themes.PALETTE["role"][canvas.theme][_IN_PALETTE[role.key]]
    canvas.rect(x, y, width, height, look["fill"], look["edge"], 1, radius=4)
    size = 12 if height >= 34 else 11 if width >= 30 else 9
    canvas.text(x + width / 2, y + height / 2, role.badge, size, look["text"], ha="center", bold=True)


def _legend(
    roles: tuple[HeadRole, ...],
    limits: Mapping[str, float],
    passed: Mapping[tuple[int, int], list[HeadRole]],
    width: float,
) -> list[list[tuple[HeadRole, str]]]:
    """Roles with their thresholds and counts, in as many lines as they need."""
    lines: list[list[tuple[HeadRole, str]]] = [[]]
    room = width - _AXIS
    for role in roles:
        points = role.unit == "points"
        limit = (
            f"{100 * limits[role.key]:+.0f} pts".replace("-", "−") if points else f"{limits[role.key]:.2f}"
        )
        count = sum(role in found for found in passed.values())
        words = f"{role.name} ≥ {limit}: {count}"
        needed = 58 + text_width(words, 12)
        if lines[-1] and room < needed:
            lines.append([])
            room = width - _AXIS
        room -= needed
        lines[-1].append((role, words))
    return lines


def _listed(table: HeadTable, role: HeadRole, passed: Mapping[tuple[int, int], list[HeadRole]]) -> str:
    heads = [f"L{layer + 1} H{head + 1}" for (layer, head), found in passed.items() if role in found]
    if not heads:
        return "no head"
    return ", ".join(heads[:12]) + (f" and {len(heads) - 12} more" if len(heads) > 12 else "")


def _source(table: HeadTable) -> str:
    of = f" of {table.source}" if table.source else ""
    return f"{table.model + ': ' if table.model else ''}{table.sentences:,} sentences{of}."
