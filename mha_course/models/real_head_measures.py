"""Measuring the heads of a pretrained model on a treebank: words, pieces and habits in one go.

The choices, since roles come and go with them:

- Over words: the treebank's own words; weight to a word is the sum over its pieces, weight from it the mean;
  special tokens are dropped and nothing is rescaled. Three times over: the word itself left out, the word
  itself allowed, and special tokens allowed to win (the word itself left out).
- Over pieces: neighbours on the pieces of the treebank's words, with special tokens dropped and allowed to
  win; rare pieces on the text as it was written. A piece may answer with itself.
- Habits and resemblance: rows of all pieces but special ones, over all pieces, special ones included.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mha_course.heads.criteria import RAREST, Criterion, Questions, criteria_of, questions
from mha_course.heads.habits import HABITS, Habits
from mha_course.heads.head_table import HeadTable
from mha_course.heads.nearest_word import NearestWord, nearest_words
from mha_course.heads.piece_criteria import piece_questions
from mha_course.heads.resemblance import Resemblance, head_resemblance
from mha_course.heads.roles import RoleScores
from mha_course.heads.table_of_scores import head_table
from mha_course.models.counted_reads import CountedReads
from mha_course.models.pretrained.cutting import cut
from mha_course.models.pretrained.model import PretrainedModel
from mha_course.models.real_head_roles import RealHeadRoles
from mha_course.pieces import PieceMaps
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.text.treebank import TreebankSentence, merged_relations

FEWEST_WORDS, MOST_WORDS, SENTENCES, SHUFFLE_SEED = 6, 40, 1_000, 0
# Subtypes that say little about where a word is; all others stay relations of their own.
MERGED = {
    "nsubj:pass": "nsubj",
    "nsubj:outer": "nsubj",
    "aux:pass": "aux",
    "obl:unmarked": "obl",
    "obl:tmod": "obl",
    "obl:npmod": "obl",
}
NOTE = (
    "Words: weights to the pieces of a word summed, from them averaged, special tokens dropped, the word "
    "itself left out. Neighbours, rare, special and broad: word pieces."
)

NOTE_SELF = "Words, as in the main table, but each word may answer with itself."
NOTE_SPECIAL = (
    "Words and neighbouring pieces, but where a special token has the largest weight the answer is no word; "
    "over words the word itself is left out."
)


@dataclass(frozen=True, eq=False)
class RealHeads:
    """Everything measured of one model.

    words, words_self, words_special: scores over words by the three choices. words_mean: over words with the
    mean over the pieces of a word, rare words alone. neighbours, neighbours_special: over pieces. rare: over
    pieces of the text as written, or None. habits: with those of the control, which may be None.
    resemblance: of the heads. nearest: the rule that knows parts of speech. n_words, n_pieces: how many there
    were.
    """

    words: RoleScores
    words_self: RoleScores
    words_special: RoleScores
    words_mean: RoleScores
    neighbours: RoleScores
    neighbours_special: RoleScores
    rare: RoleScores | None
    habits: Habits
    control_habits: Habits | None
    resemblance: Resemblance
    nearest: Mapping[str, NearestWord]
    n_words: int
    n_pieces: int

    def table(self, model: str, source: str, note: str = NOTE) -> HeadTable:
        """The table of all roles, words left out of their own answers."""
        pieces = [self.neighbours] + ([] if self.rare is None else [self.rare])
        return head_table(
            *(*pieces, self.words),
            habits=self.habits,
            control_habits=self.control_habits,
            nearest={name: rule.held for name, rule in self.nearest.items()},
            model=model,
            source=source,
            note=note,
        )

    def roles(self, model: str, source: str, note: str = NOTE) -> RealHeadRoles:
        """All that is kept of it: tables by each choice, habits, resemblance and the artefact."""
        untrained = self.control_habits
        return RealHeadRoles(
            self.table(model, source, note),
            head_table(self.words_self, model=model, source=source, note=NOTE_SELF),
            head_table(
                *(self.neighbours_special, self.words_special), model=model, source=source, note=NOTE_SPECIAL
            ),
            {habit: self.habits.mean(habit) for habit in HABITS},
            {} if untrained is None else {habit: untrained.mean(habit) for habit in HABITS},
            self.resemblance,
            self.resemblance.test(),
            _best_untrained(self.words),
            _best_untrained(self.words_mean),
            self.n_words,
            self.n_pieces,
        )


def choose_sentences(
    treebank: Sequence[TreebankSentence],
    count: int = SENTENCES,
    fewest: int = FEWEST_WORDS,
    most: int = MOST_WORDS,
    merged: Mapping[str, str] = MERGED,
) -> list[TreebankSentence]:
    """The sentences that are measured: those of a middling length, shuffled by a fixed seed, the first ones.

    merged: relations that go under another name.
    """
    able = [sentence for sentence in treebank if fewest <= len(sentence.parsed) <= most]
    random.Random(SHUFFLE_SEED).shuffle(able)
    return [TreebankSentence(merged_relations(s.parsed, merged), s.text) for s in able[:count]]


def count_words(treebank: Sequence[TreebankSentence]) -> Counter[str]:
    """How often each word occurs, in small letters."""
    return Counter(word.lower() for sentence in treebank for word in sentence.parsed.words)


def count_pieces(model: PretrainedModel, treebank: Sequence[TreebankSentence]) -> Counter[int]:
    """How often the model's tokenizer gives each piece, by its id."""
    return Counter(i for sentence in treebank for i in cut(model.tokenizer, sentence.text, model.longest).ids)


def measure_heads(
    model: PretrainedModel,
    sentences: Sequence[TreebankSentence],
    word_counts: Mapping[str, int],
    piece_counts: Mapping[int, int],
    control: PretrainedModel | None = None,
    batch: int = 32,
) -> RealHeads:
    """Score all heads of an encoder on parsed sentences.

    word_counts: by word in small letters; piece_counts: by id of the tokenizer; what isn't there counts 0.
    control: the same model with random weights (`model.untrained()`), None for none.

    Raises: ValueError for fewer than two sentences, and as the model's `read_many`.
    """
    parsed = [sentence.parsed for sentence in sentences]
    texts = [sentence.text for sentence in sentences]
    words = [list(sentence.words) for sentence in parsed]
    asked = [_asked_of_pieces(model, text, piece_counts) for text in texts]
    untrained = (None, None)
    if control is not None:
        untrained = (control.read_many(words, batch), control.read_many(texts, batch))
    as_written = (model.read_many(texts, batch), asked)
    return measure_read(
        model.read_many(words, batch), parsed, word_counts, untrained[0], as_written, untrained[1]
    )


def measure_read(
    read: Iterable[PieceMaps],
    sentences: Sequence[ParsedSentence],
    word_counts: Mapping[str, int],
    control: Iterable[PieceMaps] | None = None,
    as_written: tuple[Iterable[PieceMaps], Sequence[Questions]] | None = None,
    control_as_written: Iterable[PieceMaps] | None = None,
) -> RealHeads:
    """Score all heads of a model that has read parsed sentences.

    read: the attention of each sentence, read word by word. word_counts: by word in small letters. control:
    the same of an untrained model. as_written: the attention of the sentences as they were written, and the
    questions to their pieces; without it rare pieces are not scored, and rare words take their place.

    Raises: ValueError for fewer than two sentences, and when sentences and attention don't go together.
    """
    if len(sentences) < 2:
        raise ValueError("one half of the sentences picks, the other judges: at least two are needed.")
    criteria = criteria_of(sentences)
    asked = [questions(sentence, criteria, word_counts) for sentence in sentences]
    own = _counted(read, asked, criteria, as_written)
    other = None
    if control is not None:
        written = None if as_written is None else (control_as_written, as_written[1])
        other = _counted(control, asked, criteria, written)
    names = [name for name in own.counters if name != "rare" or as_written is not None]

    def scores(name: str) -> RoleScores:
        counter = own.counters[name]
        untrained = None if other is None else other.counters[name].hits()
        return RoleScores(counter.criteria, counter.hits(), untrained)

    return RealHeads(
        **{"rare": None, **{name: scores(name) for name in names}},
        habits=own.habits(),
        control_habits=None if other is None else other.habits(),
        resemblance=head_resemblance(own.compared, own.compared_special),
        nearest=nearest_words(sentences, criteria),
        n_words=sum(map(len, sentences)),
        n_pieces=own.n_pieces,
    )


def _asked_of_pieces(model: PretrainedModel, text: str, counts: Mapping[int, int]) -> Questions:
    cut_text = cut(model.tokenizer, text, model.longest)
    real = [i for i, word in enumerate(cut_text.word_of) if word is not None]
    return piece_questions([cut_text.labels[i] for i in real], [counts.get(cut_text.ids[i], 0) for i in real])


def _counted(
    read: Iterable[PieceMaps],
    asked: Sequence[Questions],
    criteria: Sequence[Criterion],
    as_written: tuple[Iterable[PieceMaps], Sequence[Questions]] | None,
) -> CountedReads:
    counted = CountedReads(criteria)
    for one, about in zip(read, asked, strict=True):
        counted.add(one, about)
    if as_written is not None:
        for one, about in zip(*as_written, strict=True):
            counted.add_as_written(one, about)
    return counted


def _best_untrained(scores: RoleScores) -> float:
    """The best untrained head's share of "rarest word", over all sentences; nan without a control."""
    names = [criterion.name for criterion in scores.criteria]
    if scores.control is None or RAREST not in names:
        return float("nan")
    i = names.index(RAREST)
    share = scores.control.heads[..., i].sum(0) / scores.control.asked[:, i].sum()
    return float(share.max())
