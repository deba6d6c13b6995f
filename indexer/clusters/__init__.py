"""What the collection is about: clusters with labels, a map, topics of chunks, and a classifier."""

from __future__ import annotations

from indexer.clusters.build import ClusterOptions
from indexer.clusters.classify import Assignment, Classification, ClassifyOptions, classify
from indexer.clusters.documents import (
    chunk_topics,
    cluster_documents,
    growth,
    load_clusters,
    rename_cluster,
    subclusters,
)
from indexer.clusters.plot import plot
from indexer.clusters.results import ChunkTopic, Cluster, Clustering, Growth, MapPoint, Topic
from indexer.clusters.spots import LabelBox, label_spots

__all__ = [
    "Assignment",
    "ChunkTopic",
    "Classification",
    "ClassifyOptions",
    "Cluster",
    "ClusterOptions",
    "Clustering",
    "Growth",
    "LabelBox",
    "MapPoint",
    "Topic",
    "chunk_topics",
    "classify",
    "cluster_documents",
    "growth",
    "label_spots",
    "load_clusters",
    "plot",
    "rename_cluster",
    "subclusters",
]
