"""A large made-up library with what is nearly the same planted in it, for the benchmarks of duplicates and clusters.

    python -m tests.benchmarks.synthetic DIRECTORY DOCUMENTS [--seconds 240]

writes it to disk as `add` would, without reading files or encoding; run again it goes on where it stopped. Every
document has ten chunks about one of 40 subjects, four fifths are English and one fifth is Chinese. The English words
are those of the sample documents by their frequency and invented rarer ones, the Chinese ones jieba's; both come with
a few thousand stock phrases, so that unrelated documents share turns of speech as real ones do. A fifth of the
originals begin with the same cover. Everything follows from the seed and the document's number.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import jieba
import numpy as np

from indexer.datatypes import (
    Chunk,
    Document,
    Matrix,
    OffsetMap,
    Span,
    Status,
    text_hash,
)
from indexer.library import Library
from indexer.search.means import refresh_means
from indexer.settings import Settings
from indexer.store import FoundFile, StoredPage
from tests.benchmarks.material import sentences_of_samples
from tests.fakes import FakeEncoder

PLANTED = {
    3: ("same_text", 50), 14: ("same_text", 51), 25: ("version", 52), 36: ("version", 52), 47: ("version", 52),
    61: ("version", 53), 72: ("version", 55), 83: ("contained", 54), 90: ("section", 56), 91: ("section", 60),
    94: ("translation", 57),
}  # fmt: skip
"""What the documents with these last two digits are made as, and the last two digits of their original."""

CHUNKS = 10
SUBJECTS = 40
DIMENSION = 384
_BATCH = 200
_AHEAD = 3
_UNITS = 130
_COVERED = 0.2
_APART = 0.05
_SYLLABLES = re.findall("..", "bakoritemusaverdipograshiloquefernadrimatevorcinathole")


@dataclass(frozen=True)
class Made:
    """A document: its language and subject, the texts of its chunks and their embeddings."""

    number: int
    language: str
    subject: int
    texts: tuple[str, ...]
    rows: Matrix


@dataclass(frozen=True)
class Tongue:
    """Words and stock phrases of a language, each subject's own words, and a long row of draws by their frequency."""

    units: np.ndarray
    subjects: np.ndarray
    drawn: np.ndarray
    gap: str
    stop: str

    @classmethod
    def of(cls, words: list[str], weights: np.ndarray, chance: np.random.Generator, gap: str, stop: str) -> Tongue:
        shares = weights / weights.sum()
        phrases = [
            gap.join(words[i] for i in chance.choice(len(words), chance.integers(3, 7), p=shares)) for _ in range(4_000)
        ]
        often = 0.12 / np.arange(10, 10 + len(phrases))
        units = np.array([*words, *phrases])
        shares = np.concatenate([shares * 0.88, often / often.sum() * 0.12])
        drawn = chance.choice(len(units), 2_000_000, p=shares)
        subjects = chance.permutation(np.arange(300, 300 + 30 * SUBJECTS)).reshape(SUBJECTS, 30)
        return cls(units, subjects, drawn, gap, stop)

    def write(self, subject: int, chance: np.random.Generator, units: int = _UNITS) -> str:
        """A chunk: sentences of drawn units, about a tenth of them words of the subject."""
        start = int(chance.integers(0, len(self.drawn) - units))
        chosen = chance.permutation(self.drawn[start : start + units])
        own = chance.random(units) < 0.1
        chosen[own] = chance.choice(self.subjects[subject], int(own.sum()))
        words = self.units[chosen].tolist()
        cuts = [0, *np.cumsum(chance.integers(8, 22, units // 8)).tolist(), units]
        made = (self.gap.join(words[a:b]) for a, b in pairwise(cuts) if a < min(b, units))
        return "".join(sentence[:1].upper() + sentence[1:] + self.stop for sentence in made)

    def edit(self, text: str, chance: np.random.Generator) -> str:
        """The chunk with a tenth of it written anew."""
        sentences = text.split(self.stop)
        place = int(chance.integers(0, max(len(sentences) - 1, 1)))
        return self.stop.join(
            [*sentences[:place], self.write(0, chance, 12).rstrip(self.stop), *sentences[place + 1 :]]
        )


class Synthetic:
    """The documents by number, from 1 on."""

    def __init__(self, count: int, seed: int = 7) -> None:
        self.count = count
        self._seed = seed
        chance = np.random.default_rng(seed)
        self._tongues = {"en": _english(chance), "zh": _chinese(chance)}
        self._covers = {name: tongue.write(0, chance) for name, tongue in self._tongues.items()}
        self._centres = chance.normal(size=(SUBJECTS, DIMENSION))
        self._means = {name: 2 * chance.normal(size=DIMENSION) for name in self._tongues}

    def source(self, number: int) -> int | None:
        """The original that a document was made from, None for an original."""
        if number % 100 not in PLANTED:
            return None
        return (number // 100 ^ 1) * 100 + PLANTED[number % 100][1]  # in the neighbouring hundred

    @cached_property
    def planted(self) -> dict[tuple[int, int], str]:
        """The relation of each copy to its original, the lower number first."""
        pairs = {}
        for number in range(1, self.count + 1):
            source = self.source(number)
            if source is not None and source <= self.count:
                pairs[min(source, number), max(source, number)] = PLANTED[number % 100][0]
        return pairs

    def subject(self, number: int) -> int:
        source = self.source(number)
        return int(np.random.default_rng([self._seed, 1, source or number]).integers(0, SUBJECTS))

    def document(self, number: int) -> Made:
        source = self.source(number)
        if source is None or source > self.count:
            return self._original(number)
        old, relation = self._original(source), PLANTED[number % 100][0]
        chance = np.random.default_rng([self._seed, 4, number])
        tongue = self._tongues[old.language]
        if relation == "same_text":
            return replace(
                old, number=number, texts=tuple(text.replace(tongue.stop, tongue.stop + "\n") for text in old.texts)
            )
        if relation == "version":
            return replace(old, number=number, texts=tuple(tongue.edit(text, chance) for text in old.texts))
        if relation == "contained":
            return replace(old, number=number, texts=old.texts[4:6], rows=old.rows[4:6])
        fresh = self._original(number, old.language)
        if relation == "section":
            return replace(fresh, texts=(*fresh.texts[:5], *old.texts[3:6], *fresh.texts[8:]))
        texts = tuple(self._tongues["zh"].write(old.subject, chance) for _ in old.texts)
        rows = _unit(
            old.rows + (self._means["zh"] - self._means["en"]) / 40 + 0.03 * chance.normal(size=old.rows.shape)
        )
        return replace(old, number=number, language="zh", texts=texts, rows=rows)

    def _original(self, number: int, language: str | None = None) -> Made:
        chance = np.random.default_rng([self._seed, 1, number])
        subject = int(chance.integers(0, SUBJECTS))
        language = language or ("zh" if number % 5 == 0 else "en")
        tongue = self._tongues[language]
        texts = [tongue.write(subject, chance) for _ in range(CHUNKS)]
        if chance.random() < _COVERED:
            texts[0] = self._covers[language]
        own = 2.5 if chance.random() < _APART else 0.7
        middle = self._centres[subject] + own * chance.normal(size=DIMENSION)
        rows = middle + 0.8 * chance.normal(size=(CHUNKS, DIMENSION)) + self._means[language]
        return Made(number, language, subject, tuple(texts), _unit(rows))


def _unit(rows: np.ndarray) -> Matrix:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _english(chance: np.random.Generator) -> Tongue:
    counts = Counter(re.findall(r"[a-z]{1,20}", " ".join(sentences_of_samples()).lower()))
    words = [word for word, _ in counts.most_common()]
    weights = [float(count) for _, count in counts.most_common()]
    known = set(words)
    while len(words) < 30_000:
        word = "".join(chance.choice(_SYLLABLES, chance.integers(2, 5)))
        if word not in known:
            known.add(word)
            words.append(word)
            weights.append(200 / len(words))
    return Tongue.of(words, np.array(weights), chance, " ", ". ")


def _chinese(chance: np.random.Generator) -> Tongue:
    with jieba.get_dict_file() as file:
        rows = [line.decode("utf-8").split(" ")[:2] for line in file]
    rows = sorted((row for row in rows if "\u4e00" <= row[0][0] <= "\u9fff"), key=lambda row: -int(row[1]))[:30_000]
    return Tongue.of([word for word, _ in rows], np.array([float(n) for _, n in rows]), chance, "", "。")


def _chunks(made: Made) -> Iterator[Chunk]:
    start = 0
    for position, text in enumerate(made.texts):
        yield Chunk(position, Span(start, start + len(text)), text, 190, language=made.language)
        start += len(text)


def build(directory: Path, count: int, seconds: float) -> bool:
    """Write the documents that are not there yet, for so many seconds; True when all are there."""
    started = time.perf_counter()
    settings = Settings(library=directory, cache=directory.parent / "cache")
    encoder = FakeEncoder(DIMENSION)
    with Library.open(directory, settings, create=True, write=True, encoder=encoder) as library, library.write_lock():
        done = library.store.counts().documents
        batches = [range(first + 1, min(first + _BATCH, count) + 1) for first in range(done, count, _BATCH)]
        with ProcessPoolExecutor(1) as pool:
            waiting = deque(pool.submit(_made, count, batch) for batch in batches[:_AHEAD])
            for number, batch in enumerate(batches):
                with library.store.together():
                    for document in waiting.popleft().result():
                        assert _add(library, document) == document.number, "ids and numbers must go together"
                done = batch[-1]
                print(f"{done} of {count}, {time.perf_counter() - started:.0f} s", flush=True)
                if time.perf_counter() - started > seconds:
                    break
                if number + _AHEAD < len(batches):
                    waiting.append(pool.submit(_made, count, batches[number + _AHEAD]))
            pool.shutdown(cancel_futures=True)
        refresh_means(library)
    return done == count


_maker: list[Synthetic] = []


def _made(count: int, batch: range) -> list[Made]:
    """Documents made in a process of their own, beside the one that writes."""
    if not _maker:
        _maker.append(Synthetic(count))
    return [_maker[0].document(number) for number in batch]


def _add(library: Library, made: Made) -> int:
    chunks, text = list(_chunks(made)), "".join(made.texts)
    store = library.store
    rows = {text_hash(chunk.text): row for chunk, row in zip(chunks, made.rows, strict=True)}
    known = store.known(rows)
    store.put_embeddings({key: row for key, row in rows.items() if key not in known})
    data = text.encode()
    writer = store.begin(hashlib.sha256(data).hexdigest(), len(data), "text/plain")
    writer.write(chunks)
    writer.pages([StoredPage(0, 1, None, Span(0, len(text)), OffsetMap.identity(len(text)))], [])
    created = f"{2015 + made.number % 10}-{1 + made.number % 12:02}-15"
    document = Document(
        media_type="text/plain", status=Status.INDEXED, title=f"Document {made.number}", language=made.language,
        created=created,
    )  # fmt: skip
    mean = made.rows.mean(axis=0)
    files = [FoundFile(f"/synthetic/{made.number}.txt", len(data), 1)]
    return writer.finish(document, mean / np.linalg.norm(mean), seconds=0.1, files=files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("documents", type=int)
    parser.add_argument("--seconds", type=float, default=240.0)
    arguments = parser.parse_args()
    raise SystemExit(0 if build(arguments.directory, arguments.documents, arguments.seconds) else 3)


if __name__ == "__main__":
    main()
