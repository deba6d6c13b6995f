"""Translation candidates: documents in two languages whose chunks answer each other in the same order.

Embeddings of two languages differ by a common part that is taken away first (the mean of each language). A document's
nearest documents in another language, by the mean of its chunks, are then compared chunk by chunk. It is a candidate
for a person to judge, never a finding: two texts on one subject can look like a translation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from indexer.datatypes import Ids, Matrix, StoredChunk, StoredDocument
from indexer.duplicates.results import ChunkMatch, Pair, Relation

NEAREST = 8
ALIKE = 0.3
"""The mean cosine of the chunks to their best partners, the lower of both ways, from which a pair is a candidate.

Measured with e5-small on the 24 twins and 552 other pairs of XQuAD in English and Chinese: twins 0.37 and more, others
0.28 and less; with one Chinese document among the 24 English ones, twins 0.29 and more, others 0.16 and less.
"""

IN_ORDER = 0.3
LEAST_CHUNKS = 2
_UNKNOWN = "und"


class Collection(Protocol):
    """The chunks of documents and their embeddings."""

    def chunks(self, document_id: int) -> Sequence[StoredChunk]: ...
    def embeddings(self, chunk_ids: Ids) -> Matrix: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Language:
    """The documents of one language, the mean of their chunks, and a centred unit mean for each of them."""

    documents: tuple[StoredDocument, ...]
    mean: Matrix
    rows: Matrix


def find_translations(collection: Collection, documents: Sequence[StoredDocument]) -> Iterator[Pair]:
    """Pairs of documents in different languages that may be translations of each other, each pair once."""
    languages = _languages(collection, documents)
    names = sorted(languages)
    for position, name in enumerate(names):
        for other in names[position + 1 :]:
            for a, b in _nearest(languages[name], languages[other]):
                first, second = languages[name].documents[a], languages[other].documents[b]
                pair = _compare(
                    (first, _centred(collection, first, languages[name].mean)),
                    (second, _centred(collection, second, languages[other].mean)),
                )
                if pair is not None:
                    yield pair


def _languages(collection: Collection, documents: Sequence[StoredDocument]) -> Mapping[str, _Language]:
    members: dict[str, list[StoredDocument]] = defaultdict(list)
    for document in documents:
        if document.language != _UNKNOWN and document.chunk_count >= LEAST_CHUNKS:
            members[document.language.split("-")[0]].append(document)
    if len(members) < 2:
        return {}
    means = {name: _means(collection, group) for name, group in members.items()}
    overall = np.concatenate(list(means.values())).mean(axis=0)
    languages = {}
    for name, group in members.items():
        own = means[name].mean(axis=0)
        mean = (len(group) * own + overall) / (len(group) + 1)  # of few documents the mean is not their language's
        languages[name] = _Language(tuple(group), mean, _unit(means[name] - mean))
    return languages


def _means(collection: Collection, documents: Sequence[StoredDocument]) -> Matrix:
    return np.stack([_embeddings(collection, document).mean(axis=0) for document in documents])


def _embeddings(collection: Collection, document: StoredDocument) -> Matrix:
    ids = np.array([stored.id for stored in collection.chunks(document.id)], dtype=np.int64)
    return collection.embeddings(ids)


def _centred(collection: Collection, document: StoredDocument, mean: Matrix) -> Matrix:
    return _unit(_embeddings(collection, document) - mean)


def _unit(rows: Matrix) -> Matrix:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def _nearest(a: _Language, b: _Language) -> list[tuple[int, int]]:
    """Documents that are among each other's nearest in the other language."""
    forth, back = _top(a.rows, b.rows), _top(b.rows, a.rows)
    return sorted({(i, j) for i, row in enumerate(forth) for j in row if i in back[j]})


def _top(queries: Matrix, rows: Matrix) -> list[list[int]]:
    found: list[list[int]] = []
    count = min(NEAREST, len(rows))
    for start in range(0, len(queries), 1024):
        scores = queries[start : start + 1024] @ rows.T
        found += np.argpartition(-scores, count - 1, axis=1)[:, :count].tolist()
    return found


def _compare(a: tuple[StoredDocument, Matrix], b: tuple[StoredDocument, Matrix]) -> Pair | None:
    """The pair if most chunks of both have a partner in the other and the partners stand in the same order."""
    scores = a[1] @ b[1].T
    forth, back = scores.argmax(axis=1), scores.argmax(axis=0)
    best_a, best_b = scores.max(axis=1), scores.max(axis=0)
    similarity = float(min(best_a.mean(), best_b.mean()))
    order = min(_in_order(forth, len(b[1])), _in_order(back, len(a[1])))
    if similarity < ALIKE or order < IN_ORDER:
        return None
    matches = tuple(
        ChunkMatch(i, int(j), round(float(best_a[i]), 4)) for i, j in enumerate(forth.tolist()) if back[j] == i
    )
    return Pair(
        a[0].id,
        b[0].id,
        Relation.TRANSLATION,
        similarity=round(similarity, 4),
        share_a_in_b=round(float((best_a >= ALIKE).mean()), 4),
        share_b_in_a=round(float((best_b >= ALIKE).mean()), 4),
        in_order=round(order, 4),
        shared_chunks=len(matches),
        matches=matches,
    )


def _in_order(partners: Ids, count: int) -> float:
    """How far the partners advance with the chunks: 1 for the diagonal, about 0 for no order."""
    if len(partners) < 2 or count < 2:
        return 1.0
    place = np.arange(len(partners)) / (len(partners) - 1)
    return float(max(0.0, 1 - 3 * np.abs(partners / (count - 1) - place).mean()))
