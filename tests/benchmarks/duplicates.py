"""How well and how fast near-duplicates are found, beside MinHash-LSH and cosine of document vectors in the same run.

    python -m tests.benchmarks.duplicates [--folder DIR] [--rows DIR] [--library DIR] [--json FILE]

``--folder`` holds judged collections (corpus.jsonl, pairs.tsv, optional unlabelled_overlap.tsv; default: LONGDOC_EVAL,
else the evaluation data beside the checkout). Recall is over the pairs judged at a Jaccard of 0.5 or more; precision is
the part of the found pairs (similarity 0.5 or more) that are judged pairs, unlabelled overlaps left out; "strict"
counts those judged below 0.5 as wrong. ``--rows`` names a directory with {set}.npz (``keys``: text hashes of chunks,
``rows``: their embeddings) and {set}.chunks.jsonl ({"_id", "chunks": [[text, tokens], ...]}) for the translation
candidates and the cosine reference; without it both are left out, and chunks are cut by the fake encoder's tokens.

``--library`` measures time and memory on a library that ``python -m tests.benchmarks.synthetic DIR 100000`` wrote, and
what of the planted copies, versions, sections and translations is found; then the run again, with nothing new to read.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from indexer.chunk import chunk_pages
from indexer.datatypes import Chunk, Ids, Matrix, OffsetMap, Page, Span, Status, StoredChunk, StoredDocument, text_hash
from indexer.duplicates import DuplicateOptions, DuplicateReport, Relation, find_duplicates
from indexer.duplicates.find import find_in
from indexer.duplicates.kept import FILE_NAME
from indexer.library import Library
from indexer.settings import Settings
from indexer.words import han_share
from tests.benchmarks.material import evaluation_folder
from tests.benchmarks.synthetic import DIMENSION, Synthetic
from tests.fakes import FakeEncoder

EVALUATION = evaluation_folder() or Path()
SETS = ("dedup_iotdb_en_zh", "dedup_cornell_course_en")
THRESHOLD = 0.5
RIGHT = {
    "version": {"version", "contained"},
    "exact": {"identical", "same_text"},
    "near_duplicate": {"version", "same_text"},
}

Pairs = set[tuple[int, int]]


class Corpus:
    """A judged collection in memory, cut as `add` cuts it (by the fake encoder's tokens)."""

    def __init__(self, folder: Path, rows: Path | None) -> None:
        self._documents: list[StoredDocument] = []
        self._chunks: dict[int, list[StoredChunk]] = {}
        self.numbers: dict[str, int] = {}
        total = 0
        for name, chunks in read_chunks(folder, rows):
            number = len(self._documents) + 1
            self._chunks[number] = [StoredChunk(total + i, number, chunk) for i, chunk in enumerate(chunks, start=1)]
            total += len(chunks)
            self._documents.append(stored(number, name, self.text(number), len(chunks)))
            self.numbers[name] = number
        self.rows = self._load(rows / f"{folder.name}.npz") if rows is not None else None

    def _load(self, path: Path) -> Matrix:
        loaded = np.load(path)
        where = {key.tobytes(): index for index, key in enumerate(loaded["keys"])}
        hashes = [text_hash(stored.chunk.text) for chunks in self._chunks.values() for stored in chunks]
        return np.asarray(loaded["rows"][[where[key] for key in hashes]], dtype=np.float32)

    def documents(self) -> Sequence[StoredDocument]:
        return self._documents

    def chunks(self, document_id: int) -> Sequence[StoredChunk]:
        return self._chunks[document_id]

    def chunk_ids(self, document_id: int) -> Ids:
        return np.array([stored.id for stored in self._chunks[document_id]], dtype=np.int64)

    def document_vectors(self) -> tuple[Ids, Matrix]:
        means = [self.embeddings(self.chunk_ids(document.id)).mean(axis=0) for document in self._documents]
        return np.arange(1, len(means) + 1), np.stack(means)

    def embeddings(self, chunk_ids: Ids) -> Matrix:
        assert self.rows is not None
        return self.rows[chunk_ids - 1]

    def text(self, number: int) -> str:
        return "".join(stored.chunk.text for stored in self._chunks[number])


def read_chunks(folder: Path, rows: Path | None) -> Iterator[tuple[str, list[Chunk]]]:
    """The name of each document and its chunks, as they were encoded where there are embeddings."""
    path = rows / f"{folder.name}.chunks.jsonl" if rows is not None else folder / "corpus.jsonl"
    count = FakeEncoder().count_tokens
    for line in filter(None, path.read_text(encoding="utf-8").split("\n")):
        entry = json.loads(line)
        if rows is None:
            page = Page(entry["text"], OffsetMap.identity(len(entry["text"])))
            yield entry["_id"], list(chunk_pages([page], count))
            continue
        start, chunks = 0, []
        for position, (text, tokens) in enumerate(entry["chunks"]):
            chunks.append(Chunk(position, Span(start, start + len(text)), text, tokens))
            start += len(text)
        yield entry["_id"], chunks


def stored(number: int, name: str, text: str, chunks: int) -> StoredDocument:
    language = "zh" if han_share(text) > 0.1 else "en"
    return StoredDocument(
        number, f"{number:064x}", (name,), Status.INDEXED, None, name, None, None, None, language, "text/plain",
        len(text), None, len(text), len(text) // 4, chunks, 1.0, (), (), (), "", 0.0,
    )  # fmt: skip


def judged(folder: Path, numbers: dict[str, int]) -> tuple[dict[tuple[int, int], tuple[str, float]], Pairs]:
    """The judged pairs with their relation and Jaccard, and the pairs that are neither right nor wrong."""
    pairs = {}
    for line in (folder / "pairs.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        a, b, relation, jaccard = line.split("\t")[:4]
        pairs[ordered(numbers[a], numbers[b])] = (relation, float(jaccard.rstrip(".")))
    ignored: Pairs = set()
    if (folder / "unlabelled_overlap.tsv").exists():
        for line in (folder / "unlabelled_overlap.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            a, b = line.split("\t")[:2]
            ignored.add(ordered(numbers[a], numbers[b]))
    return pairs, ignored


def ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def measure(folder: Path, rows: Path | None) -> dict[str, object]:
    corpus = Corpus(folder, rows)
    pairs, ignored = judged(folder, corpus.numbers)
    wanted = {pair for pair, (_, jaccard) in pairs.items() if jaccard >= THRESHOLD}
    report = find_in(corpus, DuplicateOptions(translations=rows is not None), lambda *_: None)
    found: dict[tuple[int, int], Relation] = {}
    textual: Pairs = set()
    for group in report.groups:
        for pair in group.pairs:
            found.setdefault(ordered(pair.a, pair.b), pair.relation)
            if pair.similarity >= THRESHOLD and pair.relation is not Relation.TRANSLATION:
                textual.add(ordered(pair.a, pair.b))
    relations = [found[pair].value in RIGHT.get(pairs[pair][0], {pairs[pair][0]}) for pair in wanted if pair in found]
    translations = {pair for pair, (relation, _) in pairs.items() if relation == "translation"}
    guessed = {pair for pair, relation in found.items() if relation is Relation.TRANSLATION}
    exact = {pair for pair, (relation, _) in pairs.items() if relation == "exact"}
    return {
        "set": folder.name,
        "longdoc": {
            **scores(textual | (guessed & wanted), wanted, set(pairs), ignored),
            "relation_right": share(sum(relations), len(wanted)),
            "identical_recall": share(len(exact & set(found)), len(exact)),
            "translation_recall": share(len(guessed & translations), len(translations)),
            "translation_precision": share(len(guessed & translations), len(guessed - ignored)),
            "seconds": round(report.seconds, 2),
        },
        "minhash_lsh": minhash_lsh(corpus, wanted, set(pairs), ignored),
        **({"document_cosine": document_cosine(corpus, wanted, set(pairs), ignored)} if rows is not None else {}),
    }


def scores(found: Pairs, wanted: Pairs, known: Pairs, ignored: Pairs) -> dict[str, float]:
    counted = found - ignored
    return {
        "recall": share(len(found & wanted), len(wanted)),
        "precision": share(len(counted & known), len(counted)),
        "precision_strict": share(len(counted & wanted), len(counted)),
        "pairs": len(counted),
    }


def share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


def minhash_lsh(corpus: Corpus, wanted: Pairs, known: Pairs, ignored: Pairs) -> dict[str, float]:
    """datasketch's MinHashLSH over 8-character shingles, 256 permutations, candidates checked by their estimate."""
    from datasketch import MinHash, MinHashLSH

    started = time.perf_counter()
    index = MinHashLSH(threshold=THRESHOLD, num_perm=256)
    sketches = {}
    for document in corpus.documents():
        text = "".join(corpus.text(document.id).casefold().split())
        sketch = MinHash(num_perm=256)
        sketch.update_batch([text[i : i + 8].encode() for i in range(max(len(text) - 7, 1))])
        sketches[document.id] = sketch
        index.insert(document.id, sketch)
    found: Pairs = set()
    for number, sketch in sketches.items():
        for other in index.query(sketch):
            if other != number and sketch.jaccard(sketches[other]) >= THRESHOLD:
                found.add(ordered(number, int(other)))
    seconds = round(time.perf_counter() - started, 2)
    return {**scores(found, wanted, known, ignored), "seconds": seconds}


def document_cosine(corpus: Corpus, wanted: Pairs, known: Pairs, ignored: Pairs) -> dict[str, float]:
    """SemHash's way, one vector a document and a cosine threshold, at the threshold that suits it best on this set."""
    started = time.perf_counter()
    _, means = corpus.document_vectors()
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    likeness = means @ means.T
    best: dict[str, float] = {}
    for threshold in np.arange(0.9, 1.0, 0.002):
        rows, columns = np.nonzero(np.triu(likeness >= threshold, 1))
        found = {(int(a) + 1, int(b) + 1) for a, b in zip(rows, columns, strict=True)}
        scored = {**scores(found, wanted, known, ignored), "threshold": round(float(threshold), 3)}
        if min(scored["recall"], scored["precision"]) > min(best.get("recall", 0), best.get("precision", 0)):
            best = scored
    return {**best, "seconds": round(time.perf_counter() - started, 2)}


def library_run(directory: Path) -> dict[str, object]:
    """`duplicates` over a library that tests.benchmarks.synthetic wrote: at first, and again when nothing is new."""
    settings = Settings(library=directory, cache=directory.parent / "cache")
    (directory / FILE_NAME).unlink(missing_ok=True)
    with Library.open(directory, settings, encoder=FakeEncoder(DIMENSION)) as library:
        before = resource.getrusage(resource.RUSAGE_SELF)
        stages = Stages()
        report = find_duplicates(library, progress=stages.tell)
        after, spent = resource.getrusage(resource.RUSAGE_SELF), stages.seconds()
        again = find_duplicates(library)
    return {
        "documents": report.compared,
        "seconds": round(report.seconds, 1),
        "processor_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "stages": spent,
        "candidates": report.candidates,
        "peak_rss_mb": round(after.ru_maxrss / 1024),
        "rss_before_mb": round(before.ru_maxrss / 1024),
        **planted_scores(report, Synthetic(report.compared)),
        "seconds_again": round(again.seconds, 1),
        "again": {"read": again.read, "aligned": again.aligned, "same": again.groups == report.groups},
    }


class Stages:
    """When each stage of the work was first told of."""

    def __init__(self) -> None:
        self._begun: dict[str, float] = {}

    def tell(self, what: str, done: int, total: int) -> None:
        self._begun.setdefault(what, time.perf_counter())

    def seconds(self) -> dict[str, float]:
        ends = [*list(self._begun.values())[1:], time.perf_counter()]
        return {what: round(end - begun, 1) for (what, begun), end in zip(self._begun.items(), ends, strict=True)}


def planted_scores(report: DuplicateReport, made: Synthetic) -> dict[str, object]:
    """Recall of what was planted by relation; false pairs are those between documents without a common source."""
    found = {ordered(pair.a, pair.b): pair.relation.value for group in report.groups for pair in group.pairs}
    total, right = Counter(made.planted.values()), Counter[str]()
    for pair, relation in made.planted.items():
        right[relation] += found.get(pair) == relation
    sources = {number: made.source(number) or number for pair in found for number in pair}
    wrong = Counter(relation for (a, b), relation in found.items() if sources[a] != sources[b])
    recall = {relation: share(right[relation], total[relation]) for relation in sorted(total)}
    return {"recall": recall, "pairs": len(found), "false_pairs": dict(wrong)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=EVALUATION)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--rows", type=Path, help="embeddings of the sets and the chunks they belong to")
    parser.add_argument("--library", type=Path, help="a library that tests.benchmarks.synthetic wrote")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results: list[dict[str, object]] = []
    for name in arguments.sets:
        results.append(measure(arguments.folder / name, arguments.rows))
        print(json.dumps(results[-1], indent=1))
    if arguments.library:
        results.append(library_run(arguments.library))
        print(json.dumps(results[-1], indent=1))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
