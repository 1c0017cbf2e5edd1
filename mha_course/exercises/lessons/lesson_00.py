"""Exercise of lesson 00: words become ids."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.evidence import Finding, in_a_row
from mha_course.exercises.exercise import Case, Exercise, Mistake, Returned
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.ids import read_ids


def token_ids(tokens: list[str], vocabulary: dict[str, int]) -> list[int]:
    """The id of every token; the id of "<unk>" for a token that the vocabulary lacks."""
    # The list has no gaps: an unknown word keeps its place, or the words after it would move up.
    unknown = vocabulary["<unk>"]
    return [vocabulary.get(token, unknown) for token in tokens]


def _inputs(g: Generator) -> list[Case]:
    # "<unk>" is neither first nor last, ids are not positions, one word comes twice, one is in capitals.
    vocabulary = {
        "<pad>": 0,
        "The": 3,
        "<unk>": 2,
        "old": 7,
        "cat": 5,
        "sleeps": 9,
        "the": 11,
        "on": 13,
        "mat": 6,
        "OK": 4,
    }
    # Another id for unknown words, two of them in a row, and the special entries as tokens.
    other = {"sleeps": 4, "a": 1, "<unk>": 6, "hen": 9, "<pad>": 0}
    known = "the old cat sleeps".split()
    unknown = "The old walrus sleeps on the mat on Friday OK".split()
    return [
        Case("when every word is known", (known, vocabulary)),
        Case("when a word is unknown", (unknown, vocabulary)),
        Case("with another vocabulary", ("A hen naps quietly <pad> <unk> a".split(), other)),
        Case("for an empty sentence", ([], vocabulary), required=False, loud=True, narrower=(_no_ids,)),
    ]


def _no_ids(tokens: list[str], vocabulary: dict[str, int]) -> Tensor:
    """No ids, as a tensor."""
    return torch.empty(0, dtype=torch.int64)


def _in_place(tokens: list[str], vocabulary: dict[str, int]) -> list[int]:
    return [vocabulary.setdefault(token, len(vocabulary)) for token in tokens]


MISTAKES = (
    Mistake(
        "unknown-left-out",
        lambda tokens, vocabulary: [vocabulary[t] for t in tokens if t in vocabulary],
        (
            "Unknown words are left out, so the result has fewer ids than there are tokens. Every token "
            "needs a row of `x`."
        ),
        "what happens to a token that is not in the vocabulary.",
    ),
    Mistake(
        "unknown-is-zero",
        lambda tokens, vocabulary: [vocabulary.get(t, 0) for t in tokens],
        "Unknown words get id 0. That id is taken: it stands for padding.",
        'the entry that the vocabulary keeps for unknown words, `"<unk>"`.',
    ),
    Mistake(
        "unknown-is-minus-one",
        lambda tokens, vocabulary: [vocabulary.get(t, -1) for t in tokens],
        "Unknown words get -1. As an index that is the last row of the embedding, some other word.",
        'the entry that the vocabulary keeps for unknown words, `"<unk>"`.',
    ),
    Mistake(
        "unknown-is-none",
        lambda tokens, vocabulary: [vocabulary.get(t) for t in tokens],
        "Unknown words get `None`, which is no id.",
        "what `dict.get` gives when the key is missing.",
    ),
    Mistake(
        "unknown-stops",
        lambda tokens, vocabulary: [vocabulary[t] for t in tokens],
        "It stops at the first unknown word.",
        "what `vocabulary[token]` does when the key is missing.",
    ),
    Mistake(
        "unknown-grows-the-vocabulary",
        _in_place,
        "Unknown words get new ids, and the vocabulary grows. The embedding has no rows for these ids.",
        "anything that writes into the vocabulary.",
    ),
    Mistake(
        "position-for-id",
        lambda tokens, vocabulary: list(range(len(tokens))),
        "These are the positions in the sentence. The id of a word is the same wherever it stands.",
        "where the numbers come from.",
    ),
    Mistake(
        "rank-for-id",
        lambda tokens, vocabulary: [
            list(vocabulary).index(t) if t in vocabulary else list(vocabulary).index("<unk>") for t in tokens
        ],
        "These are the places of the words in the dictionary, not the ids that it holds.",
        "keys and values of the dictionary.",
    ),
    Mistake(
        "small-letters",
        lambda tokens, vocabulary: [vocabulary.get(t.lower(), vocabulary["<unk>"]) for t in tokens],
        "`The` and `the` get one id. They are two tokens here, each with its own entry.",
        "what is done to a token before it is looked up.",
    ),
    Mistake(
        "each-word-once",
        lambda tokens, vocabulary: [vocabulary.get(t, vocabulary["<unk>"]) for t in dict.fromkeys(tokens)],
        "A word that comes twice gets one id only. There must be one id a token, in order.",
        "`set`, or whatever drops the second one.",
    ),
    Mistake(
        "sorted-ids",
        lambda tokens, vocabulary: sorted(vocabulary.get(t, vocabulary["<unk>"]) for t in tokens),
        "The ids are sorted. They must stand in the order of the tokens.",
        "the order of the result.",
    ),
    Mistake(
        "order-reversed",
        lambda tokens, vocabulary: [vocabulary.get(t, vocabulary["<unk>"]) for t in tokens][::-1],
        "The ids stand in reversed order.",
        "the order of the result.",
    ),
    Mistake(
        "everything-unknown",
        lambda tokens, vocabulary: [vocabulary["<unk>"] for _ in tokens],
        "Every token gets the id of `<unk>`.",
        "what is looked up: the token, or the fallback.",
    ),
)


def _special(case: Case, expected: Outcome, got: Outcome) -> Finding | None:
    """A key that is nearly `<unk>`, or known words right and other ids for the unknown ones."""
    tokens, vocabulary = case.arguments
    if isinstance(got.error, KeyError):
        key = str(got.error.args[0]) if got.error.args else ""
        bare = "".join(letter for letter in key.lower() if letter.isalpha())
        if bare not in ("unk", "unknown") or key == "<unk>" or key in tokens:
            return None
        how = "in small letters" if key == "<UNK>" else "with the brackets"
        line = got.line.replace("`", "'")
        seen = f"It stops with `{got.error_text.replace('`', chr(39))}`" + (
            f", in your {line}" if line else ""
        )
        return Finding("wrong-key", f"The key is `<unk>`, {how}.", seen, "the key that you look up.")
    if got.error is not None or len(got.leaves) != 1 or got.leaves[0].shape != expected.leaves[0].shape:
        return None
    wants, ids = expected.leaves[0].tolist(), got.leaves[0].tolist()
    wrong = [i for i, (want, have) in enumerate(zip(wants, ids, strict=True)) if want != have]
    if not wrong or any(tokens[i] in vocabulary for i in wrong) or not all(isinstance(i, int) for i in ids):
        return None
    given = list(dict.fromkeys(ids[i] for i in wrong))
    i = wrong[0]
    seen = f"Token {i}, `{tokens[i]}`: its id should be `{wants[i]}`, yours is `{ids[i]}`."
    if all(vocabulary.get(tokens[at].lower()) == ids[at] for at in wrong):
        says = "An unknown word gets the id of the same word in small letters. It is another token here."
        return Finding("other-letters", says, seen, "what is looked up when a token is missing.")
    if all(at > 0 and ids[at] == ids[at - 1] for at in wrong):
        says = "Known words are right. An unknown word gets the id of the word before it."
        return Finding("unknown-gets-the-last", says, seen, "what the name holds when nothing was found.")
    if len(given) > 1:
        listed = in_a_row([str(number) for number in given])
        says = f"Known words are right. Unknown words get the ids {listed}; they share one."
        return Finding(
            "unknown-get-several", says, seen, "the entry that the vocabulary keeps for unknown words."
        )
    was = " That was `<unk>` in section 4; here" if given[0] == 1 else " Here"
    says = f"Unknown words get id {given[0]}.{was} the vocabulary says {vocabulary['<unk>']}."
    return Finding(
        "unknown-is-another-id", says, seen, 'the entry `"<unk>"`: look it up with `vocabulary["<unk>"]`.'
    )


EXERCISES = (
    Exercise(
        name="token_ids",
        lesson="00",
        title="Words to ids",
        prompt=(
            "`tokens` is a list of words, `vocabulary` a dictionary from word to id. Return the list of "
            "ids, one a "
            'token, in order. A word that the vocabulary lacks gets the id of `"<unk>"`.'
        ),
        signature="token_ids(tokens, vocabulary) -> ids",
        reference=token_ids,
        inputs=_inputs,
        returns=(Returned("list of ids", ("n",), kind="numbers"),),
        mistakes=MISTAKES,
        hints=(
            "One id for each token, in order. What should happen to a word that nobody foresaw?",
            "`vocabulary[token]` stops at an unknown word. `dict.get` takes a second argument.",
            "unknown = the id of `<unk>`\nfor each token:\n    take its id, or `unknown` if there is none",
        ),
        why=(
            "Each token is looked up by itself, so the result is as long as the sentence. One shared id "
            "for unknown "
            "words keeps every id inside the embedding table."
        ),
        twins=("text.vocabulary.Vocabulary.encode",),
        special=_special,
        readers=(read_ids,),
    ),
)
