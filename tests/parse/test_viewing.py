"""A page is drawn, and the rectangles of a span lie where its words stand, on turned and cropped pages too."""

from __future__ import annotations

import io
from pathlib import Path

import pypdf
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from indexer import PageError, Span, locate_text, render_page
from indexer.parse import ReadOptions, read

WIDTH, HEIGHT = 600, 800


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    path = tmp_path / "letter.pdf"
    canvas = Canvas(str(path), pagesize=(WIDTH, HEIGHT))
    canvas.setFont("Helvetica", 20)
    canvas.drawString(100, 600, "Payment is due within thirty days")
    canvas.drawString(100, 570, "of delivery of the pumps.")
    canvas.save()
    return path


def span_of(path: Path, words: str) -> Span:
    with read(path, ReadOptions(ocr="never")) as reading:
        page = next(iter(reading))
    start = page.text.index(words)
    return page.offsets.to_original(Span(start, start + len(words)))


def test_a_span_over_two_lines_has_two_rectangles_where_its_words_stand(letter: Path) -> None:
    first, second = locate_text(letter, 1, span_of(letter, "thirty days of delivery"))
    assert first.left * WIDTH == pytest.approx(300, abs=2)
    assert first.top * HEIGHT < HEIGHT - 600 < first.bottom * HEIGHT
    assert second.left * WIDTH == pytest.approx(100, abs=2)
    assert second.top * HEIGHT < HEIGHT - 570 < second.bottom * HEIGHT
    assert second.right < first.right


def _ink(picture: Image.Image, box: tuple[float, float, float, float]) -> int:
    left, top, right, bottom = box
    width, height = picture.size
    across, down = min(int(right * width) + 1, width), min(int(bottom * height) + 1, height)
    area = (int(left * width), int(top * height), across, down)
    return sum(value < 128 for value in picture.convert("L").crop(area).tobytes())


@pytest.mark.parametrize(("turn", "crop"), [(0, False), (90, False), (180, True), (270, True)])
def test_the_ink_lies_inside_the_rectangles(letter: Path, tmp_path: Path, turn: int, crop: bool) -> None:
    writer = pypdf.PdfWriter(clone_from=letter)
    writer.pages[0].rotate(turn)
    if crop:
        writer.pages[0].cropbox = pypdf.generic.RectangleObject((50, 300, 550, 700))
    path = tmp_path / "turned.pdf"
    writer.write(path)
    boxes = locate_text(path, 1, span_of(path, "Payment is due within thirty days of delivery of the pumps."))
    picture = Image.open(io.BytesIO(render_page(path, 1, 1.0)))
    inside = sum(_ink(picture, (box.left, box.top, box.right, box.bottom)) for box in boxes)
    assert inside > 0.95 * _ink(picture, (0, 0, 1, 1)) > 100


def test_a_picture_has_bounded_size(letter: Path) -> None:
    picture = Image.open(io.BytesIO(render_page(letter, 1, 500.0)))
    assert picture.size[0] * picture.size[1] <= 12_100_000


@pytest.mark.parametrize(("number", "words"), [(2, "there is no page 2"), (0, "there is no page 0")])
def test_a_page_that_is_not_there_is_named(letter: Path, number: int, words: str) -> None:
    with pytest.raises(PageError, match=words):
        render_page(letter, number)


def test_only_pdfs_have_pictures_of_pages(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("words")
    with pytest.raises(PageError, match="only pages of PDFs"):
        locate_text(path, 1, Span(0, 1))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(PageError, match="cannot be shown"):
        render_page(tmp_path / "none.pdf", 1)
