"""PDF: text page by page with outline, labels and metadata; says which pages have no usable text and what is hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_c

from indexer.parse.model import GARBAGE, NO_TEXT, Facts, Format, RawPage, Sample, ocr_hint
from indexer.parse.options import ReadOptions
from indexer.parse.pdf_file import open_pdf
from indexer.parse.pdf_headings import Entry, outline_headings, outline_of, typographic_headings
from indexer.parse.pdfium import PageText, page_text, read_layout
from indexer.parse.quality import is_garbage
from indexer.parse.recognition import LONGEST_SIDE, is_available, recognise_lines
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

    def __init__(self, pdf: Any, options: ReadOptions, facts: Facts) -> None:
        self._pdf = pdf
        self._options = options
        self._recognises = options.ocr != "never" and is_available()
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
            unread = unread_reason(page, layout)
            recognised = bool(unread or self._options.ocr == "always") and self._recognises
            if recognised:
                layout, unread = page_text(recognise_lines(_picture(page))), None
            elif unread:
                unread += ocr_hint(self._options, is_available())
                layout = layout if unread.startswith(NO_TEXT) else page_text([])
            else:
                self._count_hidden(page, number, layout)
            return self._text(layout, number, label, entries, unread, recognised), edges(layout.lines, layout.starts)
        finally:
            textpage.close()
            page.close()

    def _count_hidden(self, page: Any, number: int, layout: PageText) -> None:
        """Invisible text is a scan's text layer, or it is hidden."""
        hidden = sum(len(line.text) for line in layout.lines if line.hidden)
        if hidden and image_share(page) < _SCANNED_SHARE:
            self._hidden[number] = hidden

    def _text(
        self,
        layout: PageText,
        number: int,
        label: str | None,
        entries: list[Entry],
        unread: str | None,
        recognised: bool,
    ) -> RawPage:
        headings = outline_headings(entries, layout) if self._outline else typographic_headings(layout)
        return RawPage(
            layout.text,
            number,
            label,
            headings,
            join_lines=True,
            close_up=_is_spaced(layout.text),
            unread=unread,
            recognised=recognised,
        )


def _picture(page: Any) -> Any:
    """A page as a picture of the size that recognition needs, however large the page says it is."""
    return page.render(scale=min(LONGEST_SIDE / max(*page.get_size(), 1), 8.0), grayscale=True).to_pil()


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


def unread_reason(page: Any, layout: PageText) -> str | None:
    """Why a page's text is of no use; None when it is, or when there is nothing on the page to read."""
    text = layout.text.strip()
    if is_garbage(text):
        return GARBAGE
    if len(text) >= _FEW_CHARS:
        return None
    images = image_share(page)
    if images > (_SCANNED_SHARE if text else _LEAST_IMAGE_SHARE):
        return NO_TEXT  # with a stamp or a page number on it, perhaps
    return GARBAGE if not text and _has_text_objects(page) else None


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
        for page in without_running_lines(_Reader(pdf, options, facts).pages()):
            if not facts.title and page.number == 1:
                facts.title = next((heading.title for heading in page.headings if heading.level == 1), None)
            yield page
    finally:
        pdf.close()


def _recognise(sample: Sample) -> int:
    if b"%PDF-" in sample.head[:1024]:
        return 90
    return 65 if re.search(rb"\d+ \d+ obj\b", sample.head) and b"endobj" in sample.head else 0  # its first line is lost


FORMATS = (Format("pdf", "application/pdf", ("pdf",), "pypdfium2", _recognise, _extract),)
