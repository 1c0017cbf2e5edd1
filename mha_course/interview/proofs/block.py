"""What stands around attention in a block: residual path, place of the norm, LayerNorm, feed-forward."""

from __future__ import annotations

import torch
from torch import nn

from mha_course.interview.drawn import drawn
from mha_course.interview.proof import Shown, proof
from mha_course.models.depth_trial import likeness
from mha_course.models.random_layer import random_layer
from mha_course.transformer import EncoderLayer, Residual


@proof
def tokens_stay_apart_by_the_residual_path() -> Shown:
    """Six attention layers: with a way around tokens stay apart, without it they become alike."""
    x = torch.randn(2, 9, 24, generator=torch.Generator().manual_seed(0))
    norm = nn.LayerNorm(24).requires_grad_(False)
    around, without, added = x, x, []
    for i in range(6):
        layer = random_layer(d_model=24, h=4, seed=i)
        added.append(layer(norm(around)))
        around, without = around + added[-1], layer(norm(without))
    off = (x + sum(added) - around).abs().max().item()
    assert off < 1e-4, "the stream is not the input plus what the layers added"
    alike = {"with residual path": likeness(around), "without": likeness(without)}
    assert alike["without"] > 0.99 and alike["with residual path"] < 0.8, f"tokens don't differ so: {alike}"
    return Shown(
        "The stream is the input plus everything added; without it all tokens point the same way.",
        {f"mean cosine of two tokens, {name}": cosine for name, cosine in alike.items()},
    )


@proof
def pre_norm_leaves_the_way_around_free() -> Shown:
    """Pre-norm adds to an untouched x, so the stream grows; post-norm rescales it after every sum."""
    x = torch.randn(2, 9, 24, generator=torch.Generator().manual_seed(0))
    pre, post = (Residual(24, place).requires_grad_(False) for place in ("pre", "post"))
    layers = [random_layer(d_model=24, h=4, seed=i) for i in range(8)]
    off = ((pre(x, layers[0]) - x) - (pre(10 * x, layers[0]) - 10 * x)).abs().max().item()
    assert off < 1e-3, "what pre-norm adds depends on the size of x"
    spread = {}
    for name, around in (("pre-norm", pre), ("post-norm", post)):
        stream = x
        for layer in layers:
            stream = around(stream, layer)
        spread[name] = stream.std().item()
    assert spread["pre-norm"] > 1.8 and abs(spread["post-norm"] - 1) < 0.01, f"spreads are {spread}"
    return Shown("After 8 layers the pre-norm stream has grown, the other has spread 1.", spread)


@proof
def a_token_is_normed_by_itself() -> Shown:
    """Change another sentence: LayerNorm doesn't notice, BatchNorm in training does."""
    x = torch.randn(3, 5, 8, generator=torch.Generator().manual_seed(0))
    other = x.clone()
    other[2] = 100.0
    by_token, by_batch = nn.LayerNorm(8), nn.BatchNorm1d(8).train()
    layer_moved = (by_token(other) - by_token(x))[:2].abs().max().item()
    batch_moved = (by_batch(other.mT) - by_batch(x.mT))[:2].abs().max().item()
    assert layer_moved == 0, "LayerNorm looked at another sentence"
    assert batch_moved > 0.1, "BatchNorm did not look at the batch"
    y = by_token(x)
    off = max(y.mean(-1).abs().max().item(), (y.var(-1, unbiased=False) - 1).abs().max().item())
    assert off < 1e-3, "a token has not mean 0 and variance 1"
    assert (by_token(10 * x) - y).abs().max() < 1e-3, "the size of the input shows"
    numbers = {"sentence 1 moved, LayerNorm": layer_moved, "BatchNorm": batch_moved}
    return Shown("Only BatchNorm feels what stands elsewhere in the batch.", numbers)


@proof
def attention_mixes_feed_forward_does_not() -> Shown:
    """One token changes: all outputs of attention move, one of the feed-forward part; and who is larger."""
    block = drawn(lambda: EncoderLayer(d_model=24, h=4))
    x = torch.randn(1, 7, 24, generator=torch.Generator().manual_seed(0))
    other, feed = x.clone(), block.feed_forward
    other[0, 3] += 1
    moved = {}
    for name, part in (("attention", block.attention), ("feed-forward", feed)):
        moved[f"tokens that move, {name}"] = int(((part(other) - part(x))[0].abs().amax(-1) > 1e-6).sum())
    assert list(moved.values()) == [7, 1], f"{moved}"
    bent = feed(x) + feed(-x) - 2 * feed(0 * x)  # 0 for any map that is linear, up to a bias
    assert bent.abs().max() > 0.1, "the feed-forward part is linear"
    w_1, w_2 = feed.w_1.weight.T, feed.w_2.weight.T
    assert torch.allclose(x @ w_1 @ w_2, x @ (w_1 @ w_2), atol=1e-4), "two maps are not one without the ReLU"
    sizes = [sum(w.numel() for w in part.parameters() if w.ndim == 2) for part in (feed, block.attention)]
    share = sizes[0] / sum(sizes)
    assert abs(share - 2 / 3) < 1e-9, f"the feed-forward part holds {share:.2f} of the weights"
    return Shown("Attention mixes tokens; two thirds of the weights don't.", moved | {"their share": share})
