"""Reading, encoding and storing at the same time: three threads, bounded queues, one transaction a document.

The reading thread runs ahead of the encoder by a bounded number of chunks; the encoder's thread takes whatever waits,
over the borders of documents; this thread, the only one that writes, stores every batch at once (what a killed run has
encoded is never encoded again) and shows a document as soon as its last chunk has its embedding.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from indexer.datatypes import Document, Encoder, FileReport, Status, Vector
from indexer.ingest.encoding import Credits, Encoded, EncoderDone, Lookahead, Text, encode_all
from indexer.ingest.events import (
    Closed,
    DocumentPart,
    Dropped,
    Event,
    Known,
    Opened,
    ReaderDone,
    Stages,
    Task,
    Twin,
    Unopened,
)
from indexer.ingest.progress import Meter
from indexer.ingest.reading import CHANGED, FileReader, ReadPlan
from indexer.pooling import DocumentPooling
from indexer.store import DocumentWriter, Store

AHEAD = 4_096
"""Chunks that may be between the reader and the store: about two waves of the encoder."""

_LOOK_UP_SECONDS = 0.25


@dataclass(slots=True)
class _Pending:
    """A part of a document, and the keys of its chunks that are still being encoded."""

    part: DocumentPart
    missing: set[bytes]


@dataclass(slots=True)
class _OpenDocument:
    """A document on its way into the store."""

    task: Task
    sha256: str
    writer: DocumentWriter
    pooling: DocumentPooling
    parts: deque[_Pending] = field(default_factory=deque)
    copies: list[Task] = field(default_factory=list)
    closed: Closed | None = None
    chunks: int = 0
    chars: int = 0
    tokens: int = 0
    credited: int = 0
    encode_seconds: float = 0.0
    store_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A chunk that gets its embedding when a text is encoded."""

    document: _OpenDocument
    pending: _Pending
    tokens: int


class Pipeline:
    """One run over files. ``report`` hears of every file once it is dealt with; ``tick`` is called now and then."""

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
        self._lookahead, self._credits = Lookahead(), Credits(AHEAD)
        self._waiting: dict[bytes, list[_Waiting]] = {}
        self._current: _OpenDocument | None = None
        self._by_sha: dict[str, _OpenDocument | FileReport] = {}
        self.encoded_tokens = 0

    def run(self, tasks: Sequence[Task], plan: ReadPlan, stopping: threading.Event) -> None:
        """Bring every file in. Ends early, after the batch in hand, once ``stopping`` is set.

        Raises what the encoder or the store raises; the documents finished until then are kept.
        """
        reader = FileReader(plan, self._inbox.put, self._credits, stopping)
        threads = [
            threading.Thread(target=reader.run, args=(tasks,), name="longdoc-read", daemon=True),
            threading.Thread(
                target=encode_all,
                args=(self._encoder, self._lookahead, self._inbox.put),
                name="longdoc-encode",
                daemon=True,
            ),
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
            self._credits.close()
            for thread in threads:
                thread.join(timeout=10)
            self._abandon()

    def _coordinate(self, stopping: threading.Event) -> None:
        reading = encoding = True
        while reading or encoding:
            if stopping.is_set():
                self._lookahead.stop()
                self._credits.close()
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
                self._encoded(event)
            case DocumentPart():
                self._part(event)
            case Opened(task, sha256):
                writer = self._store.begin(sha256, task.file.size, "")
                pooling = DocumentPooling(self._store.recipe.document_pooling, self._encoder.dimension)
                self._current = _OpenDocument(task, sha256, writer, pooling)
                self._by_sha[sha256] = self._current
            case Closed():
                document = self._opened()
                document.closed = event
                self._current = None
                self._advance(document)
            case Dropped():
                self._current = None
            case Known(task, document_id):
                self._link(task, document_id)
            case Twin(task, sha256):
                self._twin(task, sha256)
            case Unopened():
                self._unopened(event)

    def _opened(self) -> _OpenDocument:
        assert self._current is not None, "parts come between Opened and Closed"
        return self._current

    def _part(self, part: DocumentPart) -> None:
        """Take a part in: reuse the embeddings the library has, and let the encoder have the other texts."""
        document = self._opened()
        unasked = {key for key in part.keys if key not in self._waiting}
        known = self._store.embeddings_by_hash(unasked)
        pending = _Pending(part, set(part.keys) - known.keys())
        document.parts.append(pending)
        texts: list[Text] = []
        for chunk, key in zip(part.chunks, part.keys, strict=True):
            if key in known:
                document.pooling.add(known[key], chunk.tokens)
                continue
            if key not in self._waiting:
                self._waiting[key] = []
                texts.append(Text(key, chunk.text))
            self._waiting[key].append(_Waiting(document, pending, chunk.tokens))
        self._lookahead.put(texts)
        self._advance(document)

    def _encoded(self, batch: Encoded) -> None:
        """Store a batch, and bring on the documents whose chunks it held."""
        started = time.perf_counter()
        rows: dict[bytes, Vector] = dict(zip(batch.keys, batch.rows, strict=True))
        self._store.put_embeddings(rows)
        spent = time.perf_counter() - started
        waiting = {key: self._waiting.pop(key) for key in batch.keys}
        tokens = sum(first.tokens for first, *_ in waiting.values())
        self.encoded_tokens += tokens
        self._meter.encoded(tokens)
        touched: dict[int, _OpenDocument] = {}
        for key, waiters in waiting.items():
            share = waiters[0].tokens / max(tokens, 1)
            waiters[0].document.encode_seconds += share * batch.seconds
            waiters[0].document.store_seconds += share * spent
            for one in waiters:
                one.document.pooling.add(rows[key], one.tokens)
                one.pending.missing.discard(key)
                touched[id(one.document)] = one.document
        for document in touched.values():
            self._advance(document)

    def _advance(self, document: _OpenDocument) -> None:
        """Write the parts at the front whose embeddings are all there; finish the document when nothing is left."""
        started = time.perf_counter()
        while document.parts and not document.parts[0].missing:
            part = document.parts.popleft().part
            if part.chunks:
                document.writer.write(part.chunks)
            document.writer.pages(part.pages, part.headings)
            self._count(document, part)
        document.store_seconds += time.perf_counter() - started
        if document.closed is not None and not document.parts:
            self._finish(document, document.closed)

    def _count(self, document: _OpenDocument, part: DocumentPart) -> None:
        self._credits.give(len(part.chunks))
        tokens = sum(chunk.tokens for chunk in part.chunks)
        document.chunks += len(part.chunks)
        document.chars += sum(len(chunk.text) for chunk in part.chunks)
        document.tokens += tokens
        size = document.task.file.size
        if document.closed is not None and (chars := document.closed.document.chars):
            reached = int(size * min(document.chars / chars, 1.0))
        else:
            written = sum(len(chunk.text.encode("utf-8", "replace")) for chunk in part.chunks)
            reached = min(document.credited + written, int(size * 0.95))
        reached = max(reached, document.credited)
        self._meter.dealt_with(document.task.file, reached - document.credited, tokens)
        document.credited = reached

    def _finish(self, document: _OpenDocument, closed: Closed) -> None:
        started = time.perf_counter()
        read = closed.document
        if read.status.searchable and not document.chunks:
            read = replace(read, status=Status.EMPTY, reason=read.reason or "there is no text in it")
        stages = replace(closed.stages, encode=document.encode_seconds, store=document.store_seconds)
        if read.status.searchable:
            document_id = document.writer.finish(
                read,
                document.pooling.embedding,
                seconds=stages.total,
                files=[task.file for task in (document.task, *document.copies)],
                replaces=document.task.document_id,
            )
        else:
            document.writer.abandon()
            document_id = self._record(document, read)
        stages = replace(stages, store=stages.store + time.perf_counter() - started)
        report = _report(document, read, document_id, stages)
        self._by_sha[document.sha256] = report
        self._meter.dealt_with(document.task.file, document.task.file.size - document.credited, 0)
        self._done(report, stages)
        for task in document.copies:
            self._done(_same(task, report), Stages())

    def _record(self, document: _OpenDocument, read: Document) -> int:
        """Keep why a document has no text. One that changed under the reader is looked at again by the next run."""
        unsettled = read.reason == CHANGED
        file = replace(document.task.file, mtime_ns=0) if unsettled else document.task.file
        sha256 = None if unsettled else document.sha256
        document_id = self._store.record_failure(read, file, sha256, replaces=document.task.document_id)
        for task in document.copies:
            self._store.link(task.file, document_id)
        return document_id

    def _link(self, task: Task, document_id: int) -> None:
        """A file whose bytes the library has: record where it lies."""
        self._store.link(task.file, document_id)
        known = self._store.document(document_id)
        elsewhere = [path for path in known.paths if path != task.file.path]
        status, reason = Status.UNCHANGED, None
        if task.document_id != document_id:
            reason = f"the same content as {elsewhere[0]}" if elsewhere else None
            if not known.status.searchable:
                status, reason = known.status, known.reason
        self._meter.dealt_with(task.file, task.file.size, 0)
        self._done(
            FileReport(
                path=task.file.path,
                status=status,
                reason=reason,
                document_id=document_id,
                pages=known.page_count,
                chars=known.chars,
                chunks=known.chunk_count,
                tokens=known.tokens,
                coverage=known.coverage,
            ),
            Stages(),
        )

    def _twin(self, task: Task, sha256: str) -> None:
        """A file with the bytes of another of this run: it shares that one's document, now or when it is finished."""
        first = self._by_sha[sha256]
        if isinstance(first, _OpenDocument):
            first.copies.append(task)
        elif first.document_id is not None:
            self._store.link(task.file, first.document_id)
            self._meter.dealt_with(task.file, task.file.size, 0)
            self._done(_same(task, first), Stages())

    def _unopened(self, event: Unopened) -> None:
        file = event.task.file
        document_id = None
        if event.vanished:
            self._store.unlink(file.path)
        else:
            document = Document("", Status.FAILED, event.reason, coverage=0.0)
            unsettled = replace(file, mtime_ns=0)  # so that the next run tries again
            document_id = self._store.record_failure(document, unsettled, replaces=event.task.document_id)
        self._meter.dealt_with(file, file.size, 0)
        self._done(FileReport(file.path, Status.FAILED, event.reason, document_id), Stages())

    def _done(self, report: FileReport, stages: Stages) -> None:
        self._meter.finished()
        self._report(report, stages)

    def _abandon(self) -> None:
        """Forget what was half written; its embeddings stay for the next run."""
        for document in self._by_sha.values():
            if isinstance(document, _OpenDocument):
                document.writer.abandon()


def _report(document: _OpenDocument, read: Document, document_id: int, stages: Stages) -> FileReport:
    return FileReport(
        path=document.task.file.path,
        status=read.status,
        reason=read.reason,
        document_id=document_id,
        pages=read.page_count,
        chars=document.chars,
        chunks=document.chunks,
        tokens=document.tokens,
        coverage=read.coverage,
        seconds=stages.total,
        remarks=read.remarks,
    )


def _same(task: Task, first: FileReport) -> FileReport:
    reason = first.reason if not first.status.searchable else f"the same content as {first.path}"
    return replace(first, path=task.file.path, reason=reason, seconds=0.0)
