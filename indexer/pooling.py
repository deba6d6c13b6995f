"""A document's own embedding, made from those of its chunks as they come."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from indexer.datatypes import Vector


class Pooling(StrEnum):
    """How a document's embedding comes from its chunks'; a library is built with one of them."""

    WEIGHTED = "weighted"
    MEAN = "mean"
    MAX = "max"


class DocumentPooling:
    """Takes chunk embeddings one at a time, in any order, and keeps one row.

    ``weighted`` is the mean weighted by the chunks' tokens, ``mean`` counts every chunk alike, ``max`` takes the
    largest value in each dimension. Raises ValueError for any other name.
    """

    def __init__(self, pooling: str, dimension: int) -> None:
        self._pooling = Pooling(pooling)
        start = -np.inf if self._pooling is Pooling.MAX else 0.0
        self._row = np.full(dimension, start, dtype=np.float64)
        self._count = 0

    def add(self, embedding: Vector, tokens: int) -> None:
        """Count one chunk. It enters as it is stored, in float16, so that an embedding used again changes nothing."""
        row = embedding.astype(np.float16).astype(np.float64)
        self._count += 1
        if self._pooling is Pooling.MAX:
            np.maximum(self._row, row, out=self._row)
        else:
            self._row += row * (max(tokens, 1) if self._pooling is Pooling.WEIGHTED else 1)

    @property
    def embedding(self) -> Vector | None:
        """The document's embedding, unit length; None while no chunk was added."""
        length = np.linalg.norm(self._row) if self._count else 0.0
        return (self._row / length).astype(np.float32) if length > 0 else None
