"""One library's SQLite file: creating it, opening it, and everything that is asked of it."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from indexer.datatypes import Recipe
from indexer.errors import LibraryError, LibraryNotFoundError
from indexer.faults import fault_point
from indexer.files import passing_file
from indexer.store.chunks import ChunkReader
from indexer.store.connection import Connections, translated
from indexer.store.documents import DocumentReader
from indexer.store.fulltext import FullText
from indexer.store.recipes import insert_recipe
from indexer.store.records import RecipeState
from indexer.store.schema import SCHEMA_VERSION, migrate, schema_version
from indexer.store.upkeep import Upkeep

FILE_NAME = "library.sqlite3"


class Store(DocumentReader, ChunkReader, FullText, Upkeep):
    """Everything that is kept of one library. Safe to use from many threads: each has a connection of its own.

    Reading never waits for the writer. Whoever writes holds the library's writer lock (``indexer.library``).
    """

    @classmethod
    def create(cls, directory: Path, recipe: Recipe) -> Store:
        """Make a new library file in a directory, readable by its user alone. Raises LibraryError when there is one."""
        path = directory / FILE_NAME
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            with passing_file(path) as unfinished:
                with contextlib.closing(Connections(unfinished, readonly=False)) as connections:
                    with translated(unfinished):
                        migrate(connections.get())
                    with connections.writing() as connection:
                        insert_recipe(connection, recipe, RecipeState.ACTIVE)
                    cls(connections).renew_identity()
                fault_point("store.create")
                os.link(unfinished, path)  # unlike a rename, it does not take the place of a library made meanwhile
        except FileExistsError as error:
            raise LibraryError(f"There is a library at {directory} already.") from error
        except OSError as error:
            raise LibraryError(f"No library can be made at {directory}: {error.strerror}.") from error
        fault_point("store.created")
        return cls.open(directory)

    @classmethod
    def open(cls, directory: Path, *, readonly: bool = False) -> Store:
        """Open the library file in a directory.

        Raises LibraryNotFoundError when there is none, LibraryError when a newer program wrote it, or when an older one
        did and it is opened for reading only (opened for writing, it is brought up to date).
        """
        path = directory / FILE_NAME
        if not is_library(directory):
            raise LibraryNotFoundError(f"There is no library at {directory}. `longdoc add FOLDER` makes one.")
        connections = Connections(path, readonly=readonly)
        with translated(path):
            version = schema_version(connections.get())
            if version > SCHEMA_VERSION:
                raise LibraryError(
                    f"The library at {directory} was written by a newer longdoc (schema {version}, this one knows "
                    f"{SCHEMA_VERSION}): update longdoc."
                )
            if version < SCHEMA_VERSION and readonly:
                raise LibraryError(
                    f"The library at {directory} was written by an older longdoc: run `longdoc verify --repair` once "
                    "to bring it up to date."
                )
            if version < SCHEMA_VERSION:
                migrate(connections.get())
            if not readonly:
                connections.get().execute("PRAGMA journal_mode = WAL")  # a restored copy does not have it yet
        return cls(connections)

    @property
    def schema_version(self) -> int:
        """How many migrations the file has seen."""
        with translated(self.path):
            return schema_version(self._connections.get())

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def renew_identity(self) -> None:
        """Make this another library than the one it was copied from."""
        self.meta_set("identity", uuid.uuid4().hex)

    def meta_set(self, key: str, value: Any) -> None:
        """Keep a small derived value (anything JSON can say) under a key; None forgets it."""
        with self._connections.writing() as connection:
            if value is None:
                connection.execute("DELETE FROM meta WHERE key = ?", [f"value:{key}"])
            else:
                connection.execute(
                    "INSERT OR REPLACE INTO meta VALUES (?, ?)", [f"value:{key}", json.dumps(value, ensure_ascii=False)]
                )


def is_outdated(directory: Path) -> bool:
    """Whether a directory holds a library of an older program, which is to be brought up to date by a writer."""
    path = directory / FILE_NAME
    if not is_library(directory):
        return False
    with contextlib.closing(Connections(path, readonly=True)) as connections, translated(path):
        return schema_version(connections.get()) < SCHEMA_VERSION


def is_library(directory: Path) -> bool:
    """Whether a directory holds a library; one whose creation was cut short holds none yet."""
    path = directory / FILE_NAME
    return path.is_file() and path.stat().st_size > 0
