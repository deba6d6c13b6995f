from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from indexer.encode import tuning
from indexer.encode.folder import EncoderSpec
from indexer.encode.precision import Precision
from indexer.encode.tuning import Calibration, Trial, choose_tuning, fitting_tokens, memory_room
from indexer.errors import SettingsError
from indexer.machine import Processor
from indexer.settings import Settings

SPEC = EncoderSpec("tiny", "f" * 64, 32, "", "", "mean")
TRUSTED = (Precision.FLOAT32, Precision.BFLOAT16)
MEASURED = Calibration(
    "tiny", "f" * 64, "chip", "2", "bfloat16", 3, 4096, 9000.0, 20_000, 4.2, "2026-01-01T00:00:00+00:00",
    (Trial("float32", 4, 2048, 3000.0, 1.0), Trial("int8", 4, 2048, 0.0, 0.0, "slow")),
)  # fmt: skip


def test_a_calibration_is_kept_by_processor_torch_and_encoder(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tuning.read_calibration(SPEC, settings) is None
    tuning.write_calibration(MEASURED, SPEC, settings)
    assert tuning.read_calibration(SPEC, settings) == MEASURED
    assert tuning.read_calibration(replace(SPEC, fingerprint="0" * 64), settings) is None
    monkeypatch.setattr(tuning, "read_processor", lambda: Processor("Another Chip (9)", frozenset()))
    assert tuning.read_calibration(SPEC, settings) is None


def test_a_calibration_that_cannot_be_read_is_measured_again(settings: Settings) -> None:
    tuning.write_calibration(MEASURED, SPEC, settings)
    (file,) = (settings.cache / "calibration").iterdir()
    file.write_text('{"encoder": 1}')
    assert tuning.read_calibration(SPEC, settings) is None


def test_a_cache_that_cannot_be_written_stops_nothing(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    tuning.write_calibration(MEASURED, SPEC, replace(settings, cache=tmp_path / "file"))


def test_settings_go_before_what_was_measured(measuring_settings: Settings) -> None:
    assert choose_tuning(measuring_settings, MEASURED, TRUSTED) == tuning.Tuning(Precision.BFLOAT16, 3, 4096)
    chosen = replace(measuring_settings, precision="float32", threads=1, batch_tokens=100)
    assert choose_tuning(chosen, MEASURED, TRUSTED) == tuning.Tuning(Precision.FLOAT32, 1, 100)
    with pytest.raises(SettingsError, match="float16.*auto, float32, bfloat16, int8"):
        choose_tuning(replace(measuring_settings, precision="float16"), None, TRUSTED)


@pytest.mark.parametrize(("flags", "precision"), [({"amx_bf16"}, "bfloat16"), ({"avx2"}, "float32")])
def test_unmeasured_the_processor_suggests(
    flags: set[str], precision: str, measuring_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "read_processor", lambda: Processor("chip", frozenset(flags)))
    assert choose_tuning(measuring_settings, None, TRUSTED).precision == precision
    assert choose_tuning(measuring_settings, None, (Precision.FLOAT32,)).precision == "float32"


def test_batches_follow_the_memory(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "available_memory", lambda: 4 << 30)
    assert memory_room(settings) == (2 << 30) - (64 << 20)
    assert memory_room(replace(settings, memory="1MB")) == 0
    assert memory_room(replace(settings, memory="3GB")) < 3 << 30
    with pytest.raises(SettingsError, match="memory"):
        memory_room(replace(settings, memory="much"))
    assert fitting_tokens(4096, 1 << 30, 20_000) == 4096
    assert fitting_tokens(4096, 40_000_000, 20_000) == 2000
    assert fitting_tokens(4096, 0, 20_000) == 512
    assert fitting_tokens(100, 0, 20_000) == 100
