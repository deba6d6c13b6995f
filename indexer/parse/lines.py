"""A page's lines and their reading order: columns one after the other, Japanese and Chinese columns from the right.

PDFium hands over lines in the order in which the page draws them, which is nearly always the reading order. It is
changed only where it cannot be right: where one line runs over two columns, or where the lines jump up and down.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

_SOLID = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_LEAST_LINES = 4
_LEAST_SIDE_CHARS = 18
_MOST_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Gap:
    """A wide space inside a line: where the text goes on after it, and from where to where it reaches."""

    offset: int
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its text, where that begins in PDFium's text of the page, and its box in points as the page is shown.

    ``index`` is PDFium's number of its first character. ``pale`` text is as good as white, or transparent. A line that
    is not from PDFium's text, but from OCR or an annotation, has its box as fractions of the shown page in ``shown``.
    """

    text: str
    start: int
    left: float
    bottom: float
    right: float
    top: float
    gaps: tuple[Gap, ...] = ()
    weight: int = 0
    hidden: bool = False
    pale: bool = False
    index: int = 0
    shown: tuple[float, float, float, float] | None = None

    @property
    def size(self) -> float:
        """The height of its letters (its width, when it runs from top to bottom)."""
        return min(self.top - self.bottom, self.right - self.left) if self.vertical else self.top - self.bottom

    @property
    def vertical(self) -> bool:
        """Whether it runs from top to bottom, or is turned."""
        return self.top - self.bottom > 1.5 * (self.right - self.left) and len(self.text.strip()) > 1


def ordered(lines: Sequence[Line]) -> list[Line]:
    """The lines in reading order; lines that run over two columns are split."""
    if len(lines) < 2:
        return list(lines)
    if _is_vertical(lines):
        return _from_the_right(lines)
    split = _split(lines)
    if len(split) > len(lines) or _is_disordered(lines):
        return _by_columns(split)
    return split


def _is_vertical(lines: Sequence[Line]) -> bool:
    upright = [line for line in lines if line.vertical and _SOLID.search(line.text)]
    return len(upright) > 0.6 * len(lines)


def _from_the_right(lines: Sequence[Line]) -> list[Line]:
    """Vertical lines run from right to left; those of the page's upper part come before those of a lower one."""
    bands: list[list[Line]] = []
    lowest = 0.0
    for line in sorted(lines, key=lambda item: -item.top):
        if not bands or line.top <= lowest:
            bands.append([])
            lowest = line.bottom
        bands[-1].append(line)
        lowest = min(lowest, line.bottom)
    width = max(median(line.right - line.left for line in lines), 1.0)
    return [
        line
        for band in bands
        for line in sorted(band, key=lambda item: (-round((item.left + item.right) / 2 / width), -item.top))
    ]


def _is_disordered(lines: Sequence[Line]) -> bool:
    """Whether the lines jump up more often than columns explain, or to and fro between two columns of prose."""
    pairs = list(zip(lines, lines[1:], strict=False))
    ups = sum(b.bottom > a.bottom + 0.5 * a.size for a, b in pairs)
    aside = sum(
        abs(a.bottom - b.bottom) < a.size
        and (a.right <= b.left or b.right <= a.left)
        and min(len(a.text), len(b.text)) >= _LEAST_SIDE_CHARS
        for a, b in pairs
    )
    return ups >= max(1.0, 0.25 * len(pairs)) or aside > max(_LEAST_LINES, 0.3 * len(pairs))


def _split(lines: Sequence[Line]) -> list[Line]:
    """Split the lines that run over a gutter, when enough of them have a wide gap at the same place."""
    gutter = _gutter_of_gaps(lines)
    if gutter is None:
        return list(lines)
    found: list[Line] = []
    for line in lines:
        gap = next((gap for gap in line.gaps if gap.left <= gutter <= gap.right), None)
        if gap is None:
            found.append(line)
        else:
            gaps = (
                tuple(g for g in line.gaps if g.offset < gap.offset),
                tuple(g for g in line.gaps if g.offset > gap.offset),
            )
            found.append(replace(line, text=line.text[: gap.offset], right=gap.left, gaps=gaps[0]))
            shifted = tuple(replace(g, offset=g.offset - gap.offset) for g in gaps[1])
            text, start, index = line.text[gap.offset :], line.start + gap.offset, line.index + gap.offset
            found.append(replace(line, text=text, start=start, index=index, left=gap.right, gaps=shifted))
    return found if len(found) == len(lines) else _split(found)


def _gutter_of_gaps(lines: Sequence[Line]) -> float | None:
    """The place between two columns of prose that lines run over; None where there is none, as in a table."""
    gaps = [(gap, line) for line in lines for gap in line.gaps]
    if len(gaps) < _LEAST_LINES:
        return None
    best: tuple[int, float] = (0, 0.0)
    for gap, _ in gaps[:200]:
        place = (gap.left + gap.right) / 2
        crossing = [(g, line) for g, line in gaps if g.left <= place <= g.right]
        blocking = sum(line.left < place < line.right for line in lines) - len(crossing)
        left = sum(len(line.text[: g.offset].strip()) for g, line in crossing) / len(crossing)
        right = sum(len(line.text[g.offset :].strip()) for g, line in crossing) / len(crossing)
        if min(left, right) >= _LEAST_SIDE_CHARS and len(crossing) > max(blocking, best[0]):
            best = (len(crossing), place)
    return best[1] if best[0] >= _LEAST_LINES else None


def _by_columns(lines: Sequence[Line], depth: int = 0) -> list[Line]:
    """Between lines of the full width: the left column, then the right one; without columns from top to bottom."""
    gutter = _gutter(lines) if depth < _MOST_DEPTH else None
    rows = sorted(lines, key=lambda line: (-line.bottom, line.left))
    if gutter is None:
        return _rows(rows)
    found: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    for line in rows:
        if line.left < gutter < line.right:
            found += [*_by_columns(left, depth + 1), *_by_columns(right, depth + 1), line]
            left, right = [], []
        else:
            (left if line.right <= gutter else right).append(line)
    return [*found, *_by_columns(left, depth + 1), *_by_columns(right, depth + 1)]


def _rows(lines: list[Line]) -> list[Line]:
    """Lines from top to bottom, those on one height from left to right."""
    found: list[Line] = []
    row: list[Line] = []
    for line in lines:
        if row and row[0].bottom - line.bottom > 0.5 * row[0].size:
            found += sorted(row, key=lambda item: item.left)
            row = []
        row.append(line)
    return found + sorted(row, key=lambda item: item.left)


def _gutter(lines: Sequence[Line]) -> float | None:
    """A place with lines on both sides and few across."""
    best: tuple[int, float] = (0, 0.0)
    for place in {line.left - 0.5 for line in lines}:
        left = sum(line.right <= place for line in lines)
        right = sum(line.left >= place for line in lines)
        across = len(lines) - left - right
        sides = min(left, right)
        if sides >= _LEAST_LINES - 1 and across <= 0.34 * len(lines) and sides - across > best[0]:
            best = (sides - across, place)
    return best[1] if best[0] > 0 else None
