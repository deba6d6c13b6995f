"""Documents on their way into the store: parts that wait for embeddings, written in order, shown when complete."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from indexer.datatypes import Document, FileReport, Status, Vector
from indexer.ingest.encoding import Credits, Encoded, Lookahead
from indexer.ingest.events import Closed, DocumentPart, Stages, Task
from indexer.ingest.failing import Kept, keep_failure
from indexer.ingest.progress import Meter
from indexer.ingest.reading import CHANGED
from indexer.pooling import DocumentPooling
from indexer.store import DocumentWriter, Store
from indexer.windows import Window


@dataclass(slots=True)
class _Pending:
    """A part of a document, and the keys of its chunks that are still being encoded."""

    part: DocumentPart
    missing: set[bytes]


@dataclass(slots=True)
class OpenDocument:
    """A document on its way; ``copies`` are further files with the same bytes, which will share it."""

    task: Task
    sha256: str
    pooling: DocumentPooling
    writer: DocumentWriter | None = None
    copies: list[Task] = field(default_factory=list)
    parts: deque[_Pending] = field(default_factory=deque)
    closed: Closed | None = None
    chunks: int = 0
    chars: int = 0
    tokens: int = 0
    encode_seconds: float = 0.0
    store_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A chunk that gets its embedding when a text is encoded."""

    document: OpenDocument
    pending: _Pending
    tokens: int


Finished = Callable[[OpenDocument, FileReport, Stages], None]


class Assembler:
    """Brings chunks and embeddings together, in the one thread that writes. ``finished`` hears of whole documents."""

    def __init__(self, store: Store, lookahead: Lookahead, credit: Credits, meter: Meter, finished: Finished) -> None:
        self._store, self._lookahead, self._credit = store, lookahead, credit
        self._meter, self._finished = meter, finished
        self._recipe = store.recipe
        self._waiting: dict[bytes, list[_Waiting]] = {}
        self.encoded_tokens = 0

    def open(self, task: Task, sha256: str) -> OpenDocument:
        """Begin a document that nobody sees yet; it is begun in the store with its first chunk."""
        return OpenDocument(task, sha256, DocumentPooling(self._recipe.document_pooling, self._recipe.dimension))

    def take(self, document: OpenDocument, part: DocumentPart) -> None:
        """Take a part in: reuse the embeddings the library has, and let the encoder have the other windows."""
        known = self._store.embeddings_by_hash({key for key in part.keys if key not in self._waiting})
        pending = _Pending(part, set(part.keys) - known.keys())
        document.parts.append(pending)
        self._lookahead.put([window for window in part.windows if self._await(document, pending, window, known)])
        self._advance(document)

    def _await(self, document: OpenDocument, pending: _Pending, window: Window, known: Mapping[bytes, Vector]) -> bool:
        """Note which embeddings of a window a document waits for; True when one of them was not asked for before."""
        asked = False
        for chunk, key in zip(window.chunks, window.keys, strict=True):
            if key in known:
                document.pooling.add(known[key], chunk.tokens)
                self._meter.ready(chunk.tokens)
                continue
            asked = asked or key not in self._waiting
            self._waiting.setdefault(key, []).append(_Waiting(document, pending, chunk.tokens))
        return asked

    def close(self, document: OpenDocument, closed: Closed) -> None:
        """Take note that a document has no further parts."""
        document.closed = closed
        self._advance(document)

    def embed(self, batch: Encoded) -> None:
        """Store a batch at once, and bring on the documents whose chunks it held, in one transaction."""
        with self._store.together():
            self._embed(batch)
        self._lookahead.stored()

    def _embed(self, batch: Encoded) -> None:
        started = time.perf_counter()
        rows: dict[bytes, Vector] = dict(zip(batch.keys, batch.rows, strict=True))
        self._store.put_embeddings(rows)
        spent = time.perf_counter() - started
        # a window may hold chunks whose embeddings the library had already: nobody waits for those
        waiting = {key: self._waiting.pop(key) for key in batch.keys if key in self._waiting}
        tokens = sum(first.tokens for first, *_ in waiting.values())
        self.encoded_tokens += tokens
        self._meter.encoded(tokens)
        touched: dict[int, OpenDocument] = {}
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

    def _advance(self, document: OpenDocument) -> None:
        """Write the parts at the front whose embeddings are all there; finish the document when nothing is left."""
        started = time.perf_counter()
        with self._store.together():
            while document.parts and not document.parts[0].missing:
                part = document.parts.popleft().part
                writer = self._writer(document)
                if part.chunks:
                    writer.write(part.chunks, part.keys)
                writer.pages(part.pages, part.headings)
                self._count(document, part)
            document.store_seconds += time.perf_counter() - started
            if document.closed is not None and not document.parts:
                self._finish(document, document.closed)

    def _writer(self, document: OpenDocument) -> DocumentWriter:
        if document.writer is None:
            document.writer = self._store.begin(document.sha256, document.task.bytes, "")
        return document.writer

    def _count(self, document: OpenDocument, part: DocumentPart) -> None:
        self._credit.give(len(part.chunks))
        tokens = sum(chunk.tokens for chunk in part.chunks)
        document.chunks += len(part.chunks)
        document.chars += sum(len(chunk.text) for chunk in part.chunks)
        document.tokens += tokens
        reached = None
        if document.closed is not None and (chars := document.closed.document.chars):
            reached = min(document.chars / chars, 1.0)
        written = sum(len(chunk.text.encode("utf-8", "replace")) for chunk in part.chunks)
        self._meter.dealt_with(document.task, tokens, written, reached)

    def _finish(self, document: OpenDocument, closed: Closed) -> None:
        started = time.perf_counter()
        read = closed.document
        if read.status.searchable and not document.chunks:
            read = replace(read, status=Status.EMPTY, reason=read.reason or "there is no text in it")
        stages = replace(closed.stages, encode=document.encode_seconds, store=document.store_seconds)
        if read.status.searchable:
            kept = Kept(
                self._writer(document).finish(
                    read,
                    document.pooling.embedding,
                    seconds=stages.total,
                    files=[document.task.file],
                    replaces=document.task.document_id,
                ),
                read.reason,
            )
        else:
            self.abandon(document)
            kept = self._fail(document, read)
        stages = replace(stages, store=stages.store + time.perf_counter() - started)
        self._finished(document, _report(document, read, kept, stages), stages)

    def abandon(self, document: OpenDocument) -> None:
        """Forget what was written of a document; its embeddings stay for the next run."""
        if document.writer is not None:
            document.writer.abandon()

    def _fail(self, document: OpenDocument, read: Document) -> Kept:
        """Keep why a document has no text. One that changed under the reader is looked at again by the next run."""
        if read.reason == CHANGED:
            return keep_failure(self._store, document.task.unsettled, read)
        return keep_failure(self._store, document.task, read, document.sha256)


def _report(document: OpenDocument, read: Document, kept: Kept, stages: Stages) -> FileReport:
    return FileReport(
        path=document.task.file.path,
        status=read.status,
        reason=kept.reason,
        document_id=kept.document_id,
        pages=read.page_count,
        chars=document.chars,
        chunks=document.chunks,
        tokens=document.tokens,
        coverage=read.coverage,
        seconds=stages.total,
        remarks=read.remarks,
    )
