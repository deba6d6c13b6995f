"""Which documents may be near-duplicates: pairs that share fingerprints other than boilerplate, without all pairs.

Every fingerprint lists its documents. A rare one makes a pair of each two of them; one in more than 32 documents ties
them in a line and to the first one only, so that the work stays near-linear and a large family still holds together.
A fingerprint in many families (documents that are near-duplicates as a whole count as one) is boilerplate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.duplicates.kept import Print
from indexer.duplicates.sections import SECTION_BYTES
from indexer.duplicates.shingles import Hashes

Indices = NDArray[np.int64]

ALL_PAIRS = 32
NEIGHBOURS = 4
BOILERPLATE_FAMILIES = 8
FAMILY_SIMILARITY = 0.8
CANDIDATE_SHARE = 0.2
SECTION_SEEN = 0.6
"""Two documents that may share a section have this part of the fingerprints in common that its length would have."""

_KEYS_AT_ONCE = 16_000_000
_KEYS_PER_PART = 64_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """The fingerprints of a collection: ``values[i]`` stands in the document with index ``owners[i]``.

    ``lengths`` are the documents' lengths in bytes.
    """

    values: Hashes
    owners: NDArray[np.int32]
    lengths: Indices

    @property
    def count(self) -> int:
        """How many documents there are."""
        return len(self.lengths)

    @classmethod
    def of(cls, prints: Sequence[Print]) -> Fingerprints:
        """Gather the fingerprints of each document, in the order of the documents."""
        owners = np.repeat(np.arange(len(prints), dtype=np.int32), [len(known.values) for known in prints])
        values = np.concatenate([known.values for known in prints] or [np.zeros(0, np.uint64)])
        return cls(values, owners, np.array([known.length for known in prints], dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Pairs of document indices (first < second) worth aligning, and what was found to be boilerplate (ascending).

    ``spread`` says in how many families each boilerplate fingerprint stands.
    """

    first: Indices
    second: Indices
    boilerplate: Hashes
    spread: Indices

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self.first.tolist(), self.second.tolist(), strict=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Postings:
    """Fingerprints of two documents or more: owners[starts[i] : starts[i] + sizes[i]] have values[i]."""

    values: Hashes
    owners: NDArray[np.int32]
    starts: Indices
    sizes: Indices

    def without(self, drop: NDArray[np.bool_]) -> _Postings:
        return _Postings(self.values[~drop], self.owners, self.starts[~drop], self.sizes[~drop])


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Pairs of document indices and how many fingerprints tie them."""

    first: Indices
    second: Indices
    shared: Indices


def find_candidates(fingerprints: Fingerprints, share: float = CANDIDATE_SHARE) -> Candidates:
    """Pairs that share ``share`` of the smaller one's fingerprints, or a section's worth, boilerplate left out.

    Pairs that are alike as a whole, boilerplate included, are kept as well: copies of a licence are near-duplicates.
    """
    count = fingerprints.count
    postings = _postings(fingerprints)
    total = np.bincount(fingerprints.owners, minlength=count)
    section = SECTION_SEEN * SECTION_BYTES * total / np.maximum(fingerprints.lengths, 1)
    least = np.minimum(share, FAMILY_SIMILARITY) * total
    pairs = _count_pairs(postings, count, np.minimum(least, section))
    alike = pairs.shared >= FAMILY_SIMILARITY * (total[pairs.first] + total[pairs.second] - pairs.shared)
    families = _families(pairs.first[alike], pairs.second[alike], count)
    spread = _spread(postings, families)
    common = spread >= boilerplate_limit(count)
    if not common.any():
        return Candidates(pairs.first, pairs.second, postings.values[common], spread[common])
    own = total - np.bincount(_flat(postings, common)[1], minlength=count)
    rest = _count_pairs(postings.without(common), count, np.minimum(share * own, section))
    keys = np.union1d(rest.first * count + rest.second, pairs.first[alike] * count + pairs.second[alike])
    first, second = np.divmod(keys, count)
    return Candidates(first, second, postings.values[common], spread[common])


def boilerplate_limit(count: int) -> int:
    """In how many families a text must stand to be boilerplate in a collection of ``count`` documents."""
    return max(BOILERPLATE_FAMILIES, int(np.sqrt(count) / 4))


def _postings(fingerprints: Fingerprints) -> _Postings:
    order = np.argsort(fingerprints.values, kind="stable")
    values = fingerprints.values[order]
    owners = fingerprints.owners[order]
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1]))) if len(values) else np.zeros(0, int)
    sizes = np.diff(np.append(starts, len(values)))
    several = sizes > 1
    starts, sizes = starts[several], sizes[several]
    return _Postings(values[starts], owners, starts.astype(np.int64), sizes.astype(np.int64))


def _count_pairs(postings: _Postings, count: int, least: NDArray[np.floating]) -> _Pairs:
    """Pairs of documents tied by as many fingerprints as the smaller one's ``least`` asks, in bounded memory."""
    sizes = np.minimum(postings.sizes, ALL_PAIRS)
    parts = 1 + int((sizes * (sizes - 1) // 2).sum()) // _KEYS_PER_PART
    kept = [_count_part(postings, count, least, (part, parts)) for part in range(parts)]
    return _Pairs(*(np.concatenate([getattr(pairs, name) for pairs in kept]) for name in _Pairs.__slots__))


def _count_part(postings: _Postings, count: int, least: NDArray[np.floating], part: tuple[int, int]) -> _Pairs:
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    waiting: list[Indices] = []
    for batch in _pair_keys(postings, count):
        waiting.append(batch[batch // count % part[1] == part[0]] if part[1] > 1 else batch)
        if sum(map(len, waiting)) >= _KEYS_AT_ONCE:
            keys, counts = _merged(keys, counts, waiting)
            waiting = []
    keys, counts = _merged(keys, counts, waiting)
    first, second = np.divmod(keys, max(count, 1))
    enough = counts >= np.minimum(least[first], least[second])
    return _Pairs(first[enough], second[enough], counts[enough])


def _merged(keys: Indices, counts: Indices, batches: list[Indices]) -> tuple[Indices, Indices]:
    if not batches:
        return keys, counts
    fresh, fresh_counts = np.unique(np.concatenate(batches), return_counts=True)
    if not len(keys):
        return fresh, fresh_counts
    merged, where = np.unique(np.concatenate((keys, fresh)), return_inverse=True)
    summed = np.bincount(where, weights=np.concatenate((counts, fresh_counts)), minlength=len(merged))
    return merged, summed.astype(np.int64)


def _pair_keys(postings: _Postings, count: int) -> Iterator[Indices]:
    """Keys first * count + second, in batches; owners of a fingerprint are in ascending order."""
    for size in range(2, ALL_PAIRS + 1):
        starts = postings.starts[postings.sizes == size]
        left, right = np.triu_indices(size, 1)
        step = max(1, _KEYS_AT_ONCE // len(left))
        for begin in range(0, len(starts), step):
            rows = postings.owners[starts[begin : begin + step, None] + np.arange(size)].astype(np.int64)
            yield (rows[:, left] * count + rows[:, right]).ravel()
    index, owners = _flat(postings, postings.sizes > ALL_PAIRS)
    owners = owners.astype(np.int64)
    for distance in range(1, NEIGHBOURS + 1):  # in a line: each document with the next few ...
        same = index[distance:] == index[:-distance]
        yield (owners[:-distance] * count + owners[distance:])[same]
    if len(index):  # ... and the rest with the first one
        begins = np.flatnonzero(np.diff(index, prepend=-1))[index]
        rest = np.arange(len(index)) - begins > NEIGHBOURS
        yield (owners[begins] * count + owners)[rest]


def _flat(postings: _Postings, chosen: NDArray[np.bool_]) -> tuple[Indices, NDArray[np.int32]]:
    """The chosen postings written out: for each of their documents which posting it is, and the document."""
    sizes = postings.sizes[chosen]
    index = np.repeat(np.arange(len(sizes)), sizes)
    offsets = np.arange(len(index)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return index, postings.owners[np.repeat(postings.starts[chosen], sizes) + offsets]


def _families(first: Indices, second: Indices, count: int) -> Indices:
    """A family number for each document: documents tied by whole-text similarity, directly or in a chain."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ties = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(count, count))
    return np.asarray(connected_components(ties, directed=False)[1], dtype=np.int64)


def _spread(postings: _Postings, families: Indices) -> Indices:
    """In how many families each fingerprint stands (a lower bound where that is under the limit anyway)."""
    spread = np.ones(len(postings.sizes), dtype=np.int64)
    often = postings.sizes >= BOILERPLATE_FAMILIES
    index, owners = _flat(postings, often)
    distinct = np.unique(index * (len(families) + 1) + families[owners])
    spread[often] = np.bincount(distinct // (len(families) + 1), minlength=int(often.sum()))
    return spread
