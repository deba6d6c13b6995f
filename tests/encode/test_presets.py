from __future__ import annotations

from pathlib import Path

import pytest

from indexer.encode import presets
from indexer.encode.lfm2 import BidirectionalLfm2
from indexer.encode.models import build, load_folder, scale_rope
from indexer.encode.presets import PRESETS, RopeScaling
from indexer.errors import EncoderError


@pytest.mark.parametrize("text", ["yarn", "yarn:x", "yarn:0.5", "cubic:2", ""])
def test_rope_scaling_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(EncoderError, match="FACTOR"):
        RopeScaling.parse(text)


def test_rope_scaling_reaches_every_kind_of_layer() -> None:
    flat = type("Flat", (), {"rope_parameters": {"rope_theta": 1.0, "rope_type": "default"}})()
    scale_rope(flat, RopeScaling.parse("yarn:4"), 1000)
    assert flat.rope_parameters["rope_type"] == "yarn"
    assert flat.max_position_embeddings == 4000
    kinds = {"full": {"rope_theta": 1.0}, "sliding": {"rope_theta": 2.0}}
    nested = type("Nested", (), {"rope_parameters": kinds})()
    scale_rope(nested, RopeScaling.parse("linear:2"), 1000)
    assert [value["factor"] for value in nested.rope_parameters.values()] == [2.0, 2.0]


def test_an_unknown_architecture_is_answered_with_those_there_are() -> None:
    with pytest.raises(EncoderError, match="modernbert-30m"):
        build("transformer-xl", 128)


def test_rope_scaling_does_not_apply_without_rotary_positions() -> None:
    with pytest.raises(EncoderError, match="no rotary"):
        build("bert-30m", 128, RopeScaling.parse("linear:2"))


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_architecture_gives_a_state_for_every_token(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(presets, "SIZES", {"30m": (64, 2_100_000)})
    length = 1100 if name in ("bigbird", "windows") else 64  # below a length, block-sparse attention is full
    model = build(f"{name}-30m", length)
    with torch.inference_mode():
        states = model(torch.randint(5, 1000, (1, length)))
    assert states.shape == (1, length, 64)
    assert torch.isfinite(states).all()


def test_the_lfm2_preset_reads_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(presets, "SIZES", {"30m": (64, 2_100_000)})
    model = build("lfm2-30m", 16)
    assert isinstance(model.model, BidirectionalLfm2)
    ids = torch.arange(5, 21)[None]
    changed = ids.clone()
    changed[0, -1] = 30
    with torch.inference_mode():
        assert (model(ids)[0, 0] - model(changed)[0, 0]).abs().max() > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["linear:2", "dynamic:2", "yarn:2"])
def test_rotary_models_run_beyond_their_length(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(presets, "SIZES", {"30m": (128, 5_000_000)})
    with torch.inference_mode():
        states = build("modernbert-30m", 256, RopeScaling.parse(kind))(torch.randint(5, 1000, (1, 256)))
    assert states.shape == (1, 256, 128)


@pytest.mark.slow
def test_a_folder_whose_positions_end_is_refused(tmp_path: Path) -> None:
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=1000, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(tmp_path)
    assert load_folder(tmp_path, 64) is not None
    with pytest.raises(EncoderError, match="64 positions, 128 do not fit"):
        load_folder(tmp_path, 128)
