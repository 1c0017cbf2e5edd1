"""The environment report of lesson 00."""

from __future__ import annotations

from importlib import metadata

import pytest

from mha_course import environment
from mha_course.environment import EnvironmentReport, Part, check_environment


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "kept"))


def test_reports_what_is_installed_and_pinned(tmp_path):
    report = check_environment()
    torch_row = next(part for part in report.parts if part.name == "torch")
    assert torch_row.found == metadata.version("torch")
    assert torch_row.tested == environment._pins()["torch"]
    assert str(tmp_path / "kept") in repr(report)


def test_a_missing_part_is_named_with_the_cure(monkeypatch):
    real = metadata.version

    def without_anywidget(name):
        if name == "anywidget":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", without_anywidget)
    report = check_environment()
    assert not report.ok
    assert report.sentence == "⚠ Missing: anywidget. Close JupyterLab and run: python start.py"


def test_another_version_is_said_but_not_refused():
    report = EnvironmentReport([Part("torch", "2.12.0+cpu", "2.13.0", "tensors")], "here")
    assert report.ok and "Not the tested version: torch" in report.sentence
    same = EnvironmentReport([Part("torch", "2.13.0+cpu", "2.13.0", "tensors")], "here")
    assert same.parts[0].verdict == "as tested" and same.sentence.startswith("✓")


def test_paths_are_escaped_in_the_table():
    html = EnvironmentReport([Part("torch", "1", None, "x")], "a<b>&c")._repr_html_()
    assert "<b>" not in html and "a&lt;b&gt;&amp;c" in html


def test_without_requirements_the_report_still_stands(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "project_root", lambda: tmp_path)
    report = check_environment()
    assert all(part.tested is None and part.verdict == "" for part in report.parts)
    assert report.ok
