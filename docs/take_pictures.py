"""Take the README's pictures: the live explorer in real JupyterLab, in light and dark.

    python docs/take_pictures.py

Needs the packages of requirements-dev.txt and a Chromium. Run it again when the explorer's look changes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser.lab import Chromium, LabServer

PICTURES = Path(__file__).parent / "pictures"
CELL = """from mha_course import widgets
widgets.AttentionExplorer("the old cat watches the young cat sleep .", h=4, weights="by hand", head=3)"""


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        server, chromium = LabServer(Path(folder)), Chromium()
        try:
            page = chromium.page(server, width=1330, height=1900, device_scale_factor=1.5)
            page.open(server.write_notebook("picture.ipynb", [CELL]))
            page.run_all()
            for theme in ("light", "dark"):
                page.set_theme(theme)
                page.page.mouse.move(5, 5)
                page.page.wait_for_timeout(800)
                path = PICTURES / f"attention_explorer_{theme}.png"
                page.page.locator(".mha-explorer").screenshot(path=path)
                print(path)
        finally:
            chromium.close()
            server.close()


if __name__ == "__main__":
    main()
