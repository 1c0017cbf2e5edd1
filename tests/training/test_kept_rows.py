"""Kept rows: what is written is what is read, and the models do what was recorded of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mha_course.models.leaderboard_records import recorded_row
from mha_course.training import kept_rows
from mha_course.training.gloss_batches import gloss_data
from mha_course.training.kept_rows import KEPT, kept_digit_row, kept_gloss_row, row_file, save_row
from mha_course.training.leaderboard import Row, held_out_loss
from mha_course.training.record import TESTING_SEED, held_out
from mha_course.training.record_leaderboard import TESTED
from mha_course.training.train_digits import DigitSetting, digit_model_of, digits_right


def test_weights_go_to_a_file_and_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = digit_model_of(Row("mixture", 8), DigitSetting(), 11)
    path = tmp_path / row_file("digits", Row("mixture", 8))
    save_row(model, path)
    assert path.name == "leaderboard-digits-mixture-h8.safetensors" and path.stat().st_mode & 0o044 == 0o044
    monkeypatch.setattr(kept_rows, "data_path", lambda name: tmp_path / Path(name).name)
    again = kept_digit_row.__wrapped__("mixture")
    assert not again.training and not any(p.requires_grad for p in again.parameters())
    for one, other in zip(model.parameters(), again.parameters(), strict=True):
        # Half precision keeps eleven binary digits.
        assert torch.allclose(one, other, rtol=2**-11, atol=1e-7)


@pytest.mark.parametrize("variant", [row.variant for row in KEPT["gloss"]])
def test_a_kept_gloss_model_has_the_recorded_loss(variant: str) -> None:
    model = kept_gloss_row(variant)
    loss = held_out_loss(model, gloss_data(held_out(TESTED, TESTING_SEED), model.vocabulary))
    recorded = next(run for run in recorded_row(variant).runs if run.seed == kept_rows.FIRST_SEED)
    assert loss == pytest.approx(recorded.loss, abs=0.01)


@pytest.mark.parametrize("variant", [row.variant for row in KEPT["digits"]])
def test_a_kept_digit_model_is_right_as_often_as_recorded(variant: str) -> None:
    right, loss = digits_right(kept_digit_row(variant), DigitSetting())
    recorded = next(
        run for run in recorded_row(variant, task="digits").runs if run.seed == kept_rows.FIRST_SEED
    )
    assert right == pytest.approx(recorded.right, abs=0.003) and loss == pytest.approx(
        recorded.loss, abs=0.01
    )


def test_rows_that_are_not_kept_are_named() -> None:
    with pytest.raises(ValueError, match=r"'overlapping'.*gloss.*plain, mixture, talking, composable"):
        kept_gloss_row("overlapping")
    with pytest.raises(ValueError, match=r"'talking'.*digits.*plain, overlapping, mixture"):
        kept_digit_row("talking")
