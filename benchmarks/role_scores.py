"""How long scoring the heads of a model takes, against plain loops over heads, sentences and words.

    python benchmarks/role_scores.py

6 layers of 12 heads on 1,000 sentences of the course language, attention maps drawn at random: the time does
not depend on what the heads do. The loops do the same counts for a part of the sentences; their time is
scaled up. Both run on one thread in the same process.
"""

from __future__ import annotations

import platform
import time
from collections import Counter

import torch

from mha_course.heads.criteria import criteria_of, questions
from mha_course.heads.hits import count_hits
from mha_course.heads.roles import score_roles
from mha_course.text.course_language.grammar import draw_sentences

LAYERS, HEADS, SENTENCES, LOOPED = 6, 12, 1_000, 25


def looped(weights: list[torch.Tensor], sentences: list, criteria: list, counts: Counter) -> torch.Tensor:
    """The hits of every head, one head, one sentence, one question at a time."""
    hits = torch.zeros(len(sentences), LAYERS, HEADS, len(criteria))
    for i, sentence in enumerate(sentences):
        asked = questions(sentence, criteria, counts)
        for layer in range(LAYERS):
            for head in range(HEADS):
                a = weights[i][layer, head]
                for k, row in enumerate(asked.row.tolist()):
                    c, values = int(asked.criterion[k]), a[row].clone()
                    if criteria[c].kind != "rare":
                        values[row] = -1.0
                    hits[i, layer, head, c] += float(asked.targets[k, values.argmax()])
    return hits


def main() -> None:
    torch.set_num_threads(1)
    sentences = [s.parsed for s in draw_sentences(SENTENCES, seed=1)]
    counts = Counter(word for sentence in sentences for word in sentence.words)
    g = torch.Generator().manual_seed(0)
    weights = [torch.randn(LAYERS, HEADS, len(s), len(s), generator=g).softmax(-1) for s in sentences]
    start = time.perf_counter()
    scores = score_roles(weights, sentences, counts)
    scores.found()
    fast = time.perf_counter() - start
    criteria = criteria_of(sentences)
    start = time.perf_counter()
    slow_hits = looped(weights[:LOOPED], sentences[:LOOPED], criteria, counts)
    slow = (time.perf_counter() - start) * SENTENCES / LOOPED
    same = torch.equal(slow_hits, count_hits(weights[:LOOPED], sentences[:LOOPED], criteria, counts).heads)
    words = sum(map(len, sentences))
    print(f"{platform.processor() or platform.machine()}, torch {torch.__version__}, 1 thread")
    print(f"{LAYERS} x {HEADS} heads, {SENTENCES:,} sentences, {words:,} words, {len(criteria)} criteria")
    print(f"scores with intervals: {fast:.2f} s; loops: {slow:.0f} s (from {LOOPED} sentences)")
    print(f"{slow / fast:.0f} times faster, same counts: {same}")


if __name__ == "__main__":
    main()
