"""What stands where a live BertViz can't: the same weights as heatmaps, one picture for all kinds."""

from __future__ import annotations

import io
from dataclasses import replace

from PIL import Image

from mha_course.attention_maps import AttentionMaps
from mha_course.plots import Picture, head_grid
from mha_course.widgets.bertviz.part_shown import PartShown

NAMES = {"encoder": "Encoder", "decoder": "Decoder", "cross": "Cross-attention"}


def pictures(view: str, part: PartShown, layer: int) -> list[Picture]:
    """One picture a kind: of one layer for the head view, of all layers for the model view."""
    return [_picture(view, part, kind, maps, layer) for kind, maps in part.maps.items()]


def joined(pages: list[bytes]) -> bytes:
    """PNG files one below the other, as one PNG."""
    if len(pages) == 1:
        return pages[0]
    images = [Image.open(io.BytesIO(page)).convert("RGB") for page in pages]
    sheet = Image.new("RGB", (max(i.width for i in images), sum(i.height for i in images)), "#FFFFFF")
    top = 0
    for image in images:
        sheet.paste(image, (0, top))
        top += image.height
    file = io.BytesIO()
    sheet.quantize(256, dither=Image.Dither.NONE).save(file, "PNG")
    return file.getvalue()


def _picture(view: str, part: PartShown, kind: str, maps: AttentionMaps, layer: int) -> Picture:
    name = NAMES.get(kind, "Self-attention" if maps.kind != "cross" else "Cross-attention")
    notes = [maps.note] if maps.note else []
    if part.heads != tuple(range(1, len(part.heads) + 1)):
        notes.append(f"The pictures stand for the heads {_listed(part.heads)}, in this order.")
    if view == "head_view":
        chosen = part.layers.index(layer)
        maps, title = replace(maps, weights=maps.weights[chosen : chosen + 1]), f"{name}, layer {layer}"
    else:
        title = f"{name}, all heads"
        if part.layers != tuple(range(1, len(part.layers) + 1)):
            notes.append(f"The rows stand for the layers {_listed(part.layers)}, in this order.")
    # Three pictures stand below each other: four maps in a row keep them from filling two screens.
    columns = 4 if len(part.maps) > 1 and maps.n_layers == 1 and maps.n_heads >= 4 else None
    return head_grid(replace(maps, note=" ".join(notes)), title=title, spread=False, columns=columns)


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))
