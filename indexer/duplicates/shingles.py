"""A document's text as it is compared: without white space and case, cut in overlapping 8-character shingles.

Shingles of characters serve English and Chinese alike. To find candidates a whole text is represented by its
fingerprints: the smallest hash of 16 characters in each window of 64 (winnowing: Schleimer, Wilkerson and Aiken,
"Winnowing: local algorithms for document fingerprinting", SIGMOD 2003; a MinHash a window). Whatever run of 79 or more
characters two documents share, however their chunks are cut, gives them a common fingerprint; about one shingle in 32
is kept. They are longer than the shingles that are compared, so that chance phrases tie few documents.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
"""Shingle hashes, shape (n,)."""

SHINGLE = 8
WINDOW = 64
_BASE = np.uint64(0x9E3779B97F4A7C15)


def comparable(text: str) -> str:
    """The text as it is compared: compatible forms unified, case folded, white space left out."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return "".join(text.casefold().split())


@dataclass(frozen=True, slots=True, eq=False)
class Shingled:
    """A document ready to be aligned: its comparable text, where each chunk begins in it, a hash a shingle."""

    text: str
    starts: NDArray[np.int64]
    hashes: Hashes

    @classmethod
    def of(cls, chunks: Sequence[str]) -> Shingled:
        """Shingle a document from its chunks' texts, in order."""
        parts = [comparable(chunk) for chunk in chunks]
        starts = np.cumsum([0, *map(len, parts)])[:-1].astype(np.int64)
        text = "".join(parts)
        return cls(text, starts, shingle_hashes(text))


def shingle_hashes(text: str) -> Hashes:
    """A 64-bit hash for each shingle of a comparable text, in order; a text shorter than a shingle has one."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    if not len(codes):
        return np.zeros(0, dtype=np.uint64)
    if len(codes) < SHINGLE:
        codes = np.pad(codes, (0, SHINGLE - len(codes)))
    count = len(codes) - SHINGLE + 1
    hashes = codes[:count].copy()
    for offset in range(1, SHINGLE):
        hashes *= _BASE
        hashes += codes[offset : offset + count]
    return _mixed(hashes)


def _mixed(values: Hashes) -> Hashes:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): spreads near values over all 64 bits."""
    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


def window_minima(hashes: Hashes) -> Hashes:
    """The smallest hash of 16 characters in each window of 64, from the shingles' hashes.

    Shape (max(1, n - 71),) for n shingles, so that entry i speaks for the shingles from i to i + 71; empty for none.
    """
    minima = _mixed(hashes[:-SHINGLE] * _BASE + hashes[SHINGLE:]) if len(hashes) > SHINGLE else hashes
    width = 1
    while width < WINDOW and len(minima) > width:
        minima = np.minimum(minima[:-width], minima[width:])
        width *= 2
    return minima if width >= WINDOW or not len(minima) else minima.min(keepdims=True)


def fingerprints(hashes: Hashes) -> Hashes:
    """The distinct fingerprints of a document, ascending."""
    minima = window_minima(hashes)
    if not len(minima):
        return minima
    changes = np.flatnonzero(minima[1:] != minima[:-1]) + 1  # neighbouring windows mostly share their minimum
    return np.unique(np.concatenate((minima[:1], minima[changes])))


def covered_by(hashes: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """For each shingle, whether the window around it has its fingerprint among ``known`` (ascending)."""
    minima = window_minima(hashes)
    if not len(minima) or not len(known):
        return np.zeros(len(hashes), dtype=np.bool_)
    inside = contained_in(minima, known)
    around = np.clip(np.arange(len(hashes)) - WINDOW // 2, 0, len(minima) - 1)
    return inside[around]


def contained_in(values: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """For each value, whether it is among ``known``, which is ascending."""
    if not len(known):
        return np.zeros(len(values), dtype=np.bool_)
    where = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[where] == values)
