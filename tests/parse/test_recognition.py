"""Pictures of text: told from their content, read by OCR where the extra is installed, and said where it is not."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from indexer.datatypes import Status
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
