"""What the reading thread tells the thread that stores: documents opened, their chunks in order, how they ended."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from indexer.datatypes import Chunk, Document, Heading

if TYPE_CHECKING:
    from indexer.parse import Reading, ReadOptions
    from indexer.store import FoundFile, StoredPage


class ReadFunction(Protocol):
    """How a file becomes pages and a document: ``indexer.parse.read``, or a stand-in for it."""

    def __call__(self, path: Path, options: ReadOptions) -> AbstractContextManager[Reading]: ...


@dataclass(frozen=True, slots=True)
class Task:
    """A file to look into; ``document_id`` is the document that lay there so far, ``retry`` whether to read it anew."""

    file: FoundFile
    document_id: int | None = None
    retry: bool = False


@dataclass(frozen=True, slots=True)
class Stages:
    """Seconds of work that a document took, by stage; stages of different documents run at the same time."""

    read: float = 0.0
    chunk: float = 0.0
    encode: float = 0.0
    store: float = 0.0

    @property
    def total(self) -> float:
        return self.read + self.chunk + self.encode + self.store


@dataclass(frozen=True, slots=True)
class Known:
    """The library has these bytes already, as ``document_id``."""

    task: Task
    document_id: int


@dataclass(frozen=True, slots=True)
class Twin:
    """The same bytes were met in this run before."""

    task: Task
    sha256: str


@dataclass(frozen=True, slots=True)
class Unopened:
    """A file whose bytes could not be had; ``vanished`` when it is not there any more."""

    task: Task
    reason: str
    vanished: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A document begins; the parts that follow are its own until it is closed."""

    task: Task
    sha256: str


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """The next chunks of the open document, and the pages and headings that were met on the way."""

    chunks: tuple[Chunk, ...]
    keys: tuple[bytes, ...]
    pages: tuple[StoredPage, ...] = ()
    headings: tuple[Heading, ...] = ()


@dataclass(frozen=True, slots=True)
class Closed:
    """The open document has been read to its end."""

    document: Document
    stages: Stages


@dataclass(frozen=True, slots=True)
class Dropped:
    """The open document is given up because the run was stopped."""


@dataclass(frozen=True, slots=True)
class ReaderDone:
    """All files have been looked into, or the reading thread has failed."""

    error: Exception | None = field(default=None)


Event = Known | Twin | Unopened | Opened | DocumentPart | Closed | Dropped | ReaderDone
