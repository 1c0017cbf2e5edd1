"""Every test draws the same numbers, whichever ran before it; what belongs together runs in one worker."""

from __future__ import annotations

import re
import zlib

import pytest
import torch

# The tests of one lesson read one run of it; those of one kernel follow each other in it.
_OF_A_LESSON = re.compile(r"notebooks/test_run_all\.py::\w+\[(.+)\]$")
_OF_A_KERNEL = re.compile(r"notebooks/test_one_kernel\.py::\w+\[(kernel-\d+)")


def belongs_to(nodeid: str) -> str:
    """The name of what a test shares: the browser, a lesson that was run, a kernel, else its file."""
    path = nodeid.split("::")[0]
    if "tests/browser/" in path:
        return "browser"  # two servers and two Chromiums on two cores only slow each other down
    for pattern in (_OF_A_LESSON, _OF_A_KERNEL):
        if found := pattern.search(nodeid):
            return found[1]
    return path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """For `--dist loadgroup`: what belongs together goes to one worker, in the order of the files.

    Not by pytest-xdist's own marks: version 3.8 adds them to the names of tests, which pytest 9.2 no longer
    allows, and then spreads all tests as if there were no marks, without a word.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return belongs_to(nodeid)

    # Otherwise what has few tests comes last, and these may be the long ones.
    config.option.loadscopereorder = False
    return Together(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before the fixtures, which may draw weights, too."""
    torch.manual_seed(zlib.crc32(item.nodeid.encode("utf-8")))
