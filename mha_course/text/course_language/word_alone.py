"""How much of the gloss a word tells by itself: the rule to beat for whatever looks at other words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from mha_course.text.course_language.gloss import PARTS, gloss
from mha_course.text.course_language.grammar import CourseSentence

# What `right_by_word_alone` gives for 40,000 sentences to count and 1,500 to ask; recorded, since counting
# takes half a minute.
WORD_ALONE = {"stem": 0.692, "ending": 0.561, "mutation": 0.550, "liaison": 0.555}


def right_by_word_alone(
    counted: Iterable[CourseSentence], asked: Iterable[CourseSentence]
) -> dict[str, float]:
    """The share of right answers by part when every word gets its most frequent answer.

    counted: sentences in which answers are counted. asked: sentences that are answered. A word that was
    never counted is wrong.
    """
    answers: dict[str, dict[str, Counter[int]]] = {part: defaultdict(Counter) for part in PARTS}
    for sentence in counted:
        right = gloss(sentence)
        for part in PARTS:
            for word, answer in zip(sentence.words, getattr(right, part), strict=True):
                answers[part][word][answer] += 1
    best = {
        part: {word: found.most_common(1)[0][0] for word, found in words.items()}
        for part, words in answers.items()
    }
    hits, words = dict.fromkeys(PARTS, 0), 0
    for sentence in asked:
        right, words = gloss(sentence), words + len(sentence.words)
        for part in PARTS:
            pairs = zip(sentence.words, getattr(right, part), strict=True)
            hits[part] += sum(best[part].get(word) == answer for word, answer in pairs)
    return {part: count / words for part, count in hits.items()}
