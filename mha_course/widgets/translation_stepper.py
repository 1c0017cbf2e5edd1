"""TranslationStepper: the course's translator at work, one word at a time."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import traitlets

from mha_course.models.translator import END, WrittenWord, load_translator
from mha_course.sizes import check_sizes
from mha_course.text.tokens import tokenize
from mha_course.text.vocabulary import Vocabulary
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.named_words import as_sentence, named_words

__all__ = ["TranslationStepper"]

EXAMPLE = "two small dogs near the bridge chase the white cat ."
MOST_TOKENS = 24
MOST_CHARACTERS = 10_000


class TranslationStepper(CourseWidget):
    """A translation that is written word by word, with the place of the source that a head looks at.

    sentence: English; at most 24 words are read, in small letters, with a full stop at the end. layer, head:
    of the cross-attention, counted from 1. written: how many words of the translation stand there at first.
    Raises: ValueError for a layer or a head that the translator doesn't have, and for written below 0.
    """

    js = ("token_labels.js", "translation_stepper.js")
    css = ("translation_stepper.css",)
    root = "mha-step"
    settings = ("sentence", "layer", "head")

    sentence = Text(EXAMPLE).tag(sync=True)
    layer = traitlets.Int(1).tag(sync=True)
    head = traitlets.Int(1).tag(sync=True)
    written = traitlets.Int(1).tag(sync=True)
    layers = traitlets.Int(1, read_only=True).tag(sync=True)
    heads = traitlets.Int(1, read_only=True).tag(sync=True)

    def __init__(self, sentence: str = EXAMPLE, layer: int = 1, head: int = 1, written: int = 1) -> None:
        sizes = load_translator().sizes
        self.set_trait("layers", sizes.decoder_layers)
        self.set_trait("heads", sizes.h)
        check_sizes(0, layer=layer, head=head, written=written)
        super().__init__(
            sentence=as_sentence(sentence), layer=int(layer), head=int(head), written=int(written)
        )

    @traitlets.validate("layer", "head")
    def _known(self, proposal: Mapping) -> int:
        name, most = proposal["trait"].name, self.layers if proposal["trait"].name == "layer" else self.heads
        if not 1 <= proposal["value"] <= most:
            raise ValueError(f"{name}={proposal['value']}: this translator has {name}s 1 to {most}.")
        return proposal["value"]

    def words(self) -> list[str]:
        """The words that the translator reads."""
        found = self._tokens()[:MOST_TOKENS]
        # Every sentence that it was trained on ends with a full stop.
        return found if not found or found[-1] == "." else [*found[: MOST_TOKENS - 1], "."]

    def _tokens(self) -> list[str]:
        return [token.lower() for token in tokenize(self.sentence[:MOST_CHARACTERS])]

    def steps(self) -> list[WrittenWord]:
        """The whole translation, step by step; empty without a word."""
        words = self.words()
        return list(load_translator().steps(words)) if words else []

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Words and probabilities of every step, and the chosen head's weights as float32, step by step."""
        words, steps, model = self.words(), self.steps(), load_translator()
        unknown = [i for i, word in enumerate(words) if word not in model.english]
        weights = [step.cross[self.layer - 1, self.head - 1] for step in steps]
        header = {
            "words": words,
            "unknown": unknown,
            "unknown_named": named_words(words[i] for i in unknown),
            "found": len(self._tokens()),
            "most": MOST_TOKENS,
            "example": EXAMPLE,
            "layer": self.layer,
            "head": self.head,
            "end": END,
            "unknown_word": Vocabulary.UNKNOWN,
            "steps": [
                {
                    "word": s.word,
                    "p": round(s.probability, 4),
                    "others": [[w, round(p, 4)] for w, p in s.others],
                }
                for s in steps
            ],
        }
        self.alt = self._in_words(words, steps)
        return header, torch.stack(weights).float().numpy().tobytes() if weights else b""

    def still_png(self) -> bytes | None:
        """The chosen head's map as a picture, all words written; None without a sentence."""
        from mha_course.plots import heatmap

        words, steps = self.words(), self.steps()
        if not steps:
            return None
        weights = torch.stack([step.cross[self.layer - 1, self.head - 1] for step in steps])
        title = f"Translation, layer {self.layer}, head {self.head} of the cross-attention"
        note = "A row is the word that is being written."
        return heatmap(weights, [step.word for step in steps], words, title=title, note=note).png()

    def _in_words(self, words: list[str], steps: list[WrittenWord]) -> str:
        if not steps:
            return "Translation without a sentence."
        written = " ".join(step.word for step in steps if step.word != END)
        return f"Translation of “{' '.join(words)}”, word by word: “{written}”."
