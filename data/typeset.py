"""Typeset data/manual.txt as data/samples/manuals/TW-340-metering-pump-manual.pdf, with an outline and page labels.

usage: python data/typeset.py [TARGET.pdf]      needs reportlab (extra `test`); the same text gives the same bytes

The text's marks: `# ` a chapter, `## ` a section, `- ` and `1. ` lists, `| a | b |` rows below a `!table`, `!note` and
`!warning` boxes, `!figure NAME`, `!flow PUMP MILLILITRES`, `!dilution`; anything else is a paragraph.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.graphics.shapes import Circle, Drawing, Line, Polygon, Rect, String
from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)
from reportlab.platypus.tableofcontents import TableOfContents

HERE = Path(__file__).resolve().parent
PUBLISHED = datetime(2025, 10, 6, 9, 30, tzinfo=UTC)
SOURCE = HERE / "manual.txt"
TARGET = HERE / "samples" / "manuals" / "TW-340-metering-pump-manual.pdf"
FRONT_PAGES = 6  # cover, imprint, four pages of contents: labelled i to vi
ROMAN = ("i", "ii", "iii", "iv", "v", "vi")
WIDTH = A5[0] - 32 * mm

BLUE = colors.HexColor("#12456b")
PALE = colors.HexColor("#e8eff5")
BODY = ParagraphStyle("Body", fontName="Times-Roman", fontSize=10, leading=13.2, spaceAfter=5)
CHAPTER = ParagraphStyle(
    "Chapter", BODY, fontName="Helvetica-Bold", fontSize=17, leading=22, spaceAfter=12, textColor=BLUE
)
SECTION = ParagraphStyle(
    "Section", BODY, fontName="Helvetica-Bold", fontSize=11, leading=14, spaceBefore=8, spaceAfter=3, keepWithNext=1
)
ITEM = ParagraphStyle("Item", BODY, leftIndent=12, bulletIndent=1, spaceAfter=2)
CELL = ParagraphStyle("Cell", BODY, fontName="Helvetica", fontSize=7.8, leading=9.6, spaceAfter=0)
HEAD = ParagraphStyle("Head", CELL, fontName="Helvetica-Bold", textColor=BLUE)
CAPTION = ParagraphStyle("Caption", BODY, fontName="Times-Italic", fontSize=8.5, alignment=TA_CENTER, spaceAfter=8)
SUBTITLE = ParagraphStyle("Subtitle", SECTION)
COVER = ParagraphStyle("Cover", BODY, fontName="Helvetica-Bold", fontSize=26, leading=32, textColor=BLUE)


class Manual(BaseDocTemplate):
    """A document that puts its headings into the outline and into the table of contents."""

    def __init__(self, target: Path) -> None:
        super().__init__(
            str(target),
            pagesize=A5,
            leftMargin=16 * mm,
            rightMargin=16 * mm,
            topMargin=18 * mm,
            bottomMargin=16 * mm,
            title="TW-340 metering pump: operating manual",
            author="Tidewell Pump Works Limited",
            subject="Installation, operation and maintenance",
        )
        frame = Frame(self.leftMargin, self.bottomMargin, WIDTH, A5[1] - 34 * mm, 0, 0, 0, 0, id="text")
        self.addPageTemplates(
            [
                PageTemplate("front", [frame], onPage=draw_front),
                PageTemplate("main", [frame], onPage=draw_main),
            ]
        )
        self.front_pages = 0

    def afterFlowable(self, flowable: Flowable) -> None:
        """Enter a heading that has just been placed; reportlab calls this."""
        if not isinstance(flowable, Paragraph) or flowable.style.name not in ("Chapter", "Section"):
            return
        level = 0 if flowable.style.name == "Chapter" else 1
        text = flowable.getPlainText()
        key = f"heading-{self.seq.nextf('heading')}"
        self.canv.bookmarkPage(key)
        self.canv.addOutlineEntry(text, key, level, closed=level == 0)
        self.notify("TOCEntry", (level, text, self.page - FRONT_PAGES, key))


def label_pages(canvas: Canvas, page: int) -> None:
    """Give the front matter Roman labels and the rest Arabic ones, each from 1."""
    if page == 1:
        canvas.addPageLabel(0, style="ROMAN_LOWER", start=1)
    if page == FRONT_PAGES + 1:
        canvas.addPageLabel(FRONT_PAGES, style="ARABIC", start=1)


def draw_front(canvas: Canvas, document: Manual) -> None:
    """Draw what stands on every front page besides its text."""
    label_pages(canvas, document.page)
    document.front_pages = document.page
    if document.page > 1:
        canvas.setFont("Helvetica", 8)
        canvas.drawCentredString(A5[0] / 2, 9 * mm, ROMAN[document.page - 1])


def draw_main(canvas: Canvas, document: Manual) -> None:
    """Draw the running head and the page number."""
    label_pages(canvas, document.page)
    canvas.setFont("Helvetica", 7.5)
    canvas.setFillColor(colors.grey)
    canvas.drawString(16 * mm, A5[1] - 11 * mm, "TW-340 operating manual, edition 7")
    canvas.drawRightString(A5[0] - 16 * mm, A5[1] - 11 * mm, "October 2025")
    canvas.line(16 * mm, A5[1] - 13 * mm, A5[0] - 16 * mm, A5[1] - 13 * mm)
    canvas.drawCentredString(A5[0] / 2, 9 * mm, str(document.page - FRONT_PAGES))


def table(rows: Sequence[Sequence[str]], *, widths: Sequence[float] | None = None) -> Table:
    """A ruled table; its first row is the head, repeated after a page break."""
    longest = [max(min(len(row[column]), 40) for row in rows) + 2 for column in range(len(rows[0]))]
    widths = widths or [WIDTH * length / sum(longest) for length in longest]
    cells = [
        [Paragraph(escape(text), HEAD if number == 0 else CELL) for text in row] for number, row in enumerate(rows)
    ]
    result = Table(cells, colWidths=list(widths), repeatRows=1, spaceBefore=4, spaceAfter=9)
    result.setStyle(
        TableStyle(
            [
                ("BACKGROUND", (0, 0), (-1, 0), PALE),
                ("LINEBELOW", (0, 0), (-1, -1), 0.4, colors.grey),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("TOPPADDING", (0, 0), (-1, -1), 2.6),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 2.6),
            ]
        )
    )
    return result


def box(kind: str, text: str) -> Table:
    """A framed note or warning."""
    tone = colors.HexColor("#b3261e") if kind == "warning" else BLUE
    words = Paragraph(
        f'<font name="Helvetica-Bold" color="{tone.hexval()}">{kind.upper()}</font>  {escape(text)}', BODY
    )
    framed = Table([[words]], colWidths=[WIDTH], spaceBefore=4, spaceAfter=8)
    framed.setStyle(TableStyle([("BOX", (0, 0), (-1, -1), 1.2, tone), ("LEFTPADDING", (0, 0), (-1, -1), 7)]))
    return framed


def flow_table(pump: str, millilitres: float) -> Iterator[Flowable]:
    """Flow in litres an hour for stroke lengths down and stroke rates across."""
    rates = (20, 40, 60, 80, 100, 120)
    yield Paragraph(f"{pump}, litres an hour", SECTION)
    rows = [["Stroke length", *(f"{rate}/min" for rate in rates)]]
    for length in range(100, 20, -10):
        rows.append([f"{length} %", *(f"{millilitres * length / 100 * rate * 60 / 1000:.2f}" for rate in rates)])
    yield table(rows, widths=[WIDTH * 0.22] + [WIDTH * 0.13] * len(rates))


def dilution_table() -> Iterator[Flowable]:
    """How much concentrate a cubic metre of water needs, by mass."""
    stocks = ((15, 1.15, "peracetic acid 15 %"), (30, 1.18, "nitric acid 30 %"), (50, 1.53, "caustic 50 %"))
    yield Paragraph("Litres of concentrate for a cubic metre of solution (density of the solution taken as 1):", BODY)
    rows = [["Wanted", *(name for _, _, name in stocks)]]
    for wanted in (0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 1.0, 1.5, 2.0):
        rows.append([f"{wanted} %", *(f"{wanted / stock * 1000 / density:.1f}" for stock, density, _ in stocks)])
    yield table(rows, widths=[WIDTH / 4] * 4)


def labelled(drawing: Drawing, x: float, y: float, text: str) -> None:
    """Write a small label into a drawing."""
    drawing.add(String(x, y, text, fontName="Helvetica", fontSize=7))


def draw_head() -> Drawing:
    """The pump head in section."""
    drawing = Drawing(WIDTH, 118)
    drawing.add(Rect(20, 40, 60, 40, fillColor=PALE, strokeColor=BLUE))
    drawing.add(Rect(80, 55, 50, 10, fillColor=colors.lightgrey, strokeColor=BLUE))
    drawing.add(Polygon([130, 38, 138, 42, 138, 78, 130, 82], fillColor=BLUE, strokeColor=BLUE))
    drawing.add(Rect(138, 34, 34, 52, fillColor=None, strokeColor=BLUE))
    for y in (14, 86):
        drawing.add(Rect(148, y, 14, 20, fillColor=PALE, strokeColor=BLUE))
        drawing.add(Circle(155, y + 6, 3, fillColor=colors.white, strokeColor=BLUE))
        drawing.add(Circle(155, y + 14, 3, fillColor=colors.white, strokeColor=BLUE))
    for x, y, text in (
        (30, 57, "solenoid"),
        (88, 70, "rod"),
        (98, 28, "diaphragm"),
        (178, 57, "head"),
        (168, 94, "discharge valve VC-340"),
        (168, 20, "suction valve VC-340"),
    ):
        labelled(drawing, x, y, text)
    return drawing


def draw_controller() -> Drawing:
    """The front of the stroke controller."""
    drawing = Drawing(WIDTH, 100)
    drawing.add(Rect(40, 8, 190, 84, rx=6, ry=6, fillColor=PALE, strokeColor=BLUE))
    drawing.add(Rect(55, 38, 96, 44, fillColor=colors.white, strokeColor=BLUE))
    for y, text in ((70, "ANALOGUE   14.2 mA"), (57, "11.80 l/h"), (44, "100/min   004117")):
        labelled(drawing, 60, y, text)
    drawing.add(Circle(188, 60, 18, fillColor=colors.white, strokeColor=BLUE))
    labelled(drawing, 179, 57, "knob")
    for x, text in ((60, "start"), (100, "mode"), (140, "menu")):
        drawing.add(Rect(x - 4, 14, 30, 14, rx=3, ry=3, fillColor=colors.white, strokeColor=BLUE))
        labelled(drawing, x, 19, text)
    return drawing


def draw_installation() -> Drawing:
    """The order of the fittings in the delivery line."""
    drawing = Drawing(WIDTH, 92)
    drawing.add(Line(20, 60, WIDTH - 15, 60, strokeColor=BLUE, strokeWidth=2))
    names = ("pump", "safety valve", "gauge", "damper", "back pressure", "injection")
    for number, name in enumerate(names):
        x = 20 + number * (WIDTH - 50) / (len(names) - 1)
        drawing.add(Rect(x - 8, 50, 20, 20, fillColor=PALE, strokeColor=BLUE))
        labelled(drawing, x - 12, 38 if number % 2 else 76, name)
    drawing.add(Rect(8, 4, 60, 22, fillColor=None, strokeColor=BLUE))
    labelled(drawing, 14, 12, "leak tray, LS-7")
    return drawing


FIGURES: dict[str, tuple[str, Callable[[], Drawing]]] = {
    "head": ("Figure 1: solenoid, rod, diaphragm and head in section", draw_head),
    "controller": ("Figure 2: display and keys of the stroke controller SC-34", draw_controller),
    "installation": ("Figure 3: fittings of the delivery line in the order of flow", draw_installation),
}


def directive(line: str) -> Iterator[Flowable]:
    """What a line that begins with `!` stands for; `!table` only announces the rows below it."""
    name, _, rest = line[1:].partition(" ")
    if name in ("note", "warning"):
        yield box(name, rest)
    elif name == "figure":
        caption, draw = FIGURES[rest]
        yield draw()
        yield Paragraph(caption, CAPTION)
    elif name == "flow":
        pump, millilitres = rest.split()
        yield from flow_table(pump, float(millilitres))
    elif name == "dilution":
        yield from dilution_table()
    elif name != "table":
        raise ValueError(f"unknown mark: {line}")


def chapter_heading(title: str, number: int) -> Iterator[Flowable]:
    """A chapter begins on a new page; appendices carry their own letters."""
    if number > 1:
        yield PageBreak()
    yield Paragraph(escape(title if title.startswith("Appendix") else f"{number}  {title}"), CHAPTER)


def compose(text: str) -> Iterator[Flowable]:
    """The body of the manual from its marked text."""
    chapter = 0
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        if rows:
            yield table(rows)
            rows = []
        if line.startswith("# "):
            chapter += 1
            yield from chapter_heading(line[2:], chapter)
        elif line.startswith("## "):
            yield Paragraph(escape(line[3:]), SECTION)
        elif line.startswith("!"):
            yield from directive(line)
        elif match := re.match(r"(-|\d+\.) (.*)", line):
            yield Paragraph(escape(match[2]), ITEM, bulletText="\N{BULLET}" if match[1] == "-" else match[1])
        elif line:
            yield Paragraph(escape(line), BODY)


def front_matter() -> Iterator[Flowable]:
    """Cover, imprint and contents: exactly FRONT_PAGES pages."""
    yield Spacer(1, 40 * mm)
    yield Paragraph("TW-340<br/>Metering pump", COVER)
    yield Spacer(1, 8 * mm)
    yield Paragraph("Installation, operation, maintenance<br/>TW-340-06, TW-340-17 and TW-340-45", SUBTITLE)
    yield Spacer(1, 50 * mm)
    yield Paragraph("Tidewell Pump Works Limited, Whitby<br/>Edition 7, October 2025. Original instructions.", BODY)
    yield PageBreak()
    yield Spacer(1, 120 * mm)
    yield Paragraph("Document TPW-340-M-07. Firmware 4.0 to 4.3 of the stroke controller SC-34.", BODY)
    yield Paragraph("A Chinese edition, SZ-340-M-07, is kept by our works in Suzhou.", BODY)
    yield PageBreak()
    contents = TableOfContents(dotsMinLevel=0)
    contents.levelStyles = [
        ParagraphStyle(
            "First", BODY, fontName="Helvetica-Bold", fontSize=8.5, leading=10.5, spaceBefore=2.5, spaceAfter=0
        ),
        ParagraphStyle("Second", BODY, fontSize=8, leading=9, leftIndent=10, spaceAfter=0),
    ]
    yield Paragraph("Contents", ParagraphStyle("Contents", CHAPTER))
    yield contents
    yield NextPageTemplate("main")
    yield PageBreak()


def typeset(target: Path) -> None:
    """Write the manual to ``target``."""
    target.parent.mkdir(parents=True, exist_ok=True)
    os.environ["SOURCE_DATE_EPOCH"] = str(int(PUBLISHED.timestamp()))  # how reportlab is given a fixed date
    manual = Manual(target)
    manual.multiBuild([*front_matter(), *compose(SOURCE.read_text(encoding="utf-8"))])
    if manual.front_pages != FRONT_PAGES:
        raise ValueError(f"the front matter takes {manual.front_pages} pages: set FRONT_PAGES to that")


if __name__ == "__main__":
    typeset(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
