"""What a result mixes that should stay apart: tokens in a row, sentences in a sentence."""

from __future__ import annotations

import numpy as np

from mha_course.exercises.evidence import in_a_row
from mha_course.exercises.reading.axis_maps import names, plural
from mha_course.exercises.reading.coded_axes import Axes
from mha_course.exercises.witness import counted


def mixed(axes: Axes, codes: np.ndarray) -> str:
    """For one that can't be read axis by axis: what each row of the result mixes."""
    if codes.ndim < 2:
        return ""
    rows = codes.reshape(-1, codes.shape[-1])
    digits = axes.digits(rows)
    order = [i for i in axes.order if axes.words[i] not in ("feature", "column") and axes.sizes[i] > 1]
    meant = {"head"} if axes.groups[-1] > 1 else set()
    mixes = [
        i for i in order if axes.words[i] not in meant and (digits[i] != digits[i][:, :1]).any(axis=1).any()
    ]
    if not mixes:
        return _blended(axes, codes)
    i = mixes[-1]
    row = int(np.argmax((digits[i] != digits[i][:, :1]).any(axis=1)))
    index = np.unravel_index(row, codes.shape[:-1])
    there = sorted(set(digits[i][row].tolist()))
    whole = [axes.words[k] for k in order if k not in mixes and axes.words[k] not in meant]
    stay = f" {in_a_row([plural(word) for word in whole]).capitalize()} stay apart." if whole else ""
    where = ", ".join(str(int(k)) for k in index)
    shown = " and ".join(str(counted(axes.words[i], k)) for k in there[:2]) if len(there) == 2 else None
    which = f"{plural(axes.words[i])} {shown}" if shown else names(axes.words[i], there)
    return f"Row `[{where}]` of the result mixes {plural(axes.words[i])}: it holds numbers of {which}.{stay}"


def _blended(axes: Axes, codes: np.ndarray) -> str:
    """A sentence, head or token of the result that holds numbers of several; the first axis with one."""
    if codes.size != len(axes.source):
        return ""
    order = axes.order
    digits = axes.digits(codes.reshape([axes.sizes[i] for i in order]))
    for axis, i in enumerate(order[:-1]):
        for k in range(axes.sizes[i]):
            there = np.unique(digits[i].take(k, axis=axis)).tolist()
            if len(there) > 1:
                the = names(axes.words[i], [k])
                return f"What should be {the} holds numbers of {names(axes.words[i], there)}."
    return ""


def right_parts(axes: Axes, codes: np.ndarray) -> str:
    """Heads, sentences or tokens that are right while others are not; "" when there are none."""
    wrong = codes.reshape([axes.sizes[i] for i in axes.order]) != axes.right()
    for axis, i in enumerate(axes.order):
        fine = [k for k in range(axes.sizes[i]) if not wrong.take(k, axis=axis).any()]
        if fine:
            are = "is" if len(fine) == 1 else "are"
            return f"{names(axes.words[i], fine).capitalize()} {are} right, the others are not."
    return ""


def lost_numbers(axes: Axes, codes: np.ndarray) -> str:
    """Which numbers are missing, and that others are there twice; whole heads, tokens, ... by name."""
    there = np.zeros(len(axes.source), dtype=int)
    np.add.at(there, codes.ravel(), 1)
    if (there == 1).all():
        return "Every number of the input is there once, in another place."
    lost = (there == 0).reshape(axes.sizes)
    gone = []
    for axis, word in enumerate(axes.words):
        other = tuple(a for a in range(lost.ndim) if a != axis)
        whole = [int(k) for k in np.flatnonzero(lost.all(axis=other))]
        if whole and axes.sizes[axis] > 1:
            gone.append(names(word, whole))
    missing = f"{int(lost.sum())} of {len(axes.source)} numbers of the input are missing"
    missing += f" (all of {' and of '.join(gone)})" if gone else ""
    twice = int((there > 1).sum())
    more = f"; {twice} stand there more than once" if twice else ""
    return f"{missing if lost.any() else 'No number is missing'}{more}."
