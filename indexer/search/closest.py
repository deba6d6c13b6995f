"""The best sentence of hits that have none of a query's words: the one nearest to it in meaning.

Sentences have no embeddings of their own, and encoding those of ten hits would take longer than the search. So the
first hits come first, and what does not fit into the time is left without: its text is shown from the beginning.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from indexer.datatypes import Hit, Matrix, Span
from indexer.library import Library
from indexer.search.highlight import says_something, trimmed
from indexer.sentences import sentences

BUDGET = 0.05
"""Seconds that encoding sentences may add to a search; the first hit is always done, on two cores few others.

``tests/benchmarks/closest.py`` measures what it costs and how often the chosen sentence has the answer.
"""

_MOST_CHARACTERS = 300
"""What a sentence says in so many characters decides."""


def closest_sentences(
    library: Library, hits: Sequence[Hit], queries: Matrix, *, budget: float = BUDGET
) -> dict[int, Span]:
    """For each chunk of hits without a sentence, the one nearest to a query row; as many as the time allows."""
    found: dict[int, Span] = {}
    spent, done = 0.0, 0
    for hit in hits:
        spans = [] if hit.sentence is not None else _candidates(hit.text)
        if len(spans) == 1:
            found[hit.chunk_id] = spans[0]
        elif spans:
            texts = [span.of(hit.text)[:_MOST_CHARACTERS] for span in spans]
            length = sum(map(len, texts))
            if spent * (done + length) > budget * done:
                break
            started = time.perf_counter()
            found[hit.chunk_id] = spans[_nearest(library, hit.chunk_id, texts, queries)]
            spent, done = spent + time.perf_counter() - started, done + length
    return found


def _candidates(text: str) -> list[Span]:
    """The sentences of a text without the space around them, headings left out where there is anything else."""
    every = [span for sentence in sentences(text) if (span := trimmed(text, sentence.span)).end > span.start]
    return [span for span in every if says_something(span.of(text))] or every


def _nearest(library: Library, chunk_id: int, texts: Sequence[str], queries: Matrix) -> int:
    languages = library.store.chunk_languages(np.array([chunk_id], dtype=np.int64))
    rows = library.means.centre_documents(library.encoder.encode_documents(texts), list(languages) * len(texts))
    return int((rows @ queries.T).max(axis=1).argmax())
