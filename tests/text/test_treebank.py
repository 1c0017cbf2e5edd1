"""CoNLL-U is read as the format says, and what is no CoNLL-U is refused with its place."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.treebank_agreement import agreement
from mha_course.data_files import data_path
from mha_course.text.course_language.gloss import vocabulary_words
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.text.treebank import (
    COURSE_TREEBANK,
    course_treebank,
    merged_relations,
    read_conllu,
    read_treebank,
)
from mha_course.text.word_frequency import treebank_word_counts

TEXT = """\
# sent_id = one
# text = I can't see the dogs' park.
1\tI\tI\tPRON\t_\t_\t4\tnsubj\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\t_\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_
4\tsee\tsee\tVERB\t_\t_\t0\troot\t_\t_
5\tthe\tthe\tDET\t_\t_\t6\tdet\t_\t_
6\tdogs\tdog\tNOUN\t_\t_\t8\tnmod:poss\t_\tSpaceAfter=No
7\t'\t's\tPART\t_\t_\t6\tcase\t_\t_
8\tpark\tpark\tNOUN\t_\t_\t4\tobj\t_\tSpaceAfter=No
8.1\tgone\tgo\tVERB\t_\t_\t_\t_\t_\t_
9\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_

1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_
2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_
"""


def test_words_heads_and_relations(tmp_path: Path) -> None:
    path = tmp_path / "two.conllu"
    path.write_text(TEXT, encoding="utf-8")
    first, second = read_conllu(path)
    assert first.words == ("I", "ca", "n't", "see", "the", "dogs", "'", "park", ".")
    assert first.heads == (3, 3, 3, -1, 5, 7, 5, 3, 3)
    assert first.relations[5] == "nmod:poss" and first.upos[3] == "VERB"
    assert second.words == ("Go", "!")
    assert read_conllu(path, subtypes=False)[0].relations[5] == "nmod"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("1\tGo\tgo\tVERB\t_\t_\t0\troot\t_", "line 1: 9 columns"),
        ("1\tGo\tgo\tVERB\t_\t_\t_\troot\t_\t_", "line 1: the head is '_'"),
        (
            "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n3\tnow\t_\tADV\t_\t_\t1\tadvmod\t_\t_",
            "line 2: .*numbered 3",
        ),
        ("1\tGo\tgo\tVERB\t_\t_\t1\troot\t_\t_", "last sentence: a tree has one root"),
        ("1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n2\tnow\tnow\tADV\t_\t_\t7\tadvmod\t_\t_\n", "indices"),
    ],
)
def test_what_is_no_conllu_is_refused_with_its_place(tmp_path: Path, bad: str, words: str) -> None:
    path = tmp_path / "bad.conllu"
    path.write_text(bad, encoding="utf-8")
    with pytest.raises(ValueError, match="bad.conllu.*" + words):
        read_conllu(path)


@pytest.mark.parametrize("encoding", ("latin-1", "utf-16"))
def test_another_encoding_is_told_in_words(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "other.conllu"
    path.write_bytes("1\tgénie\t_\tNOUN\t_\t_\t0\troot\t_\t_\n".encode(encoding))
    with pytest.raises(ValueError, match="other.conllu is no text in UTF-8") as caught:
        read_conllu(path)
    assert type(caught.value) is ValueError


@pytest.fixture(scope="module")
def treebank() -> tuple[ParsedSentence, ...]:
    return course_treebank()


def test_the_treebank_is_as_large_as_it_says(treebank: tuple[ParsedSentence, ...]) -> None:
    assert len(treebank) == 315 and sum(map(len, treebank)) == 4_138
    assert all(6 <= len(sentence) <= 25 for sentence in treebank)
    assert len({sentence.upos for sentence in treebank}) == len(treebank)
    arcs = Counter(relation for sentence in treebank for _, _, relation in sentence.arcs())
    assert sum(count >= 60 for count in arcs.values()) >= 16
    known = set(vocabulary_words())
    inside = [s for s in treebank if {word.lower() for word in s.words} <= known]
    assert len(inside) == 95


def test_two_annotators_agree() -> None:
    both = [read_conllu(data_path(f"treebank/agreement_{which}.conllu")) for which in ("first", "second")]
    shares = agreement(*both)
    assert len(both[0]) == 40 and shares["LAS"] == pytest.approx(510 / 514)
    assert shares["UAS"] == 1.0 and shares["UPOS"] > 0.99
    with pytest.raises(ValueError, match="different sentences"):
        agreement(both[0], both[1][1:])


def test_the_official_validator_is_content() -> None:
    call = "import sys; from udtools.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", call, "--lang", "en", str(data_path(COURSE_TREEBANK))]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0 and "PASSED" in done.stdout + done.stderr, done.stdout + done.stderr


def test_every_word_of_the_treebank_has_a_frequency(treebank: tuple[ParsedSentence, ...]) -> None:
    counts = treebank_word_counts()
    words = {word.lower() for sentence in treebank for word in sentence.words}
    assert set(counts) == words
    assert counts["the"] > counts["old"] > counts["sailor"] > 0
    assert counts["the"] > 10**7 and sum(count == 0 for word, count in counts.items() if word.isalpha()) < 5


WITH_TEXT = """# sent_id = 1
# text = He's here — «now».
1-2\tHe's\t_\t_\t_\t_\t_\t_\t_\t_
1\tHe\the\tPRON\t_\t_\t3\tnsubj:outer\t_\t_
2\t's\tbe\tAUX\t_\t_\t3\tcop\t_\t_
2.1\tright\tright\tADV\t_\t_\t_\t_\t3:advmod\t_
3\there\there\tADV\t_\t_\t0\troot\t_\t_

"""


def without_comments(text: str) -> str:
    return "".join(line + "\n" for line in text.split("\n") if not line.startswith("#"))


def test_the_text_is_that_of_the_comment_or_of_the_forms(tmp_path: Path) -> None:
    path = tmp_path / "text.conllu"
    path.write_text(WITH_TEXT, encoding="utf-8-sig", newline="\r\n")
    (read,) = read_treebank(path)
    assert (read.text, read.parsed.words) == ("He's here — «now».", ("He", "'s", "here"))
    path.write_text(without_comments(WITH_TEXT), encoding="utf-8")
    assert read_treebank(path)[0].text == "He's here"
    path.write_text(
        without_comments(WITH_TEXT).replace("3\tnsubj:outer\t_\t_", "3\tnsubj:outer\t_\tSpaceAfter=No"),
        encoding="utf-8",
    )
    assert read_treebank(path)[0].text == "He's here", "inside a range the range's own form counts"


def test_signs_that_look_like_line_ends_stay_in_their_word(tmp_path: Path) -> None:
    path = tmp_path / "odd.conllu"
    path.write_text(WITH_TEXT.replace("here\there", "he\u2028re\x85\x0b\tx"), encoding="utf-8")
    assert read_treebank(path)[0].parsed.words[2] == "he\u2028re\x85\x0b"


def test_sentences_that_are_no_trees_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "circle.conllu"
    path.write_text(WITH_TEXT.replace("0\troot", "1\tdep") + WITH_TEXT, encoding="utf-8")
    assert len(read_treebank(path, only_trees=True)) == 1
    with pytest.raises(ValueError, match="circle.conllu, line 8"):
        read_treebank(path)


def test_relations_can_be_merged(tmp_path: Path) -> None:
    path = tmp_path / "merged.conllu"
    path.write_text(WITH_TEXT, encoding="utf-8")
    parsed = read_treebank(path)[0].parsed
    assert merged_relations(parsed, {"nsubj:outer": "nsubj"}).relations == ("nsubj", "cop", "root")
    assert parsed.relations[0] == "nsubj:outer"
