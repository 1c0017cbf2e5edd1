"""What the heads of a real model follow when words are shuffled, recorded: data/real_heads/shuffled.json.

Made by

    python -m mha_course.models.real_heads_shuffled

which needs the model itself (data/README.md says where it is had). Fifty sentences of the written treebank,
each shuffled once; the same model with random weights reads the same shuffles.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import torch

from mha_course.attention_maps import AttentionMaps
from mha_course.data_files import DATA_FOLDER, data_path
from mha_course.heads.shuffled import Followed, followed_over
from mha_course.models.recorded_heads import recorded_heads

FILE = "real_heads/shuffled.json"
SENTENCES, SEED = 50, 0


@dataclass(frozen=True, eq=False)
class RealHeadsShuffled:
    """trained, untrained: counts of every head, see `Followed`. sentences: how many were shuffled."""

    trained: Followed
    untrained: Followed
    sentences: int


@lru_cache(maxsize=1)
def real_heads_shuffled() -> RealHeadsShuffled:
    """The recorded counts of all-MiniLM-L6-v2. Raises: FileNotFoundError when data/ is missing."""
    read = json.loads(data_path(FILE).read_text(encoding="utf-8"))
    parts = [
        Followed(**{name: torch.tensor(rows) for name, rows in read[which].items()})
        for which in ("trained", "untrained")
    ]
    return RealHeadsShuffled(*parts, read["sentences"])


@torch.no_grad()
def shuffle_heads(sentences: int = SENTENCES, seed: int = SEED) -> RealHeadsShuffled:
    """Count again, with the model. Raises: ValueError when it can't be had."""
    from mha_course.models.pretrained.record import checked_minilm

    model = checked_minilm()
    words = [sentence.words for sentence in recorded_heads().sentences[:sentences]]
    counts = []
    for one in (model, model.untrained()):

        def attend(given: Sequence[str], one: object = one) -> AttentionMaps:
            return one.attend(list(given), special=False, words=True)

        counts.append(followed_over(attend, words, seed))
    return RealHeadsShuffled(*counts, len(words))


def write_shuffled(found: RealHeadsShuffled) -> None:
    """Write the file: a list of numbers by layer for each count."""
    form: dict[str, object] = {"sentences": found.sentences}
    for name in ("trained", "untrained"):
        counts = getattr(found, name)
        form[name] = {
            f.name: [[round(n, 3) for n in row] for row in getattr(counts, f.name).tolist()]
            for f in fields(counts)
        }
    text = json.dumps(form, separators=(",", ":"))
    (DATA_FOLDER / FILE).write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_shuffled(shuffle_heads())
