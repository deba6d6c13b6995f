"""Find every near-duplicate of a library, compare two documents, say how much of one is already there."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from indexer.datatypes import Ids, Matrix, StoredChunk, StoredDocument
from indexer.duplicates.align import Alignment, Side, align
from indexer.duplicates.candidates import Candidates, Fingerprints, find_candidates
from indexer.duplicates.differences import find_differences
from indexer.duplicates.groups import make_groups
from indexer.duplicates.relate import THRESHOLD, relate, same_text
from indexer.duplicates.results import Boilerplate, Comparison, DuplicateReport, Pair, Relation
from indexer.duplicates.shingles import Hashes, Shingled, contained_in, covered_by, fingerprints
from indexer.duplicates.translations import find_translations

if TYPE_CHECKING:
    from indexer.library import Library

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much is done and how much there is."""

_BATCH = 256
_THREADS = 4
_HELD_CHARS = 20_000_000
_BOILERPLATE_SHOWN = 10
_NONE = np.zeros(0, dtype=np.uint64)


class Collection(Protocol):
    """What is compared: documents with text, their chunks in order and the chunks' embeddings."""

    def documents(self) -> Sequence[StoredDocument]: ...
    def chunks(self, document_id: int) -> Sequence[StoredChunk]: ...
    def embeddings(self, chunk_ids: Ids) -> Matrix: ...


class LibraryCollection:
    """A library's documents as they are compared."""

    def __init__(self, library: Library) -> None:
        self._store = library.store

    def documents(self) -> Sequence[StoredDocument]:
        return [document for document in self._store.documents() if document.status.searchable]

    def chunks(self, document_id: int) -> Sequence[StoredChunk]:
        return tuple(self._store.document_chunks(document_id))

    def embeddings(self, chunk_ids: Ids) -> Matrix:
        return self._store.chunk_embeddings(chunk_ids)


@dataclass(frozen=True, slots=True)
class DuplicateOptions:
    """``threshold``: the Jaccard index from which two texts count as versions. Translations need the embeddings."""

    threshold: float = THRESHOLD
    translations: bool = True


def find_duplicates(
    library: Library, options: DuplicateOptions | None = None, progress: Progress | None = None
) -> DuplicateReport:
    """Every group of near-duplicates in a library; nothing in it is changed."""
    return find_in(LibraryCollection(library), options or DuplicateOptions(), progress or _silent)


def find_in(collection: Collection, options: DuplicateOptions, progress: Progress) -> DuplicateReport:
    """Every group of near-duplicates in a collection."""
    started = time.perf_counter()
    documents = list(collection.documents())
    found = Fingerprints.of(_fingerprints(collection, documents, progress))
    candidates = find_candidates(found, min(0.2, options.threshold / 2))
    sides = _Sides(collection, candidates.boilerplate)
    pairs = list(_verified(documents, candidates, sides, options.threshold, progress))
    if options.translations:
        known = {(pair.a, pair.b) for pair in pairs} | {(pair.b, pair.a) for pair in pairs}
        fresh = find_translations(collection, documents)
        pairs += [pair for pair in fresh if (pair.a, pair.b) not in known]
    groups = make_groups({document.id: document for document in documents}, pairs)
    shown = _show_boilerplate(collection, documents, found, candidates)
    return DuplicateReport(groups, shown, len(documents), len(candidates), time.perf_counter() - started)


def compare_in(collection: Collection, a: StoredDocument, b: StoredDocument) -> Comparison:
    """Compare two documents of a collection directly, whether or not they are near-duplicates."""
    sides = _Sides(collection, _NONE)
    alignment = align(sides.of(a.id), sides.of(b.id))
    relation = relate(alignment)
    if relation is Relation.VERSION and same_text(sides.text(a.id), sides.text(b.id)):
        relation = Relation.SAME_TEXT
    pair = _pair(a.id, b.id, relation or Relation.BOILERPLATE, alignment)
    return Comparison(pair, find_differences(sides.text(pair.a), sides.text(pair.b)))


def compare(library: Library, a: int, b: int) -> Comparison:
    """How two documents relate and every place where they differ; raises DocumentNotFoundError."""
    return compare_in(LibraryCollection(library), library.store.document(a), library.store.document(b))


def _silent(what: str, done: int, total: int) -> None:
    """Tell nobody."""


def _fingerprints(collection: Collection, documents: Sequence[StoredDocument], progress: Progress) -> Iterator[Hashes]:
    """The fingerprints of each document in order, some hundred documents at a time in a few threads."""

    def of(batch: Sequence[StoredDocument]) -> list[Hashes]:
        texts = ([stored.chunk.text for stored in collection.chunks(document.id)] for document in batch)
        return [fingerprints(Shingled.of(chunks).hashes) for chunks in texts]

    batches = [documents[start : start + _BATCH] for start in range(0, len(documents), _BATCH)]
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
        for number, found in enumerate(pool.map(of, batches)):
            progress("Reading", number * _BATCH, len(documents))
            yield from found


class _Sides:
    """Documents made ready for comparison, the last used ones kept, up to 20 million characters of them."""

    def __init__(self, collection: Collection, boilerplate: Hashes) -> None:
        self._collection = collection
        self._boilerplate = boilerplate
        self._kept: OrderedDict[int, Side] = OrderedDict()
        self._chars = 0

    def of(self, document_id: int) -> Side:
        if document_id in self._kept:
            self._kept.move_to_end(document_id)
            return self._kept[document_id]
        texts = [stored.chunk.text for stored in self._collection.chunks(document_id)]
        side = Side.of(Shingled.of(texts), self._boilerplate)
        self._kept[document_id] = side
        self._chars += len(side.shingled.text)
        while self._chars > _HELD_CHARS and len(self._kept) > 2:
            self._chars -= len(self._kept.popitem(last=False)[1].shingled.text)
        return side

    def text(self, document_id: int) -> str:
        return "".join(stored.chunk.text for stored in self._collection.chunks(document_id))


def _verified(
    documents: Sequence[StoredDocument], candidates: Candidates, sides: _Sides, threshold: float, progress: Progress
) -> Iterator[Pair]:
    """Align every candidate and keep those that are related by more than boilerplate."""
    for number, (first, second) in enumerate(candidates):
        progress("Comparing", number, len(candidates))
        a, b = documents[first].id, documents[second].id
        alignment = align(sides.of(a), sides.of(b))
        relation = relate(alignment, threshold)
        if relation is None or relation is Relation.BOILERPLATE:
            continue
        if relation is Relation.VERSION and alignment.raw_jaccard >= threshold and same_text_is_likely(alignment):
            relation = Relation.SAME_TEXT if same_text(sides.text(a), sides.text(b)) else relation
        yield _pair(a, b, relation, alignment)


def same_text_is_likely(alignment: Alignment) -> bool:
    """Whether it is worth looking closer: nearly all of one text is found in the other, and most the other way."""
    shares = sorted((alignment.share_a_in_b, alignment.share_b_in_a))
    return shares[0] >= 0.8 and shares[1] >= 0.97


def _pair(a: int, b: int, relation: Relation, alignment: Alignment) -> Pair:
    """The pair as it is reported; in a contained one the part comes first."""
    pair = Pair(
        a,
        b,
        relation,
        similarity=round(alignment.raw_jaccard, 4),
        share_a_in_b=round(alignment.share_a_in_b, 4),
        share_b_in_a=round(alignment.share_b_in_a, 4),
        in_order=round(alignment.in_order, 4),
        shared_chunks=alignment.shared_chunks,
        matches=alignment.matches,
    )
    if relation is not Relation.CONTAINED or pair.share_a_in_b >= pair.share_b_in_a:
        return pair
    turned = tuple(replace(match, position_a=match.position_b, position_b=match.position_a) for match in pair.matches)
    return replace(pair, a=b, b=a, share_a_in_b=pair.share_b_in_a, share_b_in_a=pair.share_a_in_b, matches=turned)


def _show_boilerplate(
    collection: Collection, documents: Sequence[StoredDocument], found: Fingerprints, candidates: Candidates
) -> tuple[Boilerplate, ...]:
    """The most widely spread boilerplate, each as a chunk of a document that has it."""
    shown: list[Boilerplate] = []
    left, spread = candidates.boilerplate, candidates.spread
    while len(left) and len(shown) < _BOILERPLATE_SHOWN:
        widest = int(np.argmax(spread))
        document = documents[int(found.owners[np.flatnonzero(found.values == left[widest])[0]])]
        shingled = Shingled.of([stored.chunk.text for stored in collection.chunks(document.id)])
        inside = covered_by(shingled.hashes, left[widest : widest + 1])
        chunk = int(np.searchsorted(shingled.starts, int(np.argmax(inside)), side="right")) - 1
        text = collection.chunks(document.id)[max(chunk, 0)].chunk.text
        shown.append(Boilerplate(text, int(spread[widest])))
        gone = np.union1d(fingerprints(Shingled.of([text]).hashes), left[widest : widest + 1])
        kept = ~contained_in(left, gone)
        left, spread = left[kept], spread[kept]
    return tuple(shown)
