"""Runs parsers in processes of their own that can be killed: a crash, a hang or a blow-up costs one document only."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from indexer.datatypes import Document, Page, Status
from indexer.parse.events import Event, Opened
from indexer.parse.ledger import Ledger
from indexer.parse.model import Facts, UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.wire import HEADER, MOST_FRAME_BYTES, Message, WireError, decode_event, encode_options, pack, unpack

WORKER_MODULE = "indexer.parse.worker"
_START_SECONDS = 60.0
_SECONDS_A_PAGE = 1.0
_SECONDS_A_RECOGNISED_PAGE = 30.0
_PIPE_BYTES = 1 << 20
_MOST_DOCUMENTS = 500
"""A worker is replaced after so many documents, so that what a library leaks does not add up."""


class WorkerLostError(Exception):
    """A parser process ended, or had to be ended; ``status`` and ``reason`` are for the ledger."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Worker:
    """One parser process and its two pipes."""

    def __init__(self, memory_bytes: int) -> None:
        self.memory_bytes = memory_bytes
        self.documents = 0
        self.scratch = Path(tempfile.mkdtemp(prefix="longdoc-"))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", WORKER_MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(self.scratch),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout.fileno()
        with contextlib.suppress(OSError, AttributeError):  # a larger pipe only lets the parser run further ahead
            fcntl.fcntl(self._output, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._buffer = bytearray()
        self.send({"memory_bytes": memory_bytes, "scratch": os.fspath(self.scratch)})
        ready, _ = self.receive(_START_SECONDS)
        self.protections = tuple(map(str, ready.get("ready", ())))

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def send(self, message: Message) -> None:
        """Send a request. Raises WorkerLostError when the process is gone."""
        try:
            self._input.write(pack(message))
            self._input.flush()
        except OSError as error:
            raise self._lost() from error

    def receive(self, seconds: float) -> tuple[Message, float]:
        """The next message and how long was waited for it. Raises WorkerLostError after ``seconds`` or at its end."""
        began = time.monotonic()
        while (body := self._frame()) is None:
            left = seconds - (time.monotonic() - began)
            if left <= 0 or not select.select([self._output], [], [], left)[0]:
                self.kill()
                raise WorkerLostError(Status.TIMED_OUT, "reading was stopped at the time limit")
            piece = os.read(self._output, _PIPE_BYTES)
            if not piece:
                raise self._lost()
            self._buffer += piece
        return unpack(body), time.monotonic() - began

    def _frame(self) -> bytes | None:
        if len(self._buffer) < HEADER.size:
            return None
        end = HEADER.size + HEADER.unpack_from(self._buffer)[0]
        if end > MOST_FRAME_BYTES:
            raise WireError("a frame is too long")
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[HEADER.size : end])
        del self._buffer[:end]
        return body

    def _lost(self) -> WorkerLostError:
        code = self._process.wait()
        self.kill()
        if code >= 0:
            return WorkerLostError(Status.FAILED, f"the reader ended over it (exit code {code})")
        name = signal.Signals(-code).name
        if -code in (signal.SIGKILL, signal.SIGABRT):
            return WorkerLostError(Status.FAILED, f"the reader was ended over it ({name}; often for want of memory)")
        return WorkerLostError(Status.FAILED, f"the reader crashed over it ({name})")

    def close(self) -> None:
        """Let the process end by itself, then make sure."""
        with contextlib.suppress(OSError):
            self._input.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=0.5)
        self.kill()

    def kill(self) -> None:
        """End the process and whatever it started, now."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe.close() if pipe is not None else None
        shutil.rmtree(self.scratch, ignore_errors=True)


def _environment(scratch: Path) -> dict[str, str]:
    """What a parser may know of the environment: where modules lie, and that it has one thread."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH") if name in os.environ}
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    paths = os.pathsep.join(entry for entry in sys.path if entry)
    places = {"PYTHONPATH": paths, "TMPDIR": os.fspath(scratch), "HOME": os.fspath(scratch)}
    return {**kept, **threads, **places, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", "MALLOC_ARENA_MAX": "2"}


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
