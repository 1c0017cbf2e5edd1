"""What lesson 15 says in words and foretells in its predictions, computed again or read from its records."""

from __future__ import annotations

from statistics import fmean

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mha_course import cost
from mha_course.heads import circuits
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.models import read_circuits
from mha_course.models.course_models import load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.models.leaderboard_records import TASKS, RowRecord, difference, leaderboard
from mha_course.models.one_thread import one_thread
from mha_course.models.own_machine import shortest
from mha_course.models.patch_habits import patch_habits
from mha_course.models.trained_settings import mean_accuracy, trained_card
from mha_course.models.word_vectors import token_vectors
from mha_course.training.balance_trial import balance_runs
from mha_course.training.kept_rows import kept_digit_row, kept_gloss_row
from mha_course.training.leaderboard import Row, Setting, model_of
from mha_course.training.learned_variants import composing_taken_away, heads_chosen, talk_taken_away
from mha_course.training.train_digits import DigitSetting, digit_model_of, digit_split
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.talking_heads import TalkingHeads, mixed
from mha_course.variants.variant_costs import variant_cost
from mha_course.widgets.prediction import outcomes

WORDS = "the old cat sleeps on the warm chair .".split()


def counted(layer: MultiHeadAttention, n: int) -> int:
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        layer(torch.zeros(1, n, layer.d_model))
    return counter.get_total_flops()


def test_what_gates_sum_to() -> None:
    x = token_vectors(WORDS, d_model=24)[None]
    layer = MixtureOfHeads(24, 8, shared=2, chosen=3, gates="paper").requires_grad_(False)
    for router in (layer.router_shared, layer.router_routed, layer.router_types):
        router.weight.mul_(15)
    assert layer.routing(x).gates.sum(-1).max() < 1 and outcomes()["15-gate-sum"] == "at most 1"
    layer.gates = "code"
    routing = layer.routing(x)
    wanted = 2 * (2 * routing.types[..., 0] + 3 * routing.types[..., 1])
    assert torch.allclose(routing.gates.sum(-1), wanted, atol=1e-5) and wanted.max() - wanted.min() > 0.1
    layer.router_types.weight.zero_()  # both kinds get the same weight: 1 on average
    assert torch.allclose(layer.routing(x).gates.sum(-1), torch.tensor(5.0), atol=1e-5)


def test_flops_parameters_and_seconds_of_the_mixture() -> None:
    plain, mixture = MultiHeadAttention(256, 8), MixtureOfHeads(256, 8, shared=2, chosen=3)
    shares = [counted(mixture, n) / counted(plain, n) for n in (256, 512)]
    assert shares[0] == pytest.approx(0.76, abs=0.005) and outcomes()["15-mixture-flops"] == "about 3/4"
    assert 5 / 8 < shares[1] < shares[0] <= 0.8
    long = variant_cost(mixture, 400_000).flops / variant_cost(plain, 400_000).flops
    assert long == pytest.approx(5 / 8, abs=0.001)  # "falls towards 5/8"
    routers = sum(p.numel() for name, p in mixture.named_parameters() if "router" in name)
    assert routers == 256 * (8 + 2) == 2560 and routers / cost.parameter_count(256, 8) == pytest.approx(
        0.01, abs=0.001
    )
    assert outcomes()["15-mixture-clock"] == "more time at 256 tokens, less at 2,048"
    x = torch.randn(1, 2048, 256, generator=torch.Generator().manual_seed(0))
    with one_thread(), torch.no_grad():
        some, all_of_them = shortest(lambda: mixture(x)), shortest(lambda: mixture.trace(x))
    assert some < all_of_them  # "all heads times gates" saves nothing


def test_the_balance_loss_alone_pushes() -> None:
    x = token_vectors(WORDS, d_model=24)[None]
    layer = MixtureOfHeads(24, 6, shared=2, chosen=2)
    torch.nn.init.normal_(layer.router_routed.weight, std=0.3, generator=torch.Generator().manual_seed(3))
    spreads = []
    for _ in range(200):
        routing = layer.routing(x)
        counts = routing.chosen.float().sum((0, 1))
        spreads.append(float(counts.max() - counts.min()))
        (gradient,) = torch.autograd.grad(routing.balance, layer.router_routed.weight)
        layer.router_routed.weight.data -= 0.3 * gradient
    assert spreads[-1] < spreads[0]


def test_the_ends_of_the_balance_loss() -> None:
    routed, k = 6, 3
    layer = MixtureOfHeads(16, 8, shared=2, chosen=k).requires_grad_(False)
    x = torch.ones(1, 5, 16)
    layer.router_routed.weight.zero_()
    assert layer.routing(x).balance == pytest.approx(k)  # hardly prefers anything, always picks the same
    layer.router_routed.weight[:k] = 5
    assert layer.routing(x).balance == pytest.approx(routed)


def test_heads_that_nobody_chooses() -> None:
    runs = {factor: [run for run in balance_runs() if run.factor == factor] for factor in (0.0, 0.01, 1.0)}
    unused = [sum(share < 0.01 for share in run.chosen[0]) for run in runs[0.0]]
    assert all(count > 0 for count in unused) and unused[0] == 3
    assert outcomes()["15-without-balance"] == "in all of the runs"
    assert sorted(runs[0.0][0].chosen[0]) == pytest.approx([0, 0, 0, 1, 1, 1], abs=0.01)
    assert all(max(run.chosen[0]) - min(run.chosen[0]) > 0.7 for run in runs[0.0])  # "all are uneven"
    assert all(min(run.chosen[0]) > 0.05 for run in runs[0.01])
    assert all(max(run.chosen[0]) - min(run.chosen[0]) < 0.1 for run in runs[1.0])
    assert all(min(run.chosen[1]) > 0.15 for run in runs[0.0])  # layer 2
    rights = {factor: [run.right for run in some] for factor, some in runs.items()}
    lengths = {factor: max(some) - min(some) for factor, some in rights.items()}
    more = fmean(rights[0.01]) - fmean(rights[0.0])
    assert more == pytest.approx(0.012, abs=0.0005) and more < max(lengths[0.01], lengths[0.0])
    assert lengths[0.0] == pytest.approx(0.031, abs=0.0005)
    assert sum(with_it > without for with_it in rights[0.01] for without in rights[0.0]) == 22


def test_words_and_classes_that_choose_alike() -> None:
    by_word = {(one.trained, one.layer): one for one in heads_chosen("words")}
    for layer in (1, 2):
        assert by_word[True, layer].by_label == pytest.approx(0.8, abs=0.08)  # "four of five"
        assert by_word[False, layer].by_label > by_word[True, layer].by_label - 0.05
    assert outcomes()["15-same-word"] == "as many as in the trained model"
    gains = {(one.trained, one.layer): one.by_label - one.by_all for one in heads_chosen("upos")}
    for layer in (1, 2):
        assert gains[True, layer] > 0.15 > 0.08 > gains[False, layer]


@torch.no_grad()
def looked_for(model: GlossModel, kind: str) -> list[str]:
    """For each word of a class, the class with the largest mean score in head 6 of layer 1."""
    layer, by_class = model.encoder.layers[0].attention, read_circuits.words_by_class()
    q = layer.queries(read_circuits.word_inputs(model, by_class[kind])[None])[0, 5]
    of_classes = []
    for words in by_class.values():
        x = read_circuits.word_inputs(model, words)[None]
        of_classes.append((q @ layer.shared_keys_and_values(x, x)[0][0, 5].T).mean(1))
    return [list(by_class)[i] for i in torch.stack(of_classes, 1).argmax(1)]


def test_what_head_six_reads_and_writes() -> None:
    model = load_course_model()
    kinds, scores = list(read_circuits.words_by_class()), read_circuits.class_scores(model, head=5)
    for kind in ("determiner", "numeral", "adjective"):
        assert kinds[int(scores[kinds.index(kind)].argmax())] == "noun"
        assert set(looked_for(model, kind)) == {"noun"}  # "each single one of these words"
    shares = [read_circuits.written_endings(model, head)[1] for head in range(8)]
    assert len(read_circuits.agreeing_nouns()) == 313
    assert round(100 * shares[5]) == 96 and outcomes()["15-ov-endings"] == "about 95 %"
    assert max(range(8), key=lambda head: shares[head]) == 5
    assert sorted(range(8), key=lambda head: shares[head])[-2] == 7  # head 8, from numerals
    untrained = []
    for seed in range(3):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            other = GlossModel(model.sizes)
        untrained += [read_circuits.written_endings(other, head)[1] for head in range(8)]
    assert max(untrained) < 0.25  # "near chance"
    assert read_circuits.written_endings(model, None)[1] < 0.1
    first = model.encoder.layers[0].attention
    assert {circuits.circuit_rank(circuits.qk_circuit(first, head)) for head in range(8)} == {16}


def test_rows_of_talking_heads_and_a_mask_too_early() -> None:
    layer = TalkingHeads(24, 4, noise=0.3).requires_grad_(False)
    traced = layer.trace(token_vectors(WORDS, d_model=24)[None], mask=causal_mask(9))
    sums = traced.composed_weights[0].sum(-1)
    assert torch.allclose(sums, layer.p_weights.sum(0)[:, None].expand(4, 9), atol=1e-5)
    assert outcomes()["15-talking-rows"] == "a number of the head's own, which can be any"
    hidden = traced.raw_scores.masked_fill(~causal_mask(9), float("-inf"))
    assert mixed(hidden, torch.eye(4))[..., ~causal_mask(9)].isnan().all()
    assert outcomes()["15-mask-first"] == "nan: no number at all"
    assert (traced.composed_weights[..., ~causal_mask(9)] == 0).all()  # the second mixing is safe


def test_what_the_trained_heads_say_to_each_other() -> None:
    layer = kept_gloss_row("talking").encoder.layers[0].attention
    off = ~torch.eye(8, dtype=torch.bool)
    assert (layer.p_scores[off] > 0).float().mean() > 0.6  # "most shares are positive"
    assert (layer.p_weights[off] < 0).float().mean() > 0.85  # "nearly everything is negative"
    losses = talk_taken_away()
    lost = {change: loss - losses["as trained"] for change, loss in losses.items()}
    assert lost["scores not mixed"] > 2 * lost["weights not mixed"]
    assert lost["off-diagonal shuffled"] > 0.6 * lost["neither mixed"]  # "nearly as bad as silence"
    assert outcomes()["15-silence"] == "the scores, before the softmax"


def test_what_composing_leans_on() -> None:
    losses = composing_taken_away()
    lost = {change: loss - losses["as trained"] for change, loss in losses.items()}
    assert lost["without the static part"] < 0.15
    assert lost["static part only"] > 2 and lost["dynamic parts: another token's"] > 2
    assert 1 < lost["dynamic parts: their mean"] < lost["static part only"]  # "only in part"
    assert lost["dynamic parts: another token's"] == pytest.approx(lost["no composing"], abs=0.3)
    assert lost["no composing of scores"] == pytest.approx(lost["no composing of weights"], abs=0.3)


def test_maps_pairs_and_ranks() -> None:
    x = token_vectors(WORDS, d_model=24)[None]
    with torch.random.fork_rng():
        torch.manual_seed(5)
        many = TalkingHeads(24, 8, d_k=2, d_v=3, noise=0.3).requires_grad_(False)
    seen = many.trace(x)
    assert seen.weights.shape[1] == 8 and outcomes()["15-softmax-maps"] == "8"
    rank = torch.linalg.matrix_rank
    assert int(rank(seen.raw_scores[0, 0].double(), atol=1e-5)) == 2
    assert int(rank(seen.scores[0, 0].double(), atol=1e-5)) == 8 == len(set(WORDS))
    both = torch.cat([seen.weights[0], seen.composed_weights[0]]).flatten(1).double()
    assert int(rank(both, atol=1e-6)) == 8


def test_what_composing_costs() -> None:
    plain = variant_cost(MultiHeadAttention(256, 8), 256)
    made = variant_cost(DynamicallyComposableHeads(256, 8), 256)
    more = made.parameters - plain.parameters
    assert more == 20 * 8 * 256 + 64 * 8**2 + 2 * 8**2 and round(100 * more / plain.parameters) == 17
    assert round(100 * (20 * 32 * 4096 + 64 * 32**2) / (4 * 4096**2)) == 4
    assert 8 / (256 / 8) == 1 / 4 and round(100 * 8 / 128) == 6
    static = 2 * 2 * 8**2 * 256**2
    low_rank = 32 * 8 * 256**2
    tokens = 2 * 2 * 256 * 2 * (256 * 32 + 32 * 32 + 256 * 8)
    assert made.flops - plain.flops == static + low_rank + tokens
    assert [round(part / 1e6) for part in (tokens, low_rank, static)] == [23, 17, 17]
    assert made.cached > plain.cached


def test_the_setting_of_the_leaderboard() -> None:
    setting = Setting()
    assert (setting.d_model, setting.recipe.steps, setting.recipe.sentences) == (48, 1800, 20_000)
    model = model_of(Row("composable", 8), setting, 0)
    assert model.encoder.layers[0].feed_forward.w_1.out_features == 69
    assert model_of(Row("wide", 16), setting, 0).encoder.layers[0].feed_forward.w_1.out_features == 192 // 2
    assert all(abs(row.parameters - 150_614) < 100 for row in leaderboard())


def rows_of(task: str, seeds: int) -> dict[tuple[str, int], RowRecord]:
    """The recorded rows by variant and h; skipped while the record is still being made."""
    rows = {(row.row.variant, row.h): row for row in leaderboard(task)}
    if len(rows) < len(TASKS[task]) or any(len(row.runs) < seeds for row in rows.values()):
        pytest.skip(f"the record of the {task} is not complete")
    return rows


def test_more_heads_are_narrower_heads() -> None:
    rows = rows_of("gloss", 3)
    plain = {h: rows["plain", h] for h in (1, 2, 4, 8, 16)}
    assert min(plain.values(), key=lambda row: row.loss).h in (1, 2)
    assert outcomes()["15-plain-heads"] == "1 or 2 heads"
    assert all(difference(plain[16], plain[h]).words.startswith("worse") for h in (1, 2, 4, 8))
    assert difference(rows["wide", 16], plain[16]).words.startswith("better")
    assert round(plain[8].spread, 1) == 0.2
    assert max(*plain[1].losses, *plain[2].losses) < min(plain[8].losses)  # "all runs with 1 or 2 heads"
    # Wider models: 8 against 1 beyond the spread at 128 and 64, within it at 32.
    for width, told in ((128, True), (64, True), (32, False)):
        one, eight = (mean_accuracy(trained_card(width, h)) for h in (1, 8))
        spread = max(one.high - one.low, eight.high - eight.low)
        assert (eight.mean - one.mean > spread) is told
        assert told or 0 < one.mean - eight.mean < spread


def test_what_differs_from_eight_plain_heads() -> None:
    rows = rows_of("gloss", 3)
    plain = rows["plain", 8]
    told = {key: difference(row, plain) for key, row in rows.items() if row is not plain}
    worse = {key for key, one in told.items() if one.words.startswith("worse")}
    assert worse == {("grouped", 8), ("multi-query", 8), ("plain", 16)}
    assert all(one.words == "no difference" for key, one in told.items() if key not in worse)
    assert max(rows["collaborative", 8].losses) < min(plain.losses)  # "all runs of collaborative heads"
    with_eight = sorted((row.loss, name) for (name, h), row in rows.items() if h == 8)
    assert {name for _, name in with_eight[:2]} == {"talking", "collaborative"}
    assert outcomes()["15-board"] == "collaborative, talking or composable heads"
    firsts = {min(rows, key=lambda key: rows[key].runs[i].loss) for i in range(3)}
    assert len(firsts) > 1  # "with one seed each, this would be another table"


def test_no_variant_is_better_than_the_best_plain_row() -> None:
    rows = rows_of("gloss", 3)
    best = min((row for (name, _), row in rows.items() if name == "plain"), key=lambda row: row.loss)
    variants = [row for (name, _), row in rows.items() if name != "plain"]
    assert len(variants) == 9 and best.h == 2 and all(row.loss > best.loss for row in variants)
    worse = [row for row in variants if difference(row, best).words.startswith("worse")]
    assert len(worse) == 6 and outcomes()["15-best-plain"] == "five or six"
    assert all(rows["plain", h].loss - best.loss < 0.05 for h in (1, 4))  # "within 0.05 of it"
    assert [row for row in variants if difference(row, best).words.startswith("better")] == []


def test_written_digits() -> None:
    every = rows_of("digits", 5)
    rows = {name: row for (name, h), row in every.items() if h == 8}
    rights = [every["plain", h].right for h in (1, 2, 4, 8)]
    assert rights == sorted(rights)  # "the means rise"
    assert difference(every["plain", 1], every["plain", 8]).words.startswith("worse")
    assert DigitSetting().d_model // 8 == 4
    assert all(0.87 < row.right < 0.95 for row in rows.values())  # "some nine of ten"
    for name in ("overlapping", "mixture"):
        assert difference(rows[name], rows["plain"]).words == "no difference"
    assert difference(rows["overlapping"], rows["mixture"]).words == "no difference"
    assert outcomes()["15-digits"] == "no difference between them"


def test_heads_that_read_ink_and_heads_that_read_paper() -> None:
    setting = DigitSetting()
    pictures = digit_split(setting)[2][:400]
    trained = patch_habits(kept_digit_row("plain"), pictures)
    untrained = patch_habits(digit_model_of(Row("plain", 8), setting, 9), pictures)
    ink, by_chance = trained.on_ink[0], untrained.on_ink[0]
    assert int((ink > 0.7).sum()) == 4 and by_chance.max() < 0.6  # "four heads read ink"
    assert ink.min() < 0.9 * trained.even  # "the paper around it"
    assert by_chance.min() < ink.min()  # "one of those leans further"
    assert trained.spread[1].min() > 0.9  # layer 2: "nearly even"
