"""Word documents (docx): paragraphs, headings, tables as rows, footnotes in place, text boxes; no deleted text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from indexer.datatypes import Status
from indexer.parse.blocks import Block, stretches
from indexer.parse.model import Facts, Format, RawPage, Sample, UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.packages import Package, attribute, core_properties, forget, local

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_SKIPPED = frozenset(("del", "moveFrom", "instrText", "delText", "Fallback", "pPr", "sectPr", "tblPr"))
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes", "commentReference": "comments"}


class _Styles:
    """Heading levels of paragraph styles, by their outline level or their name in any language's Word."""

    def __init__(self, root: etree._Element | None) -> None:
        self._levels: dict[str, int] = {}
        for style in root.iter("{*}style") if root is not None else ():
            level = 0
            for part in style.iter("{*}outlineLvl", "{*}name"):
                value = attribute(part, "val")
                if local(part) == "outlineLvl" and value.isdigit() and int(value) < 9:
                    level = int(value) + 1
                elif match := re.fullmatch(r"(?:heading|标题|titre|überschrift|título) ?(\d)", value.lower()):
                    level = level or int(match[1])
                elif value.lower() == "title":
                    level = level or 1
            if level:
                self._levels[attribute(style, "styleId")] = level

    def level(self, paragraph: etree._Element) -> int:
        """1 to 9 for a heading, 0 for text."""
        for properties in paragraph.iterchildren("{*}pPr"):
            for part in properties.iterchildren("{*}outlineLvl", "{*}pStyle"):
                value = attribute(part, "val")
                if local(part) == "outlineLvl" and value.isdigit() and int(value) < 9:
                    return int(value) + 1
                if value in self._levels:
                    return self._levels[value]
        return 0


class _Reader:
    """Reads one package."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.styles = _Styles(package.tree("word/styles.xml"))
        self.notes: dict[tuple[str, str], str] = {}
        self.hidden = 0
        for kind in ("footnotes", "endnotes", "comments"):
            root = package.tree(f"word/{kind}.xml")
            for note in root if root is not None else ():
                if attribute(note, "type") not in ("separator", "continuationSeparator"):
                    self.notes[kind, attribute(note, "id")] = " ".join(self.text(note).split())

    def text(self, element: etree._Element) -> str:
        """The text of an element, notes in brackets where they are referred to."""
        name = local(element)
        if name in _SKIPPED:
            return ""
        if name == "t":
            return element.text or ""
        if name in ("tab", "br", "cr"):
            return "\t" if name == "tab" else "\n"
        if name == "noBreakHyphen":
            return "-"
        if name in _NOTES:
            note = self.notes.get((_NOTES[name], attribute(element, "id")))
            return f" [{note}]" if note else ""
        if name == "r" and any(attribute(v, "val") not in ("0", "false") for v in element.iterfind("{*}rPr/{*}vanish")):
            self.hidden += sum(len(part.text or "") for part in element.iter("{*}t"))
            return ""
        return "".join(map(self.text, element)) + ("\n" if name == "p" else "")

    def blocks(self) -> Iterator[Block]:
        """The body's blocks, one after the other, each forgotten when it has been read."""
        main = next(name for name in ("word/document.xml", "word/document2.xml") if name in self.package.names)
        depth = 0
        for event, element in self.package.events(main):
            inside = local(element) in ("p", "tbl")
            if event == "start":
                depth += inside
            elif inside:
                depth -= 1
                if not depth:
                    yield from self._block(element)
                    forget(element)

    def _block(self, element: etree._Element) -> Iterator[Block]:
        if local(element) == "p":
            level = self.styles.level(element)
            listed = not level and element.find("{*}pPr/{*}numPr") is not None
            text = self.text(element).strip()
            yield Block(("- " if listed else "") + text if text else "", level, tight=listed)
            return
        for row in element.iterchildren("{*}tr"):
            cells = (" ".join(self.text(cell).split()) for cell in row.iterchildren("{*}tc"))
            yield Block(" | ".join(cell for cell in cells if cell), tight=True)
        yield Block("")


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    with Package(path, options) as package:
        core_properties(package, facts)
        reader = _Reader(package)
        first = ""

        def blocks() -> Iterator[Block]:
            nonlocal first
            for block in reader.blocks():
                if block.level == 1 and not first:
                    first = block.text
                yield block

        try:
            yield from stretches(blocks())
        except StopIteration as error:
            raise UnreadableError(Status.FAILED, "there is no document in its archive") from error
        facts.title = facts.title or first or None
        if reader.hidden:
            facts.remarks.append(f"{reader.hidden:,} characters are formatted as hidden and were left out")


def _recognise(sample: Sample) -> int:
    return 80 if sample.zip_names & {"word/document.xml", "word/document2.xml"} else 0


FORMATS = (
    Format(
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ("docx", "docm", "dotx"),
        "lxml",
        _recognise,
        _extract,
    ),
)
