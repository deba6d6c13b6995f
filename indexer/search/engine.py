"""The read path: a query becomes a plan, the plan ranked chunks, these the hits a person reads."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from indexer.datatypes import Ids, Mode, SearchResult, StoredChunk
from indexer.errors import DocumentNotFoundError
from indexer.library import Library
from indexer.search.advice import suggestions, unread_warning
from indexer.search.hits import group, present
from indexer.search.options import SearchOptions
from indexer.search.plan import Plan, plan
from indexer.search.query import Query, parse_query
from indexer.search.relevance import is_relevant
from indexer.search.retrieve import DEPTH, Ranking, Request, best_vector, refined, retrieve

_DEEPEST = 6400
_SPREAD = 24
"""Chunks of a document, evenly spaced, that stand for it when documents like it are looked for."""


def search_library(library: Library, query: str, options: SearchOptions | None = None) -> SearchResult:
    """Find the documents or chunks that answer a query; hits come best first.

    Any text is a query: quotes, minus signs and fields mean something (see ``parse_query``), nothing is an error.
    Raises QueryError for a filter of the options that cannot be understood.
    """
    started = time.perf_counter()
    options = options or SearchOptions()
    parsed = parse_query(query)
    if (sentence := _why_nothing(library, parsed)) is not None:
        warnings = (*parsed.warnings, sentence)
        return SearchResult(query, options.mode, (), time.perf_counter() - started, warnings, relevant=False)
    with library.store.snapshot():  # a document removed meanwhile is there to the end of this search
        planned, ranking = rank(library, parsed, options)
        hits = present(library, ranking, options, planned.weights, planned.request.vectors)
        relevant = bool(hits) and (
            _surely_relevant(planned) or is_relevant(library, planned.language, planned.mode, ranking)
        )
        warnings = (*planned.warnings, *unread_warning(library.store.counts().by_status))
    if not relevant:
        nearest = " What follows is the nearest there is." if hits else ""
        warnings = (planned.nothing or f"Nothing relevant was found.{nearest}", *warnings)
    return SearchResult(
        query,
        planned.mode,
        hits,
        time.perf_counter() - started,
        warnings,
        relevant,
        () if relevant else tuple(suggestions(parsed, planned, options)),
    )


def rank(library: Library, query: Query, options: SearchOptions) -> tuple[Plan, Ranking]:
    """Plan a query and rank the library's chunks by it, deep enough for ``options.k`` hits."""
    planned = plan(library, query, options)
    return planned, _deep_enough(library, planned.request, options)


def more_like(
    library: Library,
    *,
    document_id: int | None = None,
    chunk_id: int | None = None,
    options: SearchOptions | None = None,
) -> SearchResult:
    """Find what is like a document or a chunk, by meaning, in whatever language; the document itself is left out.

    Raises DocumentNotFoundError when there is no such document or chunk, or it has no text.
    """
    started = time.perf_counter()
    options = options or SearchOptions()
    with library.store.snapshot():  # what a writer removes meanwhile is there to the end of this search
        document_id, ids = _examples(library, document_id, chunk_id)
        document = library.store.document(document_id)
        planned = plan(library, Query("", ""), replace(options, mode=Mode.LEXICAL))
        more, less = (library.rows(np.array(of, dtype=np.int64)) for of in (options.more, options.less))
        request = replace(
            planned.request,
            vectors=refined(best_vector(library.rows(ids))[None, :], more, less),
            match=None,
            forbidden=library.store.chunk_ids([document_id]),
        )
        hits = present(library, _deep_enough(library, request, options), options, {})
    return SearchResult(document.title, Mode.DENSE, hits, time.perf_counter() - started, relevant=bool(hits))


def _examples(library: Library, document_id: int | None, chunk_id: int | None) -> tuple[int, Ids]:
    """The document that others are to be like, and the chunks that stand for it."""
    store = library.store
    if chunk_id is not None:
        ids = np.array([chunk_id], dtype=np.int64)
        document_id = int(store.chunk_owner(ids)[0]) if store.chunks(ids) else None
    elif document_id is not None:
        every = store.chunk_ids([document_id])
        ids = every[np.linspace(0, len(every) - 1, min(len(every), _SPREAD)).astype(int)] if len(every) else every
    else:
        raise ValueError("either a document or a chunk is needed")
    if document_id is None or not len(ids):
        raise DocumentNotFoundError(
            "There is no such document or passage with text: `longdoc list` shows what there is."
        )
    return document_id, ids


def neighbours(library: Library, chunk_id: int, *, before: int = 1, after: int = 1) -> tuple[StoredChunk, ...]:
    """A chunk with those in front of and behind it in its document, in reading order.

    Raises DocumentNotFoundError when there is no such chunk.
    """
    with library.store.snapshot():  # else a writer could take the document away between the two reads
        found = library.store.chunks([chunk_id])
        if not found:
            raise DocumentNotFoundError(
                f"There is no passage {chunk_id}; the document may have changed since it was found."
            )
        position = found[0].chunk.position
        first = max(0, position - before)
        return tuple(library.store.document_chunks(found[0].document_id, first, position + after + 1 - first))


def _surely_relevant(planned: Plan) -> bool:
    """Words found where only words were asked for, and quoted ones, are what the person wanted."""
    return planned.mode is Mode.LEXICAL or planned.request.chunks is not None


def _deep_enough(library: Library, request: Request, options: SearchOptions) -> Ranking:
    """Ranked candidates, more of them where one document fills the list."""
    depth = max(DEPTH, 4 * options.k)
    while True:
        ranking = retrieve(library, request, depth=depth)
        found = len(group(ranking, options.by))
        if found >= options.k or depth >= _DEEPEST or len(ranking) < depth:
            return ranking
        depth *= 4


def _why_nothing(library: Library, query: Query) -> str | None:
    if not library.store.counts().chunks:
        return "The library has no documents with text yet: `longdoc add FOLDER` puts some in."
    if not query.original.strip():
        return "Nothing was asked: type a question or a few words."
    if query.empty:
        if query.excluded:
            return "Only words to leave out were given: add a word to look for."
        return "There is no word to look for in this query: type a question or a few words."
    return None
