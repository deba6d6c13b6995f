"""The map: rows laid out on a plane so that neighbours stay neighbours, and new rows put among the old ones.

The layout follows PaCMAP (Wang, Huang, Rudin and Shaposhnik, "Understanding how dimension reduction tools work", JMLR
2021): near pairs attract, mid-near pairs hold the whole together at first, random far pairs repel; the loss functions,
weights and phases are the paper's. Written in numpy, it needs no compiler at run time, which UMAP does. A few rows, all
of them each other's neighbours, are laid out by their distances instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.clusters.features import Neighbours
from indexer.datatypes import Ids, Matrix

NEAR = 10
MID_NEAR = 5
FAR = 20
STEPS = (100, 100, 250)
FEW = 64
"""Up to so many rows are laid out by all their distances: ten near ones of each would be nearly all."""
_ROUNDS = 300
_LEAST_GAP = 0.35
"""Least distance of two dots on a plane from -1 to 1, times the root of their number."""
_PUSHES = 60
_FAR_OUT = 1.33
_Plane = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Pairs (i, partners[i, j]) with the constant of their loss; ``order`` and ``starts`` group them by partner."""

    partners: Ids
    constant: float
    sign: float
    order: Ids
    ends: Ids

    @classmethod
    def of(cls, partners: Ids, constant: float, sign: float) -> _Pairs:
        flat = partners.ravel()
        order = np.argsort(flat, kind="stable")
        return cls(partners, constant, sign, order, np.searchsorted(flat[order], np.arange(len(partners) + 1)))

    def add_gradient(self, plane: _Plane, weight: float, gradient: _Plane) -> None:
        """Add the gradient of weight * d / (constant + d), d = 1 + distance squared, or of its mirror for far pairs."""
        difference = plane[:, None, :] - plane[self.partners]
        distance = 1 + (difference**2).sum(axis=2)
        force = (self.sign * weight * 2 * self.constant / (self.constant + distance) ** 2)[..., None] * difference
        gradient += force.sum(axis=1)
        sums = np.zeros((force.shape[0] * force.shape[1] + 1, 2), dtype=np.float64)
        np.cumsum(force.reshape(-1, 2)[self.order], axis=0, out=sums[1:])
        gradient -= (sums[self.ends[1:]] - sums[self.ends[:-1]]).astype(np.float32)


def lay_out(rows: Matrix, near: Neighbours, seed: int) -> _Plane:
    """Positions on the plane for unit rows, shape (n, 2), within -1 to 1; the same for the same rows and seed."""
    count = len(rows)
    if count < 4:
        return _scaled(np.column_stack([np.arange(count), np.zeros(count)]).astype(np.float32))
    if count <= FEW:
        return _scaled(_by_distances(rows))
    chance = np.random.default_rng(seed)
    pairs = (
        _Pairs.of(near.positions[:, :NEAR], 10.0, 1.0),
        _Pairs.of(_mid_near(rows, chance), 10_000.0, 1.0),
        _Pairs.of(chance.integers(0, count, (count, min(FAR, count))), 1.0, -1.0),
    )
    plane = np.asarray(rows[:, :2] * 0.01, dtype=np.float32)
    if plane.shape[1] < 2:
        plane = np.column_stack([plane, np.zeros(count, np.float32)])
    return _scaled(_apart(_descend(plane, pairs)))


def _by_distances(rows: Matrix) -> _Plane:
    """Positions whose distances are as those of the rows as can be, by stress majorization (de Leeuw 1977).

    It begins at the rows' two principal components, where no two lie farther apart than they should.
    """
    rows = rows - rows.mean(axis=0)
    wanted = np.linalg.norm(rows[:, None, :] - rows, axis=2)
    axes = np.linalg.svd(rows, full_matrices=False)[2][:2]
    plane = rows @ axes.T
    for _ in range(_ROUNDS):
        drawn = np.linalg.norm(plane[:, None, :] - plane, axis=2)
        pull = wanted / np.maximum(drawn, 1e-6)
        plane = (pull.sum(axis=1)[:, None] * plane - pull @ plane) / len(rows)
    return np.asarray(plane, dtype=np.float32)


def _descend(plane: _Plane, pairs: tuple[_Pairs, _Pairs, _Pairs]) -> _Plane:
    """Adam (Kingma and Ba 2015) with the paper's step size of 1."""
    first, second = np.zeros_like(plane), np.zeros_like(plane)
    for step in range(1, sum(STEPS) + 1):
        gradient = np.zeros_like(plane)
        for kind, weight in zip(pairs, _weights(step), strict=True):
            if weight:
                kind.add_gradient(plane, weight, gradient)
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        rate = np.float32(np.sqrt(1 - 0.999**step) / (1 - 0.9**step))
        plane = np.asarray(plane - rate * first / (np.sqrt(second) + np.float32(1e-7)), dtype=np.float32)
    return plane


def _weights(step: int) -> tuple[float, float, float]:
    """The weights of near, mid-near and far pairs in a step."""
    if step <= STEPS[0]:
        return 2.0, 1000 - (1000 - 3) * step / STEPS[0], 1.0
    return (3.0, 3.0, 1.0) if step <= STEPS[0] + STEPS[1] else (1.0, 0.0, 1.0)


def _mid_near(rows: Matrix, chance: np.random.Generator) -> Ids:
    """For each row five others, each the second nearest of six taken at random."""
    count = len(rows)
    chosen = np.zeros((count, MID_NEAR), dtype=np.int64)
    for column in range(MID_NEAR):
        drawn = chance.integers(0, count, (count, 6))
        likeness = np.einsum("nd,nkd->nk", rows, rows[drawn])
        second = np.argpartition(-likeness, 1, axis=1)[:, 1]
        chosen[:, column] = drawn[np.arange(count), second]
    return chosen


def _apart(plane: _Plane) -> _Plane:
    """Push dots apart that lie nearly on each other, so that each can be seen and pointed at; far ones stay."""
    from scipy.spatial import cKDTree

    least = _LEAST_GAP / np.sqrt(len(plane)) * _reach(np.asarray(plane - np.median(plane, axis=0), dtype=np.float32))
    turn = np.arange(len(plane)) * 2.399963  # the golden angle: neighbours in the order go ways of their own
    plane = np.asarray(plane + 1e-3 * least * np.column_stack([np.cos(turn), np.sin(turn)]), dtype=np.float32)
    for _ in range(_PUSHES):
        pairs = cKDTree(plane).query_pairs(least, output_type="ndarray")
        if not len(pairs):
            break
        way = plane[pairs[:, 0]] - plane[pairs[:, 1]]
        distance = np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
        push = np.asarray(way / distance * (least - distance) / 4, dtype=np.float32)
        np.add.at(plane, pairs[:, 0], push)
        np.subtract.at(plane, pairs[:, 1], push)
    return plane


def _scaled(plane: _Plane) -> _Plane:
    """Moved and scaled so that the middle lies at 0 and all within -1 to 1, a few far ones at the edge."""
    if not len(plane):
        return plane
    plane = np.asarray(plane - np.median(plane, axis=0), dtype=np.float32)
    return np.asarray(np.clip(plane / _reach(plane), -1, 1), dtype=np.float32)


def _reach(plane: _Plane) -> float:
    """How far dots lie from the middle, the farthest hundredth counted with at most a third more than the others."""
    away = np.abs(plane)
    return float(min(away.max(), _FAR_OUT * np.quantile(away, 0.99))) or 1.0


def project(near: Neighbours, plane: _Plane) -> _Plane:
    """Where rows lie whose nearest are on the map already: at the weighted middle of the three nearest."""
    weights = 1 / (near.distances[:, :3] + 0.05) ** 2
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray((plane[near.positions[:, :3]] * weights[..., None]).sum(axis=1), dtype=np.float32)
