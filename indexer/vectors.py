"""Nearest chunks by cosine: exact while a library is small, codes with exact rescoring above; the only faiss.

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
from indexer.sealed import OtherFormatError, read_sealed, write_sealed

FetchRows = Callable[[Ids], Matrix]
"""Gives the stored rows of chunk ids, in order: float32, unit length, centred like those that were added."""

FLAT_LIMIT = 40_000
"""Chunks up to which every row is compared exactly; above it, codes of 48 bytes choose what is compared."""

RESCORED = 2000
"""How many of the rows whose codes are nearest to a query are compared exactly."""

_BLOCK = 256
"""Rows fetched at a time: what is made of them fits the caches, and is too small to be a page fault every 4 KB anew."""

_LAYOUT = 2
"""What the parts of a saved index are; one of another layout is made anew."""

_TOGETHER = 4
_TOGETHER_BITS = 4
"""So many numbers of a row share a code of so many bits: 48 bytes for 384 numbers."""


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
        self._faiss: Any = _exact_index(dimension)
        self._highest = -1

    def __len__(self) -> int:
        return int(self._faiss.ntotal)

    @property
    def exact(self) -> bool:
        """Whether every row is compared in full."""
        return hasattr(self._faiss, "id_map")

    @property
    def ids(self) -> Ids:
        """The ids it holds, ascending."""
        with self._lock:
            return np.sort(_held(self._faiss))

    def add(self, ids: Ids, matrix: Matrix) -> None:
        """Add rows of unit length under ids that are not in it yet."""
        if not len(ids):
            return
        with self._lock:
            if self.exact and len(self) + len(ids) > self._flat_limit:
                self._begin_codes(matrix)
            self._faiss.add_with_ids(self._asked(matrix), np.asarray(ids, dtype=np.int64))
            self._highest = max(self._highest, int(np.max(ids)))
            self.unsaved += len(ids)

    def remove(self, ids: Ids) -> int:
        """Remove rows; ids that are not in it are passed over. Returns how many went."""
        if not len(ids):
            return 0
        with self._lock:
            gone = int(self._faiss.remove_ids(_any_of(np.asarray(ids, dtype=np.int64))))
            self.unsaved += gone
            return gone

    def search(self, queries: Matrix, k: int, allowed: Ids | None = None, *, rescored: int = RESCORED) -> Candidates:
        """The ``k`` nearest chunks of each query row, among ``allowed`` ids only when they are given."""
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        if queries.ndim != 2 or queries.shape[1] != self.dimension:
            raise LibraryError("The library was built anew with another encoder meanwhile; search again.")
        found = Candidates(
            np.full((len(queries), k), -1, dtype=np.int64), np.full((len(queries), k), -np.inf, dtype=np.float32)
        )
        with self._lock:
            exact = self.exact
            nearest, scores = self._nearest(queries, k if exact else max(rescored, 2 * k), allowed)
        if not exact:
            scores = [self._cosines(ids, query) for ids, query in zip(nearest, queries, strict=True)]
        _fill(found, nearest, scores)
        return found

    def missing(self, ids: Ids) -> Ids:
        """Those of the ids that are not in it, ascending."""
        ids = np.unique(np.asarray(ids, dtype=np.int64))
        with self._lock:
            new = ids > self._highest  # nearly always all of them: a million ids are not looked through for those
            if not new.all():
                new[~new] = np.isin(ids[~new], _held(self._faiss), assume_unique=True, invert=True)
        return ids[new]

    def save(self, path: Path) -> None:
        """Write the index to a file in one step: whoever reads it sees the old one or the new one, whole."""
        with self._lock:
            parts = {"faiss": _serialized(self._faiss)}
            stamp = None if self.stamp is None else asdict(self.stamp)
            told = {"layout": _LAYOUT, "dimension": self.dimension, "rows": len(self), "stamp": stamp}
            unsaved = self.unsaved
        write_sealed(path, told, parts)
        self.unsaved -= unsaved
        fault_point("vectors.saved")

    @classmethod
    def load(cls, path: Path, dimension: int, fetch: FetchRows, *, flat_limit: int = FLAT_LIMIT) -> VectorIndex:
        """Read a saved index. Raises DamagedError unless its size and its checksum are those it was written with."""
        told, parts = read_sealed(path)
        if told.get("layout") != _LAYOUT:
            raise OtherFormatError(f"The file {path} was written by another version of longdoc.")
        if told["dimension"] != dimension:
            raise DamagedError(f"{path} holds rows of {told['dimension']} numbers, not {dimension}.")
        index = cls(dimension, fetch, flat_limit=flat_limit)
        index._faiss = _deserialized(parts["faiss"])
        if len(index) != told["rows"] or index._faiss.d != dimension + (0 if index.exact else -dimension % _TOGETHER):
            raise DamagedError(f"{path} does not hold what it says.")
        index.stamp = IndexStamp(**told["stamp"]) if told["stamp"] else None
        index._highest = int(_held(index._faiss).max(initial=-1))
        return index

    def _nearest(self, queries: Matrix, width: int, allowed: Ids | None) -> tuple[list[Ids], list[NDArray[np.float32]]]:
        """The ids of the rows nearest to each query, and what FAISS says of each."""
        width = min(width, len(self) if allowed is None else len(allowed))
        if not width:
            return [np.empty(0, np.int64)] * len(queries), [np.empty(0, np.float32)] * len(queries)
        parameters = None if allowed is None else _only(allowed, codes=not self.exact)
        scores, ids = self._faiss.search(self._asked(queries), width, params=parameters)
        there = ids >= 0
        return (
            [some[kept] for some, kept in zip(ids, there, strict=True)],
            [some[kept] for some, kept in zip(scores, there, strict=True)],
        )

    def _cosines(self, ids: Ids, query: Vector) -> NDArray[np.float32]:
        """The exact cosine of each row to a query, some rows at a time."""
        blocks = [self._fetch(ids[first : first + _BLOCK]) @ query for first in range(0, len(ids), _BLOCK)]
        return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.float32)

    def _asked(self, matrix: Matrix) -> Matrix:
        """Rows as FAISS takes them: for codes, of whole groups of numbers."""
        matrix = np.ascontiguousarray(matrix, dtype=np.float32)
        return matrix if self.exact else _whole_groups(matrix)

    def _begin_codes(self, matrix: Matrix) -> None:
        """Turn from rows compared in full to codes; the rows so far decide what the codes stand for."""
        rows, ids = self._faiss.index.reconstruct_n(0, len(self)), _held(self._faiss)
        self._faiss = _code_index(_whole_groups(rows if len(rows) else matrix))
        if len(rows):
            self._faiss.add_with_ids(self._asked(rows), ids)


def _exact_index(dimension: int) -> Any:
    import faiss

    return faiss.IndexIDMap(faiss.IndexFlatIP(dimension))


def _code_index(sample: Matrix) -> Any:
    """An index of codes of half a byte for four numbers each, which of 16 typical fours they are nearest to.

    FAISS looks the codes up 32 rows at a time, in tables made of the query (Andre, Kermarrec and Le Scouarnec 2015): a
    query's large numbers count more than its small ones, which are mostly noise. A million rows take half the time
    that counting differing signs took, and more of the nearest are found among as many candidates. It is an inverted
    file of one list only because those can be asked for some ids alone.
    """
    import faiss

    single = faiss.IndexFlatIP(sample.shape[1])
    index: Any = faiss.IndexIVFPQFastScan(
        single, sample.shape[1], 1, sample.shape[1] // _TOGETHER, _TOGETHER_BITS, faiss.METRIC_INNER_PRODUCT
    )
    index.by_residual = False
    index.pq.train_type = faiss.ProductQuantizer.Train_hypercube  # begins with what is above and below the mean
    index.pq.cp.niter = 5  # more of them find no more
    # Fewer rows than it wishes for are a test's; it would complain aloud.
    index.cp.min_points_per_centroid = index.pq.cp.min_points_per_centroid = 1
    enough = np.resize(sample, (max(len(sample), 1 << _TOGETHER_BITS), sample.shape[1]))
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)  # of this thread alone: so many short passes cost more together than one by one
    try:
        index.train(enough)
    finally:
        faiss.omp_set_num_threads(threads)
    return index


def _whole_groups(rows: Matrix) -> Matrix:
    lacking = -rows.shape[1] % _TOGETHER
    return np.pad(rows, ((0, 0), (0, lacking))) if lacking else rows


def _held(index: Any) -> Ids:
    """The ids that an index holds, in its own order."""
    import faiss

    module: Any = faiss  # its stubs describe the C++ signatures, not the ones its Python layer puts in their place
    if hasattr(index, "id_map"):
        return np.asarray(module.vector_to_array(index.id_map), dtype=np.int64)
    lists = index.invlists
    if not lists.list_size(0):
        return np.empty(0, dtype=np.int64)
    return np.array(module.rev_swig_ptr(lists.get_ids(0), lists.list_size(0)), dtype=np.int64)


def _any_of(ids: Ids) -> Any:
    import faiss

    return faiss.IDSelectorBatch(ids)


def _only(allowed: Ids, *, codes: bool) -> Any:
    """Search parameters that let only these ids through."""
    import faiss

    module: Any = faiss
    mask = np.zeros(int(allowed.max(initial=0)) + 1, dtype=bool)
    mask[allowed[allowed >= 0]] = True
    chosen = module.IDSelectorBitmap(np.packbits(mask, bitorder="little"))
    return module.SearchParametersIVF(sel=chosen) if codes else module.SearchParameters(sel=chosen)


def _serialized(index: Any) -> memoryview:
    import faiss

    data: Any = faiss.serialize_index(index)
    return memoryview(data)


def _deserialized(payload: memoryview) -> Any:
    import faiss

    return faiss.deserialize_index(np.frombuffer(payload, dtype=np.uint8))


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
