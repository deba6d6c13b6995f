"""The lean encoder on a processor with bfloat16 units: what it would do there, shown with a faked capability."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig

from indexer.encode import tuning
from indexer.encode.batches import Batch
from indexer.encode.bert import LeanBert
from indexer.encode.calibrate import Calibrator
from indexer.encode.folder import read_folder
from indexer.encode.lean import LeanEncoder
from indexer.machine import Processor
from indexer.settings import Settings
from tests.encode.shapes import WORDS, write_model


@pytest.fixture
def encoder(tmp_path: Path, measuring_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> LeanEncoder:
    monkeypatch.setattr(tuning, "read_processor", lambda: Processor("chip", frozenset({"amx_bf16", "amx_tile"})))
    config = BertConfig(
        vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, pad_token_id=1
    )
    folder = read_folder(write_model(tmp_path / "model", config))
    return LeanEncoder(folder, folder.spec("tiny", "0"), measuring_settings)


def test_with_bfloat16_units_all_products_and_all_states_are_in_bfloat16(
    encoder: LeanEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    products: set[tuple[torch.dtype, int, int]] = set()
    attentions: list[tuple[torch.dtype, int, bool]] = []
    addmm, attend = torch.addmm, torch.nn.functional.scaled_dot_product_attention

    def watched(bias: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
        assert bias.dtype == x.dtype == weight.dtype == out.dtype
        products.add((x.dtype, weight.shape[0], weight.shape[1]))
        return addmm(bias, x, weight, out=out)

    def attended(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, **mask: object) -> torch.Tensor:
        attentions.append((query.dtype, query.shape[0], bool(mask)))
        return attend(query, key, value)

    monkeypatch.setattr(torch, "addmm", watched)
    monkeypatch.setattr("indexer.encode.bert.F.scaled_dot_product_attention", attended)
    equal = ["the cat sat on the mat"] * 5
    rows = encoder.encode_documents([*equal, "dog"])
    # one product for query, key and value; attention over the five equal texts at once, none with a mask
    half = torch.bfloat16
    assert products == {(half, 32, 96), (half, 32, 32), (half, 32, 64), (half, 64, 32)}
    assert attentions == [(half, 5, False), (half, 1, False)] * 2
    exact = LeanEncoder(encoder.folder, encoder.spec, replace(encoder._settings, precision="float32"))
    assert (exact.encode_documents([*equal, "dog"]) * rows).sum(1).min() > 0.99
    assert rows.dtype == np.float32


def test_measuring_keeps_bfloat16_where_it_is_faster(encoder: LeanEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this processor has: a pass in bfloat16 that takes a tenth of the time is what the encoder works with."""

    class Clock:
        now = 0.0

        def __call__(self) -> float:
            return self.now

    clock = Clock()
    embed = LeanBert.embed

    def paced(self: LeanBert, batch: Batch) -> torch.Tensor:
        clock.now += len(batch.ids) * (2e-6 if self._dtype is torch.bfloat16 else 2e-5)
        return embed(self, batch)

    monkeypatch.setattr(LeanBert, "embed", paced)
    monkeypatch.setattr("indexer.encode.calibrate.Calibrator", partial(Calibrator, clock=clock))
    monkeypatch.setattr("indexer.encode.calibrate.LEAST_COSINE", 0.99)  # random weights are harder to round
    calibration = encoder.calibrate()
    assert calibration.precision == "bfloat16"
    assert encoder.tuning().precision == "bfloat16"
    assert encoder.encode_documents(WORDS).shape == (len(WORDS), 32)
    assert list(encoder._forwards) == ["bfloat16"]
