"""Two documents laid side by side: what of each is found in the other, chunk by chunk and in which order."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.duplicates.results import ChunkMatch, Section
from indexer.duplicates.sections import find_sections
from indexer.duplicates.shingles import Shingled
from indexer.duplicates.sides import Common, Mask, Side

RUN = 16
"""Shingles in a row that must be found for a stretch to count (23 characters), so that chance phrases do not."""

CHUNK_SHARED = 0.8
"""A chunk is shared when at least this part of it is found in the other document."""

_CHUNK_MATCHED = 0.1
_LETTERS = 100


@dataclass(frozen=True, slots=True)
class Alignment:
    """What two documents have in common; figures are parts of 1.

    ``jaccard`` and the shares leave boilerplate out, ``raw_jaccard`` does not. ``own_a`` and ``own_b`` are the sizes
    without boilerplate, in comparable characters. ``script_a`` and ``script_b`` are the parts of the text that is not
    shared which is not in Latin letters, None when there is too little of it to tell.
    """

    jaccard: float
    raw_jaccard: float
    share_a_in_b: float
    share_b_in_a: float
    own_a: int
    own_b: int
    script_a: float | None
    script_b: float | None
    in_order: float
    shared_chunks: int
    matches: tuple[ChunkMatch, ...]
    sections: tuple[Section, ...] = ()


def align(a: Side, b: Side) -> Alignment:
    """Compare two documents completely, text against text."""
    common = Common.of(a, b)
    found_a, found_b = _in_runs(common.in_a), _in_runs(common.in_b)
    matches, in_order, shared = _match_chunks(a, b, common, found_a)
    own_a, own_b = int(a.own_distinct.sum()), int(b.own_distinct.sum())
    return Alignment(
        jaccard=_ratio(common.own_shared, own_a + own_b - common.own_shared),
        raw_jaccard=_ratio(common.shared, len(a.distinct) + len(b.distinct) - common.shared),
        share_a_in_b=_ratio(int((found_a & a.own).sum()), int(a.own.sum())),
        share_b_in_a=_ratio(int((found_b & b.own).sum()), int(b.own.sum())),
        own_a=int(a.own.sum()),
        own_b=int(b.own.sum()),
        script_a=_other_script(a.shingled.text, found_a),
        script_b=_other_script(b.shingled.text, found_b),
        in_order=in_order,
        shared_chunks=shared,
        matches=matches,
        sections=find_sections(a, b, common, found_a),
    )


def _other_script(text: str, found: Mask) -> float | None:
    """The part of the letters outside Latin (from Greek on) in the text that was not found; None below 100 letters."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)[: len(found)][~found]
    latin = int(((codes >= ord("a")) & (codes <= ord("z"))).sum())
    other = int(((codes >= 0x370) & ~((codes >= 0x2000) & (codes <= 0x303F)) & (codes < 0xFF00)).sum())
    return other / (latin + other) if latin + other >= _LETTERS else None


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _in_runs(found: Mask) -> Mask:
    """Only those found positions that belong to a run of at least RUN, or all if everything was found."""
    if found.all():
        return found
    edges = np.flatnonzero(np.diff(np.concatenate(([False], found, [False]))))
    starts, ends = edges[::2], edges[1::2]
    long = ends - starts >= RUN
    kept = np.zeros(len(found) + 1, dtype=np.int8)
    kept[starts[long]] = 1
    kept[ends[long]] = -1
    return np.cumsum(kept[:-1]).astype(np.bool_)


def _match_chunks(a: Side, b: Side, common: Common, found: Mask) -> tuple[tuple[ChunkMatch, ...], float, int]:
    """Each chunk of a with its best partner in b, the part of the matches in order, and the number of shared chunks."""
    shares = _chunk_shares(a.shingled, found)
    chunk_a = np.searchsorted(a.shingled.starts, common.anchors_a, side="right") - 1
    chunk_b = np.searchsorted(b.shingled.starts, common.anchors_b, side="right") - 1
    width = max(len(b.shingled.starts), 1)
    ties, counts = np.unique(chunk_a * width + chunk_b, return_counts=True)
    left, right = np.divmod(ties, width)
    best = np.lexsort((right, -counts, left))
    chosen = best[np.flatnonzero(np.diff(left[best], prepend=-1))]
    matches = tuple(
        ChunkMatch(position_a, position_b, round(float(shares[position_a]), 4))
        for position_a, position_b in zip(left[chosen].tolist(), right[chosen].tolist(), strict=True)
        if shares[position_a] >= _CHUNK_MATCHED
    )
    rising = _longest_rising([match.position_b for match in matches])
    return matches, rising / len(matches) if matches else 0.0, int((shares >= CHUNK_SHARED).sum())


def _chunk_shares(a: Shingled, found: Mask) -> NDArray[np.float64]:
    """The part of each chunk's shingles that was found; the last shingles of a text reach over its last chunks."""
    ends = np.minimum(np.append(a.starts[1:], len(a.text)), len(found))
    starts = np.minimum(a.starts, np.maximum(ends - 1, 0))
    total = np.concatenate(([0], np.cumsum(found)))
    return np.asarray((total[ends] - total[starts]) / np.maximum(ends - starts, 1))


def _longest_rising(values: list[int]) -> int:
    """The length of the longest subsequence that never falls."""
    ends: list[int] = []
    for value in values:
        where = bisect_right(ends, value)
        ends[where : where + 1] = [value]
    return len(ends)
