"""Reading, encoding and storing at the same time: three threads, bounded queues, one transaction a document.

The reading thread runs ahead of the encoder by a bounded number of chunks; the encoder's thread takes whatever waits,
over the borders of documents; this thread, the only one that writes, stores every batch at once (what a killed run has
encoded is never encoded again) and shows a document as soon as its last chunk has its embedding.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from indexer.datatypes import Document, Encoder, FileReport, Status
from indexer.errors import LibraryError
from indexer.ingest.assembling import Assembler, OpenDocument
from indexer.ingest.encoding import WAVE, Credits, Encoded, EncoderDone, Lookahead, encode_all
from indexer.ingest.events import (
    Closed,
    DocumentPart,
    Dropped,
    Event,
    FileDone,
    Known,
    Opened,
    ReaderDone,
    Refused,
    Stages,
    Task,
    Twin,
)
from indexer.ingest.failing import keep_failure
from indexer.ingest.progress import Meter
from indexer.ingest.reading import FileReader, ReadPlan
from indexer.store import Store

AHEAD = 3 * WAVE
"""Chunks that may be between the reader and the store: one wave to be read, one to be encoded, one to be stored."""

_LOOK_UP_SECONDS = 0.25
_END_SECONDS = 3.0  # a reader that hangs in a page ends with its process, not before the run


@dataclass(slots=True)
class _File:
    """A file on disk: how many of its documents are on their way, and the first that was found in an archive."""

    left: int = 0
    read: bool = False
    member: Task | None = None


@dataclass(frozen=True, slots=True)
class _Ended:
    """A document that is dealt with: as it was read, and what was told of it. Its copies share that."""

    read: Document
    report: FileReport


class Pipeline:
    """One run over files. ``report`` hears of every document once it is dealt with; ``tick`` is called now and then."""

    def __init__(
        self,
        store: Store,
        encoder: Encoder,
        meter: Meter,
        report: Callable[[FileReport, Stages], None],
        tick: Callable[[], None],
    ) -> None:
        self._store, self._encoder, self._meter = store, encoder, meter
        self._report, self._tick = report, tick
        self._inbox: queue.SimpleQueue[Event | Encoded | EncoderDone] = queue.SimpleQueue()
        self._lookahead, self._credit = Lookahead(), Credits(AHEAD)
        self._assembler = Assembler(store, self._lookahead, self._credit, meter, self._finished)
        self._current: OpenDocument | None = None
        self._by_sha: dict[str, OpenDocument | _Ended] = {}
        self._files: dict[str, _File] = {}

    @property
    def encoded_tokens(self) -> int:
        return self._assembler.encoded_tokens

    def run(self, tasks: Sequence[Task], plan: ReadPlan, stopping: threading.Event) -> None:
        """Bring every file in. Ends early, after the batch in hand, once ``stopping`` is set.

        Raises what the encoder or the store raises; the documents finished until then are kept.
        """
        reader = FileReader(plan, self._inbox.put, self._credit, stopping)
        encoding = (self._encoder, plan.windowing, self._lookahead, self._inbox.put)
        threads = [
            threading.Thread(target=reader.run, args=(tasks,), name="longdoc-read", daemon=True),
            threading.Thread(target=encode_all, args=encoding, name="longdoc-encode", daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            self._coordinate(stopping)
        except BaseException:
            stopping.set()
            raise
        finally:
            self._lookahead.stop()
            self._credit.close()
            for thread in threads:
                thread.join(timeout=_END_SECONDS)
            self._abandon()

    def _coordinate(self, stopping: threading.Event) -> None:
        reading = encoding = True
        while encoding or (reading and not stopping.is_set()):
            if stopping.is_set():
                self._lookahead.stop()
                self._credit.close()
            try:
                event = self._inbox.get(timeout=_LOOK_UP_SECONDS)
            except queue.Empty:
                self._tick()
                continue
            if isinstance(event, ReaderDone | EncoderDone):
                if event.error is not None:
                    raise event.error
                reading = reading and not isinstance(event, ReaderDone)
                encoding = encoding and not isinstance(event, EncoderDone)
                if not reading:
                    self._lookahead.close()
            else:
                self._handle(event)
                self._tick()

    def _handle(self, event: Event | Encoded) -> None:
        match event:
            case Encoded():
                self._assembler.embed(event)
            case DocumentPart():
                self._assembler.take(self._opened(), event)
            case Opened(task, sha256):
                self._begun(task)
                self._current = self._by_sha[sha256] = self._assembler.open(task, sha256)
            case Closed():
                document, self._current = self._opened(), None
                self._assembler.close(document, event)
            case Dropped():
                self._current = None
            case Known(task, document_id):
                self._begun(task)
                self._known(task, document_id)
            case Twin(task, sha256):
                self._begun(task)
                self._twin(task, sha256)
            case Refused():
                self._begun(event.task)
                self._refused(event)
            case FileDone(task):
                self._files.setdefault(task.on_disk, _File()).read = True
                self._settle(task)

    def _opened(self) -> OpenDocument:
        assert self._current is not None, "parts come between Opened and Closed"
        return self._current

    def _begun(self, task: Task) -> None:
        self._files.setdefault(task.on_disk, _File()).left += 1

    def _finished(self, document: OpenDocument, report: FileReport, stages: Stages) -> None:
        assert document.closed is not None, "a document ends after its last part"
        ended = self._by_sha[document.sha256] = _Ended(document.closed.document, report)
        self._done(document.task, report, stages)
        for task in document.copies:
            self._copy(task, document.sha256, ended)

    def _known(self, task: Task, document_id: int) -> None:
        """A file whose bytes the library has: record where it lies."""
        self._store.link(task.file, document_id)
        known = self._store.document(document_id)
        elsewhere = [path for path in known.paths if path != task.file.path]
        status, reason = Status.UNCHANGED, None
        if task.document_id != document_id:
            reason = f"the same content as {elsewhere[0]}" if elsewhere else None
            if not known.status.searchable:
                status, reason = known.status, known.reason
        report = FileReport(
            path=task.file.path,
            status=status,
            reason=reason,
            document_id=document_id,
            pages=known.page_count,
            chars=known.chars,
            chunks=known.chunk_count,
            tokens=known.tokens,
            coverage=known.coverage,
        )
        self._done(task, report, Stages())

    def _twin(self, task: Task, sha256: str) -> None:
        """A file with the bytes of another of this run: it shares that one's document, now or when it is finished."""
        first = self._by_sha[sha256]
        if isinstance(first, OpenDocument):
            first.copies.append(task)
        else:
            self._copy(task, sha256, first)

    def _copy(self, task: Task, sha256: str, first: _Ended) -> None:
        """A file with the bytes of one that is dealt with: it has the same document, or failed in the same way."""
        report = replace(first.report, path=task.file.path, seconds=0.0)
        if report.status.searchable:
            assert report.document_id is not None, "what is searchable is stored"
            self._store.link(task.file, report.document_id)
            report = replace(report, reason=f"the same content as {first.report.path}")
        else:
            kept = keep_failure(self._store, task, first.read, sha256, twin_id=report.document_id)
            report = replace(report, document_id=kept.document_id, reason=kept.reason)
        self._done(task, report, Stages())

    def _refused(self, event: Refused) -> None:
        """A file whose bytes could not be had. Permissions and the like may change: it is tried again every time."""
        task, document_id = event.task, None
        reason: str | None = event.reason
        if event.vanished:
            self._store.unlink(task.file.path)
        else:
            document = Document("", event.status, event.reason, coverage=0.0)
            kept = keep_failure(self._store, task.unsettled if event.passing else task, document)
            document_id, reason = kept.document_id, kept.reason
        self._done(task, FileReport(task.file.path, event.status, reason, document_id), Stages())

    def _done(self, task: Task, report: FileReport, stages: Stages) -> None:
        self._report(report, stages)
        file = self._files[task.on_disk]
        file.left -= 1
        if task.is_marker and report.document_id is not None:
            file.member = task
        self._settle(task)

    def _settle(self, task: Task) -> None:
        """When all of a file's documents are in, say so: until then an archive counts as changed (see ``Task``)."""
        file = self._files[task.on_disk]
        if file.left or not file.read:
            return
        if file.member is not None:
            self._store.looked_into(file.member.settled.file)
        self._meter.finished(task)
        del self._files[task.on_disk]

    def _abandon(self) -> None:
        """Forget what was half written; its embeddings stay for the next run."""
        for document in self._by_sha.values():
            if isinstance(document, OpenDocument):
                with suppress(LibraryError):  # the disk may be full: the next writer drops what is half written, too
                    self._assembler.abandon(document)
