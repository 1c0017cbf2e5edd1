"""How frequent the words of the treebank are in English, from a table in data/treebank.

The table was taken from wordfreq (Speer 2022), whose data may be shared under CC BY-SA 4.0, by

    pip install wordfreq==3.1.1
    python -m mha_course.text.word_frequency
"""

from __future__ import annotations

import json
from functools import lru_cache

from mha_course.data_files import data_path
from mha_course.text.treebank import course_treebank

TABLE = "treebank/word_frequencies.json"


@lru_cache(maxsize=1)
def treebank_word_counts() -> dict[str, int]:
    """Occurrences of each treebank word, in small letters, among a billion words of English; 0 when unseen.

    Raises: FileNotFoundError when data/ is missing.
    Source: Speer 2022 (wordfreq 3.1.1, large list).
    """
    return json.loads(data_path(TABLE).read_text(encoding="utf-8"))["per_billion"]


def write_table() -> None:
    """Look up every word of the treebank in wordfreq and write the table."""
    from wordfreq import word_frequency  # for whoever makes the table again; no lesson needs it

    words = sorted({word.lower() for sentence in course_treebank() for word in sentence.words})
    table = {
        "source": "wordfreq 3.1.1 (Speer 2022), English, large list; CC BY-SA 4.0",
        "per_billion": {word: round(word_frequency(word, "en", "large") * 1e9) for word in words},
    }
    path = data_path("treebank") / "word_frequencies.json"
    path.write_text(json.dumps(table, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_table()
