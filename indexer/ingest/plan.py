"""What a run has to do: which files are new or changed, which are as they were, which are gone."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from indexer.datatypes import FileReport, Status, StoredDocument
from indexer.ingest.events import Task
from indexer.ingest.failing import STAYS
from indexer.ingest.scan import Scan
from indexer.store import FoundFile, Source, Store, StoredFile

MEMBER_MARK = "!/"
"""Stands between an archive's path and the name of a file inside it, as in ``indexer.parse``."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run has to do.

    ``tasks`` are files to look into, and ``behind`` the paths recorded of each so far (an archive's members);
    ``unchanged`` tells of those that are as they were; ``gone`` are recorded paths where nothing lies any more.
    """

    tasks: tuple[Task, ...]
    behind: Mapping[str, tuple[str, ...]]
    unchanged: tuple[FileReport, ...]
    gone: tuple[StoredFile, ...]
    warnings: tuple[str, ...]

    def without(self, paths: Collection[str]) -> Plan:
        """The plan with some files left as they are."""
        return replace(
            self,
            tasks=tuple(task for task in self.tasks if task.file.path not in paths),
            gone=tuple(file for file in self.gone if not any(is_under(file.path, path) for path in paths)),
        )


def make_plan(store: Store, roots: Sequence[str], found: Scan, again: frozenset[Status]) -> Plan:
    """Compare what lies on disk with what the library recorded, by size and time of change alone.

    Documents whose status is in ``again`` are looked into once more although their files did not change. A folder that
    had documents and is now empty may be a disk that is not mounted: nothing below it counts as gone.
    """
    recorded = _by_file(store, {file.path for file in found.files})
    retried = _ids_with(store, again)
    sources = store.sources()
    tasks: list[Task] = []
    behind: dict[str, tuple[str, ...]] = {}
    unchanged: list[StoredFile] = []
    for file in found.files:
        known = recorded.get(file.path, [])
        if known and all(
            _is_as_it_was(one, file)
            and one.document_id not in retried
            and (one.unread is None or one.unread.status not in again)
            for one in known
        ):
            unchanged.extend(known)
            continue
        document_id = next((one.document_id for one in known if one.path == file.path), None)
        tasks.append(Task(replace(file, source_id=source_of(file.path, sources)), document_id))
        behind[file.path] = tuple(one.path for one in known)
    gone, warnings = _gone(roots, found, recorded)
    return Plan(tuple(tasks), behind, _unchanged_reports(store, unchanged), gone, warnings)


def source_of(path: str, sources: Iterable[Source]) -> int | None:
    """The id of the innermost source that a path lies under."""
    around = [source for source in sources if is_under(path, source.path)]
    return max(around, key=lambda source: len(source.path)).id if around else None


def is_under(path: str, root: str) -> bool:
    """Whether a path is a root, lies somewhere below it, or inside it when it is an archive."""
    return path == root or path.startswith((root.rstrip(os.sep) + os.sep, root + MEMBER_MARK))


def _is_as_it_was(recorded: StoredFile, file: FoundFile) -> bool:
    return (recorded.size, recorded.mtime_ns) == (file.size, file.mtime_ns)


def _by_file(store: Store, there: Collection[str]) -> dict[str, list[StoredFile]]:
    """What is recorded, by the path of the file on disk that holds it."""
    recorded: dict[str, list[StoredFile]] = {}
    for file in store.files():
        recorded.setdefault(_on_disk(file.path, there), []).append(file)
    return recorded


def _on_disk(path: str, there: Collection[str]) -> str:
    """The archive that a member's path lies in, if that is there; else the path itself."""
    place = path.find(MEMBER_MARK)
    while place >= 0 and path not in there:
        if path[:place] in there:
            return path[:place]
        place = path.find(MEMBER_MARK, place + 1)
    return path


def _ids_with(store: Store, statuses: frozenset[Status]) -> set[int]:
    return {document.id for document in store.documents(tuple(statuses))} if statuses else set()


def _gone(
    roots: Sequence[str], found: Scan, recorded: Mapping[str, list[StoredFile]]
) -> tuple[tuple[StoredFile, ...], tuple[str, ...]]:
    there = {file.path for file in found.files}
    closed = [unreadable.path for unreadable in found.unreadable]
    gone: dict[str, StoredFile] = {}
    warnings: list[str] = []
    for root in roots:
        below = [path for path in recorded if is_under(path, root)]
        if below and not any(is_under(path, root) for path in there):
            warnings.append(
                f"{root} is empty now and held {len(below)} documents: they are kept, since a disk may not be mounted. "
                f"`longdoc remove {root}` removes them."
            )
            continue
        for path in below:
            if path not in there and not any(is_under(path, one) for one in closed):
                gone.update((file.path, file) for file in recorded[path])
    return tuple(gone.values()), tuple(warnings)


def _standing(file: StoredFile, document: StoredDocument) -> str | None:
    """What is to be said of a file that did not change since it was looked into."""
    if file.unread is not None:
        return f"{file.unread.status}: {file.unread.reason}{STAYS}"
    told = document.status not in (Status.INDEXED, Status.EMPTY)
    return f"{document.status}: {document.reason}" if told else None


def _unchanged_reports(store: Store, files: Sequence[StoredFile]) -> tuple[FileReport, ...]:
    documents = store.documents_by_id({file.document_id for file in files})
    reports = []
    for file in files:
        document = documents[file.document_id]
        reports.append(
            FileReport(
                path=file.path,
                status=Status.UNCHANGED,
                reason=_standing(file, document),
                document_id=document.id,
                pages=document.page_count,
                chars=document.chars,
                chunks=document.chunk_count,
                tokens=document.tokens,
                coverage=document.coverage,
            )
        )
    return tuple(reports)
