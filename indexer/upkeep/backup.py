"""Backups: one consistent file written beside a working writer, and the way back from it, checked before it counts."""

from __future__ import annotations

import contextlib
import logging
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from indexer.errors import DamagedError, LibraryError
from indexer.faults import fault_point
from indexer.files import move, passing_file
from indexer.library import Library, drop_indexes
from indexer.lock import writer_lock
from indexer.store import FILE_NAME, Store, check_copy, is_library

logger = logging.getLogger(__name__)


def backup(library: Library, path: Path, *, overwrite: bool = False) -> int:
    """Write a backup of a library to one file, readable by its user alone; returns its size in bytes.

    The file is complete and checked before it appears under its name. Raises LibraryError when there is a file of that
    name and ``overwrite`` is off, or when it cannot be written.
    """
    if path.exists() and not overwrite:
        raise LibraryError(f"There is a file {path} already; choose another name, or use --overwrite.")
    with _beside(path) as temporary:
        library.store.copy_to(temporary)
        check_copy(temporary)
        fault_point("backup.written")
        move(temporary, path)
    fault_point("backup.done")
    return path.stat().st_size


def restore(path: Path, directory: Path, *, replace: bool = False, wait: float = 0.0) -> None:
    """Make a directory's library what a backup holds. The backup is checked in full before anything is replaced.

    An existing library is replaced only when ``replace`` is set, in one transaction that readers see whole; one too
    damaged for that is moved aside, not deleted. Raises LibraryError or DamagedError otherwise.
    """
    if not path.is_file():
        raise LibraryError(f"There is no backup file {path}.")
    if is_library(directory) and not replace:
        raise LibraryError(f"There is a library at {directory} already; use --replace to put the backup in its place.")
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise LibraryError(f"{directory} cannot be made: {error.strerror}.") from error
    with writer_lock(directory, wait), _beside(directory / FILE_NAME) as temporary:
        _copy(path, temporary)
        check_copy(temporary)
        damaged = _renew(temporary)
        if damaged and is_library(directory):
            raise DamagedError(
                f"{damaged} documents in {path} are damaged, so nothing was replaced. Restore into an empty directory "
                "(`longdoc --library DIR restore FILE`) to see what is left of it."
            )
        fault_point("restore.checked")
        if is_library(directory):
            _replace(directory, temporary)
        else:
            move(temporary, directory / FILE_NAME)
    drop_indexes(directory)
    Store.open(directory).close()  # an older backup is brought up to date
    if damaged:
        logger.warning("%d documents in the backup are damaged; `longdoc verify` names them.", damaged)


def _replace(directory: Path, copy: Path) -> None:
    """Put a copy in the place of a library that may be damaged."""
    try:
        with Store.open(directory) as store:
            store.replace_with(copy)
        return
    except DamagedError:
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    aside = directory / f"damaged-{stamp}"
    aside.mkdir(mode=0o700)
    for name in (f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", FILE_NAME):
        if (directory / name).exists():
            (directory / name).replace(aside / name)
    fault_point("restore.aside")
    move(copy, directory / FILE_NAME)


def _renew(path: Path) -> int:
    """Give a copy an identity of its own, so that no index of the library it came from is taken for its own.

    Returns how many of its documents are damaged in a way that SQLite's own checks do not see.
    """
    staging = path.with_name(f"{path.name}.d")
    staging.mkdir(mode=0o700)
    try:
        path.replace(staging / FILE_NAME)
        with Store.open(staging) as store:
            store.renew_identity()
            damaged = sum(bool(store.check_document(int(one))) for one in store.document_ids())
            store.set_aside_log()
        (staging / FILE_NAME).replace(path)
    finally:
        shutil.rmtree(staging)
    return damaged


def _copy(source: Path, target: Path) -> None:
    try:
        with source.open("rb") as read, target.open("wb") as written:
            shutil.copyfileobj(read, written, 1 << 20)
            fault_point("restore.copy")
    except OSError as error:
        raise LibraryError(f"{source} could not be copied to {target.parent}: {error.strerror}.") from error


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[Path]:
    try:
        with passing_file(path) as temporary:
            yield temporary
    except OSError as error:
        raise LibraryError(f"{path} could not be written: {error.strerror or error}.") from error
