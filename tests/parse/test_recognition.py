"""Pictures of text: told from their content, read by OCR where the extra is installed, and said where it is not."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from indexer import locate_text, render_page
from indexer.datatypes import Span, Status
from indexer.parse import ReadOptions, read, recognition


def picture(words: str, size: tuple[int, int] = (700, 160)) -> Image.Image:
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).text((30, 50), words, "black", ImageFont.load_default(40))
    return image


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"])
def test_a_picture_is_known_by_its_content_and_needs_ocr(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.txt"
    target = io.BytesIO()
    picture("x").save(target, kind)
    path.write_bytes(target.getvalue())
    with read(path, ReadOptions(ocr="never", sandbox=False)) as reading:
        assert not list(reading)
    assert (reading.document.status, reading.document.media_type) == (Status.NEEDS_OCR, f"image/{kind.lower()}")
    assert "--ocr auto" in str(reading.document.reason)


def test_without_the_extra_a_picture_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "is_available", lambda: False)
    path = tmp_path / "a.png"
    picture("x").save(path)
    with read(path, ReadOptions(sandbox=False)) as reading:
        assert not list(reading)
    assert "longdoc[ocr]" in str(reading.document.reason)


def test_large_pictures_are_made_small() -> None:
    assert max(recognition.bounded(Image.new("L", (9000, 3000))).size) == recognition.LONGEST_SIDE


@pytest.mark.slow
@pytest.mark.skipif(not recognition.is_available(), reason="needs the extra `ocr`")
def test_a_scanned_page_is_read(tmp_path: Path) -> None:
    path = tmp_path / "scan.pdf"
    picture("Payment within thirty days").save(path, "PDF")
    with read(path, ReadOptions()) as reading:
        (page,) = list(reading)
    assert "thirty days" in page.text
    assert page.recognised
    assert (reading.document.status, reading.document.coverage) == (Status.INDEXED, 1.0)


@pytest.mark.slow
@pytest.mark.skipif(not recognition.is_available(), reason="needs the extra `ocr`")
@pytest.mark.parametrize("name", ["scan.pdf", "scan.png", "sideways.png"])
def test_what_ocr_read_has_its_place_on_the_picture(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    image = picture("Payment within thirty days", (700, 300))
    (image.rotate(90, expand=True) if name == "sideways.png" else image).save(path)
    with read(path, ReadOptions()) as reading:
        (page,) = list(reading)
    start = page.text.index("thirty")
    (box,) = locate_text(path, 1, page.offsets.to_original(Span(start, start + 6)))
    shown = Image.open(io.BytesIO(render_page(path, 1)))
    ink = shown.convert("L").point(lambda value: 255 * (value < 128))
    assert ink.getbbox() is not None
    left, top, right, bottom = (edge for edge in ink.getbbox() or ())
    if name == "sideways.png":  # a turned line is marked as a whole
        assert (box.top * shown.height, box.bottom * shown.height) == pytest.approx((top, bottom), abs=20)
        assert box.left * shown.width == pytest.approx(left, abs=12)
        return
    assert box.left * shown.width == pytest.approx(left + 0.58 * (right - left), abs=0.06 * (right - left))
    assert box.right * shown.width == pytest.approx(left + 0.80 * (right - left), abs=0.06 * (right - left))
    assert box.top * shown.height < top + 12 < bottom - 12 < box.bottom * shown.height
