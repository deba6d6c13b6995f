"""Pictures of text (png, jpeg, tiff, webp, bmp, gif): read by OCR, a page for each picture in the file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

from indexer.datatypes import Status
from indexer.parse.model import NO_PICTURE_TEXT, Facts, Format, RawPage, Sample, UnreadableError, ocr_hint
from indexer.parse.options import ReadOptions

_MARKS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
)
_MOST_PIXELS = 200_000_000
_MOST_PICTURES = 5_000


def _media_type(head: bytes) -> str | None:
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith(b"BM") and head[6:10] != b"\x00\x00\x00\x00":
        return None
    return next((kind for mark, kind in _MARKS if head.startswith(mark)), None)


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    from PIL import Image, ImageOps, UnidentifiedImageError

    from indexer.parse.pdfium import page_text
    from indexer.parse.recognition import bounded, is_available, recognise_lines

    with path.open("rb") as file:
        facts.media_type = _media_type(file.read(16)) or facts.media_type
    if options.ocr == "never" or not is_available():
        raise UnreadableError(Status.NEEDS_OCR, NO_PICTURE_TEXT + ocr_hint(options, is_available()))
    Image.MAX_IMAGE_PIXELS = _MOST_PIXELS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(path)
            facts.page_count = min(getattr(picture, "n_frames", 1), _MOST_PICTURES)
            if facts.page_count > 1 and facts.media_type in ("image/gif", "image/webp"):
                facts.page_count = 1  # an animation says the same again and again
            for index in range(facts.page_count):
                picture.seek(index)
                picture.draft("RGB", (3400, 3400))
                layout = page_text(recognise_lines(ImageOps.exif_transpose(bounded(picture))))
                yield RawPage(layout.text, index + 1, join_lines=True, recognised=True)
    except Image.DecompressionBombError as error:
        raise UnreadableError(Status.TOO_LARGE, f"the picture has more than {_MOST_PIXELS:,} pixels") from error
    except UnidentifiedImageError as error:
        raise UnreadableError(Status.FAILED, "the picture is damaged") from error


def _recognise(sample: Sample) -> int:
    return 85 if _media_type(sample.head[:16]) else 0


FORMATS = (
    Format(
        "png, jpg, tif, webp, bmp, gif",
        "image/*",
        ("png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp", "gif"),
        "rapidocr",
        _recognise,
        _extract,
        needs="the extra `ocr`",
    ),
)
