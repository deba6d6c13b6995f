"""A PDF page's text through PDFium: its lines with their places, in reading order, each character traceable.

PDFium reads text, outline, labels and metadata alike (Apache-2.0 and BSD; 10 to 20 times the speed of pypdf), so that
one parser meets the hostile input.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import pypdfium2.raw as pdfium_c

from indexer.parse.lines import Gap, Line, ordered

Box = tuple[float, float, float, float]

_WIDE = 15
"""A line this many letter heights wide may run over two columns."""

_WIDEST_SPACE = 0.8
_SOLID = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_SAMPLED_LINES = 12
_NAME = ctypes.create_string_buffer(128)
_BOX = pdfium_c.FS_RECTF()
_BOX_POINTER = ctypes.byref(_BOX)
_COLOUR = tuple(ctypes.c_uint() for _ in range(4))
_COLOUR_POINTERS = tuple(map(ctypes.byref, _COLOUR))
"""One structure for all calls: PDFium is used by one thread at a time anyway."""

_PALEST = 240
_REACH = 100
_UNITS = 1 << 20
"""Places are asked of PDFium in whole units of a page this wide and high, a hundred points apart."""

_SMALLEST = 1.5
_UNSEEN = " \t\xa0\u3000\x02\ufffe"
_LINES = re.compile("[^\r\n\x02\ufffe]*[\x02\ufffe]|[^\r\n\x02\ufffe]+")
"""PDFium joins a word broken at a line's end and leaves U+FFFE (or U+0002) where the line ended."""

_SPACES = re.compile(r"\s+")
_CLOSED = re.compile(r"[.!?:;。！？：；…”’\"')\]）」』]\s*$")


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's text in reading order, and for each line where it came from: (start here, start in PDFium's text)."""

    text: str
    lines: tuple[Line, ...]
    starts: tuple[int, ...]


def page_lines(textpage: Any) -> list[Line]:
    """The lines of a page in the order of its content, their boxes turned so that most of the text runs rightwards."""
    if textpage.count_chars() < 1:
        return []
    text: str = textpage.get_text_range()
    exact = len(text) == textpage.count_chars()

    def box(offset: int) -> Box:
        return char_box(textpage, offset if exact else char_index(textpage, text, offset))

    found = [(m.group(), m.start(), *_trimmed(text, m.start(), m.end())) for m in _LINES.finditer(text)]
    ends = [(box(start), box(end - 1)) for _, _, start, end in found if start < end]
    turn = _turn(ends) if not _SOLID.search(text) else _as_is
    lines = []
    for (piece, place, start, _), (first, last) in zip(
        (item for item in found if item[2] < item[3]), ends, strict=True
    ):
        a, b = turn(first), turn(last)
        shape = (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))
        index = start if exact else char_index(textpage, text, start)
        line = Line(piece, place, *shape, weight=_weight(textpage, index), index=index, pale=_is_pale(textpage, index))
        lines.append(replace(line, hidden=True) if _is_hidden(textpage, index, line.size) else line)
    return _with_gaps(lines, lambda offset: turn(box(offset)))


def _with_gaps(lines: list[Line], box: Callable[[int], Box]) -> list[Line]:
    """The lines with their wide spaces, if a sample of the long lines shows that there are any worth looking for."""
    wide = [index for index, line in enumerate(lines) if line.right - line.left > _WIDE * max(line.size, 1)]
    sample = wide[:: max(len(wide) // _SAMPLED_LINES, 1)]
    found = sum(bool(_gaps(lines[index], box)) for index in sample[::2])
    if not found or found + sum(bool(_gaps(lines[index], box)) for index in sample[1::2]) < 2:
        return lines
    for index in wide:
        lines[index] = replace(lines[index], gaps=_gaps(lines[index], box))
    return lines


def _weight(textpage: Any, index: int) -> int:
    """The weight of a character's font, 400 for a plain one; fonts that are not embedded say it in their names only."""
    weight = int(pdfium_c.FPDFText_GetFontWeight(textpage.raw, index))
    if weight > 0:
        return weight
    pdfium_c.FPDFText_GetFontInfo(textpage.raw, index, _NAME, len(_NAME), ctypes.byref(ctypes.c_int()))
    return 700 if re.search(rb"bold|black|heavy", _NAME.value, re.IGNORECASE) else 400


def _is_hidden(textpage: Any, index: int, size: float) -> bool:
    """Whether a character is drawn with the invisible mode, or smaller than anybody can read."""
    if 0 < size < _SMALLEST:
        return True
    item = pdfium_c.FPDFText_GetTextObject(textpage.raw, index)
    return bool(item) and pdfium_c.FPDFTextObj_GetTextRenderMode(item) == pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE


def _is_pale(textpage: Any, index: int) -> bool:
    """Whether a character is filled with as good as white, or with hardly any colour at all."""
    known = pdfium_c.FPDFText_GetFillColor(textpage.raw, index, *_COLOUR_POINTERS)
    red, green, blue, alpha = (value.value for value in _COLOUR)
    return bool(known) and (min(red, green, blue) > _PALEST or alpha < 255 - _PALEST)


def _gaps(line: Line, box: Callable[[int], Box]) -> tuple[Gap, ...]:
    """The spaces of a line that are wider than spaces between words are."""
    gaps = []
    for match in _SPACES.finditer(line.text):
        if not 0 < match.start() < match.end() < len(line.text):
            continue
        left, right = box(line.start + match.start() - 1)[2], box(line.start + match.end())[0]
        if right - left > _WIDEST_SPACE * line.size:
            gaps.append(Gap(match.end(), left, right))
    return tuple(gaps)


def _as_is(box: Box) -> Box:
    return box


def _turn(ends: list[tuple[Box, Box]]) -> Callable[[Box], Box]:
    """How boxes are turned so that most lines run from left to right; the origin does not matter here.

    Lines that run downwards stay as they are when they are Chinese or Japanese: those are read that way.
    """
    right = sum(abs(last[0] - first[0]) for first, last in ends)
    down = sum(first[1] - last[1] for first, last in ends)
    if abs(down) <= right:
        return _as_is
    if down > 0:
        return lambda box: (-box[3], box[0], -box[1], box[2])
    return lambda box: (box[1], -box[2], box[3], -box[0])


def char_index(textpage: Any, text: str, offset: int) -> int:
    """PDFium's character index of a place in its text; the two differ where characters have no or two code units."""
    units = len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2
    return int(pdfium_c.FPDFText_GetCharIndexFromTextIndex(textpage.raw, units))


def char_box(textpage: Any, index: int) -> Box:
    """Left, bottom, right and top of a character's cell, in points from the page's lower left corner."""
    if not pdfium_c.FPDFText_GetLooseCharBox(textpage.raw, index, _BOX_POINTER):
        return (0.0, 0.0, 0.0, 0.0)
    bottom, top = _BOX.bottom, _BOX.top
    return (_BOX.left, bottom, _BOX.right, top) if bottom < top else (_BOX.left, top, _BOX.right, bottom)


class Frame:
    """How a page is shown, cropped and turned: from places in points to fractions from the upper left corner."""

    def __init__(self, page: Any) -> None:
        self._origin = _on_screen(page, 0, 0)
        self._across, self._up = (
            tuple((a - b) / _REACH for a, b in zip(_on_screen(page, x, y), self._origin, strict=True))
            for x, y in ((_REACH, 0), (0, _REACH))
        )

    def box(self, box: Box) -> Box:
        """A box in page space as left, top, right and bottom of the shown page, cut where the page ends."""
        (x0, y0), (x1, y1) = self._place(box[0], box[1]), self._place(box[2], box[3])
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)

    def _place(self, x: float, y: float) -> tuple[float, float]:
        across = self._origin[0] + x * self._across[0] + y * self._up[0]
        down = self._origin[1] + x * self._across[1] + y * self._up[1]
        return min(max(across, 0.0), 1.0), min(max(down, 0.0), 1.0)


def _on_screen(page: Any, x: int, y: int) -> tuple[float, float]:
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium_c.FPDF_PageToDevice(page.raw, 0, 0, _UNITS, _UNITS, 0, x, y, ctypes.byref(across), ctypes.byref(down))
    return across.value / _UNITS, down.value / _UNITS


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    line = text[start:end]
    return start + len(line) - len(line.lstrip(_UNSEEN)), end - len(line) + len(line.rstrip(_UNSEEN))


def page_text(lines: list[Line]) -> PageText:
    """Put lines in reading order and tell paragraphs (an empty line between) from line breaks inside one."""
    lines = ordered(lines)
    pieces: list[str] = []
    starts: list[int] = []
    length = 0
    for line, border in zip(lines, _borders(lines), strict=True):
        starts.append(length)
        piece = line.text + ("\n\n" if border else "\n")
        pieces.append(piece)
        length += len(piece)
    return PageText("".join(pieces), tuple(lines), tuple(starts))


def _borders(lines: list[Line]) -> list[bool]:
    """For each line, whether a paragraph ends with it."""
    if not lines:
        return []
    pitches = [
        a.bottom - b.bottom for a, b in zip(lines, lines[1:], strict=False) if 0 < a.bottom - b.bottom < 4 * a.size
    ]
    pitch = median(pitches) if pitches else 0.0
    right = sorted(line.right for line in lines)[int(len(lines) * 0.9)]
    ends = [_ends(a, b, pitch, right) for a, b in zip(lines, lines[1:], strict=False)]
    going_on = sorted(line.right for line, end in zip(lines, ends, strict=False) if not end)
    return [*ends, _ends_page(lines[-1], going_on[len(going_on) // 10] if going_on else right)]


def _ends_page(last: Line, margin: float) -> bool:
    """Whether a paragraph ends with a page; ``margin`` is what all but the shortest of the lines that go on reach.

    Where text is not justified these are shorter than the longest, and a last line like them may go on, too.
    """
    return bool(_CLOSED.search(last.text)) or last.vertical or last.right < margin - 2.5 * last.size


def _ends(line: Line, following: Line, pitch: float, right: float) -> bool:
    if line.vertical or following.vertical:
        return line.vertical != following.vertical
    if abs(line.size - following.size) > 0.2 * max(line.size, following.size, 1):
        return True
    step = line.bottom - following.bottom
    closed = bool(_CLOSED.search(line.text))
    if step < -0.5 * line.size:  # the next column
        return closed
    if step > max(1.35 * pitch, 1.35 * line.size):
        return True
    indented = following.left > line.left + 0.7 * line.size
    short = line.right < min(right, following.right) - 2.5 * line.size
    return (indented and closed) or (short and closed and step > 0.2 * line.size)
