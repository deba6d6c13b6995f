"""The lock of a library's only writer, which the operating system takes away from a process that dies."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from indexer.errors import LibraryError, LibraryLockedError

logger = logging.getLogger(__name__)

LOCK_NAME = "writer.lock"
HOLDER_NAME = "writer.json"
_NETWORK = ("nfs", "cifs", "smb", "afp", "webdav", "davfs", "9p", "ceph", "gluster", "fuse.sshfs", "fuse.rclone")
"""How the names of file systems begin that lie on another machine, as the operating system calls them."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who is writing to a library: a process, its command, and since when (ISO 8601)."""

    pid: int
    command: str
    since: str


@contextmanager
def writer_lock(directory: Path, wait: float = 0.0) -> Iterator[None]:
    """Hold the writer lock of a library's directory; see ``Library.write_lock``."""
    from filelock import FileLock, Timeout

    lock = FileLock(directory / LOCK_NAME, mode=0o600)
    try:
        lock.acquire(timeout=wait, poll_interval=0.1)
    except Timeout as error:
        raise LibraryLockedError(_locked_message(directory)) from error
    except OSError as error:
        raise LibraryError(f"The library at {directory} cannot be written to: {error.strerror}.") from error
    try:
        _write_holder(directory)
        yield
    finally:
        (directory / HOLDER_NAME).unlink(missing_ok=True)
        lock.release()


def current_writer(directory: Path) -> Holder | None:
    """Who holds a library's writer lock, as far as that is known; None when nobody does."""
    return _holder(directory) if _is_locked(directory / LOCK_NAME) else None


def network_disk(directory: Path) -> str | None:
    """The kind of network file system a directory lies on (``nfs4``, ``cifs``); None on a disk of this machine."""
    import psutil

    place = directory.resolve()
    inside = [mount for mount in psutil.disk_partitions(all=True) if place.is_relative_to(mount.mountpoint)]
    if not inside:
        return None
    nearest = max(inside, key=lambda mount: len(mount.mountpoint))
    is_remote = nearest.fstype.lower().startswith(_NETWORK) or "remote" in nearest.opts.split(",")
    return nearest.fstype if is_remote else None


def _write_holder(directory: Path) -> None:
    """Say who writes; a note for people, not part of the lock."""
    note = {"pid": os.getpid(), "command": _command(), "since": datetime.now(UTC).isoformat(timespec="seconds")}
    path = directory / HOLDER_NAME
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            json.dump(note, file)
    except OSError as error:
        # The lock is held all the same; on a full disk, deleting must still be possible.
        logger.warning("Who writes to the library could not be noted (%s).", error)


def _command() -> str:
    """The program and its verb; not its arguments, among which may be a password."""
    verb = next((word for word in sys.argv[1:] if not word.startswith("-") and word.isalpha()), "")
    return f"{Path(sys.argv[0]).name} {verb}".strip()


def _holder(directory: Path) -> Holder | None:
    try:
        note = json.loads((directory / HOLDER_NAME).read_text(encoding="utf-8"))
        return Holder(int(note["pid"]), str(note["command"]), str(note["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # between taking the lock and writing the note there is none yet


def _locked_message(directory: Path) -> str:
    holder = _holder(directory)
    who = "another process" if holder is None else f"process {holder.pid} (`{holder.command}`) since {holder.since}"
    return f"The library at {directory} is being written to by {who}. Wait for it, or use --wait."


def _is_locked(path: Path) -> bool:
    from filelock import FileLock, Timeout

    if not path.exists():
        return False
    try:
        with FileLock(path, timeout=0, mode=0o600):
            return False
    except (Timeout, OSError):
        return True
