"""Tables (xlsx, csv, tsv): a line for each row, its cells under one another's headings, sheet by sheet."""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from indexer.parse.blocks import Block, stretches
from indexer.parse.formats.text import decoded
from indexer.parse.model import Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions
from indexer.parse.packages import Package, core_properties

_SEPARATOR = " | "
_SNIFFED_CHARS = 8192


def row_blocks(rows: Iterable[Sequence[str]]) -> Iterator[Block]:
    """A block for each row that has something in it."""
    for row in rows:
        cells = [" ".join(cell.split()) for cell in row]
        if any(cells):
            yield Block(_SEPARATOR.join(cell for cell in cells if cell), tight=True)
    yield Block("")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value)


def _workbook(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    import openpyxl

    with Package(path, options) as package:
        core_properties(package, facts)
        for name in package.names:  # openpyxl inflates them itself, so their real sizes are counted first
            if name.endswith(".xml"):
                with package.stream(name) as part:
                    while part.read(1 << 16):
                        pass
    with path.open("rb") as file:  # by its name openpyxl would refuse a workbook that is called something else
        book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
        yield from stretches(_sheets(book.worksheets))


def _sheets(sheets: Iterable[object]) -> Iterator[Block]:
    for sheet in sheets:
        yield Block(str(getattr(sheet, "title", "")), 2)
        sheet.reset_dimensions()  # type: ignore[attr-defined]  # a read-only sheet; what it claims may be a million rows
        yield from row_blocks([_cell(value) for value in row] for row in sheet.iter_rows(values_only=True))  # type: ignore[attr-defined]


def _delimited(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    pieces = decoded(path, facts)
    first = next(pieces, "").removeprefix("\ufeff")
    csv.field_size_limit(1 << 24)
    rows = csv.reader(_csv_lines(first, pieces), delimiter=_delimiter(first) or ",")
    yield from stretches(row_blocks(rows))


def _csv_lines(first: str, pieces: Iterator[str]) -> Iterator[str]:
    rest = first.replace("\x00", "")
    while True:
        *lines, rest = rest.splitlines(keepends=True) or [""]
        yield from lines
        piece = next(pieces, None)
        if piece is None:
            yield rest
            return
        rest += piece.replace("\x00", "")


def _delimiter(text: str) -> str | None:
    """The character that cuts nearly every line into the same number of cells, at least two."""
    best: tuple[float, str | None] = (0.0, None)
    for mark in (",", ";", "\t", "|"):
        try:
            rows = [row for row in csv.reader(io.StringIO(text[:_SNIFFED_CHARS]), delimiter=mark) if row][:-1]
        except csv.Error:
            continue
        if len(rows) < 2:
            continue
        widths = [len(row) for row in rows]
        common = max(set(widths), key=widths.count)
        share = widths.count(common) / len(widths)
        if common > 1 and share > 0.9 and common * share > best[0]:
            best = (common * share, mark)
    return best[1]


def _recognise_workbook(sample: Sample) -> int:
    return 80 if "xl/workbook.xml" in sample.zip_names else 0


def _recognise_delimited(sample: Sample) -> int:
    if sample.text is None or sample.suffix not in ("csv", "tsv", "tab", "") or re.match(r"\s*[<{\[]", sample.text):
        return 0
    delimiter = _delimiter(sample.text)
    if sample.suffix:
        return 40 if delimiter or sample.suffix in ("csv", "tsv") else 0
    return 15 if delimiter and len(sample.text.split(delimiter)) > 20 else 0


FORMATS = (
    Format(
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ("xlsx", "xlsm"),
        "openpyxl",
        _recognise_workbook,
        _workbook,
    ),
    Format("csv", "text/csv", ("csv", "tsv"), "csv", _recognise_delimited, _delimited),
)
