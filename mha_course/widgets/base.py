"""CourseWidget: what every live picture of the course has in common.

A widget here is a Python object that computes and a JavaScript view that draws. This file joins the
two: it puts the view together from plain files in `js/` and `css/` (no build step, no network), answers
each request once and in order, and leaves a still picture where no browser front end runs.
"""

from __future__ import annotations

import base64
import html
import json
import threading
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import anywidget
import torch
import traitlets

from mha_course.text.readable import readable
from mha_course.theme import PALETTE, colours

_HERE = Path(__file__).parent
SHARED_JS = ("dom.js", "theme.js", "answers.js", "controls.js")
SHARED_CSS = ("base.css", "controls.css")


class Text(traitlets.Unicode):
    """Text that reaches the browser whatever is in it: what can't be sent is replaced by U+FFFD."""

    def validate(self, obj: object, value: object) -> str:
        return readable(super().validate(obj, value))


class CourseWidget(anywidget.AnyWidget):
    """A live picture with its own lock, its own random generator and a still picture of itself.

    A subclass names its view and its settings, and computes an answer:

        class Explorer(CourseWidget):
            js = ("heatmap.js", "explorer.js")   # joined after the shared files; the last one defines
            css = ("explorer.css",)              #   function render({ model, el })
            root = "mha-explorer"                # class of the view's outermost element; scopes the css
            settings = ("h", "seed")             # traits that, when moved, ask for a new answer
            h = traitlets.Int(4).tag(sync=True)
            seed = traitlets.Int(0).tag(sync=True)

            def compute(self):
                return {"shape": [2, 3]}, some_array.tobytes()

            def still_png(self):
                return png_bytes or None

    The view moves settings and raises `stamp` in one message; the answer carries the stamp that it
    belongs to. A request that has been overtaken by a newer one is dropped. `compute` runs under the
    widget's lock with gradients off, and may be called from any thread: it must not touch pyplot, the
    global random state, or another widget.
    """

    js: tuple[str, ...] = ()
    css: tuple[str, ...] = ()
    root = "mha-widget"
    settings: tuple[str, ...] = ()

    alt = Text("").tag(sync=True)
    stamp = traitlets.Int(0).tag(sync=True, echo_update=False)
    answer = traitlets.Dict().tag(sync=True)
    payload = traitlets.Bytes(b"").tag(sync=True)

    def __init_subclass__(cls, **kwargs: object) -> None:
        # The view is put together before anywidget looks for it. (Traits make subclasses of their own,
        # which name no files and inherit everything.)
        if "js" in cls.__dict__:
            cls._esm = javascript(cls.js)
            cls._css = stylesheet(cls.css, cls.root)
        super().__init_subclass__(**kwargs)

    def __init__(self, **settings: object) -> None:
        self._lock = threading.RLock()
        self._generator = torch.Generator().manual_seed(0)
        self._serial = 0
        self._answered: object = None
        self._still: tuple[int, bytes | None] | None = None
        self._ready = self._computing = False
        self._newest_stamp = 0
        self._set_at: dict[str, int] = {}
        super().__init__(**settings)
        self._ready = True
        self.observe(self._on_setting, names=[*self.settings, "stamp"])
        self.refresh()

    def open(self) -> None:
        """Tell the front end of the widget, its first answer with it: no view is ever drawn without one."""
        if self._serial == 0:
            self.refresh()
        super().open()

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """The answer to the present settings: a JSON-like mapping and the bytes of its arrays."""
        raise NotImplementedError

    def still_png(self) -> bytes | None:
        """The present state as PNG bytes, or None. Called under the lock, by any thread, seldom."""
        return None

    def refresh(self, force: bool = False) -> None:
        """Answer the present settings, unless that has been done already or a newer request waits."""
        with self._lock:
            if self._computing:
                return  # compute moved a setting that could not stay; the loop below sees it
            # Everything that compute moves goes out with the answer, in one message.
            with self.hold_sync():
                self._computing = True
                try:
                    found = self._settled_answer(force)
                finally:
                    self._computing = False
                if found is None:
                    return
                self._answered, header, payload = found
                self._serial += 1
                self.payload = payload
                self.answer = {**header, "stamp": self.stamp, "serial": self._serial}

    def _settled_answer(self, force: bool) -> tuple[object, Mapping[str, object], bytes] | None:
        """Compute until the settings stand still: a running cell may move them at any moment."""
        while self.stamp >= self._newest_stamp:
            asked = self._asked()
            if asked == self._answered and not force:
                return None
            try:
                with torch.no_grad():
                    header, payload = self.compute()
            except Exception:
                if self._asked() == asked:
                    raise
                continue  # the settings that were read didn't belong together
            if self._asked() == asked:
                return asked, header, payload
        return None  # the newer request answers as soon as this thread lets go of the lock

    def set_state(self, sync_data: dict) -> None:
        """Take what the view sent. Messages can arrive on two threads: one at a time, newest wins."""
        stamp = sync_data.get("stamp", 0)
        self._newest_stamp = max(self._newest_stamp, stamp)
        with self._lock:
            if stamp:
                # An older message that comes late must not undo what a newer one has set.
                kept = {k: v for k, v in sync_data.items() if self._set_at.get(k, 0) <= stamp}
                self._set_at.update(dict.fromkeys(kept, stamp))
                sync_data = kept
            super().set_state(sync_data)

    def _asked(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in (*self.settings, "stamp"))

    def _on_setting(self, change: object) -> None:
        if self._ready:
            self.refresh()

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """The live view, and for places without a front end a still picture and a sentence."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        with self._lock, torch.no_grad():
            if self._still is None or self._still[0] != self._serial:
                self._still = (self._serial, self.still_png())
            png, alt = self._still[1], self.alt
        data["text/plain"] = alt or type(self).__name__
        if png is not None:
            data["image/png"] = base64.b64encode(png).decode("ascii")
            # JupyterLab drops the alternative text of an image/png, an <img> keeps it.
            data["text/html"] = _image(data["image/png"], png, alt)
            metadata = {**metadata, "image/png": {"alt": alt}}
        return data, metadata


def _image(encoded: str, png: bytes, alt: str) -> str:
    """The still as HTML, at half its pixels (stills are drawn for two device pixels a CSS pixel)."""
    width = int.from_bytes(png[16:20], "big") // 2
    return (
        f'<img alt="{html.escape(alt)}" width="{width}" style="max-width: 100%; height: auto" '
        f'src="data:image/png;base64,{encoded}">'
    )


@lru_cache
def javascript(files: tuple[str, ...]) -> str:
    """One ES module: the palette, the shared files, then those given. Files define plain functions."""
    palette = {**PALETTE, "colours": {theme: colours(theme) for theme in ("light", "dark")}}
    parts = [f"const PALETTE = {json.dumps(palette, separators=(',', ':'))};"]
    for name in dict.fromkeys((*SHARED_JS, *files)):
        parts.append(f"// ---- {name}\n" + _code((_HERE / "js" / name).read_text(encoding="utf-8")))
    return "\n".join([*parts, "export default { render };\n"])


def _code(source: str) -> str:
    """A script without its comment lines: the page and the saved notebook carry the rest."""
    lines = source.splitlines()
    return "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith("//"))


@lru_cache
def stylesheet(files: tuple[str, ...], root: str) -> str:
    """The shared style sheets, then those given, which hold inside elements of the class `root` only.

    Every widget adds its sheet to the whole page; without the scope one widget would restyle another.
    """
    shared, own = (
        "\n".join((_HERE / "css" / name).read_text(encoding="utf-8") for name in names)
        for names in (SHARED_CSS, files)
    )
    return f"{shared}\n@scope (.{root}) {{\n{own}\n}}\n"
