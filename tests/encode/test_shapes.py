"""Architectures named in the field, as tiny random checkpoints: they load, encode, and depend on the whole text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file
from transformers import (
    GteConfig,
    LongformerConfig,
    ModernBertConfig,
    NomicBertConfig,
    XLMRobertaConfig,
)

from indexer.encode import load_encoder
from indexer.encode.lean import LeanEncoder
from indexer.errors import EncoderError
from indexer.settings import Settings
from tests.encode.shapes import WORDS, write_model

SIZES = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 130,
    "pad_token_id": 1,
}
TEXTS = ["the cat sat", "dog", " ".join(WORDS), "who pays when delivery is late ?", "长文本 " * 20]
SHAPES = {
    "modernbert": ModernBertConfig(**SIZES, bos_token_id=0, eos_token_id=2, cls_token_id=0, sep_token_id=2),
    "longformer": LongformerConfig(**SIZES, attention_window=[8, 8], bos_token_id=0, eos_token_id=2),
    "xlm-roberta": XLMRobertaConfig(**SIZES, type_vocab_size=1),
    "nomic": NomicBertConfig(**SIZES),
    "gte": GteConfig(**SIZES),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_it_loads_and_encodes_whole_texts(shape: str, tmp_path: Path, settings: Settings) -> None:
    folder = write_model(tmp_path, SHAPES[shape], length=100)
    encoder = load_encoder(str(folder), settings=settings)
    assert encoder.dimension == 32
    assert isinstance(encoder, LeanEncoder) == (shape == "xlm-roberta")
    rows = encoder.encode_documents(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    alone = np.concatenate([encoder.encode_documents([text]) for text in TEXTS])
    np.testing.assert_allclose(rows, alone, atol=2e-5)  # padding reaches nobody
    last = encoder.encode_documents([TEXTS[3], TEXTS[3].replace("?", ".")])
    assert abs(last[0] - last[1]).max() > 1e-4


def test_code_beside_a_known_architecture_is_left_alone(tmp_path: Path, settings: Settings) -> None:
    folder = write_model(tmp_path, SHAPES["nomic"], length=100)
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModel": "modeling.NomicBertModel", "AutoConfig": "modeling.NomicBertConfig"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "modeling.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    assert load_encoder(str(folder), settings=settings).encode_documents(["dog"]).shape == (1, 32)
    assert not (tmp_path / "ran").exists()


def test_weights_that_do_not_fit_are_refused_not_filled_with_noise(tmp_path: Path, settings: Settings) -> None:
    folder = write_model(tmp_path, SHAPES["modernbert"], length=100)
    weights = load_file(folder / "model.safetensors")
    (name,) = [name for name in weights if name.endswith("layers.1.mlp.Wo.weight")]
    del weights[name]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match="noise"):
        load_encoder(str(folder), settings=settings).encode_documents(["dog"])
