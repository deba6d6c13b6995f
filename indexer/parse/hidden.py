"""Text on a PDF's page that no reader sees: drawn invisibly, too small, or in the colour of what lies behind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pypdfium2.raw as pdfium_c

from indexer.parse.lines import Line
from indexer.parse.pdfium import Frame, char_box

SCANNED_SHARE = 0.6
"""A page that pictures cover so far is a scan."""

_LEAST_CONTRAST = 24
"""Of 255 shades: what differs less from its surroundings is not read."""

_SCALE = 0.5
_MOST_PIXELS = 2_000_000
_MOST_OBJECTS = 2_000


def without_contrast(page: Any, textpage: Any, lines: Sequence[Line]) -> frozenset[Line]:
    """The pale lines where a picture of the page shows nothing but one shade, such as white on white."""
    pale = [line for line in lines if line.pale and not line.hidden]
    if not pale:
        return frozenset()
    width, height = page.get_size()
    frame = Frame(page)
    picture = page.render(scale=min(_SCALE, math.sqrt(_MOST_PIXELS / max(width * height, 1))), grayscale=True).to_pil()
    return frozenset(line for line in pale if _is_blank(picture, frame.box(_box(textpage, line))))


def invisible_chars(page: Any, lines: Sequence[Line]) -> int:
    """Characters drawn invisibly or too small to read. Over a scan they are its text layer, which is wanted."""
    count = sum(len(line.text) for line in lines if line.hidden)
    return count if count and image_share(page) < SCANNED_SHARE else 0


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


def _box(textpage: Any, line: Line) -> tuple[float, float, float, float]:
    first, last = (char_box(textpage, index) for index in (line.index, line.index + len(line.text.rstrip()) - 1))
    return min(first[0], last[0]), min(first[1], last[1]), max(first[2], last[2]), max(first[3], last[3])


def _is_blank(picture: Any, box: tuple[float, float, float, float]) -> bool:
    left, top, right, bottom = box
    area = (
        math.floor(left * picture.width),
        math.floor(top * picture.height),
        math.ceil(right * picture.width),
        math.ceil(bottom * picture.height),
    )
    if area[2] <= area[0] or area[3] <= area[1]:
        return True  # it lies off the page
    darkest, lightest = picture.crop(area).getextrema()
    return bool(lightest - darkest < _LEAST_CONTRAST)
