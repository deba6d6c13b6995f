"""A clustering as it is kept in the library, and how a fresh one takes over the old ids and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indexer.clusters.results import Cluster, Clustering, MapPoint, Topic
from indexer.errors import LongdocError

if TYPE_CHECKING:
    from indexer.library import Library

KEY = "clustering"
FILTER_KEY = "clusters"
OVERLAP = 0.5
"""A fresh cluster is an old one when it shares this part of the smaller one's documents."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A clustering and the next free cluster id; ids of clusters that are gone are never given again."""

    clustering: Clustering
    next_id: int


def load(library: Library) -> Kept | None:
    """The library's clustering, or None when there is none yet."""
    value = library.store.meta_get(KEY)
    return None if value is None else from_json(value)


def save(library: Library, kept: Kept) -> None:
    """Keep a clustering, and beside it the members of each cluster, which searches filter by."""
    with library.write_lock():
        library.store.meta_set(KEY, to_json(kept))
        clusters = kept.clustering.clusters
        members = {str(cluster.id): list(cluster.documents) for cluster in clusters}
        labels = {str(cluster.id): cluster.label for cluster in clusters}
        library.store.meta_set(FILTER_KEY, {"members": members, "labels": labels})


def to_json(kept: Kept) -> dict[str, Any]:
    """The clustering as plain lists."""
    clustering = kept.clustering
    return {
        "next_id": kept.next_id,
        "criterion": clustering.criterion,
        "seed": clustering.seed,
        "generation": clustering.generation,
        "outliers": list(clustering.outliers),
        "clusters": [
            [c.id, c.label, list(c.terms), list(c.documents), list(c.central), c.topic, c.edited]
            for c in clustering.clusters
        ],
        "topics": [[topic.id, topic.label, list(topic.clusters)] for topic in clustering.topics],
        "points": [[p.document, round(p.x, 4), round(p.y, 4), p.cluster] for p in clustering.points],
    }


def from_json(value: Mapping[str, Any]) -> Kept:
    """The clustering that `to_json` wrote."""
    clustering = Clustering(
        clusters=tuple(
            Cluster(number, label, tuple(terms), tuple(documents), tuple(central), topic, edited)
            for number, label, terms, documents, central, topic, edited in value["clusters"]
        ),
        topics=tuple(Topic(number, label, tuple(clusters)) for number, label, clusters in value["topics"]),
        outliers=tuple(value["outliers"]),
        points=tuple(MapPoint(*point) for point in value["points"]),
        criterion=value["criterion"],
        seed=value["seed"],
        generation=value["generation"],
    )
    return Kept(clustering, value["next_id"])


def take_over(fresh: Sequence[Cluster], old: Kept | None) -> tuple[tuple[Cluster, ...], int]:
    """Give fresh clusters the ids and labels of the old ones they overlap most with, and new ids to the rest.

    Each old cluster is continued by one fresh one at most (an optimal assignment by the overlap of their documents).
    Returns the clusters and the next free id.
    """
    next_id = old.next_id if old else 1
    matched: dict[int, Cluster] = {}
    if old and old.clustering.clusters and fresh:
        from scipy.optimize import linear_sum_assignment

        before = old.clustering.clusters
        overlap = np.array([[_overlap(new, earlier) for earlier in before] for new in fresh])
        rows, columns = linear_sum_assignment(-overlap)
        matched = {
            int(row): before[int(column)]
            for row, column in zip(rows, columns, strict=True)
            if overlap[row, column] >= OVERLAP
        }
    named = []
    for number, cluster in enumerate(fresh):
        if number in matched:
            earlier = matched[number]
            named.append(replace(cluster, id=earlier.id, label=earlier.label, edited=earlier.edited))
        else:
            named.append(replace(cluster, id=next_id))
            next_id += 1
    return tuple(named), next_id


def _overlap(a: Cluster, b: Cluster) -> float:
    shared = len(set(a.documents) & set(b.documents))
    return shared / max(min(a.size, b.size), 1)


def rename(kept: Kept, cluster_id: int, label: str) -> Kept:
    """Give a cluster a label of one's own, which every refresh keeps. Raises LongdocError."""
    label = " ".join(label.split())
    if not label:
        raise LongdocError("A cluster's label cannot be empty.")
    clusters = kept.clustering.clusters
    if cluster_id not in {cluster.id for cluster in clusters}:
        known = ", ".join(str(cluster.id) for cluster in clusters)
        raise LongdocError(f"There is no cluster {cluster_id}; there are {known}. `longdoc clusters` shows them.")
    renamed = tuple(replace(c, label=label, edited=True) if c.id == cluster_id else c for c in clusters)
    return replace(kept, clustering=replace(kept.clustering, clusters=renamed))
