"""What the reading thread tells the thread that stores: documents opened, their chunks in order, how they ended."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from indexer.datatypes import Chunk, Document, Heading, Status
from indexer.windows import Window

if TYPE_CHECKING:
    from indexer.parse import Member, Reading, ReadOptions
    from indexer.store import FoundFile, StoredPage


class ReadFunction(Protocol):
    """How a file becomes pages and a document: ``indexer.parse.read``, or a stand-in for it."""

    def __call__(self, path: Path, options: ReadOptions) -> AbstractContextManager[Reading]: ...


class UnpackFunction(Protocol):
    """How a file gives the documents in it: ``indexer.parse.unpack``, or a stand-in for it."""

    def __call__(self, path: Path, options: ReadOptions) -> AbstractContextManager[Iterable[Member]]: ...


@dataclass(frozen=True, slots=True)
class Task:
    """A file to look into; ``document_id`` is the document that lay there so far.

    A file inside an archive has a ``container`` (its ``file`` carries the container's size and time of change, by which
    the next run knows that nothing changed) and lies at ``content`` for the moment, ``inner_bytes`` long. The first
    member of a container is kept with no time of change until all the others are in: a run that is cut short looks into
    the container again.
    """

    file: FoundFile
    document_id: int | None = None
    container: FoundFile | None = None
    content: Path | None = None
    inner_bytes: int = 0

    @property
    def on_disk(self) -> str:
        """The path of the file that holds the bytes: the container's, for a member."""
        return self.file.path if self.container is None else self.container.path

    @property
    def size_on_disk(self) -> int:
        return self.file.size if self.container is None else self.container.size

    @property
    def bytes(self) -> int:
        return self.file.size if self.container is None else self.inner_bytes

    @property
    def is_marker(self) -> bool:
        """Whether this is the member of a container that is kept unsettled until all the others are in."""
        return self.container is not None and self.file.mtime_ns == 0

    @property
    def unsettled(self) -> Task:
        """The task with a time of change that no file has, so that the next run looks again."""
        return replace(self, file=replace(self.file, mtime_ns=0))

    @property
    def settled(self) -> Task:
        """The task with its container's time of change."""
        return (
            self if self.container is None else replace(self, file=replace(self.file, mtime_ns=self.container.mtime_ns))
        )


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
class Refused:
    """A file whose bytes could not be had: it is not there any more, or (``passing``) that may be otherwise soon."""

    task: Task
    status: Status
    reason: str
    vanished: bool = False
    passing: bool = False


@dataclass(frozen=True, slots=True)
class FileDone:
    """A file has been looked into, with all that it holds."""

    task: Task


@dataclass(frozen=True, slots=True)
class Opened:
    """A document begins; the parts that follow are its own until it is closed."""

    task: Task
    sha256: str


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """The next chunks of the open document, and the pages and headings that were met on the way."""

    windows: tuple[Window, ...]
    pages: tuple[StoredPage, ...] = ()
    headings: tuple[Heading, ...] = ()

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        return tuple(chunk for window in self.windows for chunk in window.chunks)

    @property
    def keys(self) -> tuple[bytes, ...]:
        return tuple(key for window in self.windows for key in window.keys)


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


Event = Known | Twin | Refused | FileDone | Opened | DocumentPart | Closed | Dropped | ReaderDone
