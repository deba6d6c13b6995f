"""The rows of a word table, read from the weights file when a token is first seen.

Of a table of 250,000 words a library of one language uses a tenth. Mapping the file instead would take more: the system
maps the surroundings of whatever is touched, and soon all of it.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from indexer.errors import EncoderError

_FORMATS = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


class WordTable:
    """A table (words, width) in a safetensors file; the rows that were asked for are kept as float32."""

    def __init__(self, path: Path, name: str) -> None:
        try:
            self._file = path.open("rb", buffering=0)
            (length,) = struct.unpack("<Q", self._file.read(8))
            entry = json.loads(self._file.read(length))[name]
            self._dtype = _FORMATS[entry["dtype"]]
            self._count, self._width = map(int, entry["shape"])
        except (OSError, ValueError, KeyError, struct.error) as error:
            raise EncoderError(f"The encoder's file {path} cannot be read: {error}.") from error
        self._path = path
        self._start = 8 + length + entry["data_offsets"][0]
        self._slots = np.full(self._count, -1, dtype=np.int64)
        self._rows = torch.empty(0, self._width)
        self._used = 0

    def lookup(self, ids: NDArray[np.int64]) -> torch.Tensor:
        """Rows (tokens, width), float32, of token ids (tokens,)."""
        missing = np.unique(ids[self._slots[ids] < 0])
        if len(missing):
            self._read(missing)
        return F.embedding(torch.from_numpy(self._slots[ids]), self._rows)

    @property
    def bytes_left(self) -> int:
        """What the rows that were not asked for yet would take."""
        return (self._count - self._used) * self._width * 4

    def _read(self, words: NDArray[np.int64]) -> None:
        """Read the rows of words, ascending, and keep them."""
        last = self._used + len(words)
        if last > len(self._rows):
            larger = torch.empty(min(max(last, len(self._rows) * 3 // 2), self._count), self._width)
            larger[: self._used] = self._rows[: self._used]
            self._rows = larger
        place = self._used
        for first, count in _runs(words):
            self._rows[place : place + count] = self._stretch(first, count)
            place += count
        self._slots[words] = np.arange(self._used, last)
        self._used = last

    def _stretch(self, first: int, count: int) -> torch.Tensor:
        size = self._width * self._dtype.itemsize
        data = os.pread(self._file.fileno(), count * size, self._start + first * size)
        if len(data) != count * size:
            raise EncoderError(f"The encoder's file {self._path} ends too early.")
        return torch.frombuffer(bytearray(data), dtype=self._dtype).view(count, self._width)


def _runs(words: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ascending numbers as runs: the first of each, and how many follow each other."""
    for run in np.split(words, np.flatnonzero(np.diff(words) > 1) + 1):
        yield int(run[0]), len(run)
