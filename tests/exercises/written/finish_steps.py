"""finish_steps as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import heapq
from collections import deque
from functools import partial
from itertools import accumulate

import numpy as np
import torch


def simulated(answers, seats, *, first=1, back=False, note="end", room=None):
    """Every step written out, seat by seat."""
    queue = deque(range(len(answers)))
    table = [None] * (seats if room is None else room(seats))
    left, begun, done = list(answers), {}, {}
    step = first - 1
    while len(done) < len(answers):
        step += 1
        for s in range(len(table)):
            if table[s] is None and queue:
                table[s] = queue.pop() if back else queue.popleft()
                begun[table[s]] = step
            if table[s] is None:
                continue
            left[table[s]] -= 1
            if left[table[s]] == 0:
                done[table[s]] = step
                table[s] = None
    found = done if note == "end" else begun
    return [found[i] for i in range(len(answers))]


def by_heap(answers, seats, *, gap=0, of=lambda start, end: end, order=None):
    free, done = [0] * seats, [0] * len(answers)
    for i in order(answers) if order else range(len(answers)):
        start = heapq.heappop(free)
        end = start + answers[i]
        done[i] = of(start, end)
        heapq.heappush(free, max(end + gap, start))
    return done


def by_sorted_list(answers, seats, *, end=lambda done: done):
    taken, done = [0] * seats, []
    for answer in answers:
        taken.sort()
        taken[0] = taken[0] + answer
        done.append(taken[0])
    return end(done)


def by_numpy(answers, seats):
    free, done = np.zeros(seats, dtype=int), []
    for answer in answers:
        seat = int(free.argmin())
        free[seat] += answer
        done.append(int(free[seat]))
    return done


def by_tensor(answers, seats):
    free, done = torch.zeros(seats, dtype=torch.long), []
    for answer in answers:
        seat = free.argmin()
        free[seat] += answer
        done.append(free[seat].item())
    return done


def by_running(answers, seats, *, skip=False, static=False):
    queue, running, done, step = list(enumerate(answers)), [], [None] * len(answers), 0
    while queue or running:
        if not static or not running:
            while queue and len(running) < seats:
                running.append(list(queue.pop(0)))
        step += 1
        for entry in running if skip else running[:]:
            entry[1] -= 1
            if entry[1] == 0:
                done[entry[0]] = step
                running.remove(entry)
    return done


def recursive(answers, seats, free=None):
    free = sorted(free or [0] * seats)
    if not answers:
        return []
    end = free[0] + answers[0]
    return [end, *recursive(answers[1:], seats, [end, *free[1:]])]


def static(answers, seats, *, own=True):
    done, start = [], 0
    while len(done) < len(answers):
        batch = answers[len(done) : len(done) + seats]
        longest = max(batch)
        done.extend(start + (a if own else longest) for a in batch)
        start += longest
    return done


def dealt(answers, seats):
    ends = [0] * seats
    done = []
    for i, a in enumerate(answers):
        ends[i % seats] += a
        done.append(ends[i % seats])
    return done


def dealt_by_slices(answers, seats):
    done = [0] * len(answers)
    for s in range(seats):
        done[s::seats] = accumulate(answers[s::seats])
    return done


def blocks(answers, seats):
    per_seat = (len(answers) + seats - 1) // seats
    done = []
    for i, a in enumerate(answers):
        done.append(a if i % per_seat == 0 else done[-1] + a)
    return done


def blocks_by_slices(answers, seats):
    size = -(-len(answers) // seats)
    return [x for at in range(0, len(answers), size) for x in accumulate(answers[at : at + size])]


def gapped(answers, seats):
    free, done = [1] * seats, []
    for a in answers:
        s = min(range(seats), key=free.__getitem__)
        done.append(free[s] + a - 1)
        free[s] += a + 1
    return done


def early(answers, seats):
    free, done = [0] * seats, []
    for a in answers:
        s = min(range(seats), key=free.__getitem__)
        done.append(free[s] + a)
        free[s] = max(free[s], free[s] + a - 1)
    return done


def shortest(answers):
    return sorted(range(len(answers)), key=lambda i: answers[i])


def longest(answers):
    return sorted(range(len(answers)), key=lambda i: answers[i], reverse=True)


def by_order(answers, seats, of):
    order = of(answers)
    done = by_numpy([answers[i] for i in order], seats)
    return [done[order.index(i)] for i in range(len(answers))]


def times(seats):
    return seats - 1 or 1


WRONG = [
    ("waits-for-the-slowest", static),
    ("waits-for-the-slowest", partial(by_running, static=True)),
    ("done-with-the-batch", partial(static, own=False)),
    (
        "done-with-the-batch",
        lambda a, s: [sum(max(a[k : k + s]) for k in range(0, i + 1, s)) for i in range(len(a))],
    ),
    ("one-after-another", lambda a, s: list(accumulate(a))),
    ("one-after-another", lambda a, s: [sum(a[: i + 1]) for i in range(len(a))]),
    ("everyone-at-once", lambda a, s: list(a)),
    ("everyone-at-once", lambda a, s: by_heap(a, len(a))),
    ("counted-from-zero", partial(simulated, first=0)),
    ("counted-from-zero", partial(by_heap, of=lambda start, end: end - 1)),
    ("a-step-between", partial(by_heap, gap=1)),
    ("a-step-between", gapped),
    ("in-the-same-step", partial(by_heap, gap=-1)),
    ("in-the-same-step", early),
    ("dealt-round", dealt),
    ("dealt-round", dealt_by_slices),
    ("first-token", partial(simulated, note="start")),
    ("first-token", partial(by_heap, of=lambda start, end: start + 1)),
    ("steps-waited", partial(by_heap, of=lambda start, end: start)),
    ("steps-waited", lambda a, s: [end - n for end, n in zip(by_numpy(a, s), a, strict=True)]),
    ("shortest-first", partial(by_heap, order=shortest)),
    ("shortest-first", lambda a, s: by_order(a, s, shortest)),
    ("longest-first", partial(by_heap, order=longest)),
    ("longest-first", lambda a, s: by_order(a, s, longest)),
    ("queue-from-behind", partial(simulated, back=True)),
    ("queue-from-behind", lambda a, s: by_numpy(a[::-1], s)[::-1]),
    ("in-order-of-finishing", partial(by_sorted_list, end=sorted)),
    ("in-order-of-finishing", lambda a, s: sorted(simulated(a, s))),
    ("who-finishes", partial(by_sorted_list, end=lambda d: sorted(range(len(d)), key=d.__getitem__))),
    ("who-finishes", lambda a, s: np.argsort(by_numpy(a, s), kind="stable").tolist()),
    ("a-seat-too-many", partial(simulated, room=lambda seats: seats + 1)),
    ("a-seat-too-many", lambda a, s: by_heap(a, s + 1)),
    ("a-seat-too-few", partial(simulated, room=times)),
    ("a-seat-too-few", lambda a, s: by_heap(a, max(s - 1, 1))),
    ("in-blocks", blocks),
    ("in-blocks", blocks_by_slices),
    ("skipped-in-the-loop", partial(by_running, skip=True)),
    ("skipped-in-the-loop", lambda a, s: _skipping(a, s)),
]

RIGHT = [simulated, by_heap, by_sorted_list, by_numpy, by_tensor, by_running, recursive]

UNLISTED = [
    ("one number|one whole number|list", lambda a, s: max(by_heap(a, s))),
    ("a step more than it has tokens", lambda a, s: by_heap([n + 1 for n in a], s)),
    ("a step less than it has tokens", lambda a, s: by_heap([n - 1 for n in a], s)),
    ("Steps are counted from 2", lambda a, s: [end + 1 for end in by_heap(a, s)]),
    ("in reverse order", lambda a, s: by_heap(a, s)[::-1]),
    ("in the last step of all", lambda a, s: [max(by_heap(a, s))] * len(a)),
    ("fastest request", lambda a, s: _fastest(a, s)),
    ("[Tt]wice as many seats", lambda a, s: by_heap(a, 2 * s)),
    ("your list has 2 entries", lambda a, s: by_heap(a, s)[:s]),
    ("With one seat", lambda a, s: [end + (s == 1) for end in by_heap(a, s)]),
    ("wanted is", lambda a, s: [end + (i > 3) * i for i, end in enumerate(by_heap(a, s))]),
    ("request 7", lambda a, s: [end + (i > 5) for i, end in enumerate(by_heap(a, s))]),
    ("a tensor|NumPy|list", lambda a, s: dict(enumerate(by_heap(a, s)))),
    ("nothing", lambda a, s: by_heap(a, s).sort()),
]


def _skipping(answers, seats):
    left, waiting, seated, done, step = dict(enumerate(answers)), list(range(len(answers))), [], {}, 0
    while len(done) < len(answers):
        seated += waiting[: seats - len(seated)]
        waiting = [i for i in waiting if i not in seated]
        step += 1
        k = 0
        while k < len(seated):
            left[seated[k]] -= 1
            if left[seated[k]] == 0:
                done[seated[k]] = step
                del seated[k]
            k += 1
    return [done[i] for i in range(len(answers))]


def _fastest(answers, seats):
    done, start = [], 0
    for at in range(0, len(answers), seats):
        batch = answers[at : at + seats]
        done += [start + a for a in batch]
        start += min(batch)
    return done
