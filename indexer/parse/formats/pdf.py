"""PDF: text page by page with outline, labels and metadata; says which pages have no usable text and what is hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_c

from indexer.parse.model import GARBAGE, NO_TEXT, Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions
from indexer.parse.pdf_file import open_pdf
from indexer.parse.pdf_headings import Entry, outline_headings, outline_of, typographic_headings
from indexer.parse.pdfium import PageText, read_layout
from indexer.parse.quality import is_garbage
from indexer.parse.running import Edge, edges, without_running_lines

DAMAGED = "the page is damaged"
_XFA = ("a form for Adobe's own viewer (XFA): its fields are not on its pages, only what the pages say was read",)
_LEAST_IMAGE_SHARE = 0.1
_SCANNED_SHARE = 0.6
_FEW_CHARS = 40
_MOST_OBJECTS = 2_000
_MOST_LISTED = 10


class _Reader:
    """Reads the pages of one PDF, one after the other."""

    def __init__(self, pdf: Any, facts: Facts) -> None:
        self._pdf = pdf
        self._facts = facts
        self._outline = outline_of(pdf)
        self._hidden: dict[int, int] = {}

    def pages(self) -> Iterator[tuple[RawPage, tuple[Edge, ...]]]:
        """Each page with the lines at its edges."""
        for index in range(len(self._pdf)):
            yield self._page(index, self._outline.get(index, []))
        if self._hidden:
            listed = ", ".join(map(str, list(self._hidden)[:_MOST_LISTED])) + (
                " ..." if len(self._hidden) > _MOST_LISTED else ""
            )
            chars = sum(self._hidden.values())
            self._facts.remarks.append(
                f"{chars:,} characters of invisible text (on page {listed}), which no reader sees"
            )

    def _page(self, index: int, entries: list[Entry]) -> tuple[RawPage, tuple[Edge, ...]]:
        number, label = index + 1, self._pdf.get_page_label(index) or None
        label = None if label == str(number) else label
        try:
            page = self._pdf[index]
        except pypdfium2.PdfiumError:
            return RawPage("", number, label, unread=DAMAGED), ()
        textpage = page.get_textpage()
        try:
            layout = read_layout(textpage)
            images = (
                image_share(page) if len(layout.text) < _FEW_CHARS or any(line.hidden for line in layout.lines) else 0.0
            )
            unread = _unread_reason(page, layout.text, images)
            if unread in (NO_TEXT, GARBAGE) and (unread == GARBAGE or not layout.text.strip()):
                return RawPage("", number, label, unread=unread), ()
            if images < _SCANNED_SHARE and (hidden := sum(len(line.text) for line in layout.lines if line.hidden)):
                self._hidden[number] = hidden
            return self._text(layout, number, label, entries, unread), edges(layout.lines, layout.starts)
        finally:
            textpage.close()
            page.close()

    def _text(
        self, layout: PageText, number: int, label: str | None, entries: list[Entry], unread: str | None
    ) -> RawPage:
        headings = outline_headings(entries, layout) if self._outline else typographic_headings(layout)
        spaced = _is_spaced(layout.text)
        return RawPage(layout.text, number, label, headings, join_lines=True, unread=unread, close_up=spaced)


def image_share(page: Any) -> float:
    """The share of a page that pictures cover, 0 to 1 or, where they overlap, more."""
    width, height = page.get_size()
    area = 0.0
    for number, item in enumerate(page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=4)):
        if number > _MOST_OBJECTS:
            break
        left, bottom, right, top = item.get_bounds()
        area += max(right - left, 0) * max(top - bottom, 0)
    return float(area / max(width * height, 1))


def _has_text_objects(page: Any) -> bool:
    return next(iter(page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_TEXT], max_depth=4)), None) is not None


def _unread_reason(page: Any, text: str, images: float) -> str | None:
    """Why a page's text is of no use; None when it is, or when there is nothing on the page to read."""
    if is_garbage(text):
        return GARBAGE
    if len(text.strip()) < _FEW_CHARS and images > _SCANNED_SHARE:
        return NO_TEXT  # a stamp or a page number on a scan
    if text.strip():
        return None
    if images > _LEAST_IMAGE_SHARE:
        return NO_TEXT
    return GARBAGE if _has_text_objects(page) else None


def _is_spaced(text: str) -> bool:
    """Whether Chinese is set with a space after each character, which is only typography."""
    spaced = len(re.findall(r"[\u3400-\u9fff] (?=[\u3400-\u9fff])", text))
    return spaced > 8 and spaced > 2 * len(re.findall(r"[\u3400-\u9fff](?=[\u3400-\u9fff])", text))


def _metadata(pdf: Any, facts: Facts) -> None:
    values = {key: value.strip() for key, value in pdf.get_metadata_dict(skip_empty=True).items()}
    title = values.get("Title", "")
    facts.title = (
        None if re.fullmatch(r"(?i)untitled|microsoft word - .*|.*\.(?:docx?|indd|qxd|tex|dvi|pdf)", title) else title
    )
    facts.author = values.get("Author")
    facts.created = values.get("CreationDate")
    facts.modified = values.get("ModDate")
    if pdf.get_formtype() in (pdfium_c.FORMTYPE_XFA_FULL, pdfium_c.FORMTYPE_XFA_FOREGROUND):
        facts.remarks += _XFA


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    pdf = open_pdf(path, options.passwords)
    try:
        facts.page_count = len(pdf)
        _metadata(pdf, facts)
        for page in without_running_lines(_Reader(pdf, facts).pages()):
            if not facts.title and page.number == 1:
                facts.title = next((heading.title for heading in page.headings if heading.level == 1), None)
            yield page
    finally:
        pdf.close()


def _recognise(sample: Sample) -> int:
    return 90 if b"%PDF-" in sample.head[:1024] else 0


FORMATS = (Format("pdf", "application/pdf", ("pdf",), "pypdfium2", _recognise, _extract),)
