"""Work that outlives the browser tab: `longdoc add` and `sync` as processes of their own, followed through records.

A job is a folder below ``jobs`` in the library's directory: ``job.json`` says what was started, ``log`` holds what the
process writes on stderr, one JSON record a line. Whoever opens the page reads the same files.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import psutil

_KEPT = 20
_TAIL = 4_000_000
"""Bytes of a log that are read, from its end: a run over a hundred thousand files writes some thirty megabytes."""


class State(StrEnum):
    """How far a job is."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be read, and why."""

    path: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Job:
    """A run of the engine as its records tell it; ``share`` is the part that is done, 0 to 1."""

    id: str
    what: tuple[str, ...]
    started: str
    state: State
    share: float
    file: str
    files_done: int
    files_total: int
    tokens: int
    tokens_per_second: float
    seconds_left: float | None
    failures: tuple[Failure, ...]
    summary: Mapping[str, int]
    message: str


def start(library: Path, arguments: Sequence[str]) -> str:
    """Start `longdoc` with these arguments in a session of its own and return the job's id."""
    now = datetime.now(UTC)
    folder = library / "jobs" / now.strftime("%Y%m%d-%H%M%S-%f")
    folder.mkdir(parents=True, mode=0o700)
    command = [sys.executable, "-m", "indexer", "--library", str(library), "--log-json", *arguments]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
    record = {
        "what": [part.encode("utf-8", "backslashreplace").decode() for part in arguments],
        "started": now.isoformat(timespec="seconds"),
        "pid": process.pid,
        "born": _born(process.pid),
    }
    (folder / "job.json").write_text(json.dumps(record), encoding="utf-8")
    _forget_old(library)
    return folder.name


def jobs(library: Path) -> list[Job]:
    """The last jobs, latest first."""
    folders = sorted((library / "jobs").glob("*/job.json"), reverse=True)[:_KEPT]
    return [job for folder in folders if (job := _read(folder.parent)) is not None]


def running(library: Path) -> Job | None:
    """The job that is at work, if one is."""
    return next((job for job in jobs(library)[:5] if job.state is State.RUNNING), None)


def stop(library: Path, job_id: str) -> None:
    """Ask a job to end after the batch in hand; what was read until then is kept."""
    folder = library / "jobs" / Path(job_id).name
    record = _record(folder)
    if record is not None and _alive(record):
        (folder / "stop").touch()
        os.kill(int(record["pid"]), signal.SIGTERM)


def _read(folder: Path) -> Job | None:
    record = _record(folder)
    if record is None:
        return None
    events, last_line = _events(folder / "log")
    progress: dict[str, Any] = next((event for event in reversed(events) if event["event"] == "progress"), {})
    done = next((event for event in reversed(events) if event["event"] == "done"), None)
    state = _state(folder, record, done)
    files_total = int(progress.get("files_total", 0))
    return Job(
        id=folder.name,
        what=tuple(record["what"]) if isinstance(record["what"], list) else (),
        started=str(record["started"]),
        state=state,
        share=1.0 if state is State.DONE else _share(progress),
        file=str(progress.get("file", "")),
        files_done=files_total if state is State.DONE else int(progress.get("files_done", 0)),
        files_total=files_total,
        tokens=int((done or progress).get("tokens", 0)),
        tokens_per_second=float((done or progress).get("tokens_per_second", 0.0)),
        seconds_left=progress.get("seconds_left"),
        failures=tuple(_failures(events)),
        summary={name: int(done[name]) for name in ("added", "updated", "unchanged", "failed", "removed")}
        if done
        else {},
        message=last_line if state is State.FAILED else "",
    )


def _state(folder: Path, record: dict[str, Any], done: dict[str, Any] | None) -> State:
    if done is None and _alive(record):
        return State.RUNNING
    if (done or {}).get("stopped") or (done is None and (folder / "stop").exists()):
        return State.STOPPED
    return State.DONE if done else State.FAILED


def _share(progress: Mapping[str, Any]) -> float:
    total = float(progress.get("bytes_total", 0))
    return min(float(progress.get("bytes_done", 0)) / total, 1.0) if total else 0.0


def _failures(events: Sequence[Mapping[str, Any]]) -> list[Failure]:
    good = {"indexed", "unchanged", "removed", "empty"}
    return [
        Failure(str(event.get("path")), str(event.get("status")), str(event.get("reason") or ""))
        for event in events
        if event["event"] == "file" and event.get("status") not in good
    ]


def _events(log: Path) -> tuple[list[dict[str, Any]], str]:
    """The records of a log, and its last line that is none (where the engine says why it could not run)."""
    try:
        with log.open("rb") as file:
            file.seek(max(log.stat().st_size - _TAIL, 0))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return [], ""
    events: list[dict[str, Any]] = []
    last = ""
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            last = line.strip() or last
            continue
        if isinstance(event, dict) and "event" in event:
            events.append(event)
    return events, last.removeprefix("longdoc: ")


def _record(folder: Path) -> dict[str, Any] | None:
    try:
        record = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and {"what", "started", "pid", "born"} <= record.keys() else None


def _alive(record: Mapping[str, Any]) -> bool:
    """Whether the very process of the record still runs: its number may have gone to another one since."""
    pid = int(record["pid"])
    return _born(pid) == record["born"] and record["born"] is not None


def _born(pid: int) -> float | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def _forget_old(library: Path) -> None:
    """Keep the last jobs only; what the library holds does not depend on them."""
    for folder in sorted((library / "jobs").iterdir(), reverse=True)[_KEPT:]:
        record = _record(folder)
        if record is None or not _alive(record):
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()


def wait(library: Path, seconds: float) -> bool:
    """Wait until no job runs; False when one still does after ``seconds``."""
    until = time.monotonic() + seconds
    while running(library) is not None:
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True
