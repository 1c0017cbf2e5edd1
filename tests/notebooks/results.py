"""What the cells of a lesson show, in a form in which two runs of it can be compared."""

from __future__ import annotations

import hashlib
import re

from nbformat import NotebookNode

# Cells that measure this machine, or draw what was measured: their numbers and words follow from the machine.
MEASURED = frozenset(
    """
    l03-time-run l04-time-run l05-copy-cost-code l07-fused-time-run l07-grows-time l09-parallel-time
    l12-prune-saves l12-prune-larger l13-equal l13-machine l13-roof l13-roof-decode l13-roofline
    l13-roof-measured l13-pairs l13-batch-ridge l13-batch-measured l13-batch-numbers l13-roofline-decode
    l13-cache-time l13-cache-roofline l13-gqa-time l13-h-time l13-h-picture l13-memory l13-race
    l13-race-picture l15-clock l15-live l16-running-memory
    """.split()
)

_TIME = re.compile(r"(?<![\w.])[\d.,]+ ?(?:µs|ms|s|seconds?|MB|GB|kB)\b")
# What is left of a zero after rounding; it depends on where in memory the numbers lie.
_ROUNDING = re.compile(r"[-−]?\d(?:\.\d+)?e-(?:0[7-9]|[1-9]\d)\b")
_NUMBER = re.compile(r"[-−+]?\d[\d.,]*(?:e[-+]?\d+)?")
_PICTURE = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=]+)")
# Where an object lies in memory, ids that are drawn anew for each view, and the folder of this very run.
# (A path begins where a word does: tried at every letter of a long page it would take a minute.)
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}|bertviz-[0-9a-f]+|[0-9a-f]{32}|(?<![^\s<>\"'])[^\s<>\"']*my_course\b")


def shown(notebook: NotebookNode) -> dict[str, list[str]]:
    """Cell id -> what it shows: printed text, last value, pages and pictures, in the order of appearance."""
    return {
        cell.id: _texts(cell.outputs, measured=cell.id in MEASURED)
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


def troubles(notebook: NotebookNode) -> list[str]:
    """Every error and every warning, with the id of its cell."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                found.append(f"{cell.id}: {output.ename}: {output.evalue}")
            elif output.get("name") == "stderr":
                found.append(f"{cell.id} warns: {output.text}")
    return found


def _texts(outputs: list[NotebookNode], measured: bool) -> list[str]:
    texts: list[str] = []
    for output in outputs:
        if output.output_type == "stream":
            # How a printed text is cut into messages is a matter of chance.
            if texts and texts[-1].startswith(f"{output.name}: "):
                texts[-1] += output.text
            else:
                texts.append(f"{output.name}: {output.text}")
        elif output.output_type in ("execute_result", "display_data"):
            kinds = [kind for kind in ("text/plain", "text/html") if kind in output.data]
            texts += [f"{kind}: {'' if measured else output.data[kind]}" for kind in kinds]
    return [_without_numbers(text) if measured else _comparable(text) for text in texts]


def _without_numbers(text: str) -> str:
    return " ".join(_NUMBER.sub("#", text).split())


def _comparable(text: str) -> str:
    text = _PICTURE.sub(lambda found: _digest(found[1]), text)
    return _TIME.sub("#", _ROUNDING.sub("0", _ADDRESS.sub("…", text)))


def _digest(encoded: str) -> str:
    return f"picture {hashlib.sha256(encoded.encode('ascii')).hexdigest()[:12]}"
