from __future__ import annotations

import numpy as np
import pytest

from indexer.pooling import DocumentPooling

FIRST, SECOND = np.array([1, 0, 0], np.float32), np.array([0, 0.6, -0.8], np.float32)


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [("weighted", [3, 0.6, -0.8]), ("mean", [1, 0.6, -0.8]), ("max", [1, 0.6, 0])],
)
def test_each_pooling_gives_its_unit_row(pooling: str, expected: list[float]) -> None:
    pooled = DocumentPooling(pooling, 3)
    pooled.add(FIRST, 30)
    pooled.add(SECOND, 10)
    assert pooled.embedding is not None
    np.testing.assert_allclose(pooled.embedding, expected / np.linalg.norm(expected), atol=1e-3)
    assert np.linalg.norm(pooled.embedding) == pytest.approx(1)


def test_no_chunks_have_no_embedding_and_unknown_pooling_is_refused() -> None:
    assert DocumentPooling("mean", 3).embedding is None
    with pytest.raises(ValueError, match="median"):
        DocumentPooling("median", 3)
