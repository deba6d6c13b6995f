"""Whether highlights cover the right words: `python -m tests.benchmarks.rectangles [--chunks N] [--pictures DIR] PDF`.

Takes random chunks of each PDF, asks where they stand as the browser does, and reads what PDFium finds inside those
rectangles. The words there must be the chunk's: the share of the chunk's words that lie inside, and of the words inside
that are the chunk's. With --pictures each page is drawn with its rectangles, for people to look at.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pypdfium2
from PIL import Image, ImageDraw

from indexer import Rectangle, Span, locate_text, render_page
from indexer.chunk import chunk_pages
from indexer.datatypes import Chunk, Page
from indexer.normalize import clean
from indexer.parse import ReadOptions, read
from indexer.parse.pdfium import Frame

OPTIONS = ReadOptions(ocr="never")


@dataclass(frozen=True)
class Marked:
    """A chunk's part on one page, its rectangles, and two shares of words, 0 to 1."""

    path: Path
    page: int
    text: str
    boxes: tuple[Rectangle, ...]
    covered: float
    own: float


def pages_of(path: Path) -> list[Page]:
    """A PDF's pages as they are read."""
    with read(path, OPTIONS) as reading:
        return list(reading)


def marked(path: Path, count: int, seed: int = 1) -> list[Marked]:
    """Random chunks of a PDF and where they are marked."""
    pages = [page for page in pages_of(path) if page.number is not None]
    starts, length = [], 0
    for page in pages:
        starts.append(length)
        length += len(page.text)
    chunks = list(chunk_pages(iter(pages), lambda texts: [len(text.split()) or 1 for text in texts]))
    chosen = random.Random(seed).sample(chunks, min(count, len(chunks)))
    return [one for chunk in chosen for one in _on_pages(path, chunk, pages, starts)]


def _on_pages(path: Path, chunk: Chunk, pages: list[Page], starts: list[int]) -> list[Marked]:
    found = []
    for page, start in zip(pages, starts, strict=True):
        first, last = max(chunk.span.start - start, 0), min(chunk.span.end - start, len(page.text))
        if first >= last or not page.text[first:last].strip() or page.unread:
            continue
        span = Span(first, last)
        boxes = locate_text(path, page.number or 1, page.offsets.to_original(span), OPTIONS)
        text = page.text[span.start : span.end]
        inside = words_inside(path, page.number or 1, boxes)
        found.append(Marked(path, page.number or 1, text, boxes, *_shares(text, inside)))
    return found


def words_inside(path: Path, number: int, boxes: tuple[Rectangle, ...]) -> str:
    """The characters whose middle lies inside the rectangles, in PDFium's order, cleaned as a page is."""
    pdf = pypdfium2.PdfDocument(path)
    page = pdf[number - 1]
    text = page.get_textpage()
    kept, frame = [], Frame(page)
    for index in range(text.count_chars()):
        left, top, right, bottom = frame.box(text.get_charbox(index, loose=True))
        x, y = (left + right) / 2, (top + bottom) / 2
        within = any(box.left <= x <= box.right and box.top <= y <= box.bottom for box in boxes)
        kept.append(text.get_text_range(index, 1) if within else "\n")
    text.close()
    page.close()
    pdf.close()
    return clean(re.sub(r"\n+", "\n", "".join(kept))).text


def _shares(text: str, inside: str) -> tuple[float, float]:
    """Of the chunk's letters inside the rectangles, and of the letters inside that are the chunk's."""
    wanted, found = (Counter(re.sub(r"[\W_]+", "", value)) for value in (text, inside))
    both = (wanted & found).total()
    return both / max(wanted.total(), 1), both / max(found.total(), 1)


def picture(one: Marked, width: int = 620) -> Image.Image:
    """The page with the rectangles on it."""
    page = Image.open(BytesIO(render_page(one.path, one.page, 1.6))).convert("RGB")
    draw = ImageDraw.Draw(page, "RGBA")
    for box in one.boxes:
        corners = (box.left * page.width, box.top * page.height, box.right * page.width, box.bottom * page.height)
        draw.rectangle(corners, fill=(255, 200, 0, 90), outline=(200, 80, 0, 255))
    return page.resize((width, max(page.height * width // page.width, 1)))


def main() -> None:
    """Print the shares, and draw the pages when asked to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pdf", nargs="+", type=Path)
    parser.add_argument("--chunks", type=int, default=3)
    parser.add_argument("--pictures", type=Path)
    given = parser.parse_args()
    everything = [one for path in given.pdf for one in marked(path, given.chunks)]
    for place, one in enumerate(everything):
        print(f"{one.path.name} page {one.page}: {one.covered:.3f} covered, {one.own:.3f} own, {len(one.boxes)} lines")
        if given.pictures:
            given.pictures.mkdir(parents=True, exist_ok=True)
            picture(one).save(given.pictures / f"{place:02}-{one.path.stem}-{one.page}.png")
    good = sum(one.covered > 0.98 and one.own > 0.98 for one in everything)
    print(f"{good} of {len(everything)} marks hold just their chunk's words")


if __name__ == "__main__":
    main()
