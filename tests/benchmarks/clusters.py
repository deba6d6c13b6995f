"""How well clusters match judged classes, beside other ways in the same run; how fast 100 thousand documents are done.

    python -m tests.benchmarks.clusters [--folder DIR] [--rows DIR] [--curve] [--library DIR] [--json FILE]

``--folder`` holds the sets (corpus.jsonl, labels.tsv; default: LONGDOC_EVAL, else the evaluation data beside the
checkout), ``--rows`` a directory with {set}.npz: ``keys`` (text hashes of chunks) and ``rows`` (their embeddings), and
{set}.chunks.jsonl: {"_id", "title", "chunks": [[text, tokens], ...]}. Without ``--rows`` the chunks are encoded by the
default encoder, which takes minutes. V-measure (Rosenberg and Hirschberg 2007): with the number of classes given as k,
and without; the references are k-means on the mean vectors (scikit-learn) and, where umap-learn is installed, UMAP to
five dimensions and HDBSCAN, which is BERTopic's way. The maps are compared by trustworthiness (10 neighbours) and by
how many of the 10 nearest on the map share a document's class. ``--library`` measures
time and memory on a library that ``python -m tests.benchmarks.synthetic DIR 100000`` wrote.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from indexer.chunk import chunk_pages
from indexer.clusters import cluster_documents
from indexer.clusters.build import ClusterOptions, Vectors, build
from indexer.clusters.features import components, unit
from indexer.clusters.partition import partition
from indexer.clusters.results import Clustering
from indexer.datatypes import Matrix, OffsetMap, Page, text_hash
from indexer.library import Library
from indexer.settings import Settings
from tests.benchmarks.duplicates import Stages
from tests.benchmarks.material import evaluation_folder
from tests.benchmarks.synthetic import DIMENSION, Synthetic
from tests.fakes import FakeEncoder

EVALUATION = evaluation_folder() or Path()
SETS = ("cluster_bbc_en", "cluster_cnews_zh")
SEEDS = (0, 1, 2)
COMPONENT_NUMBERS = (4, 8, 12, 16, 24, 32, 48, 64, 128)


@dataclass(frozen=True)
class Judged:
    """A set: its documents' vectors (token-weighted chunk means, as the library keeps them), texts and classes."""

    vectors: Vectors
    texts: list[str]
    titles: list[str]
    classes: list[str]

    def title(self, document: int) -> str:
        return self.titles[document - 1]

    def sample(self, document: int) -> str:
        return self.texts[document - 1][:3000]


def load(folder: Path, rows: Path | None) -> Judged:
    documents = list(read_chunks(folder, rows))
    known = dict(load_rows(rows / f"{folder.name}.npz")) if rows else encode(documents)
    means = []
    for _, _, chunks in documents:
        weights = np.array([tokens for _, tokens in chunks], dtype=np.float64)
        vectors = np.stack([known[text_hash(text)] for text, _ in chunks])
        means.append((vectors * weights[:, None]).sum(axis=0) / weights.sum())
    matrix = np.asarray(means, dtype=np.float32)
    centred = unit(unit(matrix) - unit(matrix).mean(axis=0))
    lines = (folder / "labels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    classes = dict(line.split("\t")[:2] for line in lines)
    texts = ["".join(text for text, _ in chunks) for _, _, chunks in documents]
    names = [name for name, _, _ in documents]
    titles = [title or name for name, title, _ in documents]
    return Judged(Vectors(np.arange(1, len(names) + 1), centred), texts, titles, [classes[name] for name in names])


def read_chunks(folder: Path, rows: Path | None):
    if rows is not None:
        for line in (rows / f"{folder.name}.chunks.jsonl").read_text(encoding="utf-8").split("\n"):
            entry = json.loads(line)
            yield entry["_id"], entry["title"], [(text, tokens) for text, tokens in entry["chunks"]]
        return
    from indexer.encode import load_encoder
    from indexer.settings import load_settings

    count = load_encoder("e5-small", settings=load_settings()).count_tokens
    for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            entry = json.loads(line)
            page = Page(entry["text"], OffsetMap.identity(len(entry["text"])))
            chunks = [(chunk.text, chunk.tokens) for chunk in chunk_pages([page], count)]
            yield entry["_id"], entry.get("title", ""), chunks


def load_rows(path: Path):
    loaded = np.load(path)
    return zip((key.tobytes() for key in loaded["keys"]), loaded["rows"].astype(np.float32), strict=True)


def encode(documents) -> dict[bytes, Matrix]:
    from indexer.encode import load_encoder
    from indexer.settings import load_settings

    texts = {text_hash(text): text for _, _, chunks in documents for text, _ in chunks}
    rows = load_encoder("e5-small", settings=load_settings()).encode_documents(list(texts.values()))
    return dict(zip(texts, rows, strict=True))


def measure(folder: Path, rows: Path | None) -> dict[str, object]:
    judged = load(folder, rows)
    count = len(set(judged.classes))
    ours = {
        "with_k": [run(judged, ClusterOptions(k=count, seed=seed)) for seed in SEEDS],
        "without_k": [run(judged, ClusterOptions(seed=seed)) for seed in SEEDS],
    }
    clustering = build(judged.vectors, judged, ClusterOptions(), None, lambda *_: None).clustering
    plane = np.array([(point.x, point.y) for point in clustering.points])
    return {
        "set": folder.name,
        "longdoc": ours,
        "labels": [f"{cluster.label} ({cluster.size})" for cluster in clustering.clusters],
        "references": references(judged, count),
        "maps": {"longdoc": map_scores(judged, plane), **reference_maps(judged)},
    }


def run(judged: Judged, options: ClusterOptions) -> dict[str, object]:
    started = time.perf_counter()
    clustering = build(judged.vectors, judged, options, None, lambda *_: None).clustering
    seconds = time.perf_counter() - started
    labels = labels_of(clustering, len(judged.classes))
    return {
        "v_measure": v_measure(judged.classes, labels),
        "clusters": len(clustering.clusters),
        "outliers": round(clustering.outlier_share, 4),
        "seconds": round(seconds, 2),
    }


def labels_of(clustering: Clustering, count: int) -> np.ndarray:
    labels = np.full(count, -1)
    for cluster in clustering.clusters:
        labels[np.array(cluster.documents) - 1] = cluster.id
    return labels


def v_measure(classes: list[str], labels: np.ndarray) -> float:
    """Outliers count as one cluster more, so that leaving much out is no way to a good figure."""
    from sklearn.metrics import v_measure_score

    return round(float(v_measure_score(classes, labels)), 4)


def references(judged: Judged, count: int) -> dict[str, object]:
    from sklearn.cluster import HDBSCAN, KMeans

    rows = judged.vectors.rows
    found: dict[str, object] = {}
    started = time.perf_counter()
    scores = [
        v_measure(judged.classes, KMeans(count, n_init=10, random_state=seed).fit_predict(rows)) for seed in SEEDS
    ]
    found["kmeans_on_means"] = {"v_measure": scores, "seconds": round((time.perf_counter() - started) / len(SEEDS), 2)}
    if (umap := reducer(5)) is not None:
        started = time.perf_counter()
        labels = HDBSCAN(min_cluster_size=10, copy=True).fit_predict(umap(rows))
        found["umap_hdbscan"] = {
            "v_measure": v_measure(judged.classes, labels),
            "clusters": int(labels.max()) + 1,
            "outliers": round(float((labels < 0).mean()), 4),
            "seconds": round(time.perf_counter() - started, 2),
        }
    return found


def reducer(dimensions: int) -> Callable[[Matrix], Matrix] | None:
    try:
        from umap import UMAP
    except ImportError:
        return None
    nearness = 0.0 if dimensions > 2 else 0.1
    return UMAP(n_components=dimensions, n_neighbors=15, min_dist=nearness, random_state=0).fit_transform


def reference_maps(judged: Judged) -> dict[str, object]:
    if (umap := reducer(2)) is None:
        return {}
    started = time.perf_counter()
    plane = umap(judged.vectors.rows)
    return {"umap": {**map_scores(judged, plane), "seconds": round(time.perf_counter() - started, 2)}}


def map_scores(judged: Judged, plane: np.ndarray) -> dict[str, float]:
    from sklearn.manifold import trustworthiness
    from sklearn.neighbors import NearestNeighbors

    classes = np.array(judged.classes)
    nearest = NearestNeighbors(n_neighbors=11).fit(plane).kneighbors(plane, return_distance=False)[:, 1:]
    return {
        "trustworthiness": round(float(trustworthiness(judged.vectors.rows, plane, n_neighbors=10)), 4),
        "same_class_near": round(float((classes[nearest] == classes[:, None]).mean()), 4),
    }


def library_run(directory: Path) -> dict[str, object]:
    """`clusters` over a library that tests.benchmarks.synthetic wrote: found, named, mapped and kept."""
    settings = Settings(library=directory, cache=directory.parent / "cache")
    with Library.open(directory, settings, write=True, encoder=FakeEncoder(DIMENSION)) as library:
        before = resource.getrusage(resource.RUSAGE_SELF)
        stages = Stages()
        started = time.perf_counter()
        clustering = cluster_documents(library, ClusterOptions(fresh=True), stages.tell)
        seconds = time.perf_counter() - started
        after, spent = resource.getrusage(resource.RUSAGE_SELF), stages.seconds()
        count = len(clustering.points)
        made = Synthetic(count)
        started = time.perf_counter()
        again = cluster_documents(library, ClusterOptions())
        again_seconds = time.perf_counter() - started
    kept = {c.id: c.label for c in clustering.clusters} == {c.id: c.label for c in again.clusters}
    return {
        "documents": count,
        "seconds": round(seconds, 1),
        "processor_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "stages": spent,
        "peak_rss_mb": round(after.ru_maxrss / 1024),
        "rss_before_mb": round(before.ru_maxrss / 1024),
        "clusters": len(clustering.clusters),
        "outliers": round(clustering.outlier_share, 4),
        "v_measure": v_measure([str(made.subject(i + 1)) for i in range(count)], labels_of(clustering, count)),
        "seconds_again": round(again_seconds, 1),
        "same_ids_and_labels": kept,
        "labels": [cluster.label for cluster in clustering.clusters[:5]],
    }


def curve(folder: Path, rows: Path | None) -> dict[str, object]:
    """V-measure by the number of principal components, so that it is seen how much hangs on the one chosen."""
    judged = load(folder, rows)
    count = len(set(judged.classes))
    found: dict[int, list[float]] = {}
    for number in COMPONENT_NUMBERS:
        reduced = components(judged.vectors.rows, number)
        found[number] = [v_measure(judged.classes, partition(reduced, count, seed).labels) for seed in SEEDS]
    return {"set": folder.name, "documents": len(judged.classes), "classes": count, "v_measure_by_components": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=EVALUATION)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--curve", action="store_true", help="V-measure by the number of principal components instead")
    parser.add_argument("--library", type=Path, help="a library that tests.benchmarks.synthetic wrote")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results: list[dict[str, object]] = []
    for name in arguments.sets:
        results.append((curve if arguments.curve else measure)(arguments.folder / name, arguments.rows))
        print(json.dumps(results[-1], indent=1, ensure_ascii=False))
    if arguments.library:
        results.append(library_run(arguments.library))
        print(json.dumps(results[-1], indent=1, ensure_ascii=False))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
