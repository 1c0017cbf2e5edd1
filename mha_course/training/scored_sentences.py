"""Held-out sentences of the grammar on which heads are scored, and how often each word occurs in training.

Drawing them anew takes twenty seconds, since none of 40,000 training sentences may be among them; so both lie
in data/grammar, written by

    python -m mha_course.training.scored_sentences
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from mha_course.data_files import DATA_FOLDER, data_path
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.text.treebank import read_conllu

SENTENCES, COUNTS = "grammar/held_out.conllu", "grammar/word_counts.json"
HOW_MANY = 240


@cache
def scored_sentences() -> tuple[ParsedSentence, ...]:
    """240 sentences of the grammar that no course model was trained on.

    Raises: FileNotFoundError when data/ is missing.
    """
    return tuple(read_conllu(data_path(SENTENCES)))


@cache
def training_word_counts() -> Mapping[str, int]:
    """How often each word occurs in the 40,000 sentences that the course models are trained on.

    Raises: FileNotFoundError when data/ is missing.
    """
    return json.loads(data_path(COUNTS).read_text(encoding="utf-8"))


def as_conllu(sentence: ParsedSentence, number: int) -> str:
    """One sentence in the ten columns of CoNLL-U; what the grammar doesn't know is "_"."""
    lines = [f"# sent_id = {number}", f"# text = {sentence.text()}"]
    for i, word in enumerate(sentence.words):
        columns = [i + 1, word, "_", sentence.upos[i], "_", "_", sentence.heads[i] + 1, sentence.relations[i]]
        lines.append("\t".join(map(str, [*columns, "_", "_"])))
    return "\n".join(lines) + "\n"


def write_files() -> None:
    """Draw the sentences, count the words, and write both files."""
    from mha_course.training.record import SCORING_SEED, held_out, word_counts

    (DATA_FOLDER / "grammar").mkdir(exist_ok=True)
    drawn = [sentence.parsed for sentence in held_out(HOW_MANY, SCORING_SEED)]
    text = "\n".join(as_conllu(sentence, i) for i, sentence in enumerate(drawn, 1)) + "\n"
    (DATA_FOLDER / SENTENCES).write_text(text, encoding="utf-8", newline="\n")
    counts = dict(sorted(word_counts().items()))
    (DATA_FOLDER / COUNTS).write_text(json.dumps(counts, indent=0) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_files()
