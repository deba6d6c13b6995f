"""Translation candidates: documents in two languages whose chunks answer each other in the same order.

Embeddings of two languages differ by a common part that is taken away first (the mean of each language). A document's
nearest documents in another language, by their document vectors, are then compared chunk by chunk. It is a candidate
for a person to judge, never a finding: two texts on one subject can look like a translation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from indexer.datatypes import Ids, Matrix, StoredDocument
from indexer.duplicates.collection import Collection
from indexer.duplicates.results import ChunkMatch, Pair, Relation
from indexer.duplicates.sides import Mask

NEAREST = 4
"""How many documents of the other language are compared with each, if each is among the other's nearest as well."""

ALIKE = 0.3
"""The mean cosine of the chunks to their best partners, the lower of both ways, from which a pair is a candidate.

Measured with e5-small on the 24 twins and 552 other pairs of XQuAD in English and Chinese: twins 0.37 and more, others
0.28 and less; with one Chinese document among the 24 English ones, twins 0.29 and more, others 0.16 and less.
"""

IN_ORDER = 0.3
LEAST_CHUNKS = 2
LENGTHS = 3.0
"""A translation has at most so many times the chunks of its original."""

_UNKNOWN = "und"
_SAMPLE = 256
_ROWS_AT_ONCE = 1024

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class _Language:
    """The documents of one language, a centred unit row for each, which are new, and the mean of their chunks."""

    documents: tuple[StoredDocument, ...]
    rows: Matrix
    new: Mask
    chunk_mean: Matrix


def find_translations(
    collection: Collection, documents: Sequence[StoredDocument], new: AbstractSet[int], progress: Progress
) -> Iterator[Pair]:
    """Pairs of documents in different languages that may be translations, each pair once.

    One of each pair at least is among the ``new`` ones (by id); the others are known to each other already.
    """
    languages = _languages(collection, documents, new)
    for name, other in combinations(sorted(languages), 2):
        a, b = languages[name], languages[other]
        pairs = sorted(_near(a, b) | {(i, j) for j, i in _near(b, a)})
        for number, (i, j) in enumerate(pairs):
            progress("Comparing languages", number, len(pairs))
            first, second = a.documents[i], b.documents[j]
            if max(first.chunk_count, second.chunk_count) > LENGTHS * min(first.chunk_count, second.chunk_count):
                continue
            pair = _compare(
                (first, _centred(collection, first, a.chunk_mean)), (second, _centred(collection, second, b.chunk_mean))
            )
            if pair is not None:
                yield pair


def _languages(
    collection: Collection, documents: Sequence[StoredDocument], new: AbstractSet[int]
) -> Mapping[str, _Language]:
    ids, vectors = collection.document_vectors()
    where = {document_id: row for row, document_id in enumerate(ids.tolist())}
    members: dict[str, list[StoredDocument]] = defaultdict(list)
    for document in documents:
        if document.language != _UNKNOWN and document.chunk_count >= LEAST_CHUNKS and document.id in where:
            members[document.language.split("-")[0]].append(document)
    if len(members) < 2:
        return {}
    rows = {name: vectors[[where[document.id] for document in group]] for name, group in members.items()}
    chunk_means = _of_languages(
        {name: _chunk_means(collection, group[:: 1 + len(group) // _SAMPLE]) for name, group in members.items()}
    )
    means = _of_languages(rows)
    return {
        name: _Language(
            tuple(group),
            _unit(rows[name] - means[name]),
            np.array([document.id in new for document in group], dtype=np.bool_),
            chunk_means[name],
        )
        for name, group in members.items()
    }


def _of_languages(rows: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """The mean of each language, leaning on the overall one: the mean of few documents is not their language's."""
    overall = np.concatenate(list(rows.values())).mean(axis=0)
    return {name: (len(some) * some.mean(axis=0) + overall) / (len(some) + 1) for name, some in rows.items()}


def _chunk_means(collection: Collection, documents: Sequence[StoredDocument]) -> Matrix:
    return np.stack([_embeddings(collection, document).mean(axis=0) for document in documents])


def _embeddings(collection: Collection, document: StoredDocument) -> Matrix:
    return collection.embeddings(collection.chunk_ids(document.id))


def _centred(collection: Collection, document: StoredDocument, mean: Matrix) -> Matrix:
    return _unit(_embeddings(collection, document) - mean)


def _unit(rows: NDArray[np.floating]) -> Matrix:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def _near(a: _Language, b: _Language) -> set[tuple[int, int]]:
    """New documents of a with those of b where each is among the other's nearest."""
    fresh = np.flatnonzero(a.new)
    forth = dict(zip(fresh.tolist(), _top(a.rows[fresh], b.rows), strict=True))
    met = sorted({j for nearest in forth.values() for j in nearest})
    back = dict(zip(met, _top(b.rows[met], a.rows), strict=True))
    return {(i, j) for i, nearest in forth.items() for j in nearest if i in back[j]}


def _top(queries: Matrix, rows: Matrix) -> list[list[int]]:
    found: list[list[int]] = []
    count = min(NEAREST, len(rows))
    for start in range(0, len(queries), _ROWS_AT_ONCE):
        scores = queries[start : start + _ROWS_AT_ONCE] @ rows.T
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
