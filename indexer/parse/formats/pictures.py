"""Pictures of text (png, jpeg, tiff, webp, bmp, gif): read by OCR, a page for each picture in the file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.datatypes import Status
from indexer.parse.model import NO_PICTURE_TEXT, Facts, Format, RawPage, Sample, UnreadableError, ocr_hint
from indexer.parse.options import ReadOptions
from indexer.parse.pdfium import PageText, page_text

if TYPE_CHECKING:
    from PIL.Image import Image

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
_PAGE_POINTS = 842


def _media_type(head: bytes) -> str | None:
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith(b"BM") and head[6:10] != b"\x00\x00\x00\x00":
        return None
    return next((kind for mark, kind in _MARKS if head.startswith(mark)), None)


def is_picture(path: Path) -> bool:
    """Whether a file is a picture. Raises OSError."""
    with path.open("rb") as file:
        return _media_type(file.read(16)) is not None


@contextmanager
def _opened(path: Path) -> Iterator[Image]:
    """A picture that is open. Raises UnreadableError when it is too large or damaged."""
    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = _MOST_PIXELS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path) as picture:
                yield picture
    except Image.DecompressionBombError as error:
        raise UnreadableError(Status.TOO_LARGE, f"the picture has more than {_MOST_PIXELS:,} pixels") from error
    except UnidentifiedImageError as error:
        raise UnreadableError(Status.FAILED, "the picture is damaged") from error


def _frame(picture: Image, index: int) -> Image:
    """One of the pictures in a file, upright and of bearable size."""
    from PIL import ImageOps

    from indexer.parse.recognition import bounded

    picture.seek(index)
    picture.draft("RGB", (3400, 3400))
    return ImageOps.exif_transpose(bounded(picture))


def _count(picture: Image, media_type: str) -> int:
    """Pictures in a file; an animation says the same again and again."""
    return 1 if media_type in ("image/gif", "image/webp") else min(getattr(picture, "n_frames", 1), _MOST_PICTURES)


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    from indexer.parse.recognition import is_available

    with path.open("rb") as file:
        facts.media_type = _media_type(file.read(16)) or facts.media_type
    if options.ocr == "never" or not is_available():
        raise UnreadableError(Status.NEEDS_OCR, NO_PICTURE_TEXT + ocr_hint(options, is_available()))
    with _opened(path) as picture:
        facts.page_count = _count(picture, facts.media_type)
        for index in range(facts.page_count):
            text = _recognised(_frame(picture, index)).text
            yield RawPage(text, index + 1, join_lines=True, recognised=True)


def _recognised(picture: Image) -> PageText:
    from indexer.parse.recognition import recognise_lines

    return page_text(recognise_lines(picture))


def layout(path: Path, number: int) -> PageText:
    """What OCR reads in one of a file's pictures (the first is 1), with its places. Raises UnreadableError."""
    with _opened(path) as picture:
        return _recognised(_frame(picture, _index(picture, number)))


def draw(path: Path, number: int, scale: float) -> Image:
    """One of a file's pictures as it is read, not enlarged, for ``scale`` pixels to a point of a page."""
    with _opened(path) as picture:
        shown = _frame(picture, _index(picture, number)).convert("RGB")
        side = max(int(_PAGE_POINTS * scale), 16)
        shown.thumbnail((side, side))
        return shown


def _index(picture: Image, number: int) -> int:
    count = getattr(picture, "n_frames", 1)
    if not 1 <= number <= count:
        raise UnreadableError(Status.FAILED, f"there is no picture {number}; the file has {count}")
    return number - 1


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
