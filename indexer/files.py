"""Files that are seen whole or not at all: written beside their place under a passing name, then moved there."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from indexer.faults import fault_point

_PASSING = re.compile(r"\.(?P<name>.+)\.(?P<process>\d+)\.[^.]+\.tmp(?:\.d|-wal|-shm|-journal)?")
"""A passing name says whose it is: what a killed process left behind can be told from what another is writing."""


@contextlib.contextmanager
def passing_file(path: Path) -> Iterator[Path]:
    """An empty file beside ``path``, readable by its user alone; gone afterwards unless it was moved to its place.

    What killed processes left of earlier attempts at the same path is swept away. Raises OSError when nothing can be
    written there.
    """
    sweep(path.parent, path.name)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.{os.getpid()}.", suffix=".tmp")
    os.close(descriptor)
    try:
        yield Path(name)
    finally:
        for leftover in (name, f"{name}-wal", f"{name}-shm", f"{name}-journal"):
            Path(leftover).unlink(missing_ok=True)


def write_atomically(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file, readable by its user alone, and move it to its place when all of it is on the disk."""
    with passing_file(path) as temporary:
        with temporary.open("wb") as file:
            file.writelines(parts)
            fault_point("files.write")
        move(temporary, path)


def move(temporary: Path, path: Path) -> None:
    """Flush a file to the disk and give it its name in one step."""
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    temporary.replace(path)
    fault_point("files.moved")


def sweep(directory: Path, name: str | None = None) -> None:
    """Delete what processes that are gone left under passing names in a directory, of one file or of any."""
    for path in directory.glob(".*.tmp*"):
        found = _PASSING.fullmatch(path.name)
        if found is None or (name is not None and found["name"] != name) or _is_alive(int(found["process"])):
            continue
        with contextlib.suppress(OSError):  # another process may be sweeping too
            if path.is_dir():
                for inner in path.iterdir():
                    inner.unlink()
                path.rmdir()
            else:
                path.unlink()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
