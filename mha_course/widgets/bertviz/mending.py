"""What the course changes in BertViz's own code: small patches, each with its reason, none optional."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mha_course.widgets.bertviz.published import BertvizChanged


@dataclass(frozen=True)
class Patch:
    """One passage of BertViz's code that is replaced wherever it stands. times: how often that has to be."""

    why: str
    old: str
    new: str
    times: int = 1


# `mha` is the object that js/bertviz_page.js makes; everything else is BertViz's own.
# A list to choose from has a name that a screen reader can tell.
_UNNAMED_LIST = re.compile(r'(Layer|Attention): (<select id="(?:layer|filter)">.*?</select>)', re.DOTALL)

HEAD_VIEW = (
    Patch("the console stays empty", 'console.log("d3 version", d3.version)', ""),
    Patch(
        "twelve colours that can be told apart instead of ten, the same for a head wherever it is shown",
        "headColors = d3.scaleOrdinal(d3.schemeCategory10);",
        "headColors = i => mha.colour(params.head_numbers[i]);",
    ),
    Patch(
        "words on the left were clipped when they were longer than 110 px",
        "const BOXWIDTH = 110;",
        "const BOXWIDTH = mha.boxWidth(params, TEXT_SIZE, 110, 250);",
    ),
    Patch(
        "the lines were steep: the two columns of words stand further apart where there is room",
        "const MATRIX_WIDTH = 115;",
        "const MATRIX_WIDTH = mha.between(BOXWIDTH, 115, 260);",
    ),
    Patch(
        "in a narrow window the picture is scrolled, not cut off",
        '.attr("width", "100%")',
        '.attr("width", Math.max(2 * BOXWIDTH + MATRIX_WIDTH, config.nHeads * CHECKBOX_SIZE))',
    ),
    Patch(
        "a word that is still too long is shortened, and a tooltip has all of it",
        """const textEl = tokenContainer.append("text")
            .text(d => d)""",
        """tokenContainer.append("title").text(d => mha.spelled(d));
        const textEl = tokenContainer.append("text")
            .text(d => mha.label(d, TEXT_SIZE, BOXWIDTH))""",
    ),
    Patch(
        "with all heads lit every line was too faint to be seen; it is still in proportion to its weight",
        "return d / activeHeads()",
        "return d / Math.sqrt(activeHeads())",
    ),
    Patch(
        "a head is known by its number, not by its colour alone",
        '.attr("fill", (d, i) => d ? headColors(i): lighten(headColors(i)));',
        """.attr("fill", (d, i) => d ? headColors(i): lighten(headColors(i)));
            mha.number(checkboxContainer, params.head_numbers, CHECKBOX_SIZE);""",
    ),
)

MODEL_VIEW = (
    Patch("the console stays empty", 'console.log("x", x, y)', ""),
    Patch(
        "twelve colours that can be told apart instead of ten",
        "const LAYER_COLORS = d3.schemeCategory10;",
        "const LAYER_COLORS = mha.colours;",
    ),
    Patch(
        "layers count from 1 here",
        "LAYER_COLORS[config.layers[layer] % 10]",
        "mha.colour(config.layers[layer])",
    ),
    Patch("as wide as there is room", "const DIV_WIDTH = 970;", "const DIV_WIDTH = mha.roomFor(640, 970);"),
    Patch(
        "words in the enlarged head were clipped when they were longer than 80 px",
        "const DETAIL_BOX_WIDTH = 80;",
        "const DETAIL_BOX_WIDTH = mha.boxWidth(params, 13, 80, 150);",
    ),
    Patch(
        "the enlarged head grows with its words",
        "const DETAIL_WIDTH = 300;",
        "const DETAIL_WIDTH = 140 + 2 * mha.boxWidth(params, 13, 80, 150);",
    ),
    Patch(
        "with a single head the enlarged one stood outside the picture",
        "x = leftPos + THUMBNAIL_PADDING - DETAIL_WIDTH + 8;",
        "x = Math.max(MIN_X, leftPos + THUMBNAIL_PADDING - DETAIL_WIDTH + 8);",
    ),
    Patch(
        "with few heads each map was several screens high",
        "config.thumbnailBoxHeight = 7 * (12 / config.totalHeads);",
        "config.thumbnailBoxHeight = Math.min(14, 7 * (12 / config.totalHeads));",
    ),
    Patch(
        "after a change of the kind of attention the same head can be opened again at the first click",
        "vis.empty();",
        "vis.empty();\n            config.detail_layer = config.detail_head = null;",
    ),
    Patch(
        "hovering lights the word: BertViz looks for a name that it never gave",
        """var tokenContainer = config.svg.append("svg:g")
                .classed("detail", true)""",
        """var tokenContainer = config.svg.append("svg:g")
                .classed("detail", true)
                .attr("id", id)""",
    ),
    Patch(
        "... and lights it in grey, so that it can still be read",
        """.attr("fill", fillColor)
                .style("opacity", 0.0)""",
        """.attr("fill", "lightgray")
                .style("opacity", 0.0)""",
    ),
    Patch(
        "a word that is still too long is shortened, and a tooltip has all of it",
        """var textContainer = tokenContainer.append("text")
                .classed("token", true)
                .text(function (d) {
                    return d;
                })""",
        """tokenContainer.append("title").text(d => mha.spelled(d));
            var textContainer = tokenContainer.append("text")
                .classed("token", true)
                .text(d => mha.label(d, TEXT_SIZE, DETAIL_BOX_WIDTH))""",
    ),
    Patch(
        "each small map says whose it is",
        'clickRegion.on("mouseover", function (d) {',
        """clickRegion.append("title")
                .text('layer ' + config.layers[layerIndex] + ', head ' + config.heads[headIndex]);
            clickRegion.on("mouseover", function (d) {""",
    ),
)

PATCHES = {"head_view": HEAD_VIEW, "model_view": MODEL_VIEW}


def mended_body(body: str) -> str:
    """BertViz's `<div>` with a label around each list. Raises: BertvizChanged when one stays without."""
    found, n = _UNNAMED_LIST.subn(r"<label>\1: \2</label>", body)
    if n != body.count("<select"):
        raise BertvizChanged("BertViz's HTML holds a list that the course doesn't know")
    return found


def mended(text: str, patches: tuple[Patch, ...]) -> str:
    """The text with every patch in its place. Raises: BertvizChanged when a passage isn't where it was."""
    for patch in patches:
        found = text.count(patch.old)
        if found != patch.times:
            raise BertvizChanged(
                f"BertViz's code has {found} of {patch.times} passages {patch.old.splitlines()[0].strip()!r}"
            )
        text = text.replace(patch.old, patch.new)
    return text
