"""The clusters of a library: made, kept, shown, renamed, looked into, and what its chunks are about."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indexer.clusters.build import ClusterOptions, Progress, Vectors, build
from indexer.clusters.features import COMPONENTS, components, nearest, unit
from indexer.clusters.labels import TermCounts, label_of, telling_terms
from indexer.clusters.layout import project
from indexer.clusters.partition import partition
from indexer.clusters.results import ChunkTopic, Clustering, Growth, MapPoint
from indexer.clusters.state import load, rename, save
from indexer.datatypes import Ids, Matrix
from indexer.errors import LongdocError

if TYPE_CHECKING:
    from indexer.library import Library

SAMPLE_CHARS = 3_000
_SAMPLE_PIECES = 8
_CHUNKS_AT_ONCE = 20_000
_CHUNKS_LABELLED_BY = 150
_LEAST_AXES, _DOCUMENTS_AN_AXIS = 4, 5
"""Few documents differ in as many ways as they are: along their main axes alone they fall into groups."""
_CHUNKS_CENTRAL = 5


class LibraryTexts:
    """Titles and text samples of a library's documents."""

    def __init__(self, library: Library) -> None:
        self._store = library.store

    def title(self, document: int) -> str:
        found = self._store.document(document)
        return found.title or (found.paths[0] if found.paths else str(document))

    def sample(self, document: int) -> str:
        """Pieces from the beginning of up to eight chunks that lie evenly over the document."""
        ids = self._store.chunk_ids([document])
        chosen = ids[np.unique(np.linspace(0, len(ids) - 1, _SAMPLE_PIECES).astype(int))] if len(ids) else ids
        chunks = self._store.chunks(chosen)
        room = SAMPLE_CHARS // max(len(chunks), 1)
        return "\n".join(stored.chunk.text[:room] for stored in chunks)


def document_rows(library: Library) -> Vectors:
    """The vectors of a library's documents, less what their language has in common."""
    ids, rows = library.store.document_vectors()
    languages = {document.id: document.language for document in library.store.documents()}
    return Vectors(ids, library.means.centre_documents(rows, [languages.get(i, "und") for i in ids.tolist()]))


def cluster_documents(
    library: Library, options: ClusterOptions | None = None, progress: Progress | None = None
) -> Clustering:
    """Cluster the library's documents and keep the result; old ids, labels and places on the map live on.

    Raises LibraryLockedError when another process writes to the library.
    """
    options = options or ClusterOptions()
    old = None if options.fresh else load(library)
    generation = library.store.generation()
    kept = build(document_rows(library), LibraryTexts(library), options, old, progress or _silent)
    kept = replace(kept, clustering=replace(kept.clustering, generation=generation))
    save(library, kept)
    return kept.clustering


def _silent(what: str, done: int, total: int) -> None:
    """Tell nobody."""


def load_clusters(library: Library) -> Clustering | None:
    """The clustering as it was kept, or None. Documents that came since lie on the map, in the cluster around them."""
    kept = load(library)
    if kept is None:
        return None
    clustering = kept.clustering
    mapped = {point.document for point in clustering.points}
    present = set(library.store.document_vectors()[0].tolist())
    if mapped == present:
        return clustering
    return _caught_up(library, clustering, present, mapped)


def _caught_up(library: Library, clustering: Clustering, present: set[int], mapped: set[int]) -> Clustering:
    """Without the documents that are gone, and with the new ones put into the map."""
    points = [point for point in clustering.points if point.document in present]
    if points and present - mapped:
        vectors = document_rows(library)
        place = {point.document: point for point in points}
        old = np.array([document in place for document in vectors.ids.tolist()])
        rows = components(vectors.rows)
        plane = np.array([(place[i].x, place[i].y) for i in vectors.ids[old].tolist()], dtype=np.float32)
        near = nearest(rows[~old], rows[old], 3)
        clusters = [place[i].cluster for i in vectors.ids[old].tolist()]
        for document, (x, y), index in zip(
            vectors.ids[~old].tolist(), project(near, plane).tolist(), near.positions[:, 0].tolist(), strict=True
        ):
            points.append(MapPoint(document, round(x, 4), round(y, 4), clusters[index]))
    members: dict[int | None, list[int]] = {}
    for point in points:
        members.setdefault(point.cluster, []).append(point.document)
    clusters_now = tuple(
        replace(c, documents=tuple(sorted(members.get(c.id, ()))), central=tuple(d for d in c.central if d in present))
        for c in clustering.clusters
    )
    return replace(
        clustering,
        clusters=clusters_now,
        outliers=tuple(sorted(members.get(None, ()))),
        points=tuple(points),
        stale=True,
    )


def rename_cluster(library: Library, cluster_id: int, label: str) -> Clustering:
    """Give a cluster a label of one's own; every refresh keeps it. Raises LongdocError for an unknown cluster."""
    kept = load(library)
    if kept is None:
        raise LongdocError("The library has no clusters yet. Run `longdoc clusters`.")
    kept = rename(kept, cluster_id, label)
    save(library, kept)
    return kept.clustering


def subclusters(library: Library, cluster_id: int, options: ClusterOptions | None = None) -> Clustering:
    """Look into one cluster: its documents clustered by themselves, into few parts. Nothing is kept.

    Raises LongdocError when there is no such cluster.
    """
    clustering = load_clusters(library)
    wanted = next((c for c in clustering.clusters if c.id == cluster_id), None) if clustering else None
    if wanted is None:
        raise LongdocError(f"There is no cluster {cluster_id}. `longdoc clusters` shows the ids.")
    vectors = document_rows(library)
    inside = np.isin(vectors.ids, wanted.documents)
    axes = max(_LEAST_AXES, min(COMPONENTS, wanted.size // _DOCUMENTS_AN_AXIS))
    part = Vectors(vectors.ids[inside], components(vectors.rows[inside], axes))
    options = replace(options or ClusterOptions(), most=max(2, math.isqrt(wanted.size)))
    return build(part, LibraryTexts(library), options, None, _silent).clustering


def growth(library: Library, clustering: Clustering) -> tuple[Growth, ...]:
    """How many documents of each cluster are dated in each month: modified, else created, else not counted."""
    dates = {d.id: (d.modified or d.created or "")[:7] for d in library.store.documents()}
    found: list[Growth] = []
    for cluster in clustering.clusters:
        months = Counter(dates.get(document, "") for document in cluster.documents)
        found += [Growth(cluster.id, month, months[month]) for month in sorted(months) if month]
    return tuple(found)


def chunk_topics(library: Library, options: ClusterOptions | None = None) -> tuple[ChunkTopic, ...]:
    """What the library's chunks are about: a long document may belong to several topics. Largest topic first."""
    options = options or ClusterOptions()
    ids = library.store.chunk_ids()
    if not len(ids):
        return ()
    rows = _reduced(library, ids, options.seed)
    found = partition(rows, options.k, options.seed)
    owner = library.store.chunk_owner(ids)
    ranked = []
    for label, centre in enumerate(found.centres):
        indices = np.flatnonzero(found.labels == label)
        ranked.append(indices[np.argsort(-(rows[indices] @ centre), kind="stable")])
    counts = [
        TermCounts.of(stored.chunk.text for stored in library.store.chunks(ids[order[:_CHUNKS_LABELLED_BY]]))
        for order in ranked
    ]
    order_by_size = sorted(range(len(ranked)), key=lambda label: (-len(ranked[label]), label))
    terms = telling_terms(counts)
    return tuple(
        ChunkTopic(
            id=number,
            label=label_of(terms[label], f"Topic {number}"),
            terms=terms[label],
            chunks=tuple(np.sort(ids[ranked[label]]).tolist()),
            central=tuple(ids[ranked[label][:_CHUNKS_CENTRAL]].tolist()),
            documents=tuple(Counter(owner[ranked[label]].tolist()).most_common()),
        )
        for number, label in enumerate(order_by_size, start=1)
    )


def _reduced(library: Library, ids: Ids, seed: int) -> Matrix:
    """The principal components of chunk embeddings, found on a sample, so that memory stays bounded."""
    chosen = np.sort(np.random.default_rng(seed).permutation(len(ids))[:_CHUNKS_AT_ONCE])
    sample = library.rows(ids[chosen])
    mean = sample.mean(axis=0)
    _, axes = np.linalg.eigh((sample - mean).T.astype(np.float64) @ (sample - mean))
    axes = axes[:, ::-1][:, :COMPONENTS]
    parts = [
        (library.rows(ids[start : start + _CHUNKS_AT_ONCE]) - mean) @ axes
        for start in range(0, len(ids), _CHUNKS_AT_ONCE)
    ]
    return unit(np.concatenate(parts).astype(np.float32))
