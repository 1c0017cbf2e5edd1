"""What every widget shares: assembly of the view, answers, locks, still pictures."""

from __future__ import annotations

import base64
import re
import threading
from pathlib import Path

import pytest
import torch
import traitlets

from mha_course import widgets
from mha_course.widgets import base
from mha_course.widgets.base import SHARED_JS, CourseWidget, javascript, stylesheet

PNG = b"\x89PNG\r\n\x1a\n-not-really"


class Doubler(CourseWidget):
    js = ()
    settings = ("number",)
    number = traitlets.Int(3).tag(sync=True)

    def compute(self):
        assert not torch.is_grad_enabled()
        self.computed = getattr(self, "computed", 0) + 1
        self.alt = f"twice {self.number}"
        return {"twice": 2 * self.number}, bytes([self.number])

    def still_png(self):
        self.drawn = getattr(self, "drawn", 0) + 1
        return PNG


def test_view_is_one_module_of_plain_functions():
    source = javascript(())
    assert source.startswith("const PALETTE = {") and source.rstrip().endswith("export default { render };")
    for name in SHARED_JS:
        assert f"// ---- {name}" in source
    # One module has one name space: a function or constant defined twice would stop the whole view.
    names = re.findall(r"^(?:function|const|let) (\w+)", source, flags=re.MULTILINE)
    assert len(names) == len(set(names))
    assert "innerHTML" not in source and "https://" not in source and "import " not in source


def test_style_sheets_are_joined_and_reach_no_other_host():
    sheet = stylesheet((), "mha-widget")
    assert ".mha-widget" in sheet and ".mha-segment" in sheet
    assert "url(" not in sheet and "@import" not in sheet


def test_answer_carries_the_stamp_it_belongs_to():
    widget = Doubler(number=7)
    assert widget.answer["twice"] == 14 and widget.answer["stamp"] == 0
    widget.set_state({"number": 9, "stamp": 5})
    assert widget.answer["twice"] == 18 and widget.answer["stamp"] == 5
    assert bytes(widget.payload) == b"\x09"


def test_several_settings_in_one_message_are_answered_once():
    widget = Doubler(number=2)
    before = widget.computed
    widget.set_state({"number": 6, "stamp": 1})
    assert widget.computed == before + 1


def test_serial_rises_when_python_moves_a_setting():
    widget = Doubler()
    first = widget.answer["serial"]
    widget.number = 8
    assert widget.answer["serial"] > first and widget.answer["twice"] == 16


def test_bundle_holds_live_view_still_picture_and_words():
    data, metadata = Doubler(number=4)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert base64.b64decode(data["image/png"]) == PNG
    assert data["text/plain"] == "twice 4"
    assert metadata["image/png"]["alt"] == "twice 4"
    assert 'alt="twice 4"' in data["text/html"] and data["image/png"] in data["text/html"]


def test_words_are_escaped_in_the_still():
    widget = Doubler()
    widget.alt = 'a "quoted" <img src=x onerror=alert(1)>'
    page = widget._repr_mimebundle_()[0]["text/html"]
    assert page.count("<") == 1 and "&quot;quoted&quot; &lt;img" in page


def test_still_picture_is_drawn_late_and_once_a_state():
    widget = Doubler()
    assert not hasattr(widget, "drawn")
    widget._repr_mimebundle_()
    widget._repr_mimebundle_()
    assert widget.drawn == 1
    widget.number = 5
    widget._repr_mimebundle_()
    assert widget.drawn == 2


def test_each_widget_has_its_own_lock_and_generator():
    one, other = Doubler(), Doubler()
    assert one._lock is not other._lock and one._generator is not other._generator


class Slow(Doubler):
    """Stops in the computation of 50 until it is told to go on."""

    js = ()

    def __init__(self, **settings):
        self.started, self.go_on = threading.Event(), threading.Event()
        super().__init__(**settings)

    def compute(self):
        number = self.number
        answer = super().compute()
        if number == 50:
            self.started.set()
            assert self.go_on.wait(10)
        return answer


def test_overtaken_requests_are_dropped():
    """While one thread computes, nine requests come in; not each of them is worth an answer."""
    widget = Slow(number=1)
    threads = [threading.Thread(target=widget.set_state, args=({"number": 50, "stamp": 1},))]
    threads[0].start()
    assert widget.started.wait(10)
    before = widget.computed
    for i in range(9):
        threads.append(threading.Thread(target=widget.set_state, args=({"number": 51 + i, "stamp": 2 + i},)))
        threads[-1].start()
    while widget._newest_stamp < 10:
        threads[-1].join(0.01)
    widget.go_on.set()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert widget.number == 59 and widget.stamp == 10
    assert widget.answer["twice"] == 118 and widget.answer["stamp"] == 10
    assert widget.computed - before == 1


def test_a_late_older_message_does_not_undo_a_newer_one():
    widget = Doubler(number=1)
    widget.set_state({"number": 6, "stamp": 4})
    widget.set_state({"number": 2, "stamp": 3})
    assert widget.number == 6 and widget.answer["twice"] == 12 and widget.answer["stamp"] == 4


def test_a_setting_moved_by_a_cell_during_the_computation_is_answered_too():
    widget = Slow(number=1)
    thread = threading.Thread(target=widget.set_state, args=({"number": 50, "stamp": 1},))
    thread.start()
    assert widget.started.wait(10)
    mover = threading.Thread(target=setattr, args=(widget, "number", 8))
    mover.start()
    while widget.number != 8:
        mover.join(0.01)
    widget.go_on.set()
    for each in (thread, mover):
        each.join(10)
        assert not each.is_alive()
    assert widget.answer["twice"] == 16


def test_compute_may_move_a_setting_that_cannot_stay():
    class Even(Doubler):
        js = ()

        def compute(self):
            self.number -= self.number % 2
            return super().compute()

    widget = Even(number=7)
    assert widget.number == 6 and widget.answer["twice"] == 12
    widget.set_state({"number": 9, "stamp": 1})
    assert widget.number == 8 and widget.answer["twice"] == 16


def test_an_error_in_compute_reaches_the_caller_and_the_widget_lives_on():
    class Picky(Doubler):
        js = ()

        def compute(self):
            if self.number == 13:
                raise ValueError("not 13")
            return super().compute()

    widget = Picky(number=2)
    with pytest.raises(ValueError, match="not 13"):
        widget.number = 13
    widget.number = 4
    assert widget.answer["twice"] == 8


def test_compute_is_the_subclass_duty():
    class Lazy(CourseWidget):
        js = ()

    with pytest.raises(NotImplementedError):
        Lazy()


@pytest.mark.parametrize("name", ["AttentionExplorer", "OutputMixer", "ShapeTracer", "SoftmaxExplorer"])
def test_a_widget_styles_nothing_outside_itself(name: str) -> None:
    cls = getattr(widgets, name)
    shared, _, own = cls._css.partition(f"@scope (.{cls.root}) {{")
    assert own.strip().endswith("}")
    assert own.count("{") + 1 == own.count("}")
    assert all(part in shared for part in (".mha-widget", ".mha-slider"))
    assert f'class: "mha-widget {cls.root}"' in cls._esm


def test_scoped_sheets_name_no_widget_above_their_scope():
    # Inside @scope a selector that begins with .mha-widget looks for a widget within the widget: never found.
    folder = Path(base.__file__).with_name("css")
    sheets = [path for path in folder.glob("*.css") if path.name not in base.SHARED_CSS]
    assert len(sheets) > 5
    for path in sheets:
        assert ".mha-widget" not in path.read_text(encoding="utf-8"), path.name
