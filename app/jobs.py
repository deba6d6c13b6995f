"""Work that outlives the browser tab: verbs of `longdoc` as processes of their own, followed through records.

A job is a folder below ``jobs`` in the library's directory: ``job.json`` says what was started, ``log`` holds what the
process writes on stderr, one JSON record a line, ``result`` what it prints. Whoever opens a page reads the same files.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import psutil

_KEPT = 20
_SUMMARY = ("added", "updated", "unchanged", "failed", "removed")
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
    """A run of the engine as its records tell it.

    ``share`` is the part that is done, 0 to 1, None while nobody knows; ``step`` what is being done just now, in the
    engine's words, where the work is not a matter of files.
    """

    id: str
    verb: str
    started: str
    state: State
    share: float | None
    step: str
    file: str
    files_done: int
    files_total: int
    tokens: int
    tokens_per_second: float
    seconds_left: float | None
    failures: tuple[Failure, ...]
    summary: Mapping[str, int]
    message: str


CHUNKS = "--chunks"
"""Makes topics of chunks what `clusters` prints."""


def start(library: Path, arguments: Sequence[str]) -> str:
    """Start `longdoc` with these arguments in a session of its own and return the job's id."""
    now = datetime.now(UTC)
    folder = library / "jobs" / now.strftime("%Y%m%d-%H%M%S-%f")
    folder.mkdir(parents=True, mode=0o700)
    command = [sys.executable, "-m", "indexer", "--library", str(library), "--log-json", *arguments]
    with (folder / "log").open("wb") as log, (folder / "result").open("wb") as result:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=result,
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
    return [job for folder in _folders(library)[:_KEPT] if (job := _read(folder)) is not None]


def last(library: Path, *verbs: str) -> Job | None:
    """The latest job of one of these verbs."""
    return next((job for folder in _folders(library) if _verb(folder) in verbs and (job := _read(folder))), None)


def running(library: Path) -> Job | None:
    """The job that is at work, if one is."""
    alive = (folder for folder in _folders(library)[:5] if (record := _record(folder)) and _alive(record))
    return next((job for folder in alive if (job := _read(folder)) and job.state is State.RUNNING), None)


def result(library: Path, verb: str) -> tuple[Job, dict[str, Any]] | None:
    """The latest job of a verb that came to its end, with the JSON document it printed."""
    for folder in _folders(library):
        if _verb(folder) == verb and (job := _read(folder)) is not None and job.state is State.DONE:
            try:
                printed = json.loads((folder / "result").read_bytes())
            except (OSError, ValueError):
                continue
            return job, printed
    return None


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
        verb=_verb(folder),
        started=str(record["started"]),
        state=state,
        share=1.0 if state is State.DONE else _share(progress),
        step=str(progress.get("stage", "")),
        file=str(progress.get("file", "")),
        files_done=files_total if state is State.DONE else int(progress.get("files_done", 0)),
        files_total=files_total,
        tokens=int((done or progress).get("tokens", 0)),
        tokens_per_second=float((done or progress).get("tokens_per_second", 0.0)),
        seconds_left=progress.get("seconds_left"),
        failures=tuple(_failures(events)),
        summary={name: int(done[name]) for name in _SUMMARY if name in done} if done else {},
        message=last_line if state is State.FAILED else "",
    )


def _state(folder: Path, record: dict[str, Any], done: dict[str, Any] | None) -> State:
    if _alive(record):
        return State.RUNNING  # also after its last record: what it prints comes later
    if (done or {}).get("stopped") or (done is None and (folder / "stop").exists()):
        return State.STOPPED
    return State.DONE if done else State.FAILED


def _share(progress: Mapping[str, Any]) -> float | None:
    """The part that is done: of the bytes where files are read, else of the steps or documents."""
    for done, total in (("bytes_done", "bytes_total"), ("done", "total")):
        if progress.get(total):
            return min(float(progress.get(done, 0)) / float(progress[total]), 1.0)
    return None


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


def _folders(library: Path) -> list[Path]:
    """The folders of all jobs, latest first."""
    return sorted((path.parent for path in (library / "jobs").glob("*/job.json")), reverse=True)


def _verb(folder: Path) -> str:
    """What a job was for: its verb, with what makes another report of it."""
    record = _record(folder)
    what = record["what"] if record and isinstance(record["what"], list) else []
    return " ".join(str(part) for part in what[:1] + [part for part in what[1:] if part == CHUNKS])


def _forget_old(library: Path) -> None:
    """Keep the last jobs only, and the last result of each verb; what the library holds does not depend on them."""
    kept: set[str] = set()
    for place, folder in enumerate(sorted((library / "jobs").iterdir(), reverse=True)):
        record, result = _record(folder), folder / "result"
        verb = _verb(folder) if result.exists() and result.stat().st_size else ""
        if place >= _KEPT and (record is None or not _alive(record)) and (not verb or verb in kept):
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()
        kept.add(verb)
