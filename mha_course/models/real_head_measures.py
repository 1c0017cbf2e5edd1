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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.heads.criteria import RAREST, Criterion, Questions, criteria_of, questions
from mha_course.heads.habits import HABITS, Habits, count_habits
from mha_course.heads.head_table import HeadTable
from mha_course.heads.hits import HitCounter
from mha_course.heads.nearest_word import NearestWord, nearest_words
from mha_course.heads.piece_criteria import PIECE_CRITERIA, piece_questions
from mha_course.heads.resemblance import Resemblance, head_resemblance
from mha_course.heads.roles import RoleScores
from mha_course.heads.table_of_scores import head_table
from mha_course.models.pretrained.cutting import cut
from mha_course.models.pretrained.model import PretrainedModel
from mha_course.models.real_head_roles import RealHeadRoles
from mha_course.pieces import PieceMaps, pieces_to_words, word_matrix
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
COMPARED = 200  # sentences for the resemblance of heads, which costs most
MARKS = frozenset(".,")
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
    pieces of the text as written. habits: with those of the control, which may be None. resemblance: of the
    heads. nearest: the rule that knows parts of speech. n_words, n_pieces: how many there were.
    """

    words: RoleScores
    words_self: RoleScores
    words_special: RoleScores
    words_mean: RoleScores
    neighbours: RoleScores
    neighbours_special: RoleScores
    rare: RoleScores
    habits: Habits
    control_habits: Habits | None
    resemblance: Resemblance
    nearest: Mapping[str, NearestWord]
    n_words: int
    n_pieces: int

    def table(self, model: str, source: str, note: str = NOTE) -> HeadTable:
        """The table of all roles, words left out of their own answers."""
        return head_table(
            *(self.neighbours, self.rare, self.words),
            habits=self.habits,
            control_habits=self.control_habits,
            nearest={name: rule.held for name, rule in self.nearest.items()},
            model=model,
            source=source,
            note=note,
        )

    def roles(self, model: str, source: str) -> RealHeadRoles:
        """All that is kept of it: tables by each choice, habits, resemblance and the artefact."""
        untrained = self.control_habits
        return RealHeadRoles(
            self.table(model, source),
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
    if len(sentences) < 2:
        raise ValueError("one half of the sentences picks, the other judges: at least two are needed.")
    criteria = tuple(criteria_of([sentence.parsed for sentence in sentences]))
    asked = _Asked(model, sentences, criteria, word_counts, piece_counts)
    own = _Run(model, sentences, criteria, asked, batch)
    other = None if control is None else _Run(control, sentences, criteria, asked, batch)

    def scores(name: str) -> RoleScores:
        counter: HitCounter = own.counters[name]
        untrained = None if other is None else other.counters[name].hits()
        return RoleScores(counter.criteria, counter.hits(), untrained)

    return RealHeads(
        **{name: scores(name) for name in own.counters},
        habits=own.habits(),
        control_habits=None if other is None else other.habits(),
        resemblance=head_resemblance(own.compared, own.compared_special),
        nearest=nearest_words([sentence.parsed for sentence in sentences], criteria),
        n_words=sum(len(sentence.parsed) for sentence in sentences),
        n_pieces=own.n_pieces,
    )


class _Asked:
    """What is asked of each sentence, the same for the model and its control."""

    def __init__(
        self,
        model: PretrainedModel,
        sentences: Sequence[TreebankSentence],
        criteria: Sequence[Criterion],
        word_counts: Mapping[str, int],
        piece_counts: Mapping[int, int],
    ) -> None:
        self.words = [questions(sentence.parsed, criteria, word_counts) for sentence in sentences]
        self.rare_words = [_only(asked, criteria, RAREST) for asked in self.words]
        self.pieces: list[Questions] = []
        for sentence in sentences:
            cut_text = cut(model.tokenizer, sentence.text, model.longest)
            real = [i for i, word in enumerate(cut_text.word_of) if word is not None]
            often = [piece_counts.get(cut_text.ids[i], 0) for i in real]
            self.pieces.append(piece_questions([cut_text.labels[i] for i in real], often))


class _Run:
    """One model reads all sentences, in words and as written, and is counted while it does."""

    def __init__(
        self,
        model: PretrainedModel,
        sentences: Sequence[TreebankSentence],
        criteria: tuple[Criterion, ...],
        asked: _Asked,
        batch: int,
    ) -> None:
        both = ("positional", "rare")
        rarest = tuple(criterion for criterion in criteria if criterion.name == RAREST)
        self.counters = {
            "words": HitCounter(criteria, spread=False),
            "words_self": HitCounter(criteria, ("positional", "syntactic", "rare"), spread=False),
            "words_special": HitCounter(criteria, spread=False),
            "words_mean": HitCounter(rarest, spread=False),
            "neighbours": HitCounter(PIECE_CRITERIA, both, spread=False),
            "neighbours_special": HitCounter(PIECE_CRITERIA, both, spread=False),
            "rare": HitCounter(PIECE_CRITERIA, both, spread=False),
        }
        self.n_pieces = 0
        self.compared: list[Tensor] = []
        self.compared_special: list[list[int]] = []
        self._habits: list[Habits] = []
        words = [list(sentence.parsed.words) for sentence in sentences]
        for i, read in enumerate(model.read_many(words, batch)):
            self._words(read, asked.words[i], asked.rare_words[i])
            self._pieces(read)
        for i, read in enumerate(model.read_many([sentence.text for sentence in sentences], batch)):
            real, _ = _places(read)
            weights = read.maps.weights[..., real, :][..., real]
            self.counters["rare"].add(weights, asked.pieces[i])

    def habits(self) -> Habits:
        """The habits over all sentences."""
        return Habits(
            torch.cat([part.totals for part in self._habits]), torch.cat([part.rows for part in self._habits])
        )

    def _words(self, read: PieceMaps, asked: Questions, rare: Questions) -> None:
        weights, n = read.maps.weights, len(read.words_q)
        _, special = _places(read)
        by_word = pieces_to_words(weights, read.query_words, n_query_words=n)
        self.counters["words"].add(by_word, asked)
        self.counters["words_self"].add(by_word, asked)
        rows = word_matrix(read.query_words, weights.shape[-1], n, "mean")
        to_special = rows @ weights[..., special]
        rivals = to_special.amax(-1) if special else torch.zeros(to_special.shape[:-1])
        self.counters["words_special"].add(by_word, asked, rivals)
        mean = pieces_to_words(weights, read.query_words, to="mean", n_query_words=n)
        self.counters["words_mean"].add(mean, rare)

    def _pieces(self, read: PieceMaps) -> None:
        weights = read.maps.weights
        real, special = _places(read)
        pieces = [read.maps.query_tokens[i] for i in real]
        asked, inner = piece_questions(pieces), weights[..., real, :][..., real]
        self.n_pieces += len(real)
        self.counters["neighbours"].add(inner, asked)
        to_special = weights[..., real, :][..., special]
        rivals = to_special.amax(-1) if special else torch.zeros(to_special.shape[:-1])
        self.counters["neighbours_special"].add(inner, asked, rivals)
        marks = [i for i, label in enumerate(read.maps.query_tokens) if label in MARKS]
        self._habits.append(count_habits([weights], [special], [marks]))
        if len(self.compared) < COMPARED:
            self.compared.append(weights)
            self.compared_special.append(special)


def _places(read: PieceMaps) -> tuple[list[int], list[int]]:
    """The places of pieces of words, and of special tokens."""
    of = read.query_words
    real = [i for i, word in enumerate(of) if word is not None]
    return real, [i for i, word in enumerate(of) if word is None]


def _best_untrained(scores: RoleScores) -> float:
    """The best untrained head's share of "rarest word", over all sentences; nan without a control."""
    names = [criterion.name for criterion in scores.criteria]
    if scores.control is None or RAREST not in names:
        return float("nan")
    i = names.index(RAREST)
    share = scores.control.heads[..., i].sum(0) / scores.control.asked[:, i].sum()
    return float(share.max())


def _only(asked: Questions, criteria: Sequence[Criterion], name: str) -> Questions:
    """The questions of one criterion, which becomes the first and only one."""
    wanted = next((i for i, criterion in enumerate(criteria) if criterion.name == name), -1)
    mine = asked.criterion == wanted
    return Questions(
        torch.zeros(int(mine.sum()), dtype=torch.long), asked.row[mine], asked.targets[mine], asked.longest
    )
