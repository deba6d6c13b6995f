"""The letters inside a chunk's rectangles are the chunk's, on plain, two-column and turned pages, and in Chinese."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pypdf
import pytest
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfgen.canvas import Canvas

from tests.benchmarks.rectangles import _shares, marked, words_inside
from tests.parse.test_pdf import lines, made

CHINESE = "供应商应当在订单确认之后三十天之内交付所有的泵和备件，逾期则按日支付违约金。"


def draw(canvas: Canvas) -> None:
    registerFont(UnicodeCIDFont("STSong-Light"))
    lines(canvas, 740, *[CHINESE] * 6, font="STSong-Light")
    for column, left in (("left", 60), ("right", 320)):
        column_lines = [f"The {column} column says {number} things here." for number in range(30)]
        lines(canvas, 600, *column_lines, left=left)


@pytest.mark.parametrize("turn", [0, 90, 180])
def test_the_letters_inside_are_the_chunks(tmp_path: Path, turn: int) -> None:
    path = made(tmp_path, draw)
    writer = pypdf.PdfWriter(clone_from=path)
    writer.pages[0].rotate(turn)
    writer.write(path)
    found = marked(path, 3)
    assert len(found) == 3
    assert all(one.boxes and one.covered == one.own == 1.0 for one in found)


def test_shifted_rectangles_would_be_noticed(tmp_path: Path) -> None:
    path = made(tmp_path, draw)
    one = marked(path, 1)[0]
    off = tuple(replace(box, top=box.top + 0.05, bottom=box.bottom + 0.05) for box in one.boxes)
    covered, own = _shares(one.text, words_inside(path, one.page, off))
    assert min(covered, own) < 0.98
