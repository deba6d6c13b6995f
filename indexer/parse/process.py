"""One parser process: started with little of the environment, asked in frames, ended when it must be."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from indexer.datatypes import Status
from indexer.parse.wire import HEADER, MOST_FRAME_BYTES, Message, WireError, pack, unpack

WORKER_MODULE = "indexer.parse.worker"
_START_SECONDS = 60.0
_PIPE_BYTES = 1 << 20


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
