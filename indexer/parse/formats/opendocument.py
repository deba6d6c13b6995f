"""OpenDocument text, tables and slides (odt, ods, odp), zipped or flat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from lxml import etree

from indexer.parse.blocks import Block, stretches
from indexer.parse.model import Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions
from indexer.parse.packages import Package, attribute, core_properties, forget, local

_TOPS = ("h", "p", "table", "list")
_MOST_REPEATED = 50
_SKIPPED = frozenset(
    ("tracked-changes", "annotation-end", "sequence-decls", "forms", "bookmark-start", "soft-page-break")
)


def _text(element: etree._Element) -> str:
    """The text of an element; notes stand in brackets where they belong."""
    name = local(element)
    if not name or name in _SKIPPED:
        return ""
    if name == "s":
        return " " * min(int(attribute(element, "c") or 1), _MOST_REPEATED)
    if name in ("tab", "line-break"):
        return "\t" if name == "tab" else "\n"
    pieces = [element.text or ""]
    for child in element:
        pieces.append(_text(child))
        pieces.append(child.tail or "")
    text = "".join(pieces)
    if name in ("note", "annotation"):
        return f" [{' '.join(text.split())}]"
    if name == "note-citation":
        return ""
    return text + ("\n" if name in ("p", "h") else "")


def _blocks_of(element: etree._Element) -> Iterator[Block]:
    name = local(element)
    if name in ("p", "h"):
        level = attribute(element, "outline-level") if name == "h" else ""
        yield Block(_text(element), int(level) if level.isdigit() else int(name == "h"))
    elif name == "list":
        for item in element.iter("{*}p", "{*}h"):
            yield Block("- " + _text(item).strip(), tight=True)
        yield Block("")
    else:
        yield from _rows(element)


def _rows(table: etree._Element) -> Iterator[Block]:
    parent = table.getparent()
    if parent is not None and local(parent) == "spreadsheet":
        yield Block(attribute(table, "name"), 2)
    for row in table.iter("{*}table-row"):
        cells = []
        for cell in row.iterchildren("{*}table-cell"):
            text = " ".join(_text(cell).split())
            repeated = attribute(cell, "number-columns-repeated")
            cells += [text] * (min(int(repeated), _MOST_REPEATED) if text and repeated.isdigit() else 1)
        yield Block(" | ".join(cell for cell in cells if cell), tight=True)
    yield Block("")


def _blocks(package: Package) -> Iterator[Block]:
    depth = 0
    skipped = 0
    for event, element in package.events("content.xml"):
        name = local(element)
        if name in _SKIPPED:
            skipped += 1 if event == "start" else -1
        if name not in _TOPS or skipped:
            continue
        depth += 1 if event == "start" else -1
        if event == "end" and not depth:
            yield from _blocks_of(element)
            forget(element)


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    with Package(path, options) as package:
        core_properties(package, facts, "meta.xml")
        yield from stretches(_blocks(package))


def _kind(sample: Sample) -> str:
    """The media type that OpenDocument asks to be the archive's first, uncompressed entry."""
    if not sample.head.startswith(b"PK\x03\x04") or sample.head[30:38] != b"mimetype":
        return ""
    return sample.head[38:120].split(b"PK")[0].decode("ascii", "replace")


def _recogniser(kind: str) -> Callable[[Sample], int]:
    def recognise(sample: Sample) -> int:
        wanted = f"application/vnd.oasis.opendocument.{kind}"
        return 80 if _kind(sample).startswith(wanted) and "content.xml" in sample.zip_names else 0

    return recognise


FORMATS = tuple(
    Format(name, f"application/vnd.oasis.opendocument.{kind}", (name,), "lxml", _recogniser(kind), _extract)
    for name, kind in (("odt", "text"), ("ods", "spreadsheet"), ("odp", "presentation"))
)
