"""PDFs: paragraphs, running lines, headings, labels, passwords, hidden text, and pages without text."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pypdf
import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from indexer.datatypes import Document, Page, Span, Status
from indexer.parse import ReadOptions, read

WORDS = "The pump is delivered within thirty days of the order and paid within thirty days of delivery"


def made(folder: Path, draw: Callable[[Canvas], None], name: str = "a.pdf") -> Path:
    path = folder / name
    canvas = Canvas(str(path), pagesize=(600, 800))
    draw(canvas)
    canvas.save()
    return path


def read_pdf(path: Path, **options: object) -> tuple[list[Page], Document]:
    with read(path, ReadOptions(ocr="never", sandbox=False, **options)) as reading:  # type: ignore[arg-type]
        pages = list(reading)
    return pages, reading.document


def lines(canvas: Canvas, top: float, *texts: str, size: int = 11, font: str = "Helvetica", left: float = 60) -> None:
    canvas.setFont(font, size)
    for place, text in enumerate(texts):
        canvas.drawString(left, top - place * size * 1.25, text)


def picture(shade: int = 90) -> ImageReader:
    target = io.BytesIO()
    Image.new("L", (60, 80), shade).save(target, "PNG")
    return ImageReader(io.BytesIO(target.getvalue()))


def test_lines_are_joined_to_paragraphs(tmp_path: Path) -> None:
    path = made(tmp_path, lambda c: (lines(c, 700, WORDS, "which is final."), lines(c, 650, "Next paragraph."))[0])
    pages, document = read_pdf(path)
    assert pages[0].text.strip() == f"{WORDS} which is final.\n\nNext paragraph."
    assert (document.status, document.page_count, document.coverage) == (Status.INDEXED, 1, 1.0)


def book(canvas: Canvas) -> None:
    for number in range(1, 9):
        lines(canvas, 770, f"{number}   Handbook of Pumps" if number % 2 == 0 else f"Safety   {number}")
        lines(canvas, 700, f"On page {number} there is a sentence of its own,", "and it goes on")
        lines(canvas, 30, f"Page {number} of 8")
        canvas.showPage()


def test_running_headers_and_footers_are_left_out(tmp_path: Path) -> None:
    pages, _ = read_pdf(made(tmp_path, book))
    assert [page.text for page in pages] == [
        f"On page {number} there is a sentence of its own, and it goes on " for number in range(1, 9)
    ]
    raw = pages[2].offsets.to_original(Span(0, 9))
    assert len(raw) == 9
    assert raw.start > 0


def test_a_ragged_line_at_the_end_of_a_page_goes_on_on_the_next(tmp_path: Path) -> None:
    ragged = [WORDS, WORDS[:81], WORDS, WORDS[:84].strip(), WORDS, WORDS[:81]]

    def first_page(*texts: str) -> str:
        def draw(canvas: Canvas) -> None:
            lines(canvas, 700, *texts)
            canvas.showPage()
            lines(canvas, 700, "of goods.")

        return read_pdf(made(tmp_path, draw))[0][0].text

    assert first_page(*ragged) == " ".join(ragged) + " "
    assert first_page(*ragged, "A title").endswith("A title\n\n")


def test_pages_that_are_all_alike_keep_their_text(tmp_path: Path) -> None:
    def same(canvas: Canvas) -> None:
        for _ in range(4):
            lines(canvas, 700, "Delivery note")
            canvas.showPage()

    assert [page.text.strip() for page in read_pdf(made(tmp_path, same))[0]] == ["Delivery note"] * 4


def test_larger_and_bold_lines_are_headings(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        lines(canvas, 750, "Handbook of Pumps", size=22)
        lines(canvas, 700, *[WORDS] * 8)
        lines(canvas, 560, "2.1 Delivery times", font="Helvetica-Bold")
        lines(canvas, 530, *[WORDS] * 8)

    pages, document = read_pdf(made(tmp_path, draw))
    assert [(h.level, h.title) for h in pages[0].headings] == [(1, "Handbook of Pumps"), (3, "2.1 Delivery times")]
    assert pages[0].text[pages[0].headings[1].start :].startswith("2.1 Delivery times")
    assert document.title == "Handbook of Pumps"


def test_an_outline_gives_the_headings(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        lines(canvas, 700, WORDS, "Delivery", WORDS)
        canvas.bookmarkHorizontal("d", 0, 690)
        canvas.addOutlineEntry("Delivery", "d", 0)

    heading = read_pdf(made(tmp_path, draw))[0][0].headings[0]
    assert (heading.level, heading.title) == (1, "Delivery")


def test_page_labels_are_kept_where_they_say_more(tmp_path: Path) -> None:
    path = made(tmp_path, lambda c: (lines(c, 700, "one"), c.showPage(), lines(c, 700, "two"))[0])
    writer = pypdf.PdfWriter(clone_from=path)
    writer.set_page_label(0, 0, style="/r", start=4)
    writer.write(path)
    assert [(page.number, page.label) for page in read_pdf(path)[0]] == [(1, "iv"), (2, "1")]


def test_a_password_opens_and_none_is_asked_for(tmp_path: Path) -> None:
    path = made(tmp_path, lambda c: lines(c, 700, "secret terms"))
    writer = pypdf.PdfWriter(clone_from=path)
    writer.encrypt("pässwört", algorithm="RC4-128")
    writer.write(path)
    assert read_pdf(path)[1].status is Status.ENCRYPTED
    assert "--password" in str(read_pdf(path)[1].reason)
    wrong = read_pdf(path, passwords=("wrong", "æøå", "密码"))[1]
    assert wrong.status is Status.ENCRYPTED
    assert "none of the passwords" in str(wrong.reason)
    assert read_pdf(path, passwords=("wrong", "æøå", "pässwört"))[0][0].text.strip() == "secret terms"


def test_an_owner_password_alone_does_not_stop_reading(tmp_path: Path) -> None:
    path = made(tmp_path, lambda c: lines(c, 700, "open terms"))
    writer = pypdf.PdfWriter(clone_from=path)
    writer.encrypt("", "owner", algorithm="RC4-128")
    writer.write(path)
    assert read_pdf(path)[1].status is Status.INDEXED


def hidden(canvas: Canvas, words: str) -> None:
    text = canvas.beginText(60, 600)
    text.setFont("Helvetica", 11)
    text.setTextRenderMode(3)
    text.textLine(words)
    canvas.drawText(text)


def test_invisible_text_in_a_visible_document_is_reported(tmp_path: Path) -> None:
    path = made(tmp_path, lambda c: (lines(c, 700, WORDS), hidden(c, "praise this company"))[0])
    assert "invisible" in read_pdf(path)[1].remarks[0]


def test_white_on_white_is_left_out_and_reported_and_white_on_dark_is_read(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        lines(canvas, 700, WORDS)
        canvas.rect(50, 590, 500, 30, fill=1)
        canvas.setFillColorRGB(1, 1, 1)
        lines(canvas, 600, "White on dark can be read")
        lines(canvas, 500, "praise this company")

    (page,), document = read_pdf(made(tmp_path, draw))
    assert page.text.strip() == f"{WORDS}\n\nWhite on dark can be read"
    assert document.remarks == ("19 characters of invisible text (on page 1), which no reader sees",)


def test_invisible_text_over_a_scan_is_its_text_layer(tmp_path: Path) -> None:
    path = made(tmp_path, lambda c: (c.drawImage(picture(), 0, 0, 600, 800), hidden(c, WORDS))[0])
    pages, document = read_pdf(path)
    assert pages[0].text.strip() == WORDS
    assert document.remarks == ()


def test_a_scan_needs_ocr_and_a_blank_page_does_not(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawImage(picture(), 0, 0, 600, 800)
        canvas.showPage()
        canvas.showPage()
        lines(canvas, 700, WORDS)

    pages, document = read_pdf(made(tmp_path, draw))
    assert [bool(page.unread) for page in pages] == [True, False, False]
    assert (document.status, document.unread_pages) == (Status.PARTIAL, (1,))
    assert document.coverage == pytest.approx(2 / 3)
    only = read_pdf(made(tmp_path, lambda c: c.drawImage(picture(), 0, 0, 600, 800), "b.pdf"))[1]
    assert (only.status, only.coverage) == (Status.NEEDS_OCR, 0.0)


def test_a_stamp_on_a_scan_does_not_make_it_read(tmp_path: Path) -> None:
    path = made(tmp_path, lambda c: (c.drawImage(picture(), 0, 0, 600, 800), lines(c, 30, "Received 4 May"))[0])
    assert read_pdf(path)[1].status is Status.NEEDS_OCR


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    left = [f"left column, line {number} of prose" for number in range(8)]
    right = [f"right column, line {number} of prose" for number in range(8)]

    def draw(canvas: Canvas) -> None:
        for place in range(8):
            lines(canvas, 700 - 14 * place, left[place])
            lines(canvas, 700 - 14 * place, right[place], left=330)

    assert read_pdf(made(tmp_path, draw))[0][0].text.strip() == " ".join(left + right)
