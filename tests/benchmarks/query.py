"""What a query costs and where its time goes, on a library of many chunks made for the purpose.

    python -m tests.benchmarks.query [--chunks 100000] [--queries 100] [--fake]

Texts are drawn from a Zipf-like vocabulary, embeddings at random around some centres, so that both sides have the work
a real library of that size gives them; queries are encoded by the real encoder unless ``--fake``.
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

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        letters = np.array(list("aeioubcdfghklmnprstvw"))
        self._words = ["".join(self._random.choice(letters, size)) for size in self._random.integers(3, 10, 60_000)]
        weights = 1 / (np.arange(len(self._words)) + 5.0)
        self._weights = weights / weights.sum()

    def chunk(self) -> str:
        return " ".join(self._draw(WORDS_PER_CHUNK)) + ". "

    def query(self) -> str:
        """Words as people ask: not the most frequent ones alone."""
        return " ".join(self._draw(int(self._random.integers(2, 12))))

    def _draw(self, count: int) -> list[str]:
        return [self._words[place] for place in self._random.choice(len(self._words), count, p=self._weights)]


def fill(library: Library, chunks: int) -> None:
    texts, random = Texts(), np.random.default_rng(1)
    dimension = library.store.recipe.dimension
    centres = random.normal(size=(200, dimension))
    for number in range(chunks // PER_DOCUMENT):
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--fake", action="store_true")
    arguments = parser.parse_args()
    settings = load_settings()
    encoder = FakeEncoder(384) if arguments.fake else load_encoder(settings.encoder, settings=settings)
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "library"
        settings = replace(settings, library=place, encoder=encoder.name)
        with Library.open(place, settings, create=True, write=True, encoder=encoder) as library:
            started = time.perf_counter()
            fill(library, arguments.chunks)
            print(f"filled with {arguments.chunks:,} chunks in {time.perf_counter() - started:.0f} s", file=sys.stderr)
            texts = Texts(7)
            queries = [texts.query() for _ in range(arguments.queries)]
            for query in queries[:5]:
                search_library(library, query)
            with clocked(library) as clock:
                took = []
                for query in queries:
                    started = time.perf_counter()
                    search_library(library, query, SearchOptions(k=10))
                    took.append(time.perf_counter() - started)
    print(f"chunks {arguments.chunks:,}, queries {arguments.queries}, milliseconds a query")
    p50, p95, worst = (1000 * float(np.percentile(took, percent)) for percent in (50, 95, 100))
    print(f"  p50 {p50:.0f}  p95 {p95:.0f}  worst {worst:.0f}")
    parts = ", ".join(f"{part} {1000 * spent / len(took):.1f}" for part, spent in clock.spent.items())
    print(f"  mean {1000 * sum(took) / len(took):.1f}, of it: {parts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
