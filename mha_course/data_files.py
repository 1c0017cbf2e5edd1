"""Where the course's own data lies, found from the package's place, not from the notebook's."""

from __future__ import annotations

from pathlib import Path

DATA_FOLDER = Path(__file__).resolve().parent.parent / "data"


def data_path(name: str) -> Path:
    """Path of a file in data/.

    Raises: FileNotFoundError that says what is missing and how to get it back.
    """
    path = DATA_FOLDER / name
    if not path.exists():
        missing = f"data/{name}" if DATA_FOLDER.exists() else "the folder data/"
        raise FileNotFoundError(
            f"{missing} is missing: it should lie beside the folder mha_course, at {DATA_FOLDER}. "
            "Download the course again, or restore the folder from git with: git checkout -- data"
        )
    return path
