"""Progress as one file: everything is in it, and merging it in loses nothing on either side."""

from __future__ import annotations

import json
import os
import random
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mha_course import (
    progress,
    progress_bugs,
    progress_cards,
    progress_clock,
    progress_transfer,
    record_file,
    workspace,
)
from mha_course.exercises import export_progress, import_progress
from mha_course.launcher import command

HOSTILE = "<img src=x onerror=alert(1)> </p> & \"'` 三月 \ud800"


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that goes to another machine: an empty my_course/ of the given name."""

    def go_to(name: str) -> Path:
        monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / name))
        monkeypatch.setattr(record_file, "_waiting", {})
        monkeypatch.setattr(record_file, "_trouble", None)
        return tmp_path / name

    go_to("here")
    return go_to


def everything() -> tuple:
    return progress.predictions(), progress.answers(), progress.attempted(), progress.solved()


def last_lesson() -> tuple:
    """What the final lab keeps: cards, suspects, runs."""
    runs = {run.key: (dict(run.passed), run.running) for run in progress_clock.all_runs()}
    return progress_cards.kept_cards(), progress_bugs.hunted(), runs


def do_some() -> None:
    progress.save_prediction("03-shape", HOSTILE)
    progress.save_answer("03-a", "left", False)
    progress.save_answer("03-b", "right", True)
    progress.mark_attempted("attention")
    progress.mark_attempted("split_heads")
    progress.mark_solved("split_heads")
    progress.mark_solved("parsons-split_heads")


def only_file(folder: Path) -> Path:
    [found] = folder.glob("my-progress-*.json")
    return found


def test_all_of_it_goes_to_another_machine(homes) -> None:
    here = homes("here")
    do_some()
    mine = everything()
    note = export_progress()
    file = only_file(here)
    assert str(file) in repr(note) and file.name in note._repr_html_() and note.path == file
    assert "1 prediction," in repr(note) and "2 exercises and puzzles solved" in repr(note)
    record = json.loads(file.read_bytes().decode("utf-8", "surrogatepass"))
    assert record["kind"] == progress_transfer.KIND and record["format"] == progress_transfer.FORMAT
    assert (record["predictions"], record["answers"], record["attempted"], record["solved"]) == mine
    homes("there")
    assert everything() == ({}, {}, {}, {})
    note = import_progress(file)
    assert everything() == mine
    assert "New here: " in repr(note) and "2 exercises and puzzles solved" in repr(note)
    assert "here already" in repr(import_progress(str(file))) and everything() == mine


def test_merging_keeps_the_better_of_two(homes, monkeypatch: pytest.MonkeyPatch) -> None:
    here = homes("here")
    monkeypatch.setattr(progress, "now", lambda: "2031-05-04T12:00:00+02:00")
    progress.save_prediction("03-a", "theirs")
    progress.save_prediction("03-b", "theirs")
    progress.save_answer("03-right-there", "yes", True)
    progress.save_answer("03-right-here", "no", False)
    progress.mark_solved("attention")
    progress.mark_solved("split_heads")
    export_progress()
    homes("there")
    for when, name in (
        ("2031-05-04T09:59:59+00:00", "attention"),
        ("2031-05-04T10:00:01+00:00", "split_heads"),
    ):
        monkeypatch.setattr(progress, "now", lambda when=when: when)
        progress.mark_solved(name)
    progress.mark_solved("merge_heads")
    progress.save_prediction("03-a", "ours")
    for choice in ("no", "no", "never"):
        progress.save_answer("03-right-there", choice, False)
    progress.save_answer("03-right-here", "yes", True)
    note = import_progress(only_file(here))
    assert "New here: 1 question answered, 1 prediction." in repr(note)
    assert progress.predictions() == {"03-a": "ours", "03-b": "theirs"}
    assert progress.answers() == {
        "03-right-there": {"choice": "yes", "right": True, "tries": 3},
        "03-right-here": {"choice": "yes", "right": True, "tries": 1},
    }
    # The earlier moment counts, not the text that sorts first.
    assert progress.solved() == {
        "attention": "2031-05-04T09:59:59+00:00",
        "split_heads": "2031-05-04T12:00:00+02:00",
        "merge_heads": "2031-05-04T10:00:01+00:00",
    }


def test_the_final_lab_goes_along_and_a_running_clock_stands_still(homes, monkeypatch) -> None:
    here, begun = homes("here"), datetime(2031, 5, 4, 9, 0, tzinfo=UTC)
    monkeypatch.setattr(progress_clock, "_now", lambda: begun)
    progress_clock.start("16", ["allowed_keys", "encoder_block"], 45)
    monkeypatch.setattr(progress_clock, "_now", lambda: begun + timedelta(seconds=130))
    progress_clock.note_pass("allowed_keys")
    monkeypatch.setattr(progress, "now", lambda: "2031-05-04T09:07:00+00:00")
    progress_cards.save_mark("why-several-heads", "knew")
    progress_cards.save_mark(HOSTILE, "missed")
    progress_bugs.note_name(3, "mask-reversed", right=False)
    progress_bugs.note_name(7, "view-alone", right=True)
    cards, bugs, runs = last_lesson()
    note = export_progress()
    assert "2 interview cards marked, 1 bug found, 1 run against the clock" in repr(note)
    homes("there")
    note = import_progress(only_file(here))
    assert "New here: 2 interview cards marked, 1 bug found, 1 run against the clock." in repr(note)
    assert last_lesson()[:2] == (cards, bugs)
    [run] = progress_clock.all_runs()
    # It was exported after seven minutes, and counts no further on a machine on which nobody started it.
    assert runs[run.key] == ({"allowed_keys": 130.0}, True)
    assert (dict(run.passed), run.running, run.counted) == ({"allowed_keys": 130.0}, False, 420.0)
    assert "here already" in repr(import_progress(only_file(here)))
    homes("third")
    import_progress(here / "progress.json")
    # A progress.json does not say when it was copied: then the clock stands at the last stage.
    assert progress_clock.all_runs()[0].counted == 130.0


def test_of_two_machines_the_better_is_kept(homes, monkeypatch) -> None:
    begun = "2031-05-04T09:00:00+00:00"

    def run(passed: dict[str, float], since: str | None, counted: float) -> dict:
        run = {"lesson": "16", "minutes": 45, "stages": ["a", "b"], "breaks": 0}
        return {begun: {**run, "passed": passed, "since": since, "counted": counted}}

    def card(box: int, mark: str, times: int) -> dict:
        return {"box": box, "mark": mark, "times": times, "when": "2031-05-04"}

    def bug(found: str, wrong: list[str], shown: bool) -> dict:
        return {"found": found, "wrong": wrong, "shown": shown}

    early, late = "2031-05-04T12:00:00+02:00", "2031-05-04T10:30:00+00:00"
    sides = {
        "here": {
            "cards": {"x": card(3, "knew", 4), "y": card(0, "missed", 9), "z": {"box": "?"}},
            "bugs": {"1": bug(late, ["p"], False), "2": bug("", ["p", "q"], False), "4": 7},
            "clock": run({"a": 50.0, "b": 400.0}, None, 400.0),
        },
        "there": {
            "cards": {"x": card(1, "partly", 6), "y": card(2, "knew", 2), "z": card(1, "partly", 1)},
            "bugs": {"1": bug(early, [], True), "2": bug("", ["q", "r"], True), "4": bug(late, [], True)},
            "clock": run({"a": 60.0}, begun, 0.0),
        },
    }
    files, ends = {}, []
    for name, sections in sides.items():
        home = homes(name)
        home.mkdir()
        (home / "progress.json").write_text(json.dumps(sections), encoding="utf-8")
        export_progress()
        files[name] = only_file(home)
    for name, other in (("here", "there"), ("there", "here")):
        homes(name)
        import_progress(files[other])
        cards, bugs, runs = last_lesson()
        assert {key: (kept["box"], kept["mark"], kept["times"]) for key, kept in cards.items()} == {
            "x": (3, "knew", 6),
            "y": (2, "knew", 9),
            "z": (1, "partly", 1),
        }
        # Of bugs that both found the earlier moment counts, whatever its text sorts like.
        assert bugs[1] == {"found": early, "wrong": [], "shown": False}
        assert sorted(bugs[2]["wrong"]) == ["p", "q", "r"] and not bugs[2]["shown"]
        assert bugs[4] == {"found": late, "wrong": [], "shown": True}
        # All stages are passed in one of the two records, so that the clock stands in both.
        assert runs == {begun: ({"a": 50.0, "b": 400.0}, False)}
        ends.append((cards, {number: (b["found"], sorted(b["wrong"])) for number, b in bugs.items()}))
    assert ends[0] == ends[1]


def test_a_clock_that_counts_here_is_not_stopped_by_an_import(homes) -> None:
    here = homes("here")
    progress_clock.start("16", ["a", "b"], 45)
    export_progress()
    progress_clock.note_pass("a")
    import_progress(only_file(here))
    run = progress_clock.current("16")
    assert run.running and set(run.passed) == {"a"}


@pytest.mark.parametrize(
    ("section", "entries"),
    [
        ("cards", {"a": {"box": 1, "mark": "well"}, "b": {"box": -1, "mark": "knew"}, "c": [], "d": {}}),
        (
            "cards",
            {"a": {"box": True, "mark": "knew"}, "b": {"box": 1, "mark": "knew", "when": 3}, "c": 1, "": {}},
        ),
        ("bugs", {"x": {"found": ""}, "12345": {"found": ""}, "1": {"found": 3}, "2": {"wrong": "no"}}),
        ("bugs", {"²": {}, "3": {"wrong": [1]}, "4": {"shown": "yes"}, "5": {"wrong": ["x"] * 200}}),
        ("clock", {"then": {}, "2031-05-04": [], "2031-05-05": {"lesson": "16"}, "2031-05-06": None}),
    ],
)
def test_what_looks_unlike_the_final_lab_is_left_out(
    homes, tmp_path: Path, section: str, entries: dict
) -> None:
    homes("here")
    before = last_lesson()
    file = tmp_path / "odd.json"
    file.write_text(json.dumps({"kind": progress_transfer.KIND, section: entries}), encoding="utf-8")
    assert "4 entries look" in repr(import_progress(file))
    assert last_lesson() == before == ({}, {}, {})


@pytest.mark.parametrize("seed", range(6))
def test_both_ways_lead_to_the_same_and_lose_nothing(homes, seed: int) -> None:
    draw = random.Random(seed)
    files, done = {}, {}
    for name in ("here", "there"):
        homes(name)
        for _ in range(draw.randrange(3, 12)):
            progress.mark_solved(draw.choice("abcdef"))
            progress.save_answer(draw.choice("uvw"), draw.choice("12"), draw.random() < 0.4)
        done[name] = set(progress.solved()), {k for k, a in progress.answers().items() if a["right"]}
        export_progress()
        files[name] = only_file(homes(name))
    ends = []
    for name, other in (("here", "there"), ("there", "here")):
        homes(name)
        import_progress(files[other])
        right = {key for key, answer in progress.answers().items() if answer["right"]}
        assert set(progress.solved()) == done["here"][0] | done["there"][0]
        assert right == done["here"][1] | done["there"][1]
        tries = {key: answer["tries"] for key, answer in progress.answers().items()}
        ends.append((progress.solved(), right, tries))
    assert ends[0] == ends[1]


def test_what_a_later_version_knows_comes_along(homes) -> None:
    here = homes("here")
    here.mkdir()
    later = {"badges": {"first": {"when": "then"}}, "version": 9, "solved": {"x": {"when": "then"}}}
    (here / "progress.json").write_text(json.dumps(later), encoding="utf-8")
    export_progress()
    file = only_file(here)
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(
        json.dumps(record | {"format": progress_transfer.FORMAT + 1, "stars": {"a": 5}}), encoding="utf-8"
    )
    there = homes("there")
    there.mkdir()
    (there / "progress.json").write_text('{"badges": {"second": 1}, "version": 8}', encoding="utf-8")
    note = import_progress(file)
    kept = json.loads((there / "progress.json").read_text(encoding="utf-8"))
    assert kept["badges"] == {"first": {"when": "then"}, "second": 1} and kept["version"] == 8
    assert "later version" in repr(note)
    # An object instead of a time is no time this version could merge; it is said, and the rest is kept.
    assert "1 entry" in repr(note)


def test_the_files_of_another_folder_can_be_taken_over_themselves(homes) -> None:
    here = homes("here")
    do_some()
    mine = everything()
    homes("there")
    import_progress(here / "progress.json")
    import_progress(here / "predictions.json")
    assert everything() == mine


@pytest.mark.parametrize(("content", "said"), [
    (b"", "not JSON"),
    (b"{", "not JSON"),
    (b"\xff\xfe\x00", "not JSON"),
    (b"[" * 200_000, "not JSON"),
    (b"[1, 2]", "not JSON"),
    (b"{}", "no progress"),
    (b'{"cells": [], "nbformat": 4}', "no progress"),
    (b'{"kind": "something else", "solved": {}}', "no progress"),
    (b'{"solved": 3}', "no progress"),
], ids=lambda value: repr(value)[:24])  # fmt: skip
def test_other_files_are_refused_in_a_sentence(homes, tmp_path: Path, content: bytes, said: str) -> None:
    homes("here")
    do_some()
    mine, file = everything(), tmp_path / "given.json"
    file.write_bytes(content)
    note = import_progress(file)
    assert said in repr(note) and "Nothing was changed" in repr(note) and "mhx-warn" in note._repr_html_()
    assert everything() == mine


@pytest.mark.parametrize(
    "given", [None, 3, "", "no-such-file.json", "a\0b", HOSTILE, "~nobody-of-this-name/x"]
)
def test_odd_paths_are_a_sentence(homes, given: object) -> None:
    homes("here")
    assert "Nothing was changed" in repr(import_progress(given))
    if given:
        note = export_progress(given if not isinstance(given, str) else f"/no/such/folder/{given}")
        assert "Nothing was written" in repr(note) and note.path is None
    assert not Path("no-such-file.json").exists()


@pytest.mark.skipif(os.name == "nt", reason="no such files there")
def test_pipes_and_devices_are_not_read(homes, tmp_path: Path) -> None:
    homes("here")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        assert "it is no file" in repr(import_progress(path))


def test_hostile_entries_are_left_out_or_stay_text(homes, tmp_path: Path) -> None:
    homes("here")
    do_some()
    mine = everything()
    record = {
        "kind": progress_transfer.KIND,
        "format": "x",
        "solved": {"split_heads": "0001-01-01", "a": None, "b": ["x"], "c": "9" * 20_000, "k" * 300: "then"},
        "attempted": {"attention": "not a time", "d": "9999-12-31T23:59:59-23:59", "": "then"},
        "answers": {
            "03-b": {"choice": "no", "right": 0},
            "03-a": {"choice": HOSTILE, "right": True, "tries": -4},
        },
        "predictions": {HOSTILE: HOSTILE, "e": 3},
        "more": {
            "progress.json": {"solved": {"free": "then"}, "new": {"x": 1}},
            "../../etc/x.json": {"a": {}},
        },
    }
    file = tmp_path / "hostile.json"
    file.write_bytes(json.dumps(record).encode())
    note = import_progress(file)
    predictions, answers, attempted, solved = everything()
    assert solved == mine[3] | {"split_heads": "0001-01-01"}
    assert attempted == mine[2] | {"d": "9999-12-31T23:59:59-23:59"}
    assert answers == mine[1] | {"03-a": {"choice": HOSTILE, "right": True, "tries": 1}}
    assert predictions == mine[0] | {HOSTILE: HOSTILE}
    assert "7 entries" in repr(note)
    assert {path.name for path in homes("here").iterdir()} == {
        "progress.json",
        "predictions.json",
        ".progress.lock",
    }


def test_too_large_a_file_is_not_read(homes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    homes("here")
    monkeypatch.setattr(record_file, "LARGEST_BYTES", 1000)
    file = tmp_path / "large.json"
    file.write_text(json.dumps({"solved": {"a": "x" * 2000}}), encoding="utf-8")
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("read"))
    assert "larger than" in repr(import_progress(file))


def test_an_export_never_replaces_anything(homes, tmp_path: Path) -> None:
    here = homes("here")
    do_some()
    for _ in range(3):
        export_progress()
    assert len(list(here.glob("my-progress-*.json"))) == 3
    before = (here / "progress.json").read_bytes()
    assert "progress-2.json" in repr(export_progress(here / "progress.json"))
    assert (here / "progress.json").read_bytes() == before
    chosen = tmp_path / "chosen name.json"
    assert str(chosen) in repr(export_progress(chosen)) and chosen.exists()
    assert not [path for path in here.iterdir() if path.name.endswith(".part")]


def test_without_a_writable_folder_both_say_so(homes, tmp_path: Path) -> None:
    homes("here")
    do_some()
    file = tmp_path / "moved.json"
    export_progress(file)
    blocked = homes("blocked")
    blocked.write_text("a file where the folder should be", encoding="utf-8")
    assert "Nothing was written" in repr(export_progress())
    note = import_progress(file)
    assert "until the notebook is closed" in repr(note) and "split_heads" in progress.solved()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.add(tag)


def test_names_of_files_never_become_markup(homes, tmp_path: Path) -> None:
    homes("here")
    do_some()
    file = tmp_path / "<img src=x onerror=alert(1)>.json"
    for note in (export_progress(file), import_progress(file), import_progress(f"{file}x")):
        page = _Tags()
        page.feed(note._repr_html_())
        assert page.tags <= {"style", "div", "p", "code"}
        assert "onerror" in note._repr_html_()


def test_an_update_of_the_lessons_leaves_progress_alone(
    homes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, lessons = homes("here"), tmp_path / "notebooks"
    lessons.mkdir()

    def publish(text: str) -> None:
        for name in ("00_start.ipynb", "03_split.ipynb"):
            cell = {"cell_type": "markdown", "metadata": {}, "source": [text]}
            content = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
            (lessons / name).write_text(json.dumps(content), encoding="utf-8")

    def start(*arguments: str) -> None:
        assert command.main(arguments) == 0

    # Starting the course, less the parts that install it and open JupyterLab.
    monkeypatch.setattr(workspace, "project_root", lambda: tmp_path)
    monkeypatch.setattr(command, "ensure_environment", lambda *_, **__: True)
    monkeypatch.setattr(command, "open_lab", lambda *_: 0)
    publish("the first version")
    start()
    do_some()
    export_progress()
    mine = {path.name: path.read_bytes() for path in home.iterdir() if path.suffix == ".json"}
    mine.pop(workspace.RECORD_NAME, None)
    assert {"progress.json", "predictions.json"} < set(mine)
    publish("the second version")
    (home / "03_split.ipynb").write_text("{changed by the student", encoding="utf-8")
    start()
    (lessons / "00_start.ipynb").rename(lessons / "00_renamed.ipynb")
    start()
    start("reset", "all")
    assert (home / "00_renamed.ipynb").exists() and not (home / "00_start.ipynb").exists()
    assert {name: (home / name).read_bytes() for name in mine} == mine
