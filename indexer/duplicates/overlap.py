"""How much of one document is already in the library: found through its chunks, compared with few documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from indexer.datatypes import StoredChunk, StoredDocument
from indexer.duplicates.align import align
from indexer.duplicates.candidates import BOILERPLATE_FAMILIES
from indexer.duplicates.relate import relate, same_text
from indexer.duplicates.results import Overlap, Relation
from indexer.duplicates.shingles import Hashes, Shingled, fingerprints
from indexer.duplicates.sides import Side

if TYPE_CHECKING:
    from indexer.library import Library

WORTH_TELLING = 0.3
_PROBES = 64
_NEIGHBOURS = 16
_COMPARED = 12
_NEAR = 0.6
_SAME = 0.97


def overlap_of(library: Library, document_id: int) -> tuple[Overlap, ...]:
    """The documents that hold much of this one already, the most first; raises DocumentNotFoundError.

    Only documents that have a chunk near one of its chunks are compared. A chunk that stands in many documents counts
    as boilerplate and for nothing.
    """
    store = library.store
    document = store.document(document_id)
    chunks = tuple(store.document_chunks(document_id))
    if not chunks:
        return ()
    near, boilerplate = _near_documents(library, document_id, chunks)
    side = Side.of(Shingled.of([stored.chunk.text for stored in chunks]), boilerplate)
    found = []
    for other in store.documents_by_id(near).values():
        other_chunks = tuple(store.document_chunks(other.id))
        alignment = align(side, Side.of(Shingled.of([stored.chunk.text for stored in other_chunks]), boilerplate))
        if alignment.share_a_in_b < WORTH_TELLING and not alignment.sections:
            continue
        relation = relate(alignment) or Relation.CONTAINED
        if relation is Relation.VERSION and same_text(_text(chunks), _text(other_chunks)):
            relation = Relation.SAME_TEXT
        found.append(_overlap(document, other, relation, alignment.share_a_in_b))
    return tuple(sorted(found, key=lambda overlap: (-overlap.share, overlap.document_id)))


def _text(chunks: Sequence[StoredChunk]) -> str:
    return "".join(stored.chunk.text for stored in chunks)


def _overlap(document: StoredDocument, other: StoredDocument, relation: Relation, share: float) -> Overlap:
    if relation is Relation.SAME_TEXT:
        sentence = f"This is the same text as {other.title!r}, in another format or layout."
    else:
        percent = min(99, int(100 * share)) if share < 1 else 100
        what = "A section of this" if relation is Relation.SECTION else f"{percent} % of this"
        sentence = f"{what} is already in {other.display_title}."
    return Overlap(other.id, other.title, round(share, 4), relation, sentence)


def _near_documents(library: Library, document_id: int, chunks: Sequence[StoredChunk]) -> tuple[list[int], Hashes]:
    """The documents with the most chunks near this one's, and the fingerprints of its chunks that stand everywhere."""
    step = max(1, len(chunks) // _PROBES)
    probes = chunks[::step]
    rows = library.rows(np.array([stored.id for stored in probes], dtype=np.int64))
    candidates = library.search_vectors(rows, _NEIGHBOURS)
    ids = np.unique(candidates.ids[candidates.ids >= 0])
    owner = dict(zip(ids.tolist(), library.store.chunk_owner(ids).tolist(), strict=True))
    votes: Counter[int] = Counter()
    common: list[Hashes] = []
    for stored, neighbours, scores in zip(probes, candidates.ids.tolist(), candidates.scores.tolist(), strict=True):
        best: dict[int, float] = defaultdict(float)
        for chunk_id, score in zip(neighbours, scores, strict=True):
            if chunk_id >= 0 and owner[chunk_id] != document_id and score >= _NEAR:
                best[owner[chunk_id]] = max(best[owner[chunk_id]], score)
        if sum(score >= _SAME for score in best.values()) >= BOILERPLATE_FAMILIES:
            common.append(fingerprints(Shingled.of([stored.chunk.text]).hashes))
            continue
        votes.update(best)
    boilerplate = np.unique(np.concatenate(common)) if common else np.zeros(0, dtype=np.uint64)
    return [document for document, _ in votes.most_common(_COMPARED)], boilerplate
