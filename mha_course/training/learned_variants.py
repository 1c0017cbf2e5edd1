"""What the leaderboard's trained variants learned: which heads a word chooses, and what meeting heads do.

    >>> from mha_course.training.learned_variants import composing_taken_away, heads_chosen, talk_taken_away
    >>> heads_chosen("upos")          # do words of one class choose the same heads?
    >>> talk_taken_away()             # the loss without some of what talking heads say to each other
    >>> composing_taken_away()        # the loss without some branches of dynamic composition

Everything is measured on sentences that no model was trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from mha_course.models.gloss_model import GlossModel
from mha_course.models.one_thread import one_thread
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.training.gloss_batches import GlossData
from mha_course.training.gloss_without_heads import held_out_glosses
from mha_course.training.kept_answers import contents
from mha_course.training.kept_rows import kept_gloss_row
from mha_course.training.leaderboard import Row, Setting, held_out_loss, model_of
from mha_course.training.record import CONTROL_SEED
from mha_course.training.scored_sentences import scored_sentences
from mha_course.variants.composable import Composition, DynamicComposition
from mha_course.variants.mixture_of_heads import MixtureOfHeads, Routing

Label = Literal["upos", "words", "relations", "place"]
_CHOSEN: dict[Hashable, tuple[tuple[Tensor, ...], ...]] = {}


@dataclass(frozen=True)
class HeadsChosen:
    """How well a token's label tells which routed heads it chooses, for one layer, counted from 1.

    Each number is a share of the chosen heads that was foretold, on the second half of the sentences.
    by_label: the K heads that tokens of this label chose most often in the first half. by_all: the K heads
    chosen most often there, whatever the label. shuffled: as by_label, the first half's labels shuffled.
    shares: how often each routed head is chosen, over all tokens. trained False: a model with random weights.
    """

    layer: int
    trained: bool
    by_label: float
    by_all: float
    shuffled: float
    shares: tuple[float, ...]


def heads_chosen(label: Label = "upos", model: GlossModel | None = None, seed: int = 0) -> list[HeadsChosen]:
    """Whether tokens with the same label choose the same heads, layer by layer, trained and untrained.

    label: "upos" is the word class, "words" the word itself, "relations" the grammatical relation, "place"
    the place in the sentence. model: None takes the leaderboard's mixture. seed: of the shuffled labels.
    Raises: ValueError for another label, and for a model without a mixture of heads.
    """
    if label not in ("upos", "words", "relations", "place"):
        raise ValueError(f"label={label!r} can be 'upos', 'words', 'relations' or 'place'.")
    sentences = scored_sentences()
    labels = [_labels(sentence, label) for sentence in sentences]
    trained = kept_gloss_row("mixture") if model is None else model
    untrained = model_of(Row("mixture", 8), Setting(), CONTROL_SEED).eval()
    found = []
    for one, is_trained in ((trained, True), (untrained, False)):
        for layer, chosen in enumerate(_chosen(one), 1):
            found.append(HeadsChosen(layer, is_trained, *_foretold(chosen, labels, seed), _shares(chosen)))
    return found


def _chosen(model: GlossModel) -> tuple[tuple[Tensor, ...], ...]:
    """For each layer the choices (n, routed) in every one of the `scored_sentences`: to be read only.

    A model that was asked before is not asked again, for other labels or for the same.
    """
    made_of = contents(model)
    if made_of is None or made_of not in _CHOSEN:
        every = routings_of(model, scored_sentences())
        chosen = tuple(tuple(routing.chosen[0] for routing in layer) for layer in every)
        if made_of is None:
            return chosen
        if len(_CHOSEN) >= 8:
            del _CHOSEN[next(iter(_CHOSEN))]
        _CHOSEN[made_of] = chosen
    return _CHOSEN[made_of]


class _EnoughError(Exception):
    """The last layer has chosen its heads; what it does with them is not asked for."""


@torch.no_grad()
def routings_of(model: GlossModel, sentences: Sequence[ParsedSentence]) -> list[list[Routing]]:
    """For each layer the routing of every sentence. Raises: ValueError for a model without a mixture."""
    layers = [block.attention for block in model.encoder.layers]
    if not all(isinstance(layer, MixtureOfHeads) for layer in layers):
        raise ValueError("this model has layers without a mixture of heads, in which no head is chosen.")
    found: list[list[Routing]] = [[] for _ in layers]

    def note(place: int) -> Callable:
        def choose(layer: MixtureOfHeads, args: tuple) -> None:
            found[place].append(layer.routing(args[0]))
            if place == len(layers) - 1:
                raise _EnoughError

        return choose

    hooks = [layer.register_forward_pre_hook(note(place)) for place, layer in enumerate(layers)]
    try:
        with one_thread():
            for sentence in sentences:
                with suppress(_EnoughError):
                    model(torch.tensor([model.vocabulary.encode(sentence.words)]))
    finally:
        for hook in hooks:
            hook.remove()
    return found


def talk_taken_away(
    model: GlossModel | None = None, data: GlossData | None = None, seed: int = 0
) -> dict[str, float]:
    """The held-out loss of talking heads with other P_scores and P_weights, by what was done to them.

    "off-diagonal shuffled" keeps the sizes of what the heads say to each other, not who says what to whom.
    model: None takes the leaderboard's. data: None takes 300 sentences. seed: of the shuffling.
    """
    model = kept_gloss_row("talking") if model is None else model
    g = torch.Generator().manual_seed(seed)

    def alone(shares: Tensor) -> Tensor:
        return torch.diag(shares.diagonal())

    def shuffled(shares: Tensor) -> Tensor:
        off = ~torch.eye(len(shares), dtype=torch.bool)
        made = shares.clone()
        made[off] = shares[off][torch.randperm(int(off.sum()), generator=g)]
        return made

    done = {
        "as trained": (_same, _same),
        "scores not mixed": (alone, _same),
        "weights not mixed": (_same, alone),
        "neither mixed": (alone, alone),
        "off-diagonal shuffled": (shuffled, shuffled),
    }
    losses = {}
    for words, (of_scores, of_weights) in done.items():
        made = deepcopy(model)
        for block in made.encoder.layers:
            talking = block.attention
            talking.p_scores.data = of_scores(talking.p_scores.data)
            talking.p_weights.data = of_weights(talking.p_weights.data)
        losses[words] = _loss(made, data)
    return losses


def composing_taken_away(
    model: GlossModel | None = None, data: GlossData | None = None, seed: int = 0
) -> dict[str, float]:
    """The held-out loss of composable heads without some branches, by what was taken away.

    "another token's" composes every token with what some other token of the batch says, and "their mean" with
    the mean over tokens: the branches are then as large as before, and no longer about the token at hand.
    model: None takes the leaderboard's. data: None takes 300 sentences. seed: of the other tokens.
    """
    model = kept_gloss_row("composable") if model is None else model
    g = torch.Generator().manual_seed(seed)

    def static(part: DynamicComposition) -> None:
        if part.w_b is not None:
            part.w_b.data = torch.eye(part.h)

    def low_rank(part: DynamicComposition) -> None:
        part.w_2.data[:, :, part.rank :] = 0

    def gates(part: DynamicComposition) -> None:
        part.d.data.zero_()

    def dynamic(part: DynamicComposition) -> None:
        low_rank(part)
        gates(part)

    def everything(part: DynamicComposition) -> None:
        part.at_identity()

    def of_another(part: DynamicComposition) -> None:
        _replaced(
            part, lambda x: x.flatten(0, 1)[torch.randperm(x.shape[0] * x.shape[1], generator=g)].view_as(x)
        )

    def of_mean(part: DynamicComposition) -> None:
        _replaced(part, lambda x: x.mean((0, 1), keepdim=True).expand_as(x))

    done: dict[str, tuple[Callable, Callable]] = {
        "as trained": (_same, _same),
        "no composing of scores": (everything, _same),
        "no composing of weights": (_same, everything),
        "no composing": (everything, everything),
        "without the static part": (static, static),
        "without low rank": (low_rank, low_rank),
        "without gates": (gates, gates),
        "static part only": (dynamic, dynamic),
        "dynamic parts: another token's": (of_another, of_another),
        "dynamic parts: their mean": (of_mean, of_mean),
    }
    losses = {}
    for words, (of_before, of_after) in done.items():
        made = deepcopy(model)
        for block in made.encoder.layers:
            of_before(block.attention.before)
            of_after(block.attention.after)
        losses[words] = _loss(made, data)
    return losses


def _replaced(part: DynamicComposition, change: Callable[[Tensor], Tensor]) -> None:
    """What the tokens say about composing goes through `change` (b, n, ...) -> the same shape."""
    side = part.side

    def other(x: Tensor, which: int) -> Composition:
        said = side(x, which)
        # One order for all three, so that they still belong to one token.
        together = torch.cat([said.w_1.flatten(2), said.w_2.flatten(2), said.g], dim=-1)
        w_1, w_2, g = change(together).split([part.rank * part.h] * 2 + [part.h], dim=-1)
        return Composition(w_1.view_as(said.w_1), w_2.view_as(said.w_2), g)

    part.side = other


def _same(part: object) -> object:
    return part


def _loss(model: GlossModel, data: GlossData | None) -> float:
    with one_thread():
        return held_out_loss(model, held_out_glosses() if data is None else data)


def _labels(sentence: ParsedSentence, label: Label) -> tuple[object, ...]:
    return tuple(range(len(sentence.words))) if label == "place" else tuple(getattr(sentence, label))


def _foretold(
    chosen: Sequence[Tensor], labels: Sequence[tuple[object, ...]], seed: int
) -> tuple[float, float, float]:
    half = len(chosen) // 2
    first, second = (torch.cat(list(part)).double() for part in (chosen[:half], chosen[half:]))
    known, asked = ([one for part in parts for one in part] for parts in (labels[:half], labels[half:]))
    order = torch.randperm(len(known), generator=torch.Generator().manual_seed(seed))
    mixed_up = [known[i] for i in order]
    by_label = _share_foretold(first, known, second, asked)
    by_all = _share_foretold(first, [None] * len(known), second, [None] * len(asked))
    return by_label, by_all, _share_foretold(first, mixed_up, second, asked)


def _share_foretold(first: Tensor, known: list, second: Tensor, asked: list) -> float:
    """Share of the second half's choices among the heads that its label chose most in the first half."""
    k = int(first[0].sum())
    places: dict[object, list[int]] = {}
    for i, one in enumerate(known):
        places.setdefault(one, []).append(i)
    # A label that the first half doesn't have gets the heads that are chosen most of all.
    favourites = {one: first[where].mean(0).topk(k).indices for one, where in places.items()}
    most = first.mean(0).topk(k).indices
    expected = torch.stack([favourites.get(one, most) for one in asked])
    return float(second.gather(1, expected).sum()) / (k * len(asked))


def _shares(chosen: Sequence[Tensor]) -> tuple[float, ...]:
    return tuple(torch.cat(list(chosen)).double().mean(0).tolist())
