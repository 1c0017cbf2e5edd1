"""The leaderboard, run by run: every row and seed of both tasks, written down as soon as it is done."""

from __future__ import annotations

import json
import os
import platform
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path

import torch

from mha_course.models.gloss_model import GlossModel
from mha_course.training.gloss_batches import gloss_data
from mha_course.training.kept_rows import FIRST_SEED, KEPT, row_file, save_row
from mha_course.training.leaderboard import ROWS, Row, Setting, run_row
from mha_course.training.record import TESTING_SEED, TRAINING_SEED, held_out
from mha_course.training.train_digits import DIGIT_ROWS, DigitSetting, run_digits
from mha_course.training.train_gloss import training_data

FILE = "leaderboard.json"
TESTED = 300  # sentences of which the held-out loss is the mean

Task = tuple[str, Row, int]  # "gloss" or "digits", the row, the seed


def record_leaderboard(
    path: Path,
    seeds: Sequence[int],
    digit_seeds: Sequence[int],
    processes: int = 1,
    say: Callable[[str], None] = print,
) -> None:
    """Run what the file does not hold yet, and add each result to it; stopped and started again, it goes on.

    A run whose weights are to be kept counts as done when they lie beside the file. processes: how many runs
    at once, one thread each. Raises: ValueError when the file was made with another setting or is damaged.
    """
    tasks: list[Task] = [("gloss", row, seed) for seed in seeds for row in ROWS]
    tasks += [("digits", row, seed) for seed in digit_seeds for row in DIGIT_ROWS]
    record = _begun(path)
    done = {_which(run) for run in record["runs"]}
    missing = [
        (task, row, seed)
        for task, row, seed in tasks
        if (task, row.variant, row.h, seed) not in done
        or (_kept(task, row, seed) and not (path.parent / row_file(task, row)).exists())
    ]
    say(f"{len(tasks) - len(missing)} of {len(tasks)} runs are there already")
    # Fresh processes: torch must not be copied with its threads.
    with ProcessPoolExecutor(processes, get_context("spawn"), _end_with_the_command) as pool:
        try:
            for future in as_completed(pool.submit(one_run, *one, path.parent) for one in missing):
                run = future.result()
                record["runs"] = [one for one in record["runs"] if _which(one) != _which(run)] + [run]
                _write(path, record)
                name = f"{run['task']}, {run['variant']} h={run['h']}, seed {run['seed']}"
                say(f"{name}: {run['seconds']:.0f} s")
        except BaseException:
            # Without this all other runs would be made, and nobody would write them down.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def one_run(task: str, row: Row, seed: int, folder: Path) -> dict[str, object]:
    """One row of one task with one seed, on one thread; weights that are to be kept go to the folder."""
    torch.set_num_threads(1)
    keep = partial(save_row, path=folder / row_file(task, row)) if _kept(task, row, seed) else None
    if task == "digits":
        told = run_digits(row, DigitSetting(), seed, keep)
    else:
        setting, words = Setting(), GlossModel().vocabulary
        data = training_data(setting.recipe, words, TRAINING_SEED)
        tested = gloss_data(held_out(TESTED, TESTING_SEED), words)
        told = run_row(row, setting, seed, data, tested, keep)
    return {"task": task, "variant": row.variant, "h": row.h, "seed": seed, **told}


def read_record(path: Path) -> dict[str, object]:
    """The record in the file: settings, machine, and runs, of each row and seed the last.

    Raises: ValueError that names the file when it can't be read; FileNotFoundError when there is none."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return {
            "settings": record["settings"],
            "machine": record.get("machine", ""),
            "runs": list({_which(run): run for run in record["runs"]}.values()),
        }
    except (ValueError, KeyError, TypeError, AttributeError) as trouble:
        raise ValueError(
            f"{path} is damaged. Move it away and record anew, or restore it with: git checkout -- data"
        ) from trouble


def _which(run: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(run[key] for key in ("task", "variant", "h", "seed"))


def _kept(task: str, row: Row, seed: int) -> bool:
    return seed == FIRST_SEED and row in KEPT[task]


def _end_with_the_command() -> None:
    """End this process as soon as the command that began it is gone, in the midst of a run, too."""

    def wait() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _settings() -> dict[str, object]:
    return {"gloss": asdict(Setting()) | {"tested": TESTED}, "digits": asdict(DigitSetting())}


def _begun(path: Path) -> dict[str, object]:
    if not path.exists():
        machine = f"{platform.machine()}, torch {torch.__version__}"
        return {"settings": _settings(), "machine": machine, "runs": []}
    record = read_record(path)
    if record["settings"] != _settings():
        raise ValueError(f"{path} was made with another setting: move it away to begin anew.")
    return record


def _write(path: Path, record: dict[str, object]) -> None:
    order = {"gloss": 0, "digits": 1}
    record["runs"].sort(key=lambda run: (order[run["task"]], run["variant"], run["h"], run["seed"]))
    lines = ",\n  ".join(json.dumps(run) for run in record["runs"])
    head = json.dumps({key: record[key] for key in ("settings", "machine")}, indent=1)[:-2]
    part = path.with_suffix(".part")
    part.write_text(f'{head},\n "runs": [\n  {lines}\n ]\n}}\n', encoding="utf-8")
    part.replace(path)
