"""Draws a page of a PDF or picture and finds where a span of its text stands on it; runs in a parser process."""

from __future__ import annotations

import io
import math
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from indexer.datatypes import Span, Status
from indexer.parse.formats import pictures
from indexer.parse.lines import Line
from indexer.parse.model import Sample, UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.pdf_file import open_pdf
from indexer.parse.pdf_page import read_page
from indexer.parse.pdfium import Frame, PageText, char_box, char_index

_MOST_PIXELS = 12_000_000

Corners = tuple[float, float, float, float]


def draw_page(path: Path, number: int, scale: float, options: ReadOptions) -> bytes:
    """A page as a PNG, ``scale`` pixels to a point, within 12 million pixels."""
    if pictures.is_picture(path):
        image = pictures.draw(path, number, scale)
    else:
        with _page(path, number, options) as page:
            across, down = page.get_size()
            scale = min(max(scale, 0.05), math.sqrt(_MOST_PIXELS / max(across * down, 1)))
            image = page.render(scale=scale, may_draw_forms=True).to_pil()
    target = io.BytesIO()
    image.save(target, "PNG", compress_level=3)
    return target.getvalue()


def find_span(path: Path, number: int, span: Span, options: ReadOptions) -> list[Corners]:
    """Left, top, right and bottom of each line of a span of a page's text, as fractions of the page as it is shown."""
    layout = _layout(path, path.stat().st_mtime_ns, number, options)
    parts = list(_parts(layout, span))
    if all(line.shown for line, _, _ in parts):
        return [_share(line, start, end) for line, start, end in parts]
    with _page(path, number, options) as page:
        textpage = page.get_textpage()
        try:
            text: str = textpage.get_text_range()
            found = (
                _share(line, start, end)
                if line.shown
                else _box(page, textpage, text, Span(line.start + start, line.start + end))
                for line, start, end in parts
            )
            return [box for box in found if box is not None]
        finally:
            textpage.close()


@contextmanager
def _page(path: Path, number: int, options: ReadOptions) -> Iterator[Any]:
    if b"%PDF-" not in Sample.of(path).head[:1024]:
        raise UnreadableError(Status.UNSUPPORTED, "only pages of PDFs and pictures can be shown")
    pdf = open_pdf(path, options.passwords)
    try:
        if not 1 <= number <= len(pdf):
            raise UnreadableError(Status.FAILED, f"there is no page {number}; the document has {len(pdf)}")
        page = pdf[number - 1]
        try:
            yield page
        finally:
            page.close()
    finally:
        pdf.close()


@lru_cache(maxsize=8)
def _layout(path: Path, _changed: int, number: int, options: ReadOptions) -> PageText:
    """A page's lines, kept since one page's words are asked for one after the other, and OCR takes seconds."""
    if pictures.is_picture(path):
        return pictures.layout(path, number)
    with _page(path, number, options) as page:
        textpage = page.get_textpage()
        try:
            return read_page(page, textpage, options).layout
        finally:
            textpage.close()


def _parts(layout: PageText, span: Span) -> Iterator[tuple[Line, int, int]]:
    """Each line that the span covers, and from where to where in it, without spaces at either end."""
    for line, first in zip(layout.lines, layout.starts, strict=True):
        start, end = max(span.start - first, 0), min(span.end - first, len(line.text))
        covered = line.text[start:end] if start < end else ""
        if covered.strip():
            yield line, end - len(covered.lstrip()), start + len(covered.rstrip())


def _box(page: Any, textpage: Any, text: str, span: Span) -> Corners | None:
    """The box around the characters of a span of PDFium's text."""
    exact = len(text) == textpage.count_chars()
    places = (place if exact else char_index(textpage, text, place) for place in range(span.start, span.end))
    boxes = [box for place in places if (box := char_box(textpage, place))[2] > box[0]]
    if not boxes:
        return None
    left, bottom, right, top = zip(*boxes, strict=True)
    return Frame(page).box((min(left), min(bottom), max(right), max(top)))


def _share(line: Line, start: int, end: int) -> Corners:
    """The part of a line's box where some of its characters stand, by their usual widths; a turned line's whole box."""
    assert line.shown is not None
    left, top, right, bottom = line.shown
    if line.vertical or start == 0 and end >= len(line.text.rstrip()):
        return line.shown
    whole, before, within = (_width(text) for text in (line.text.rstrip(), line.text[:start], line.text[start:end]))
    begin = left + (right - left) * before / whole
    return begin, top, min(begin + (right - left) * within / whole, right), bottom


def _width(text: str) -> int:
    """A text's width in halves of a Chinese character's."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
