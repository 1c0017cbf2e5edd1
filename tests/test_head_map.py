"""HeadMap: it shows what was measured, draws the model's own weights, and says what it can't do."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
import traitlets

from mha_course.attention_maps import AttentionMaps
from mha_course.heads.head_table import HeadTable
from mha_course.heads.measured import Measured
from mha_course.plots import role_map
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.training.head_tables import course_head_table, scored
from mha_course.training.scored_sentences import as_conllu, scored_sentences, training_word_counts
from mha_course.widgets import HeadMap
from mha_course.widgets.course_heads import CourseHeads
from mha_course.widgets.head_map_chart import chart_of, question_of, roles_at
from mha_course.widgets.head_map_examples import Examples, targets_of, unparsed
from mha_course.widgets.head_sources import HeadSource, Reading, source_of
from mha_course.widgets.pretrained_heads import RecordedMiniLM

LAYERS, HEADS = 3, 5
SENTENCES = (
    ParsedSentence(
        ("a", "cat", "sees", "it"),
        ("DET", "NOUN", "VERB", "PRON"),
        (1, 2, -1, 2),
        ("det", "nsubj", "root", "obj"),
    ),
    ParsedSentence(
        ("the", "old", "dog", "near", "the", "stove", "sleeps"),
        ("DET", "ADJ", "NOUN", "ADP", "DET", "NOUN", "VERB"),
        (2, 2, 6, 5, 5, 2, -1),
        ("det", "amod", "nsubj", "case", "det", "nmod", "root"),
    ),
)


def measure(name: str, kind: str, values: torch.Tensor, baseline: float, rule: str = "always +1") -> Measured:
    """A question whose answers are given; the same on all halves of the sentences."""
    around = (values - 0.04, values + 0.03, values * 0.2)
    return Measured(name, kind, values, values, values, *around, baseline, rule, baseline, 0.4, 90, 190)


class MadeUp:
    """A source of 3 layers with 5 heads, whose scores and weights are known here."""

    name, closed, known_sentence, has_special = "made up", "", "a cat sees it", True
    examples, counts = SENTENCES, None

    def __init__(self) -> None:
        g = torch.Generator().manual_seed(7)

        def drawn() -> torch.Tensor:
            return torch.rand(LAYERS, HEADS, generator=g) * 0.5

        previous, det, rare, broad = drawn(), drawn(), drawn() * 0.4, drawn()
        previous[2, 3], det[0, 4], det[2, 3], broad[1, 0] = 0.97, 0.88, 0.81, 0.93
        measures = (
            measure("previous", "positional", previous, 0.12, "chance"),
            measure("det: dependent → head", "syntactic", det, 0.61),
            measure("nsubj: dependent → head", "syntactic", drawn(), 0.55),
            measure("rarest", "rare", rare, 0.21, "longest word"),
            measure("broad", "broad", broad, float("nan"), "untrained model"),
        )
        self.table = HeadTable("made up", "two sentences", 2, "Nothing was left out.", measures)

    def maps(self, i: int, special: bool = False) -> Reading:
        """The maps of example i."""
        return self.read(list(SENTENCES[i].words), special)

    def read(self, text: object, special: bool = False) -> Reading | None:
        """Weights that depend on the words alone; a special token takes 0.3 of each row."""
        words = text.split() if isinstance(text, str) else list(text)
        if not words:
            return None
        n = len(words)
        g = torch.Generator().manual_seed(len(words[0]) + 10 * n)
        weights = torch.rand(LAYERS, HEADS, n, n, generator=g).softmax(-1)
        if not special:
            return Reading(AttentionMaps(0.7 * weights, words, words), tuple(range(n)))
        whole = torch.cat([torch.full((LAYERS, HEADS, n, 1), 0.3), 0.7 * weights], -1)
        whole = torch.cat([torch.full((LAYERS, HEADS, 1, n + 1), 1 / (n + 1)), whole], -2)
        tokens = ("[CLS]", *words)
        return Reading(AttentionMaps(whole, tokens, tokens), tuple(range(1, n + 1)))


@pytest.fixture(scope="module")
def course() -> HeadMap:
    return HeadMap()


def weights_of(widget: HeadMap) -> tuple[torch.Tensor, torch.Tensor]:
    """What the view draws: weights (layers, heads, n, n), and what each row kept."""
    n, total = len(widget.answer["tokens"]), widget.table.n_layers * widget.table.n_heads
    numbers = torch.frombuffer(bytearray(widget.payload), dtype=torch.uint16).float() / 65535
    shape = (widget.table.n_layers, widget.table.n_heads, n)
    return numbers[: total * n * n].reshape(*shape, n), numbers[total * n * n : total * n * (n + 1)].reshape(
        shape
    )


def test_the_source_is_one_and_the_roles_are_those_of_the_table() -> None:
    assert isinstance(MadeUp(), HeadSource)
    widget = HeadMap(MadeUp())
    assert widget.roles() == {
        "previous token": [(3, 4)],
        "syntactic": [(1, 5), (3, 4)],
        "rare word": [],
        "broad": [(2, 1)],
    }
    # The head that is most above its baseline is chosen at the start, and the words say so.
    assert (widget.layer, widget.head) == (1, 5)
    assert (
        "syntactic: L1 H5, L3 H4" in widget.alt and "Chosen: layer 1, head 5. det → noun 0.88" in widget.alt
    )
    chart = widget.chart
    assert json.loads(json.dumps(chart)) == chart
    assert [role["role"] for role in chart["roles"]] == ["previous", "syntactic", "rare", "broad"]
    syntactic = chart["roles"][1]
    assert syntactic["scores"][4] == pytest.approx(0.27, abs=1e-3) and syntactic["names"][4] == "det → noun"
    assert syntactic["ground"] == 0 and chart["roles"][2]["ground"] == 0.21
    # Of a position the better of chance and of the best untrained head; a broad head rises above nothing.
    assert chart["roles"][0]["ground"] == pytest.approx(0.2 * 0.97, abs=1e-3)
    assert chart["roles"][3]["ground"] is None
    assert len(chart["rows"]) == LAYERS * HEADS


def test_thresholds_change_the_roles_and_nothing_else() -> None:
    widget = HeadMap(MadeUp(), thresholds={"syntactic": 0.25})
    serial, payload = widget.answer["serial"], widget.payload
    assert widget.roles()["syntactic"] == [(1, 5)]
    widget.thresholds = {**widget.thresholds, "syntactic": 0.1, "broad": 0.99}
    assert widget.roles()["syntactic"] == [(1, 5), (3, 4)] and widget.roles()["broad"] == []
    assert widget.answer["serial"] == serial and widget.payload == payload
    # At exactly its own score a head still has the role.
    widget.thresholds = {"previous": float(torch.tensor(0.97))}
    assert widget.roles()["previous token"] == [(3, 4)]
    for wrong in ({"syntax": 0.1}, {"broad": 1.5}, {"broad": "high"}, {"rare": float("nan")}):
        with pytest.raises(traitlets.TraitError, match="threshold"):
            widget.thresholds = wrong
    assert roles_at(widget.table, {}) == HeadMap(MadeUp()).roles()


def test_what_is_drawn_are_the_weights_rescaled_to_what_words_got() -> None:
    source = MadeUp()
    widget = HeadMap(source, mode="stay", example=1, layer=2, head=3)
    drawn, kept = weights_of(widget)
    raw = source.maps(1).maps.weights
    assert drawn.shape == (LAYERS, HEADS, 7, 7)
    assert torch.allclose(drawn, raw / 0.7, atol=1e-4) and torch.allclose(kept, torch.tensor(0.7), atol=1e-4)
    assert "rescaled to sum to 1" in widget.answer["note"]
    widget.special = True
    drawn, kept = weights_of(widget)
    assert widget.answer["tokens"][0] == "[CLS]" and drawn.shape[-1] == 8
    assert torch.allclose(drawn, source.maps(1, special=True).maps.weights, atol=1e-4)
    assert torch.allclose(kept, torch.ones(()), atol=1e-4) and "rescaled" not in widget.answer["note"]
    assert torch.equal(widget.maps().weights, source.maps(1, special=True).maps.weights)
    # Right words move with the special token in front: det asks "the" for "dog", "the" for "stove".
    widget.layer, widget.head = 1, 5
    assert widget.answer["question"] == "det: dependent → head"
    assert widget.answer["targets"] == [(1, 3), (5, 6)]
    widget.special = False
    assert widget.answer["targets"] == [(0, 2), (4, 5)]


def test_best_and_worst_sentences_and_steps_between_them(course: HeadMap) -> None:
    widget = HeadMap(layer=1, head=3)
    measured = question_of(widget.table, 1, 3, "syntactic")
    ranked = Examples(widget.source).ranked(measured, 1, 3)
    shares = [one.right / one.asked for one in ranked]
    assert shares == sorted(shares, reverse=True) and shares[0] > shares[-1]
    assert widget.example == ranked[0].i and widget.answer["can_step"] == [False, True]
    # Counted once more by hand on the sentence on show.
    weights = widget.maps().weights[0, 2].clone().fill_diagonal_(-1)
    pairs = widget.answer["targets"]
    asked = sorted({q for q, _ in pairs})
    hits = sum((q, int(weights[q].argmax())) in pairs for q in asked)
    assert f"{hits} of {len(asked)} right" in widget.answer["rank"]
    assert (hits, len(asked)) == (ranked[0].right, ranked[0].asked)
    widget.mode = "worst"
    assert widget.example == ranked[-1].i and widget.answer["can_step"] == [True, False]
    widget.set_state({"mode": "stay", "step": -2, "stamp": 1})
    assert widget.example == ranked[-3].i and widget.mode == "stay"
    widget.head = 4
    assert widget.example == ranked[-3].i
    widget.mode = "best"
    assert widget.example == HeadMap(layer=1, head=4).example
    assert course.example is not None


def test_ones_own_sentence_and_what_the_model_does_not_know(course: HeadMap) -> None:
    widget = HeadMap(sentence="The Zebra sees two small lambs .")
    assert widget.mode == "own" and widget.answer["tokens"] == [
        "the",
        "zebra",
        "sees",
        "two",
        "small",
        "lambs",
        ".",
    ]
    assert widget.answer["unknown"] == [1]
    assert "1 word that the model doesn’t know: zebra" in widget.answer["notices"][0]["heading"]
    assert torch.allclose(
        weights_of(widget)[0], widget.source.model.attend(widget.answer["tokens"]).weights, atol=1e-4
    )
    widget.sentence = "猫睡了。"
    assert widget.answer["tokens"] == ["猫", "睡", "了", "。"] and len(widget.answer["unknown"]) == 4
    widget.sentence = " ".join(["the"] * 30)
    assert (
        len(widget.answer["tokens"]) == 24
        and "30 words, the first 24" in widget.answer["notices"][0]["heading"]
    )
    for nothing in ("", "   \n"):
        widget.sentence = nothing
        assert widget.answer["tokens"] == [] and widget.payload == b""
        assert widget.answer["notices"][0]["heading"] == "No sentence yet"
        with pytest.raises(ValueError, match="no sentence"):
            widget.maps()
    # Without a tree nobody knows the right words of a relation; of a position anybody does.
    widget.sentence = "the cat sleeps"
    widget.layer, widget.head = 2, 2
    assert widget.answer["question"] == "previous" and widget.answer["targets"] == [(1, 0), (2, 1)]
    widget.layer, widget.head = 1, 3
    assert widget.answer["targets"] == []


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(1)</script>",
        "a\u2028b\u2029c",
        "\ud800 lone",
        "שלום عالم 👩‍👩‍👧",
        "$x$ \\frac",
        "\u200b\ufeff zero",
    ],
)
def test_hostile_and_odd_texts_stay_text(text: str) -> None:
    widget = HeadMap(sentence=text)
    assert json.dumps(widget.answer).encode("utf-8")
    assert all(isinstance(token, str) and token for token in widget.answer["tokens"])
    bundle = widget._repr_mimebundle_()[0]
    assert "<img src=x" not in bundle["text/html"] and "<script" not in bundle["text/html"]


def test_the_view_never_sets_markup() -> None:
    folder = Path(__file__).parents[1] / "mha_course" / "widgets" / "js"
    files = sorted(folder.glob("head_map*.js"))
    assert len(files) >= 6
    for file in files:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", file.read_text(encoding="utf-8")
        )


def test_shuffled_words_tell_position_from_word() -> None:
    widget = HeadMap(layer=2, head=2)
    words = widget.answer["tokens"]
    widget.shuffle = 3
    told, tokens = widget.answer["shuffle"], widget.answer["tokens"]
    assert sorted(tokens) == sorted(words) and tokens != words
    previous = (2 - 1) * 8 + 2 - 1
    assert told["asked"][previous] >= 3
    # In a muddle of words the course model's head keeps to the place less strictly, but never to the word.
    assert told["place"][previous] >= 0.5 * told["asked"][previous]
    assert told["word"][previous] <= 0.2 * told["asked"][previous]
    # Of a position the right words are those of the new order.
    assert widget.answer["targets"] == [(i, i - 1) for i in range(1, len(words))]
    # A tree goes with its words.
    widget.layer, widget.head = 1, 3
    tokens = widget.answer["tokens"]
    pairs = {(tokens[q], tokens[k]) for q, k in widget.answer["targets"]}
    assert len(pairs) >= 2
    widget.shuffle = 0
    straight = widget.answer["tokens"]
    assert pairs == {(straight[q], straight[k]) for q, k in widget.answer["targets"]}
    assert widget.answer["shuffle"] is None


def test_recorded_heads_show_their_sentences_and_say_why_no_others() -> None:
    widget = HeadMap("MiniLM", layer=3, head=9)
    assert (widget.table.n_layers, widget.table.n_heads) == (6, 12)
    assert widget.chart["can_read"] is False and "list only" in widget.chart["closed"]
    assert isinstance(widget.source, RecordedMiniLM)
    drawn, kept = weights_of(widget)
    assert float(kept.min()) < 0.9 < float(kept.max())
    assert torch.allclose(drawn.sum(-1), (kept >= 0.01).float(), atol=1e-3)
    widget.special = True
    assert widget.answer["tokens"][0] == "[CLS]" and widget.answer["tokens"][-1] == "[SEP]"
    widget.shuffle = 2
    assert widget.answer["shuffle"] is None
    with pytest.raises(ValueError, match="list only"):
        HeadMap("MiniLM", sentence="my own words")
    widget.mode = "own"
    assert widget.answer["tokens"] == [] and "list only" in widget.answer["notices"][0]["text"]


def test_a_pretrained_model_with_a_mask_hatches_what_no_word_may_see(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from mha_course.models.pretrained import load_pretrained
    from mha_course.widgets.pretrained_heads import PretrainedHeads
    from tests.models.pretrained.tiny_models import gpt2

    gpt2(tmp_path)
    model = load_pretrained(tmp_path)
    widget = HeadMap(model, sentence="my friend plays the oboe")
    assert widget.table.roles()[0].control is not None and not widget.chart["has_special"]
    assert "special token" not in widget.roles()
    with pytest.raises(ValueError, match="but the maps are of"):
        HeadMap(PretrainedHeads(model, table=MadeUp().table))
    n = len(widget.answer["tokens"])
    assert widget.answer["masked"] and n == 5
    allowed = torch.frombuffer(bytearray(widget.payload[-n * n :]), dtype=torch.uint8).reshape(n, n)
    assert torch.equal(allowed.bool(), torch.ones(n, n, dtype=torch.bool).tril())


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"layer": 3}, "layer=3"), ({"head": 0}, "head=0"), ({"example": 60}, "example=60")],
)
def test_heads_and_examples_that_there_are_not(settings: Mapping[str, int], said: str) -> None:
    with pytest.raises(traitlets.TraitError, match=said):
        HeadMap(**{"layer": 1, "head": 1, **settings})
    with pytest.raises(TypeError, match="course model"):
        source_of(3.5)


def test_it_opens_fast() -> None:
    HeadMap()
    start = time.process_time()
    HeadMap()
    assert time.process_time() - start < 2.0


def test_still_and_words(course: HeadMap) -> None:
    data, metadata = course._repr_mimebundle_()
    assert data["text/plain"] == course.alt == metadata["image/png"]["alt"]
    picture = role_map(course.table, course.thresholds, chosen=(2, 2))
    assert "previous token: L2 H2" in picture.alt and "Chosen: layer 2, head 2" in picture.alt
    assert picture.png("dark") != picture.png("light")
    nothing = role_map(course.table, {"previous": 1.0, "next": 1.0})
    assert "previous token: no head" in nothing.alt
    with pytest.raises(ValueError, match="no role"):
        role_map(course.table, {"verbs": 0.5})
    with pytest.raises(ValueError, match="no head"):
        role_map(course.table, chosen=(3, 1))


def test_kept_tables_are_what_scoring_gives() -> None:
    source = CourseHeads()
    kept, fresh = course_head_table(), scored(source.model, "grammar")
    assert kept.names() == fresh.names() and kept.note == fresh.note
    for one, other in zip(kept.measures, fresh.measures, strict=True):
        assert torch.allclose(one.values, other.values, atol=2e-3, equal_nan=True), one.name
    with pytest.raises(ValueError, match="on='novels'"):
        course_head_table(on="novels")
    whole, known = course_head_table(on="treebank"), course_head_table(on="known treebank")
    assert "knows" in whole.note and "knows" not in known.note and 30 < known.sentences < whole.sentences
    assert HeadMap("known treebank").answer["unknown"] == []


def test_held_out_sentences_are_as_they_were_drawn() -> None:
    sentences = scored_sentences()
    assert len(sentences) == len({s.words for s in sentences}) == 240
    assert training_word_counts()["the"] > 10_000
    text = as_conllu(sentences[0], 1)
    assert len([line for line in text.splitlines() if not line.startswith("#")]) == len(sentences[0])


def test_questions_without_a_tree_and_rows_of_bars() -> None:
    table = MadeUp().table
    measured = table.measure("previous")
    assert targets_of(unparsed(["a", "b", "c"]), measured) == [(1, 0), (2, 1)]
    assert unparsed(["a", "…", "7"]).upos == ("X", "PUNCT", "X")
    rows = chart_of(table)["rows"][2 * HEADS + 3]
    # The position first, as in the map; then the relation; what fails comes later; measures of weight last.
    assert [row["name"] for row in rows[:2]] == ["previous", "det: dependent → head"]
    assert rows[-1]["kind"] == "mean" and all(row["kind"] == "share" for row in rows[:-1])
    assert question_of(table, 3, 4, "previous").name == "previous"
    assert question_of(table, 3, 4, "syntactic").name == "det: dependent → head"
    with pytest.raises(ValueError, match="no role"):
        chart_of(HeadTable("m", "", 2, "", (measure("two rarest", "rare", torch.zeros(2, 3), 0.1),)))
