"""What the library keeps of a file that could not be read."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.datatypes import Document, Status
from indexer.ingest.events import Task
from indexer.store import Store, UnreadVersion

STAYS = "; the version read before stays searchable"


@dataclass(frozen=True, slots=True)
class Kept:
    """The document that a path has after a failure: the version before, or one that only says what failed."""

    document_id: int
    reason: str | None


def keep_failure(
    store: Store, task: Task, read: Document, sha256: str | None = None, *, twin_id: int | None = None
) -> Kept:
    """Record that a file could not be read, and why.

    A version that could be read before is worth more than the failure: it stays, and is said to be outdated. A file
    that is now empty was emptied by somebody: that is its new version. ``twin_id`` is what was kept of another file
    with the same bytes.
    """
    before = None if task.document_id is None else store.documents_by_id([task.document_id]).get(task.document_id)
    if before is not None and before.status.searchable and read.status is not Status.EMPTY:
        if sha256 is not None and before.sha256 == sha256:  # the same bytes, asked for again: nothing is outdated
            store.link(task.file, before.id)
        else:
            store.keep_version(task.file, before.id, UnreadVersion(read.status, read.reason))
        return Kept(before.id, (read.reason or read.status.value) + STAYS)
    if twin_id is not None and not store.document(twin_id).status.searchable:
        store.link(task.file, twin_id)
        return Kept(twin_id, read.reason)
    return Kept(store.record_failure(read, task.file, sha256, replaces=task.document_id), read.reason)
