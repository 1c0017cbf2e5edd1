"""Measure the heads of a pretrained model on a treebank, and print or keep the tables.

    python -m mha_course.models.measure_real_heads treebank.conllu
    python -m mha_course.models.measure_real_heads treebank.conllu --counts words.json --piece-counts ids.json
    python -m mha_course.models.measure_real_heads treebank.conllu --write data/real_heads/roles.json

The treebank is any CoNLL-U file of Universal Dependencies. --counts: how often words occur in the language,
as JSON from word in small letters to number; --piece-counts: the same from piece id to number; --count-in:
another CoNLL-U file in which both are counted. Without them the treebank itself is counted. See
`real_head_measures.py` for the choices behind every number.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from mha_course.models.one_thread import one_thread
from mha_course.models.pretrained import load_pretrained
from mha_course.models.real_head_measures import (
    FEWEST_WORDS,
    MOST_WORDS,
    SENTENCES,
    choose_sentences,
    count_pieces,
    count_words,
    measure_heads,
)
from mha_course.models.real_head_roles import RealHeadRoles, write_roles
from mha_course.models.real_heads_report import report
from mha_course.text.treebank import read_treebank

MODEL = "all-MiniLM-L6-v2"
CONTROL_SEED = 0


def measure_treebank(
    path: Path,
    word_counts: Mapping[str, int] | None = None,
    piece_counts: Mapping[int, int] | None = None,
    model: str = MODEL,
    source: str = "",
    sentences: int = SENTENCES,
    fewest: int = FEWEST_WORDS,
    most: int = MOST_WORDS,
    control: bool = True,
    count_in: Path | None = None,
) -> RealHeadRoles:
    """Everything about the heads of a pretrained model, measured on a CoNLL-U file.

    word_counts and piece_counts: None counts the whole file, or the file `count_in`. model: a name or folder
    for `load_pretrained`. source: of the treebank, for captions; "" takes the file's name. sentences, fewest,
    most: how many are measured, and of how many words. control: measure the same model with random weights
    too, which takes as long again. Sentences whose heads are no tree are left out.

    Raises: ValueError when the file is no CoNLL-U or has fewer than two such sentences, OSError when it
    can't be read, and as `load_pretrained`.
    """
    treebank = read_treebank(path, only_trees=True)
    chosen = choose_sentences(treebank, sentences, fewest, most)
    if len(chosen) < 2:
        raise ValueError(
            f"sentences in {path.name} whose heads are a tree: {len(treebank)}; of {fewest} to {most} words: "
            f"{len(chosen)}. At least two are needed."
        )
    loaded = load_pretrained(model)
    if word_counts is None or piece_counts is None:
        counted = treebank if count_in is None else read_treebank(count_in, only_trees=True)
        word_counts = count_words(counted) if word_counts is None else word_counts
        piece_counts = count_pieces(loaded, counted) if piece_counts is None else piece_counts
    measured = measure_heads(
        loaded,
        chosen,
        word_counts,
        piece_counts,
        loaded.untrained(CONTROL_SEED) if control else None,
    )
    return measured.roles(loaded.name, source or path.name)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns 0, or 2 when something given can't be used."""
    parser = argparse.ArgumentParser(
        prog="python -m mha_course.models.measure_real_heads",
        description="Measure the heads of a pretrained model on a treebank.",
    )
    parser.add_argument("treebank", type=Path, help="a CoNLL-U file")
    parser.add_argument("--counts", type=Path, help="JSON: word in small letters to count")
    parser.add_argument("--piece-counts", type=Path, help="JSON: piece id of the tokenizer to count")
    parser.add_argument("--count-in", type=Path, help="a CoNLL-U file in which words and pieces are counted")
    parser.add_argument("--model", default=MODEL, help=f"name or folder of the model (default {MODEL})")
    parser.add_argument("--source", default="", help="what the treebank is, with its licence, for captions")
    parser.add_argument("--sentences", type=int, default=SENTENCES, help=f"how many (default {SENTENCES})")
    parser.add_argument("--fewest", type=int, default=FEWEST_WORDS, help="words of the shortest sentence")
    parser.add_argument("--most", type=int, default=MOST_WORDS, help="words of the longest sentence")
    parser.add_argument("--no-control", action="store_true", help="leave the untrained model out")
    parser.add_argument("--write", type=Path, help="keep everything as JSON in this file")
    given = parser.parse_args(arguments)
    start = time.perf_counter()
    try:
        with one_thread():
            roles = measure_treebank(
                given.treebank,
                None if given.counts is None else _counts(given.counts),
                None
                if given.piece_counts is None
                else {int(k): n for k, n in _counts(given.piece_counts).items()},
                given.model,
                given.source,
                given.sentences,
                given.fewest,
                given.most,
                not given.no_control,
                given.count_in,
            )
    except (OSError, ValueError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(report(roles))
    if given.write is not None:
        write_roles(roles, given.write)
        print(f"\nwritten to {given.write}")
    print(f"\n{time.perf_counter() - start:.0f} s")
    return 0


def _counts(path: Path) -> dict[str, int]:
    read = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(read, dict) or not all(isinstance(count, (int, float)) for count in read.values()):
        raise ValueError(f"{path.name} is no JSON object from words (or piece ids) to counts.")
    return read


if __name__ == "__main__":
    sys.exit(main())
