"""PDF: text page by page with outline, labels and metadata; says which pages have no usable text and what is hidden."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import pypdfium2
import pypdfium2.raw as pdfium_c

from indexer.datatypes import Status
from indexer.parse.model import Entry, Facts, Format, RawPage, Sample, UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.pdf_file import open_pdf
from indexer.parse.pdf_headings import outline_headings, outline_of, typographic_headings
from indexer.parse.pdf_page import PageReading, read_page
from indexer.parse.running import Edge, edges, without_running_lines
from indexer.parse.xfa import form_text

DAMAGED = "the page is damaged"
_XFA_READ = "a form for Adobe's own viewer (XFA): its questions and answers were read from its data"
_XFA_EMPTY = "a form for Adobe's own viewer (XFA): its fields are not on its pages, only what the pages say was read"
_MOST_LISTED = 10
_MOST_ATTACHMENTS = 10_000


class _Reader:
    """Reads the pages of one PDF, one after the other."""

    def __init__(self, pdf: Any, options: ReadOptions, facts: Facts) -> None:
        self._pdf = pdf
        self._options = options
        self._facts = facts
        self._outline = outline_of(pdf)
        self._hidden: dict[int, int] = {}

    def pages(self) -> Iterator[tuple[RawPage, tuple[Edge, ...]]]:
        """Each page with the lines at its edges."""
        for index in range(len(self._pdf)):
            yield self._page(index)
        if self._hidden:
            listed = ", ".join(map(str, list(self._hidden)[:_MOST_LISTED])) + (
                " ..." if len(self._hidden) > _MOST_LISTED else ""
            )
            self._facts.remarks.append(
                f"{sum(self._hidden.values()):,} characters of invisible text (on page {listed}), which no reader sees"
            )

    def _page(self, index: int) -> tuple[RawPage, tuple[Edge, ...]]:
        number, label = index + 1, self._pdf.get_page_label(index) or None
        label = None if label == str(number) else label
        try:
            page = self._pdf[index]
        except pypdfium2.PdfiumError:
            return RawPage("", number, label, unread=DAMAGED), ()
        textpage = page.get_textpage()
        try:
            reading = read_page(page, textpage, self._options)
            if reading.hidden:
                self._hidden[number] = reading.hidden
            return self._text(reading, number, label), edges(reading.body.lines, reading.body.starts)
        finally:
            textpage.close()
            page.close()

    def _text(self, reading: PageReading, number: int, label: str | None) -> RawPage:
        text = reading.layout.text
        if self._outline:
            headings = outline_headings(self._outline.get(number - 1, []), reading.body)
        else:
            headings = typographic_headings(reading.body)
        return RawPage(
            text,
            number,
            label,
            headings,
            join_lines=True,
            close_up=_is_spaced(text),
            unread=reading.unread,
            recognised=reading.recognised,
        )


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


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    pdf = open_pdf(path, options.passwords)
    try:
        facts.page_count = len(pdf)
        _metadata(pdf, facts)
        for page in without_running_lines(_Reader(pdf, options, facts).pages()):
            if not facts.title and page.number == 1:
                facts.title = next((heading.title for heading in page.headings if heading.level == 1), None)
            yield _with_form(page, pdf, facts) if page.number == facts.page_count else page
    finally:
        pdf.close()


def _with_form(page: RawPage, pdf: Any, facts: Facts) -> RawPage:
    """The last page with what a form says that only Adobe's viewer shows."""
    if pdf.get_formtype() != pdfium_c.FORMTYPE_XFA_FULL:
        return page
    form = form_text(pdf)
    facts.remarks.append(_XFA_READ if form else _XFA_EMPTY)
    return replace(page, text="\n\n".join(filter(None, (page.text.rstrip("\n"), form))) + "\n\n")


def _attachments(path: Path, options: ReadOptions) -> Iterator[Entry]:
    """The files that a PDF carries; none for one that cannot be opened, as reading it will say."""
    try:
        pdf = open_pdf(path, options.passwords, rescue=False)
    except UnreadableError:
        return
    try:
        for index in range(min(pdf.count_attachments(), _MOST_ATTACHMENTS)):
            attachment = pdf.get_attachment(index)
            yield Entry(_name(attachment, index), partial(_content, attachment))
    finally:
        pdf.close()


def _name(attachment: Any, index: int) -> str:
    """An attachment's name. Some programs write its UTF-16 where PDFium expects single bytes."""
    name = str(attachment.get_name())
    if name.startswith("\xfe\xff"):
        name = name.encode("latin-1", "replace").decode("utf-16", "replace")
    return name or f"attachment {index + 1}"


def _content(attachment: Any) -> IO[bytes]:
    try:
        return io.BytesIO(bytes(attachment.get_data()))
    except pypdfium2.PdfiumError as error:
        raise UnreadableError(Status.FAILED, "this attachment cannot be taken out of the PDF") from error


def _recognise(sample: Sample) -> int:
    if b"%PDF-" in sample.head[:1024]:
        return 90
    return 65 if re.search(rb"\d+ \d+ obj\b", sample.head) and b"endobj" in sample.head else 0  # its first line is lost


FORMATS = (Format("pdf", "application/pdf", ("pdf",), "pypdfium2", _recognise, _extract, members=_attachments),)
