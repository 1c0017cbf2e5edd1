"""The table behind the map of heads: planted roles, thresholds, intervals, and there and back by file."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest
import torch

from mha_course.heads.criteria import TO_DEPENDENT, TO_HEAD
from mha_course.heads.habits import BROAD, SPECIAL, count_habits
from mha_course.heads.head_table import HeadTable
from mha_course.heads.roles import bootstrap_interval, score_roles
from mha_course.heads.table_of_scores import head_table, intervals
from mha_course.text.course_language.grammar import draw_sentences
from tests.heads import planted

SENTENCES = [sentence.parsed for sentence in draw_sentences(170, seed=8)]
COUNTS = Counter(word for sentence in draw_sentences(2_000, seed=9) for word in sentence.words)
PLANTED = [
    [planted.offset(-1), planted.noise, planted.to_head("det"), planted.own_word],
    [planted.uniform, planted.rarest(COUNTS), planted.offset(1), planted.to_dependent("nsubj")],
    [planted.noise, planted.to_head("obj"), planted.noise, planted.uniform],
]


def maps_of(layers):
    g = torch.Generator().manual_seed(2)
    return [torch.stack([torch.stack([h(s, g) for h in heads]) for heads in layers]) for s in SENTENCES]


@pytest.fixture(scope="module")
def table() -> HeadTable:
    maps, control = maps_of(PLANTED), maps_of([[planted.noise] * 4] * 3)
    last = [(len(s) - 1,) for s in SENTENCES]  # the full stop stands for a special token here
    return head_table(
        score_roles(maps, SENTENCES, COUNTS, control),
        habits=count_habits(maps, last),
        control_habits=count_habits(control, last),
        nearest={f"obj: {TO_HEAD}": 0.75},
        model="planted",
        source="the course language",
    )


def having(table: HeadTable, key: str, threshold: float | None = None) -> set[tuple[int, int]]:
    role = next(role for role in table.roles() if role.key == key)
    return {(layer + 1, head + 1) for layer, head in role.having(threshold).nonzero().tolist()}


def test_every_role_of_the_map_finds_its_planted_heads(table) -> None:
    assert [role.key for role in table.roles()] == [
        *("previous", "next", "syntactic", "rare", "special", "broad")
    ]
    assert having(table, "previous") == {(1, 1)} and having(table, "next") == {(2, 3)}
    assert having(table, "syntactic") == {(1, 3), (2, 4), (3, 2)}
    assert having(table, "rare") == {(2, 2)} and having(table, "special") == set()
    # Heads that answer few words only look everywhere alike for the others.
    assert having(table, "broad", 0.99) == {(2, 1), (3, 4)} < having(table, "broad")
    assert having(table, "previous", 0.0) == {(i, j) for i in (1, 2, 3) for j in (1, 2, 3, 4)}
    assert having(table, "previous", 1.01) == set()


def test_a_syntactic_head_says_what_it_is_about(table) -> None:
    role = next(role for role in table.roles() if role.key == "syntactic")
    assert role.of[1][3].name == f"nsubj: {TO_DEPENDENT}" and role.of[1][3].short == "verb → subj"
    assert role.unit == "points" and role.baseline == 0.0
    measure = table.measure(f"nsubj: {TO_DEPENDENT}")
    assert float(role.values[1, 3]) == pytest.approx(1 - measure.baseline)
    assert float(role.low[1, 3]) <= float(role.values[1, 3]) <= float(role.high[1, 3])
    assert float(role.control.max()) < 0.1 and int(role.asked[1, 3]) == measure.asked


def test_scores_of_one_head_stand_beside_everything(table) -> None:
    first, *rest = table.of_head(3, 2)
    assert (first.name, first.verdict, first.value) == (f"obj: {TO_HEAD}", "yes", 1.0)
    assert first.nearest == 0.75 and first.rule.startswith("always +") is False and first.control < 0.4
    assert all(math.isnan(score.nearest) for score in rest)
    few = [score.verdict == "too few" for score in rest]
    assert few == sorted(few), "what was asked too rarely comes last"
    best = table.best("rarest")
    assert (best.layer, best.head, best.verdict, best.rule) == (2, 2, "yes", "longest word")
    pairs = {(pair.layer, pair.head, pair.name) for pair in table.pairs()}
    assert pairs == {
        (1, 3, f"det: {TO_HEAD}"),
        (2, 4, f"nsubj: {TO_DEPENDENT}"),
        (3, 2, f"obj: {TO_HEAD}"),
    }
    assert [pair.head for pair in table.pairs(["det"])] == [3]


def test_there_and_back_by_file(table) -> None:
    again = HeadTable.from_file_form(json.loads(json.dumps(table.file_form(), allow_nan=False)))
    assert (again.model, again.sentences, again.names()) == ("planted", 170, table.names())
    for role, other in zip(table.roles(), again.roles(), strict=True):
        torch.testing.assert_close(role.values, other.values, atol=0.0011, rtol=0, equal_nan=True)
        assert role.having().equal(other.having())
    plain = HeadTable.from_file_form(head_table(score_roles(maps_of(PLANTED[:1]), SENTENCES)).file_form())
    assert plain.measures[0].control is None and [role.key for role in plain.roles()] == [
        *("previous", "next", "syntactic")
    ]


def test_intervals_of_all_heads_are_those_of_each() -> None:
    g = torch.Generator().manual_seed(6)
    asked = torch.randint(0, 4, (90, 2), generator=g).float()
    hits = torch.binomial(asked[:, None].expand(90, 3, 2), torch.full((90, 3, 2), 0.4), generator=g)
    low, high = intervals(hits, asked, 500, seed=3)
    one = bootstrap_interval(hits[:, 1, 0], asked[:, 0], 500, seed=3)
    assert (float(low[1, 0]), float(high[1, 0])) == pytest.approx(one, abs=0.01)
    nothing = torch.zeros(90, 1)
    assert intervals(hits[..., :1], nothing, 50, seed=1)[0].isnan().all()


def test_unknown_heads_and_measures_are_refused(table) -> None:
    with pytest.raises(ValueError, match="no head 5 in layer 1"):
        table.of_head(1, 5)
    with pytest.raises(ValueError, match="there are previous, next"):
        table.measure("subject")
    with pytest.raises(ValueError, match="needs scores"):
        head_table()
    assert float(table.measure(SPECIAL).values[0, 0]) < 0.2 < float(table.measure(BROAD).values[1, 0])
