"""GatesLive in Python: what goes to the view, what is done for it, use in a cell, and stills."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from mha_course import widgets
from mha_course.training import live_run as runs
from mha_course.training.gloss_without_heads import held_out_glosses
from mha_course.training.train_gloss import accuracy


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MHA_COURSE_STEPS", "24")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    for run in runs._RUNNING:
        run.close()


def test_nothing_starts_by_itself(short: None) -> None:
    gates = widgets.GatesLive(seed=1, price=0.3)
    assert gates.answer["state"] == "new" and gates.run._process is None
    assert gates.values is None and gates.accuracy is None and gates.pruned() is None
    assert (gates.steps, gates.ramp, gates.settle) == (24, 2, 4)
    assert len(gates.heads) == 2 and gates.heads[1][0]["kind"] == "positional"
    data, _ = gates._repr_mimebundle_()
    assert (
        "price of 0.3, new: step 0 of 24. A button in the notebook starts it." in data["text/html"]
        and "image/png" not in data
    )
    assert gates.wait(0.1) == "new"


def test_a_click_starts_it_and_everything_is_told(short: None) -> None:
    gates = widgets.GatesLive(seed=2, price=0.02)
    gates.set_state({"order": "start", "stamp": 1})
    assert gates.answer["stamp"] == 1 and gates.answer["state"] == "starting"
    assert gates.wait(240) == "finished"
    gates.refresh(force=True)
    header = gates.answer
    assert gates.run._process.wait(20) == 0  # and gives back its memory
    assert header["state"] == "finished" and header["step"] == 24 and header["seconds"] > 0
    steps = [step for step, _, _ in header["open"]]
    assert steps == [10, 20, 24] and 10 < header["open"][0][1] < 16 and header["open"][-1][2] == 16
    assert header["gates"] == [pytest.approx(row.tolist()) for row in gates.values]
    assert set(header["whole"]) == set(header["left"]) == {"stem", "ending", "mutation", "liaison"}
    assert header["loss"] > 0 and [len(row) for row in header["labels"]] == [8, 8]
    assert "16 of 16 heads open" in gates.alt and "right answers without the others: stem" in gates.alt
    data, _ = gates._repr_mimebundle_()
    assert data["image/png"] and "24 of 24" in data["text/html"]
    assert accuracy(gates.pruned(), held_out_glosses(400)) == pytest.approx(dict(gates.accuracy))
    again = widgets.GatesLive(seed=2, price=0.02)
    assert again.run is gates.run and again.answer["state"] == "finished"


def test_the_same_cell_goes_on_with_what_was_stopped(short: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MHA_COURSE_STEPS")
    gates = widgets.GatesLive(price=0.01, steps=3000)
    gates.start()
    gates.set_state({"order": "stop", "stamp": 1})
    assert gates.wait(240) == "stopped"
    again = widgets.GatesLive(price=0.01, steps=3000)
    assert again.run is gates.run and again.run.state in ("starting", "running")
    again.stop()
    assert again.wait(240) == "stopped"


def test_every_price_has_a_run_of_its_own(short: None) -> None:
    gates = widgets.GatesLive(seed=1, price=0.07)
    assert gates.prices == [0.01, 0.02, 0.05, 0.07, 0.1, 0.2, 0.4, 0.8]
    first = gates.run
    gates.set_state({"order": "start", "stamp": 1})
    gates.set_state({"price": 0.4, "order": "", "stamp": 2})  # not while it runs
    assert gates.price == 0.07 and gates.run is first
    assert gates.wait(240) == "finished"
    gates.set_state({"price": 0.4, "order": "", "stamp": 3})
    assert gates.run is not first and gates.answer["state"] == "new" and gates.values is None
    assert gates.run is widgets.GatesLive(seed=1, price=0.4).run
    gates.price = 0.07
    assert gates.run is first and gates.answer["state"] == "finished" and "price of 0.07" in gates.alt
    with pytest.raises(ValueError, match="price=-3"):
        gates.price = -3


def test_what_cannot_be_is_refused_by_name() -> None:
    for name, values in {
        "seed": (7, "<b>", None),
        "price": (-1, "a", float("nan")),
        "steps": (0, 1.5),
    }.items():
        for value in values:
            with pytest.raises(ValueError, match=name):
                widgets.GatesLive(**{name: value})
