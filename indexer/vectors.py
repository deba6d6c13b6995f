"""Nearest chunks by cosine: exact while a library is small, sign codes with exact rescoring above; the only faiss.

The index is derived: what it holds can be made anew from the store at any time, and its file is checked in full before
FAISS sees a byte of it, since FAISS trusts what it reads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import Ids, Matrix, Vector
from indexer.errors import DamagedError, LibraryError
from indexer.faults import fault_point
from indexer.sealed import read_sealed, write_sealed

FetchRows = Callable[[Ids], Matrix]
"""Gives the stored rows of chunk ids, in order: float32, unit length, centred like those that were added."""

FLAT_LIMIT = 40_000
"""Chunks up to which every row is compared exactly; above it, sign codes choose what is compared."""

SIFTED = 16_000
"""How many of the nearest sign codes are looked at once more, each sign weighed by the query's number there."""

RESCORED = 1500
"""How many of those are compared exactly."""

DEAD_LIMIT = 1024
"""Removed rows that are only passed over until so many have gathered: taking rows out costs a move of all of them."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The nearest chunks of each query, best first: ids and cosines of shape (queries, k); -1 and -inf where none."""

    ids: NDArray[np.int64]
    scores: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class IndexStamp:
    """What an index was made from: whose chunks, centred by which means, and up to which generation of the store."""

    library: str
    recipe_id: int
    means: str
    generation: int


class VectorIndex:
    """Embeddings by chunk id: add, remove, search, save. Safe to use from several threads."""

    def __init__(self, dimension: int, fetch: FetchRows, *, flat_limit: int = FLAT_LIMIT) -> None:
        self.dimension = dimension
        self.stamp: IndexStamp | None = None
        self.unsaved = 0
        self._fetch = fetch
        self._flat_limit = flat_limit
        self._lock = threading.RLock()
        self._mean: Vector | None = None
        self._faiss: Any = _flat(dimension)
        self._ids: Ids = np.empty(0, dtype=np.int64)
        self._dead: NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._rows = 0
        self._dead_count = 0
        self._order: Ids | None = None

    def __len__(self) -> int:
        return self._rows - self._dead_count

    @property
    def exact(self) -> bool:
        """Whether every row is compared in full."""
        return self._mean is None

    @property
    def ids(self) -> Ids:
        """The ids it holds, ascending."""
        with self._lock:
            return np.sort(self._ids[: self._rows][~self._dead[: self._rows]])

    def add(self, ids: Ids, matrix: Matrix) -> None:
        """Add rows of unit length under ids that are not in it yet."""
        if not len(ids):
            return
        with self._lock:
            if self.exact and len(self) + len(ids) > self._flat_limit:
                self._begin_codes(matrix)
            self._faiss.add(np.ascontiguousarray(matrix, dtype=np.float32) if self.exact else self._codes(matrix))
            self._append(np.asarray(ids, dtype=np.int64))
            self.unsaved += len(ids)

    def remove(self, ids: Ids) -> int:
        """Remove rows; ids that are not in it are passed over. Returns how many went."""
        with self._lock:
            positions = self._positions(ids)
            self._dead[positions] = True
            self._dead_count += len(positions)
            self.unsaved += len(positions)
            if self._dead_count > DEAD_LIMIT:
                self._compact()
            return len(positions)

    def search(self, queries: Matrix, k: int, allowed: Ids | None = None, *, rescored: int = RESCORED) -> Candidates:
        """The ``k`` nearest chunks of each query row, among ``allowed`` ids only when they are given."""
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        if queries.ndim != 2 or queries.shape[1] != self.dimension:
            raise LibraryError("The library was built anew with another encoder meanwhile; search again.")
        found = Candidates(
            np.full((len(queries), k), -1, dtype=np.int64), np.full((len(queries), k), -np.inf, dtype=np.float32)
        )
        with self._lock:
            positions = None if allowed is None else self._positions(allowed)
            if self.exact:
                rows, scores = self._nearest(queries, k, positions)
                _fill(found, [self._ids[some] for some in rows], scores)
                return found
            width = max(rescored, 2 * k)
            if positions is None or len(positions) > width:
                sifted, _ = self._nearest(self._codes(queries), max(SIFTED, 2 * width), positions)
                rows = [self._narrowed(query, some, width) for query, some in zip(queries, sifted, strict=True)]
            else:
                rows = [positions] * len(queries)
            nearest = [self._ids[some] for some in rows]
        _fill(found, nearest, [self._fetch(ids) @ query for ids, query in zip(nearest, queries, strict=True)])
        return found

    def missing(self, ids: Ids) -> Ids:
        """Those of the ids that are not in it, ascending."""
        with self._lock:
            return np.setdiff1d(ids, self._ids[self._positions(ids)])

    def save(self, path: Path) -> None:
        """Write the index to a file in one step: whoever reads it sees the old one or the new one, whole."""
        with self._lock:
            if self._dead_count:
                self._compact()
            parts: dict[str, bytes | memoryview] = {
                "mean": b"" if self._mean is None else self._mean.astype("<f4").tobytes(),
                "ids": self._ids[: self._rows].astype("<i8").tobytes(),
                "faiss": self._serialized(),
            }
            told = {"dimension": self.dimension, "stamp": None if self.stamp is None else asdict(self.stamp)}
            unsaved = self.unsaved
        write_sealed(path, told, parts)
        self.unsaved -= unsaved
        fault_point("vectors.saved")

    @classmethod
    def load(cls, path: Path, dimension: int, fetch: FetchRows, *, flat_limit: int = FLAT_LIMIT) -> VectorIndex:
        """Read a saved index. Raises DamagedError unless its size and its checksum are those it was written with."""
        told, parts = read_sealed(path)
        if told["dimension"] != dimension:
            raise DamagedError(f"{path} holds rows of {told['dimension']} numbers, not {dimension}.")
        index = cls(dimension, fetch, flat_limit=flat_limit)
        if len(parts["mean"]):
            index._mean = np.frombuffer(parts["mean"], "<f4").astype(np.float32)
        index._append(np.frombuffer(parts["ids"], "<i8").astype(np.int64))
        index._faiss = _deserialized(parts["faiss"], binary=index._mean is not None)
        if index._faiss.ntotal != index._rows or index._faiss.d not in (dimension, -(-dimension // 64) * 64):
            raise DamagedError(f"{path} does not hold what it says.")
        index.stamp = IndexStamp(**told["stamp"]) if told["stamp"] else None
        return index

    def _nearest(
        self, asked: Matrix | NDArray[np.uint8], width: int, positions: Ids | None
    ) -> tuple[list[Ids], list[NDArray[np.float32]]]:
        """The nearest rows of each query (or of each query's code), dead ones left out, and what FAISS says of each."""
        parameters = None
        if positions is None:
            width = min(width + self._dead_count, self._rows)
        else:
            mask = np.zeros(self._rows, dtype=bool)
            mask[positions] = True
            parameters = _only(np.packbits(mask, bitorder="little"))
            width = min(width, len(positions))
        if not width:
            return [np.empty(0, np.int64)] * len(asked), [np.empty(0, np.float32)] * len(asked)
        distances, rows = self._faiss.search(asked, width, params=parameters)
        alive = [(found >= 0) & ~self._dead[found] for found in rows]
        return (
            [found[kept] for found, kept in zip(rows, alive, strict=True)],
            [distance[kept] for distance, kept in zip(distances, alive, strict=True)],
        )

    def _narrowed(self, query: Vector, rows: Ids, width: int) -> Ids:
        """The ``width`` rows whose signs agree best with the query, each sign weighed by the query's number there.

        Whether two signs differ says how far two texts are apart, but not by how much they differ: a query's small
        numbers are mostly noise (the query side of RaBitQ, Gao and Long 2024, asks the same way).
        """
        if len(rows) <= width:
            return rows
        words = np.ascontiguousarray(_codes_of(self._faiss).take(rows, axis=0).T)
        low, step = float(query.min()), max(float(np.ptp(query)) / _LEVELS, 1e-12)
        levels = np.rint((query - low) / step).astype(np.uint8)
        agreement = (low / step) * _ones(words)
        for bit in range(_LEVELS.bit_length()):
            agreement += (1 << bit) * _ones(words & self._packed(levels >> bit & 1 == 1).view("<u8").T)
        return rows[np.argpartition(agreement, -width)[-width:]]

    def _positions(self, ids: Ids) -> Ids:
        """The rows at which ids lie, those that are not there or dead left out."""
        ids = np.asarray(ids, dtype=np.int64)
        if not self._rows or not len(ids):
            return np.empty(0, dtype=np.int64)
        held = self._ids[: self._rows]
        if self._order is None:
            places = np.searchsorted(held, ids)
            places[places == self._rows] = 0
        else:
            ranks = np.searchsorted(held, ids, sorter=self._order)
            ranks[ranks == self._rows] = 0
            places = self._order[ranks]
        return np.unique(places[(held[places] == ids) & ~self._dead[places]])

    def _append(self, ids: Ids) -> None:
        end = self._rows + len(ids)
        if end > len(self._ids):
            size = max(end, len(self._ids) * 3 // 2, 1024)
            self._ids = np.concatenate([self._ids[: self._rows], np.empty(size - self._rows, np.int64)])
            self._dead = np.concatenate([self._dead[: self._rows], np.zeros(size - self._rows, bool)])
        self._ids[self._rows : end] = ids
        self._dead[self._rows : end] = False
        if self._order is None and not _ascending(self._ids[max(0, self._rows - 1) : end]):
            self._order = np.arange(self._rows)
        if self._order is not None:
            new = np.argsort(ids, kind="stable")
            places = np.searchsorted(self._ids[: self._rows], ids[new], sorter=self._order)
            self._order = np.insert(self._order, places, self._rows + new)
        self._rows = end

    def _compact(self) -> None:
        import faiss

        dead = np.flatnonzero(self._dead[: self._rows])
        self._faiss.remove_ids(faiss.IDSelectorBatch(dead))
        alive = self._ids[: self._rows][~self._dead[: self._rows]]
        self._ids, self._dead = alive, np.zeros(len(alive), dtype=bool)
        self._rows, self._dead_count, self._order = len(alive), 0, None
        if not _ascending(alive):
            self._order = np.argsort(alive, kind="stable")

    def _begin_codes(self, matrix: Matrix) -> None:
        """Turn from rows compared in full to sign codes; the rows so far decide what the signs are taken from."""
        import faiss

        if self._dead_count:
            self._compact()
        kept = self._faiss.reconstruct_n(0, self._rows) if self._rows else matrix
        self._mean = np.asarray(kept.mean(axis=0), dtype=np.float32)
        self._faiss = _code_index(faiss.IndexBinaryFlat(-(-self.dimension // 64) * 64))
        if self._rows:
            self._faiss.add(self._codes(kept))

    def _codes(self, matrix: Matrix) -> NDArray[np.uint8]:
        assert self._mean is not None
        return self._packed(matrix > self._mean)

    def _packed(self, signs: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """A bit for each sign, in whole words of eight bytes: shape (rows, bytes)."""
        packed = np.packbits(np.atleast_2d(signs), axis=1)
        return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))

    def _serialized(self) -> memoryview:
        import faiss

        data: Any = faiss.serialize_index(self._faiss) if self.exact else faiss.serialize_index_binary(self._faiss)
        return memoryview(data)


_LEVELS = 63
"""A query's numbers are told apart by so many steps when its signs are weighed."""


def _ones(words: NDArray[np.uint64]) -> NDArray[np.float32]:
    """How many bits of each column of words are set."""
    return np.asarray(np.bitwise_count(words).sum(axis=0, dtype=np.int32), dtype=np.float32)


def _ascending(ids: Ids) -> bool:
    return bool(np.all(ids[1:] > ids[:-1]))


def _codes_of(index: Any) -> NDArray[np.uint64]:
    """The codes a binary index holds, in words, a row each; not copied: they are gone when it changes."""
    import faiss

    module: Any = faiss
    return np.asarray(module.rev_swig_ptr(index.xb.data(), index.xb.size())).view("<u8").reshape(index.ntotal, -1)


def _only(bits: NDArray[np.uint8]) -> Any:
    """Search parameters that let only the rows through whose bits are set."""
    import faiss

    module: Any = faiss  # its stubs describe the C++ signatures, not the ones its Python layer puts in their place
    return module.SearchParameters(sel=module.IDSelectorBitmap(bits))


def _code_index(index: Any) -> Any:
    """A binary index that finds many nearest codes by counting distances: a heap of thousands takes twice as long."""
    index.use_heap = False
    return index


def _flat(dimension: int) -> Any:
    import faiss

    return faiss.IndexFlatIP(dimension)


def _deserialized(payload: memoryview, *, binary: bool) -> Any:
    import faiss

    data = np.frombuffer(payload, dtype=np.uint8)
    return _code_index(faiss.deserialize_index_binary(data)) if binary else faiss.deserialize_index(data)


def _fill(found: Candidates, nearest: list[Ids], scores: list[NDArray[np.float32]]) -> None:
    """Write the best of each query into its row."""
    k = found.ids.shape[1]
    for row, (ids, values) in enumerate(zip(nearest, scores, strict=True)):
        best = np.argsort(-values, kind="stable")[:k]
        found.ids[row, : len(best)] = ids[best]
        found.scores[row, : len(best)] = values[best]


def faiss_build() -> str:
    """FAISS's version and the SIMD level it was compiled for, in its own words (``1.15.1 AVX2``)."""
    import faiss

    return f"{faiss.__version__} {faiss.get_compile_options().strip().removeprefix('OPTIMIZE').strip()}"
