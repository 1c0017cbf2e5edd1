"""stack_heads as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F


def right(w_heads):
    return torch.cat(list(w_heads), dim=-1)


def entry_by_entry(pick: Callable[..., tuple]) -> Callable:
    """Filled number by number: pick gives head, row and column for a place of the result."""

    def big(w_heads):
        h, d_model, d_k = w_heads.shape
        out = torch.zeros(d_model, h * d_k)
        for row in range(d_model):
            for column in range(h * d_k):
                out[row, column] = w_heads[pick(row, column, h=h, d_model=d_model, d_k=d_k)]
        return out

    return big


def written_into_blocks(block: Callable[[torch.Tensor, int], torch.Tensor]) -> Callable:
    """One block of columns after the other; block(w_heads, i) is what stands in the i-th."""

    def big(w_heads):
        h, d_model, d_k = w_heads.shape
        out = torch.empty(d_model, h * d_k, dtype=w_heads.dtype)
        for i in range(h):
            out[:, i * d_k : (i + 1) * d_k] = block(w_heads, i)
        return out

    return big


def appended_rows(w_heads):
    rows = []
    for matrix in w_heads:
        for row in matrix:
            rows.append(row)
    return torch.stack(rows)


def turned_then_joined(w_heads):
    out = []
    for matrix in w_heads:
        out.append(matrix.T.reshape(matrix.shape))
    return torch.cat(out, 1)


def overwritten(w_heads):
    total = torch.zeros_like(w_heads[0])
    for matrix in w_heads:
        total = total + matrix
    return total


def on_the_diagonal(w_heads):
    h, rows, columns = w_heads.shape
    out = torch.zeros(h * rows, h * columns)
    for i, matrix in enumerate(w_heads):
        out[i * rows : (i + 1) * rows, i * columns : (i + 1) * columns] = matrix
    return out


def rows_of_columns(w_heads):
    h, d_model, d_k = w_heads.shape
    columns = [w_heads[i, :, j] for i in range(h) for j in range(d_k)]
    return torch.stack(columns)


WRONG = [
    ("reshape-without-transpose", lambda w: w.flatten().view(w.shape[1], -1)),
    ("reshape-without-transpose", lambda w: torch.from_numpy(np.reshape(w.numpy(), (w.shape[1], -1)))),
    ("below-each-other", lambda w: torch.cat(list(w), 0)),
    ("below-each-other", appended_rows),
    ("columns-interleaved", lambda w: torch.stack(list(w), -1).reshape(w.shape[1], -1)),
    ("columns-interleaved", entry_by_entry(lambda row, c, h, d_model, d_k: (c % h, row, c // h))),
    ("heads-reversed", lambda w: torch.cat(list(w)[::-1], 1)),
    ("heads-reversed", written_into_blocks(lambda w, i: w[len(w) - 1 - i])),
    ("first-head-for-all", lambda w: torch.cat([w[0] for _ in w], 1)),
    ("first-head-for-all", written_into_blocks(lambda w, i: w[0])),
    ("sum-for-stack", overwritten),
    ("sum-for-stack", lambda w: torch.einsum("hdk->dk", w)),
    ("mean-for-stack", lambda w: overwritten(w) / len(w)),
    ("mean-for-stack", lambda w: torch.from_numpy(np.mean(w.numpy(), axis=0))),
    ("transposed", lambda w: torch.cat([matrix.T for matrix in w], 0)),
    ("transposed", rows_of_columns),
    (
        "each-transposed",
        lambda w: w.permute(2, 0, 1).permute(1, 0, 2).transpose(0, 1).reshape(w.shape[1], -1),
    ),
    ("each-transposed", lambda w: torch.einsum("hdk->khd", w).reshape(w.shape[1], -1)),
    ("block-diagonal", on_the_diagonal),
    (
        "block-diagonal",
        lambda w: sum(torch.kron(F.one_hot(torch.tensor(i), len(w)).diag(), m) for i, m in enumerate(w)),
    ),
    ("still-three-axes", lambda w: torch.stack(list(w), 1)),
    ("still-three-axes", lambda w: w.permute(1, 0, 2)),
]

RIGHT = [
    right,
    written_into_blocks(lambda w, i: w[i]),
    entry_by_entry(lambda row, c, h, d_model, d_k: (c // d_k, row, c % d_k)),
    lambda w: torch.cat(list(w), dim=1),
    lambda w: torch.column_stack(w.unbind()),
    lambda w: torch.hstack(tuple(w)),
    lambda w: w.permute(1, 0, 2).flatten(1),
    lambda w: torch.einsum("hdk->dhk", w).reshape(w.shape[1], -1),
    lambda w: torch.from_numpy(np.concatenate(w.numpy(), axis=1)),
    lambda w: w.swapaxes(0, 1).contiguous().view(w.size(1), w.size(0) * w.size(2)),
    lambda w: torch.stack([torch.cat([matrix[row] for matrix in w]) for row in range(w.shape[1])]),
    lambda w: torch.cat([matrix.T for matrix in w]).T,
    lambda w: sum(F.pad(m, (i * w.shape[2], (len(w) - 1 - i) * w.shape[2])) for i, m in enumerate(w)),
]


def second_forgotten(w_heads):
    out = torch.zeros(w_heads.shape[1], w_heads.shape[0] * w_heads.shape[2])
    out[:, : w_heads.shape[2]] = w_heads[0]
    return out


UNLISTED = [
    (r"[Tt]he rows run backwards", lambda w: right(w).flip(0)),
    (r"[Tt]he columns run backwards", lambda w: right(w).flip(1)),
    (r"[Ii]n each head the columns run backwards", lambda w: right(w.flip(2))),
    (
        r"In head 2 the rows run backwards",
        lambda w: torch.cat([m.flip(0) if i == 1 else m for i, m in enumerate(w)], 1),
    ),
    (
        r"Heads 1 and 2 have changed places",
        lambda w: right(w[[1, 0, *range(2, len(w))][: len(w)] if len(w) > 1 else [0]]),
    ),
    (r"heads are rotated", lambda w: right(w.roll(1, 0))),
    (r"columns are rotated", lambda w: right(w).roll(1, 1)),
    (r"rows are rotated", lambda w: right(w).roll(-1, 0)),
    (r"Head 3 stands in the place of every head", lambda w: w[-1].repeat(1, len(w))),
    (r"heads take turns.*Head 1 stands in the place", lambda w: w[0].repeat_interleave(len(w), 1)),
    (r"[Oo]nly head 1 is there; heads 2 and 3", lambda w: w[0]),
    (r"[Oo]nly head 3 is there", lambda w: w[-1]),
    (r"[Hh]ead 3 is missing|[Cc]olumns 8 to 11 are missing", lambda w: right(w[: max(1, len(w) - 1)])),
    (r"Row 4 is missing", lambda w: right(w)[:-1]),
    (r"[Cc]olumn.* missing", lambda w: right(w)[:, :-1]),
    (r"as it came: nothing", lambda w: w),
    (r"axes are `\(h, d_k, d_model\)`", lambda w: w.mT),
    (r"axes are `\(d_model, d_k, h\)`", lambda w: w.permute(1, 2, 0)),
    (r"axes are `\(d_k, h \* d_model\)`", lambda w: torch.cat([m.T for m in w], 1)),
    (r"axes are `\(h, d_model \* d_k\)`", lambda w: w.flatten(1)),
    (r"axes are `\(h \* d_model \* d_k\)`", lambda w: w.flatten()),
    (r"come in the order `\(d_k, d_model, h\)`", lambda w: w.transpose(0, 2).reshape(w.shape[1], -1)),
    (r"Row `\[0\]` of the result mixes rows", lambda w: w.mT.reshape(w.shape[1], -1)),
    (r"heads are multiplied with each other", lambda w: w.prod(0)),
    (r"heads are reduced to the largest", lambda w: w.amax(0)),
    (r"heads are added up, and that stands", lambda w: w.sum(0).repeat(1, len(w))),
    (r"columns are added up", lambda w: w.sum(2)),
    (r"Every number is 0.3333 times", lambda w: right(w) / 3),
    (r"opposite sign", lambda w: -right(w)),
    (r"off by the same amount", lambda w: right(w) + 0.5),
    (r"Negative numbers have become 0", lambda w: right(w).clamp(min=0)),
    (r"Negative numbers have lost", lambda w: right(w).abs()),
    (r"numbers are 0, and stand between", lambda w: torch.block_diag(*w).T),
    (r"zeros are put on at the edge", lambda w: F.pad(right(w), (0, 0, 0, 1))),
    (r"Heads 2 and 3 are 0 throughout", second_forgotten),
    (r"an axis of size 1 too many", lambda w: right(w)[None]),
    (r"axis of rows has size 1, and it is gone", lambda w: right(w).squeeze()),
    (r"an axis of size 1 too many", lambda w: right(w)[:, :, None]),
    (r"list; a tensor|list", lambda w: [matrix.T.tolist() for matrix in w]),
    (r"3 things, tensors of shape", lambda w: tuple(w)),
    (r"stops with an error", lambda w: torch.cat(w, 1)[0, 0, 0, 0]),
    (r"`5` stands in the code", lambda w: w.transpose(0, 1).reshape(5, -1)),
]


def one_column_apart(w_heads):
    h, d_model, d_k = w_heads.shape
    big = w_heads.new_zeros(d_model, h * d_k)
    for i in range(h):
        big[:, i : i + d_k] = w_heads[i]
    return big


UNLISTED += [("blocks lie over one another", one_column_apart)]
