"""The numbers of fusion: what the two sides of a search give, put on one scale and added up.

``z(cosine) + 5 * bm25 / expected + 3 * coverage``: the cosine counts in standard deviations over the library's chunks,
estimated from a fixed sample; BM25 as a share of what a good match could have; coverage is how much of the query the
document speaks of (coverage.py). Dividing by the best BM25 alone, as is usual, gives a chunk that holds one common word
of a question the full weight when no chunk holds the others; dividing by at least ``_ATTAINABLE`` of the sum of the
terms' inverse document frequencies does not. It is what lets a question in another language than the documents be
answered by meaning without a switch (tests/benchmarks/quality.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import Matrix, Vector

LEXICAL_WEIGHT = 5.0
COVERAGE_WEIGHT = 3.0
_ATTAINABLE = 0.7
_SMALLEST_DEVIATION = 0.02

Scores = NDArray[np.float32]
"""Scores, shape (n,), higher is better."""


@dataclass(frozen=True, slots=True)
class Background:
    """How a query's cosines are spread over the library's chunks."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, query: Vector, sample: Matrix) -> Background:
        """Estimated from the rows of a sample of chunks, centred as the query is."""
        if not len(sample):
            return cls(0.0, 1.0)
        cosines = sample @ query
        return cls(float(cosines.mean()), max(float(cosines.std()), _SMALLEST_DEVIATION))

    def standardise(self, cosines: Scores) -> Scores:
        """Cosines in standard deviations above the mean."""
        return np.asarray((cosines - self.mean) / self.deviation, dtype=np.float32)


def inverse_document_frequency(chunks_with_term: int, chunks: int) -> float:
    """BM25's weight of a term, as SQLite's FTS5 computes it; never below zero."""
    return max(float(np.log((chunks - chunks_with_term + 0.5) / (chunks_with_term + 0.5))), 1e-6)


def attainable(frequencies: Mapping[str, int], chunks: int) -> float:
    """The sum of the weights of a query's terms, those that stand nowhere included."""
    return sum(inverse_document_frequency(count, chunks) for count in frequencies.values())


def lexical_share(bm25: Scores, best: float, attainable_sum: float) -> Scores:
    """BM25 scores as shares, 0 to 1, of what a good match would have."""
    expected = max(best, _ATTAINABLE * attainable_sum)
    return np.asarray(bm25 / expected if expected > 0 else np.zeros_like(bm25), dtype=np.float32)
