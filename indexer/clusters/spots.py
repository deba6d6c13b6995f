"""Where labels stand on a map: beside what they name, off the dots, and never on each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_ANGLES = 12
_RINGS = 4
_DOT = 3.0
_WAY = 1 / 12
_LABEL = 1000.0

_Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelBox:
    """A label's size and the point that it names, all in the same unit, such as pixels."""

    x: float
    y: float
    width: float
    height: float


def label_spots(boxes: Sequence[LabelBox], dots: _Points, low: _Points, high: _Points) -> _Points:
    """The middles of labels, shape (n, 2), within the frame from ``low`` to ``high`` where they fit.

    One after the other, each takes the spot on rings around its point that covers no label before it, few of the dots
    (shape (m, 2)), and lies near.
    """
    taken: list[tuple[_Points, _Points]] = []
    for box in boxes:
        half = np.array([box.width, box.height]) / 2
        point = np.array([box.x, box.y])
        every = list(_around(point, half))
        spots = [spot for spot in every if (spot - half >= low).all() and (spot + half <= high).all()] or every[:1]
        best = min(spots, key=lambda spot: _cost(spot, half, point, taken, dots))
        taken.append((best, half))
    return np.array([spot for spot, _ in taken], dtype=np.float64).reshape(-1, 2)


def _around(point: _Points, half: _Points) -> Iterator[_Points]:
    """The point itself, and rings around it that are as flat as the label."""
    yield point
    for ring in range(1, _RINGS + 1):
        for angle in np.linspace(0, 2 * np.pi, _ANGLES, endpoint=False) + np.pi / 2:
            yield point + ring * np.array([np.cos(angle), 2 * np.sin(angle)]) * half


def _cost(
    spot: _Points, half: _Points, point: _Points, taken: Sequence[tuple[_Points, _Points]], dots: _Points
) -> float:
    """What a spot costs: a label covered most, then dots covered, then the way."""
    covered = sum(bool((np.abs(spot - other) < half + its_half).all()) for other, its_half in taken)
    under = int((np.abs(dots - spot) <= half).all(axis=1).sum()) if len(dots) else 0
    return _LABEL * covered + _DOT * under + _WAY * float(np.hypot(*(spot - point)))
