"""Fifty hostile or odd texts as tokens of BertViz: none can run, none is lost."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser

import pytest
import torch

from mha_course import widgets
from mha_course.attention_maps import AttentionMaps
from mha_course.widgets.bertviz.page import in_script
from mha_course.widgets.bertviz.token_texts import label, spelled
from mha_course.widgets.bertviz.views import BertvizView

RUN = "console.error('executed')"
HOSTILE = (
    f"</script><script>{RUN}</script>",
    f"</SCRIPT ><script>{RUN}</script>",
    f"<script>{RUN}</script>",
    "<!--",
    "<!-- <script>",
    "-->",
    "]]>",
    "<![CDATA[",
    f'"></iframe><script>{RUN}</script>',
    f"'></iframe><img src=x onerror={RUN}>",
    f'<img src=x onerror="{RUN}">',
    f"<svg onload={RUN}>",
    f'<iframe srcdoc="<script>{RUN}</script>">',
    f'" onload="{RUN}" x="',
    f"' onload='{RUN}' x='",
    f"javascript:{RUN}",
    f'"}}]}};{RUN};//',
    f"'];{RUN};//",
    f"`${{{RUN}}}`",
    f'\\";{RUN};//',
    "\\",
    "\\u003c/script>",
    "&lt;/script&gt;",
    "&quot;&amp;&#39;",
    '"',
    "'",
    "`",
    "<b>bold</b>",
    "</text><text>",
    "</style>",
    "PYTHON_PARAMS",
    "; // HACK: ",
    "__proto__",
    "constructor",
    "$x^2$ $$y$$",
    "\\(z\\)",
    "{{ 7 * 7 }} {% raw %}",
    "\u2028",
    "a\u2029b",
    "\u200b",
    "zero\u200bwidth\ufeff",
    "\u202etxet",
    "العربية",
    "עברית‎",
    "注意力机制",
    "👩‍👩‍👧 🎉",
    "e\u0301\u0301\u0301",
    "half \ud83d",
    "nul\x00 bell\x07",
    " \t\n ",
    "",
    "Ġword▁</w>",
    "ß" * 400,
)
VIEWS = ("bertviz_head_view", "bertviz_model_view")


def odd_maps(tokens: tuple[str, ...]) -> AttentionMaps:
    n = len(tokens)
    weights = torch.rand(2, 3, n, n, generator=torch.Generator().manual_seed(5)).softmax(-1)
    return AttentionMaps(weights, tokens, tokens, note=HOSTILE[0])


def shown_in_parts() -> list[tuple[str, ...]]:
    return [HOSTILE[i : i + 24] for i in range(0, len(HOSTILE), 24)]


def payload(view: BertvizView) -> dict:
    """What the frame's script is given."""
    assert view.page.count("const params = ") == 1
    return json.JSONDecoder().raw_decode(view.page, view.page.index("const params = ") + 15)[0]


class Elements(HTMLParser):
    """Every tag with its attributes, and the texts outside of scripts and style sheets."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict]] = []
        self.scripts: list[str] = []
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.scripts.append(data)


def test_there_are_fifty_different_ones() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 50


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("tokens", shown_in_parts())
def test_no_text_leaves_its_place(name: str, tokens: tuple[str, ...]) -> None:
    view = getattr(widgets, name)(odd_maps(tokens))
    bundle, _ = view._repr_mimebundle_()
    outer = Elements(bundle["text/html"])
    assert [tag for tag, _ in outer.tags if tag in ("script", "iframe", "img", "svg", "b")] == [
        "img",
        "iframe",
    ]
    assert not any(name.startswith("on") for _, attributes in outer.tags for name in attributes)
    frame = next(attributes for tag, attributes in outer.tags if tag == "iframe")
    assert frame["srcdoc"] == view.page and frame["sandbox"] == "allow-scripts"
    plain = getattr(widgets, name)(odd_maps(tuple(f"t{i}" for i in range(len(tokens)))))
    inner, expected = Elements(view.page), Elements(plain.page)
    assert [tag for tag, _ in inner.tags] == [tag for tag, _ in expected.tags]
    assert len(inner.scripts) == 2 and "<!--" not in "".join(inner.scripts)
    for text in (*bundle.values(), view.page):
        text.encode("utf-8")
    json.dumps(bundle).encode("ascii")


@pytest.mark.parametrize("tokens", shown_in_parts())
def test_no_text_is_lost_on_the_way_to_the_browser(tokens: tuple[str, ...]) -> None:
    given = [token.replace("\ud83d", "\ufffd") for token in tokens]
    for name in VIEWS:
        attention = payload(getattr(widgets, name)(odd_maps(tokens)))["attention"]
        assert [one["left_text"] for one in attention] == [given]
        assert [one["right_text"] for one in attention] == [given]


@pytest.mark.parametrize(
    ("token", "stands", "told"),
    [
        ("cat", "cat", "cat"),
        ("\u200b", "U+200B", "\u200b (U+200B)"),
        ("\u202etxet", "‹U+202E›txet", "\u202etxet (U+202E)"),
        ("a\u2029b", "a‹U+2029›b", "a\u2029b (U+2029)"),
        ("", "∅", ""),
        ("  ", "␣␣", "  "),
        (".", "“.”", "."),
        ("👩‍👩‍👧", "👩‍👩‍👧", "👩‍👩‍👧"),
        ("می\u200cخواهم", "می\u200cخواهم", "می\u200cخواهم"),
        ("\ud83d", "\ufffd", "\ufffd"),
        ("ß" * 400, "ß" * 59 + "…", "ß" * 300 + "… (400 characters)"),
    ],
)
def test_labels_and_tooltips(token: str, stands: str, told: str) -> None:
    assert label(token) == stands
    assert spelled(token) == told


def test_json_in_a_script_is_the_same_value_and_has_no_markup() -> None:
    value = {"texts": [t.replace("\ud83d", "") for t in HOSTILE], "n": [0, 0.125, 1]}
    text = in_script(value)
    assert json.loads(text) == value
    assert text.isascii() and not re.search(r"[<>&]", text)
    with pytest.raises(ValueError):
        in_script(float("nan"))


def test_a_hostile_note_is_text_below_the_picture() -> None:
    page = widgets.bertviz_head_view(odd_maps(("a", "b", "c")))._repr_html_()
    assert html.escape(HOSTILE[0], quote=False) in page and HOSTILE[0] not in page
