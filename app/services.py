"""What the pages ask of the engine: one shared library, the searches, the documents; nothing is drawn here.

Streamlit's caches tell answers apart by the arguments whose names begin without an underscore: the library's generation
is one of them wherever an answer changes with the library.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from app import jobs
from indexer import (
    Boilerplate,
    Clustering,
    Comparison,
    Counts,
    DuplicateReport,
    Finding,
    Group,
    Grouping,
    Heading,
    Library,
    LibraryNotFoundError,
    Mode,
    Pair,
    Relation,
    SearchOptions,
    SearchResult,
    Settings,
    Span,
    StoredDocument,
    StoredPage,
    StoredRun,
    compare,
    diagnose,
    growth_picture,
    last_growth,
    last_needle,
    load_clusters,
    load_settings,
    more_like,
    needle_picture,
    remove,
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
    """The answer to a question, best first; remembered until the library changes, so that turning pages is free."""
    opened = library()
    return _ask(str(opened.directory), opened.store.generation(), question, k)


@st.cache_resource(show_spinner=False, max_entries=128, ttl=900)
def _ask(directory: str, generation: int, question: Question, k: int) -> SearchResult:
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
    return _facets(str(opened.directory), opened.store.generation())


@st.cache_resource(show_spinner=False, max_entries=8)
def _facets(directory: str, generation: int) -> Facets:
    store = library().store
    types: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    for document in store.documents():
        types[document.media_type] += 1
        languages[document.language] += 1
        statuses[document.status.value] += 1
    return Facets(
        dict(types.most_common()),
        dict(languages.most_common()),
        store.tags(),
        dict(statuses.most_common()),
        [source.path for source in store.sources()],
    )


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


@dataclass(frozen=True, slots=True)
class FoundDuplicates:
    """What the last comparison of all documents found, when it was made, and whether the library has changed since."""

    report: DuplicateReport
    started: str
    stale: bool


def duplicates() -> FoundDuplicates | None:
    """What the last comparison found; None when there never was one. Documents that are gone since are left out."""
    opened = library()
    found = jobs.result(opened.directory, "duplicates")
    if found is None:
        return None
    job, printed = found
    generation = opened.store.generation()
    report = _duplicates(str(opened.directory), generation, job.id, printed)
    return FoundDuplicates(report, job.started, printed.get("generation") != generation)


@st.cache_resource(show_spinner=False, max_entries=4)
def _duplicates(directory: str, generation: int, job: str, _printed: Mapping[str, Any]) -> DuplicateReport:
    return as_report(_printed, {document.id: document for document in documents()})


def as_report(printed: Mapping[str, Any], known: Mapping[int, StoredDocument]) -> DuplicateReport:
    """The report that `longdoc duplicates --json` printed, for the documents that are still known."""
    groups = []
    for one in printed["groups"]:
        members = tuple(known[document["id"]] for document in one["documents"] if document["id"] in known)
        pairs = tuple(_pair(pair) for pair in one["pairs"] if pair["a"] in known and pair["b"] in known)
        if pairs or (len(members) == 1 and len(members[0].paths) > 1):
            keep = one["keep"]
            groups.append(
                Group(one["id"], Relation(one["relation"]), members, pairs, one["through"], keep["id"], keep["reason"])
            )
    boilerplate = tuple(Boilerplate(**text) for text in printed["boilerplate"])
    return DuplicateReport(
        tuple(groups), boilerplate, printed["documents"], printed["compared_pairs"], printed["seconds"]
    )


def _pair(printed: Mapping[str, Any]) -> Pair:
    shares = (printed["similarity"], printed["share_a_in_b"], printed["share_b_in_a"], printed["in_order"])
    return Pair(printed["a"], printed["b"], Relation(printed["relation"]), *shares, printed["shared_chunks"])


def compared(a: int, b: int) -> Comparison:
    """Two documents compared. Raises DocumentNotFoundError."""
    return compare(library(), a, b)


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


def _writing() -> Library:
    """The library opened for writing, for the length of one change."""
    chosen = settings()
    return Library.open(chosen.library, chosen, write=True)


def runs() -> list[StoredRun]:
    """The last runs that changed the library, oldest first."""
    return library().store.runs()


def unread_count() -> int:
    """Of how many documents nothing or not all could be read."""
    counted = {} if nothing_yet() else counts().by_status
    return sum(count for status, count in counted.items() if status != "indexed")


def unread() -> list[StoredDocument]:
    """The documents of which nothing could be read, the latest first."""
    return [document for document in documents() if not document.status.searchable]


@st.cache_resource(show_spinner=False, ttl=120)
def doctor() -> tuple[Finding, ...]:
    """What the doctor says of this machine, without the proof that takes long."""
    return diagnose(settings(), prove=False).findings


def growth_shown() -> str | None:
    """The curves of the last `longdoc probe growth` on this machine as a data address; None without one."""
    growth = last_growth(settings())
    return _picture("growth", repr(growth), lambda: growth_picture(growth)) if growth and growth.costs else None


def needle_shown() -> str | None:
    """The maps of the last `longdoc probe needle` on this machine as a data address; None without one."""
    needle = last_needle(settings())
    return _picture("needle", repr(needle), lambda: needle_picture(needle)) if needle and needle.results else None


@st.cache_resource(show_spinner=False, max_entries=4)
def _picture(kind: str, measured: str, _draw: Callable[[], bytes]) -> str:
    return data_address(_draw())


def data_address(png: bytes) -> str:
    """A PNG as an address that holds the picture itself."""
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"


def clusters() -> Clustering | None:
    """The clusters as they were made last; None when they never were."""
    return load_clusters(library())
