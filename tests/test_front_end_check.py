"""The widget test of lesson 00, Python's half."""

from __future__ import annotations

import platform

from mha_course.widgets.front_end_check import NOT_LIVE, FrontEndCheck


def test_answers_every_question_with_its_stamp():
    check = FrontEndCheck()
    for stamp in (3, 4, 9):
        check.stamp = stamp
        assert check.answer["stamp"] == stamp
        assert check.answer["python"] == platform.python_version()


def test_leaves_a_sentence_where_no_front_end_runs():
    data, _ = FrontEndCheck()._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == NOT_LIVE and "python start.py" in data["text/html"]
