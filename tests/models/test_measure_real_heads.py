"""Measuring real heads on any treebank: odd files, the report, and there and back by file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from mha_course.heads.criteria import TO_HEAD
from mha_course.models import measure_real_heads
from mha_course.models.measure_real_heads import main, measure_treebank
from mha_course.models.one_thread import one_thread
from mha_course.models.real_head_measures import choose_sentences
from mha_course.models.real_head_roles import RealHeadRoles, read_roles, write_roles
from mha_course.models.real_heads_report import report
from mha_course.text.treebank import read_treebank
from tests.real_model import real_model

ROWS = ("subj\tNOUN\t2\tnsubj:pass", "verb\tVERB\t0\troot", "a\tDET\t4\tdet", "obj\tNOUN\t2\tobl:tmod")
ODD = (
    "\u200b\tX\t2\tdiscourse",
    "😀\tSYM\t2\tdep:emo",
    "他们\tPRON\t2\tnsubj:outer",
    "<b>$x$</b>\tX\t2\tflat",
    "x" * 700 + "\tX\t2\tgoeswith",
    "10 000\tNUM\t2\tnummod",
)


def sentence(rows: tuple[str, ...], comment: str = "") -> str:
    lines = [comment] if comment else []
    for i, row in enumerate(rows, 1):
        form, pos, head, relation = row.split("\t")
        lines.append(f"{i}\t{form}\t_\t{pos}\t_\t_\t{head}\t{relation}\t_\t_")
    return "\n".join(lines) + "\n\n"


def odd_treebank(path: Path) -> Path:
    """Some plain sentences, and some with everything odd that a treebank may hold."""
    plain = [sentence((*ROWS, f"word{i}\tADV\t2\tadvmod", ".\tPUNCT\t2\tpunct")) for i in range(14)]
    odd = [sentence((*ROWS, *ODD), "# text = subj verb a obj\u2028…") for _ in range(3)]
    ranges = sentence((*ROWS, "n't\tPART\t2\tadvmod", ".\tPUNCT\t2\tpunct")).replace(
        "\n2\t", "\n2-3\tverba\t_\t_\t_\t_\t_\t_\t_\t_\n2.1\tgone\t_\tX\t_\t_\t_\t_\t2:dep\t_\n2\t", 1
    )
    circle = sentence(("a\tX\t2\tdep", "b\tX\t1\tdep", *("c\tX\t1\tdep",) * 5))
    long = sentence((*ROWS, *("very\tADV\t2\tadvmod",) * 60))
    # Words that no piece is left of, and words without a letter or a digit.
    nothing = sentence(("\u200b\tX\t2\tdep", "\u200b\tX\t0\troot", *("\u200b\tX\t2\tdep",) * 5))
    marks = sentence(("!\tPUNCT\t2\tpunct", "?\tPUNCT\t0\troot", *(".\tPUNCT\t2\tpunct",) * 5))
    path.write_text("".join([*plain, *odd, ranges, circle, long, nothing, marks]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def roles(tmp_path_factory) -> RealHeadRoles:
    real_model()
    with one_thread():
        return measure_treebank(odd_treebank(tmp_path_factory.mktemp("odd") / "odd.conllu"))


def test_the_sentences_that_are_measured(tmp_path) -> None:
    chosen = choose_sentences(read_treebank(odd_treebank(tmp_path / "odd.conllu"), only_trees=True))
    assert len(chosen) == 20, "no circle, and nothing of more than 40 words"
    assert {"nsubj", "obl"} <= {r for s in chosen for r in s.parsed.relations} >= {"dep:emo"}
    assert len(choose_sentences(chosen, count=5)) == 5 and choose_sentences(chosen, fewest=41) == []


def test_an_odd_treebank_is_measured(roles) -> None:
    table = roles.table
    assert (table.model, table.source, table.sentences) == ("all-MiniLM-L6-v2", "odd.conllu", 20)
    assert (table.n_layers, table.n_heads) == (6, 12)
    det = table.measure(f"det: {TO_HEAD}")
    assert det.total_asked == 18 and 0 < det.asked < 18 and det.total_baseline == 1.0
    assert table.best(f"det: {TO_HEAD}").verdict == "too few"
    for measure in table.measures:
        assert ((measure.total >= 0) & (measure.total <= 1)).all(), measure.name
    assert roles.resemblance.matrix.shape == (72, 72) and not roles.resemblance.matrix.isnan().any()


def test_the_report_names_every_question_that_was_asked_often_enough(roles) -> None:
    text = report(roles)
    for name in ("previous", "rarest", "special tokens", "broad", "the word itself left out"):
        assert name in text
    assert f"det: {TO_HEAD}" in text.partition("Too few held-out")[2]


def test_there_and_back_by_file(roles, tmp_path) -> None:
    write_roles(roles, tmp_path / "new" / "roles.json")
    again = read_roles(tmp_path / "new" / "roles.json")
    torch.testing.assert_close(again.resemblance.matrix, roles.resemblance.matrix, atol=1e-4, rtol=0)
    torch.testing.assert_close(again.habits["broad"], roles.habits["broad"], atol=1e-4, rtol=0)
    assert again.pairs() == roles.pairs() and again.words == roles.words
    assert "previous" in again.table.names() and "dep:emo" not in str(again.table.names())
    assert "\u2028" not in (tmp_path / "new" / "roles.json").read_text(encoding="utf-8")


def test_the_command_says_what_is_wrong(tmp_path, capsys, monkeypatch) -> None:
    def no_model(name: str) -> None:
        raise AssertionError("the model is loaded last")

    monkeypatch.setattr(measure_real_heads, "load_pretrained", no_model)
    assert main([str(tmp_path / "gone.conllu")]) == 2
    assert "gone.conllu" in capsys.readouterr().err
    short = tmp_path / "short.conllu"
    short.write_text(sentence(ROWS), encoding="utf-8")
    assert main([str(short)]) == 2
    said = capsys.readouterr().err
    assert "short.conllu whose heads are a tree: 1; of 6 to 40 words: 0. At least two" in said
    counts = tmp_path / "counts.json"
    counts.write_text(json.dumps(["the"]), encoding="utf-8")
    assert main([str(short), "--counts", str(counts)]) == 2
    assert "counts.json is no JSON object" in capsys.readouterr().err
