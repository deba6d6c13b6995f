"""Where in a document the reader is: the page or stretch shown, and what of it is marked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app import address, services
from indexer import Heading, SearchResult, Span, StoredDocument, StoredPage


@dataclass(frozen=True, slots=True)
class Place:
    """One page (or stretch of a text without pages) of a document, and the spans to mark, counted in the document."""

    document: StoredDocument
    pages: Sequence[StoredPage]
    position: int
    marks: tuple[Span, ...]
    chunk: Span | None
    path: Path | None = None

    @property
    def page(self) -> StoredPage:
        return self.pages[self.position]

    @property
    def paged(self) -> bool:
        """Whether the document has pages of its own."""
        return self.page.number is not None

    def marks_here(self) -> list[Span]:
        """The marks on this page, counted from its start."""
        return [cut for span in self.marks if (cut := _inside(span, self.page.span)) is not None]

    def chunk_here(self) -> Span | None:
        """The chunk that led here, counted from the page's start."""
        return _inside(self.chunk, self.page.span) if self.chunk else None

    def line_here(self, text: str) -> Span | None:
        """The line that the address's ``at`` points to (a heading of the outline), counted from the page's start."""
        at = address.number("at")
        if at is None or not self.page.span.start <= at < self.page.span.end:
            return None
        start = at - self.page.span.start
        end = text.find("\n", start + 1)
        return Span(start, end if end >= 0 else len(text))


def read(document: StoredDocument, found: SearchResult | None) -> Place | None:
    """The place that the address names; None when the document has no text at all."""
    pages = services.pages(document.id)
    if not pages:
        return None
    chunk = _chunk(document, found)
    marks = [span.shifted(hit.span.start) for hit in (found.hits if found else ()) for span in hit.highlights]
    return Place(document, pages, _position(pages, chunk), tuple(marks), chunk, services.file_of(document))


def position_of(pages: Sequence[StoredPage], offset: int) -> int:
    """Which page holds a character of the document."""
    return max(bisect_right([page.span.start for page in pages], offset) - 1, 0)


def outline(headings: Sequence[Heading], most: int = 80) -> list[Heading]:
    """The headings worth listing: as many levels as fit into ``most`` lines."""
    levels = sorted({heading.level for heading in headings})
    shown = [heading for heading in headings if heading.level <= levels[0]] if levels else []
    for level in levels[1:]:
        more = [heading for heading in headings if heading.level <= level]
        if len(more) > most:
            break
        shown = more
    return shown[: 4 * most]


def _position(pages: Sequence[StoredPage], chunk: Span | None) -> int:
    number, offset = address.number("page"), address.number("at")
    if number is not None:
        return min(max(number - 1, 0), len(pages) - 1)
    if offset is not None:
        return position_of(pages, offset)
    return position_of(pages, chunk.start) if chunk else 0


def _chunk(document: StoredDocument, found: SearchResult | None) -> Span | None:
    """The chunk that the address names; where it names no place at all, the best match."""
    chunk_id = address.number("chunk")
    if chunk_id is not None:
        return services.chunk_span(document.id, chunk_id)
    named = address.number("page") is not None or address.number("at") is not None
    return found.hits[0].span if found and found.hits and found.relevant and not named else None


def _inside(span: Span, page: Span) -> Span | None:
    start, end = max(span.start, page.start), min(span.end, page.end)
    return Span(start - page.start, end - page.start) if start < end else None
