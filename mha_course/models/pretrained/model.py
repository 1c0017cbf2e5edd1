"""A pretrained model and its tokenizer: a text in, its attention out."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.attention_maps import AttentionMaps
from mha_course.models.pretrained.cutting import Pieces, cut
from mha_course.models.pretrained.running import KINDS, Runner
from mha_course.pieces import PieceMaps, pieces_to_words
from mha_course.transformer import TransformerMaps

LONGEST = 512  # pieces; n x n weights for each head would fill the memory beyond
_WINDOW = 8  # batches that are sorted by length together
_MOST_WEIGHTS = 60_000_000  # of one batch, 240 MB

TextOrWords = str | Sequence[str]


@dataclass(frozen=True, eq=False)
class TextPairMaps:
    """The attention of an encoder-decoder for a text and its target, with the words behind the pieces."""

    encoder: PieceMaps
    decoder: PieceMaps
    cross: PieceMaps

    def pieces(self, special: bool = True) -> TransformerMaps:
        """All three over pieces; see `PieceMaps.pieces`."""
        return TransformerMaps(*(getattr(self, kind).pieces(special) for kind in KINDS))

    def words(self, special: bool = False, to: str = "sum", from_: str = "mean") -> TransformerMaps:
        """All three over words; see `PieceMaps.words`."""
        return TransformerMaps(*(getattr(self, kind).words(special, to, from_) for kind in KINDS))


class PretrainedModel:
    """A model of the library transformers whose attention can be read; `load_pretrained` makes them.

    model: for an encoder (BERT), a decoder (GPT-2) or both (Marian, T5), with eager attention. tokenizer:
    its own, of either kind. name: for pictures. writes: whether it can write a target of its own.

    Raises: ValueError when the model hands out no attention weights.
    """

    def __init__(self, model: torch.nn.Module, tokenizer: object, name: str, writes: bool = True) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self._runner = Runner(model, name)
        self._writes = writes and self._runner.can_write
        self.longest = _longest(model.config, tokenizer)

    @property
    def family(self) -> str:
        """ "encoder" (as BERT), "decoder" (as GPT-2) or "encoder-decoder" (as Marian and T5)."""
        return self._runner.family

    @property
    def network(self) -> torch.nn.Module:
        """The library's model itself, to look into its weights."""
        return self._runner.model

    @property
    def n_layers(self) -> int:
        """Layers with attention; of an encoder-decoder, those of its encoder."""
        return self._runner.shape[0]

    @property
    def n_heads(self) -> int:
        """Heads of a layer; of an encoder-decoder, those of its encoder."""
        return self._runner.shape[1]

    def __repr__(self) -> str:
        return f"{self.name}: {self.family}, {self.n_layers} layers with {self.n_heads} heads each"

    def read(self, text: TextOrWords, target: TextOrWords | None = None) -> PieceMaps | TextPairMaps:
        """The attention for a text, over its pieces, with the word of each.

        text: running text, or a list of words, which then stay words. target: for an encoder-decoder, the
        text that the decoder has written so far; None lets the model write it, each time the likeliest
        piece. A text that is too long is cut, and the maps' note says so.

        Raises: ValueError for what is no text, and for a target that is given to an encoder or a decoder,
        or missing for a model that can't write.
        """
        source = cut(self.tokenizer, text, self.longest)
        if self.family != "encoder-decoder":
            if target is not None:
                raise ValueError(f"{self.name} is an {self.family} alone: it takes a text and no target.")
            return next(self._read_cut([source]))
        note = ""
        if target is None:
            target = self._written(source)
            note = "target written by the model, each time the likeliest piece"
        aim = cut(self.tokenizer, target, self.longest - 1, target=True)
        if aim.word_of and aim.word_of[-1] is None:  # the end sign is written, never read
            aim = Pieces(aim.ids[:-1], aim.labels[:-1], aim.word_of[:-1], aim.words, aim.note)
        start = self._runner.start_id
        label = str(self.tokenizer.convert_ids_to_tokens(start))
        aim = Pieces((start, *aim.ids), (label, *aim.labels), (None, *aim.word_of), aim.words, aim.note)
        weights = self._runner.run_pair(source.ids, aim.ids)
        sides = {"encoder": (source, source), "decoder": (aim, aim), "cross": (aim, source)}
        notes = {"encoder": "", "decoder": note, "cross": note}
        return TextPairMaps(
            **{k: _piece_maps(weights[k], *sides[k], k, k == "decoder", notes[k]) for k in KINDS}
        )

    def attend(
        self,
        text: TextOrWords,
        target: TextOrWords | None = None,
        special: bool = True,
        words: bool = False,
    ) -> AttentionMaps | TransformerMaps:
        """The attention for a text, ready for every picture; an encoder-decoder has three of them.

        special: keep what the tokenizer adds ([CLS], </s>); without it nothing is rescaled. words: join the
        pieces of each word (sum of the weights to them, mean of the weights from them). For the rest, and
        what is raised, see `read`.
        """
        read = self.read(text, target)
        return read.words(special) if words else read.pieces(special)

    def read_many(self, texts: Sequence[TextOrWords], batch: int = 32) -> Iterator[PieceMaps]:
        """`read` for many texts, in their order and batched; of an encoder-decoder, its encoder's attention.

        Raises: ValueError for what is no text, and for a batch below 1.
        """
        if batch < 1:
            raise ValueError(f"batch must be at least 1; got {batch}.")
        texts = list(texts)
        for start in range(0, len(texts), batch * _WINDOW):
            window = texts[start : start + batch * _WINDOW]
            yield from self._read_cut([cut(self.tokenizer, text, self.longest) for text in window], batch)

    def weights_over_words(self, sentences: Sequence[Sequence[str]], batch: int = 32) -> Iterator[Tensor]:
        """The attention between the words of many sentences, one (layers, heads, n, n) a sentence.

        sentences: lists of words. Weight to a word is the sum over its pieces, weight from a word the
        mean; special tokens are dropped and nothing is rescaled. A word without a piece has zeros.

        Raises: as `read_many`.
        Source: Clark et al. 2019, section 4.1.
        """
        for read in self.read_many([list(sentence) for sentence in sentences], batch):
            yield pieces_to_words(read.maps.weights, read.query_words, n_query_words=len(read.words_q))

    def untrained(self, seed: int = 0) -> PretrainedModel:
        """The same architecture with random weights, as a control. seed: of these weights."""
        config = copy.deepcopy(self._runner.model.config)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = type(self._runner.model)._from_config(config, attn_implementation="eager")
        return PretrainedModel(model, self.tokenizer, f"{self.name}, random weights", self._writes)

    def _read_cut(self, cuts: list[Pieces], batch: int = 1) -> Iterator[PieceMaps]:
        """Sorted by length for little padding, handed out in order."""
        order = sorted(range(len(cuts)), key=lambda i: len(cuts[i].ids))
        kind = "decoder" if self.family == "decoder" else "encoder"
        done: dict[int, PieceMaps] = {}
        at = 0
        while at < len(order):
            group = order[at : at + batch]
            while len(group) > 1 and self._size(len(group), len(cuts[group[-1]].ids)) > _MOST_WEIGHTS:
                group = group[: len(group) // 2]
            at += len(group)
            for i, weights in zip(group, self._runner.run([cuts[i].ids for i in group]), strict=True):
                done[i] = _piece_maps(weights, cuts[i], cuts[i], kind, kind == "decoder")
        for i in range(len(cuts)):
            yield done.pop(i)

    def _size(self, b: int, n: int) -> int:
        return b * self.n_layers * self.n_heads * n * n

    def _written(self, source: Pieces) -> str:
        if not self._writes:
            raise ValueError(f"{self.name} can't write a target of its own: give one, read(text, target).")
        most = min(self.longest - 1, 2 * len(source.ids) + 10)
        return self.tokenizer.decode(self._runner.write(source.ids, most), skip_special_tokens=True)


def _piece_maps(
    weights: Tensor, queries: Pieces, keys: Pieces, kind: str, causal: bool, note: str = ""
) -> PieceMaps:
    notes = dict.fromkeys([queries.note, keys.note, note] if weights.numel() else ["no piece in this text"])
    allowed = torch.ones(weights.shape[-2:], dtype=torch.bool).tril() if causal else None
    maps = AttentionMaps(weights, queries.labels, keys.labels, kind, allowed, "; ".join(filter(None, notes)))
    return PieceMaps(maps, queries.word_of, keys.word_of, queries.words, keys.words)


def _longest(config: object, tokenizer: object) -> int:
    """How many pieces the model takes, at most LONGEST."""
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    if isinstance(positions, int) and any(
        part in config.model_type for part in ("roberta", "camembert", "mpnet")
    ):
        positions -= (config.pad_token_id or 0) + 1  # their positions start after the padding's id
    known = [LONGEST, positions, tokenizer.model_max_length]
    return int(min(limit for limit in known if isinstance(limit, (int, float)) and limit > 1))
