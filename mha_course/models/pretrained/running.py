"""Running a model of transformers: ids in, attention weights out."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch
from torch import Tensor

from mha_course.models.pretrained.quiet import quietly

KINDS = ("encoder", "decoder", "cross")
_PROBE = 4  # ids that a model is tried on


class Runner:
    """A model in use: which family it is of, and its weights for ids.

    Raises: ValueError when the model hands out no attention weights.
    """

    def __init__(self, model: torch.nn.Module, name: str) -> None:
        self.model = model.eval().requires_grad_(False)
        self._name = name
        # transformers catches the weights with hooks, which are the model's: one call at a time.
        self._lock = threading.Lock()
        self._pad = getattr(model.config, "pad_token_id", None) or 0
        self._is_pair = bool(getattr(model.config, "is_encoder_decoder", False))
        self._is_decoder = False
        probe = [(self._pad + 1 + i) % self._vocabulary() for i in range(_PROBE)]
        weights = self.run([probe])[0]
        if not weights.isfinite().all():
            raise ValueError(f"{name} gives weights that are no numbers (NaN): its file is damaged.")
        self.shape: tuple[int, int] = tuple(weights.shape[:2])
        self._is_decoder = not self._is_pair and not weights.triu(1).any()
        if self._is_pair:
            self.run_pair(probe, probe[:2])

    @property
    def family(self) -> str:
        """ "encoder", "decoder" or "encoder-decoder"; a decoder is what never looks ahead."""
        return "encoder-decoder" if self._is_pair else "decoder" if self._is_decoder else "encoder"

    @property
    def can_write(self) -> bool:
        """Whether the model has what it takes to write a text."""
        return self._is_pair and bool(getattr(self.model, "can_generate", lambda: False)())

    @property
    def start_id(self) -> int:
        """The id from which a decoder starts."""
        config, generation = self.model.config, getattr(self.model, "generation_config", None)
        for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"):
            for place in (config, generation):
                if isinstance(getattr(place, name, None), int):
                    return getattr(place, name)
        return 0

    def run(self, sentences: Sequence[Sequence[int]]) -> list[Tensor]:
        """Self-attention of each sentence, (layers, heads, n, n); of an encoder-decoder, its encoder's.

        Shorter ones are padded on the right, and nobody looks at the padding.
        Raises: ValueError when the model hands out no attention weights.
        """
        longest = max((len(ids) for ids in sentences), default=0)
        if longest == 0:
            return [torch.zeros(*self.shape, 0, 0) for _ in sentences]
        # A sentence without any piece gets one padding, which is cut off again.
        lengths = torch.tensor([max(1, len(ids)) for ids in sentences])
        ids = torch.full((len(sentences), longest), self._pad)
        for row, sentence in zip(ids, sentences, strict=True):
            row[: len(sentence)] = torch.tensor(list(sentence))
        mask = (torch.arange(longest) < lengths[:, None]).long()
        part = self.model.get_encoder() if self._is_pair else self.model
        extra = {"use_cache": False} if self._is_decoder else {}
        found = self._call(part, input_ids=ids, attention_mask=mask, **extra)
        weights = self._whole(found, "attentions", longest, longest)
        return [weights[:, i, :, : len(s), : len(s)].clone() for i, s in enumerate(sentences)]

    def run_pair(self, source: Sequence[int], target: Sequence[int]) -> dict[str, Tensor]:
        """The three attentions of an encoder-decoder for one pair, each (layers, heads, n_q, n_k).

        Raises: ValueError when the model hands out no attention weights.
        """
        found = self._call(
            self.model,
            input_ids=torch.tensor([list(source) or [self._pad]]),
            decoder_input_ids=torch.tensor([list(target)]),
            use_cache=False,
        )
        n, m = max(1, len(source)), len(target)
        sizes = {"encoder": (n, n), "decoder": (m, m), "cross": (m, n)}
        weights = {k: self._whole(found, f"{k}_attentions", *sizes[k])[:, 0] for k in KINDS}
        # A source without any piece was given one padding, which is cut off again.
        real = {"encoder": (len(source),) * 2, "decoder": (m, m), "cross": (m, len(source))}
        return {k: weights[k][..., : real[k][0], : real[k][1]] for k in KINDS}

    def write(self, source: Sequence[int], most: int) -> list[int]:
        """The ids that an encoder-decoder writes for a source, each time the likeliest, at most so many."""
        with self._lock, torch.no_grad(), quietly():
            written = self.model.generate(
                torch.tensor([list(source) or [self._pad]]),
                attention_mask=torch.ones(1, max(1, len(source)), dtype=torch.long),
                max_new_tokens=most,
                num_beams=1,
                do_sample=False,
                use_cache=False,  # its size is counted wrongly when encoder and decoder differ in depth
            )
        return written[0].tolist()

    def _call(self, part: torch.nn.Module, **inputs: object) -> object:
        try:
            with self._lock, torch.no_grad(), quietly():
                return part(**inputs, output_attentions=True, return_dict=True)
        except IndexError:
            raise ValueError(
                f"{self._name}: the tokenizer knows more pieces than the model, or the text is too long "
                "for it. Do both come from the same folder?"
            ) from None

    def _whole(self, found: object, name: str, n_q: int, n_k: int) -> Tensor:
        """All layers as one tensor, (layers, b, heads, n_q, n_k)."""
        layers = getattr(found, name, None)
        if not layers or any(layer is None for layer in layers):
            raise ValueError(
                f"{self._name} hands out no attention weights ({name} is empty): its kernel keeps none. "
                'Load it with attn_implementation="eager", as load_pretrained does; '
                "a model without attention has none."
            )
        if len({tuple(layer.shape) for layer in layers}) > 1 or layers[0].shape[2:] != (n_q, n_k):
            raise ValueError(
                f"{self._name}: its layers differ in their heads, or keep weights to a part of the keys "
                "only; they can't be shown together."
            )
        return torch.stack(list(layers)).float()

    def _vocabulary(self) -> int:
        embeddings = self.model.get_input_embeddings()
        return max(1, int(getattr(embeddings, "num_embeddings", 0) or embeddings.weight.shape[0]))
