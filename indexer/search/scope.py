"""Where a search may look: filters, quoted phrases, excluded words, clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from indexer.datatypes import Ids, Status
from indexer.lexical import any_expression, match_expression
from indexer.library import Library
from indexer.search.options import Grouping, SearchOptions, parse_filters
from indexer.search.owners import owners_of
from indexer.search.query import Query
from indexer.store import DocumentFilter

_FULL = 0.2
_UNLIMITED = 1_000_000_000
_READABLE = (Status.INDEXED.value, Status.PARTIAL.value)


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be found: the only documents and chunks allowed (None: all), the chunks that are not.

    ``languages`` are those asked for by name (empty: any). ``warnings`` are for the person; ``nothing`` says why
    nothing can be found, when that is so.
    """

    documents: Ids | None = None
    chunks: Ids | None = None
    forbidden: Ids | None = None
    languages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    nothing: str | None = None


def read_scope(library: Library, query: Query, options: SearchOptions) -> Scope:
    """Where a query may look."""
    store = library.store
    warnings: list[str] = []
    wanted = parse_filters([one for one in options.where if not one.startswith("cluster=")], query.filter)
    if options.document is not None:
        wanted = replace(wanted, ids=(options.document,))
    documents = store.matching_documents(wanted) if wanted else None
    for one in options.where:
        if one.startswith("cluster="):
            members = _cluster_members(library, one.partition("=")[2])
            documents = members if documents is None else np.intersect1d(documents, members)
    nothing = None
    if documents is not None and not len(documents):
        nothing = "No document passes the filters: try fewer of them, or `longdoc list` to see what there is."
    if documents is not None and (wanted.date_from or wanted.date_to):
        warnings += _undated(library, wanted)
    chunks = _phrase_chunks(library, query.phrases, options.by)
    if chunks is not None and not len(chunks):
        quoted = " and ".join(f"“{phrase}”" for phrase in query.phrases)
        warnings.append(f"No passage has {quoted} word for word; the words were searched for without the quotes.")
        chunks = None
    forbidden = _forbidden(library, query, options.by)
    return Scope(documents, chunks, forbidden, wanted.languages, tuple(warnings), nothing)


def _undated(library: Library, wanted: DocumentFilter) -> Iterator[str]:
    """The sentence about documents that only lack a date."""
    candidates = library.store.matching_documents(replace(wanted, date_from=None, date_to=None, statuses=_READABLE))
    dated = library.store.matching_documents(replace(wanted, date_from="0", date_to=None, statuses=_READABLE))
    if missing := len(candidates) - len(dated):
        noun = "document without a date was" if missing == 1 else "documents without a date were"
        yield f"{missing} {noun} left out."


def _forbidden(library: Library, query: Query, by: Grouping) -> Ids | None:
    """The chunks that must not be found: those with an excluded word, and all of a document that is full of it.

    Full of it is a document with the word in its title or its first chunk, or in a fifth of its chunks: a draft says so
    at its top, while one mention in a book spoils that passage only.
    """
    store = library.store
    parts: list[Ids] = [store.chunk_ids(store.matching_documents(unwanted)) for unwanted in query.unwanted]
    if expression := any_expression(query.excluded):
        found = store.lexical_ids(expression, _UNLIMITED)
        parts.append(found)
        if by is Grouping.DOCUMENT:
            parts += [store.chunk_ids(_titled(library, query.excluded)), store.chunk_ids(_full_of(library, found))]
    return np.unique(np.concatenate(parts)) if parts else None


def _titled(library: Library, words: Sequence[str]) -> Ids:
    return library.store.matching_documents(DocumentFilter(titles=tuple(words)))


def _full_of(library: Library, found: Ids) -> Ids:
    """The documents among whose chunks are the first one or a fifth of all."""
    owners = owners_of(library)
    documents, first, counts = owners.by_document
    having, found_counts = np.unique(owners.of(found), return_counts=True)
    place = np.searchsorted(documents, having)
    return np.asarray(having[np.isin(first[place], found) | (found_counts >= _FULL * counts[place])], dtype=np.int64)


def _phrase_chunks(library: Library, phrases: tuple[str, ...], by: Grouping) -> Ids | None:
    """The chunks with all of the phrases or, by document, with one of them in a document that has all."""
    expression = match_expression("", phrases=phrases)
    if expression is None:
        return None
    store = library.store
    chunks = store.lexical_ids(expression, _UNLIMITED)
    if len(chunks) or len(phrases) < 2 or by is Grouping.CHUNK:
        return chunks
    found = [store.lexical_ids(match_expression("", phrases=[phrase]) or "", _UNLIMITED) for phrase in phrases]
    owners = [store.chunk_owner(ids) for ids in found]
    common = owners[0]
    for other in owners[1:]:
        common = np.intersect1d(common, other)
    every, owner = np.concatenate(found), np.concatenate(owners)
    return np.unique(every[np.isin(owner, common)])


def _cluster_members(library: Library, wanted: str) -> Ids:
    """The documents of a cluster, named by its number or its label; none when there is no such cluster."""
    kept = library.store.meta_get("clusters") or {}
    members = kept.get("members", {})
    labels = {str(label).casefold(): number for number, label in kept.get("labels", {}).items()}
    number = wanted if wanted in members else labels.get(wanted.casefold(), "")
    return np.array(sorted(members.get(number, ())), dtype=np.int64)
