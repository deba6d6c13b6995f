"""How the vector index and the library behave as they grow, beside FAISS's own indexes in the same run.

    python -m tests.benchmarks.index [--sizes 10000 100000 1000000] [--folder DIR] [--texts SET ...] [--plot FILE]

A real library of every size is built first (a document is 100 chunks of words, its full-text rows and embeddings as
`add` writes them), then each method runs in a process of its own: build, save, open, a query at k=10 (p50, p95, p99),
recall@10 against brute force, memory that the index adds, bytes on disk. Embeddings: distinct sentences of the sample
documents under the default encoder (or sentences and questions of the judged SETs, or with --evaluated the chunks and
questions that `longdoc evaluate` kept in its cache), and as many more as the size asks for between one of them and one
of its nearest, with noise.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
NOISE = 0.4
"""Length of the noise beside a row of unit length: 20,000 rows made so are harder to search than 20,000 real ones."""
CHUNKS_A_DOCUMENT = 100
RECIPE = Recipe("e5-small", "0" * 64, DIMENSION, "query: ", "passage: ", "mean")
METHODS = ("library", "flat", "hnsw32", "ivf_sq8")
LIMITS = {"hnsw32": 100_000}
"""Sizes above which a method is not built: at a million HNSW32 takes an hour on two cores and 1.8 GB."""

STEPS = ("write", "build", "ask")


@dataclass(frozen=True)
class Material:
    """Embeddings of real texts and of real questions, centred as the library centres them, and each text's nearest."""

    rows: np.ndarray
    queries: np.ndarray
    near: np.ndarray

    @classmethod
    def load(cls, folder: Path, evaluated: Path | None, texts: Sequence[Path] = ()) -> Material:
        """The material kept in the benchmark's folder, gathered when there is none yet."""
        kept = folder / "material.npz"
        if not kept.exists():
            if evaluated is not None:
                rows, queries = of_evaluated(evaluated)
            else:
                rows, queries = of_texts(texts) if texts else of_samples()
            np.savez(kept, rows=rows, queries=queries, near=nearest_of(rows))
        with np.load(kept) as found:
            return cls(found["rows"], found["queries"], found["near"])

    def asked(self) -> np.ndarray:
        """The queries of the benchmark: real ones, the same at every size."""
        return self.queries[np.random.default_rng(11).permutation(len(self.queries))[:QUERIES]]

    def made(self, random: np.random.Generator, count: int) -> np.ndarray:
        """Rows of unit length between a real one and one of its nearest, with noise: as many as are asked for."""
        place = random.integers(0, len(self.rows), count)
        other = self.rows[self.near[place, random.integers(0, self.near.shape[1], count)]]
        share = random.uniform(0.5, 1.0, (count, 1)).astype(np.float32)
        rows = unit(share * self.rows[place] + (1 - share) * other)
        noise = random.standard_normal((count, DIMENSION), dtype=np.float32) / np.float32(DIMENSION**0.5)
        return unit(rows + np.float32(NOISE) * noise)

    def batches(self, size: int, batch: int = 10_000) -> Iterator[np.ndarray]:
        """``size`` rows, the same for the same size."""
        random = np.random.default_rng(7)
        for first in range(0, size, batch):
            yield self.made(random, min(batch, size - first))


def of_samples() -> tuple[np.ndarray, np.ndarray]:
    """Sentences of the sample documents and, as queries, every tenth of them under the encoder's query prompt."""
    from indexer.encode import load_encoder
    from indexer.sentences import sentences

    paths = [path for path in sorted(Path("data/samples").rglob("*")) if path.suffix in {".txt", ".md"}]
    texts = [path.read_text("utf-8") for path in paths]
    found = [sentence.span.of(text).strip() for text in texts for sentence in sentences(text)]
    distinct = [sentence for sentence in dict.fromkeys(found) if len(sentence) > 20][:3000]
    encoder = load_encoder("e5-small", settings=load_settings())
    return centred(encoder.encode_documents(distinct)), centred(encoder.encode_query(distinct[::10]))


def of_texts(sets: Sequence[Path], most: int = 2500, most_asked: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Random sentences and questions of judged collections, each set centred by itself."""
    from indexer.encode import load_encoder
    from indexer.sentences import sentences

    encoder, random = load_encoder("e5-small", settings=load_settings()), np.random.default_rng(0)
    rows, queries = [], []
    for folder in sets:
        documents = [json.loads(line)["text"][:20_000] for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
        some = [documents[number] for number in random.permutation(len(documents))[:150]]
        found = [one.span.of(text).strip() for text in some for one in sentences(text)]
        found = [text for text in dict.fromkeys(found) if 20 < len(text) < 300]
        found = [found[number] for number in random.permutation(len(found))[:most]]
        asked = [json.loads(line)["text"] for line in (folder / "queries.jsonl").open(encoding="utf-8")]
        asked = [asked[number] for number in random.permutation(len(asked))[:most_asked]]
        rows.append(centred(encoder.encode_documents(found)))
        queries.append(centred(encoder.encode_query(asked)))
    return np.unique(np.vstack(rows).round(4), axis=0), np.vstack(queries)


def of_evaluated(cache: Path) -> tuple[np.ndarray, np.ndarray]:
    """The chunks and questions that `longdoc evaluate` encoded and kept in its cache."""
    rows, queries = [], []
    for folder in sorted(cache.glob("evaluate/*/")):
        with Store.open(folder) as store:
            ids = store.chunk_ids()
            languages = np.array([name.partition("-")[0] for name in store.chunk_languages(ids)])
            found = store.chunk_embeddings(ids)
            rows += [centred(found[languages == name]) for name in np.unique(languages)]
        with np.load(folder / "queries.npz") as kept:
            queries.append(centred(np.stack([kept[name] for name in kept.files])))
    return np.unique(np.vstack(rows).round(4), axis=0), np.vstack(queries)


def nearest_of(rows: np.ndarray, count: int = 8) -> np.ndarray:
    """The positions of each row's nearest others, shape (rows, count)."""
    import faiss

    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(rows)
    return np.vstack([index.search(rows[first : first + 2000], count + 1)[1] for first in range(0, len(rows), 2000)])[
        :, 1:
    ]


def centred(rows: np.ndarray) -> np.ndarray:
    return unit(rows - rows.mean(axis=0))


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)


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


def build_library(folder: Path, material: Material, size: int) -> float:
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
        for batch in material.batches(size):
            with store._connections.writing() as connection:
                for first in range(0, len(batch), CHUNKS_A_DOCUMENT):
                    number += 1
                    write_in_bulk(connection, number, batch[first : first + CHUNKS_A_DOCUMENT], words)
        with store._connections.writing() as connection:
            connection.execute("UPDATE meta SET value = ? WHERE key = 'generation'", [str(number)])
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


def processor(work: Callable[[], object]) -> float:
    """The processor seconds of this process: what a build costs, whatever else the machine does meanwhile."""
    start = time.process_time()
    work()
    return time.process_time() - start


def memory() -> np.ndarray:
    """What this process holds of the machine's memory, and what of that is its own and no mapped file, in MB."""
    gc.collect()
    held = psutil.Process().memory_info()
    return np.array([held.rss, held.rss - held.shared]) / 1e6


def truth(folder: Path, material: Material, size: int) -> np.ndarray:
    """The ids (1-based) of the ten nearest rows of each query, by brute force over the rows as float16 keeps them."""
    kept = folder / "truth.npy"
    if kept.exists():
        return np.load(kept)
    asked, first = material.asked(), 1
    ids, scores = np.zeros((QUERIES, 0), np.int64), np.zeros((QUERIES, 0), np.float32)
    for batch in material.batches(size):
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


def index_file(method: str, place: Path) -> Path:
    return place / ("vectors-1.index" if method == "library" else f"{method}.faiss")


def build(method: str, place: Path, material: Material, size: int) -> dict[str, float]:
    """Make an index of the rows and save it."""
    path = index_file(method, place)
    if method != "library":
        result = {"build_s": processor(lambda: build_faiss(method, path, material, size))}
        return result | {"disk_mb": path.stat().st_size / 1e6}
    for old in place.glob("vectors-*"):
        old.unlink()
    with Library.open(place, settings_of(place)) as library:
        result = {"build_s": processor(lambda: library.vectors)}
        result["save_s"] = processor(lambda: library.vectors.save(path))
    rows = path.with_suffix(".rows")
    rows_mb = rows.stat().st_blocks * 512 / 1e6 if rows.exists() else 0.0
    return result | {"disk_mb": path.stat().st_size / 1e6 + rows_mb, "rows_mb": rows_mb}


def ask(method: str, place: Path, material: Material, size: int) -> dict[str, float]:
    """Open an index that was saved, and ask it; what it then holds of the machine's memory."""
    import faiss

    asked, wanted = material.asked(), truth(place, material, size)
    faiss.IndexFlatL2(8).search(np.zeros((1, 8), np.float32), 1)  # loading faiss is not the index's memory
    before = memory()
    if method == "library":
        with Library.open(place, settings_of(place)) as library:
            result = {"open_s": timed(lambda: library.vectors)}
            result |= percentiles(lambda query: library.search_vectors(query, 10).ids, asked, wanted)
            result["memory_mb"], result["own_mb"] = memory() - before
            result |= filtered(library, asked)
        return result | measure_changes(place, material)
    start = time.perf_counter()
    index = faiss.read_index(str(index_file(method, place)))
    result = {"open_s": time.perf_counter() - start}
    if method == "hnsw32":
        index.hnsw.efSearch = 64
    if method == "ivf_sq8":
        faiss.extract_index_ivf(index).nprobe = 64
    result |= percentiles(lambda query: index.search(query, 10)[1] + 1, asked, wanted)
    result["memory_mb"], result["own_mb"] = memory() - before
    return result


def filtered(library: Library, asked: np.ndarray) -> dict[str, float]:
    """Milliseconds of searches that a filter leaves a thousandth of the documents, and half of them."""
    documents = library.store.document_ids()
    result = {}
    for name, share in (("filtered_tiny_ms", 1000), ("filtered_half_ms", 2)):
        allowed, seconds = library.store.chunk_ids(documents[::share]), []
        for query in asked[:20]:
            start = time.perf_counter()
            library.search_vectors(query[None], 10, allowed)
            seconds.append(time.perf_counter() - start)
        result[name] = 1000 * float(np.median(seconds))
    return result


def measure_changes(folder: Path, material: Material) -> dict[str, float]:
    """Milliseconds to add and to remove a document, the index's catching up included (median of 20)."""
    random, words = np.random.default_rng(5), Words(time.time_ns() % 2**32)
    added, removed, index_added, index_removed = [], [], [], []
    with Library.open(folder, settings_of(folder), write=True) as library:
        len(library.vectors)
        for number in range(20):
            new = material.made(random, CHUNKS_A_DOCUMENT)
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


def build_faiss(method: str, path: Path, material: Material, size: int) -> None:
    """Train (on the first 100,000 rows), fill and write one of FAISS's own indexes over the same rows."""
    import faiss

    lists = max(16, int(4 * size**0.5) // 16 * 16)
    factory = {"flat": "Flat", "hnsw32": "HNSW32", "ivf_sq8": f"IVF{lists},SQ8"}[method]
    index = faiss.index_factory(DIMENSION, factory, faiss.METRIC_INNER_PRODUCT)
    if not index.is_trained:
        index.train(np.vstack([batch for _, batch in zip(range(10), material.batches(size), strict=False)]))
    for batch in material.batches(size):
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


def in_a_process(step: str, method: str, folder: Path, size: int) -> None:
    """Do one step of one method in a process of its own, and add its figures to those kept."""
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.index",
        "--worker",
        step,
        method,
        str(size),
        "--folder",
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    figures = json.loads(done.stdout.splitlines()[-1])
    print(
        f"{size:,} {method} {step}: " + json.dumps({name: round(value, 3) for name, value in figures.items()}),
        flush=True,
    )
    kept = folder / str(size) / f"{method}.json"
    before = json.loads(kept.read_text()) if kept.exists() else {}
    kept.write_text(json.dumps(before | figures))


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
    names = ("build_s", "open_s", "p50_ms", "p95_ms", "p99_ms", "recall@10", "memory_mb", "own_mb", "disk_mb")
    yield "| chunks | index | " + " | ".join(names) + " | times as fast as flat |"
    yield "|---" * (len(names) + 3) + "|"
    for size, methods in results.items():
        for method, values in methods.items():
            ratio = methods["flat"]["p50_ms"] / values["p50_ms"] if "flat" in methods else float("nan")
            figures = " | ".join(
                f"{values[name]:.3f}" if name == "recall@10" else f"{values[name]:,.1f}" for name in names
            )
            yield f"| {size:,} | {method} | {figures} | {ratio:.1f} |"


def kept_figures(folder: Path, sizes: list[int]) -> dict[int, dict[str, dict[str, float]]]:
    """The figures of every method at every size that has been built and asked."""
    found: dict[int, dict[str, dict[str, float]]] = {}
    for size in sizes:
        paths = {method: folder / str(size) / f"{method}.json" for method in METHODS}
        read = {method: json.loads(path.read_text()) for method, path in paths.items() if path.exists()}
        found[size] = {method: figures for method, figures in read.items() if {"build_s", "p50_ms"} <= figures.keys()}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument(
        "--steps", nargs="+", default=list(STEPS), choices=STEPS, help="do only these, keep the others'"
    )
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--evaluated", type=Path, metavar="CACHE", help="embeddings that `evaluate` kept")
    parser.add_argument("--texts", type=Path, nargs="+", default=[], metavar="SET", help="judged collections")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--worker", nargs=3, metavar=("STEP", "METHOD", "SIZE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="longdoc-index-"))
    folder.mkdir(parents=True, exist_ok=True)
    material = Material.load(folder, arguments.evaluated, arguments.texts)
    if arguments.worker:
        step, method, size = arguments.worker[0], arguments.worker[1], int(arguments.worker[2])
        print(json.dumps({"build": build, "ask": ask}[step](method, folder / str(size), material, size)))
        return
    for size in arguments.sizes:
        place = folder / str(size)
        if "write" in arguments.steps:
            seconds = build_library(place, material, size)
            truth(place, material, size)
            print(
                f"{size:,} chunks around {len(material.rows):,} real embeddings, written in {seconds:.0f} s", flush=True
            )
        for step in ("build", "ask"):
            for method in arguments.methods:
                if step in arguments.steps and size <= LIMITS.get(method, size):
                    in_a_process(step, method, folder, size)
        if "ask" in arguments.steps:
            print(f"{size:,}: first lexical answer of a new process after {first_lexical(place):.2f} s", flush=True)
    results = kept_figures(folder, arguments.sizes)
    print("\n".join(table(results)))
    if arguments.plot:
        plot(results, arguments.plot)


if __name__ == "__main__":
    main()
