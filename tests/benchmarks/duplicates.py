"""How well and how fast near-duplicates are found, beside MinHash-LSH and cosine of document vectors in the same run.

    python -m tests.benchmarks.duplicates [--folder DIR] [--rows FILE.npz] [--synthetic 100000] [--json FILE]

``--folder`` holds judged collections (corpus.jsonl, pairs.tsv, optional unlabelled_overlap.tsv; default: LONGDOC_EVAL,
else the evaluation data beside the checkout). Recall is over the pairs judged at a Jaccard of 0.5 or more; precision is
the part of the found pairs (similarity 0.5 or more) that are judged pairs, unlabelled overlaps left out; "strict"
counts those judged below 0.5 as wrong. ``--rows`` adds chunk embeddings (arrays ``keys``, the text hashes, and
``rows``) for the translation candidates and the cosine reference; without it both are left out. ``--synthetic``
measures time and memory on that many documents of ten chunks, made from a seed, with planted copies, versions,
contained ones and boilerplate.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from indexer.chunk import chunk_pages
from indexer.datatypes import Chunk, Ids, Matrix, OffsetMap, Page, Span, Status, StoredChunk, StoredDocument, text_hash
from indexer.duplicates import DuplicateReport, Relation
from indexer.duplicates.find import DuplicateOptions, find_in
from indexer.words import han_share
from tests.fakes import FakeEncoder

EVALUATION = Path(os.environ.get("LONGDOC_EVAL", Path(__file__).resolve().parents[3] / "shared" / "eval"))
SETS = ("dedup_iotdb_en_zh", "dedup_cornell_course_en")
THRESHOLD = 0.5
RIGHT = {
    "version": {"version", "contained"},
    "exact": {"identical", "same_text"},
    "near_duplicate": {"version", "same_text"},
}
WORDS_A_CHUNK = 130
PLANTED = {3: "same_text", 14: "same_text", 25: "version", 36: "version", 47: "version", 61: "version", 72: "version"}
PLANTED |= {83: "contained"}

Pairs = set[tuple[int, int]]


class Corpus:
    """A judged collection in memory, cut as `add` cuts it (by the fake encoder's tokens)."""

    def __init__(self, folder: Path, rows: Path | None) -> None:
        self._documents: list[StoredDocument] = []
        self._chunks: dict[int, list[StoredChunk]] = {}
        self.numbers: dict[str, int] = {}
        count = FakeEncoder().count_tokens
        total = 0
        for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").split("\n"):
            if not line:
                continue
            entry = json.loads(line)
            number = len(self._documents) + 1
            text = entry["text"]
            cut = list(chunk_pages([Page(text, OffsetMap.identity(len(text)))], count))
            self._chunks[number] = [StoredChunk(total + i, number, chunk) for i, chunk in enumerate(cut, start=1)]
            total += len(cut)
            self._documents.append(stored(number, entry["_id"], text, len(cut)))
            self.numbers[entry["_id"]] = number
        self.rows = self._load(rows)

    def _load(self, path: Path | None) -> Matrix | None:
        if path is None:
            return None
        loaded = np.load(path)
        where = {key.tobytes(): index for index, key in enumerate(loaded["keys"])}
        hashes = [text_hash(stored.chunk.text) for chunks in self._chunks.values() for stored in chunks]
        if any(key not in where for key in hashes):
            raise SystemExit(f"{path} lacks embeddings of some chunks; they must be cut the same way.")
        return np.asarray(loaded["rows"][[where[key] for key in hashes]], dtype=np.float32)

    def documents(self) -> Sequence[StoredDocument]:
        return self._documents

    def chunks(self, document_id: int) -> Sequence[StoredChunk]:
        return self._chunks[document_id]

    def embeddings(self, chunk_ids: Ids) -> Matrix:
        assert self.rows is not None
        return self.rows[chunk_ids - 1]

    def text(self, number: int) -> str:
        return "".join(stored.chunk.text for stored in self._chunks[number])


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
    means = np.stack(
        [corpus.embeddings(np.array([c.id for c in corpus.chunks(d.id)])).mean(axis=0) for d in corpus.documents()]
    )
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


class Synthetic:
    """Many documents of ten chunks, written to a file before the clock starts and read from it when asked for.

    Of a hundred documents two are copies of others in another layout, five are versions (a tenth of the words of each
    chunk changed) and one is two chunks of another one; a fifth of the originals begin with the same chunk.
    """

    def __init__(self, path: Path, count: int, seed: int = 7) -> None:
        chance = np.random.default_rng(seed)
        letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
        self._lexicon = np.array(["".join(chance.choice(letters, chance.integers(2, 10))) for _ in range(30_000)])
        weights = 1 / np.arange(10, len(self._lexicon) + 10)
        self._drawn = chance.choice(len(self._lexicon), 2_000_000, p=weights / weights.sum())
        self._cover = " ".join(self._lexicon[self._drawn[:WORDS_A_CHUNK]].tolist()) + ".\n"
        self.planted: dict[tuple[int, int], str] = {}
        self._lengths: list[list[int]] = []
        self._documents = []
        with path.open("w", encoding="ascii") as file:
            for number in range(1, count + 1):
                texts = self._make(number, count)
                self._lengths.append([file.write(text) for text in texts])
                self._documents.append(stored(number, str(number), "", len(texts)))
        self._starts = np.cumsum([0, *map(sum, self._lengths)])
        self._file = path.open("rb")

    def _make(self, number: int, count: int) -> list[str]:
        relation = PLANTED.get(number % 100)
        if relation is None:
            return self._original(number)
        chance = np.random.default_rng([3, number])
        source = int(chance.integers(0, count // 100)) * 100 + 50 + number % 7
        self.planted[ordered(source, number)] = relation
        old = self._original(source)
        if relation == "same_text":
            return [text.upper().replace(" ", "\n") for text in old]
        return old[4:6] if relation == "contained" else [self._edited(text, chance) for text in old]

    def _original(self, number: int) -> list[str]:
        chance = np.random.default_rng([1, number])
        texts = [self._cover] if chance.random() < 0.2 else []
        while len(texts) < 10:
            start = int(chance.integers(0, len(self._drawn) - WORDS_A_CHUNK))
            words = self._lexicon[chance.permutation(self._drawn[start : start + WORDS_A_CHUNK])]
            texts.append(" ".join(words.tolist()) + ".\n")
        return texts

    def _edited(self, text: str, chance: np.random.Generator) -> str:
        words = text.split(" ")
        start = int(chance.integers(0, len(words) * 9 // 10))
        fresh = chance.integers(0, len(self._lexicon), len(words) // 10)
        words[start : start + len(fresh)] = self._lexicon[fresh].tolist()
        return " ".join(words)

    def documents(self) -> Sequence[StoredDocument]:
        return self._documents

    def chunks(self, document_id: int) -> Sequence[StoredChunk]:
        place_in_file = int(self._starts[document_id - 1])
        whole = os.pread(self._file.fileno(), sum(self._lengths[document_id - 1]), place_in_file).decode("ascii")
        position, found = 0, []
        for place, length in enumerate(self._lengths[document_id - 1]):
            text = whole[position : position + length]
            found.append(
                StoredChunk(
                    document_id * 10 + place, document_id, Chunk(place, Span(position, position + length), text, 180)
                )
            )
            position += length
        return found

    def embeddings(self, chunk_ids: Ids) -> Matrix:
        raise NotImplementedError("the synthetic documents have no embeddings")


def synthetic(count: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        collection = Synthetic(Path(folder) / "texts", count)
        made = time.perf_counter() - started
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report = find_in(collection, DuplicateOptions(translations=False), lambda *_: None)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "documents": count,
        "seconds_to_make": round(made, 1),
        "seconds": round(report.seconds, 1),
        "candidates": report.candidates,
        "peak_rss_mb": round(peak),
        "rss_before_mb": round(before),
        **planted_scores(report, collection.planted),
    }


def planted_scores(report: DuplicateReport, planted: dict[tuple[int, int], str]) -> dict[str, object]:
    """Recall of what was planted by relation; false pairs are those between documents without a common source."""
    found = {ordered(pair.a, pair.b): pair.relation.value for group in report.groups for pair in group.pairs}
    total, right = Counter(planted.values()), Counter[str]()
    sources: dict[int, int] = {}
    for (a, b), relation in planted.items():
        right[relation] += found.get((a, b)) == relation
        copy, source = (a, b) if PLANTED.get(a % 100) else (b, a)
        sources[copy] = source
    wrong = sum(sources.get(a, a) != sources.get(b, b) for a, b in found)
    return {"recall": {r: share(right[r], total[r]) for r in sorted(total)}, "pairs": len(found), "false_pairs": wrong}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=EVALUATION)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--rows", type=Path, help="embeddings; {set} in the name stands for the set")
    parser.add_argument("--synthetic", type=int, default=0, metavar="DOCUMENTS")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results: list[dict[str, object]] = []
    for name in arguments.sets:
        rows = Path(str(arguments.rows).format(set=name)) if arguments.rows else None
        results.append(measure(arguments.folder / name, rows))
        print(json.dumps(results[-1], indent=1))
    if arguments.synthetic:
        results.append(synthetic(arguments.synthetic))
        print(json.dumps(results[-1], indent=1))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
