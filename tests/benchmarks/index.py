"""How the vector index and the library behave as they grow, beside FAISS's own indexes in the same run.

    python -m tests.benchmarks.index [--sizes 10000 100000 1000000] [--folder DIR] [--plot index.png] [--json FILE]

A real library of every size is built first (a document is 100 chunks of words, its full-text rows and embeddings as
`add` writes them), then each method runs in a process of its own: build, save, open, a query at k=10 (p50, p95, p99),
recall@10 against brute force, memory that the index adds, bytes on disk. Embeddings: distinct sentences of the sample
documents under the default encoder, and as many more as the size asks for between two of them, with noise.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil

from indexer.datatypes import Chunk, Document, Recipe, Span, Status, text_hash
from indexer.library import Library
from indexer.settings import Settings, load_settings
from indexer.store import FoundFile, Store
from indexer.store.chunks import BLOCK_CHARS
from indexer.store.schema import lexical_table
from indexer.store.values import pack_rows, pack_vector

DIMENSION = 384
QUERIES = 200
NOISE = 0.2
CHUNKS_A_DOCUMENT = 100
RECIPE = Recipe("e5-small", "0" * 64, DIMENSION, "query: ", "passage: ", "mean")
METHODS = ("library", "flat", "hnsw32", "ivf_sq8")


def real_rows(folder: Path) -> np.ndarray:
    """Embeddings of sentences of the sample documents, encoded once and kept in the benchmark's folder."""
    kept = folder / "rows.npy"
    if kept.exists():
        return np.load(kept)
    from indexer.encode import load_encoder
    from indexer.sentences import sentences

    texts = [
        path.read_text("utf-8") for path in sorted(Path("data/samples").rglob("*")) if path.suffix in {".txt", ".md"}
    ]
    found = [sentence.span.of(text).strip() for text in texts for sentence in sentences(text)]
    distinct = [sentence for sentence in dict.fromkeys(found) if len(sentence) > 20][:3000]
    rows = load_encoder("e5-small", settings=load_settings()).encode_documents(distinct)
    np.save(kept, rows)
    return rows


def between(rows: np.ndarray, random: np.random.Generator, count: int) -> np.ndarray:
    """Rows of unit length somewhere between two real ones, with noise: as many texts as are asked for, all distinct."""
    one, other = rows[random.integers(0, len(rows), (2, count))]
    share = random.uniform(0.5, 1.0, (count, 1))
    made = share * one + (1 - share) * other + random.normal(scale=NOISE / np.sqrt(DIMENSION), size=(count, DIMENSION))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def batches(rows: np.ndarray, size: int, batch: int = 10_000) -> Iterator[np.ndarray]:
    """``size`` rows, the same for the same size."""
    random = np.random.default_rng(7)
    for first in range(0, size, batch):
        yield between(rows, random, min(batch, size - first))


def queries_of(rows: np.ndarray) -> np.ndarray:
    """Rows made like the others, but not among them."""
    return between(rows, np.random.default_rng(11), QUERIES)


class Words:
    """Texts of words drawn as language draws them (few often, many seldom), quickly: from pieces made once."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        ranks = self._random.zipf(1.3, (20_000, 14)) % 200_000
        self._pieces = [" ".join(f"w{rank}" for rank in row) for row in ranks]

    def text(self, name: str) -> str:
        """About forty words that no other name has in this order."""
        one, two, three = self._random.integers(0, len(self._pieces), 3)
        return f"{name} {self._pieces[one]} {self._pieces[two]} {self._pieces[three]}. "


def settings_of(folder: Path) -> Settings:
    return Settings(library=folder, cache=folder)


def build_library(folder: Path, rows: np.ndarray, size: int) -> float:
    """Write the library of a size, unless it is there; returns the seconds it took.

    A million chunks through the writer's own calls would take most of an hour of this benchmark, so the rows go into
    the same tables in bulk, cut and packed by the store's own functions; ``verify`` finds nothing wrong with them.
    """
    if (folder / "built").exists():
        return float((folder / "built").read_text())
    shutil.rmtree(folder, ignore_errors=True)
    start, words = time.perf_counter(), Words(3)
    with Store.create(folder, RECIPE) as store:
        number = 0
        for batch in batches(rows, size):
            with store._connections.writing() as connection:
                for first in range(0, len(batch), CHUNKS_A_DOCUMENT):
                    number += 1
                    write_in_bulk(connection, number, batch[first : first + CHUNKS_A_DOCUMENT], words)
        with store._connections.writing() as connection:
            connection.execute("UPDATE meta SET value = ? WHERE key = 'generation'", [str(number)])
        store.rebuild_languages()
    seconds = time.perf_counter() - start
    (folder / "built").write_text(str(seconds))
    return seconds


def write_in_bulk(connection: sqlite3.Connection, document: int, rows: np.ndarray, words: Words) -> None:
    texts = [words.text(f"d{document} c{position}") for position in range(len(rows))]
    ends = np.cumsum([len(text) for text in texts]).tolist()
    first = (document - 1) * CHUNKS_A_DOCUMENT + 1
    whole = "".join(texts)
    connection.execute(
        "INSERT INTO documents (id, visible, sha256, bytes, media_type, status, title, language, chars, coverage, "
        "added) "
        "VALUES (?, 1, ?, ?, 'text/plain', 'indexed', ?, 'en', ?, 1, '2026-01-01')",
        [document, f"{document:064x}", ends[-1], f"Document {document}", ends[-1]],
    )
    connection.execute(
        "INSERT INTO files VALUES (?, ?, NULL, ?, 0)", [f"/bench/{document}".encode(), document, ends[-1]]
    )
    connection.executemany(
        "INSERT INTO texts (document_id, start, text) VALUES (?, ?, ?)",
        [(document, start, whole[start : start + BLOCK_CHARS]) for start in range(0, len(whole), BLOCK_CHARS)],
    )
    connection.executemany(
        "INSERT INTO embeddings (id, encoder_id, text_hash, vector) VALUES (?, 1, ?, ?)",
        [
            (first + place, text_hash(text), row)
            for place, (text, row) in enumerate(zip(texts, pack_rows(rows), strict=True))
        ],
    )
    connection.executemany(
        "INSERT INTO chunks (id, document_id, recipe_id, position, start, end, tokens, language, embedding_id) "
        "VALUES (?, ?, 1, ?, ?, ?, 40, 'en', ?)",
        [
            (first + place, document, place, end - len(text), end, first + place)
            for place, (text, end) in enumerate(zip(texts, ends, strict=True))
        ],
    )
    connection.executemany(
        f"INSERT INTO {lexical_table(1)}(rowid, text) VALUES (?, ?)",
        [(first + place, text.replace(".", "")) for place, text in enumerate(texts)],  # as index_text cuts such words
    )
    mean = rows.mean(axis=0)
    connection.execute(
        "INSERT INTO indexed VALUES (?, 1, ?, ?, ?, ?)",
        [document, document, len(rows), 40 * len(rows), pack_vector(mean / np.linalg.norm(mean))],
    )


def write_document(store: Store, rows: np.ndarray, name: str, words: Words) -> int:
    """Write one document through the writer's own calls, as `add` does."""
    texts = [words.text(f"{name} c{position}") for position in range(len(rows))]
    starts = np.cumsum([0, *(len(text) for text in texts)]).tolist()
    chunks = [
        Chunk(position, Span(starts[position], starts[position + 1]), text, 40, language="en")
        for position, text in enumerate(texts)
    ]
    store.put_embeddings({text_hash(text): row for text, row in zip(texts, rows, strict=True)})
    writer = store.begin(hashlib.sha256(name.encode()).hexdigest(), starts[-1], "text/plain")
    writer.write(chunks)
    document = Document("text/plain", Status.INDEXED, title=name, language="en")
    return writer.finish(document, rows.mean(axis=0), files=[FoundFile(f"/{name}", starts[-1], 0)])


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def rss() -> float:
    gc.collect()
    return psutil.Process().memory_info().rss / 1e6


def truth(folder: Path, rows: np.ndarray, size: int) -> np.ndarray:
    """The ids (1-based) of the ten nearest rows of each query, by brute force over the rows as float16 keeps them."""
    kept = folder / "truth.npy"
    if kept.exists():
        return np.load(kept)
    asked, first = queries_of(rows), 1
    ids, scores = np.zeros((QUERIES, 0), np.int64), np.zeros((QUERIES, 0), np.float32)
    for batch in batches(rows, size):
        cosines = asked @ batch.astype(np.float16).astype(np.float32).T
        ids = np.hstack([ids, np.tile(np.arange(first, first + len(batch)), (QUERIES, 1))])
        scores = np.hstack([scores, cosines])
        best = np.argsort(-scores, axis=1)[:, :10]
        ids, scores = np.take_along_axis(ids, best, 1), np.take_along_axis(scores, best, 1)
        first += len(batch)
    np.save(kept, ids)
    return ids


def percentiles(search: Callable[[np.ndarray], np.ndarray], asked: np.ndarray, wanted: np.ndarray) -> dict[str, float]:
    seconds, hits = [], 0
    search(asked[:1])
    for query, right in zip(asked, wanted, strict=True):
        start = time.perf_counter()
        found = search(query[None])
        seconds.append(time.perf_counter() - start)
        hits += len(set(found.ravel().tolist()) & set(right.tolist()))
    p50, p95, p99 = np.percentile(np.array(seconds) * 1000, [50, 95, 99])
    return {"p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "recall@10": hits / wanted.size}


def measure_library(folder: Path, rows: np.ndarray, size: int) -> dict[str, float]:
    """The product's own index over the library: built from the store, saved, opened again, asked."""
    asked, wanted = queries_of(rows), truth(folder, rows, size)
    path = folder / "vectors-1.index"
    path.unlink(missing_ok=True)
    import faiss  # noqa: F401  (its import is not the index's memory)

    with Library.open(folder, settings_of(folder)) as library:
        result = {"build_s": timed(lambda: library.vectors)}
        if not path.exists():
            library.vectors.save(path)
        result["save_s"] = timed(lambda: library.vectors.save(path))
        result["disk_mb"] = path.stat().st_size / 1e6
    gc.collect()
    with Library.open(folder, settings_of(folder)) as library:
        before = rss()
        result["open_s"] = timed(lambda: library.vectors)
        result["memory_mb"] = rss() - before
        result |= percentiles(lambda query: library.search_vectors(query, 10).ids, asked, wanted)
        allowed = library.store.chunk_ids(library.store.document_ids()[::1000])
        result["filtered_tiny_ms"] = 1000 * timed(lambda: library.search_vectors(asked[:1], 10, allowed))
        half = library.store.chunk_ids(library.store.document_ids()[::2])
        result["filtered_half_ms"] = 1000 * timed(lambda: library.search_vectors(asked[:1], 10, half))
    return result | measure_changes(folder, rows)


def measure_changes(folder: Path, rows: np.ndarray) -> dict[str, float]:
    """Milliseconds to add and to remove a document, the index's catching up included (median of 20)."""
    random, words = np.random.default_rng(5), Words(time.time_ns() % 2**32)
    added, removed, index_added, index_removed = [], [], [], []
    with Library.open(folder, settings_of(folder), write=True) as library:
        len(library.vectors)
        for number in range(20):
            new = rows[random.integers(0, len(rows), CHUNKS_A_DOCUMENT)]
            start = time.perf_counter()
            made = write_document(library.store, new, f"n{time.time_ns()} {number}", words)
            middle = time.perf_counter()
            library.refresh()
            added.append(time.perf_counter() - start)
            index_added.append(time.perf_counter() - middle)
            start = time.perf_counter()
            library.store.remove_document(made)
            middle = time.perf_counter()
            library.refresh()
            removed.append(time.perf_counter() - start)
            index_removed.append(time.perf_counter() - middle)
    names = ("add_ms", "remove_ms", "index_add_ms", "index_remove_ms")
    return {
        name: 1000 * float(np.median(values))
        for name, values in zip(names, (added, removed, index_added, index_removed), strict=True)
    }


def measure_faiss(method: str, folder: Path, rows: np.ndarray, size: int) -> dict[str, float]:
    """One of FAISS's own indexes over the same rows."""
    import faiss

    asked, wanted = queries_of(rows), truth(folder, rows, size)
    path = folder / f"{method}.faiss"
    lists = max(16, int(4 * size**0.5) // 16 * 16)
    factory = {"flat": "Flat", "hnsw32": "HNSW32", "ivf_sq8": f"IVF{lists},SQ8"}[method]
    result = {"build_s": timed(lambda: build_faiss(factory, path, rows, size))}
    result["disk_mb"] = path.stat().st_size / 1e6
    before = rss()
    start = time.perf_counter()
    index = faiss.read_index(str(path))
    result["open_s"] = time.perf_counter() - start
    result["memory_mb"] = rss() - before
    result["save_s"] = timed(lambda: faiss.write_index(index, str(path)))
    if method == "hnsw32":
        index.hnsw.efSearch = 64
    if method == "ivf_sq8":
        faiss.extract_index_ivf(index).nprobe = 64
    result |= percentiles(lambda query: index.search(query, 10)[1] + 1, asked, wanted)
    path.unlink()
    return result


def build_faiss(factory: str, path: Path, rows: np.ndarray, size: int) -> None:
    """Train (on the first 100,000 rows), fill and write an index of FAISS's; its memory is given back."""
    import faiss

    index = faiss.index_factory(DIMENSION, factory, faiss.METRIC_INNER_PRODUCT)
    if not index.is_trained:
        index.train(np.vstack([batch for _, batch in zip(range(10), batches(rows, size), strict=False)]))
    for batch in batches(rows, size):
        index.add(batch)
    faiss.write_index(index, str(path))


def first_lexical(folder: Path) -> float:
    """Seconds that a fresh process needs to open the library and answer its first lexical query."""
    code = (
        "import time; start = time.perf_counter()\n"
        "from pathlib import Path; from indexer.library import Library; from indexer.settings import Settings\n"
        f"folder = Path({str(folder)!r})\n"
        "with Library.open(folder, Settings(library=folder, cache=folder)) as library:\n"
        "    found = library.store.lexical('w60 OR w300 OR w1234', 50)\n"
        "    library.store.chunks([one.chunk_id for one in found[:10]])\n"
        "    print(time.perf_counter() - start if found else 'nothing')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure(method: str, folder: Path, size: int) -> dict[str, float]:
    """Run one method in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.index", "--worker", method, str(size), "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def plot(results: dict[int, dict[str, dict[str, float]]], path: Path) -> None:
    """Milliseconds a query, memory and recall over the number of chunks."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4), layout="constrained")
    for axis, name, label in zip(
        axes, ("p50_ms", "memory_mb", "recall@10"), ("ms a query (p50)", "MB resident", "recall@10"), strict=True
    ):
        for method in METHODS:
            sizes = [size for size in results if method in results[size]]
            axis.plot(sizes, [results[size][method][name] for size in sizes], marker="o", label=method)
        axis.set(xscale="log", xlabel="chunks", title=label, yscale="linear" if name == "recall@10" else "log")
        axis.grid(alpha=0.3)
    axes[0].legend()
    figure.savefig(path, dpi=120)


def table(results: dict[int, dict[str, dict[str, float]]]) -> Iterator[str]:
    names = ("build_s", "save_s", "open_s", "p50_ms", "p95_ms", "p99_ms", "recall@10", "memory_mb", "disk_mb")
    yield "| chunks | index | " + " | ".join(names) + " | queries/s against flat |"
    yield "|---" * (len(names) + 3) + "|"
    for size, methods in results.items():
        for method, values in methods.items():
            ratio = methods["flat"]["p50_ms"] / values["p50_ms"] if "flat" in methods else float("nan")
            figures = " | ".join(
                f"{values[name]:.3f}" if name == "recall@10" else f"{values[name]:.1f}" for name in names
            )
            yield f"| {size:,} | {method} | {figures} | {ratio:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--worker", nargs=2, metavar=("METHOD", "SIZE"))
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="longdoc-index-"))
    folder.mkdir(parents=True, exist_ok=True)
    rows = real_rows(folder)
    if arguments.worker:
        method, size = arguments.worker[0], int(arguments.worker[1])
        place = folder / str(size)
        work = measure_library(place, rows, size) if method == "library" else measure_faiss(method, place, rows, size)
        print(json.dumps(work | {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3}))
        return
    results: dict[int, dict[str, dict[str, float]]] = {}
    for size in arguments.sizes:
        place = folder / str(size)
        seconds = build_library(place, rows, size)
        truth(place, rows, size)
        print(
            f"{size:,} chunks around {len(rows):,} real rows: library written in {seconds:.0f} s, "
            f"first lexical answer of a new process {first_lexical(place):.2f} s",
            flush=True,
        )
        results[size] = {}
        for method in arguments.methods:
            results[size][method] = measure(method, folder, size)
            print(f"  {method}: " + json.dumps({k: round(v, 3) for k, v in results[size][method].items()}), flush=True)
    print("\n".join(table(results)))
    if arguments.plot:
        plot(results, arguments.plot)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
