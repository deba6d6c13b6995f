"""The way into the room: ``read`` a document as a stream of pages, and know at the end what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from indexer.datatypes import Document, Page
from indexer.parse.conversion import converted, needed_target, program
from indexer.parse.events import Event, Opened
from indexer.parse.extract import extract
from indexer.parse.ledger import Ledger
from indexer.parse.model import Facts, UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.sandbox import read_events


class Reading:
    """A document being read: iterate over its pages, then ask for its ``document``. Use it in a ``with``."""

    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events
        self._document: Document | None = None
        self.page_count: int | None = None

    def __enter__(self) -> Reading:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Page]:
        for event in self._events:
            if isinstance(event, Page):
                yield event
            elif isinstance(event, Opened):
                self.page_count = event.page_count
            else:
                self._document = event

    @property
    def document(self) -> Document:
        """What is known of the document; complete once its pages are exhausted, RuntimeError before."""
        if self._document is None:
            raise RuntimeError("the document is known only after all its pages have been taken")
        return self._document

    def close(self) -> None:
        """Stop reading; what reads the document is given back or ended."""
        if (close := getattr(self._events, "close", None)) is not None:
            close()


def read(path: Path, options: ReadOptions) -> Reading:
    """Begin to read a document. Nothing that a file contains or lacks raises: the ledger of ``document`` says it."""
    return Reading(_events(path, options))


def _events(path: Path, options: ReadOptions) -> Iterator[Event]:
    events = read_events if options.sandbox else extract
    target = needed_target(path)
    if target is None or program() is None:
        yield from events(path, options)
        return
    facts = Facts(f"application/x-{path.suffix.lstrip('.') or target}")
    try:
        with converted(path, target, options.seconds) as new:
            yield from events(new, options)
    except UnreadableError as error:
        yield Ledger().conclude(facts, error)
