"""The HeadBrowser: what goes to the page, what it says of itself, and where the maps stand."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from mha_course.attention_maps import AttentionMaps
from mha_course.masks import causal_mask
from mha_course.transformer.whole import TransformerMaps
from mha_course.widgets import HeadBrowser
from mha_course.widgets.browser_numbers import MOST_TOKENS, unpacked

SCRIPT = Path(__file__).parents[1] / "mha_course" / "widgets" / "js" / "browser_layout.js"


def made(layers: int, heads: int, n_q: int, n_k: int | None = None, kind: str = "self") -> AttentionMaps:
    generator = torch.Generator().manual_seed(10 * layers + heads)
    n_keys = n_q if n_k is None else n_k
    scores = 2 * torch.randn(layers, heads, n_q, n_keys, generator=generator)
    queries = [f"word{i}" for i in range(n_q)]
    allowed = None
    if kind == "decoder":
        allowed = causal_mask(n_q)
        scores = scores.masked_fill(~allowed, -torch.inf)
    keys = queries if n_k is None else [f"mot{i}" for i in range(n_k)]
    return AttentionMaps(scores.softmax(-1), queries, keys, kind, allowed, note="A note.")


def test_few_heads_arrive_to_four_decimals_and_their_numbers_with_them() -> None:
    maps = made(2, 3, 5)
    browser = HeadBrowser(maps, layer=2, head=3, zoom=True)
    (header,) = browser.answer["kinds"]
    assert np.abs(unpacked(header, browser.payload) - maps.weights.numpy()).max() <= browser.rounding < 2e-4
    assert header["keys"] is None and not header["masked"] and header["note"] == "A note."
    assert np.array(header["spread"]) == pytest.approx(maps.spread().numpy(), abs=0.006)
    assert len(header["itself"]) == len(header["distance"]) == 2 and len(header["itself"][0]) == 3
    assert header["max"] == pytest.approx(float(maps.weights.max()), abs=1e-4)
    assert (browser.layer, browser.head, browser.zoom) == (2, 3, True)


def test_many_heads_take_a_byte_a_weight() -> None:
    maps = made(7, 9, 50)
    browser = HeadBrowser(maps)
    (header,) = browser.answer["kinds"]
    assert header["bits"] == 8 and len(browser.payload) <= 7 * 9 * 50 * 50 + 1
    assert np.abs(unpacked(header, browser.payload) - maps.weights.numpy()).max() <= browser.rounding
    assert browser.rounding == pytest.approx(0.5 / 255)


def test_a_transformer_shows_three_kinds_with_the_decoders_mask() -> None:
    kinds = made(2, 3, 5, kind="encoder"), made(2, 3, 7, kind="decoder"), made(2, 3, 7, 5, kind="cross")
    browser = HeadBrowser(TransformerMaps(*kinds), kind="cross")
    headers = browser.answer["kinds"]
    assert [header["kind"] for header in headers] == ["encoder", "decoder", "cross"]
    for header, maps in zip(headers, kinds, strict=True):
        assert np.abs(unpacked(header, browser.payload) - maps.weights.numpy()).max() < 2e-4
    decoder, cross = headers[1:]
    start = decoder["offset"] + 3 * 2 * 3 * 7 * 7 // 2
    assert decoder["masked"] and not cross["masked"]
    allowed = np.frombuffer(browser.payload, "u1", 49, start).reshape(7, 7)
    assert (allowed == causal_mask(7).numpy()).all()
    assert cross["keys"] == [f"mot{i}" for i in range(5)] and cross["itself"] is None
    assert "7 queries by 5 keys" in browser.alt and browser.kind == "cross"


def test_a_row_without_weight_in_every_head_is_not_allowed() -> None:
    weights = made(1, 2, 4).weights.clone()
    weights[:, :, 2] = 0
    browser = HeadBrowser(AttentionMaps(weights, list("abcd"), list("abcd")))
    (header,) = browser.answer["kinds"]
    allowed = np.frombuffer(browser.payload, "u1", 16, 3 * 16).reshape(4, 4)
    assert header["masked"] and allowed.sum(axis=1).tolist() == [4, 4, 0, 4]


def test_long_texts_are_cut_and_say_so() -> None:
    browser = HeadBrowser(made(1, 2, MOST_TOKENS + 9))
    (header,) = browser.answer["kinds"]
    assert len(header["queries"]) == MOST_TOKENS
    assert header["note"].startswith(f"The first {MOST_TOKENS} of {MOST_TOKENS + 9} tokens.")


def test_odd_tokens_and_numbers_arrive_as_they_can_be_shown() -> None:
    tokens = ["</script><img src=x onerror=alert(1)>", "\ud800", "שלום", "猫", "a\x00b"]
    weights = made(1, 2, 5).weights.clone()
    weights[0, 0, 1] = torch.nan
    browser = HeadBrowser(AttentionMaps(weights, tokens, tokens))
    (header,) = browser.answer["kinds"]
    assert header["queries"] == [
        tokens[0],
        "\N{REPLACEMENT CHARACTER}",
        "שלום",
        "猫",
        "a\N{REPLACEMENT CHARACTER}b",
    ]
    assert np.isfinite(unpacked(header, browser.payload)).all()
    json.dumps(browser.answer, allow_nan=False)


@pytest.mark.parametrize("sizes", [(2, 3, 5), (3, 7, 6)])
def test_still_picture(sizes: tuple[int, int, int]) -> None:
    browser = HeadBrowser(made(*sizes))
    data, metadata = browser._repr_mimebundle_()
    assert browser.still_png().startswith(b"\x89PNG")
    assert metadata["image/png"]["alt"] == browser.alt == data["text/plain"]
    assert f"{sizes[0]} layers of {sizes[1]} heads, {sizes[2]} tokens" in browser.alt


def test_what_reaches_the_page_is_small() -> None:
    browser = HeadBrowser(made(12, 12, 24))
    stills = 2 * len(browser._repr_mimebundle_()[0]["image/png"])
    code = len(browser._esm) + len(browser._css)
    assert len(browser.payload) == 3 * 12 * 12 * 24 * 24 / 2
    assert len(browser.payload) + code < 245_000 and len(browser.payload) + code + stills < 440_000


def test_the_browser_reads_what_was_packed() -> None:
    browser = HeadBrowser(TransformerMaps(made(1, 3, 5), made(2, 3, 7, kind="decoder"), made(3, 1, 7, 5)))
    program = f"""
    {(SCRIPT.parent / "browser_frame.js").read_text(encoding="utf-8")}
    {(SCRIPT.parent / "answers.js").read_text(encoding="utf-8")}
    const bytes = Uint8Array.from({list(browser.payload)});
    const view = new DataView(bytes.buffer);
    const frames = {json.dumps(browser.answer["kinds"])}.map((header) => browserFrame(header, view));
    const found = frames.map((f) => [Array.from(f.raw, (w) => w / f.top), Array.from(f.allowed || [])]);
    console.log(JSON.stringify(found));
    """
    for header, (weights, allowed) in zip(browser.answer["kinds"], in_node(program), strict=True):
        assert np.array(weights) == pytest.approx(unpacked(header, browser.payload).ravel())
        assert (
            (np.array(allowed).reshape(7, 7) == causal_mask(7).numpy()).all()
            if allowed
            else not header["masked"]
        )


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ((torch.rand(2, 3, 4, 4),), TypeError, "AttentionMaps or TransformerMaps"),
        ((made(2, 3, 4), "cross"), ValueError, "'cross'"),
        ((made(2, 3, 4), None, 3), ValueError, "2 layers of 3 heads"),
        ((made(2, 3, 4), None, 1, 0), ValueError, "head=0"),
        ((AttentionMaps(torch.zeros(2, 0, 4, 4), list("abcd"), list("abcd")),), ValueError, "nothing"),
    ],
)
def test_what_it_cannot_show_is_refused(arguments: tuple, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        HeadBrowser(*arguments)


def in_node(program: str) -> object:
    if shutil.which("node") is None:
        pytest.skip("needs node to run the browser's arithmetic")
    text = SCRIPT.read_text(encoding="utf-8") + program
    done = subprocess.run(["node", "-e", text], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("width", "layers", "heads", "n_q", "n_k", "ratio"),
    [(838, 12, 12, 24, 24, 1), (838, 2, 8, 9, 7, 1.5), (340, 6, 12, 17, 17, 2), (838, 3, 5, 64, 64, 1.25)],
)
def test_every_point_of_a_map_finds_its_head_and_cell(
    width: int, layers: int, heads: int, n_q: int, n_k: int, ratio: float
) -> None:
    sizes = {"width": width, "layers": layers, "heads": heads, "nQ": n_q, "nK": n_k, "ratio": ratio}
    program = f"""
    const sizes = {json.dumps(sizes)};
    const layout = browserLayout(sizes);
    let wrong = 0;
    for (let l = 0; l < sizes.layers; l += 1) for (let h = 0; h < sizes.heads; h += 1) {{
      const at = layout.place(l, h);
      for (const [q, k] of [[0, 0], [sizes.nQ - 1, sizes.nK - 1], [sizes.nQ >> 1, sizes.nK >> 1]]) {{
        const found = layout.find(
          at.x + ((k + 0.5) * layout.mapWidth) / sizes.nK, at.y + ((q + 0.5) * layout.mapHeight) / sizes.nQ);
        if (!found || found.layer !== l || found.head !== h || found.q !== q || found.k !== k) wrong += 1;
      }}
      if (layout.find(at.x + layout.mapWidth + 3, at.y + 1) !== null) wrong += 1;
    }}
    console.log(JSON.stringify([wrong, layout.width, layout.columns, layout.mapWidth / layout.mapHeight]));
    """
    wrong, taken, columns, shape = in_node(program)
    assert wrong == 0
    assert taken <= width and 1 <= columns <= heads
    assert shape == pytest.approx(n_k / n_q, rel=0.1)


def test_painted_pixels_are_the_weights_and_small_maps_keep_the_largest() -> None:
    program = """
    const ramp = Uint32Array.from({ length: 256 }, (_, i) => 1000 + i);
    const raw = Uint8Array.from({ length: 2 * 3 * 6 * 4 }, (_, i) => (i * 37) % 256);
    const show = (mapWidth, mapHeight) => {
      const layout = { mapWidth, mapHeight, place: (l, h) => ({ x: h * 20, y: l * 20 }) };
      const pixels = new Uint32Array(60 * 40);
      const sizes = { wide: 60, layers: 2, heads: 3, nQ: 6, nK: 4, ratio: 1 };
      paintHeads({ ...sizes, pixels, raw, layout, ramp, factor: 1, least: 2 });
      return pixels;
    };
    const large = show(8, 18);
    const small = show(2, 2);
    console.log(JSON.stringify([Array.from(large), Array.from(small)]));
    """
    large, small = (np.array(pixels).reshape(40, 60) for pixels in in_node(program))
    raw = (np.arange(2 * 3 * 6 * 4) * 37 % 256).reshape(2, 3, 6, 4)
    for layer in range(2):
        for head in range(3):
            box = large[20 * layer : 20 * layer + 18, 20 * head : 20 * head + 8]
            weights = np.where(raw[layer, head] < 2, 0, raw[layer, head])
            assert (box == 1000 + weights.repeat(3, axis=0).repeat(2, axis=1)).all()
            shrunk = small[20 * layer : 20 * layer + 2, 20 * head : 20 * head + 2]
            assert (shrunk == 1000 + raw[layer, head].reshape(2, 3, 2, 2).max(axis=(1, 3))).all()
