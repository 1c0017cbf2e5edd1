"""All heads at once: BertViz's model view against the course's HeadBrowser, in real JupyterLab and Chromium.

    python benchmarks/browser_views.py [--rounds 5]

One Chromium; a fresh page for each view, in five rounds whose order is turned round every time. Timed inside
the page: from the arrival of the kernel's first message that carries the view to the second animation frame
after it was drawn. For the HeadBrowser that message is its state, and the kernel then still draws its still
picture, which is counted; BertViz's is its finished HTML. BertViz's lines count as painted when its script
has made them, although turning them into pixels takes longer still.
Weight: the bytes that the page is sent for the view, for BertViz with the libraries that it needs.
BertViz "as published" is its own HTML; the libraries that it would load from a CDN stand inside, since there
is no network. Needs the packages of requirements-dev.txt and a Chromium. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import expect

from benchmarks.layer_speed import machine
from tests.browser.lab import Chromium, LabPage, LabServer

ROOT = Path(__file__).resolve().parents[1]
SETUP = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import torch
torch.set_num_threads(1)
from benchmarks.browser_views import Framed, framed, offline
from mha_course import widgets
from mha_course.attention_maps import AttentionMaps
def some_maps(n):
    weights = torch.randn(12, 12, n, n, generator=torch.Generator().manual_seed(n))
    words = [f"word{{i}}" for i in range(n)]
    return AttentionMaps((3 * weights).softmax(-1), words, words)
small, large = some_maps(24), some_maps(64)
"""


@dataclass(frozen=True)
class View:
    """One view: its name in the table, the expression that makes it, and what it weighs."""

    name: str
    made: str
    weight: str


BERTVIZ = View(
    "BertViz model_view as published, 12 x 12 x 24", "Framed(offline(small))", "len(offline(small).encode())"
)
BROWSER = View(
    "HeadBrowser, 12 x 12 x 24", "widgets.HeadBrowser(small)", "weight(widgets.HeadBrowser(small))"
)
LARGE = View("HeadBrowser, 12 x 12 x 64", "widgets.HeadBrowser(large)", "weight(widgets.HeadBrowser(large))")
MENDED = View(
    "BertViz model_view as the course shows it, 12 x 12 x 24",
    "Framed(framed(widgets.bertviz_model_view(small)), False)",
    "len(widgets.bertviz_model_view(small)._repr_html_().encode())",
)
VIEWS = (BERTVIZ, BROWSER, LARGE, MENDED)

# When the first message arrived that shows anything, and when a view said that it was painted.
WATCH = """() => {
  window.mhaArrived = null;
  window.mhaPainted = null;
  const Plain = window.WebSocket, decoder = new TextDecoder("latin1");
  window.WebSocket = class extends Plain {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", ({ data }) => {
        if (window.mhaArrived !== null) return;
        const now = performance.now();
        const start = typeof data === "string" ? data.slice(0, 800) : decoder.decode(data.slice(0, 800));
        if (/comm_open|execute_result|display_data/.test(start)) window.mhaArrived = now;
      });
    }
  };
  const painted = () => { if (window.mhaPainted === null) window.mhaPainted = performance.now(); };
  addEventListener("message", event => { if (event.data === "mha painted") painted(); });
  new MutationObserver(changes => {
    for (const { target } of changes) if (target.dataset.painted) painted();
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-painted"] });
}"""
# Said by a frame once its scripts have run and a whole frame has followed.
SAY = (
    "<script>requestAnimationFrame(() => requestAnimationFrame(() => "
    'parent.postMessage("mha painted", "*")))</script>'
)


class Framed:
    """HTML as the output of a cell; `inside` a frame of its own that says when it is painted."""

    def __init__(self, page: str, inside: bool = True) -> None:
        self._html = page
        if inside:
            page = (page + SAY).replace("&", "&amp;").replace('"', "&quot;")
            self._html = f'<iframe width="100%" height="2200" style="border: 0" srcdoc="{page}"></iframe>'

    def _repr_html_(self) -> str:
        return self._html


def framed(view: object) -> str:
    """The course's own HTML of a BertViz view, whose frame says when it is painted."""
    end, said = ("</body>".replace("<", "&lt;").replace(">", "&gt;"), html.escape(SAY))
    before, after = view._repr_html_().split(end)
    return f"{before}{said}{end}{after}"


def offline(maps: object) -> str:
    """BertViz's model view as its package publishes it, with d3 and jQuery in place of the CDN's."""
    from mha_course.widgets.bertviz.published import as_published, libraries

    tag, rest = as_published("model_view", maps.weights, maps.query_tokens).split("</script>", 1)
    assert "require.min.js" in tag
    shim = "require = { config() {} }; requirejs = (names, then) => then(jQuery, d3);"
    return f"<script>{libraries()}{shim}</script>{rest}"


def weight(widget: object) -> int:
    """Bytes of everything that a page is sent for a widget: code, styles, settings, numbers and its still."""
    sent = 0
    for name, value in widget.get_state().items():
        if isinstance(value, (bytes, memoryview)):
            sent += len(value)
        else:
            sent += len(json.dumps({name: value}, default=str).encode())
    return sent + len(json.dumps(widget._repr_mimebundle_()).encode())


def measure(page: LabPage, name: str, view: View) -> float:
    """Show one view on a fresh page; milliseconds until it is painted."""
    page.page.add_init_script(f"({WATCH})()")
    page.open(page.server.write_notebook(name, [SETUP, view.made]))
    page.run_cell(0)
    prompt = page.page.locator(".jp-CodeCell .jp-InputArea-prompt").first
    expect(prompt).to_have_text(re.compile(r"\d"), timeout=120_000)
    page.page.wait_for_timeout(1500)
    page.page.evaluate("() => { window.mhaArrived = window.mhaPainted = null; }")
    page.run_cell(1)
    page.page.wait_for_function("() => window.mhaPainted !== null", timeout=120_000, polling=50)
    return page.page.evaluate("() => window.mhaPainted - window.mhaArrived")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    times: dict[str, list[float]] = {view.name: [] for view in VIEWS}
    with tempfile.TemporaryDirectory() as folder:
        server, chromium = LabServer(Path(folder)), Chromium()
        try:
            for round_ in range(options.rounds):
                order = VIEWS if round_ % 2 == 0 else VIEWS[::-1]
                for i, view in enumerate(order):
                    page = chromium.page(server)
                    times[view.name].append(measure(page, f"views_{round_}_{i}.ipynb", view))
                    page.page.context.close()
                    print(f"  round {round_ + 1}: {view.name}: {times[view.name][-1]:.0f} ms", flush=True)
        finally:
            chromium.close()
            server.close()
    scope: dict[str, object] = {"weight": weight}
    exec(SETUP, scope)
    weights = {view.name: eval(view.weight, scope) for view in VIEWS}
    print(f"\nMachine: {machine()}\n")
    print("| view | painted, median ms | all of them | sent to the page, kB | times sooner | of the weight |")
    print("|---|---|---|---|---|---|")
    slow, heavy = statistics.median(times[BERTVIZ.name]), weights[BERTVIZ.name]
    for view in VIEWS:
        middle = statistics.median(times[view.name])
        # Another size is compared with nothing.
        beside = "– | –" if view is LARGE else f"{slow / middle:.1f} | 1/{heavy / weights[view.name]:.1f}"
        print(
            f"| {view.name} | {middle:.0f} | {min(times[view.name]):.0f} .. {max(times[view.name]):.0f} | "
            f"{weights[view.name] / 1000:.0f} | {beside} |"
        )


if __name__ == "__main__":
    main()
