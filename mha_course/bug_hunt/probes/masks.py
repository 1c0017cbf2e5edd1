"""What the mask does: blocked keys, a row with nothing to attend to, the future."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.bug_hunt.finding import Finding, Table, number, rows_of
from mha_course.bug_hunt.probes.dependence import STILL
from mha_course.bug_hunt.probing import drawn, moved, registered
from mha_course.bug_hunt.suspect import Suspect
from mha_course.masks import causal_mask

_MAP = "First map of sentence 1"


@registered(
    "blocked",
    "Blocked keys",
    "A mask blocks the last two keys for every query. How much weight do they get, and do they matter?",
)
def blocked(layer: Suspect) -> Finding:
    """Block two keys, and change the tokens behind them."""
    given = drawn(layer)
    mask = torch.ones(given.n, given.n, dtype=torch.bool)
    mask[:, -2:] = False
    output, weights = layer.look(given.x, mask)
    changed = given.x.clone()
    changed[:, -2:] = given.other[:, -2:]
    move = moved(layer(changed, mask)[:, :-2], output[:, :-2])
    on_blocked, on_open = (weights[..., keys].sum(-1).mean().item() for keys in (slice(-2, None), slice(-2)))
    return Finding(
        f"Keys {given.n - 2} and {given.n - 1} are blocked. A row has a weight of {number(on_blocked)} on "
        f"them and {number(on_open)} on the open keys (mean). When the two tokens change, the other outputs "
        f"move by {number(move)} at most.",
        {
            "weight on blocked keys": on_blocked,
            "weight on open keys": on_open,
            "move of the other outputs": move,
        },
        _map(weights, mask),
    )


@registered(
    "empty_row",
    "A row that sees nothing",
    "The mask leaves query 3 no key at all. What do its weights, its output and the gradients become?",
)
def empty_row(layer: Suspect) -> Finding:
    """Block a whole row of the mask."""
    given = drawn(layer)
    mask = torch.ones(given.n, given.n, dtype=torch.bool)
    mask[3] = False
    others = [0, 1, 2, *range(4, given.n)]
    with torch.enable_grad():
        output, weights = layer.look(given.x, mask)
        # The loss doesn't read the row itself, as no loss should.
        (output * given.other)[:, others].sum().backward()
    output, weights = output.detach(), weights.detach()
    own, rest = weights[..., 3, :].sum(-1).mean().item(), weights[..., others, :].sum(-1).mean().item()
    largest = output[:, 3].abs().max().item()
    grads = [p.grad.flatten() for p in layer.parameters() if p.grad is not None]
    poisoned = torch.cat(grads).isnan().float().mean().item()
    return Finding(
        f"Query 3 may look at nothing. Its weights sum to {number(own)}, those of the other rows to "
        f"{number(rest)}. The largest number in its output is {number(largest)}. A loss on the other rows "
        f"gives gradients of which {poisoned:.0%} are nan.",
        {
            "sum of the empty row": own,
            "sum of the other rows": rest,
            "largest number in its output": largest,
            "share of nan in the gradients": poisoned,
        },
        _map(weights, mask),
    )


@registered(
    "future",
    "Under the causal mask",
    "With a causal mask, one token after another is replaced. Do later outputs move, or earlier ones?",
)
def future(layer: Suspect) -> Finding:
    """Change each token under a causal mask."""
    given, n = drawn(layer), drawn(layer).n
    mask = causal_mask(n)
    before = layer(given.x, mask)
    rows = []
    for i in range(n):
        changed = given.x.clone()
        changed[:, i] = given.other[:, i]
        rows.append((layer(changed, mask) - before).abs().amax((0, 2)).tolist())
    moving = torch.tensor(rows) > STILL
    earlier, rest = int(moving.tril(-1).sum()), int(moving.triu().sum())
    pairs = n * (n - 1) // 2
    return Finding(
        f"Of the {pairs} outputs that stand before a changed token {earlier} move; of the {pairs + n} at or "
        f"behind it {rest} do.",
        {"outputs before the change that move": earlier, "outputs at or behind it that move": rest},
        Table("How far each output moves", rows_of(rows), "changed token ↓", "output →"),
    )


def _map(weights: Tensor, mask: Tensor) -> Table:
    """The first map of the first sentence, with what the mask blocks."""
    first = weights[0, 0] if weights.ndim == 4 else weights[0]
    cells = frozenset((int(i), int(j)) for i, j in (~mask).nonzero())
    return Table(_MAP, rows_of(first.tolist()), "query ↓", "key →", cells)
