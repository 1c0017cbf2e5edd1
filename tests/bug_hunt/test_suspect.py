"""The layers: sound ones are the course's layer, suspects hide what they are, none touches the outside."""

from __future__ import annotations

import copy
import pickle
import traceback
from pathlib import Path

import pytest
import torch

from mha_course import masks
from mha_course.bug_hunt import healthy, suspect, suspects
from mha_course.bug_hunt.faults import all_faults, fault_of
from mha_course.bug_hunt.sound_layer import Dropout
from mha_course.layers import MultiHeadAttention


def drawn(b: int, n: int, d_model: int) -> torch.Tensor:
    return torch.randn(b, n, d_model, generator=torch.Generator().manual_seed(5))


def test_the_sound_layer_is_the_layer_of_the_course() -> None:
    layer, other = healthy(d_model=15, h=5, seed=2), MultiHeadAttention(15, 5)
    other.load_state_dict(layer.state_dict())
    x = drawn(2, 7, 15)
    mask = masks.causal_mask(7) & masks.padding_mask([7, 0], 7)
    for allowed in (None, masks.causal_mask(7), mask):
        output, weights = layer.look(x, allowed)
        trace = other.trace(x, mask=allowed)
        assert torch.allclose(output, trace.output, atol=1e-6)
        assert torch.allclose(weights, trace.weights, atol=1e-6)
        assert torch.equal(layer(x, allowed), output)


@pytest.mark.parametrize("number", suspects())
def test_a_suspect_has_the_sound_layers_weights_and_says_nothing_about_itself(number: int) -> None:
    layer = suspect(number, d_model=8, h=2, seed=3)
    sound = healthy(d_model=8, h=2, seed=3)
    assert layer.state_dict().keys() == sound.state_dict().keys()
    for name, weight in sound.state_dict().items():
        assert torch.equal(layer.state_dict()[name], weight)
    assert type(layer) is type(sound) and type(layer).__name__ == "Suspect"
    fault = fault_of(number)
    told = {repr(layer), str(layer), type(layer).__module__, type(layer).__doc__ or ""}
    told |= {str(value) for value in vars(layer).values()} | set(dir(layer))
    words = {fault.layer.__name__, fault.layer.__module__, fault.key, fault.title}
    assert not [word for word in words for text in told if word in text]
    # Beside its number nothing differs from another suspect.
    other = suspect(number % 12 + 1, d_model=8, h=2, seed=3)
    assert vars(layer).keys() == vars(other).keys() and set(dir(layer)) == set(dir(other))


def test_an_error_inside_a_suspect_quotes_no_line_of_it() -> None:
    x = drawn(2, 7, 12)
    failed = 0
    for number in suspects():
        for dtype in (torch.float32, torch.float16):
            layer = suspect(number, dtype=dtype)
            try:
                layer(x.to(dtype), masks.causal_mask(7))
            except RuntimeError as error:
                failed += 1
                assert error.__cause__ is None and error.__context__ is None
                lines = "".join(traceback.format_exception(error))
                assert "faults_of" not in lines and "weighed" not in lines and str(error) in lines
    assert failed >= 3  # one takes the axes in another order, one can't do half precision


def test_wrong_inputs_are_refused_by_name_and_alike_by_all() -> None:
    for layer in (healthy(), suspect(7)):
        with pytest.raises(ValueError, match=r"\(b, n, 12\); got \(7, 12\)"):
            layer(drawn(1, 7, 12)[0])
        with pytest.raises(ValueError, match="float16"):
            layer(drawn(2, 7, 12).half())
        with pytest.raises(ValueError, match="must be boolean"):
            layer(drawn(2, 7, 12), mask=torch.ones(7, 7))
        with pytest.raises(ValueError, match="torch tensor"):
            layer([1, 2])
    for number in (0, 13, "3", None, True, 2.0):
        with pytest.raises(ValueError, match="1 to 12"):
            suspect(number)
    with pytest.raises(ValueError, match="d_model=10 cannot be split into h=3"):
        healthy(d_model=10, h=3)
    with pytest.raises(ValueError, match="dropout"):
        healthy(dropout=1.0)
    with pytest.raises(ValueError, match="seed"):
        suspect(1, seed=-1)


def test_making_and_calling_layers_leaves_the_global_random_state_alone() -> None:
    torch.manual_seed(11)
    before = torch.get_rng_state()
    for number in suspects():
        layer = suspect(number, dropout=0.5).train()
        layer(drawn(2, 7, 12))
    assert torch.equal(torch.get_rng_state(), before)


def test_modes_dtypes_and_copies() -> None:
    layer = healthy(dropout=0.5)
    x = drawn(2, 7, 12)
    assert not layer.training and torch.equal(layer(x), layer(x))
    layer.train()
    assert not torch.equal(layer(x), layer(x)) and "train()" in repr(layer)
    assert torch.allclose(layer.look(x)[1].sum(-1), torch.ones(2, 3, 7))
    layer.eval().half()
    assert layer(x.half()).dtype == torch.float16 and "float16" in repr(layer)
    with torch.no_grad():
        layer.w_q.weight.mul_(2)
    for other in (copy.deepcopy(layer), copy.copy(layer), layer.like(h=2), layer.sound()):
        assert torch.equal(other.w_q.weight, layer.w_q.weight) and other.w_q.weight is not layer.w_q.weight
    assert layer.like(h=4).h == 4 and layer.like(d_model=6).w_q.weight.shape == (6, 6)


def test_a_suspect_is_made_again_instead_of_kept_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="makes the same one again"):
        pickle.dumps(suspect(4, d_model=20, h=5))
    with pytest.raises(TypeError, match="makes the same one again"):
        torch.save(suspect(4, d_model=20, h=5), tmp_path / "layer")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dtype": torch.int64}, "dtype=torch.int64 must be one for real numbers"),
        ({"dtype": "float32"}, "dtype='float32' must be one for real numbers"),
        ({"seed": 2**70}, "seed=1180591620717411303424 must be a finite number of at least 0"),
        ({"seed": -1}, "seed=-1 must be a whole number"),
        ({"number": "3" * 900}, "There are suspects 1 to 12; got '333"),
    ],
)
def test_what_makes_no_suspect_is_said_in_one_short_sentence(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError) as refused:
        suspect(**{"number": 3, **given})
    assert words in str(refused.value) and len(str(refused.value)) < 140


def test_gradients_reach_the_weights_of_a_sound_layer() -> None:
    layer = healthy()
    layer(drawn(2, 7, 12)).square().sum().backward()
    assert all((p.grad != 0).all() for p in layer.parameters())


def test_dropout_keeps_the_mean_and_draws_from_its_own_seed() -> None:
    ones = torch.ones(40, 50, 60)
    first, again = Dropout(0.25, 3)(ones), Dropout(0.25, 3)(ones)
    assert torch.equal(first, again) and not torch.equal(first, Dropout(0.25, 4)(ones))
    assert first.mean().item() == pytest.approx(1, abs=0.02)
    assert set(first.unique().tolist()) == {0.0, torch.tensor(4 / 3).item()}


def test_broken_files_stay_short_and_differ_from_the_sound_layer_in_one_place() -> None:
    for fault in all_faults().values():
        own = [name for name in vars(fault.layer) if callable(vars(fault.layer)[name])]
        assert 1 <= len(own) <= 2, fault.key
