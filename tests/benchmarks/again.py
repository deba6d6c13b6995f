"""A long PDF that is added again after one paragraph of it was changed: how much of it is encoded once more.

    python -m tests.benchmarks.again [--pages 400] [--json FILE]

Once the paragraph keeps its length, and once it grows by some lines, so that every page after it ends elsewhere. The
encoder is left out: tokens are counted as words. Goal: under 5 % of the tokens.
"""

from __future__ import annotations

import argparse
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reportlab.pdfgen.canvas import Canvas

from indexer.datatypes import RunReport
from indexer.ingest import AddOptions, add
from indexer.library import Library
from indexer.parse import ReadOptions
from indexer.settings import Settings
from tests.benchmarks.adding import print_rows, write_json
from tests.benchmarks.material import long_text
from tests.fakes import FakeEncoder

LINES = 42
CHARS_A_PAGE = 3_400
MORE = " Whoever signed this agreement before the first of May may ask for another copy of the schedule." * 6


def book(path: Path, paragraphs: Sequence[str], pages: int) -> None:
    """A PDF of paragraphs that run over its pages, each with a header and a number."""
    lines = [line for paragraph in paragraphs for line in (*textwrap.wrap(paragraph, 90), "")]
    canvas = Canvas(str(path), pagesize=(595, 842))
    for page in range(pages):
        canvas.setFont("Helvetica", 10)
        canvas.drawString(60, 800, "Handbook of pumps")
        for place, line in enumerate(lines[page * LINES : (page + 1) * LINES]):
            canvas.drawString(60, 760 - 17 * place, line)
        canvas.drawString(290, 25, str(page + 1))
        canvas.showPage()
    canvas.save()


CHANGES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("as long", lambda paragraph: " ".join(reversed(paragraph.split()))),
    ("longer", lambda paragraph: paragraph + MORE),
)


def change(pages: int, changes: Sequence[tuple[str, Callable[[str], str]]] = CHANGES) -> list[dict[str, Any]]:
    """Add a book, and again with a paragraph in its first quarter changed; the share of its tokens encoded again."""
    paragraphs = long_text(pages * CHARS_A_PAGE).split("\n\n")
    place = len(paragraphs) // 4
    rows = []
    for name, changed in changes:
        after = [*paragraphs[:place], changed(paragraphs[place]), *paragraphs[place + 1 :]]
        again = add_twice(paragraphs, after, pages)[1]
        rows.append(
            {
                "paragraph": name,
                "pages": pages,
                "tokens": again.tokens,
                "encoded again": again.encoded_tokens,
                "share": again.encoded_tokens / again.tokens,
            }
        )
    return rows


def add_twice(before: Sequence[str], after: Sequence[str], pages: int) -> list[RunReport]:
    """Add a book and then, at the same place, its next version."""
    reports = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        folder.mkdir()
        settings = Settings(library=Path(place) / "library", cache=Path(place) / "cache")
        with Library.open(settings.library, settings, create=True, write=True, encoder=FakeEncoder()) as library:
            for paragraphs in (before, after):
                book(folder / "book.pdf", paragraphs, pages)
                reports.append(add(library, [str(folder)], AddOptions(ReadOptions(ocr="never", sandbox=False))))
    return reports


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = change(options.pages)
    print_rows(rows)
    write_json(options.json, "again", rows)


if __name__ == "__main__":
    main()
