"""The usual recipe, as tutorials build it: fixed windows of 507 tokens that overlap by 50, cosines to all of them.

Encoding goes on where an earlier run was stopped: rows are kept in the cache beside the collection's library.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from indexer.datatypes import Ids, Matrix, Mode, Span
from indexer.encode import load_encoder
from indexer.encode.base import FolderEncoder
from indexer.evaluate import Collection, Evaluation
from indexer.evaluate.building import library_directory
from indexer.evaluate.figures import first_right, ndcg, recall
from indexer.evaluate.run import READ_TOKENS, QueryResult, covers
from indexer.settings import Settings

WINDOW, OVERLAP = 507, 50
_CHUNKS_RANKED = 50
_SLICE = 64


@dataclass(frozen=True)
class Windows:
    """Fixed windows over a collection: whose they are, where, how many tokens, and the embeddings."""

    owners: Ids
    spans: tuple[Span, ...]
    tokens: tuple[int, ...]
    rows: Matrix
    queries: Matrix


def windows(text: str, encoder: FolderEncoder) -> Iterator[Span]:
    """Windows of ``WINDOW`` tokens of a text."""
    starts = np.cumsum([0, *map(len, encoder._tokenizer.pieces(text, 1))])
    tokens = len(starts) - 1
    for first in range(0, max(tokens - OVERLAP, 1), WINDOW - OVERLAP):
        yield Span(int(starts[first]), int(starts[min(first + WINDOW, tokens)]))


def make_windows(collection: Collection, settings: Settings) -> Windows:
    """Cut and encode a collection and its judged queries."""
    encoder = load_encoder(settings.encoder, settings=settings)
    assert isinstance(encoder, FolderEncoder)
    cut = [(number, span) for number, one in enumerate(collection.documents) for span in windows(one.text, encoder)]
    texts = [span.of(collection.documents[number].text) for number, span in cut]
    directory = library_directory(settings, collection, encoder.fingerprint)
    directory.mkdir(parents=True, exist_ok=True)
    rows = _encoded(encoder, texts, directory / "naive.npy")
    queries = directory / "naive_queries.npy"
    if not queries.exists():
        asked = [collection.queries[query] for query in collection.judged]
        _keep(queries, encoder.encode_query(asked))
    owners = np.array([number for number, _ in cut], dtype=np.int64)
    counts = tuple(encoder.count_tokens(texts))
    return Windows(owners, tuple(span for _, span in cut), counts, rows, np.load(queries, allow_pickle=False))


def _encoded(encoder: FolderEncoder, texts: Sequence[str], path: Path) -> Matrix:
    done = np.load(path, allow_pickle=False) if path.exists() else np.empty((0, encoder.dimension), dtype=np.float16)
    for first in range(len(done), len(texts), _SLICE):
        started = time.perf_counter()
        some = [_truncated(text, encoder) for text in texts[first : first + _SLICE]]
        done = np.concatenate([done, encoder.encode_documents(some).astype(np.float16)])
        _keep(path, done)
        seconds = time.perf_counter() - started
        print(
            f"  {path.parent.name}: {len(done)} of {len(texts)} windows, {seconds:.0f} s", file=sys.stderr, flush=True
        )
    return np.asarray(done, dtype=np.float32)


def _truncated(text: str, encoder: FolderEncoder) -> str:
    """What the model's limit leaves of a window, cut off without a word, as the usual recipe does."""
    if encoder.count_tokens([text])[0] <= encoder.max_tokens:
        return text
    return encoder._tokenizer.pieces(text, encoder.max_tokens - 1)[0]


def _keep(path: Path, rows: Matrix) -> None:
    unfinished = path.with_name(f".{os.getpid()}-{path.name}")
    np.save(unfinished, rows, allow_pickle=False)
    unfinished.replace(path)


def evaluate_naive(collection: Collection, settings: Settings, queries: int | None) -> Evaluation:
    """Ask every judged query: a document stands where its best window does."""
    made = make_windows(collection, settings)
    started = time.perf_counter()
    results = tuple(
        _ask(collection, made, query, vector)
        for query, vector in zip(collection.judged[:queries], made.queries, strict=False)
    )
    seconds = time.perf_counter() - started
    return Evaluation(collection.name, Mode.DENSE, len(collection.documents), sum(made.tokens), seconds, results)


def _ask(collection: Collection, made: Windows, query: str, vector: Matrix) -> QueryResult:
    order = np.argsort(-(made.rows @ vector), kind="stable")
    names = [collection.documents[owner].id for owner in dict.fromkeys(made.owners[order].tolist())][:10]
    grades = collection.grades[query]
    rank, within = _place_of_answer(collection, made, order, query)
    return QueryResult(
        query, collection.queries[query], tuple(names), ndcg(names, grades), recall(names, grades),
        first_right(names, grades), rank, within,
    )  # fmt: skip


def _place_of_answer(collection: Collection, made: Windows, order: Ids, query: str) -> tuple[int | None, bool | None]:
    answers = collection.answers.get(query)
    if not answers:
        return None, None
    tokens = 0
    for rank, position in enumerate(order[:_CHUNKS_RANKED].tolist(), start=1):
        tokens += made.tokens[position]
        name = collection.documents[int(made.owners[position])].id
        if any(answer.document == name and covers(made.spans[position], answer.span) for answer in answers):
            return rank, tokens <= READ_TOKENS
    return None, False
