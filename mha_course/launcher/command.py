"""The command line of start.py."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from mha_course import workspace
from mha_course.launcher.environment import ensure_environment
from mha_course.launcher.lab import open_lab, refuse_open_doors, run_in_environment
from mha_course.launcher.messages import Problem, prepare_streams, say
from mha_course.launcher.places import Places

USAGE = """\
python start.py                  set up what is missing and open JupyterLab at lesson 00
python start.py lab OPTIONS      the same, with options for JupyterLab (--no-browser --port 8890)
python start.py setup            only make the environment in .venv
python start.py reset 03         a fresh copy of lesson 03; a changed one is kept beside it (or: reset all)
python start.py test ARGUMENTS   run the tests, with arguments for pytest

You work in my_course/. The lessons in notebooks/ stay as they are."""


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code: 0, 1 after a sentence on what went wrong, 130 after Ctrl-C."""
    prepare_streams()
    places = Places(workspace.project_root())
    try:
        return _run(places, list(arguments))
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Start again to go on from here.", file=sys.stderr)
        return 130


def _run(places: Places, arguments: list[str]) -> int:
    command = arguments.pop(0) if arguments and not arguments[0].startswith("-") else "lab"
    if command == "help" or (arguments and arguments[0] in ("-h", "--help") and command != "test"):
        say(USAGE)
        return 0
    if command == "lab":
        return _lab(places, arguments)
    if command == "setup" and not arguments:
        if not ensure_environment(places):
            say("The environment is ready; nothing had changed.")
        return 0
    if command == "reset":
        return _reset(places, arguments)
    if command == "test":
        return _test(places, arguments)
    raise Problem(f"start.py doesn't know `{' '.join([command, *arguments])}`.\n\n{USAGE}")


def _lab(places: Places, options: list[str]) -> int:
    refuse_open_doors(options)  # before a long set-up, not after it
    ensure_environment(places)
    try:
        lessons = workspace.open_workspace(places.root)
        changes = lessons.refresh()
    except OSError as error:
        raise Problem(_unwritable(error)) from None
    fresh = [change for change in changes if change.what == "copied"]
    if fresh:
        say(f"{len(fresh)} lessons copied to {lessons.home}.")
    for change in changes:
        if change.what != "copied":
            say(change.sentence())
    return open_lab(places, lessons.home, options)


def _reset(places: Places, numbers: list[str]) -> int:
    if not numbers:
        raise Problem("Which lesson? For example `python start.py reset 03`, or `python start.py reset all`.")
    try:
        for change in workspace.open_workspace(places.root).reset(numbers):
            say(change.sentence())
    except ValueError as error:
        raise Problem(str(error)) from None
    except OSError as error:
        raise Problem(_unwritable(error)) from None
    return 0


def _unwritable(error: OSError) -> str:
    place = error.filename or workspace.HOME_VARIABLE
    return (
        f"Your folder for the lessons can't be written ({error.strerror or error}: {place}): "
        f"set {workspace.HOME_VARIABLE} to a folder of your own, then start again."
    )


def _test(places: Places, arguments: list[str]) -> int:
    ensure_environment(places, tests=True)
    extra = {}
    if not arguments:
        # Two at a time halves the wait; tests/conftest.py keeps together what belongs together.
        arguments = ["-n", str(min(2, os.cpu_count() or 1)), "--dist", "loadgroup"]
        extra = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
    return run_in_environment(places, [str(places.python), "-m", "pytest", *arguments], extra)
