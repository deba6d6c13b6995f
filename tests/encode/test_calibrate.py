from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import torch
from transformers import BertConfig

from indexer.encode import calibrate
from indexer.encode.batches import Batch
from indexer.encode.bert import LeanBert
from indexer.encode.calibrate import Calibrator
from indexer.encode.folder import ModelFolder, read_folder
from indexer.encode.lean import LeanEncoder
from indexer.encode.precision import Precision
from indexer.encode.tuning import Calibration
from indexer.settings import load_settings
from tests.encode.shapes import write_model


@pytest.fixture
def folder(tmp_path: Path) -> ModelFolder:
    config = BertConfig(
        vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, pad_token_id=1
    )
    return read_folder(write_model(tmp_path, config))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Slowed(LeanBert):
    """A pass that takes a set time for a token by the test's own clock, and may come out wrong."""

    def __init__(self, folder: ModelFolder, clock: Clock, seconds: float, wrong: bool) -> None:
        super().__init__(folder)
        self._clock, self._seconds, self._wrong = clock, seconds, wrong

    def embed(self, batch: Batch) -> torch.Tensor:
        self._clock.now += self._seconds * len(batch.ids)
        rows = super().embed(batch)
        return rows.flip(1) if self._wrong else rows


def choose(folder: ModelFolder, bfloat16: tuple[float, bool], int8: tuple[float, bool]) -> Calibration:
    ways = {Precision.FLOAT32: (2e-5, False), Precision.BFLOAT16: bfloat16, Precision.INT8: int8}
    clock = Clock()
    calibrator = Calibrator(folder, lambda precision: Slowed(folder, clock, *ways[precision]), tuple(Precision), clock)
    return calibrator.run(folder.spec("tiny", "0"))


def refusals(calibration: Calibration) -> dict[str, str]:
    return {trial.precision: trial.refused for trial in calibration.trials if trial.refused}


def test_the_fastest_precision_that_agrees_is_chosen(folder: ModelFolder) -> None:
    calibration = choose(folder, (2e-6, False), (1e-6, True))
    assert calibration.precision == "bfloat16"
    assert calibration.tokens_per_second == pytest.approx(500_000)
    assert list(refusals(calibration)) == ["int8"]
    assert "cosine" in refusals(calibration)["int8"]
    assert calibration.bytes_per_token > 0


def test_a_slower_precision_is_refused_after_a_glance(folder: ModelFolder) -> None:
    calibration = choose(folder, (2e-3, False), (2.5e-5, False))
    assert calibration.precision == "float32"
    assert "100.0 times as long" in refusals(calibration)["bfloat16"]
    assert refusals(calibration)["int8"] == "it is slower than float32"


def test_a_slow_machine_is_measured_with_fewer_texts_in_bounded_time(folder: ModelFolder) -> None:
    clock = Clock()
    calibrator = Calibrator(folder, lambda precision: Slowed(folder, clock, 5e-3, False), tuple(Precision), clock)
    calibration = calibrator.run(folder.spec("tiny", "0"))
    assert clock.now < 12  # 200 tokens a second; all trials in full would take minutes
    assert calibration.batch_tokens == 2048


def test_the_first_large_call_measures_and_keeps_it(
    folder: ModelFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(load_settings(), cache=tmp_path / "cache")
    monkeypatch.setattr(calibrate._Work, "others_since", lambda now, before: 0.0)  # whatever else runs beside this test
    encoder = LeanEncoder(folder, folder.spec("tiny", "0"), settings)
    encoder.encode_documents(["the cat sat"] * 30)
    assert not (settings.cache / "calibration").exists()
    monkeypatch.setattr("indexer.encode.batching._WORTH_MEASURING", 100)
    encoder.encode_documents(["the cat sat"] * 30)
    assert len(list((settings.cache / "calibration").iterdir())) == 1
    again = LeanEncoder(folder, folder.spec("tiny", "0"), settings)
    assert not again._unmeasured()


def test_what_was_measured_beside_other_programs_is_measured_again_by_the_next_run(
    folder: ModelFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(load_settings(), cache=tmp_path / "cache")

    def encoder() -> LeanEncoder:
        return LeanEncoder(folder, folder.spec("tiny", "0"), settings)

    monkeypatch.setattr(calibrate._Work, "others_since", lambda now, before: 0.6)
    busy = encoder()
    assert busy.calibrate().disturbed
    assert not busy._unmeasured()  # not twice in one run
    assert encoder()._unmeasured()
    monkeypatch.setattr(calibrate._Work, "others_since", lambda now, before: 0.05)
    assert not encoder().calibrate().disturbed
    assert not encoder()._unmeasured()


def test_the_share_of_others_is_what_is_left_beside_our_own() -> None:
    cores = psutil.cpu_count() or 1
    before, now = calibrate._Work(100.0, 10.0, 0.0), calibrate._Work(100.0 + 5 * cores, 10.0 + 2 * cores, 10.0)
    assert now.others_since(before) == pytest.approx(0.3)
    assert calibrate._Work.now().others_since(calibrate._Work.now()) <= 1
