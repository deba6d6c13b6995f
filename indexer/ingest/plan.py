"""What a run has to do: which files are new or changed, which are as they were, which are gone."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from indexer.datatypes import FileReport, Status
from indexer.ingest.events import Task
from indexer.ingest.scan import Scan
from indexer.store import FoundFile, Source, Store, StoredFile


@dataclass(frozen=True, slots=True)
class Plan:
    """Files to look into, reports of those that are as they were, and recorded paths where nothing lies any more."""

    tasks: tuple[Task, ...]
    unchanged: tuple[FileReport, ...]
    gone: tuple[StoredFile, ...]
    warnings: tuple[str, ...]

    def without(self, paths: Collection[str]) -> Plan:
        """The plan with some paths left as they are."""
        return replace(
            self,
            tasks=tuple(task for task in self.tasks if task.file.path not in paths),
            gone=tuple(file for file in self.gone if file.path not in paths),
        )


def make_plan(store: Store, roots: Sequence[str], found: Scan, again: frozenset[Status]) -> Plan:
    """Compare what lies on disk with what the library recorded, by size and time of change alone.

    Documents whose status is in ``again`` are looked into once more although their files did not change. A folder that
    had documents and is now empty may be a disk that is not mounted: nothing below it counts as gone.
    """
    recorded = {file.path: file for file in store.files()}
    statuses = _statuses(store, again)
    sources = store.sources()
    tasks: list[Task] = []
    unchanged: list[StoredFile] = []
    for file in found.files:
        known = recorded.get(file.path)
        retry = known is not None and known.document_id in statuses
        if known is not None and not retry and (known.size, known.mtime_ns) == (file.size, file.mtime_ns):
            unchanged.append(known)
        else:
            document_id = known.document_id if known is not None else None
            found_file = replace(file, source_id=source_of(file.path, sources))
            tasks.append(Task(found_file, document_id, retry))
    gone, warnings = _gone(roots, found, recorded)
    return Plan(tuple(tasks), _unchanged_reports(store, unchanged), gone, warnings)


def source_of(path: str, sources: Iterable[Source]) -> int | None:
    """The id of the innermost source that a path lies under."""
    around = [source for source in sources if is_under(path, source.path)]
    return max(around, key=lambda source: len(source.path)).id if around else None


def is_under(path: str, root: str) -> bool:
    """Whether a path is a root or lies somewhere below it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _statuses(store: Store, again: frozenset[Status]) -> set[int]:
    if not again:
        return set()
    return {document.id for document in store.documents(tuple(again))}


def _gone(
    roots: Sequence[str], found: Scan, recorded: Mapping[str, StoredFile]
) -> tuple[tuple[StoredFile, ...], tuple[str, ...]]:
    there = {file.path for file in found.files}
    closed = [unreadable.path for unreadable in found.unreadable]
    gone: dict[str, StoredFile] = {}
    warnings: list[str] = []
    for root in roots:
        below = [file for path, file in recorded.items() if is_under(path, root)]
        missing = [file for file in below if file.path not in there]
        if below and root not in there and not _any_under(found.files, root):
            warnings.append(
                f"{root} is empty now and held {len(below)} documents: they are kept, since a disk may not be mounted. "
                f"`longdoc remove {root}` removes them."
            )
            continue
        gone.update(
            (file.path, file) for file in missing if not any(is_under(file.path, closed_path) for closed_path in closed)
        )
    return tuple(gone.values()), tuple(warnings)


def _any_under(files: Iterable[FoundFile], root: str) -> bool:
    return any(is_under(file.path, root) for file in files)


def _unchanged_reports(store: Store, files: Sequence[StoredFile]) -> tuple[FileReport, ...]:
    documents = store.documents_by_id({file.document_id for file in files})
    reports = []
    for file in files:
        document = documents[file.document_id]
        told = document.status not in (Status.INDEXED, Status.EMPTY)
        reports.append(
            FileReport(
                path=file.path,
                status=Status.UNCHANGED,
                reason=f"{document.status}: {document.reason}" if told else None,
                document_id=document.id,
                pages=document.page_count,
                chars=document.chars,
                chunks=document.chunk_count,
                tokens=document.tokens,
                coverage=document.coverage,
            )
        )
    return tuple(reports)
