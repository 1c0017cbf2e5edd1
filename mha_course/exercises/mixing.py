"""What a result mixes that should stay apart: tokens in a row, sentences in a sentence."""

from __future__ import annotations

import numpy as np

from mha_course.exercises.axis_maps import names, plural
from mha_course.exercises.coded_axes import Axes
from mha_course.exercises.evidence import in_a_row
from mha_course.exercises.witness import counted


def mixed(axes: Axes, codes: np.ndarray) -> str:
    """For one that can't be read axis by axis: what each row of the result mixes."""
    rows = codes.reshape(-1, codes.shape[-1]) if codes.ndim else codes.reshape(1, -1)
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
