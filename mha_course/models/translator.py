"""The trained encoder-decoder of the course: English sentences into an invented language, word by word."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from mha_course.data_files import data_path
from mha_course.text.course_language.gloss import vocabulary_words
from mha_course.text.course_language.translation import translated_words
from mha_course.text.vocabulary import Vocabulary
from mha_course.transformer import Transformer, TransformerMaps

START, END = "<start>", "<end>"
FILE, CARD = "translator.safetensors", "translator-card.json"
MOST_WORDS = 40


@dataclass(frozen=True)
class TranslatorSizes:
    """The sizes of a translator."""

    d_model: int = 64
    h: int = 4
    encoder_layers: int = 2
    decoder_layers: int = 2
    d_ff: int = 128
    dropout: float = 0.1


@dataclass(frozen=True, eq=False)
class WrittenWord:
    """One step of a translation.

    word: what was written. probability: that the model gave to it. others: the likeliest words with their
    probabilities, the written one first. cross: (layers, heads, n_k), the cross-attention at this step.
    """

    word: str
    probability: float
    others: tuple[tuple[str, float], ...]
    cross: Tensor


class Translator(nn.Module):
    """A `Transformer` with the words behind its ids."""

    def __init__(self, sizes: TranslatorSizes | None = None) -> None:
        super().__init__()
        self.sizes = TranslatorSizes() if sizes is None else sizes
        self.english = Vocabulary(vocabulary_words())
        self.invented = Vocabulary((START, END, *translated_words()))
        chosen = self.sizes
        self.transformer = Transformer(
            len(self.english),
            len(self.invented),
            chosen.d_model,
            chosen.h,
            (chosen.encoder_layers, chosen.decoder_layers),
            chosen.d_ff,
            chosen.dropout,
        )

    @property
    def start(self) -> int:
        return self.invented.encode([START])[0]

    @property
    def end(self) -> int:
        return self.invented.encode([END])[0]

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """source (b, n_k), target so far (b, n_q) -> logits (b, n_q, words), as `Transformer.forward`."""
        return self.transformer(source, target)

    def source_ids(self, words: Sequence[str]) -> Tensor:
        """English words as ids (1, n_k). Raises: ValueError when there is no word."""
        if isinstance(words, str) or not words:
            raise ValueError(
                f"give the sentence as a list of words, such as {['the', 'cat', 'sleeps', '.']}."
            )
        return torch.tensor([self.english.encode(words)])

    def steps(self, words: Sequence[str], others: int = 4) -> Iterator[WrittenWord]:
        """Translate greedily, one word at a time; the last word is `END` unless `MOST_WORDS` were written."""
        source = self.source_ids(words)
        for step in self.transformer.translate(source, self.start, self.end, MOST_WORDS):
            best = step.probabilities.topk(others)
            listed = zip(self.invented.decode(best.indices.tolist()), best.values.tolist(), strict=True)
            yield WrittenWord(
                self.invented.decode([step.id])[0],
                float(step.probabilities[step.id]),
                tuple(listed),
                step.cross,
            )

    def translate(self, words: Sequence[str]) -> tuple[str, ...]:
        """The whole translation, without `END`."""
        written = tuple(step.word for step in self.steps(words, others=1))
        return written[:-1] if written and written[-1] == END else written

    def attend(self, words: Sequence[str], target: Sequence[str] | None = None) -> TransformerMaps:
        """The attention of encoder, decoder and cross-attention while `target` is written.

        target: words of the invented language, without `START` and `END`; None takes the model's own
        translation. In the decoder's maps a row is a word that was read (`START` first). In the
        cross-attention's maps it is the word that is written from there, one further on (`END` last).

        Raises: ValueError when there is no English word.
        """
        target = self.translate(words) if target is None else tuple(target)
        ids = torch.tensor([self.invented.encode([START, *target])])
        maps = self.transformer.attend(self.source_ids(words), ids, tuple(words), (START, *target))
        note = "A row is the word that is being written."
        return replace(maps, cross=replace(maps.cross, query_tokens=(*target, END), note=note))

    @torch.no_grad()
    def greedy(self, source: Tensor, most: int = MOST_WORDS) -> Tensor:
        """Translate many sentences at once: ids (b, n_k) -> ids (b, at most `most`), `END` and then 0s."""
        model = self.transformer
        known = model.decoder.remember(model.encode(source))
        written = torch.full((len(source), 1), self.start)
        done = torch.zeros(len(source), dtype=torch.bool)
        for _ in range(most):
            word = model.decode(known, source, written)[:, -1].argmax(-1).masked_fill(done, 0)
            # Padding behind the end is never looked at by what counts: nothing is written after it.
            written = torch.cat([written, word[:, None]], dim=1)
            done |= word == self.end
            if bool(done.all()):
                break
        return written[:, 1:]


def save_translator(model: Translator, path: Path) -> None:
    """Write a translator as safetensors: half precision, its sizes in the file's head."""
    numbers = {name: tensor.half().contiguous() for name, tensor in model.state_dict().items()}
    save_file(numbers, path, metadata={"translator": json.dumps(asdict(model.sizes))})
    path.chmod(0o644)  # safetensors writes files that only their owner may read


def read_translator(path: Path) -> Translator:
    """Read what `save_translator` wrote, in single precision, ready to be used.

    Raises: ValueError for a file that holds no translator.
    """
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata() or {}
        if "translator" not in metadata:
            raise ValueError(f"{path.name} holds no translator: its sizes are not in the file.")
        numbers = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    with torch.random.fork_rng():
        model = Translator(TranslatorSizes(**json.loads(metadata["translator"])))
    model.load_state_dict(numbers)
    return model.requires_grad_(False).eval()


@lru_cache(maxsize=1)
def load_translator() -> Translator:
    """The trained translator. It is shared by all who ask for it: look at it, and change a copy only.

    Raises: FileNotFoundError when data/ is missing.
    """
    return read_translator(data_path(f"models/{FILE}"))


@lru_cache(maxsize=1)
def translator_card() -> Mapping[str, object]:
    """What was measured when the translator was trained, for each of its seeds."""
    return json.loads(data_path(f"models/{CARD}").read_text(encoding="utf-8"))


def fresh_translator(sizes: TranslatorSizes, seed: int) -> Translator:
    """An untrained translator; the same numbers for the same seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Translator(sizes)
