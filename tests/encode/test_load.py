from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from transformers import BertConfig, DistilBertConfig

from indexer.encode import describe_encoder, load_encoder
from indexer.encode.lean import LeanEncoder
from indexer.encode.reference import ReferenceEncoder
from indexer.errors import EncoderError
from indexer.settings import Settings
from tests.encode.shapes import write_model

TINY = BertConfig(
    vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, pad_token_id=1
)


def test_an_unknown_name_says_what_there_is(settings: Settings) -> None:
    with pytest.raises(EncoderError, match="e5-small, minilm or the path"):
        load_encoder("e5-large", settings=settings)


def test_a_hub_name_needs_the_flag_and_touches_no_network(settings: Settings) -> None:
    with pytest.raises(EncoderError, match="--allow-download"):  # sockets are blocked in tests
        load_encoder("nobody/nothing-here", settings=settings)


def test_a_folder_without_a_model_is_named(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"has no config\.json"):
        load_encoder(str(tmp_path), settings=settings)


def test_any_local_folder_loads_and_its_fingerprint_follows_its_bytes(settings: Settings, tmp_path: Path) -> None:
    folder = write_model(tmp_path, TINY, pooling=None)
    encoder = load_encoder(str(folder), settings=settings)
    assert isinstance(encoder, LeanEncoder)
    assert encoder.encode_documents(["the cat", "a dog"]).shape == (2, 32)
    before = describe_encoder(str(folder), settings).fingerprint
    assert before == encoder.fingerprint
    settings_file = folder / "tokenizer_config.json"
    settings_file.write_text(json.dumps(json.loads(settings_file.read_text()) | {"changed": True}))
    assert describe_encoder(str(folder), settings).fingerprint != before


def test_other_shapes_go_through_sentence_transformers(settings: Settings, tmp_path: Path) -> None:
    config = DistilBertConfig(vocab_size=40, dim=32, n_layers=1, n_heads=2, hidden_dim=32, pad_token_id=1)
    encoder = load_encoder(str(write_model(tmp_path, config, length=32)), settings=settings)
    assert isinstance(encoder, ReferenceEncoder)
    texts = ["the cat", "who pays when delivery is late ?", "dog"]
    rows = encoder.encode_documents(texts)
    expected = encoder._load().encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(rows, expected, atol=1e-5)


def test_nothing_is_cut_in_silence(settings: Settings, tmp_path: Path) -> None:
    encoder = load_encoder(str(write_model(tmp_path, TINY, length=16)), settings=settings)
    assert encoder.max_tokens == 14
    with pytest.raises(EncoderError, match="17 tokens does not fit into the encoder's 16"):
        encoder.encode_documents(["dog " * 15])
    long_query = encoder.encode_query(["dog " * 14 + "cat " * 3])
    assert abs(np.linalg.norm(long_query) - 1) < 1e-5
    assert abs(long_query - encoder.encode_query(["dog " * 14])).max() > 1e-4


def test_many_queries_are_encoded_together_as_each_would_be_alone(settings: Settings, tmp_path: Path) -> None:
    encoder = load_encoder(str(write_model(tmp_path, TINY, length=16)), settings=settings)
    queries = ["the cat", "dog " * 14 + "cat " * 3, "who pays when delivery is late ?", "", "dog"]
    alone = np.concatenate([encoder.encode_query([query]) for query in queries])
    np.testing.assert_allclose(encoder.encode_query(queries), alone, atol=1e-5)
    assert encoder.encode_query([]).shape == (0, encoder.dimension)


def test_a_folders_own_code_is_not_run(settings: Settings, tmp_path: Path) -> None:
    folder = write_model(tmp_path, DistilBertConfig(vocab_size=40, dim=32, n_layers=1, n_heads=2, hidden_dim=32))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps(config | {"model_type": "evil", "auto_map": {"AutoModel": "evil.Model"}})
    )
    (folder / "evil.py").write_text("open('ran', 'w')")
    with pytest.raises(EncoderError, match="--trust-remote-code"):
        load_encoder(str(folder), settings=settings)


def test_weights_in_other_formats_are_refused(settings: Settings, tmp_path: Path) -> None:
    folder = write_model(tmp_path, TINY)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(EncoderError, match="safetensors"):
        load_encoder(str(folder), settings=settings)


def test_a_first_query_needs_no_torch(settings: Settings, tmp_path: Path) -> None:
    folder = write_model(tmp_path, TINY)
    code = (
        "import sys\n"
        "from indexer.encode import load_encoder\n"
        "from indexer.settings import load_settings\n"
        "encoder = load_encoder(sys.argv[1], settings=load_settings())\n"
        "assert encoder.count_tokens(['the cat']) == [2]\n"
        "assert encoder.encode_query(['the cat']).shape == (1, 32)\n"
        "assert 'torch' not in sys.modules\n"
        "assert encoder.encode_documents(['the cat'] * 40).shape == (40, 32)\n"
        "assert 'sentence_transformers' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True)
