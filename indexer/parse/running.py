"""Finds running headers, footers and page numbers: lines at a page's edge that neighbouring pages have as well."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from indexer.datatypes import Span
from indexer.parse.lines import Line
from indexer.parse.model import RawPage

WINDOW = 6
"""So many pages before and after are compared: the headers of a chapter differ from the next chapter's."""

_EDGE_LINES = 3
_LEAST_PARTNERS = 2
_NEAR_POINTS = 4.0
_CLOSED = re.compile(r"[.!?:;。！？：；…”’\"')\]）」』]$")
_NUMBERS = re.compile(r"\d+|\b[ivxlcdm]+\b")


@dataclass(frozen=True, slots=True)
class Edge:
    """A line at a page's top or bottom: what it says but for its numbers, how high it stands, its place in the text."""

    says: str
    height: float
    span: Span

    def matches(self, other: Edge) -> bool:
        """Whether it is the same line of another page."""
        return self.says == other.says and abs(self.height - other.height) < _NEAR_POINTS


def edges(lines: Iterable[Line], starts: Iterable[int]) -> tuple[Edge, ...]:
    """The lines that may be running ones: the highest and the lowest of a page."""
    placed = sorted(zip(lines, starts, strict=True), key=lambda item: -item[0].bottom)
    depth = min(_EDGE_LINES, max(len(placed) // 4, 1))
    if len(placed) > 2 * depth:
        placed = placed[:depth] + placed[-depth:]
    return tuple(
        Edge(
            _NUMBERS.sub("#", " ".join(line.text.split()).casefold()), line.bottom, Span(start, start + len(line.text))
        )
        for line, start in placed
    )


def without_running_lines(pages: Iterable[tuple[RawPage, tuple[Edge, ...]]]) -> Iterator[RawPage]:
    """Mark the running lines of pages as dropped, looking a few pages ahead and back."""
    before: deque[tuple[Edge, ...]] = deque(maxlen=WINDOW)
    ahead: deque[tuple[RawPage, tuple[Edge, ...]]] = deque()
    source = iter(pages)
    while True:
        while len(ahead) <= WINDOW and (item := next(source, None)) is not None:
            ahead.append(item)
        if not ahead:
            return
        page, own = ahead.popleft()
        yield _dropped(page, own, [*before, *(other for _, other in ahead)])
        before.append(own)


def _dropped(page: RawPage, own: tuple[Edge, ...], others: list[tuple[Edge, ...]]) -> RawPage:
    running = [
        edge.span
        for edge in own
        if sum(any(edge.matches(line) for line in other) for other in others) >= _LEAST_PARTNERS
    ]
    spans = _merged(page.text, sorted(running, key=lambda span: span.start))
    rest = page.text
    for span in reversed(spans):
        rest = rest[: span.start] + rest[span.end :]
    if not rest.strip():
        return page  # pages that are all alike, such as forms, keep what they have
    return replace(page, drop=tuple(spans))


def _merged(text: str, spans: list[Span]) -> list[Span]:
    """The spans with the line breaks after them; at the page's end, a sentence that runs on is left to run on."""
    found: list[Span] = []
    for span in spans:
        end = span.end + len(text[span.end :]) - len(text[span.end :].lstrip("\n"))
        start = found.pop().start if found and found[-1].end >= span.start else span.start
        found.append(Span(start, end))
    if found and not text[found[-1].end :].strip():
        body = text[: found[-1].start].rstrip()
        if body and not _CLOSED.search(body):
            found[-1] = Span(min(len(body) + 1, found[-1].start), len(text))
    return found
