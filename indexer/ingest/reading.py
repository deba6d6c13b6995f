"""The reading thread: files to their identity, pages and chunks, a bounded number of chunks ahead of the encoder."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.chunk import TokenCounter, chunk_pages
from indexer.datatypes import Document, Heading, Page, Span, Status, StoredDocument
from indexer.ingest.encoding import Credits
from indexer.ingest.events import (
    Closed,
    DocumentPart,
    Dropped,
    Event,
    FileDone,
    Known,
    Opened,
    ReaderDone,
    ReadFunction,
    Refused,
    Stages,
    Task,
    Twin,
    UnpackFunction,
)
from indexer.ingest.plan import MEMBER_MARK
from indexer.ingest.scan import look_at
from indexer.store import StoredPage
from indexer.windows import Window, Windowing

if TYPE_CHECKING:
    from indexer.parse import Member, Reading, ReadOptions

PART_CHUNKS = 64
"""Chunks handed over at once."""

_HASHED_AT_ONCE = 1 << 20
_WITH_OTHERS = ("message/", "application/pdf")  # documents that may hold others: mails and PDFs with attachments

CHANGED = "the file changed while it was being read; it will be taken up again by the next run"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """How the reading thread works: what reads a file, what counts tokens, how chunks are cut, what is known."""

    read: ReadFunction
    unpack: UnpackFunction
    options: ReadOptions
    count_tokens: TokenCounter
    chunk_tokens: int
    chunk_minimum: int
    windowing: Windowing
    known: Callable[[str], StoredDocument | None]
    """The document made of bytes with this sha256, unless it is to be read anew."""
    at_path: Callable[[str], int | None]
    """The id of the document that lay at a path when the library last looked."""


@dataclass(slots=True)
class _Watch:
    """Pages on their way from the reader to the chunker: what they are and how long they took."""

    pages: list[StoredPage] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    count: int = 0
    chars: int = 0
    read_seconds: float = 0.0

    def watched(self, pages: Iterable[Page]) -> Iterator[Page]:
        started = time.perf_counter()
        for page in pages:
            self.read_seconds += time.perf_counter() - started
            span = Span(self.chars, self.chars + len(page.text))
            self.pages.append(
                StoredPage(self.count, page.number, page.label, span, page.offsets, page.language, page.unread)
            )
            self.headings.extend(
                Heading(heading.level, heading.title, heading.start + self.chars) for heading in page.headings
            )
            self.count += 1
            self.chars = span.end
            yield page
            started = time.perf_counter()
        self.read_seconds += time.perf_counter() - started

    def taken(self) -> tuple[tuple[StoredPage, ...], tuple[Heading, ...]]:
        pages, headings = tuple(self.pages), tuple(self.headings)
        self.pages.clear()
        self.headings.clear()
        return pages, headings


@dataclass(slots=True)
class _Held:
    """What a file turned out to hold: a document that it is itself, others, or a reason why that cannot be told."""

    itself: bool = False
    count: int = 0
    refusal: Refused | None = None


class FileReader:
    """Looks into one file after another and hands over what it finds; runs in a thread of its own."""

    def __init__(
        self, plan: ReadPlan, hand_over: Callable[[Event], None], credit: Credits, stopping: threading.Event
    ) -> None:
        self._plan, self._hand_over, self._credit, self._stopping = plan, hand_over, credit, stopping
        self._met: set[str] = set()

    def run(self, tasks: Sequence[Task]) -> None:
        """Read every file. What goes wrong with one is said of that one; the last event is always ReaderDone."""
        error: Exception | None = None
        try:
            for task in tasks:
                if self._stopping.is_set():
                    break
                self._file(task)
        except Exception as caught:  # the run must hear of it and end
            error = caught
        self._hand_over(ReaderDone(error))

    def _file(self, task: Task) -> None:
        """A file on disk: itself, or the documents that an archive or a mail holds, and then itself."""
        try:
            sha256 = sha256_of(Path(task.file.path))
        except OSError as error:
            self._hand_over(_unopened(task, error))
            self._hand_over(FileDone(task))
            return
        known = self._plan.known(sha256)
        if known is not None and not known.media_type.startswith(_WITH_OTHERS):
            self._hand_over(Known(task, known.id))
        else:
            held = self._members(task)
            if held.itself:
                self._bytes(task, sha256)
            elif held.refusal is not None:
                self._hand_over(held.refusal)
            elif not held.count and not self._stopping.is_set():
                self._hand_over(Refused(task, Status.EMPTY, "there are no documents in it"))
        if not self._stopping.is_set():
            self._hand_over(FileDone(task))

    def _members(self, task: Task) -> _Held:
        """Hand over the documents inside a file, and say what it is itself."""
        held = _Held()
        with self._plan.unpack(Path(task.file.path), self._plan.options) as members:
            for member in members:
                if self._stopping.is_set():
                    break
                if member.name is not None:
                    held.count += 1
                    self._member(task, member.name, member, first=held.count == 1)
                elif member.status is None:
                    held.itself = True
                else:
                    held.refusal = Refused(task, member.status, member.reason or "it could not be unpacked")
        return held

    def _member(self, task: Task, name: str, member: Member, *, first: bool) -> None:
        path = task.file.path + MEMBER_MARK + name
        file = replace(task.file, path=path, mtime_ns=0 if first else task.file.mtime_ns)
        inner = Task(file, self._plan.at_path(path), task.file, member.path, member.bytes)
        if member.path is None:
            status, reason = member.status or Status.FAILED, member.reason or "it could not be unpacked"
            self._hand_over(Refused(inner, status, reason))
            return
        try:
            sha256 = sha256_of(member.path)
        except OSError as error:
            self._hand_over(_unopened(inner, error))
            return
        self._bytes(inner, sha256)

    def _bytes(self, task: Task, sha256: str) -> None:
        """The bytes of one document: known to the library, met in this run before, or new."""
        known = self._plan.known(sha256)
        if known is not None:
            self._hand_over(Known(task, known.id))
        elif sha256 in self._met:
            self._hand_over(Twin(task, sha256))
        else:
            self._met.add(sha256)
            self._hand_over(Opened(task, sha256))
            self._document(task)

    def _document(self, task: Task) -> None:
        watch = _Watch()
        started = time.perf_counter()
        try:
            with self._plan.read(task.content or Path(task.file.path), self._plan.options) as reading:
                if not self._chunks(reading, watch):
                    self._hand_over(Dropped())
                    return
                document = reading.document
        except Exception as error:
            # Reading never raises for what a file contains: this is a fault of ours, and costs this document only.
            logger.exception("reading failed")
            document = Document("", Status.FAILED, f"an internal error ({type(error).__name__}: {error})")
        if changed(task):
            document = Document(document.media_type, Status.FAILED, CHANGED)
        pages, headings = watch.taken()
        if pages:
            self._hand_over(DocumentPart((), pages, headings))
        spent = time.perf_counter() - started
        self._hand_over(Closed(document, Stages(read=watch.read_seconds, chunk=spent - watch.read_seconds)))

    def _chunks(self, reading: Reading, watch: _Watch) -> bool:
        """Hand over the document's chunks; False when the run was stopped on the way."""
        plan = self._plan
        chunks = chunk_pages(
            self._until_stopped(watch.watched(reading)),
            plan.count_tokens,
            chunk_tokens=plan.chunk_tokens,
            minimum=plan.chunk_minimum,
        )
        for windows in _parts(plan.windowing.cut(chunks)):
            if self._stopping.is_set() or not self._credit.take(sum(len(window.chunks) for window in windows)):
                return False
            self._hand_over(DocumentPart(tuple(windows), *watch.taken()))
        return not self._stopping.is_set()

    def _until_stopped(self, pages: Iterator[Page]) -> Iterator[Page]:
        for page in pages:
            yield page
            if self._stopping.is_set():
                return


def _parts(windows: Iterator[Window]) -> Iterator[list[Window]]:
    """Whole windows together, ``PART_CHUNKS`` chunks or a window's more at a time."""
    part: list[Window] = []
    chunks = 0
    for window in windows:
        part.append(window)
        chunks += len(window.chunks)
        if chunks >= PART_CHUNKS:
            yield part
            part, chunks = [], 0
    if part:
        yield part


def sha256_of(path: Path) -> str:
    """The sha256 of a file's bytes, in hex. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_HASHED_AT_ONCE):
            digest.update(block)
    return digest.hexdigest()


def changed(task: Task) -> bool:
    """Whether a file is not any more what it was when the run found it."""
    before = task.container or task.file
    try:
        now = look_at(before.path)
    except OSError:
        return True
    return now is None or (now.size, now.mtime_ns) != (before.size, before.mtime_ns)


def _unopened(task: Task, error: OSError) -> Refused:
    if isinstance(error, FileNotFoundError):
        return Refused(task, Status.FAILED, "the file vanished before it could be read", vanished=True)
    reason = f"the file cannot be opened: {(error.strerror or str(error)).lower()}"
    return Refused(task, Status.FAILED, reason, passing=True)
