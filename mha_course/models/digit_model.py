"""A small vision Transformer: a picture of a digit as 16 patches, read by an encoder."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn

from mha_course.attention_maps import AttentionMaps
from mha_course.layers import AttentionTrace
from mha_course.transformer import Encoder

SIDE, PATCH = 8, 2  # pixels of a picture and of a patch
ROWS = SIDE // PATCH  # of patches
CLASSES = 10


@cache
def digit_images() -> tuple[Tensor, Tensor]:
    """scikit-learn's 1,797 written digits: pixels (1797, 8, 8) from 0 to 1, and which digit each is (1797,).

    From the test set of the UCI data set "Optical Recognition of Handwritten Digits" (Alpaydin and Kaynak
    1998); the package ships them, so nothing is loaded from the network."""
    # Imported here: scikit-learn takes a second to load, and few lessons want it.
    from sklearn.datasets import load_digits

    loaded = load_digits()
    return torch.tensor(loaded.images / 16, dtype=torch.float32), torch.tensor(loaded.target)


def patches(images: Tensor) -> Tensor:
    """Pictures (b, 8, 8) as patches of 2 x 2 pixels, row by row: (b, 16, 4)."""
    cut = images.unfold(1, PATCH, PATCH).unfold(2, PATCH, PATCH)
    return cut.reshape(len(images), ROWS * ROWS, PATCH * PATCH)


def patch_names() -> tuple[str, ...]:
    """What the patches are called, row by row: "r1c1" is at the upper left."""
    return tuple(f"r{row + 1}c{column + 1}" for row in range(ROWS) for column in range(ROWS))


class DigitModel(nn.Module):
    """Patches to ten logits: a linear map and a learned position a patch, an encoder, the mean over patches.

    Without positions the patches would be a bag: attention and mean don't know their order.

    Raises: ValueError as `Encoder`.
    """

    def __init__(
        self, d_model: int = 32, h: int = 8, n_layers: int = 2, d_ff: int = 128, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.read = nn.Linear(PATCH * PATCH, d_model)
        self.positions = nn.Parameter(0.02 * torch.randn(ROWS * ROWS, d_model))
        self.encoder = Encoder(n_layers, d_model, h, d_ff, dropout)
        self.say = nn.Linear(d_model, CLASSES)

    def forward(self, images: Tensor, kept: list[AttentionTrace] | None = None) -> Tensor:
        """images (b, 8, 8) -> logits (b, 10). kept: as in `EncoderLayer.forward`."""
        x = self.read(patches(images)) + self.positions
        return self.say(self.encoder(x, kept=kept).mean(dim=1))

    @torch.no_grad()
    def attend(self, image: Tensor) -> AttentionMaps:
        """The attention of every layer and head between the patches of one picture (8, 8)."""
        kept: list[AttentionTrace] = []
        training, _ = self.training, self.eval()
        self(image[None], kept)
        self.train(training)
        return AttentionMaps.from_traces(kept, patch_names())
