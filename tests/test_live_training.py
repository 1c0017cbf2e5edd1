"""LiveTraining and HeadsForming in Python: what goes to the view, what is done for it, and stills."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from mha_course import widgets
from mha_course.models.course_models import load_course_model
from mha_course.training import live_run as runs


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MHA_COURSE_STEPS", "12")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    for run in runs._RUNNING:
        run.close()


def test_nothing_starts_by_itself(short: None) -> None:
    live = widgets.LiveTraining(seed=101)
    assert live.answer["state"] == "new" and live.run._process is None
    assert live.model() is None and live.measured() == []
    data, _ = live._repr_mimebundle_()
    assert "Live training, new: step 0 of 12" in data["text/html"] and "image/png" not in data


def test_a_click_starts_it_and_everything_is_told(short: None) -> None:
    live = widgets.LiveTraining(seed=102)
    live.set_state({"order": "start", "stamp": 1})
    assert live.answer["stamp"] == 1 and live.answer["state"] == "starting"
    assert live.wait(90) == "finished"
    live.refresh(force=True)
    header = live.answer
    assert header["state"] == "finished" and header["step"] == 12
    assert [step for step, _ in header["losses"]] == [10, 12] and header["seconds"] > 0
    assert [look[0] for look in header["looks"]] == [0, 12] and len(header["looks"][0]) == 5
    assert set(header["accuracy"]) == {"stem", "ending", "mutation", "liaison"}
    assert header["roles"]["previous"]["since"] is None
    data, _ = live._repr_mimebundle_()
    assert data["image/png"] and "best heads: previous" in live.alt
    assert live.model().attend("the crabs sleep .".split()).weights.shape == (2, 8, 4, 4)
    again = widgets.LiveTraining(seed=102)
    assert again.run is live.run and again.answer["state"] == "finished"


def test_the_same_cell_goes_on_with_what_was_stopped(short: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_STEPS", "3000")
    live = widgets.LiveTraining(seed=103, parts=["ending", "stem"])
    assert live.parts == ["stem", "ending"]
    live.start()
    live.set_state({"order": "stop", "stamp": 1})
    assert live.wait(240) == "stopped"
    again = widgets.LiveTraining(seed=103, parts=["ending", "stem"])
    assert again.run is live.run and again.run.state in ("starting", "running")
    again.stop()
    assert again.wait(240) == "stopped"


def test_since_when_a_role_holds() -> None:
    from mha_course.widgets.live_training import _with_since

    def look(step: int, passed: bool) -> dict:
        return {"step": step, "seconds": step / 10, "roles": {"next": {"name": "next", "passed": passed}}}

    assert _with_since([]) == {}
    kept = [look(0, True), look(50, False), look(100, True), look(150, True)]
    assert _with_since(kept)["next"]["since"] == [100, 10.0]
    assert _with_since([*kept, look(200, False)])["next"]["since"] is None


def test_maps_of_every_checkpoint() -> None:
    sentence = "The old farmer sees zebras ."
    forming = widgets.HeadsForming(sentence, layer=1, head=7, step=900)
    assert forming.answer["tokens"] == ["the", "old", "farmer", "sees", "zebras", "."]
    assert forming.answer["unknown"] == ["zebras"]
    maps = np.frombuffer(forming.payload, "<u2").reshape(len(forming.steps), 2, 8, 6, 6) / 65535
    for i, step in ((0, 0), (4, 600), (9, None)):
        expected = load_course_model(step=step).attend(forming.answer["tokens"]).weights
        np.testing.assert_allclose(maps[i], expected.numpy(), atol=2e-5)
    assert "step 900 is on show" in forming.alt and forming.still_png()[:4] == b"\x89PNG"
    forming.sentence = " ".join(["dog"] * 30)
    assert len(forming.answer["tokens"]) == 24 and forming.answer["found"] == 30
    forming.sentence = "  "
    assert forming.answer["tokens"] == [] and forming.still_png() is None


def test_what_is_not_there_is_refused() -> None:
    for wrong in ({"layer": 3}, {"head": 0}, {"step": 151}):
        with pytest.raises(ValueError, match=str(next(iter(wrong.values())))):
            widgets.HeadsForming(**wrong)
    for parts in ("root", [], ["stem", "leaf"]):
        with pytest.raises(ValueError, match="parts"):
            widgets.LiveTraining(parts=parts)
    for parts in (None, 3, [["stem"]]):
        with pytest.raises(ValueError, match="parts"):
            widgets.LiveTraining(parts=parts)
    for seed in ("a", None, 1.5, True, -1, 2**70):
        with pytest.raises(ValueError, match="seed"):
            widgets.LiveTraining(seed=seed)
    for wrong in ({"head": "2"}, {"layer": 1.5}, {"step": None}, {"sentence": None}, {"sentence": [3]}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            widgets.HeadsForming(**wrong)


def test_what_is_trained_alike_is_one_run(short: None) -> None:
    first = widgets.LiveTraining(seed=104, parts=["liaison", "stem", "stem"])
    assert widgets.LiveTraining(seed=104, parts=("stem", "liaison")).run is first.run
    assert first.parts == ["stem", "liaison"]


def test_traits_that_were_not_recorded_are_refused_and_nothing_moves() -> None:
    forming = widgets.HeadsForming(["the", "dog", "sleeps", "."], layer=1, head=3, step=450)
    for name, value in (("layer", 3), ("head", 0), ("step", 451)):
        before = getattr(forming, name)
        with pytest.raises(ValueError, match=f"{name}={value}"):
            setattr(forming, name, value)
        assert getattr(forming, name) == before
    assert forming.answer["tokens"] == ["the", "dog", "sleeps", "."]


def test_unknown_words_are_named_once_and_in_short() -> None:
    forming = widgets.HeadsForming("x" * 3_000 + " oboe oboe lens")
    assert forming.answer["unknown_named"] == "x" * 23 + "…, oboe"  # "lens" is known
    forming.sentence = "dog " * 500
    assert forming.answer["found"] == 500
