from __future__ import annotations

import numpy as np
import pytest

from indexer.search.fusion import Background, attainable, inverse_document_frequency, lexical_share


def test_cosines_count_in_deviations_of_the_library() -> None:
    random = np.random.default_rng(0)
    sample = random.normal(size=(500, 8)).astype(np.float32)
    sample /= np.linalg.norm(sample, axis=1, keepdims=True)
    query = sample[0]
    scores = Background.of(query, sample).standardise(sample @ query)
    assert float(scores.mean()) == pytest.approx(0, abs=1e-3)
    assert float(scores.std()) == pytest.approx(1, abs=1e-3)
    assert np.isfinite(Background.of(query, sample[:1]).standardise(sample @ query)).all()
    assert np.isfinite(Background.of(query, sample[:0]).standardise(sample @ query)).all()


def test_one_common_word_of_many_does_not_count_as_a_match() -> None:
    expected = attainable({"rare": 0, "rarer": 0, "common": 400}, 1000)
    common = np.array([0.4], dtype=np.float32)
    assert float(lexical_share(common, 0.4, expected)[0]) < 0.1
    full = np.array([12.0, 6.0], dtype=np.float32)
    assert lexical_share(full, 12.0, 10.0).tolist() == [1.0, 0.5]
    assert lexical_share(np.zeros(2, dtype=np.float32), 0.0, 0.0).tolist() == [0.0, 0.0]


def test_a_term_in_most_chunks_weighs_nothing() -> None:
    assert inverse_document_frequency(900, 1000) == pytest.approx(1e-6)
    assert inverse_document_frequency(1, 1000) > inverse_document_frequency(10, 1000) > 1
