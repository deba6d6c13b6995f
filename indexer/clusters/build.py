"""Cluster documents: from their centred vectors and samples of their text to clusters with labels, topics and a map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from indexer.clusters.features import Mask, Neighbours, components, landmarks, nearest, outliers
from indexer.clusters.labels import TermCounts, as_written, label_of, telling_terms
from indexer.clusters.layout import lay_out, project
from indexer.clusters.partition import MOST, Partition, partition
from indexer.clusters.results import Cluster, Clustering, MapPoint, Topic
from indexer.clusters.state import Kept, take_over
from indexer.datatypes import Ids, Matrix

CENTRAL = 5
LABELLED_BY = 120
"""Documents of a cluster, the most central ones, whose text its label is taken from."""

WRITTEN_BY = 30
"""Documents that show how the terms of a label are written."""

LEAST_MAPPED = 0.8
"""An old map is kept, and new documents are put into it, while this part of the documents is on it."""

TOPICS_FROM = 6

Progress = Callable[[str, int, int], None]


class Texts(Protocol):
    """The titles and texts that labels are taken from."""

    def title(self, document: int) -> str: ...
    def sample(self, document: int) -> str:
        """Some of a document's text, taken evenly from all of it."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The documents to cluster: ids, ascending, and their centred embeddings, row by row."""

    ids: Ids
    rows: Matrix


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """``k``: a fixed number of clusters (then every document is in one); None finds the number and leaves outliers.

    ``fresh`` forgets the clusters there were, with their ids, labels and map. ``most`` bounds the number that is found.
    """

    k: int | None = None
    seed: int = 0
    fresh: bool = False
    most: int = MOST


def build(vectors: Vectors, texts: Texts, options: ClusterOptions, old: Kept | None, progress: Progress) -> Kept:
    """Cluster the documents, taking over what is known from an earlier clustering."""
    if not len(vectors.ids):
        return Kept(Clustering((), (), (), (), "no documents", options.seed, 0), old.next_id if old else 1)
    progress("Clustering", 0, 1)
    rows = components(vectors.rows)
    marks = landmarks(len(rows), options.seed)
    near, away = _surroundings(rows, marks, options)
    start = _old_centres(vectors.ids[~away], rows[~away], old, options)
    found = partition(rows[~away], options.k, options.seed, start, options.most)
    labels = np.full(len(rows), -1, dtype=np.int64)
    labels[~away] = found.labels
    clusters, counts = _describe(vectors.ids, rows, labels, found, texts, progress)
    named, next_id = take_over(clusters, old)
    named, topics = _topics(named, counts, found.centres)
    progress("Drawing the map", 0, 1)
    plane = _plane(vectors.ids, rows, marks, near, old, options.seed)
    numbers = {-1: None} | {number: cluster.id for number, cluster in enumerate(named)}
    points = tuple(
        MapPoint(document, round(x, 4), round(y, 4), numbers[label])
        for document, (x, y), label in zip(vectors.ids.tolist(), plane.tolist(), labels.tolist(), strict=True)
    )
    left = tuple(vectors.ids[labels < 0].tolist())
    return Kept(Clustering(named, topics, left, points, found.criterion, options.seed, 0), next_id)


def _surroundings(rows: Matrix, marks: Ids, options: ClusterOptions) -> tuple[Neighbours, Mask]:
    """Each row's nearest landmarks, and which rows lie apart from all (none when the number of clusters is fixed)."""
    own = np.full(len(rows), -1, dtype=np.int64)
    own[marks] = np.arange(len(marks))
    if len(rows) < 3:
        return Neighbours(np.zeros((len(rows), 0), np.int64), np.zeros((len(rows), 0), np.float32)), own < -1
    near = nearest(rows, rows[marks], own=own)
    if options.k is not None:
        return near, own < -1
    return near, outliers(near, Neighbours(near.positions[marks], near.distances[marks]))


def _old_centres(ids: Ids, rows: Matrix, old: Kept | None, options: ClusterOptions) -> Matrix | None:
    """The centres of the old clusters among the new rows, or None when too few of their documents are left."""
    if old is None or not old.clustering.clusters:
        return None
    clusters = old.clustering.clusters
    if options.k is not None and options.k != len(clusters):
        return None
    centres = []
    for cluster in clusters:
        members = rows[np.isin(ids, cluster.documents)]
        if len(members) < cluster.size / 2:
            return None
        centres.append(members.mean(axis=0))
    return np.asarray(centres, dtype=np.float32)


def _describe(
    ids: Ids, rows: Matrix, labels: Ids, found: Partition, texts: Texts, progress: Progress
) -> tuple[list[Cluster], list[TermCounts]]:
    """A cluster for each label, numbered from 0, largest ids first; and the terms counted for each."""
    members = [np.flatnonzero(labels == label) for label in range(len(found.centres))]
    ranked = [
        indices[np.argsort(-(rows[indices] @ centre), kind="stable")]
        for indices, centre in zip(members, found.centres, strict=True)
    ]
    counts = []
    for done, order in enumerate(ranked):
        progress("Naming", done, len(ranked))
        counts.append(TermCounts.of(texts.sample(int(ids[i])) for i in order[:LABELLED_BY]))
    clusters = []
    for number, (indices, order, found_terms) in enumerate(zip(members, ranked, telling_terms(counts), strict=True)):
        central = tuple(ids[order[:CENTRAL]].tolist())
        terms = as_written(found_terms, [texts.sample(document) for document in ids[order[:WRITTEN_BY]].tolist()])
        fallback = texts.title(central[0]) if central else "empty"
        clusters.append(Cluster(number, label_of(terms, fallback), terms, tuple(ids[indices].tolist()), central))
    return clusters, counts


def _topics(
    clusters: Sequence[Cluster], counts: Sequence[TermCounts], centres: Matrix
) -> tuple[tuple[Cluster, ...], tuple[Topic, ...]]:
    """Put clusters that lie near each other under a topic (Ward's method on their centres), when there are many."""
    if len(clusters) < TOPICS_FROM:
        return tuple(clusters), ()
    from scipy.cluster.hierarchy import fcluster, linkage

    wanted = max(2, round(len(clusters) / 3.5))
    groups = fcluster(linkage(centres, "ward"), wanted, "maxclust") - 1
    merged: list[TermCounts] = []
    for group in range(int(groups.max()) + 1):
        total = TermCounts.of(())
        for index in np.flatnonzero(groups == group).tolist():
            total = total + counts[index]
        merged.append(total)
    written = {term.casefold(): term for cluster in clusters for term in cluster.terms}
    terms = [[written.get(term, term) for term in found] for found in telling_terms(merged)]
    upper = []
    for group in range(len(merged)):
        inside = [clusters[index] for index in np.flatnonzero(groups == group).tolist()]
        label = inside[0].label if len(inside) == 1 else label_of(terms[group], inside[0].label)
        upper.append(Topic(group + 1, label, tuple(sorted(cluster.id for cluster in inside))))
    placed = tuple(replace(c, topic=int(group) + 1) for c, group in zip(clusters, groups, strict=True))
    return placed, tuple(upper)


def _plane(ids: Ids, rows: Matrix, marks: Ids, near: Neighbours, old: Kept | None, seed: int) -> Matrix:
    """Where each document lies: on the old map while it holds most of them, the new ones put in; else on a new one."""
    if old is not None:
        known = {point.document: (point.x, point.y) for point in old.clustering.points}
        there = np.array([document in known for document in ids.tolist()])
        if there.mean() >= LEAST_MAPPED and there.sum() >= 3:
            plane = np.zeros((len(ids), 2), dtype=np.float32)
            plane[there] = [known[document] for document in ids[there].tolist()]
            if not there.all():
                placed = np.flatnonzero(there)[landmarks(int(there.sum()), seed)]
                plane[~there] = project(nearest(rows[~there], rows[placed], 3), plane[placed])
            return plane
    drawn = lay_out(rows[marks], Neighbours(near.positions[marks], near.distances[marks]), seed)
    plane = np.zeros((len(ids), 2), dtype=np.float32)
    plane[marks] = drawn
    rest = np.setdiff1d(np.arange(len(ids)), marks)
    if len(rest):
        plane[rest] = project(Neighbours(near.positions[rest], near.distances[rest]), drawn)
    return plane
