"""BertViz in the course: what it is given, what is cut, how it is sealed off, what stands in its place."""

from __future__ import annotations

import base64
import io
import re

import pytest
import torch
from PIL import Image

from mha_course import widgets
from mha_course.attention_maps import AttentionMaps
from mha_course.models.translator import load_translator
from mha_course.theme import PALETTE
from mha_course.transformer import TransformerMaps
from mha_course.widgets.bertviz import mending, published
from mha_course.widgets.bertviz.published import BertvizChanged
from tests.test_bertviz_texts import VIEWS, payload

WORDS = "two small dogs near the bridge chase the white cat .".split()


def some_maps(layers: int, heads: int, n_q: int, n_k: int | None = None, kind: str = "self") -> AttentionMaps:
    generator = torch.Generator().manual_seed(layers + 10 * heads)
    n_k = n_q if n_k is None else n_k
    weights = (3 * torch.randn(layers, heads, n_q, n_k, generator=generator)).softmax(-1)
    return AttentionMaps(weights, [f"q{i}" for i in range(n_q)], [f"k{i}" for i in range(n_k)], kind)


@pytest.mark.parametrize("name", VIEWS)
def test_weights_come_once_rounded_and_in_their_places(name: str) -> None:
    maps = some_maps(3, 2, 5)
    view = getattr(widgets, name)(maps)
    given = payload(view)
    (attention,) = given["attention"]
    found = torch.tensor(attention["attn"], dtype=torch.float64)
    assert found.shape == (3, 2, 5, 5)
    assert torch.equal(found, maps.weights.double().round(decimals=3))
    assert (attention["left_text"], attention["right_text"]) == ([*maps.query_tokens], [*maps.key_tokens])
    assert given["include_layers"] == [1, 2, 3] and given["head_numbers"] == [1, 2]
    assert view.page.count('"attn"') == 1
    assert max(map(len, re.findall(r"\d\.\d+", view.page[view.page.index("const params") :]))) == 5
    assert "// HACK: " not in view.page and "PYTHON_PARAMS" not in view.page


@pytest.mark.parametrize("name", VIEWS)
def test_the_frame_needs_no_network_and_has_twelve_colours(name: str) -> None:
    page = getattr(widgets, name)(some_maps(2, 12, 4)).page
    assert "cdnjs" not in page.split("const mha")[0].replace(published.libraries(), "")
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", page.split("<body")[0])
    assert "default-src 'none'" in page
    assert all(f'"{colour}"' in page for colour in PALETTE["head"]["light"])
    assert "d3.schemeCategory10" not in page.split("bertvizPage(settings)")[1]
    if name == "bertviz_model_view":
        assert '"display_mode":"light"' in page


def test_a_translator_shows_each_kind_with_its_own_words() -> None:
    maps = load_translator().attend(WORDS)
    for name in VIEWS:
        given = payload(getattr(widgets, name)(maps))
        assert [one["name"] for one in given["attention"]] == ["Encoder", "Decoder", "Cross"]
        for one, kind in zip(given["attention"], ("encoder", "decoder", "cross"), strict=True):
            shown = getattr(maps, kind)
            assert one["left_text"] == [*shown.query_tokens]
            assert one["right_text"] == [*shown.key_tokens]
            assert torch.allclose(torch.tensor(one["attn"]), shown.weights, atol=6e-4)
    # The rows of decoder and cross-attention are one word apart, which BertViz by itself can't show.
    assert given["attention"][1]["left_text"][0] == "<start>"
    assert given["attention"][2]["left_text"][-1] == "<end>"


def test_two_texts_of_one_attention() -> None:
    (one,) = payload(widgets.bertviz_head_view(some_maps(2, 3, 4, 6, "cross")))["attention"]
    assert len(one["left_text"]) == 4 and one["right_text"] == [f"k{i}" for i in range(6)]


def test_layer_and_heads_count_from_one() -> None:
    maps = some_maps(3, 5, 4)
    given = payload(widgets.bertviz_head_view(maps, layer=2, heads=[5, 1]))
    assert given["layer"] == 2 and given["heads"] == [4, 0] and given["head_numbers"] == [1, 2, 3, 4, 5]
    given = payload(widgets.bertviz_model_view(maps, layers=[3, 1], heads=[2, 4]))
    assert given["include_layers"] == [3, 1] and given["include_heads"] == [2, 4]
    found = torch.tensor(given["attention"][0]["attn"])
    assert torch.allclose(found, maps.weights[[2, 0]][:, [1, 3]], atol=6e-4)


def test_what_is_too_large_is_cut_and_said() -> None:
    maps = some_maps(13, 14, 30, 26)
    view = widgets.bertviz_model_view(maps)
    (one,) = payload(view)["attention"]
    assert torch.tensor(one["attn"]).shape == (12, 12, 24, 24)
    told = " ".join(view.cut)
    for words in (
        "layers 1 to 12 of 13",
        "heads 1 to 12 of 14",
        "tokens 1 to 24 of 30",
        "tokens 1 to 24 of 26",
    ):
        assert words in told
    assert "widgets.HeadBrowser(maps)" in told and "first=24" in told
    assert "<code" in view._repr_html_() and "⚠" in view._repr_html_()
    later = widgets.bertviz_model_view(maps, layers=[13], heads=[14, 2], first=24)
    (one,) = payload(later)["attention"]
    assert one["left_text"] == [f"q{i}" for i in range(6, 30)]
    assert one["right_text"] == [f"k{i}" for i in range(2, 26)]
    assert torch.allclose(torch.tensor(one["attn"]), maps.weights[12:, [13, 1], 6:, 2:], atol=6e-4)
    assert "tokens 7 to 30 of 30; `first=0`" in " ".join(later.cut)
    assert "layers 1 to 12 of 13; `layer=13`" in " ".join(widgets.bertviz_head_view(maps, layer=2).cut)
    view = widgets.bertviz_head_view(maps, layer=13, heads=[14])
    assert "layers 13 to 13 of 13; `layer=1`" in " ".join(view.cut)
    given = payload(view)
    assert given["include_layers"] == [13] and given["head_numbers"] == [14] and given["heads"] == [0]


def test_what_fits_is_not_called_cut() -> None:
    view = widgets.bertviz_model_view(some_maps(12, 12, 24))
    assert view.cut == () and "⚠" not in view._repr_html_()


def test_kinds_of_unequal_size_show_what_all_have() -> None:
    maps = TransformerMaps(some_maps(2, 3, 4), some_maps(3, 3, 5), some_maps(3, 3, 5, 4))
    view = widgets.bertviz_head_view(maps)
    assert payload(view)["include_layers"] == [1, 2]
    assert "encoder 2 × 3, decoder 3 × 3, cross 3 × 3" in view.cut[0]


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("size", [(1, 1, 1, 1), (2, 1, 5, 5), (1, 3, 2, 7)])
def test_small_sizes(name: str, size: tuple[int, ...]) -> None:
    view = getattr(widgets, name)(some_maps(*size))
    assert 90 < view.height < 700
    assert view.name.startswith("BertViz ") and f"{size[0]} layer" in view.name


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: widgets.bertviz_head_view(m, layer=3), "layer=3: there are layers 1 to 2"),
        (lambda m: widgets.bertviz_head_view(m, layer=0), "layer=0"),
        (lambda m: widgets.bertviz_head_view(m, heads=[4]), "there are heads 1 to 3"),
        (lambda m: widgets.bertviz_head_view(m, heads=2), "list of whole numbers"),
        (lambda m: widgets.bertviz_model_view(m, layers=["1"]), "list of whole numbers"),
        (lambda m: widgets.bertviz_model_view(m, heads=[2, 2]), "only once"),
        (lambda m: widgets.bertviz_model_view(m, layers=[]), "at least one layer"),
        (lambda m: widgets.bertviz_model_view(m, first=-1), "first=-1"),
        (lambda m: widgets.bertviz_model_view(m.weights), "got Tensor"),
        (lambda m: widgets.bertviz_model_view(some_maps(14, 2, 3), layers=range(1, 15)), "at most 12"),
        (lambda m: widgets.bertviz_head_view(AttentionMaps(torch.zeros(1, 2, 0, 0), (), ())), "empty"),
        (
            lambda m: widgets.bertviz_head_view(
                TransformerMaps(some_maps(1, 2, 4), some_maps(1, 2, 5), some_maps(1, 2, 3, 4))
            ),
            "cross-attention has 3 queries and 4 keys",
        ),
    ],
)
def test_refused_with_one_sentence(call, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call(some_maps(2, 3, 4))


def test_not_a_number_has_no_line_and_is_told() -> None:
    maps = some_maps(1, 2, 3)
    maps.weights[0, 1, 2] = float("nan")
    view = widgets.bertviz_model_view(maps)
    assert payload(view)["attention"][0]["attn"][0][1][2] == [0, 0, 0]
    assert "3 weights are NaN" in view._repr_html_()


def test_the_still_is_there_until_a_style_sheet_and_a_frame_hide_it() -> None:
    view = widgets.bertviz_model_view(load_translator().attend(WORDS))
    data, metadata = view._repr_mimebundle_()
    png = base64.b64decode(data["image/png"])
    image = Image.open(io.BytesIO(png))
    assert image.format == "PNG" and image.width > 800 and len(image.convert("RGB").getcolors(300)) > 5
    assert metadata["image/png"]["alt"] == view.alt == data["text/plain"]
    assert all(words in view.alt for words in ("Encoder", "Decoder", "Cross-attention", "largest"))
    page = data["text/html"]
    # What a sanitiser leaves: no style sheet, no frame. Then nothing may hide the picture.
    left = re.sub(r"<style>.*?</style>|<iframe.*?</iframe>", "", page, flags=re.DOTALL)
    assert re.search(r'<div class="mha-bertviz-still" style="padding: 4px"><img alt="[^"]{40,}"', left)
    assert 'class="mha-bertviz-live" style="display: none"' in left
    assert re.search(r'<iframe title="BertViz model view of encoder, decoder', page)


def test_the_numbers_of_chosen_heads_are_told_below_the_still() -> None:
    view = widgets.bertviz_model_view(some_maps(4, 5, 3), layers=[2, 4], heads=[3, 5])
    assert "heads 3, 5, in this order" in view.alt and "layers 2, 4, in this order" in view.alt


@pytest.mark.parametrize("view", ["head_view", "model_view"])
def test_every_patch_is_needed_and_a_miss_stops_everything(view: str) -> None:
    found = published.published(view, {"self": some_maps(1, 2, 3).weights})
    code = "".join(found.script)
    mending.mended(code, mending.PATCHES[view])
    for patch in mending.PATCHES[view]:
        assert patch.why and patch.old != patch.new
        with pytest.raises(BertvizChanged, match="bertviz 1.4.1"):
            mending.mended(code.replace(patch.old, "changed()"), mending.PATCHES[view])


def test_another_output_of_bertviz_is_refused() -> None:
    returned = published.as_published("head_view", some_maps(2, 3, 4).weights, [f"q{i}" for i in range(4)])
    assert published.taken_apart(returned).params["attention"]
    for old, new in (
        ("cdnjs.cloudflare.com", "elsewhere.example"),
        ("const params", "let params"),
        ("; // HACK: ", "; "),
        ("\n</script>\n", "\n</script>\n<script>more()</script>\n"),
        ("<div id='vis'>", "<script src='https://elsewhere.example/x.js'></script><div id='vis'>"),
    ):
        assert old in returned
        with pytest.raises(BertvizChanged):
            published.taken_apart(returned.replace(old, new))
    with pytest.raises(BertvizChanged, match="list"):
        mending.mended_body("<div><select id='other'></select></div>")
    with pytest.raises(BertvizChanged, match="mpld3"):
        published._read("mpld3", "mpld3/js/missing.js", "d3")
    with pytest.raises(BertvizChanged, match="another library"):
        published._read("mpld3", "mpld3/js/d3.v3.min.js", "https://d3js.org v5.")


def test_a_view_is_small_beside_the_published_one() -> None:
    maps = some_maps(12, 12, 24)
    as_is = published.as_published("model_view", maps.weights, maps.query_tokens)
    own = widgets.bertviz_model_view(maps).page.replace(published.libraries(), "")
    assert len(own) < 0.45 * len(as_is)
