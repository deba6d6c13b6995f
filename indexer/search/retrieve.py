"""From a query to ranked chunks: both sides asked, what one side found scored by the other too, fused and sorted."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import Ids, Matrix, Vector
from indexer.library import Library
from indexer.search.coverage import coverage
from indexer.search.fusion import COVERAGE_WEIGHT, LEXICAL_WEIGHT, Background, Scores, lexical_share

DEPTH = 200
"""Candidates asked of each side."""

_SAMPLE = 1000
"""Chunks whose cosines stand for those of all when a query's mean and deviation are estimated."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the library: query vectors (centred) for the dense side, an expression for the lexical one.

    A long query has several vectors. ``attainable`` is the sum of the weights of the query's ``terms``. ``documents``
    are the only ones allowed, ``chunks`` the only chunks (a quoted phrase's); None allows all.
    """

    vectors: Matrix | None
    match: str | None
    attainable: float
    terms: tuple[str, ...] = ()
    language: str = "und"
    documents: Ids | None = None
    chunks: Ids | None = None
    forbidden: Ids | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranked chunks, best first; all arrays of shape (n,).

    ``dense`` and ``lexical`` are what each side gave to the score; NaN where a side took no part. ``cosines`` are the
    best (centred) cosine to a vector of the query, ``shares`` the lexical shares.
    """

    chunks: Ids
    documents: Ids
    scores: Scores
    dense: Scores
    lexical: Scores
    cosines: Scores
    shares: Scores

    def __len__(self) -> int:
        return len(self.chunks)

    def taken(self, order: NDArray[np.intp]) -> Ranking:
        """The ranking with only these positions, in this order."""
        return Ranking(
            self.chunks[order],
            self.documents[order],
            self.scores[order],
            self.dense[order],
            self.lexical[order],
            self.cosines[order],
            self.shares[order],
        )


def retrieve(library: Library, request: Request, *, depth: int = DEPTH) -> Ranking:
    """Rank the library's chunks for a request; at most ``depth`` candidates of each side."""
    allowed = _allowed_chunks(library, request)
    dense_ids = _dense_candidates(library, request, allowed, depth)
    lexical_ids, bm25 = _lexical_candidates(library, request, allowed, depth)
    ids = np.union1d(dense_ids, lexical_ids).astype(np.int64)
    if request.forbidden is not None:
        ids = np.setdiff1d(ids, request.forbidden)
    dense, cosines = _dense_scores(library, request, ids)
    shares = np.zeros(len(ids), dtype=np.float32)
    if len(lexical_ids):
        place = np.searchsorted(ids, lexical_ids)
        kept = (place < len(ids)) & (ids[np.minimum(place, len(ids) - 1)] == lexical_ids) if len(ids) else place < 0
        shares[place[kept]] = lexical_share(bm25[kept], float(bm25.max()), request.attainable)
    owners = library.store.chunk_owner(ids)
    lexical = LEXICAL_WEIGHT * shares if request.match else np.full(len(ids), np.nan, dtype=np.float32)
    if request.match and request.vectors is not None:
        lexical += COVERAGE_WEIGHT * coverage(library, request.terms, request.language, ids, owners)
    scores = np.nan_to_num(dense) + np.nan_to_num(lexical)
    ranking = Ranking(ids, owners, scores, dense, lexical, cosines, shares)
    return ranking.taken(np.lexsort((ids, -scores)))


def _allowed_chunks(library: Library, request: Request) -> Ids | None:
    if request.documents is None:
        return request.chunks
    chunks = library.store.chunk_ids(request.documents)
    return chunks if request.chunks is None else np.intersect1d(chunks, request.chunks)


def _dense_candidates(library: Library, request: Request, allowed: Ids | None, depth: int) -> Ids:
    if request.vectors is None or (allowed is not None and not len(allowed)):
        return np.empty(0, dtype=np.int64)
    # Some of the nearest may be forbidden: as many more are asked for.
    k = depth + (0 if request.forbidden is None else min(len(request.forbidden), 4 * depth))
    found = np.unique(library.search_vectors(request.vectors, k, allowed).ids)
    return np.asarray(found[found >= 0], dtype=np.int64)


def _lexical_candidates(library: Library, request: Request, allowed: Ids | None, depth: int) -> tuple[Ids, Scores]:
    if request.match is None:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    found = library.store.lexical(request.match, depth, request.documents)
    ids = np.array([match.chunk_id for match in found], dtype=np.int64)
    scores = np.array([match.score for match in found], dtype=np.float32)
    if allowed is not None and request.chunks is not None:
        kept = np.isin(ids, allowed)
        return ids[kept], scores[kept]
    return ids, scores


def _dense_scores(library: Library, request: Request, ids: Ids) -> tuple[Scores, Scores]:
    """The standardised and the best plain cosine of each chunk to the query's vectors."""
    if request.vectors is None or not len(ids):
        return np.full(len(ids), np.nan, dtype=np.float32), np.full(len(ids), np.nan, dtype=np.float32)
    rows = library.rows(ids)
    sample = background_sample(library)
    standardised = np.stack([Background.of(vector, sample).standardise(rows @ vector) for vector in request.vectors])
    # A chunk that answers one part of a long query well counts as much as one that answers all of it somewhat.
    dense = (standardised.max(axis=0) + standardised.mean(axis=0)) / 2
    return dense.astype(np.float32), np.asarray((rows @ request.vectors.T).max(axis=1), dtype=np.float32)


_samples: WeakKeyDictionary[Library, tuple[str, Matrix]] = WeakKeyDictionary()


def background_sample(library: Library) -> Matrix:
    """The centred rows of a fixed random sample of chunks, kept until the library has changed by an eighth."""
    chunks = library.store.counts().chunks
    stamp = f"{library.means.version}/{int(np.log(max(chunks, 1)) / np.log(1.125))}"
    kept = _samples.get(library)
    if kept is None or kept[0] != stamp:
        ids, _ = library.store.sample_embeddings(_SAMPLE)
        kept = (stamp, library.rows(ids))
        _samples[library] = kept
    return kept[1]


def refined(vectors: Matrix, more: Matrix, less: Matrix) -> Matrix:
    """Query vectors moved towards good examples and away from bad ones (Rocchio 1971; weights 1, 0.75 and 0.25)."""
    moved = vectors.copy()
    if len(more):
        moved = moved + 0.75 * more.mean(axis=0)
    if len(less):
        moved = moved - 0.25 * less.mean(axis=0)
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.asarray(moved / np.maximum(lengths, 1e-9), dtype=np.float32)


def best_vector(rows: Matrix) -> Vector:
    """The direction of the mean of some rows."""
    mean = rows.mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9), dtype=np.float32)
