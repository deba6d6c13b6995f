"""What the pages ask of the engine: one shared library, the searches, the documents; nothing is drawn here.

Streamlit's caches tell answers apart by the arguments whose names begin without an underscore: the library's generation
is one of them wherever an answer changes with the library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from indexer import (
    Counts,
    Grouping,
    Heading,
    Library,
    LibraryNotFoundError,
    Mode,
    SearchOptions,
    SearchResult,
    Settings,
    Span,
    StoredDocument,
    StoredPage,
    load_settings,
    more_like,
    remove,
    rename_cluster,
    search_library,
)

PAGE_SIZE = 10
MOST_PLACES = 100
_PATIENCE = 3.0
"""Seconds that a small change waits for another writer."""
MOST_DOCUMENTS = 200
"""How many documents one search lists over its pages."""


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that decides a result list: what an address of the search page says."""

    text: str = ""
    mode: Mode = Mode.HYBRID
    where: tuple[str, ...] = ()
    like_chunk: int | None = None
    like_document: int | None = None
    more: tuple[int, ...] = ()
    less: tuple[int, ...] = ()

    @property
    def asked(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.text.strip() or self.like_chunk or self.like_document)


def settings() -> Settings:
    """The settings as they are now."""
    return load_settings()


def library() -> Library:
    """The library this server is for, opened once for all sessions.

    Raises LibraryNotFoundError when nothing was ever added, LibraryError when it cannot be opened.
    """
    chosen = settings()
    return _open(chosen.library, chosen)


@st.cache_resource(show_spinner=False)
def _open(directory: Path, _settings: Settings) -> Library:
    return Library.open(directory, _settings)


def empty() -> bool:
    """Whether the library holds no document at all."""
    return library().store.counts().documents == 0


def warm() -> None:
    """Open the library and load the model, so that the first search does not wait for them."""
    opened = library()
    opened.refresh()
    opened.encoder.encode_query(["warm"])


def counts() -> Counts:
    """How much the library holds."""
    return library().store.counts()


def ask(question: Question, k: int = MOST_DOCUMENTS) -> SearchResult:
    """The answer to a question, best first; remembered until the library changes, so that turning pages is free.

    Tags and clusters change without a new generation of the library: a search among them is made each time.
    """
    opened = library()
    if any(name.startswith(("tag=", "cluster=")) for name in question.where):
        return _answer(question, k)
    return _ask(str(opened.directory), opened.store.generation(), question, k)


@st.cache_resource(show_spinner=False, max_entries=128, ttl=900)
def _ask(directory: str, generation: int, question: Question, k: int) -> SearchResult:
    return _answer(question, k)


def _answer(question: Question, k: int) -> SearchResult:
    options = SearchOptions(k=k, mode=question.mode, where=question.where, more=question.more, less=question.less)
    if question.like_chunk is not None:
        return more_like(library(), chunk_id=question.like_chunk, options=options)
    if question.like_document is not None:
        return more_like(library(), document_id=question.like_document, options=options)
    return search_library(library(), question.text, options)


@dataclass(frozen=True, slots=True)
class Facets:
    """What the documents of the library can be filtered by: each value with its number of documents."""

    types: dict[str, int]
    languages: dict[str, int]
    tags: dict[str, int]
    statuses: dict[str, int]
    sources: list[str]


def facets() -> Facets:
    """The filters that make sense for this library."""
    opened = library()
    store = opened.store
    types, languages = _kinds(str(opened.directory), store.generation())
    statuses = {status: count for status, count in store.counts().by_status.items() if count}
    return Facets(types, languages, store.tags(), statuses, [source.path for source in store.sources()])


@st.cache_resource(show_spinner=False, max_entries=8)
def _kinds(directory: str, generation: int) -> tuple[dict[str, int], dict[str, int]]:
    documents = list(library().store.documents())
    types = Counter(document.media_type for document in documents)
    languages = Counter(document.language for document in documents)
    return dict(types.most_common()), dict(languages.most_common())


def document(document_id: int) -> StoredDocument:
    """One document. Raises DocumentNotFoundError."""
    return library().store.document(document_id)


def within(document_id: int, text: str) -> SearchResult:
    """Every place in one document that answers a query, best first."""
    opened = library()
    return _within(str(opened.directory), opened.store.generation(), document_id, text)


@st.cache_resource(show_spinner=False, max_entries=64, ttl=900)
def _within(directory: str, generation: int, document_id: int, text: str) -> SearchResult:
    options = SearchOptions(k=MOST_PLACES, by=Grouping.CHUNK, document=document_id, fold_copies=False)
    return search_library(library(), text, options)


def pages(document_id: int) -> Sequence[StoredPage]:
    """A document's pages, or the stretches of its text."""
    return library().store.pages(document_id)


def headings(document_id: int) -> Sequence[Heading]:
    """A document's headings, counted in its text."""
    return library().store.headings(document_id)


def text(document_id: int, span: Span) -> str:
    """A part of a document's text."""
    return library().store.text(document_id, span)


def chunk_span(document_id: int, chunk_id: int) -> Span | None:
    """Where a chunk stands in its document; None when it is no longer one of this document's."""
    found = library().store.chunks([chunk_id])
    return found[0].chunk.span if found and found[0].document_id == document_id else None


def file_of(document: StoredDocument) -> Path | None:
    """The document's file, where one of its paths still leads to one."""
    return next((path for path in map(Path, document.paths) if path.is_file()), None)


def similar(document_id: int, k: int = 5) -> SearchResult:
    """The documents that are most like this one."""
    return ask(Question(like_document=document_id), k)


def documents() -> list[StoredDocument]:
    """Every document, the latest first."""
    return sorted(library().store.documents(), key=lambda document: document.id, reverse=True)


def newest(count: int) -> list[StoredDocument]:
    """The searchable documents that came in last, the latest first."""
    opened = library()
    return _newest(str(opened.directory), opened.store.generation(), count)


@st.cache_resource(show_spinner=False, max_entries=4)
def _newest(directory: str, generation: int, count: int) -> list[StoredDocument]:
    return [document for document in documents() if document.status.searchable][:count]


def nothing_yet() -> bool:
    """Whether there is no library, or nothing in it."""
    try:
        return empty()
    except LibraryNotFoundError:
        return True


def remove_documents(document_ids: Sequence[int]) -> None:
    """Take documents out of the library. Raises LibraryLockedError while another process writes."""
    with _writing() as opened:
        remove(opened, [str(document_id) for document_id in document_ids], wait=_PATIENCE)


def retag(document_ids: Sequence[int], *, added: Collection[str], removed: Collection[str]) -> None:
    """Give documents tags and take others away. Raises LibraryLockedError while another process writes."""
    with _writing() as opened, opened.write_lock(_PATIENCE):
        opened.store.untag(document_ids, sorted(removed))
        opened.store.tag(document_ids, sorted(added))


def rename(cluster: int, label: str) -> None:
    """Give a cluster a label that outlives the next map. Raises LibraryLockedError while another process writes."""
    with _writing() as opened:
        rename_cluster(opened, cluster, label)


def _writing() -> Library:
    """The library opened for writing, for the length of one change."""
    chosen = settings()
    return Library.open(chosen.library, chosen, write=True)
