"""PDF: text page by page with outline, labels and metadata; says which pages have no usable text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_c

from indexer.datatypes import Heading
from indexer.parse.model import Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions
from indexer.parse.pdf_file import open_pdf
from indexer.parse.pdfium import PageText, read_layout
from indexer.parse.quality import is_garbage

NO_TEXT = "a picture of a page without a text layer"
GARBAGE = "its text layer is unreadable: the fonts do not say which characters they show"
_MOST_OUTLINE_ENTRIES = 20_000
_LEAST_IMAGE_SHARE = 0.1
_MOST_OBJECTS = 2_000


def _metadata(pdf: Any, facts: Facts) -> None:
    values = {key: value.strip() for key, value in pdf.get_metadata_dict(skip_empty=True).items()}
    facts.title = values.get("Title")
    facts.author = values.get("Author")
    facts.created = values.get("CreationDate")
    facts.modified = values.get("ModDate")


def _outline(pdf: Any) -> dict[int, list[tuple[int, str, float | None]]]:
    """Outline entries by page index: level, title, height on the page."""
    entries: dict[int, list[tuple[int, str, float | None]]] = {}
    for number, bookmark in enumerate(pdf.get_toc(max_depth=8)):
        if number >= _MOST_OUTLINE_ENTRIES:
            break
        destination = bookmark.get_dest()
        index = destination.get_index() if destination is not None else None
        if index is None:
            continue
        mode, view = destination.get_view()
        height = view[1] if mode == pdfium_c.PDFDEST_VIEW_XYZ and len(view) > 1 else None
        height = view[0] if mode == pdfium_c.PDFDEST_VIEW_FITH and view else height
        entries.setdefault(index, []).append((bookmark.level + 1, bookmark.get_title(), height))
    return entries


def _headings(entries: list[tuple[int, str, float | None]], page: PageText) -> tuple[Heading, ...]:
    """Find each outline entry's line: the one that says the title, else the first below its height."""
    found = []
    last = 0
    for level, title, height in entries:
        start = last
        wanted = "".join(title.split()).casefold()
        for line, place in zip(page.lines, page.starts, strict=True):
            said = "".join(line.text.split()).casefold()
            if (
                wanted
                and len(said) > 2
                and place >= last
                and (wanted in said or wanted.startswith(said) or said in wanted)
            ):
                start = place
                break
        else:
            places = (p for line, p in zip(page.lines, page.starts, strict=True) if height and line.bottom < height)
            start = max(last, next(places, last))
        found.append(Heading(min(level, 6), title, start))
        last = start
    return tuple(found)


def _unread_reason(page: Any, text: str) -> str | None:
    """Why a page's text is of no use; None when it is, or when there is nothing on the page to read."""
    if text.strip():
        return GARBAGE if is_garbage(text) else None
    width, height = page.get_size()
    area = 0.0
    for number, item in enumerate(page.get_objects(max_depth=4)):
        if number > _MOST_OBJECTS:
            break
        if item.type == pdfium_c.FPDF_PAGEOBJ_TEXT:
            return GARBAGE
        if item.type == pdfium_c.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = item.get_bounds()
            area += max(right - left, 0) * max(top - bottom, 0)
    return NO_TEXT if area > _LEAST_IMAGE_SHARE * width * height else None


def _page(pdf: Any, index: int, entries: list[tuple[int, str, float | None]]) -> RawPage:
    label = pdf.get_page_label(index) or None
    try:
        page = pdf[index]
    except pypdfium2.PdfiumError:
        return RawPage("", index + 1, label, unread="the page is damaged")
    textpage = page.get_textpage()
    try:
        layout = read_layout(textpage)
        unread = _unread_reason(page, layout.text)
        if unread:
            return RawPage("", index + 1, label, unread=unread)
        return RawPage(layout.text, index + 1, label, _headings(entries, layout), join_lines=True)
    finally:
        textpage.close()
        page.close()


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    pdf = open_pdf(path, options.passwords)
    try:
        facts.page_count = len(pdf)
        _metadata(pdf, facts)
        outline = _outline(pdf)
        for index in range(len(pdf)):
            yield _page(pdf, index, outline.get(index, []))
    finally:
        pdf.close()


def _recognise(sample: Sample) -> int:
    return 90 if b"%PDF-" in sample.head[:1024] else 0


FORMATS = (Format("pdf", "application/pdf", ("pdf",), "pypdfium2", _recognise, _extract),)
