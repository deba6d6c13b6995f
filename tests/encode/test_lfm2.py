"""The bidirectional LFM2 against a plain reference written here, on tiny checkpoints in the published layout."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import Lfm2Model

from indexer.encode import load_encoder
from indexer.encode.folder import read_folder
from indexer.encode.lfm2 import Lfm2Encoder, load_lfm2
from indexer.encode.reference import ReferenceEncoder
from indexer.errors import EncoderError
from indexer.settings import Settings
from tests.encode.shapes import LFM2_EPS as EPS, LFM2_LAYERS as LAYERS, WORDS, write_lfm2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_lfm2(tmp_path)


def plain_states(folder: Path, ids: torch.Tensor) -> torch.Tensor:
    """The model from its published description, one text at a time, nothing of transformers."""
    weights = load_file(folder / "model.safetensors")

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * weights[f"{name}.weight"]

    def turn(x: torch.Tensor) -> torch.Tensor:
        half = x.shape[-1] // 2
        angle = torch.arange(x.shape[-2])[:, None] * 1e6 ** (-torch.arange(half) / half)
        cos, sin = angle.cos(), angle.sin()
        first, second = x[..., :half], x[..., half:]
        return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)

    def attention(x: torch.Tensor, name: str) -> torch.Tensor:
        query, key, value = (x @ weights[f"{name}.{part}_proj.weight"].T for part in "qkv")
        query, key, value = (part.view(len(x), -1, 8).transpose(0, 1) for part in (query, key, value))
        query, key = turn(norm(query, f"{name}.q_layernorm")), turn(norm(key, f"{name}.k_layernorm"))
        key, value = key.repeat_interleave(2, 0), value.repeat_interleave(2, 0)
        mixed = torch.softmax(query @ key.transpose(1, 2) / math.sqrt(8), -1) @ value
        return mixed.transpose(0, 1).reshape(len(x), -1) @ weights[f"{name}.out_proj.weight"].T

    def convolution(x: torch.Tensor, name: str) -> torch.Tensor:
        gate_in, gate_out, inner = (x @ weights[f"{name}.in_proj.weight"].T).chunk(3, 1)
        gated = torch.cat([torch.zeros(1, 32), gate_in * inner, torch.zeros(1, 32)])
        kernel = weights[f"{name}.conv.weight"][:, 0]
        mixed = sum(gated[at : at + len(x)] * kernel[:, at] for at in range(3))
        return (gate_out * mixed) @ weights[f"{name}.out_proj.weight"].T

    x = weights["embed_tokens.weight"][ids]
    for at, kind in enumerate(LAYERS):
        layer = f"layers.{at}"
        before = norm(x, f"{layer}.operator_norm")
        x = x + (convolution(before, f"{layer}.conv") if kind == "conv" else attention(before, f"{layer}.self_attn"))
        inner = norm(x, f"{layer}.ffn_norm")
        up = torch.nn.functional.silu(inner @ weights[f"{layer}.feed_forward.w1.weight"].T)
        gated = up * (inner @ weights[f"{layer}.feed_forward.w3.weight"].T)
        x = x + gated @ weights[f"{layer}.feed_forward.w2.weight"].T
    return norm(x, "embedding_norm")


@pytest.mark.parametrize("theta", [1e6])
def test_the_states_equal_the_plain_reference(folder: Path, theta: float) -> None:
    settings = json.loads((folder / "config.json").read_text())
    settings["rope_parameters"] = {"rope_type": "default", "rope_theta": theta}
    (folder / "config.json").write_text(json.dumps(settings))
    ids = torch.randint(4, 30, (19,), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        states = load_lfm2(read_folder(folder)).states(ids[None], torch.ones(1, 19, dtype=torch.int64))
    torch.testing.assert_close(states[0], plain_states(folder, ids), atol=1e-4, rtol=1e-4)


def test_a_change_at_the_end_alters_the_first_state(folder: Path) -> None:
    model = load_lfm2(read_folder(folder))
    causal = Lfm2Model.from_pretrained(folder, local_files_only=True).eval()
    one = torch.arange(4, 24)[None]
    other = one.clone()
    other[0, -1] = 30
    mask = torch.ones_like(one)
    with torch.inference_mode():
        assert (model.states(one, mask)[0, 0] - model.states(other, mask)[0, 0]).abs().max() > 1e-4
        unmoved = causal(input_ids=one).last_hidden_state[0, 0] - causal(input_ids=other).last_hidden_state[0, 0]
        assert unmoved.abs().max() < 1e-6  # as published for text generation, it would not


def test_a_short_convolution_looks_one_token_ahead_and_one_back(folder: Path) -> None:
    convolution = load_lfm2(read_folder(folder)).layers[0].conv
    x = torch.randn(1, 9, 32)
    changed = x.clone()
    changed[0, 4] += 1
    with torch.inference_mode():
        moved = (convolution(x) - convolution(changed)).abs().amax(2)[0] > 1e-7
    assert moved.tolist() == [False] * 3 + [True] * 3 + [False] * 3


def test_it_loads_from_the_folder_without_running_its_code(folder: Path, settings: Settings) -> None:
    encoder = load_encoder(str(folder), settings=settings)
    assert isinstance(encoder, Lfm2Encoder)
    texts = ["the cat sat", " ".join(WORDS), "dog", "who pays when delivery is late ?"]
    rows = encoder.encode_documents(texts)
    assert not (folder / "ran").exists()
    alone = [encoder.encode_documents([text])[0] for text in texts]
    for row, other in zip(rows, alone, strict=True):  # padding reaches nobody
        assert abs(row - other).max() < 1e-5
    cheaper = load_encoder(str(folder), settings=replace(settings, precision="bfloat16"))
    assert (cheaper.encode_documents(texts) * rows).sum(1).min() > 0.99


@pytest.mark.parametrize("prefix", ["model.", "lfm2."])
def test_names_with_a_prefix_and_a_head_beside_them_load(folder: Path, prefix: str) -> None:
    before = load_lfm2(read_folder(folder)).state_dict()
    weights = {prefix + name: value for name, value in load_file(folder / "model.safetensors").items()}
    weights["lm_head.weight"] = torch.zeros(40, 32)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    for name, value in load_lfm2(read_folder(folder)).state_dict().items():
        torch.testing.assert_close(value, before[name])


def test_missing_weights_are_named(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["layers.2.conv.in_proj.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match=r"layers\.2\.conv\.in_proj\.weight"):
        load_lfm2(read_folder(folder))


def test_a_model_that_writes_text_is_not_taken_for_an_encoder(folder: Path, settings: Settings) -> None:
    config = json.loads((folder / "config.json").read_text()) | {"architectures": ["Lfm2ForCausalLM"]}
    (folder / "config.json").write_text(json.dumps(config))
    assert isinstance(load_encoder(str(folder), settings=settings), ReferenceEncoder)
