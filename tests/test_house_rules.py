"""The package as a house of floors, files of one idea, and text files with a named encoding."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "mha_course"
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    """The file as a tree; every rule reads the same one."""
    return ast.parse(path.read_text(encoding="utf-8"))


# From the ground up. A module may import from its own floor or from floors below.
FLOORS = [
    {"data_files", "theme", "workspace", "launcher", "environment", "sizes", "own_chance"}
    | {"file_lock", "record_file", "progress", "progress_transfer", "lesson_places"}
    | {"progress_cards", "progress_bugs", "progress_clock"},
    {"text"},
    {"attention", "masks", "positions"},
    {"traces", "layers", "annotated"},
    {"attention_maps", "pieces"},
    {"cost", "transformer", "variants"},
    {"heads"},
    {"models", "training"},
    {"plots"},
    {"glossary", "interview", "bug_hunt"},
    {"widgets", "exercises", "certificate"},
]
LEVEL = {name: level for level, floor in enumerate(FLOORS) for name in floor}


def floor_of(path: Path) -> str | None:
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return None if first == "__init__" else first


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module == "mha_course":
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mha_course."):
            names.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            names |= {
                alias.name.split(".")[1] for alias in node.names if alias.name.startswith("mha_course.")
            }
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down_only(path: Path) -> None:
    own = floor_of(path)
    if own is None:
        assert imported(path) == set()
        return
    assert own in LEVEL, f"{own} has no floor yet: give it one in this test and in the README"
    for name in imported(path):
        assert LEVEL[name] <= LEVEL[own], f"{path.name} on floor {own} imports {name} from above"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_have_one_idea_and_a_docstring(path: Path) -> None:
    assert path.stem not in {"utils", "helpers", "common", "misc", "tools"}
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 320, f"{path.name} is too long to read in one sitting"
    assert ast.get_docstring(parsed(path)), f"{path.name} does not say what it is"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_public_functions_are_described_and_typed(path: Path) -> None:
    tree = parsed(path)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{path.name}: {node.name} has no docstring"
            assert node.returns is not None, f"{path.name}: {node.name} has no return type"
            arguments = [*node.args.args, *node.args.kwonlyargs]
            untyped = [a.arg for a in arguments if a.annotation is None]
            assert not untyped, f"{path.name}: {node.name} leaves {untyped} untyped"
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{path.name}: class {node.name} has no docstring"


def test_widget_files_can_be_read_in_one_sitting() -> None:
    long = {
        str(path.relative_to(ROOT)): n
        for pattern in ("*.js", "*.css")
        for path in PACKAGE.rglob(pattern)
        if (n := len(path.read_text(encoding="utf-8").splitlines())) > 320
    }
    assert long == {}


def test_text_files_name_their_encoding_and_weights_are_never_pickled() -> None:
    for path in [*MODULES, *(ROOT / "benchmarks").glob("*.py"), ROOT / "start.py"]:
        tree = parsed(path)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            words = {keyword.arg for keyword in node.keywords}
            if name in {"read_text", "write_text"}:
                assert "encoding" in words or len(node.args) > 1, (
                    f"{path.name}:{node.lineno} names no encoding"
                )
            assert not (name in {"load", "save"} and ast.unparse(node.func).startswith("torch.")), path.name
        assert not re.search(r"^\s*(import|from) pickle", path.read_text(encoding="utf-8"), re.MULTILINE), (
            path.name
        )


def test_ruff_is_content() -> None:
    for arguments in (["check"], ["format", "--check"]):
        run = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments, "."], cwd=ROOT, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
