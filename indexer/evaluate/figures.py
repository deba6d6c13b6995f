"""The figures of retrieval: nDCG, hits, recall, reciprocal ranks, and a paired bootstrap between two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    """Discounted gain of the first ``k`` over that of the best order (Järvelin and Kekäläinen 2002; gain = grade)."""
    gains = [max(grades.get(document, 0), 0) for document in ranked[:k]]
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k]
    ideal = _discounted(best)
    return _discounted(gains) / ideal if ideal else 0.0


def _discounted(gains: Sequence[int]) -> float:
    return float(sum(gain / np.log2(rank + 1) for rank, gain in enumerate(gains, start=1)))


def recall(ranked: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    """The share of the right documents among the first ``k``."""
    right = {document for document, grade in grades.items() if grade > 0}
    return len(right & set(ranked[:k])) / len(right) if right else 0.0


def first_right(ranked: Sequence[str], grades: Mapping[str, int], k: int = 10) -> int | None:
    """The rank, from 1, of the first right document among the first ``k``."""
    return next((rank for rank, one in enumerate(ranked[:k], start=1) if grades.get(one, 0) > 0), None)


@dataclass(frozen=True, slots=True)
class Difference:
    """How two runs differ on the same queries: the mean of the differences and what chance would do to it.

    ``low`` and ``high`` hold 95 % of the means of resampled queries; ``p`` is the two-sided share of them on the other
    side of zero.
    """

    figure: str
    mean: float
    low: float
    high: float
    p: float
    better: int
    worse: int

    @property
    def beyond_chance(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0 or self.high < 0


def paired_bootstrap(
    figure: str, ours: NDArray[np.float64], theirs: NDArray[np.float64], *, samples: int = 5000, seed: int = 0
) -> Difference:
    """Compare two runs' values on the same queries (Efron 1979; Sakai 2006 for its use in retrieval)."""
    differences = ours - theirs
    random = np.random.default_rng(seed)
    means = np.array(
        [differences[random.integers(0, len(differences), len(differences))].mean() for _ in range(samples)]
    )
    other_side = min((means <= 0).mean(), (means >= 0).mean())
    low, high = np.percentile(means, [2.5, 97.5])
    return Difference(
        figure,
        float(differences.mean()),
        float(low),
        float(high),
        min(1.0, 2 * float(other_side)),
        int((differences > 1e-9).sum()),
        int((differences < -1e-9).sum()),
    )
