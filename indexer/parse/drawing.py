"""Draws a PDF's page and finds where a span of its text stands on it; runs in a parser process."""

from __future__ import annotations

import ctypes
import io
import math
from pathlib import Path
from typing import Any

import pypdfium2.raw as pdfium_c

from indexer.datatypes import Span, Status
from indexer.parse.formats.pdf import unread_reason
from indexer.parse.model import Sample, UnreadableError
from indexer.parse.pdf_file import open_pdf
from indexer.parse.pdfium import PageText, char_box, char_index, read_layout

_MOST_PIXELS = 12_000_000
_UNITS = 1 << 20
"""Corners are asked of PDFium in whole units of a page this wide and high, and given as fractions of it."""

Corners = tuple[float, float, float, float]


def _page(path: Path, number: int, passwords: tuple[str, ...]) -> tuple[Any, Any]:
    if b"%PDF-" not in Sample.of(path).head[:1024]:
        raise UnreadableError(Status.UNSUPPORTED, "only pages of PDFs can be shown")
    pdf = open_pdf(path, passwords)
    if not 1 <= number <= len(pdf):
        raise UnreadableError(Status.FAILED, f"there is no page {number}; the document has {len(pdf)}")
    return pdf, pdf[number - 1]


def draw_page(path: Path, number: int, scale: float, passwords: tuple[str, ...]) -> bytes:
    """A page as a PNG, ``scale`` pixels to a point, within 12 million pixels."""
    pdf, page = _page(path, number, passwords)
    try:
        width, height = page.get_size()
        scale = min(max(scale, 0.05), math.sqrt(_MOST_PIXELS / max(width * height, 1)))
        image = page.render(scale=scale, may_draw_forms=True).to_pil()
        target = io.BytesIO()
        image.save(target, "PNG", compress_level=3)
        return target.getvalue()
    finally:
        page.close()
        pdf.close()


def find_span(path: Path, number: int, span: Span, passwords: tuple[str, ...]) -> list[Corners]:
    """Left, top, right and bottom of each line of a span of a page's text, as fractions of the page as it is shown."""
    pdf, page = _page(path, number, passwords)
    textpage = page.get_textpage()
    try:
        layout = read_layout(textpage)
        if unread_reason(page, layout):
            return []  # what was read came from OCR, or nothing was
        found = (_line_box(textpage, layout, place, span) for place in range(len(layout.lines)))
        return [_on_screen(page, box) for box in found if box is not None]
    finally:
        textpage.close()
        page.close()
        pdf.close()


def _line_box(textpage: Any, layout: PageText, place: int, span: Span) -> Corners | None:
    """The box of those characters of a line that the span covers."""
    line, first = layout.lines[place], layout.starts[place]
    start, end = max(span.start - first, 0), min(span.end - first, len(line.text))
    covered = line.text[start:end] if start < end else ""
    if not covered.strip():
        return None
    start += len(covered) - len(covered.lstrip())
    end -= len(covered) - len(covered.rstrip())
    text: str = textpage.get_text_range()
    exact = len(text) == textpage.count_chars()
    places = [
        offset if exact else char_index(textpage, text, offset)
        for offset in range(line.start + start, line.start + end)
    ]
    boxes = [box for index in places if (box := char_box(textpage, index))[2] > box[0]]
    if not boxes:
        return None
    return min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)


def _on_screen(page: Any, box: Corners) -> Corners:
    """A box in page space as fractions of the shown page from its upper left corner: cropped and turned as it says."""
    corners = []
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        across, down = ctypes.c_int(), ctypes.c_int()
        pdfium_c.FPDF_PageToDevice(page.raw, 0, 0, _UNITS, _UNITS, 0, x, y, ctypes.byref(across), ctypes.byref(down))
        corners.append((min(max(across.value / _UNITS, 0.0), 1.0), min(max(down.value / _UNITS, 0.0), 1.0)))
    (x0, y0), (x1, y1) = corners
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
