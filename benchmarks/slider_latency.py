"""From a slider's key press to changed pixels, in real JupyterLab and Chromium.

    python benchmarks/slider_latency.py [--presses 15]

Timed inside the page: from the keydown event to the animation frame in which the pixels differ.
The same maps are then redrawn with Matplotlib subplots under an ipywidgets slider, in the same run.
Needs the packages of requirements-dev.txt and a Chromium. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.layer_speed import machine
from tests.browser.lab import Chromium, LabPage, LabServer

WORDS = (
    "the old cat sleeps on a warm chair while rain falls and nobody hears the quiet owl above our barn"
).split()


@dataclass(frozen=True)
class Case:
    """One size. choices: the stops of the d_model slider, between which the key moves."""

    name: str
    h: int
    n: int
    choices: tuple[int, ...]

    @property
    def sentence(self) -> str:
        return " ".join((WORDS * 4)[: self.n])


CASES = [
    Case("one 32 x 32 map with labels", 1, 32, (48, 64)),
    Case("8 heads of 32 x 32", 8, 32, (48, 64)),
    Case("144 heads of 24 x 24", 144, 24, (144, 288)),
]

# Waits for a key press, then looks at every frame until the picture's fingerprint differs.
TIMER = """(fingerprint) => {
  const look = new Function("return (" + fingerprint + ")()");
  window.mhaTimes = [];
  window.mhaWaiting = false;
  document.addEventListener("keydown", () => {
    const start = performance.now(), before = look();
    window.mhaWaiting = true;
    const frame = () => {
      if (look() !== before) {
        window.mhaTimes.push(performance.now() - start);
        window.mhaWaiting = false;
      } else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }, true);
}"""
# All maps are drawn in one task, so the first, the middle and the last one stand for all: reading back
# 144 canvases in every frame would cost more than drawing them.
CANVAS = """() => {
  const all = document.querySelectorAll("canvas.mha-cells");
  let sum = 0;
  for (const canvas of new Set([all[0], all[all.length >> 1], all[all.length - 1]])) {
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    for (let i = 0; i < data.length; i += 4) {
      sum = (sum * 31 + data[i] + 7 * data[i + 1] + 13 * data[i + 2]) | 0;
    }
  }
  return sum;
}"""
IMAGE = """() => {
  const image = document.querySelector(".jp-OutputArea-output img");
  return image && image.complete ? image.src.length + image.src.slice(-400) : "none";
}"""


def explorer_cell(case: Case) -> str:
    return (
        "from mha_course import widgets\n"
        f"explorer = widgets.AttentionExplorer({case.sentence!r}, d_model={case.choices[0]}, h={case.h}, "
        f"d_model_choices={case.choices})\n"
        "explorer.first = -1\nexplorer"
    )


def subplots_cell(case: Case) -> str:
    """The usual way: a figure of subplots drawn anew at every move of a slider, from the same layer."""
    return f"""
import math, ipywidgets, matplotlib.pyplot as plt, torch
from mha_course.text.tokens import tokenize
from mha_course.widgets.weight_sources import SOURCES
tokens = tokenize({case.sentence!r})
def redraw(d_model):
    prepared = SOURCES["random"].prepare(tokens, d_model, {case.h}, 0)
    with torch.no_grad():
        weights = prepared.layer.trace(prepared.x[None]).weights[0]
    columns = math.ceil(math.sqrt({case.h}))
    figure, axes = plt.subplots(math.ceil({case.h} / columns), columns, figsize=(9, 9), squeeze=False)
    for axis, map_ in zip(axes.flat, weights):
        axis.imshow(map_, vmin=0, vmax=1, cmap="Blues")
        if {case.h} == 1:
            axis.set_xticks(range(len(tokens)), tokens, rotation=60)
            axis.set_yticks(range(len(tokens)), tokens)
        else:
            axis.set_xticks([]), axis.set_yticks([])
    plt.show()
slider = ipywidgets.SelectionSlider(options={case.choices}, description="d_model")
display(slider, ipywidgets.interactive_output(redraw, {{"d_model": slider}}))
"""


def measure(page: LabPage, target: str, fingerprint: str, presses: int) -> list[float]:
    """Press the right and left arrow in turn on the slider found by `target`; milliseconds of each."""
    handle = page.page.locator(target).first
    handle.wait_for()
    page.page.wait_for_timeout(1500)
    page.page.evaluate(TIMER, fingerprint)
    handle.focus()
    for i in range(presses + 2):
        page.page.keyboard.press("ArrowRight" if i % 2 == 0 else "ArrowLeft")
        page.page.wait_for_function("() => !window.mhaWaiting", timeout=60_000, polling=50)
        page.page.wait_for_timeout(350)
    return page.page.evaluate("() => window.mhaTimes")[2:]  # the first two warm up caches


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presses", type=int, default=15)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        server, chromium = LabServer(Path(folder)), Chromium()
        try:
            for i, case in enumerate(CASES):
                times = {}
                for kind, cell, target, fingerprint in (
                    ("explorer", explorer_cell(case), '[data-control="d_model"]', CANVAS),
                    ("subplots", subplots_cell(case), ".noUi-handle", IMAGE),
                ):
                    page = chromium.page(server)
                    page.open(server.write_notebook(f"{kind}_{i}.ipynb", [cell]))
                    page.run_all()
                    times[kind] = measure(page, target, fingerprint, options.presses)
                    page.page.context.close()
                rows.append((case.name, times))
        finally:
            chromium.close()
            server.close()
    print(f"Machine: {machine()}\n")
    print(
        "| picture | explorer, median ms | slowest of all | Matplotlib subplots, median ms | times faster |"
    )
    print("|---|---|---|---|---|")
    for name, times in rows:
        ours, theirs = statistics.median(times["explorer"]), statistics.median(times["subplots"])
        print(f"| {name} | {ours:.0f} | {max(times['explorer']):.0f} | {theirs:.0f} | {theirs / ours:.1f} |")


if __name__ == "__main__":
    main()
