"""A real JupyterLab server and a real Chromium, cut off from every host but this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, sync_playwright

from tests.browser.scripts import OPEN_IN_PLACE, PICTURES_WITHOUT_ALT
from tests.warm_kernels import warm_kernels

WIDTH, HEIGHT = 1400, 1000
LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]", ""}
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
# What JupyterLab itself prints to the console in a notebook without any widget.
HARMLESS_CONSOLE = ("Failed to load resource: the server responded with a status of 404",)

HARMLESS_ERRORS = (
    # JupyterLab's own words where a notebook is closed before all that it waits for has come.
    "Disposed",
    # anywidget's, where a widget is gone, or its machine too busy, two seconds after it was made. A widget
    # that does not come at all fails the test that looks at it.
    "[anywidget] Failed to initialize model.",
)


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome that can be driven, or None."""
    named = os.environ.get("MHA_CHROMIUM")
    candidates = [named] if named else ["chromium", "chromium-browser", "google-chrome", "chrome"]
    return next((found for name in candidates if name and (found := shutil.which(name))), None)


class LabServer:
    """JupyterLab in a folder of its own, with a free port, a token, and every cell of a notebook drawn.

    home: a folder that is both my_course/ and the server's root, as start.py has it; else they are two.
    """

    def __init__(self, folder: Path, home: Path | None = None) -> None:
        self.folder = folder
        self.token = "test-token"
        settings = folder / "settings"
        _write_settings(settings, "notebook-extension/tracker", {"windowingMode": "none"})
        _write_settings(
            settings,
            "apputils-extension/notification",
            {"checkForUpdates": False, "doNotDisturbMode": True, "fetchNews": "false"},
        )
        self.root = home or folder / "root"
        self.root.mkdir(exist_ok=True)
        self._log = (folder / "lab.log").open("wb")
        environment = os.environ | {
            "JUPYTERLAB_SETTINGS_DIR": str(settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_PREFER_ENV_PATH": "1",
            "MHA_COURSE_HOME": str(home or folder / "my_course"),
        }
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=0"]
        command += [f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={self.root}"]
        command.append("--expose-app-in-browser")
        if hasattr(os, "getuid") and os.getuid() == 0:
            command.append("--allow-root")
        environment |= warm_kernels().settings
        self._process = subprocess.Popen(
            command, stdout=self._log, stderr=subprocess.STDOUT, env=environment, cwd=folder
        )
        self.url = self._wait_until_it_answers(folder / "runtime")

    def _wait_until_it_answers(self, runtime: Path) -> str:
        for _ in range(600):
            time.sleep(0.1)
            if self._process.poll() is not None:
                break
            for described in runtime.glob("jpserver-*.json"):
                try:
                    url = json.loads(described.read_text(encoding="utf-8"))["url"]
                    urllib.request.urlopen(f"{url}api/status?token={self.token}", timeout=2).close()
                    return url.replace("localhost", "127.0.0.1")
                except (OSError, ValueError, KeyError):
                    continue
        log = (self.folder / "lab.log").read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"JupyterLab did not start:\n{log[-2000:]}")

    def add_notebook(self, path: Path, name: str | None = None) -> str:
        """Put a copy of a notebook into the server's folder. Returns its name there."""
        name = name or path.name
        shutil.copyfile(path, self.root / name)
        return name

    def write_notebook(self, name: str, cells: list[str]) -> str:
        """Make a notebook of code cells in the server's folder. Returns its name."""
        import nbformat

        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        notebook.metadata["kernelspec"] = {
            "name": "python3",
            "display_name": "Python 3",
            "language": "python",
        }
        nbformat.write(notebook, self.root / name)
        return name

    def kernels(self) -> set[str]:
        """The ids of all kernels that are running."""
        return {kernel["id"] for kernel in self._asked("GET", "kernels")}

    def end_kernels(self, but: set[str] = frozenset()) -> None:
        """Shut down all kernels but these: each holds some 300 MB, and closing a page ends none."""
        for session in self._asked("GET", "sessions"):
            if session["kernel"]["id"] not in but:
                self._asked("DELETE", f"sessions/{session['id']}")
        for kernel in self.kernels() - but:
            self._asked("DELETE", f"kernels/{kernel}")

    def _asked(self, method: str, what: str) -> list[dict]:
        request = urllib.request.Request(f"{self.url}api/{what}", method=method)
        request.add_header("Authorization", f"token {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or b"[]")
        except urllib.error.HTTPError:
            return []  # it was gone before it could be ended

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(20)
        self._log.close()


class LabPage:
    """One browser page on the server. It keeps every foreign request and every console error."""

    def __init__(self, server: LabServer, page: Page) -> None:
        self.server, self.page = server, page
        self.used_up = False  # a test that changes the page for good says so
        self.page_of_size: Callable[[int, int], LabPage] = lambda width, height: self
        self.foreign_requests: list[str] = []
        self.console_errors: list[str] = []
        self.dialogs: list[str] = []
        page.on("request", self._note_request)
        page.on("console", self._note_console)
        page.on("pageerror", self._note_page_error)
        page.on("dialog", self._note_dialog)
        page.set_default_timeout(60_000)

    def _note_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and (parts.hostname or "") not in LOCAL_HOSTS:
            self.foreign_requests.append(request.url)

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(known in message.text for known in HARMLESS_CONSOLE):
            self.console_errors.append(message.text)

    def _note_page_error(self, error: object) -> None:
        if str(error) not in HARMLESS_ERRORS:
            self.console_errors.append(f"page error: {error}")

    def _note_dialog(self, dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def open(self, name: str) -> None:
        """Open a notebook, and nothing else, and wait until its kernel is idle.

        The first one is opened with JupyterLab, which takes longer than all the rest; later ones in it.
        """
        if self.page.evaluate("Boolean(window.jupyterapp)"):
            self.page.evaluate(OPEN_IN_PLACE, name)
        else:
            self.page.goto(f"{self.server.url}lab/tree/{name}?token={self.server.token}&reset")
            self.page.evaluate("addEventListener('resize', () => (window.mhaResized = true))")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.page.wait_for_selector("#jp-main-statusbar >> text=/\\| Idle/", timeout=240_000)
        self.page.wait_for_timeout(300)

    def narrow(self, width: int, height: int = 900) -> LabPage:
        """Another page, in a window of this size, and with no more motion than a student asks for."""
        page = self.page_of_size(width, height)
        page.page.emulate_media(reduced_motion="reduce")
        return page

    def clear_away(self) -> None:
        """Close what is open, and be as at the beginning, for the next test. Raises if that can't be done."""
        if not self.page.evaluate("Boolean(window.jupyterapp)"):
            return  # nothing was opened here, for the test used another page
        self.page.evaluate(OPEN_IN_PLACE, "")
        self.page.evaluate("localStorage.clear()")
        self.page.emulate_media(media="null", reduced_motion="null", color_scheme="null")
        self.page.mouse.move(0, 0)

    def run_all(self, timeout: float = 300) -> None:
        """Run → Run All Cells, from the menu, and wait until every cell has run. timeout in seconds."""
        self.menu("Run", "Run All Cells")
        self._wait_until_run(None, timeout)

    def run_up_to(self, cell: Locator, timeout: float = 300) -> None:
        """Run → Run All Above Selected Cell, then this one, and wait. timeout in seconds."""
        cell.locator(".jp-InputArea-prompt").click()
        number = self.page.locator(".jp-CodeCell").evaluate_all(
            "(all, cell) => all.indexOf(cell)", cell.element_handle()
        )
        self.menu("Run", "Run All Above Selected Cell")
        self._wait_until_run(number, timeout)
        self.run_cell(number)
        self._wait_until_run(number + 1, timeout)

    def _wait_until_run(self, first: int | None, timeout: float) -> None:
        """Wait until all code cells have run, or the first so many."""
        self.page.wait_for_timeout(300)
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            # Not `all_inner_texts`: for a text as it is seen the whole page is laid out anew.
            prompts = self.page.locator(".jp-CodeCell .jp-InputArea-prompt").all_text_contents()[:first]
            if prompts and all(p.strip(" []:").isdigit() for p in prompts):
                self.page.wait_for_timeout(500)
                return
            self.page.wait_for_timeout(min(500, 50 + 5 * len(prompts)))
        raise TimeoutError(f"cells still running after {timeout} s: {prompts}")

    def run_cell(self, index: int) -> None:
        """Run one code cell (index from 0 over code cells) with Shift+Enter; doesn't wait."""
        self.page.locator(".jp-CodeCell .jp-InputArea-prompt").nth(index).click()
        self.page.keyboard.press("Shift+Enter")

    def menu(self, *names: str) -> None:
        """Click through the main menu."""
        self.page.locator("#jp-MainMenu .lm-MenuBar-itemLabel", has_text=names[0]).first.click()
        for name in names[1:]:
            self.page.locator(".lm-Menu-itemLabel", has_text=name).first.click()

    def set_theme(self, name: str) -> None:
        """Settings → Theme → JupyterLab Light or JupyterLab Dark, from the menu."""
        self.page.locator("#jp-MainMenu .lm-MenuBar-itemLabel", has_text="Settings").first.click()
        self.page.locator(".lm-Menu-itemLabel", has_text="Theme").first.hover()
        self.page.locator(".lm-Menu-itemLabel", has_text=f"JupyterLab {name.title()}").first.click()
        light = "true" if name == "light" else "false"
        self.page.wait_for_selector(f'body[data-jp-theme-light="{light}"]', state="attached")
        self.page.wait_for_timeout(500)

    def outputs(self) -> Locator:
        """Every output area below a code cell."""
        return self.page.locator(".jp-Cell-outputArea")

    def error_outputs(self) -> list[str]:
        """The tracebacks in sight."""
        return self.page.locator(
            '.jp-RenderedText[data-mime-type="application/vnd.jupyter.stderr"], '
            '.jp-RenderedText[data-mime-type="application/vnd.jupyter.error"]'
        ).all_inner_texts()

    def pictures_without_alt(self) -> list[str]:
        """Every picture (img, canvas, svg role=img) in an output that a screen reader could not name."""
        return self.page.evaluate(PICTURES_WITHOUT_ALT)


class Chromium:
    """One Chromium for many pages."""

    def __init__(self) -> None:
        self._playwright = sync_playwright().start()
        self.browser: Browser = self._playwright.chromium.launch(
            executable_path=find_chromium(), args=CHROMIUM_OPTIONS
        )

    def page(self, server: LabServer, width: int = WIDTH, height: int = HEIGHT, **options) -> LabPage:
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        return LabPage(server, context.new_page())

    def close(self) -> None:
        self.browser.close()
        self._playwright.stop()


def _write_settings(folder: Path, plugin: str, values: dict) -> None:
    path = folder / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")
