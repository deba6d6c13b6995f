"""Where things are kept: SQLite, FAISS, and the state of the library."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.datatypes import Status
from indexer.doctor.report import Finding, Level, judge
from indexer.errors import LibraryNotFoundError, LongdocError
from indexer.library import Library
from indexer.machine import Processor
from indexer.settings import Settings
from indexer.store import SqliteFacts, sqlite_facts
from indexer.vectors import faiss_build

LAYER = "library"
_OLDEST_SQLITE = (3, 35, 0)  # RETURNING and DROP COLUMN, which migrations use
_UNREADABLE = (Status.FAILED, Status.TIMED_OUT, Status.NEEDS_OCR, Status.ENCRYPTED, Status.TOO_LARGE)


def examine_keeping(settings: Settings, processor: Processor) -> Iterator[Finding]:
    """The lines about SQLite, FAISS and the library of these settings."""
    yield sqlite_finding(sqlite_facts())
    yield faiss_finding(faiss_build(), processor)
    yield from library_findings(settings)


def sqlite_finding(facts: SqliteFacts) -> Finding:
    """SQLite's version and full-text search."""
    text = f"SQLite {'.'.join(map(str, facts.version))}, FTS5 {'yes' if facts.fulltext else 'no'}"
    fail = ""
    if not facts.fulltext:
        fail = "This Python's SQLite has no FTS5, which word search needs: use another build of Python."
    elif facts.version < _OLDEST_SQLITE:
        fail = "This Python's SQLite is older than 3.35: use a newer build of Python."
    return judge(LAYER, "SQLite", text, fail=fail)


def faiss_finding(build: str, processor: Processor) -> Finding:
    """FAISS's SIMD level against the processor's."""
    slow = processor.has("AVX2") and "AVX" not in build.upper()
    warn = "FAISS was built without AVX2: reinstall faiss-cpu as pinned for faster search in large libraries."
    return judge(LAYER, "FAISS", f"faiss {build}", warn=warn if slow else "")


def library_findings(settings: Settings) -> Iterator[Finding]:
    """Whether the library opens, what it holds, and who writes to it."""
    try:
        library = Library.open(settings.library, settings)
    except LibraryNotFoundError:
        yield judge(LAYER, "library", f"none yet at {settings.library}; `longdoc add FOLDER` makes it")
        return
    except LongdocError as error:
        yield Finding(LAYER, "library", Level.FAIL, str(error), "Run `longdoc verify`, or restore a backup.")
        return
    with library:
        store, recipe = library.store, library.store.recipe
        counts = store.counts()
        text = f"{counts.documents} documents, {counts.chunks} chunks, schema {store.schema_version}"
        yield judge(LAYER, "library", f"{text}, at {settings.library}")
        shared = f", sharing windows of {recipe.window} tokens" if recipe.window else ""
        yield judge(
            LAYER,
            "recipe",
            f"{recipe.encoder} {recipe.fingerprint[:12]}, chunks of {recipe.chunk_tokens} tokens{shared}",
        )
        if holder := library.writer:
            yield judge(LAYER, "writer", f"process {holder.pid} ({holder.command}) writes since {holder.since}")
        unread = sum(counts.by_status.get(status, 0) for status in _UNREADABLE)
        advice = "Run `longdoc list` to see which and why." if unread else ""
        yield judge(LAYER, "unread documents", f"{unread} could not be read", warn=advice)
