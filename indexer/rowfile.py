"""Embeddings in a file of their own, a record at each chunk's id: read by place, a thousand at once, without SQL.

The file is derived, and nothing has to keep it in step: a record that is missing, torn, damaged or of other means than
those asked for does not have the checksum it should have, and its row then comes from the library. A chunk's row never
changes, so that any number of processes may write the same records at once. It is sparse where ids are not in use.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import Ids, Matrix
from indexer.faults import fault_point

_Records = NDArray[np.uint64]


class RowFile:
    """Rows of ``dimension`` numbers as float16, by chunk id; ``seal`` names whose they are, and other rows are none."""

    def __init__(self, path: Path, dimension: int, seal: str) -> None:
        self.path = path
        self.seal = seal
        self._dimension = dimension
        self._words = -(-dimension // 4) + 1  # of 8 bytes each: the row, then its checksum
        # Odd factors: a change of one word always changes the sum, of several all but surely (a multilinear hash).
        digest = hashlib.shake_256(seal.encode()).digest(8 * self._words)
        self._factors = np.frombuffer(digest, "<u8") | np.uint64(1)
        self._lock = threading.Lock()
        self._mapped: mmap.mmap | None = None
        self._mapped_file = (0, 0)

    def read(self, ids: Ids) -> tuple[Matrix, NDArray[np.bool_]]:
        """A row of float32 for each id, and which of them the file has; what is in the others' rows means nothing."""
        records, there = self._read(ids)
        return _float32(records[:, :-1])[:, : self._dimension], there

    def damaged(self, ids: Ids) -> int:
        """How many of the ids have a record that is neither missing nor whole."""
        records, there = self._read(ids)
        return int(np.count_nonzero(records.any(axis=1) & ~there))

    def write(self, ids: Ids, rows: Matrix | None) -> None:
        """Keep rows under ids, or nothing any more when there are no rows. Raises OSError when that cannot be done."""
        if not len(ids):
            return
        records: _Records = np.zeros((len(ids), self._words), dtype="<u8")
        if rows is not None:
            records.view("<f2")[:, : self._dimension] = rows
            records[:, -1] = self._checksums(ids, records)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "rb+") as file:
            for first, last in _runs(ids):
                file.seek(int(ids[first]) * 8 * self._words)
                file.write(records[first:last].data)
                fault_point("rows.write")

    def _read(self, ids: Ids) -> tuple[_Records, NDArray[np.bool_]]:
        records: _Records = np.zeros((len(ids), self._words), dtype="<u8")
        with self._lock:
            mapped = self._map()
            if mapped is not None:
                held = np.frombuffer(mapped, "<u8", len(mapped) // (8 * self._words) * self._words)
                held = held.reshape(-1, self._words)
                inside = (ids >= 0) & (ids < len(held))
                if inside.all():
                    records = held.take(ids, axis=0)
                else:
                    records[inside] = held[ids[inside]]
        return records, self._checksums(ids, records) == records[:, -1]

    def _map(self) -> mmap.mmap | None:
        """The file as it is now: it may have grown, have been made anew, or be gone."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if (status.st_ino, status.st_size) != self._mapped_file:
                    self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if status.st_size else None
                    self._mapped_file = (status.st_ino, status.st_size)
        except OSError:
            self._mapped, self._mapped_file = None, (0, 0)
        return self._mapped

    def _checksums(self, ids: Ids, records: _Records) -> NDArray[np.uint64]:
        # Sums of unsigned numbers wrap around, as they should; turned over, so that nothing at all has no valid sum.
        words = (records[:, :-1] * self._factors[:-1]).sum(axis=1, dtype=np.uint64)
        return np.asarray(~(words + ids.astype(np.uint64) * self._factors[-1]))


def _float32(words: _Records) -> Matrix:
    """Four float16 numbers a word as float32, in a quarter of the time NumPy takes where it has no instruction for it.

    Sign, exponent and fraction are moved to where float32 has them, and the exponent is then made right by a product;
    what is not finite would come out as something else, but no row has it.
    """
    numbers = np.ascontiguousarray(words).view("<i2").astype(np.int32)
    numbers <<= 13
    numbers &= np.int32(-0x70000001)
    rows = numbers.view(np.float32)
    rows *= np.float32(2.0**112)
    return rows


def _runs(ids: Ids) -> Iterator[tuple[int, int]]:
    """From where to where ids follow each other without a gap."""
    ends = [*(np.flatnonzero(np.diff(ids) != 1) + 1).tolist(), len(ids)]
    return zip([0, *ends[:-1]], ends, strict=True)
