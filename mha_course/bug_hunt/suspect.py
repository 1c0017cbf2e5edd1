"""A layer that may only be called: a suspect, or the sound layer beside it."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from mha_course.attention import check_tensors
from mha_course.bug_hunt.faults import fault_of, suspects
from mha_course.bug_hunt.sound_layer import SoundLayer
from mha_course.masks import expand_mask
from mha_course.sizes import as_written, check_number, check_sizes, is_whole_number

# What a suspect does is kept apart from it: its attributes hold sizes and weights, nothing that tells.
_INSIDE: WeakKeyDictionary[nn.Module, SoundLayer] = WeakKeyDictionary()
_PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")


class Suspect(nn.Module):
    """A multi-head layer to be examined from outside. `suspect` and `healthy` make one.

    Call it, `layer(x, mask=None)`, or look at its weights, too: `layer.look(x, mask=None)`. Its weights may
    be read (`w_q`, `w_k`, `w_v`, `w_o`), it has a `train()` and an `eval()`, and `half()` works as usual.
    """

    def __init__(
        self,
        kind: type[SoundLayer],
        number: int | None,
        d_model: int,
        h: int,
        seed: int,
        dropout: float,
        dtype: torch.dtype,
    ) -> None:
        super().__init__()
        self.number, self.seed, self.dropout = number, seed, dropout
        self.d_model, self.h = check_sizes(d_model=d_model, h=h)
        inside = kind(self.d_model, self.h, dropout, seed)
        generator = torch.Generator().manual_seed(seed)
        for name in _PROJECTIONS:
            projection = getattr(inside, name)
            nn.init.xavier_uniform_(projection.weight, generator=generator)
            self.add_module(name, projection)
        _INSIDE[self] = inside
        self.to(dtype).eval()

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """The output for x (b, n, d_model): (b, n, d_model). mask: bool, True = may attend.

        Raises: ValueError for an x or a mask that doesn't fit; RuntimeError where the layer itself fails.
        """
        return self.look(x, mask)[0]

    def look(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The output, and the weights as the layer reports them: (b, h, n, n) if sound. Raises as above."""
        check_tensors(x=x)
        if x.ndim != 3 or x.shape[-1] != self.d_model:
            raise ValueError(f"x must have shape (b, n, {self.d_model}); got {tuple(x.shape)}.")
        if x.dtype != self.w_q.weight.dtype:
            raise ValueError(f"x has dtype {x.dtype}, the weights have {self.w_q.weight.dtype}.")
        b, n, _ = x.shape
        mask = expand_mask(mask, b, self.h, n, n)
        inside = _INSIDE[self].train(self.training)
        try:
            return inside(x.contiguous(), mask)
        except Exception as error:  # noqa: BLE001
            failed = str(error)
        # Raised anew out here, so that no traceback quotes the lines that are to be guessed.
        raise RuntimeError(failed)

    def like(
        self, d_model: int | None = None, h: int | None = None, dtype: torch.dtype | None = None
    ) -> Suspect:
        """The same layer with another width, number of heads or dtype; weights whose shape stays are kept.

        It begins its dropout anew. Raises: ValueError when the layer refuses those sizes.
        """
        other = _new(
            type(_INSIDE[self]),
            self.number,
            self.d_model if d_model is None else d_model,
            self.h if h is None else h,
            self.seed,
            self.dropout,
            self.w_q.weight.dtype if dtype is None else dtype,
        )
        with torch.no_grad():
            for name in _PROJECTIONS:
                mine, new = getattr(self, name).weight, getattr(other, name).weight
                if mine.shape == new.shape:
                    new.copy_(mine)
        return other.train(self.training)

    def sound(self) -> Suspect:
        """The sound layer with the same weights and settings. Raises: ValueError if none has the sizes."""
        other = _new(SoundLayer, None, self.d_model, self.h, self.seed, self.dropout, self.w_q.weight.dtype)
        other.load_state_dict(self.state_dict())
        return other.train(self.training)

    def __copy__(self) -> Suspect:
        return self.like()

    def __deepcopy__(self, memo: dict) -> Suspect:
        return self.like()

    def __reduce__(self) -> str:
        raise TypeError("A suspect is not written to a file: suspect(number, …) makes the same one again.")

    def __repr__(self) -> str:
        name = "A sound layer" if self.number is None else f"Suspect {self.number}"
        dtype = str(self.w_q.weight.dtype).removeprefix("torch.")
        mode = "train" if self.training else "eval"
        return f"{name}: d_model={self.d_model}, h={self.h}, {dtype}, dropout {self.dropout:g}, {mode}()"


def suspect(
    number: int,
    d_model: int = 12,
    h: int = 3,
    seed: int = 0,
    dropout: float = 0.25,
    dtype: torch.dtype = torch.float32,
) -> Suspect:
    """One of the twelve layers with a fault. It comes in eval mode; `train()` switches dropout on.

    Raises: ValueError for another number, and for sizes, a seed or a dtype that the layer refuses.
    """
    check_suspect(number)
    return _checked(fault_of(int(number)).layer, int(number), d_model, h, seed, dropout, dtype)


def healthy(
    d_model: int = 12,
    h: int = 3,
    seed: int = 0,
    dropout: float = 0.25,
    dtype: torch.dtype = torch.float32,
) -> Suspect:
    """The sound layer, with the weights that the suspects have for the same sizes and seed.

    Raises: ValueError when h does not divide d_model.
    """
    return _checked(SoundLayer, None, d_model, h, seed, dropout, dtype)


def with_fault(kind: type[SoundLayer], like: Suspect) -> Suspect:
    """A layer with that fault, and with the sizes and weights of another."""
    other = _new(kind, None, like.d_model, like.h, like.seed, like.dropout, like.w_q.weight.dtype)
    other.load_state_dict(like.state_dict())
    return other


def check_suspect(number: object) -> None:
    """Let pass the number of a suspect. Raises: ValueError that says which numbers there are."""
    if not is_whole_number(number) or number not in suspects():
        raise ValueError(f"There are suspects 1 to {len(suspects())}; got {as_written(number)}.")


def _checked(
    kind: type[SoundLayer],
    number: int | None,
    d_model: int,
    h: int,
    seed: int,
    dropout: float,
    dtype: torch.dtype,
) -> Suspect:
    (seed,) = check_sizes(0, seed=seed)
    check_number(0, 2**63 - 1, seed=seed)  # what a generator takes
    check_number(0, 0.9, dropout=dropout)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ValueError(f"dtype={as_written(dtype)} must be one for real numbers, such as torch.float32.")
    return _new(kind, number, d_model, h, seed, float(dropout), dtype)


_new = Suspect
