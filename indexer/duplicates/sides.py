"""A document made ready for many comparisons: its shingles, sorted once, and which of its text is boilerplate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.duplicates.shingles import Hashes, Shingled, contained_in, covered_by

Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A document's shingles.

    ``distinct``: each one once, ascending; ``number``: which of them stands at each position; ``first``: where each
    stands first; ``once``: which stand once only; ``own``: the positions whose text is no boilerplate;
    ``own_distinct``: which shingles stand at such a position.
    """

    shingled: Shingled
    distinct: Hashes
    number: Positions
    first: Positions
    once: Mask
    own: Mask
    own_distinct: Mask

    @classmethod
    def of(cls, shingled: Shingled, boilerplate: Hashes) -> Side:
        """Prepare a document; ``boilerplate`` holds the fingerprints (ascending) that do not count."""
        order = np.argsort(shingled.hashes, kind="stable")
        ranked = shingled.hashes[order]
        begins = np.concatenate(([True], ranked[1:] != ranked[:-1])) if len(ranked) else np.zeros(0, np.bool_)
        number = np.empty(len(ranked), dtype=np.int64)
        number[order] = np.cumsum(begins) - 1
        starts = np.flatnonzero(begins)
        once = np.diff(np.append(starts, len(ranked))) == 1
        own = ~covered_by(shingled.hashes, boilerplate)
        own_distinct = np.zeros(len(starts), dtype=np.bool_)
        own_distinct[number[own]] = True
        return cls(shingled, ranked[starts], number, order[starts].astype(np.int64), once, own, own_distinct)


@dataclass(frozen=True, slots=True, eq=False)
class Common:
    """What two documents share: by position which shingles of each stand in the other, and the anchors.

    Anchors are the positions (in a, in b) of shingles that stand exactly once in each, in the order of a.
    """

    in_a: Mask
    in_b: Mask
    shared: int
    own_shared: int
    anchors_a: Positions
    anchors_b: Positions

    @classmethod
    def of(cls, a: Side, b: Side) -> Common:
        """Compare the shingles of two documents."""
        both_a = contained_in(a.distinct, b.distinct)
        where = np.searchsorted(b.distinct, a.distinct[both_a])
        both_b = np.zeros(len(b.distinct), dtype=np.bool_)
        both_b[where] = True
        once = a.once[both_a] & b.once[where]
        anchors_a, anchors_b = a.first[both_a][once], b.first[where][once]
        order = np.argsort(anchors_a)
        own_shared = int((a.own_distinct[both_a] & b.own_distinct[where]).sum())
        return cls(both_a[a.number], both_b[b.number], len(where), own_shared, anchors_a[order], anchors_b[order])
