"""Finds the headings on a PDF's pages: those of its outline, else lines set larger or bolder than the text."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium_c

from indexer.datatypes import Heading
from indexer.parse.pdfium import PageText

_MOST_ENTRIES = 20_000
_MOST_CHARS = 120
_BOLD = 600
_NUMBERED = re.compile(
    r"^(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|[A-Z]\.|第[一二三四五六七八九十百\d]{1,4}[章节節条條部编])\s*\S"
)
_SENTENCE_END = re.compile(r"[.,;:。，；、]\s*$")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an outline: its level, its title, and how high on its page it leads to, if it says so."""

    level: int
    title: str
    height: float | None


def outline_of(pdf: Any) -> dict[int, list[Entry]]:
    """The outline's entries by page index."""
    entries: dict[int, list[Entry]] = {}
    for number, bookmark in enumerate(pdf.get_toc(max_depth=8)):
        destination = bookmark.get_dest() if number < _MOST_ENTRIES else None
        index = destination.get_index() if destination is not None else None
        if destination is None or index is None:
            continue
        mode, view = destination.get_view()
        height = view[1] if mode == pdfium_c.PDFDEST_VIEW_XYZ and len(view) > 1 else None
        height = view[0] if mode == pdfium_c.PDFDEST_VIEW_FITH and view else height
        entries.setdefault(index, []).append(Entry(bookmark.level + 1, bookmark.get_title(), height))
    return entries


def outline_headings(entries: list[Entry], page: PageText) -> tuple[Heading, ...]:
    """Each entry at the line that says its title, else at the first line below its height."""
    found = []
    last = 0
    for entry in entries:
        last = _place(entry, page, last)
        found.append(Heading(min(entry.level, 6), entry.title, last))
    return tuple(found)


def _place(entry: Entry, page: PageText, last: int) -> int:
    wanted = "".join(entry.title.split()).casefold()
    for line, place in zip(page.lines, page.starts, strict=True):
        said = "".join(line.text.split()).casefold()
        if place >= last and len(said) > 2 and wanted and (wanted in said or wanted.startswith(said) or said in wanted):
            return place
    below = (p for line, p in zip(page.lines, page.starts, strict=True) if entry.height and line.bottom < entry.height)
    return max(last, next(below, last))


def typographic_headings(page: PageText) -> tuple[Heading, ...]:
    """Short paragraphs set clearly larger than most of the page's text, or bold and numbered."""
    sizes: Counter[float] = Counter()
    bold = 0
    for line in page.lines:
        sizes[round(line.size, 1)] += len(line.text)
        bold += len(line.text) * (line.weight >= _BOLD)
    if not sizes or sizes.total() < 4 * _MOST_CHARS:
        return ()
    body = sizes.most_common(1)[0][0]
    seldom_bold = bold < 0.3 * sizes.total()
    found = []
    for first, last in _paragraphs(page):
        lines = page.lines[first : last + 1]
        title = " ".join(line.text.strip() for line in lines)
        if not 2 < len(title) <= _MOST_CHARS or _SENTENCE_END.search(title) or not re.search(r"[^\W\d_]{2}", title):
            continue
        ratio = min(line.size for line in lines) / max(body, 1)
        is_bold = seldom_bold and all(line.weight >= _BOLD for line in lines)
        if ratio >= 1.15 or (
            is_bold and ratio >= 0.95 and (_NUMBERED.match(title) or len(lines) == 1 and len(title) < 70)
        ):
            found.append(Heading(1 if ratio >= 1.6 else 2 if ratio >= 1.25 else 3, title, page.starts[first]))
    return tuple(found)


def _paragraphs(page: PageText) -> list[tuple[int, int]]:
    """First and last line of each paragraph of at most three lines."""
    found = []
    first = 0
    for index in range(len(page.lines)):
        end = page.starts[index] + len(page.lines[index].text)
        if page.text[end : end + 2] == "\n\n" or index == len(page.lines) - 1:
            if index - first < 3:
                found.append((first, index))
            first = index + 1
    return found
