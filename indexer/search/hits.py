"""From ranked chunks to hits a person reads: grouped by document, copies folded, words and sentence marked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from indexer.datatypes import Hit, Matrix, Span, StoredChunk, StoredDocument, Why
from indexer.lexical import index_text
from indexer.library import Library
from indexer.search.closest import closest_sentences
from indexer.search.highlight import mark
from indexer.search.options import Grouping, SearchOptions
from indexer.search.retrieve import Ranking
from indexer.store import StoredPage

OTHERS = 3
"""Further chunks shown with a document's best one, of those that come near it."""

_NEAR = 0.5

SAME = 0.8
"""Share of common terms (Jaccard) from which two chunks of different documents are shown as one hit."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Positions in a ranking that are shown as one hit, best first."""

    positions: tuple[int, ...]


def group(ranking: Ranking, by: Grouping) -> list[_Group]:
    """The positions of a ranking by hit: a document with its best chunks, or each chunk by itself."""
    if by is Grouping.CHUNK:
        return [_Group((position,)) for position in range(len(ranking))]
    found: dict[int, list[int]] = {}
    for position, document in enumerate(ranking.documents.tolist()):
        found.setdefault(document, []).append(position)
    return [_Group(_shown_together(ranking, positions)) for positions in found.values()]


def _shown_together(ranking: Ranking, positions: list[int]) -> tuple[int, ...]:
    best = ranking.scores[positions[0]]
    near = [place for place in positions[1 : 1 + OTHERS] if ranking.scores[place] >= _NEAR * best]
    return (positions[0], *near)


def present(
    library: Library,
    ranking: Ranking,
    options: SearchOptions,
    weights: Mapping[str, float],
    vectors: Matrix | None = None,
) -> tuple[Hit, ...]:
    """The first ``options.k`` hits of a ranking; ``weights`` are those of the query's terms, ``vectors`` its meaning.

    Where a hit has none of the terms, its sentence is chosen by the vectors if they are given.
    """
    hits: list[Hit] = []
    contents: list[frozenset[str]] = []
    for hit in _hits(library, ranking, options, weights):
        content = frozenset(index_text(hit.text).split()) if options.fold_copies else frozenset()
        twin = next((i for i, other in enumerate(contents) if _same(content, other)), None)
        if twin is not None and hit.document.id != hits[twin].document.id:
            if hit.document not in hits[twin].copies:
                hits[twin] = replace(hits[twin], copies=(*hits[twin].copies, hit.document))
            continue
        if len(hits) == options.k:
            break
        hits.append(replace(hit, rank=len(hits) + 1))
        contents.append(content)
    return tuple(hits) if vectors is None else _with_sentences(library, hits, vectors)


def _with_sentences(library: Library, hits: list[Hit], vectors: Matrix) -> tuple[Hit, ...]:
    found = closest_sentences(library, hits, vectors)
    pages = _Pages(library)
    return tuple(
        hit if (sentence := found.get(hit.chunk_id)) is None else _with_sentence(hit, sentence, pages) for hit in hits
    )


def _with_sentence(hit: Hit, sentence: Span, pages: _Pages) -> Hit:
    if hit.page is None:
        return replace(hit, sentence=sentence)
    page, label = pages.at(hit.document.id, hit.span.start + sentence.start)
    return replace(hit, sentence=sentence, page=page, page_label=label)


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other or min(len(one), len(other)) < SAME * max(len(one), len(other)):
        return False
    common = len(one & other)
    return common >= SAME * (len(one) + len(other) - common)


def _hits(library: Library, ranking: Ranking, options: SearchOptions, weights: Mapping[str, float]) -> Iterator[Hit]:
    """Hits one after the other, read from the store in blocks, so that no more is read than is shown."""
    groups = group(ranking, options.by)
    block = options.k + max(5, options.k // 2)
    for first in range(0, len(groups), block):
        some = groups[first : first + block]
        positions = [position for one in some for position in one.positions]
        chunks = {chunk.id: chunk for chunk in library.store.chunks(ranking.chunks[positions])}
        documents = library.store.documents_by_id({chunk.document_id for chunk in chunks.values()})
        pages = _Pages(library)
        for one in some:
            made = [
                _hit(chunks[chunk_id], documents, ranking, position, weights, pages)
                for position in one.positions
                if (chunk_id := int(ranking.chunks[position])) in chunks
            ]
            if made:  # a document removed while it was being searched is passed over
                yield replace(made[0], others=tuple(made[1:]))


class _Pages:
    """The pages of documents, read once a document and only where they are needed."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[int, list[StoredPage]] = {}

    def at(self, document_id: int, place: int) -> tuple[int | None, str | None]:
        """The number and the label of the page on which a place of the document's text lies."""
        if document_id not in self._known:
            self._known[document_id] = self._library.store.pages(document_id)
        pages = self._known[document_id]
        found = bisect_right(pages, place, key=lambda page: page.span.start) - 1
        return (pages[found].number, pages[found].label) if found >= 0 else (None, None)


def _hit(
    stored: StoredChunk,
    documents: Mapping[int, StoredDocument],
    ranking: Ranking,
    position: int,
    weights: Mapping[str, float],
    pages: _Pages,
) -> Hit:
    document, chunk = documents[stored.document_id], stored.chunk
    marks = mark(chunk.text, weights)
    place = marks.sentence.start if marks.sentence else len(chunk.text) - len(chunk.text.lstrip())
    page, label = (None, None) if chunk.first_page is None else pages.at(document.id, chunk.span.start + place)
    return Hit(
        rank=position + 1,
        score=float(ranking.scores[position]),
        document=document,
        chunk_id=stored.id,
        span=chunk.span,
        text=chunk.text,
        page=chunk.first_page if page is None else page,
        page_label=label,
        headings=chunk.headings,
        highlights=marks.highlights,
        why=Why(_given(ranking.dense[position]), _given(ranking.lexical[position])),
        sentence=marks.sentence,
    )


def _given(part: np.float32) -> float | None:
    return None if np.isnan(part) else float(part)
