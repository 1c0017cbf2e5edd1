"""Masks: how they join, which way round they are read, what numbers and empty rows do, and padding."""

from __future__ import annotations

import math

import torch

from mha_course.attention import masked_softmax
from mha_course.interview.proof import Shown, proof
from mha_course.masks import causal_mask, padding_mask
from mha_course.models.random_layer import random_layer


@proof
def masks_are_joined_before_the_softmax() -> Shown:
    """Causal & padding is (b, 1, n, n); applied before softmax rows sum to 1, applied after they don't."""
    scores = torch.randn(3, 4, 6, 6, generator=torch.Generator().manual_seed(0))
    may = causal_mask(6) & padding_mask([6, 4, 5])
    assert may.shape == (3, 1, 6, 6), "one table a sentence, the same for every head"
    weights, late = masked_softmax(scores, may), scores.softmax(dim=-1) * may
    assert (weights[~may.expand_as(weights)] == 0).all(), "hidden weights should be exactly 0"
    assert torch.allclose(weights.sum(dim=-1), torch.ones(3, 4, 6)), "rows should sum to 1"
    louder = scores.masked_fill(~may, 5.0)  # other scores at hidden places only
    early_moved = (masked_softmax(louder, may) - weights).abs().max().item()
    late_moved = (louder.softmax(dim=-1) * may - late).abs().max().item()
    assert early_moved == 0 < 0.1 < late_moved, "after softmax the hidden scores should still count"
    sums = {"smallest row sum, masked after": late.sum(-1).min().item()}
    moved = {"hidden scores move it, before": early_moved, "hidden scores move it, after": late_moved}
    return Shown("A mask belongs before the softmax.", sums | moved)


@proof
def future_tokens_must_not_matter() -> Shown:
    """Change token 4 of 7: behind the right mask outputs 0 to 3 stay, 4 to 6 move; reversed, it leaks."""
    x = torch.randn(2, 7, 12, generator=torch.Generator().manual_seed(1))
    changed, layer, may = x.clone(), random_layer(12, h=3), causal_mask(7)
    changed[:, 4] += 1

    def moved(mask: torch.Tensor) -> torch.Tensor:
        return (layer(changed, mask=mask) - layer(x, mask=mask)).abs().amax(dim=(0, 2))

    right, reversed_ = moved(may), moved(~may)
    assert layer(x, mask=~may).shape == layer(x, mask=may).shape, "the shape tells nothing"
    assert (right[:4] == 0).all(), "the past should not move at all"
    assert (right[4:] > 0).all(), "the token itself and what follows should move"
    assert (reversed_[:5] > 0).all() and (reversed_[5:] == 0).all(), "reversed, the past reads it"
    numbers = {"right mask: past moves by": right[:4].max().item()}
    numbers["reversed mask: past moves by"] = reversed_[:4].max().item()
    return Shown("The test of a causal mask: change the future and look at the past.", numbers)


@proof
def an_added_mask_of_ones_hides_nothing() -> Shown:
    """Added 0/1 numbers leave a hidden key 1/e of an allowed key's weight; added logarithms hide it."""
    may = torch.tensor([True, True, False, True, False])
    scores = torch.zeros(5)  # all keys equally good
    added = (scores + may.float()).softmax(dim=-1)
    ratio = (added[~may] / added[may][0]).max().item()
    assert abs(ratio - 1 / math.e) < 1e-6, "a hidden key should keep 1/e of the weight"
    assert abs(added.sum() - 1) < 1e-6, "the row sums to 1 all the same"
    logarithm = (scores + may.float().log()).softmax(dim=-1)
    assert torch.equal(logarithm, masked_softmax(scores[None], may[None])[0]), "log(0/1) should hide"
    on_hidden = added[~may].sum().item()
    numbers = {"hidden key against allowed key": ratio, "weight on both hidden keys": on_hidden}
    return Shown("A 0/1 mask that is added leaks.", numbers | {"with 0 and −∞": float(logarithm[~may].sum())})


@proof
def an_empty_row_poisons_gradients() -> Shown:
    """One row with no key, left out of the loss: added −∞ still ruins W_Q's gradient, a guard doesn't."""
    generator = torch.Generator().manual_seed(2)
    x, w = torch.randn(6, 8, generator=generator), torch.randn(8, 8, generator=generator)
    may = causal_mask(6) & torch.tensor([False, True, True, True, True, True])  # row 0 is empty

    def added(scores: torch.Tensor) -> torch.Tensor:
        return (scores + may.float().log()).softmax(dim=-1).nan_to_num()  # NaN replaced, too late

    spoiled = {}
    for name, weigh in (("−∞ added, NaN replaced", added), ("guarded", lambda s: masked_softmax(s, may))):
        w_q = w.clone().requires_grad_()
        (weigh(x @ w_q @ x.T) @ x)[1:].square().sum().backward()  # row 0 is not in the loss
        spoiled[f"{name}: share of NaN in the gradient"] = w_q.grad.isnan().float().mean().item()
    assert list(spoiled.values()) == [1.0, 0.0], "NaN should reach all of W_Q, or none of it"
    return Shown("0 · NaN is NaN: one empty row is enough.", spoiled)


@proof
def hiding_padding_columns_is_enough() -> Shown:
    """Scramble the padding: real outputs stay while its columns are hidden, in each of two layers."""
    generator = torch.Generator().manual_seed(3)
    x, noise = torch.randn(2, 2, 7, 12, generator=generator)
    layer, keep = random_layer(12, h=3), padding_mask([7, 5])
    real = keep[:, 0, 0]
    scrambled = torch.where(real[..., None], x, 100 * noise)
    rows = layer.trace(x, mask=keep).weights.sum(dim=-1)
    assert torch.allclose(rows, torch.ones(2, 3, 7)), "rows of padding should sum to 1, too"
    moved = {}
    for name, second in (("hidden in both layers", keep), ("hidden in layer 1 only", None)):
        before, after = (layer(layer(inputs, mask=keep), mask=second) for inputs in (x, scrambled))
        moved[f"{name}: real outputs move by"] = (before - after)[real].abs().max().item()
    both, first_only = moved.values()
    assert both == 0 < 0.01 < first_only, "each layer should need the mask"
    return Shown("Other padding, same sentence: every layer needs the mask.", moved)


@proof
def padding_has_to_leave_the_loss() -> Shown:
    """Padding hidden as keys still gets a gradient, until the loss leaves its positions out."""
    generator = torch.Generator().manual_seed(4)
    x, wanted = torch.randn(2, 2, 7, 12, generator=generator)
    layer, keep = random_layer(12, h=3), padding_mask([7, 4])
    real = keep[:, 0, 0]  # (b, n): the same mask, now for the loss
    x.requires_grad_()
    error = (layer(x, mask=keep) - wanted).square().mean(dim=-1)  # (b, n)
    careless = torch.autograd.grad(error.mean(), x, retain_graph=True)[0][~real].abs().max().item()
    careful = torch.autograd.grad(error[real].mean(), x)[0][~real].abs().max().item()
    assert careful == 0 < careless, "the gradient at the padding should vanish with the loss mask only"
    numbers = {"gradient at padding, mean over 14": careless, "mean over the 11 real ones": careful}
    return Shown("Sentences of 7 and 4 tokens: the padding counts until the loss leaves it out.", numbers)
