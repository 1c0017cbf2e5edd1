"""Take the README's pictures: live widgets in real JupyterLab, in light and dark.

    python docs/take_pictures.py

Needs the packages of requirements-dev.txt and a Chromium. Run it again when their look changes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser.lab import Chromium, LabServer

PICTURES = Path(__file__).parent / "pictures"
# For each picture the root of its widget, and the cell that makes it.
TAKEN = {
    "attention_explorer": (
        ".mha-explorer",
        "from mha_course import widgets\n"
        'widgets.AttentionExplorer("the old cat watches the young cat sleep .",'
        ' h=4, weights="by hand", head=3)',
    ),
    "head_map": (
        ".mha-headmap",
        'from mha_course import widgets\nwidgets.HeadMap("MiniLM", layer=3, head=9)',
    ),
}


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        server, chromium = LabServer(Path(folder)), Chromium()
        try:
            for name, (root, cell) in TAKEN.items():
                page = chromium.page(server, width=1330, height=1900, device_scale_factor=1.5)
                page.open(server.write_notebook(f"{name}.ipynb", [cell]))
                page.run_all()
                for theme in ("light", "dark"):
                    page.set_theme(theme)
                    page.page.mouse.move(5, 5)
                    page.page.wait_for_timeout(800)
                    path = PICTURES / f"{name}_{theme}.png"
                    page.page.locator(root).screenshot(path=path)
                    print(path)
                page.page.context.close()
        finally:
            chromium.close()
            server.close()


if __name__ == "__main__":
    main()
