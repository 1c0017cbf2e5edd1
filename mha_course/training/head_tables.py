"""The course model's heads, scored on the grammar and on the written treebank, kept in data/models.

Written by

    python -m mha_course.training.head_tables
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import torch

from mha_course.data_files import DATA_FOLDER, data_path
from mha_course.heads.criteria import criteria_of
from mha_course.heads.habits import SPECIAL, count_habits
from mha_course.heads.head_table import HeadTable
from mha_course.heads.nearest_word import nearest_words
from mha_course.heads.roles import score_roles
from mha_course.heads.table_of_scores import head_table
from mha_course.models.course_models import MAIN, load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.text.treebank import course_treebank
from mha_course.text.word_frequency import treebank_word_counts
from mha_course.training.record import CONTROL_SEED
from mha_course.training.scored_sentences import scored_sentences, training_word_counts
from mha_course.training.train_gloss import fresh_model

FILE = "models/head_tables.json"
_SOURCES = {
    "grammar": "the course grammar, held out",
    "treebank": "the written treebank",
    "known treebank": "the written treebank, those of which the model knows every word",
}
ON = ("grammar", "treebank", "known treebank")


def sentences_of(model: GlossModel, on: str) -> tuple[ParsedSentence, ...]:
    """What heads are scored on: held-out sentences of the grammar, the written treebank, or those of its
    sentences of which the model knows every word.
    """
    if on == "grammar":
        return scored_sentences()
    known = model.vocabulary
    return tuple(
        sentence
        for sentence in course_treebank()
        if on == "treebank" or all(word.lower() in known for word in sentence.words)
    )


def word_counts_of(on: str) -> Mapping[str, int]:
    """How often words occur: in the training sentences, or in English for the treebank."""
    return training_word_counts() if on == "grammar" else treebank_word_counts()


def course_head_table(model: GlossModel | None = None, on: str = "grammar") -> HeadTable:
    """Every head's scores beside those of an untrained model of the same sizes.

    model: a course model; None is the main one, whose tables are kept and need no counting. on: "grammar";
    "treebank", of whose words the model knows a part, as the table's note says; or "known treebank", the
    sentences of which it knows every word.
    Raises: ValueError for another `on`; FileNotFoundError when data/ is missing.
    """
    if on not in ON:
        raise ValueError(f"on={on!r} must be one of {', '.join(ON)}.")
    if model is None or model is load_course_model():
        return _kept(on)
    return scored(model, on)


@lru_cache(maxsize=8)
@torch.no_grad()
def scored(model: GlossModel, on: str) -> HeadTable:
    """Score the heads of a course model; takes a second or two."""
    sentences, sizes = sentences_of(model, on), model.sizes
    untrained = fresh_model(sizes, CONTROL_SEED).eval()
    own, other = (
        [one.attend([word.lower() for word in s.words]).weights for s in sentences]
        for one in (model, untrained)
    )
    nothing = [()] * len(sentences)
    nearest = nearest_words(sentences, criteria_of(sentences))
    table = head_table(
        score_roles(own, sentences, word_counts_of(on), other),
        habits=count_habits(own, nothing),
        control_habits=count_habits(other, nothing),
        nearest={name: rule.held for name, rule in nearest.items()},
        model=f"course model, d_model {sizes.d_model}, h {sizes.h}",
        source=_SOURCES[on],
        note=_note(model, on, sentences),
    )
    # A model without special tokens can't look at them.
    return replace(table, measures=tuple(m for m in table.measures if m.name != SPECIAL))


def _note(model: GlossModel, on: str, sentences: tuple[ParsedSentence, ...]) -> str:
    note = "The word itself is left out before the largest weight is taken, except for the rarest word."
    if on == "treebank":
        known = [[word.lower() in model.vocabulary for word in s.words] for s in sentences]
        share = sum(map(sum, known)) / sum(map(len, known))
        note += (
            f" The model knows {share:.0%} of the words, and {sum(map(all, known))} of {len(sentences)} "
            "sentences in full; other words it reads as <unk>."
        )
    return f"{note} Scores: on every second sentence; the relation was picked on the others."


@lru_cache(maxsize=2)
def _kept(on: str) -> HeadTable:
    return HeadTable.from_file_form(json.loads(data_path(FILE).read_text(encoding="utf-8"))[on])


def write_tables() -> None:
    """Score the main model on both and write the file."""
    tables = {on: scored(load_course_model(MAIN.d_model, MAIN.h), on).file_form() for on in ON}
    lines = ",\n".join(
        f"{json.dumps(on)}: {json.dumps(form, ensure_ascii=False)}" for on, form in tables.items()
    )
    (DATA_FOLDER / FILE).write_text(f"{{\n{lines}\n}}\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_tables()
