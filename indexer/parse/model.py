"""What a format's adapter is given and what it gives: raw pages, facts about the document, and how to refuse."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO

from indexer.datatypes import Heading, Span, Status
from indexer.parse.encoding import decode_head
from indexer.parse.options import ReadOptions

NO_TEXT = "a picture of a page without a text layer"
GARBAGE = "its text layer is unreadable: the fonts do not say which characters they show"
NO_PICTURE_TEXT = "a picture"
NEEDS_OCR = (NO_TEXT, GARBAGE)
"""Why a page is unread, where OCR could read it; what to do follows in brackets."""


def ocr_hint(options: ReadOptions, installed: bool) -> str:
    """What a person can do about a page that only OCR can read."""
    if not installed:
        return " (install longdoc[ocr] to have it read)"
    return " (--ocr auto reads it)" if options.ocr == "never" else ""


HEAD_BYTES = 1 << 16
"""How much of a file is looked at to tell its format."""

STRETCH_CHARS = 1 << 16
"""The longest stretch that a format without pages hands over at once."""

_NEVER_TEXT = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x89PNG", b"\xff\xd8\xff")
"""What begins so is not worth guessing an encoding for, which takes as long as reading a dozen pages."""


class UnreadableError(Exception):
    """A document cannot be read, wholly or from here on; carries the status and the reason for the ledger."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page (or, without a number, a stretch) as its format has it; headings and ``drop`` count in ``text``.

    ``join_lines`` says that line breaks inside a paragraph mean nothing, ``close_up`` that spaces between Chinese
    characters mean nothing; ``drop`` are running headers and the like;
    ``unread`` why the page has no usable text.
    """

    text: str
    number: int | None = None
    label: str | None = None
    headings: tuple[Heading, ...] = ()
    drop: tuple[Span, ...] = ()
    join_lines: bool = False
    close_up: bool = False
    unread: str | None = None
    recognised: bool = False


@dataclass(slots=True)
class Facts:
    """What an adapter learns of a document while it reads; complete when its pages are exhausted.

    ``lost_chars`` counts characters that were there and could not be read, in formats without pages.
    """

    media_type: str
    title: str | None = None
    author: str | None = None
    created: str | None = None
    modified: str | None = None
    language: str | None = None
    page_count: int | None = None
    lost_chars: int = 0
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Sample:
    """The beginning of a file, its name's ending and its size: what a format is told by."""

    path: Path
    head: bytes
    suffix: str
    size: int

    @classmethod
    def of(cls, path: Path) -> Sample:
        """Take a sample of a file. Raises OSError when it cannot be opened."""
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        return cls(path, head, path.suffix.lower().lstrip("."), path.stat().st_size)

    @cached_property
    def text(self) -> str | None:
        """The head as text; None when it is not text in any encoding."""
        return None if self.head.startswith(_NEVER_TEXT) else decode_head(self.head)

    @cached_property
    def zip_names(self) -> frozenset[str]:
        """The names inside a zip archive; empty when it is none."""
        if not self.head.startswith(b"PK\x03\x04"):
            return frozenset()
        try:
            with zipfile.ZipFile(self.path) as archive:
                return frozenset(archive.namelist())
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            return frozenset()


@dataclass(frozen=True, slots=True)
class Entry:
    """A file inside a container, before it is unpacked. ``open`` may raise UnreadableError."""

    name: str
    open: Callable[[], IO[bytes]]
    modified: str | None = None


Container = Callable[[Path, ReadOptions], Iterator[Entry]]
"""Lists the files in a file; raises UnreadableError when it cannot go on."""

Extract = Callable[[Path, ReadOptions, Facts], Iterator[RawPage]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format that can be read.

    ``recognise`` says from a sample how sure it is, 0 (it is not) to 100; the surest format reads the file.
    ``needs`` names the optional extra or program, for the table of formats; ``members`` lists the files of a
    container, which is mere when it has no text of its own.
    """

    name: str
    media_type: str
    suffixes: tuple[str, ...]
    library: str
    recognise: Callable[[Sample], int]
    extract: Extract
    needs: str = ""
    members: Container | None = None
    mere_container: bool = False
