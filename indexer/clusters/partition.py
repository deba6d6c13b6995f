"""Rows to clusters: k-means with the number asked for, or with the number that separates a sample best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indexer.datatypes import Ids, Matrix

SAMPLE = 3_000
MOST = 60
KEEP_NUMBER = 0.02
"""A refresh keeps the old number of clusters unless another one's silhouette is better by this much."""

_LEAST_SILHOUETTE = 0.05
_STARTS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """The cluster number of each row (0 to k - 1), the centres, and how k was chosen."""

    labels: Ids
    centres: Matrix
    criterion: str


def partition(rows: Matrix, k: int | None, seed: int, start: Matrix | None = None, most: int = MOST) -> Partition:
    """Cluster unit rows, into ``k`` clusters or, up to ``most``, as many as have the best silhouette.

    ``start`` holds the centres of an earlier clustering: as long as their number fits, the search begins there, so
    that what was a cluster stays one.
    """
    if k is None:
        k, criterion = _choose(rows, seed, None if start is None else len(start), most)
    else:
        k = min(k, len(rows))
        criterion = f"{k} clusters, as asked for"
    if k <= 1:
        return Partition(np.zeros(len(rows), np.int64), rows.mean(axis=0, keepdims=True), criterion)
    from sklearn.cluster import KMeans

    fits = start is not None and len(start) == k
    model = KMeans(k, init=start if fits else "k-means++", n_init=1 if fits else _STARTS, random_state=seed).fit(rows)
    return Partition(model.labels_.astype(np.int64), np.asarray(model.cluster_centers_, np.float32), criterion)


def _choose(rows: Matrix, seed: int, before: int | None, most: int) -> tuple[int, str]:
    """The number of clusters with the best mean silhouette (Rousseeuw 1987) over a sample, and that in words."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    chosen = np.random.default_rng(seed).permutation(len(rows))[:SAMPLE]
    sample = rows[np.sort(chosen)]
    scores: dict[int, float] = {}
    for k in _numbers(len(sample), before, most):
        labels = KMeans(k, n_init=3, random_state=seed).fit_predict(sample)
        if len(np.unique(labels)) > 1:
            scores[k] = float(silhouette_score(sample, labels))
    if not scores:
        return 1, "one cluster: too few documents to divide"
    best = max(scores, key=lambda k: (round(scores[k], 4), -k))
    if scores[best] < _LEAST_SILHOUETTE:
        return 1, f"one cluster: no number of clusters separates the documents (best silhouette {scores[best]:.2f})"
    if before in scores and scores[best] - scores[before] <= KEEP_NUMBER:
        return before, f"{before} clusters, as before (silhouette {scores[before]:.3f}, the best is {scores[best]:.3f})"
    return best, f"{best} clusters: of 2 to {max(scores)} the number with the best silhouette, {scores[best]:.3f}"


def _numbers(count: int, before: int | None, most: int) -> list[int]:
    """The numbers of clusters to try: every one to 20, then in steps of about a sixth, with three documents each."""
    numbers, k = [], 2
    while k <= min(most, count // 3):
        numbers.append(k)
        k = k + 1 if k < 20 else k + k // 6
    return sorted({*numbers, *([before] if before and 2 <= before < count else [])})
