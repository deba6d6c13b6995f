"""The built-in encoders as they really are: known cosines, and equality with sentence_transformers' own encoding."""

from __future__ import annotations

import numpy as np
import pytest

from indexer.encode import describe_calibration, describe_encoder, load_encoder
from indexer.encode.batching import BatchingEncoder
from indexer.settings import Settings

pytestmark = pytest.mark.slow

QUERIES = ["如何在CPU上处理长文本？", "how to run long text on CPU?", "猫喜欢吃鱼", "Ｆｕｌｌｗｉｄｔｈ ①②  ２０２６年"]
DOCUMENTS = [
    "在 CPU 服务器上编码超长文档时需要分块，以控制内存。",
    "Chunk long documents so memory stays bounded on CPU servers.",
    "The cat likes fish.",
    "股票市场今天上涨。",
    "Full width 12 2026年",
]
E5_COSINES = [
    [0.886, 0.837, 0.703, 0.798, 0.814],
    [0.835, 0.884, 0.701, 0.747, 0.777],
    [0.812, 0.752, 0.872, 0.813, 0.814],
    [0.837, 0.812, 0.735, 0.829, 0.978],
]


def test_e5_small_gives_its_known_cosines(shared_settings: Settings) -> None:
    encoder = load_encoder("e5-small", settings=shared_settings)
    cosines = encoder.encode_query(QUERIES) @ encoder.encode_documents(DOCUMENTS).T
    np.testing.assert_allclose(cosines, E5_COSINES, atol=0.005)


@pytest.mark.parametrize("name", ["e5-small", "minilm"])
def test_the_lean_pass_equals_sentence_transformers(name: str, shared_settings: Settings) -> None:
    from sentence_transformers import SentenceTransformer

    encoder = load_encoder(name, settings=shared_settings)
    reference = SentenceTransformer(str(encoder.folder.path), device="cpu", local_files_only=True)
    texts = [*DOCUMENTS, *QUERIES, "", "word " * 150, "长" * 200]
    expected = reference.encode(texts, prompt=encoder.document_prompt, normalize_embeddings=True)
    assert (encoder.encode_documents(texts) * expected).sum(1).min() > 0.99999


def test_what_is_described_is_what_is_loaded(shared_settings: Settings) -> None:
    for name in ("e5-small", "minilm"):
        spec = describe_encoder(name, shared_settings)
        encoder = load_encoder(name, settings=shared_settings)
        assert (spec.name, spec.fingerprint, spec.dimension) == (encoder.name, encoder.fingerprint, encoder.dimension)
        assert encoder.encode_query(["x"]).shape == (1, spec.dimension)


def test_the_real_model_is_measured_and_only_what_agrees_is_chosen(measuring_settings: Settings) -> None:
    """Whatever this machine is: nothing wrong is chosen, the refused say why, and what was chosen is worked with."""
    encoder = load_encoder("minilm", settings=measuring_settings)
    assert isinstance(encoder, BatchingEncoder)
    calibration = encoder.calibrate()
    assert describe_calibration("minilm", measuring_settings) == calibration
    assert [trial.precision for trial in calibration.trials][0] == "float32"
    assert {trial.precision for trial in calibration.trials} == {"float32", "bfloat16", "int8"}
    for trial in calibration.trials:
        assert trial.refused or trial.cosine >= 0.999
    allowed = {trial.precision for trial in calibration.trials if not trial.refused}
    assert calibration.precision in allowed
    assert 5_000 < calibration.bytes_per_token < 500_000
    tuning = encoder.tuning()
    assert (tuning.precision, tuning.threads, tuning.batch_tokens) == (
        calibration.precision,
        calibration.threads,
        calibration.batch_tokens,
    )
