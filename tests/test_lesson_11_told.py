"""What lesson 11 says in words and foretells in its predictions, computed again."""

from __future__ import annotations

import torch

from mha_course.heads import habits
from mha_course.heads.roles import SYNTACTIC_GAIN
from mha_course.models.course_models import cards
from mha_course.models.head_patterns import head_patterns, interval, pattern_record
from mha_course.models.real_head_roles import real_head_roles
from mha_course.models.real_heads_shuffled import real_heads_shuffled
from mha_course.models.recorded_heads import recorded_heads
from mha_course.training.gloss_without_heads import compared_with_random, role_groups
from mha_course.training.head_tables import course_head_table
from mha_course.widgets.prediction import outcomes

SIZES, HEADS = (16, 32, 64, 128), (1, 2, 4, 8)


def test_neighbours_and_some_relations_hold_on_english() -> None:
    assert outcomes()["11-roles-on-english"] == "neighbours and some relations"
    for on in ("known treebank", "treebank"):
        table = course_head_table(on=on)
        for name in ("previous", "next"):
            assert table.best(name).low > 0.9
        relation, rare = table.best("obj: dependent → head"), table.best("rarest")
        assert relation.low > relation.baseline and relation.gain >= SYNTACTIC_GAIN
        assert rare.low < rare.baseline
    assert rare.value < rare.baseline  # with unknown words


def test_what_is_said_of_the_real_model() -> None:
    table = real_head_roles().table
    rare = table.best("rarest")
    assert 0 < rare.gain < 0.10 and rare.low > rare.baseline and rare.value > 3 * rare.control
    best = [table.best(f"{r}: dependent → head") for r in ("obj", "case", "nsubj", "det", "aux")]
    assert [(s.layer, s.head) for s in best].count((3, 9)) == 3
    for score in best:
        assert score.low > score.baseline > score.control
        assert score.nearest >= score.value - 0.01  # none beats the rule that knows parts of speech
    for relation in ("amod", "obl", "nmod", "conj", "mark", "compound"):
        for way in ("dependent → head", "head → dependent"):
            assert table.best(f"{relation}: {way}").verdict == "no"
    above = {
        f"{relation}: {way}"
        for relation in ("amod", "obl", "nmod", "conj", "mark", "compound")
        for way in ("dependent → head", "head → dependent")
        if table.best(f"{relation}: {way}").gain >= SYNTACTIC_GAIN
    }
    assert above == {"obl: dependent → head", "obl: head → dependent", "nmod: head → dependent"}


def test_l3h9_looks_from_function_words_to_content_words() -> None:
    assert outcomes()["11-l3h9"] == "from a function word to the next content word"
    heads = recorded_heads()
    function = {"DET", "ADP", "AUX", "PRON", "SCONJ", "CCONJ", "PART"}
    content = {"NOUN", "VERB", "PROPN", "ADJ"}
    hits: dict[bool, list[bool]] = {True: [], False: []}
    for sentence, w in zip(heads.sentences, heads.weights_over_words(), strict=True):
        looks_at = w[2, 8].fill_diagonal_(0).argmax(-1)
        for i, tag in enumerate(sentence.upos):
            after = [j for j in range(i + 1, len(sentence)) if sentence.upos[j] in content]
            if after:
                hits[tag in function].append(int(looks_at[i]) == after[0])
    shares = {kind: sum(found) / len(found) for kind, found in hits.items()}
    assert shares[True] > 0.7 and shares[False] < 0.5


def test_sums_pay_for_pieces_and_choices_count() -> None:
    real = real_head_roles()
    assert outcomes()["11-split-words"] == f"{real.rare_by_sum:.2f}" == "0.43"
    assert real.rare_by_mean < 0.1
    counts = list(real.pairs().values())
    assert counts == sorted(counts, reverse=True) and counts[0] > 3 * counts[2]


def test_what_a_shuffle_leaves() -> None:
    counts = real_heads_shuffled()
    assert outcomes()["11-shuffled"] == "0.70"
    assert counts.trained.shares(0, 2)["place"] > 0.995
    assert abs(counts.trained.shares(2, 8)["place"] - 0.7) < 0.05
    for layer, head in ((1, 10), (1, 8)):
        assert counts.trained.verdict(layer - 1, head - 1) == "word"
    for layer in (1, 2, 3, 4):  # the middle layers, from 0
        verdicts = [counts.trained.verdict(layer, head) for head in range(12)]
        assert verdicts.count("neither") > 6


def test_heads_of_a_layer_are_alike_mostly_in_the_upper_layers() -> None:
    real = real_head_roles()
    assert outcomes()["11-one-layer-alike"] == "more alike, mostly in the upper layers"
    test, within = real.layers_differ, real.resemblance.within_each()
    assert test.within < test.between and test.p < 0.001
    assert (within[3:] < test.within).all() and (within[:3] > test.within).all()
    assert float(real.resemblance.points()[1].sum()) < 1 / 3


def test_clarks_categories_as_told() -> None:
    reads = [recorded_heads().read(i) for i in range(len(recorded_heads().sentences))]
    special = [[i for i, word in enumerate(r.query_words) if word is None] for r in reads]
    marks = [[i for i, token in enumerate(r.maps.query_tokens) if token in ".,"] for r in reads]
    counted = habits.count_habits([r.maps.weights for r in reads], special, marks)
    rules = [r if r[0] != "broad" else ("broad", habits.BROAD, 0.78) for r in habits.CLARK_RULES]
    found = habits.clark_categories(counted, rules)
    flat = [category for row in found for category in row]
    assert found[0].count("broad") >= 9 and flat.count("previous") == flat.count("next") == 1
    assert flat.count("[SEP]") == flat.count("punctuation") == 0 and flat.count("") > 36
    assert all("[CLS]" in row for row in found[1:5]) and "[CLS]" not in found[0] + found[5]
    sink = real_head_roles().habits[habits.FIRST_SPECIAL].mean(1)
    assert (sink[1:5] > 0.4).all() and real_head_roles().habits[habits.LAST_SPECIAL].mean() < 0.06


def test_one_head_off_changes_little_and_its_group_much() -> None:
    assert outcomes()["11-one-head-off"] == "less than 1 point"
    group = role_groups()["previous word"]
    assert (2, 2) in group
    assert compared_with_random([(2, 2)]).lost["mutation"] < 1
    whole = compared_with_random(group)
    assert whole.lost["mutation"] > 5 and whole.worst["mutation"] < 1


def test_weight_on_oneself_by_number_of_heads() -> None:
    gain = {}
    for d in SIZES:
        one, many = ([m.mean("self_weight") for m in head_patterns(d, h)] for h in (1, 8))
        gain[d] = interval([b - a for a, b in zip(one, many, strict=True)])
        assert len(one) == 3
    assert gain[16].high < 0 and gain[32].low < 0 < gain[32].high
    assert gain[64].low > 0 and gain[128].low > 0


def test_the_diagonal_and_small_weights() -> None:
    heads = recorded_heads()
    rows = words = own_word = own_token = 0
    for i in range(len(heads.sentences)):
        read = heads.read(i)
        alone, all_tokens = read.words().weights, read.words(special=True).weights
        n = alone.shape[-1]
        own_word += (alone.argmax(-1) == torch.arange(n)).float().sum(-1).mean()
        own_token += (all_tokens.argmax(-1) == torch.arange(n + 2))[..., 1:-1].float().sum(-1).mean()
        rows, words = rows + n, words + 1
    assert own_token / rows < words / (rows + 2 * words) < words / rows < own_word / rows < 0.2
    chance = pattern_record().chance
    share = {(d, h): [m.mean("self_share") for m in head_patterns(d, h)] for d in SIZES for h in HEADS}
    assert max(max(values) for values in share.values()) < 0.3 and max(share[16, 1]) > 0.25
    assert max(share[64, 1] + share[128, 1]) < chance
    small = {
        (d, h): interval([m.mean("below_tenth_of_even") for m in head_patterns(d, h)]).mean
        for d in SIZES
        for h in HEADS
    }
    assert all(small[128, h] > 0.5 for h in HEADS)
    assert all(small[d, h] < 0.5 for d in (16, 32) for h in HEADS)
    at_64 = [m.mean("below_tenth_of_even") for h in HEADS for m in head_patterns(64, h)]
    assert 3 * sum(value > 0.5 for value in at_64) == 2 * len(at_64)
    untrained = [m.mean("below_tenth_of_even") for d in SIZES for m in head_patterns(d, trained=False)]
    assert max(untrained) < 0.1
    near = real_head_roles().habits["near zero"].mean(1)
    assert (near[1:3] > 0.5).all() and (near[[0, 3, 4, 5]] < 0.5).all()
    assert pattern_record().sentences == 1_000


def test_depth() -> None:
    for run in head_patterns(128, 8):
        assert run.mean("apart", 2) > run.mean("apart", 1)
        assert run.with_role("positional", 2) > run.with_role("positional", 1)
    within = real_head_roles().resemblance.within_each()
    assert (within[1:-1] > within[2:]).all() and within[0] < within[1]
    near = sum(real_head_roles().habits[name] for name in (habits.PREVIOUS_TOKEN, habits.NEXT_TOKEN)).mean(1)
    assert near[5] < 0.55 * near[0]


def test_a_larger_d_model_profits_from_more_heads() -> None:
    right = {
        (c.sizes.d_model, c.sizes.h): [sum(r["accuracy"].values()) / 4 for r in c.seeds] for c in cards()
    }
    gain = {
        d: interval([100 * (many - one) for many, one in zip(right[d, 8], right[d, 1], strict=True)])
        for d in SIZES
    }
    assert gain[16].low < 0 < gain[16].high and gain[32].mean < 0
    assert gain[64].low > 0 and gain[128].low > gain[64].high


def test_a_determiner_finds_its_noun_among_known_words_only() -> None:
    known, every = (
        course_head_table(on=on).best("det: dependent → head") for on in ("known treebank", "treebank")
    )
    assert known.low > known.baseline and every.low < every.baseline


def test_more_heads_help_in_wide_models_whatever_the_width_of_a_head() -> None:
    right = {(c.sizes.d_model, c.sizes.h): [sum(r["accuracy"].values()) for r in c.seeds] for c in cards()}
    assert min(right[64, 8]) > max(right[64, 1]) and min(right[128, 8]) > max(right[128, 1])
    assert sum(right[32, 4]) < sum(right[32, 1])  # heads of 8 dimensions, as at 64 with eight
    assert not any(sum(right[d, h]) > sum(right[d, 1]) + 0.03 for d in (16, 32) for h in (2, 4, 8))


def test_depth_and_special_tokens() -> None:
    real = real_head_roles()
    first = real.habits[habits.FIRST_SPECIAL].mean(1)
    assert first[0] < 0.2 and first[1:].min() > 1 / 3 and first[1:].max() < 0.51
    within = real.resemblance.within_each()
    assert within[1] > within[2] > within[3] > within[4]
    assert abs(real.layers_differ.p - 1 / 2001) < 1e-5
    verdicts = [[real_heads_shuffled().trained.verdict(layer, i) for i in range(12)] for layer in (0, 5)]
    assert all(row.count("word") > 6 for row in verdicts)
