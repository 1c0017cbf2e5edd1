"""The heads of the real model on the course's own treebank, from its recorded attention.

No model is needed. There is no untrained control, since none was recorded, and the rarest word is asked over
words: nobody counted pieces.
"""

from __future__ import annotations

from functools import lru_cache

from mha_course.models.real_head_measures import MERGED, measure_read
from mha_course.models.real_head_roles import RealHeadRoles
from mha_course.models.recorded_heads import RecordedHeads, recorded_heads
from mha_course.text.treebank import merged_relations
from mha_course.text.word_frequency import treebank_word_counts

NOTE = (
    "Words: weights to the pieces of a word summed, from them averaged, special tokens dropped, the word "
    "itself left out but for rare words. Neighbours, special and broad: word pieces."
)


@lru_cache(maxsize=2)
def recorded_head_roles(recorded: RecordedHeads | None = None) -> RealHeadRoles:
    """The roles of a recorded model's heads on the sentences that were recorded.

    recorded: None takes those in data/. About two seconds, then kept. Rare relations come up too seldom
    there for a verdict; `real_head_roles` has those of a large treebank.

    Raises: FileNotFoundError when data/ is missing.
    """
    recorded = recorded_heads() if recorded is None else recorded
    sentences = [merged_relations(sentence, MERGED) for sentence in recorded.sentences]
    reads = (recorded.read(i) for i in range(len(sentences)))
    measured = measure_read(reads, sentences, treebank_word_counts())
    return measured.roles(recorded.name, "the course's own treebank, every fourth sentence", NOTE)
