"""Runs parsers in processes of their own that can be killed: a crash, a hang or a blow-up costs one document only."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from indexer.datatypes import Document, Page, Status
from indexer.parse.events import Event, Opened
from indexer.parse.ledger import Ledger
from indexer.parse.model import Facts, UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.process import Worker, WorkerLostError
from indexer.parse.wire import Message, WireError, decode_event, encode_options

_SECONDS_A_PAGE = 1.0
_SECONDS_A_RECOGNISED_PAGE = 30.0
_MOST_DOCUMENTS = 500
"""A worker is replaced after so many documents, so that what a library leaks does not add up."""


class Pool:
    """Idle workers, kept for the next document; as many run at once as documents are read at once."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._owner = os.getpid()

    def take(self, memory_bytes: int) -> Worker:
        """An idle worker with this memory limit, or a new one."""
        with self._lock:
            if self._owner != os.getpid():  # after a fork the pipes belong to the other process
                self._idle, self._owner = [], os.getpid()
            for worker in self._idle:
                if worker.memory_bytes == memory_bytes:
                    self._idle.remove(worker)
                    return worker
        return Worker(memory_bytes)

    def give_back(self, worker: Worker) -> None:
        """Return a worker that has answered its request to the end."""
        worker.documents += 1
        if worker.documents >= _MOST_DOCUMENTS:
            worker.close()
            return
        with self._lock:
            self._idle.append(worker)

    def close(self) -> None:
        """End all idle workers."""
        with self._lock:
            idle, self._idle = self._idle, []
        if self._owner == os.getpid():
            for worker in idle:
                worker.close()


POOL = Pool()
atexit.register(POOL.close)


class Call:
    """A request to a worker, in a ``with``; a worker that has not given its last answer by the end is replaced."""

    def __init__(self, message: Message, options: ReadOptions) -> None:
        self._message = {**message, "options": encode_options(options)}
        self._memory_bytes = options.memory_bytes
        self.reusable = False

    def __enter__(self) -> Call:
        self._worker = POOL.take(self._memory_bytes)
        try:
            self._worker.send(self._message)
        except WorkerLostError:  # it ended while it was idle, so no document is to blame
            self._worker = Worker(self._memory_bytes)
            self._worker.send(self._message)
        return self

    def __exit__(self, *_: object) -> None:
        if self.reusable:
            POOL.give_back(self._worker)
        else:
            self._worker.kill()

    def go_on(self) -> None:
        """Tell a worker that waits that the next answer is wanted."""
        self._worker.send({"next": True})

    def answer(self, seconds: float) -> tuple[Message, float]:
        """The next answer and the seconds waited for it. Raises WorkerLostError."""
        try:
            message, waited = self._worker.receive(seconds)
        except WireError as error:
            raise WorkerLostError(Status.FAILED, "the reader broke over it and answered nonsense") from error
        self.reusable = bool(message.get("last"))
        return message, waited


def read_events(path: Path, options: ReadOptions) -> Iterator[Event]:
    """What ``extract`` yields, from a process of its own.

    Only waiting counts towards the time limit, so that a slow consumer costs a document nothing; each page adds to it.
    """
    facts, ledger, left = Facts("application/octet-stream"), Ledger(), options.seconds
    try:
        with Call({"do": "read", "path": os.fspath(path)}, options) as call:
            while True:
                message, waited = call.answer(left)
                event = _decoded(message)
                if isinstance(event, Opened):
                    facts.media_type, facts.page_count = event.media_type, event.page_count
                elif isinstance(event, Page):
                    ledger.add(event)
                    left += (_SECONDS_A_RECOGNISED_PAGE if event.recognised else _SECONDS_A_PAGE) - waited
                else:
                    call.reusable &= event.status is not Status.TOO_LARGE  # its memory may be in pieces
                yield event
                if isinstance(event, Document):
                    return
    except WorkerLostError as lost:
        reason = f"{lost.reason} of {options.seconds:g} s" if lost.status is Status.TIMED_OUT else lost.reason
        yield ledger.conclude(facts, UnreadableError(lost.status, reason))


def _decoded(message: Message) -> Event:
    try:
        return decode_event(message)
    except WireError as error:
        raise WorkerLostError(Status.FAILED, "the reader broke over it and answered nonsense") from error
