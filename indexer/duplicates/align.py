"""Two documents laid side by side: what of each is found in the other, chunk by chunk and in which order."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.duplicates.results import ChunkMatch
from indexer.duplicates.shingles import Hashes, Shingled, contained_in, covered_by

RUN = 16
"""Shingles in a row that must be found for a stretch to count (23 characters), so that chance phrases do not."""

CHUNK_SHARED = 0.8
"""A chunk is shared when at least this part of it is found in the other document."""

_CHUNK_MATCHED = 0.1
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Alignment:
    """What two documents have in common; figures are parts of 1.

    ``jaccard`` and the shares leave boilerplate out, ``raw_jaccard`` does not. ``own_a`` and ``own_b`` are the parts of
    the documents that are not boilerplate, ``chars_a`` and ``chars_b`` the sizes compared, in comparable characters.
    """

    jaccard: float
    raw_jaccard: float
    share_a_in_b: float
    share_b_in_a: float
    own_a: float
    own_b: float
    chars_a: int
    chars_b: int
    in_order: float
    shared_chunks: int
    matches: tuple[ChunkMatch, ...]


def align(a: Shingled, b: Shingled, boilerplate: Hashes) -> Alignment:
    """Compare two documents completely; ``boilerplate`` holds the fingerprints (ascending) that do not count."""
    distinct_a, distinct_b = np.unique(a.hashes), np.unique(b.hashes)
    common = distinct_a[contained_in(distinct_a, distinct_b)]
    own_a, own_b = ~covered_by(a.hashes, boilerplate), ~covered_by(b.hashes, boilerplate)
    found_a = _in_runs(contained_in(a.hashes, common))
    found_b = _in_runs(contained_in(b.hashes, common))
    matches, in_order, shared = _match_chunks(a, b, common, found_a)
    return Alignment(
        jaccard=_jaccard(np.unique(a.hashes[own_a]), np.unique(b.hashes[own_b])),
        raw_jaccard=_ratio(len(common), len(distinct_a) + len(distinct_b) - len(common)),
        share_a_in_b=_ratio(int((found_a & own_a).sum()), int(own_a.sum())),
        share_b_in_a=_ratio(int((found_b & own_b).sum()), int(own_b.sum())),
        own_a=_ratio(int(own_a.sum()), len(own_a)),
        own_b=_ratio(int(own_b.sum()), len(own_b)),
        chars_a=len(a.text),
        chars_b=len(b.text),
        in_order=in_order,
        shared_chunks=shared,
        matches=matches,
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _jaccard(a: Hashes, b: Hashes) -> float:
    common = int(contained_in(a, b).sum())
    return _ratio(common, len(a) + len(b) - common)


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


def _match_chunks(a: Shingled, b: Shingled, common: Hashes, found: Mask) -> tuple[tuple[ChunkMatch, ...], float, int]:
    """Each chunk of a with its best partner in b, the part of the matches in order, and the number of shared chunks."""
    shares = _chunk_shares(a, found)
    anchors_a, anchors_b = _anchors(a.hashes, b.hashes, common)
    chunk_a = np.searchsorted(a.starts, anchors_a, side="right") - 1
    chunk_b = np.searchsorted(b.starts, anchors_b, side="right") - 1
    ties, counts = np.unique(chunk_a * max(len(b.starts), 1) + chunk_b, return_counts=True)
    left, right = np.divmod(ties, max(len(b.starts), 1))
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


def _anchors(a: Hashes, b: Hashes, common: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the common shingles that stand once in each document, in the order of their hashes."""
    once_a, where_a = _single(a)
    once_b, where_b = _single(b)
    both = common[contained_in(common, once_a) & contained_in(common, once_b)]
    return where_a[np.searchsorted(once_a, both)], where_b[np.searchsorted(once_b, both)]


def _single(hashes: Hashes) -> tuple[Hashes, NDArray[np.int64]]:
    values, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    return values[counts == 1], first[counts == 1].astype(np.int64)


def _longest_rising(values: list[int]) -> int:
    """The length of the longest subsequence that never falls."""
    ends: list[int] = []
    for value in values:
        where = bisect_left(ends, value + 1)
        ends[where : where + 1] = [value]
    return len(ends)


