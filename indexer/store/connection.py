"""Connections to one SQLite file: one per thread, transactions, and errors in words a person can act on."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from indexer.errors import DamagedError, LibraryError

BUSY_SECONDS = 20.0
CACHE_KIB = 16 * 1024
"""SQLite's page cache a connection; the operating system's own cache does the rest."""


class Connection(sqlite3.Connection):
    """A connection that can be referred to weakly, so that a thread's ends with the thread."""


class Connections:
    """Hands each thread (and each process after a fork) a connection of its own to one library file."""

    def __init__(self, path: Path, *, readonly: bool) -> None:
        self.path = path
        self.readonly = readonly
        self._local = threading.local()
        self._open: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._closed = False

    def get(self) -> sqlite3.Connection:
        """This thread's connection, opened when it is first asked for."""
        if self._closed:
            raise LibraryError(f"The library at {self.path.parent} has been closed.")
        if getattr(self._local, "process", None) != os.getpid():
            with translated(self.path):
                self._local.connection = self._connect()
            self._local.writing = False
            self._local.process = os.getpid()
            with self._lock:
                self._open.add(self._local.connection)
        connection: sqlite3.Connection = self._local.connection
        return connection

    def close(self) -> None:
        """Close every connection that is still open; the object cannot be used afterwards."""
        self._closed = True
        with self._lock:
            for connection in list(self._open):
                connection.close()
            self._open.clear()
        self._local = threading.local()

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """All rows of a query."""
        with translated(self.path):
            return self.get().execute(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Row | None:
        """The first row of a query, or None."""
        with translated(self.path):
            found: sqlite3.Row | None = self.get().execute(sql, parameters).fetchone()
        return found

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of the first row of a query, or None."""
        found = self.row(sql, parameters)
        return None if found is None else found[0]

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Several reads that see one state of the library."""
        with translated(self.path):
            connection = self.get()
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.rollback()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it, or nothing of it when the block raises. Inside another it is part of that one."""
        with translated(self.path):
            connection = self.get()
            if connection.in_transaction:
                if not self._local.writing:
                    raise RuntimeError("a write inside a snapshot would be undone with it")
                yield connection
                return
            connection.execute("BEGIN IMMEDIATE")
            self._local.writing = True
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()
                raise
            finally:
                self._local.writing = False

    def _connect(self) -> Connection:
        location = f"file:{_quoted(self.path)}?mode={'ro' if self.readonly else 'rw'}"
        if self.readonly and not os.access(self.path.parent, os.W_OK) and not _has_log(self.path):
            location += "&immutable=1"  # on read-only media SQLite cannot make the shared-memory file WAL needs
        connection = sqlite3.connect(
            location,
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            factory=Connection,
        )
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("PRAGMA temp_store = MEMORY")
        if not self.readonly:
            # FULL: a committed document survives a power cut; commits are a document each, so a flush is cheap.
            connection.execute("PRAGMA synchronous = FULL")
        return connection


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(os.fsencode(path.absolute()))


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into an error that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explain(error, path.parent) from error


def _explain(error: sqlite3.Error, directory: Path) -> LibraryError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL"):
        return LibraryError(
            f"The disk with the library at {directory} is full; nothing half-written was kept. "
            "Free some space and run the command again."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM")) or (
        name.startswith("SQLITE_CANTOPEN") and not os.access(directory, os.W_OK)
    ):
        return LibraryError(f"The library at {directory} cannot be written to: check the rights of the folder.")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "decode to UTF-8" in str(error):
        what = name or "text that is not UTF-8"  # Python quotes the text: it belongs in no message
        return DamagedError(
            f"The library's file at {directory} is damaged ({what}). Run `longdoc verify` to see what is affected, and "
            "`longdoc restore FILE --replace` to bring a backup back."
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return LibraryError(
            f"The library at {directory} stayed busy for {BUSY_SECONDS:.0f} seconds; try again when "
            "the other command is done."
        )
    if name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_AUTH")):
        return LibraryError(
            f"The library at {directory} could not be read or written ({error}; {name}): check the "
            "disk, its free space and the folder's rights."
        )
    return LibraryError(f"The library at {directory} met an unexpected database error ({error}; {name}).")
