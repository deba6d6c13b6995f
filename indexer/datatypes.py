"""The values that pass between the stages: frozen, typed, and knowing nothing of how they are made or kept."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
"""Embeddings, shape (n, dimension), float32, every row of unit length."""

Vector = NDArray[np.float32]
"""One embedding, shape (dimension,), float32, unit length."""

Ids = NDArray[np.int64]
"""Chunk or document ids, shape (n,)."""


def text_hash(text: str) -> bytes:
    """Identity of a chunk's text for reuse: 16 bytes of BLAKE2b over the text without surrounding white space."""
    return hashlib.blake2b(text.strip().encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Status(StrEnum):
    """What became of a document; the last two are said of a run only and never stored."""

    INDEXED = "indexed"
    PARTIAL = "partial"
    NEEDS_OCR = "needs_ocr"
    ENCRYPTED = "encrypted"
    UNSUPPORTED = "unsupported"
    EMPTY = "empty"
    FAILED = "failed"
    TOO_LARGE = "too_large"
    TIMED_OUT = "timed_out"
    UNCHANGED = "unchanged"
    REMOVED = "removed"

    @property
    def searchable(self) -> bool:
        """Whether a document with this status has text that a search can find."""
        return self in (Status.INDEXED, Status.PARTIAL)


class Mode(StrEnum):
    """Which sides of the search take part."""

    HYBRID = "hybrid"
    DENSE = "dense"
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters: ``text[start:end]``."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span needs 0 <= start <= end, not {self.start}..{self.end}")

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """The characters of ``text`` inside this span."""
        return text[self.start : self.end]

    def shifted(self, by: int) -> Span:
        """The same span in a text that has ``by`` more characters in front."""
        return Span(self.start + by, self.end + by)


@dataclass(frozen=True, slots=True)
class OffsetMap:
    """Where cleaned characters came from: runs of (cleaned start, original start), both ascending.

    Inside a run both sides advance together, one character each. A cleaned character that stands for several originals
    (a ligature's parts, a joined line break) begins a new run. ``length`` and ``original_length`` close the last run.
    """

    runs: tuple[tuple[int, int], ...]
    length: int
    original_length: int

    @classmethod
    def identity(cls, length: int) -> OffsetMap:
        """The map of a text that cleaning left as it was."""
        return cls(((0, 0),), length, length)

    def to_original(self, span: Span) -> Span:
        """The smallest original span that covers a cleaned one."""
        start = self._locate(span.start)
        end = self._locate(span.end - 1) + 1 if len(span) else start
        following = bisect_right(self.runs, (span.end - 1, self.original_length))
        if len(span) and following < len(self.runs) and self.runs[following][0] == span.end:
            end = max(end, self.runs[following][1])
        return Span(start, min(max(start, end), self.original_length))

    def _locate(self, offset: int) -> int:
        run = max(bisect_right(self.runs, (offset, self.original_length)) - 1, 0)
        cleaned, original = self.runs[run]
        return min(original + offset - cleaned, self.original_length)


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A place on a page as it is shown: fractions, 0 to 1, of its width from the left and its height from the top."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Heading:
    """A title inside a text; ``start`` counts from the text it stands in (a page's, or the document's)."""

    level: int
    title: str
    start: int


@dataclass(frozen=True, slots=True)
class Page:
    """A page's cleaned text, or, in formats without pages, a bounded stretch of the text (``number`` is None then).

    The document's text is the concatenation of its pages' texts; a page's headings count from its own start. A page
    whose text could not be read has a reason in ``unread`` and hardly any text; ``recognised`` text comes from OCR.
    """

    text: str
    offsets: OffsetMap
    number: int | None = None
    label: str | None = None
    headings: tuple[Heading, ...] = ()
    language: str = "und"
    unread: str | None = None
    recognised: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """What is known of a file once it has been read: what it says of itself and how much of it was readable.

    ``coverage`` is the share of pages (or characters, without pages) whose text was read, 0 to 1; dates are ISO 8601.
    """

    media_type: str
    status: Status
    reason: str | None = None
    title: str | None = None
    author: str | None = None
    created: str | None = None
    modified: str | None = None
    language: str = "und"
    page_count: int | None = None
    chars: int = 0
    coverage: float = 1.0
    unread_pages: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document, of whole sentences where it can be: what is encoded and found.

    Chunks tile their document: every character of its text is in exactly one, in order, so that their texts put
    together are the document's text, and ``span.of(document text) == text``.
    """

    position: int
    span: Span
    text: str
    tokens: int
    first_page: int | None = None
    last_page: int | None = None
    headings: tuple[str, ...] = ()
    language: str = "und"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a library was built with; anything that does not match it is refused, never mixed.

    ``window`` is how many tokens of consecutive chunks share one pass of the encoder; 0: each chunk has its own.
    """

    encoder: str
    fingerprint: str
    dimension: int
    query_prompt: str
    document_prompt: str
    encoder_pooling: str
    chunk_tokens: int = 192
    chunk_minimum: int = 24
    document_pooling: str = "weighted"
    window: int = 0


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """Some of the texts handed to an encoder, as soon as they are done: where they stood, their rows, their tokens."""

    positions: Ids
    rows: Matrix
    tokens: int


@runtime_checkable
class Encoder(Protocol):
    """Texts to unit rows. Long texts are the caller's to cut: what exceeds ``max_tokens`` raises, nothing is cut."""

    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str:
        """Hex digest of the weights, the tokenizer and the pooling: equal fingerprints give equal embeddings."""
        ...

    @property
    def dimension(self) -> int: ...
    @property
    def max_tokens(self) -> int:
        """Content tokens that fit in one window, without prompt and special tokens."""
        ...

    @property
    def query_prompt(self) -> str: ...
    @property
    def document_prompt(self) -> str: ...
    @property
    def pooling(self) -> str: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Content tokens of each text, without prompt and special tokens."""
        ...

    def prepare(self) -> None:
        """Load what encoding needs, so that the first batch takes no longer than those that follow."""
        ...

    def encode_in_batches(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        """Encode documents' texts in the order that suits the machine, each batch handed out once it is done."""
        ...

    def encode_windows(self, windows: Sequence[Sequence[str]]) -> Iterator[EncodedBatch]:
        """Encode consecutive chunks of a document in one pass, each row pooled from its own chunk's tokens.

        A window is those chunks' texts, ``max_tokens`` together at most; positions count the chunks of all windows.
        """
        ...

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Encode documents' texts; the rows stand in the order of the texts."""
        ...

    def encode_query(self, texts: Sequence[str]) -> Matrix: ...


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as the library keeps it.

    ``outdated`` tells of paths where a newer version lies that could not be read: this is the one before.
    """

    id: int
    sha256: str
    paths: tuple[str, ...]
    status: Status
    reason: str | None
    title: str
    author: str | None
    created: str | None
    modified: str | None
    language: str
    media_type: str
    bytes: int
    page_count: int | None
    chars: int
    tokens: int
    chunk_count: int
    coverage: float
    unread_pages: tuple[int, ...]
    remarks: tuple[str, ...]
    tags: tuple[str, ...]
    added: str
    seconds: float
    outdated: tuple[str, ...] = ()

    @property
    def display_title(self) -> str:
        """What a person sees as its name: its title, else its file's name without the ending."""
        return self.title or (PurePath(self.paths[0]).stem if self.paths else f"document {self.id}")


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the library keeps it; ``chunk.span`` counts in its document's text."""

    id: int
    document_id: int
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Why:
    """What each side gave to a hit's score; None where that side had no part or did not find it."""

    dense: float | None
    lexical: float | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A found chunk. ``highlights`` and ``sentence`` count in ``text``; a score compares hits of one search only."""

    rank: int
    score: float
    document: StoredDocument
    chunk_id: int
    span: Span
    text: str
    page: int | None
    page_label: str | None
    headings: tuple[str, ...]
    highlights: tuple[Span, ...]
    why: Why
    sentence: Span | None = None
    others: tuple[Hit, ...] = ()
    copies: tuple[StoredDocument, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to a query: hits, best first, and what the person should know about them.

    ``relevant`` is False when even the best hit is no nearer to the query than chance would have it.
    """

    query: str
    mode: Mode
    hits: tuple[Hit, ...]
    seconds: float
    warnings: tuple[str, ...] = ()
    relevant: bool = True
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileReport:
    """What a run did with one file."""

    path: str
    status: Status
    reason: str | None = None
    document_id: int | None = None
    pages: int | None = None
    chars: int = 0
    chunks: int = 0
    tokens: int = 0
    coverage: float = 0.0
    seconds: float = 0.0
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimate:
    """What adding all of a folder would cost, extrapolated from a sample of its files; memory does not grow with it."""

    files: int
    bytes: int
    tokens: int
    seconds: float
    disk_bytes: int


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run of ``add`` or ``sync`` did, file by file and in all; ``stopped`` when a person ended it early."""

    files: tuple[FileReport, ...]
    added: int
    updated: int
    unchanged: int
    failed: int
    removed: int
    tokens: int
    encoded_tokens: int
    seconds: float
    peak_rss_mb: float
    warnings: tuple[str, ...] = field(default=())
    stopped: bool = False
    estimate: Estimate | None = None

    @property
    def tokens_per_second(self) -> float:
        """Tokens encoded a second over the whole run; 0 when nothing had to be encoded."""
        return self.encoded_tokens / self.seconds if self.seconds > 0 else 0.0
