"""The lean passes, in torch and in NumPy, against sentence_transformers on tiny random checkpoints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from transformers import BertConfig, XLMRobertaConfig

from indexer.datatypes import Matrix
from indexer.encode.folder import read_folder
from indexer.encode.lean import LeanEncoder, is_lean
from indexer.encode.precision import Precision
from indexer.encode.quick import QuickBert, quick_rows
from indexer.settings import Settings
from tests.encode.shapes import WORDS, write_model

SIZES = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 66,
    "pad_token_id": 1,
}
TEXTS = ["the cat sat on the mat", "who pays when delivery is late ?", "", "长文本", " ".join(WORDS), "dog . " * 20]


@pytest.fixture(params=["bert-mean", "bert-cls", "xlm-roberta-cls", "xlm-roberta-mean"])
def encoder(request: pytest.FixtureRequest, tmp_path: Path, settings: Settings) -> LeanEncoder:
    kind, pooling = request.param.rsplit("-", 1)
    config = BertConfig(**SIZES) if kind == "bert" else XLMRobertaConfig(**SIZES, type_vocab_size=1)
    folder = read_folder(write_model(tmp_path, config, pooling=pooling))
    assert is_lean(folder)
    return LeanEncoder(folder, folder.spec("tiny", "0"), settings)


def reference_rows(encoder: LeanEncoder, texts: list[str]) -> Matrix:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(encoder.folder.path), device="cpu", local_files_only=True)
    return np.asarray(model.encode(texts, normalize_embeddings=True), dtype=np.float32)


def test_both_passes_equal_sentence_transformers(encoder: LeanEncoder) -> None:
    expected = reference_rows(encoder, TEXTS)
    np.testing.assert_allclose(encoder.encode_documents(TEXTS), expected, atol=1e-5)
    quick = quick_rows(QuickBert(encoder.folder), encoder._tokenizer.ids(TEXTS))
    np.testing.assert_allclose(quick, expected, atol=1e-5)


def test_a_row_does_not_depend_on_its_batch(encoder: LeanEncoder) -> None:
    together = encoder.encode_documents(TEXTS)
    alone = np.concatenate([encoder.encode_documents([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize("precision", [Precision.BFLOAT16, Precision.INT8])
def test_cheaper_precisions_stay_near(encoder: LeanEncoder, precision: Precision) -> None:
    expected = encoder.encode_documents(TEXTS)
    cheaper = LeanEncoder(encoder.folder, encoder.spec, replace(encoder._settings, precision=precision))
    cosines = (cheaper.encode_documents(TEXTS) * expected).sum(1)
    assert cosines.min() > 0.995  # random weights are harder to round than trained ones
    assert cosines.min() < 0.9999999  # it really was another precision
