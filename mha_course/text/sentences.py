"""The course's example sentences, read from data/course_sentences.txt."""

from __future__ import annotations

from mha_course.data_files import data_path

COURSE_SENTENCES: tuple[str, ...] = tuple(
    data_path("course_sentences.txt").read_text(encoding="utf-8").split("\n")[:-1]
)
