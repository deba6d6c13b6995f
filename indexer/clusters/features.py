"""From embeddings to what is clustered: few principal components, nearest neighbours and outliers by density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import Ids, Matrix

COMPONENTS = 32
"""Principal components that are clustered: from the middle of a plateau. On three judged sets V-measure hardly
changes from 12 to 128 (``python -m tests.benchmarks.clusters --curve``).
"""

NEIGHBOURS = 12
LANDMARKS = 10_000
OUTLIER_FACTOR = 1.5
"""How much thinner than around its neighbours the density around an outlier must be."""

_ROWS_AT_ONCE = 2048
Mask = NDArray[np.bool_]


def components(rows: Matrix, count: int = COMPONENTS) -> Matrix:
    """The first principal components of rows, each row made unit length again; shape (n, count) or fewer columns."""
    centred = rows - rows.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    axes = axes[:, ::-1][:, : min(count, len(rows))]
    axes *= np.sign(
        axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    )  # one of the two signs, always the same
    return unit(np.asarray(centred @ axes, dtype=np.float32))


def unit(rows: Matrix) -> Matrix:
    """The rows scaled to unit length; a row of zeros stays."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def landmarks(count: int, seed: int) -> Ids:
    """Up to 10,000 row numbers, ascending, that stand for all: neighbours are looked for among them only."""
    if count <= LANDMARKS:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, LANDMARKS, replace=False))


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The nearest landmarks of each row, nearest first: positions among the landmarks and squared distances, (n, k)."""

    positions: Ids
    distances: Matrix


def nearest(rows: Matrix, marks: Matrix, k: int = NEIGHBOURS, own: Ids | None = None) -> Neighbours:
    """The ``k`` nearest landmarks of unit rows; ``own`` gives each row's position among them, left out (-1: none)."""
    k = min(k, len(marks) - (own is not None))
    positions, distances = np.zeros((len(rows), k), np.int64), np.zeros((len(rows), k), np.float32)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        scores = rows[start : start + _ROWS_AT_ONCE] @ marks.T
        if own is not None:
            here = own[start : start + _ROWS_AT_ONCE]
            scores[np.flatnonzero(here >= 0), here[here >= 0]] = -np.inf
        top = np.argpartition(-scores, k - 1, axis=1)[:, :k] if k < scores.shape[1] else np.argsort(-scores, axis=1)
        order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1, kind="stable")
        top = np.take_along_axis(top, order, axis=1)
        positions[start : start + len(top)] = top
        distances[start : start + len(top)] = 2 - 2 * np.take_along_axis(scores, top, axis=1)
    return Neighbours(positions, np.maximum(distances, 0))


def outliers(near: Neighbours, marks_near: Neighbours) -> Mask:
    """Which rows lie in much thinner surroundings than their neighbours do.

    The local outlier factor (Breunig, Kriegel, Ng and Sander, "LOF", SIGMOD 2000) with mean distances for densities.
    """
    if near.distances.shape[1] < 3:
        return np.zeros(len(near.distances), dtype=np.bool_)
    around = np.sqrt(near.distances).mean(axis=1)
    usual = np.sqrt(marks_near.distances).mean(axis=1)[near.positions].mean(axis=1)
    return np.asarray(around > OUTLIER_FACTOR * np.maximum(usual, 1e-3))
