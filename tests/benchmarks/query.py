"""What a query costs and where its time goes, on a library of many chunks made for the purpose.

    python -m tests.benchmarks.query [--chunks 100000] [--queries 100] [--fake] [--folder DIR]

Texts are drawn from a Zipf-like vocabulary, embeddings at random around some centres, so that both sides have the work
a real library of that size gives them; queries are encoded by the real encoder unless ``--fake``. ``--folder`` keeps
the library for the next run. Long and odd queries are timed as well: nothing a person types may take long.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from indexer.centring import LanguageMeans
from indexer.datatypes import Chunk, Document, OffsetMap, Span, Status, text_hash
from indexer.encode import load_encoder
from indexer.library import Library
from indexer.search import SearchOptions, search_library
from indexer.settings import load_settings
from indexer.store import FoundFile, StoredPage
from tests.fakes import FakeEncoder

PER_DOCUMENT = 100
WORDS_PER_CHUNK = 130


class Texts:
    """Chunk and query texts with word frequencies like those of a language."""

    def __init__(self, seed: int = 0, start: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        letters = np.array(list("aeioubcdfghklmnprstvw"))
        self._words = ["".join(self._random.choice(letters, size)) for size in self._random.integers(3, 10, 60_000)]
        weights = 1 / (np.arange(len(self._words)) + 5.0)
        self._weights = weights / weights.sum()
        if start:
            self._random = np.random.default_rng([seed, start])

    def chunk(self) -> str:
        return " ".join(self._draw(WORDS_PER_CHUNK)) + ". "

    def query(self) -> str:
        """Words as people ask: not the most frequent ones alone."""
        return " ".join(self._draw(int(self._random.integers(2, 12))))

    def frequent(self, count: int) -> str:
        """The most frequent words."""
        return " ".join(self._words[:count])

    def _draw(self, count: int) -> list[str]:
        return [self._words[place] for place in self._random.choice(len(self._words), count, p=self._weights)]


def fill(library: Library, chunks: int) -> None:
    """Fill a library up to so many chunks; one that was stopped half way is filled up."""
    dimension = library.store.recipe.dimension
    centres = np.random.default_rng(1).normal(size=(200, dimension))
    done = library.store.counts().documents
    texts, random = Texts(start=done), np.random.default_rng(done + 1)
    for number in range(done, chunks // PER_DOCUMENT):
        made, start = [], 0
        for position in range(PER_DOCUMENT):
            text = texts.chunk()
            made.append(Chunk(position, Span(start, start + len(text)), text, 180, language="en"))
            start += len(text)
        rows = centres[random.integers(200, size=PER_DOCUMENT)] + 2 * random.normal(size=(PER_DOCUMENT, dimension))
        rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        library.store.put_embeddings({text_hash(chunk.text): row for chunk, row in zip(made, rows, strict=True)})
        writer = library.store.begin(f"{number:064x}", start, "text/plain")
        writer.write(made)
        writer.pages([StoredPage(0, None, None, Span(0, start), OffsetMap.identity(start), "en")], ())
        document = Document("text/plain", Status.INDEXED, title=f"Document {number}", language="en")
        writer.finish(document, rows[0], files=[FoundFile(f"/{number}.txt", start, 0)])
    stored = library.store.language_means()
    library.keep_means(
        LanguageMeans.build(
            {name: mean.mean for name, mean in stored.items()},
            {name: mean.chunk_count for name, mean in stored.items()},
        )
    )


class Clock:
    """Adds up the time spent inside some functions."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def timed(self, part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                return call(*arguments, **named)
            finally:
                self.spent[part] = self.spent.get(part, 0.0) + time.perf_counter() - started

        return wrapped


@contextmanager
def clocked(library: Library) -> Iterator[Clock]:
    import indexer.search.engine as engine

    clock = Clock()
    encoder = library.encoder
    with (
        patch.object(type(library), "search_vectors", clock.timed("dense", Library.search_vectors)),
        patch.object(type(library), "rows", clock.timed("rows", Library.rows)),
        patch.object(type(library.store), "lexical", clock.timed("lexical", type(library.store).lexical)),
        patch.object(engine, "present", clock.timed("show", engine.present)),
        patch.object(encoder, "encode_query", clock.timed("encode", encoder.encode_query)),
    ):
        yield clock


def odd_queries(texts: Texts) -> dict[str, str]:
    """What people paste and type beside questions."""
    page = "".join(texts.chunk() for _ in range(4))
    return {
        "a pasted page": page,
        "a hundred pages": page * 100,
        "a hundred pages in one word": "a" * 300_000,
        "a hundred Chinese pages": "向量检索与长文档的分块方法。" * 10_000,
        "10,000 quotes": '"' * 10_000,
        "quoted words": " ".join(f'"{texts.query()}"' for _ in range(10)),
        "the most frequent word, quoted": '"' + texts.frequent(1) + '"',
        "the most frequent words": texts.frequent(12),
        "without the most frequent word": f"-{texts.frequent(1)} {texts.query()}",
        "operators only": "AND OR NOT NEAR ( ) * ^ : - + { }",
        "emoji": "🙂" * 2_000,
        "right to left": "مرحبا بالعالم \u202e שלום עולם " * 20,
    }


@contextmanager
def prepared(folder: Path | None, chunks: int, *, fake: bool) -> Iterator[Library]:
    """The library, made in ``folder`` unless it is there already, or in a directory that is removed afterwards."""
    settings = load_settings()
    encoder = FakeEncoder(384) if fake else load_encoder(settings.encoder, settings=settings)
    with tempfile.TemporaryDirectory() as directory:
        place = folder or Path(directory) / "library"
        settings = replace(settings, library=place, encoder=encoder.name)
        with Library.open(place, settings, create=True, write=True, encoder=encoder) as library:
            if library.store.counts().chunks < chunks:
                started = time.perf_counter()
                fill(library, chunks)
                print(f"filled with {chunks:,} chunks in {time.perf_counter() - started:.0f} s", file=sys.stderr)
            yield library


def timed(library: Library, query: str) -> float:
    started = time.perf_counter()
    search_library(library, query, SearchOptions(k=10))
    return time.perf_counter() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--fake", action="store_true")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    texts = Texts(7)
    queries = [texts.query() for _ in range(arguments.queries)]
    with prepared(arguments.folder, arguments.chunks, fake=arguments.fake) as library:
        for query in queries[:5]:
            search_library(library, query)
        with clocked(library) as clock:
            took = [timed(library, query) for query in queries]
        print(f"chunks {library.store.counts().chunks:,}, queries {arguments.queries}, milliseconds a query")
        p50, p95, worst = (1000 * float(np.percentile(took, percent)) for percent in (50, 95, 100))
        print(f"  p50 {p50:.0f}  p95 {p95:.0f}  worst {worst:.0f}")
        parts = ", ".join(f"{part} {1000 * spent / len(took):.1f}" for part, spent in clock.spent.items())
        print(f"  mean {1000 * sum(took) / len(took):.1f}, of it: {parts}")
        for name, query in odd_queries(texts).items():
            print(f"  {name}: {timed(library, query):.2f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
