"""How far two blind annotations of the same 40 sentences agree.

    python benchmarks/treebank_agreement.py

LAS: same head and same relation. UAS: same head. Shares of all words, punctuation included.
"""

from __future__ import annotations

from collections.abc import Sequence

from mha_course.data_files import data_path
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.text.treebank import read_conllu


def agreement(first: Sequence[ParsedSentence], second: Sequence[ParsedSentence]) -> dict[str, float]:
    """Shares of words with the same head and relation, the same head, and the same part of speech.

    Raises: ValueError when the sentences differ in their words.
    """
    if [s.words for s in first] != [s.words for s in second]:
        raise ValueError("the two annotations are of different sentences.")
    pairs = list(zip(first, second, strict=True))
    words = sum(len(one) for one, _ in pairs)

    def same(*fields: str) -> float:
        return sum(_alike(one, other, fields) for one, other in pairs) / words

    return {"LAS": same("heads", "relations"), "UAS": same("heads"), "UPOS": same("upos")}


def _alike(one: ParsedSentence, other: ParsedSentence, fields: tuple[str, ...]) -> int:
    columns = [zip(getattr(one, field), getattr(other, field), strict=True) for field in fields]
    return sum(all(a == b for a, b in word) for word in zip(*columns, strict=True))


if __name__ == "__main__":
    both = [read_conllu(data_path(f"treebank/agreement_{which}.conllu")) for which in ("first", "second")]
    for name, share in agreement(*both).items():
        print(f"{name} {share:.1%} of {sum(map(len, both[0]))} words in {len(both[0])} sentences")
