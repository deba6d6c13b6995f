"""One page of a PDF as it is read, whoever asks: its own text, or what OCR sees on it, and then its annotations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium_c

from indexer.parse.hidden import SCANNED_SHARE, image_share, invisible_chars, without_contrast
from indexer.parse.model import GARBAGE, NO_TEXT, ocr_hint
from indexer.parse.options import ReadOptions
from indexer.parse.pdf_notes import with_notes
from indexer.parse.pdfium import PageText, page_lines, page_text
from indexer.parse.quality import is_garbage
from indexer.parse.recognition import LONGEST_SIDE, is_available, recognise_lines

_LEAST_IMAGE_SHARE = 0.1
_FEW_CHARS = 40


@dataclass(frozen=True, slots=True)
class PageReading:
    """A page's own text, the same with its annotations after it, why it could not be read, and whether OCR read it.

    ``hidden`` counts characters that no reader sees: those without contrast were left out, the others are in the text.
    """

    body: PageText
    layout: PageText
    unread: str | None = None
    recognised: bool = False
    hidden: int = 0


def read_page(page: Any, textpage: Any, options: ReadOptions) -> PageReading:
    """Read a page that is open; the same options give the same text."""
    lines = page_lines(textpage)
    unseen = without_contrast(page, textpage, lines)
    body = page_text([line for line in lines if line not in unseen])
    unread = _unread_reason(page, body)
    recognised = bool(unread or options.ocr == "always") and options.ocr != "never" and is_available()
    if recognised:
        body, unread = page_text(recognise_lines(picture_of(page))), None
    elif unread:
        body = body if unread == NO_TEXT else page_text([])
        unread += ocr_hint(options, is_available())
    hidden = 0 if recognised or unread else sum(len(line.text) for line in unseen) + invisible_chars(page, lines)
    return PageReading(body, with_notes(body, page), unread, recognised, hidden)


def picture_of(page: Any) -> Any:
    """A page as a picture of the size that recognition needs, however large the page says it is."""
    return page.render(scale=min(LONGEST_SIDE / max(*page.get_size(), 1), 8.0), grayscale=True).to_pil()


def _unread_reason(page: Any, layout: PageText) -> str | None:
    """Why a page's text is of no use; None when it is, or when there is nothing on the page to read."""
    text = layout.text.strip()
    if is_garbage(text):
        return GARBAGE
    if len(text) >= _FEW_CHARS:
        return None
    images = image_share(page)
    if images > (SCANNED_SHARE if text else _LEAST_IMAGE_SHARE):
        return NO_TEXT  # with a stamp or a page number on it, perhaps
    return GARBAGE if not text and _has_text_objects(page) else None


def _has_text_objects(page: Any) -> bool:
    return next(iter(page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_TEXT], max_depth=4)), None) is not None
