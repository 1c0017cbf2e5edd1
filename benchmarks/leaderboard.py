"""The leaderboard of lesson 15: plain heads and every variant, on the gloss and on written digits.

    python benchmarks/leaderboard.py [--write] [--seeds 3] [--digit-seeds 5] [--processes 1]

Runs what the record does not hold yet and prints both tables. Each result is kept as soon as it is there:
stopped and started again, it goes on. Two hours of one core for three seeds. Without --write the runs go to
build/leaderboard.json; with it, to data/models/leaderboard.json, which the lessons show.
"""

from __future__ import annotations

import argparse

from mha_course.data_files import DATA_FOLDER
from mha_course.models.leaderboard_records import TASKS, table
from mha_course.training.record_leaderboard import FILE, record_leaderboard


def main() -> None:
    """Read the command line, run what is missing, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the runs in data/models/")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds, from 0 on")
    parser.add_argument("--digit-seeds", type=int, default=5, help="how many seeds of the written digits")
    parser.add_argument("--processes", type=int, default=1, help="runs at once, one thread each")
    chosen = parser.parse_args()
    folder = DATA_FOLDER / "models" if chosen.write else DATA_FOLDER.parent / "build"
    folder.mkdir(exist_ok=True)
    path = folder / FILE
    seeds, digit_seeds = range(chosen.seeds), range(chosen.digit_seeds)
    record_leaderboard(path, seeds, digit_seeds, chosen.processes, lambda line: print(line, flush=True))
    for task in TASKS:
        print(f"\n{task}\n\n{table(task, path)}")


if __name__ == "__main__":
    main()
