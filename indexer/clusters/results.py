"""What a clustering says: clusters with labels, topics above them, outliers and a map, frozen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cluster:
    """Documents about one thing. The id and the label outlive a refresh; ``central`` documents say best what it is.

    ``terms`` are its telling words and phrases, the most telling first; ``topic`` is the id of the topic above it.
    """

    id: int
    label: str
    terms: tuple[str, ...]
    documents: tuple[int, ...]
    central: tuple[int, ...]
    topic: int | None = None
    edited: bool = False

    @property
    def size(self) -> int:
        """How many documents it has."""
        return len(self.documents)


@dataclass(frozen=True, slots=True)
class Topic:
    """Clusters that lie near each other: the upper level of the hierarchy."""

    id: int
    label: str
    clusters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MapPoint:
    """Where a document lies on the map, within -1 to 1, and its cluster (None: an outlier)."""

    document: int
    x: float
    y: float
    cluster: int | None


@dataclass(frozen=True, slots=True)
class Clustering:
    """The clusters of a library. ``criterion`` says in a sentence how their number was chosen.

    ``generation`` is the library's when it was made; ``stale`` means that documents have come or gone since then.
    """

    clusters: tuple[Cluster, ...]
    topics: tuple[Topic, ...]
    outliers: tuple[int, ...]
    points: tuple[MapPoint, ...]
    criterion: str
    seed: int
    generation: int
    stale: bool = False

    @property
    def outlier_share(self) -> float:
        """The part of the documents that belong to no cluster, 0 to 1."""
        total = len(self.outliers) + sum(cluster.size for cluster in self.clusters)
        return len(self.outliers) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class ChunkTopic:
    """Chunks about one thing, from whatever documents: ``documents`` holds (document id, number of its chunks)."""

    id: int
    label: str
    terms: tuple[str, ...]
    chunks: tuple[int, ...]
    central: tuple[int, ...]
    documents: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Growth:
    """How many of a cluster's documents are dated in a month (``2024-05``)."""

    cluster: int
    period: str
    documents: int
