"""Long stretches that stand in two documents: a chapter taken over, with small edits, whatever is around it."""

from __future__ import annotations

import numpy as np

from indexer.duplicates.results import Section
from indexer.duplicates.sides import Common, Mask, Positions, Side

SECTION_BYTES = 1_500
"""The least length of a shared section in UTF-8 without white space: a good half page, some 500 Chinese characters."""

SECTION_PART = 0.05
"""A section is also at least this part of the shorter document, unless it is four times as long as it must be."""

_GAP = 400
_LONG = 4


def find_sections(a: Side, b: Side, common: Common, found: Mask) -> tuple[Section, ...]:
    """The sections of a that stand in b in the same order, boilerplate left out; ``found`` marks a's shared text.

    A gap of 400 characters on either side ends a section.
    """
    kept = (found & a.own)[common.anchors_a] & b.own[common.anchors_b]
    here, there = common.anchors_a[kept], common.anchors_b[kept]
    if not len(here):
        return ()
    step_a, step_b = np.diff(here), np.diff(there)
    breaks = np.flatnonzero((step_a > _GAP) | (step_b < 0) | (step_b > _GAP)) + 1
    begins, ends = np.concatenate(([0], breaks)), np.concatenate((breaks, [len(here)])) - 1
    weights = np.concatenate(([0], np.cumsum(_widths(a.shingled.text)[: len(found)] * (found & a.own))))
    lengths = weights[here[ends] + 1] - weights[here[begins]]
    least = min(max(SECTION_BYTES, SECTION_PART * min(_bytes(a), _bytes(b))), _LONG * SECTION_BYTES)
    return tuple(
        Section(*_chunks(a, here[[begin, end]]), *_chunks(b, there[[begin, end]]), int(length))
        for begin, end, length in zip(begins.tolist(), ends.tolist(), lengths.tolist(), strict=True)
        if length >= least
    )


def _widths(text: str) -> Positions:
    """How many bytes each character takes in UTF-8."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return 1 + (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > 0xFFFF)


def _bytes(side: Side) -> int:
    return len(side.shingled.text.encode("utf-8", "surrogatepass"))


def _chunks(side: Side, places: Positions) -> tuple[int, int]:
    """The chunks that the first and the last position lie in."""
    first, last = (np.searchsorted(side.shingled.starts, places, side="right") - 1).tolist()
    return max(first, 0), max(last, 0)
