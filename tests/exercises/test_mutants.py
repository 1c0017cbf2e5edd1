"""No small change to a reference solution passes, save those that change nothing, each with its reason."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import cache

import pytest
import torch

from mha_course.exercises.judging import passes
from mha_course.exercises.registry import EXERCISES
from tests.exercises.mutants import Mutant, mutants

# Changes that leave the function right, by what they change, with the reason.
EVERYWHERE = {
    r"\.transpose\(([-\d]+), ([-\d]+)\) -> .*\.transpose\(\2, \1\)$": "its two axes have no order",
    r"\| -?2 -> -?2$": "of four axes, axis 2 and axis -2 are the same",
    r" 0\.0 -> (-0\.0|0)$": "0, 0.0 and -0.0 are the same number",
    r"\.shape\[-1\].*\| q -> k$": "q and k have the same number of features, d_k",
    r"\.shape\[-1\].*\| x -> w_[qkv]$": "x and the matrices have the same number of features, d_model",
    r"\| (\w+(\.arange\(n\))?)\[None, :\] -> \1$": "broadcasting puts an axis in front by itself",
}
IN_ONE: dict[str, dict[str, str]] = {
    "average_of_targets": {
        r"dtype=values\.dtype": "values are float32 wherever a pass depends on it; float64 gets a remark",
    },
    "padding_mask": {
        r"torch\.as_tensor\(lengths\) -> lengths$": "the check hands lengths over as a tensor",
    },
    "empty_rows": {
        r"masked_fill\(empty, 0\.0\) \| scores\.masked_fill.* -> ": "no NaN gets back through masked_fill",
        r"fill\(empty, 0\.0\) \| 0\.0 -> -?1\.0$": "any equal scores do: the row's weights are emptied",
        r"mask\.any.*\| -?1 -> -?1$": "of the two axes of a mask, axis 1 and axis -1 are the same",
    },
    "head_contributions": {
        r"w_o\.shape\[1\].*\| 1 -> (0|-1)$": "W_O is square, as in a layer with d_v = d_model / h",
    },
    "shift_matrix": {
        r"dim=1\).*\| 1 -> -1$": "of the two axes of a stack of vectors, axis 1 and axis -1 are the same",
    },
    "position_kernel": {
        r"dim=1\).*\| 1 -> -1$": "angles have two axes: axis 1 and axis -1 are the same",
    },
    "previous_token_queries": {
        r"pe\.shape\[1\] \| 1 -> -1$": "position vectors have two axes: axis 1 and axis -1 are the same",
        r"pe\.shape\[1\] \| pe -> turn$": "a rotation is as wide as what it turns",
    },
    "offset_scores": {
        r"weights\.shape\[2\] \| 2 -> 1$": "a map of a sentence with itself is square",
        r"mean\(dim=1\) \| 1 -> -1$": "hits have two axes: axis 1 and axis -1 are the same",
    },
    "layer_norm": {
        r"variance = .*\| x - mean -> mean - x$": "a square has no sign",
    },
    "encoder_block": {
        r"layer_norm\(z, z\.shape.*\| z -> x$": "x and its normed form have the same number of features",
        r"\.shape\[-1\].*\| q -> [kv]$": "queries, keys and values are d_k wide",
        r"finfo\(x\.dtype\) -> torch\.finfo\(\)$": "a pass depends on float32; float64 gets a remark",
        r"finfo\(x\.dtype\).*\| x -> (z|scores|q|k|v)$": "everything has the dtype of x",
    },
    "shift_right": {
        r"full\(\(len\(targets\), 1\), start\)$": "ids are int64, and so is a tensor made of a whole number",
        r"torch\.cat.*\| 1 -> -1$": "of the two axes of the ids, axis 1 and axis -1 are the same",
    },
    "cross_attention": {
        r"d_k = .*\| y -> (memory|w_[qkvo])$": "everything that comes in has d_model features",
    },
    "warm_up_rates": {
        r"number - warm_up -> warm_up - number$": "a cosine is the same on both sides of 0",
        r"steps - warm_up -> warm_up - steps$": "a cosine is the same on both sides of 0",
        r"number <= warm_up -> number < warm_up$": "both pieces are 1 at update warm_up",
    },
    "masked_cross_entropy": {
        r"log_softmax\(dim=-1\) \| (-1 -> 1|1 -> -1)$": "two axes: axis 1 and axis -1 are the same",
        r"\| right -> log_p$": "there is a row for each right answer",
    },
    "argmax_share": {
        r"masked_fill.*\| 1\.0 -> (2\.0|0\.0|0)$": "anything below the weights hides the diagonal",
        r"mean\(dim=-1\) \| (-1 -> 1|1 -> -1)$": "hits have two axes: axis 1 and axis -1 are the same",
    },
    "best_fixed_offset": {
        r"hits = .*\| int\((.*)\) -> ": "counts compare in a tensor as well",
    },
    "held_out_score": {
        r"sum\(dim=0\) -> .*mean\(dim=0\)$": "the largest sum has the largest mean",
        r"0::2 -> ::2$": "a slice starts at 0 by itself",
    },
    "offset_score": {
        r"w\.shape\[-1\] \| (-1 -> 1|1 -> 2|1 -> -1)$": "a map of a sentence with itself is square",
        r"mean\(dim=-1\) \| (-1 -> 1|1 -> -1)$": "hits have two axes: axis 1 and axis -1 are the same",
    },
    "nearest_with_tag": {
        r"\| j - i -> i - j$": "a distance has no sign",
    },
    "row_evenness": {
        r"\| 1\.0 -> 2\.0$": "any logarithm does where the weight is 0",
        r"entropy\.mean.*\| (-1 -> 1|1 -> -1)$": "entropies have two axes: axis 1 and axis -1 are the same",
    },
    "pieces_to_words": {
        r"sum\(dim=-1, .*\| (-1 -> 1|1 -> -1)$": "a matrix has two axes: axis 1 and axis -1 are the same",
    },
    "rarest_word_share": {
        r"mean\(dim=-1\) \| (-1 -> 1|1 -> -1)$": "hits have two axes: axis 1 and axis -1 are the same",
    },
    "permutation_p": {
        # All distances together, and the number of pairs of each kind, are the same in every relabeling. So
        # whatever grows with the sum between layers comes to the same share.
        r"^other = .* -> ": "the diagonal is 0, and the number of pairs within is always the same",
        r"^return distances.* \| .* -> ": "sums within and between add up to the same: either decides",
    },
    "rotate_pairs": {
        r"^n, d_k = .* \| -?2 -> -?2$": "of the four axes of x, the last two are those from axis 2 on",
        r"dtype=.*\) -> torch\.arange\([^=]*\)$": "angles in float32 are fine, save for float64 inputs",
        r"0::2 -> ::2$": "a slice starts at 0 by itself",
        r"^frequency = .*\| x -> position$": "positions have the dtype of x",
    },
    "attend_with_cache": {
        r"(dim=2|-2.*) \| -?2 -> -?2$": "of four axes, axis 2 and axis -2 are the same",
        r"\.shape\[-1\].*\| q -> (cached_k|keys)$": "queries and keys have the same number of features, d_k",
    },
    "partial_outputs": {
        r"transpose\(-?\d, -?\d\).* \| -?2 -> -?2$": "of four axes, axis 2 and axis -2 are the same",
    },
    "finish_steps": {
        r"^done = .*\| 0 -> -?1$": "every place of the list is written to",
    },
    "two_stage_gates": {
        r"^return torch\.cat.* \| 1 -> -1$": "of two shares, the first are those before the last",
    },
    "balance_loss": {
        r"\(0, 1\) -> \(1, 0\)$": "axes that are averaged have no order",
        r"shape\[-1\].* \| probabilities -> (chosen|p|f)$": "all end in the axis of routed heads",
        r"to\(probabilities\.dtype\).* \| probabilities -> p$": "a mean has the dtype of what it is made of",
    },
    "circuits": {
        r"unflatten\(1, .* \| 1 -> -1$": "a matrix has two axes: axis 1 and axis -1 are the same",
    },
    "allowed_keys": {
        r"torch\.arange\(n, device.* -> torch\.arange\(n\)$": "in the check everything is on the CPU",
    },
    "whole_attention": {
        r"masked_fill\(empty, 0\.0\) \| scores\.masked_fill.* -> ": "no NaN gets back through masked_fill",
        r"^scores = .*fill\(empty, 0\.0\) \| 0\.0 -> -?1\.0$": "any equal scores do: the row is emptied",
    },
    "frugal_attention": {
        r"torch\.finfo\(x\.dtype\) -> torch\.finfo\(\)$": "without a dtype it takes float32's, low enough",
        r"finfo\(x\.dtype\).* \| x -> ": "everything has the dtype of x",
    },
    "clear_difference": {
        r"dim=1.* \| 1 -> -1$": "losses have two axes: axis 1 and axis -1 are the same",
        r"maximum\(.* -> torch\.maximum\(plain\.": "the larger one of two has no order",
        r"< limit -> gap\.abs\(\) <= limit$": "no difference is the spread to the last digit",
    },
    "gated_output": {
        r"\.flatten\(2\).* \| 2 -> -2$": "of four axes, axis 2 and axis -2 are the same",
    },
    "head_importance": {
        r"sum\(dim=\(2, 3\)\) \| \(2, 3\) -> \(3, 2\)$": "axes that are summed have no order",
    },
    "head_confidence": {
        r"weights\.shape\[-1\].*\| 1 -> 2$": "a map of a sentence with itself is square",
        r"masked_fill.*\| 0 -> -1$": "anything below the weights hides the others",
        r"sum\(dim=\(0, 2\)\).*\| \(0, 2\) -> \(2, 0\)$": "axes that are summed have no order",
        r"rows\.sum\(\) \| rows -> lengths$": "lengths add up to the number of rows that count",
    },
    "prune_heads": {
        r"flatten\(1\) \| 1 -> -1$": "a matrix has two axes: axis 1 and axis -1 are the same",
    },
    "content_bias": {
        r"unflatten\(1, .* \| 1 -> -1$": "a matrix has two axes: axis 1 and axis -1 are the same",
    },
    "pattern_width": {
        r"scores\.mean\(.* -> scores\.mean\(dim=-1, keepdim=True\) - scores$": "a rank has no sign",
        r"mean\(dim=-1.*\| (-1 -> 1|1 -> -1)$": "a map has two axes: axis 1 and axis -1 are the same",
        r"^return int\(.* -> torch\.linalg.*atol=1e-09\)$": "a whole number in a tensor counts",
        r" -> torch\.linalg\.matrix_rank\(shifted\)$": "PyTorch's own tolerance does as well",
        r"1e-09 -> (-1e-09|-0\.9.*|0)$": "a tolerance of 0 or less stands for PyTorch's own",
        r"1e-09 -> 2e-09$": "singular values are far above that, or rounding",
    },
    "flop_count": {
        r"\| (weighted_sum -> scores|scores -> weighted_sum)$": "scores and weighted sum cost the same",
    },
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a mutant may do what PyTorch warns of
        yield
    torch.set_num_threads(threads)


@cache
def mutants_of(name: str) -> list[Mutant]:
    return list(mutants(EXERCISES[name].reference))


@pytest.mark.parametrize("name", EXERCISES)
def test_no_changed_reference_passes(name: str) -> None:
    exercise, reasons = EXERCISES[name], {**EVERYWHERE, **IN_ONE.get(name, {})}
    made = mutants_of(name)
    alive = [mutant.change for mutant in made if passes(exercise, mutant.fn)]
    unexplained = [change for change in alive if not any(re.search(why, change) for why in reasons)]
    assert not unexplained, f"{len(unexplained)} of {len(made)} mutants of {name} pass: {unexplained}"
    assert len(made) >= 10
    idle = [why for why in IN_ONE.get(name, {}) if not any(re.search(why, change) for change in alive)]
    assert not idle, f"no longer needed for {name}: {idle}"


def test_enough_is_changed() -> None:
    changes = [m.change for name in EXERCISES for m in mutants_of(name)]
    assert len(changes) >= 2_000
    assert len(set(changes)) > 1_000
