"""HTML and XHTML, read as a stream of events by lxml: what a browser would show, without scripts and navigation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lxml import etree

from indexer.parse.blocks import Block, stretches
from indexer.parse.formats.text import decoded
from indexer.parse.model import Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions

_SKIPPED = frozenset(
    re.findall(r"\w+", "script style template noscript svg math iframe object select button datalist dialog")
)
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure "
        "footer form h1 h2 h3 h4 h5 h6 header hr html legend li main ol p pre section summary table tbody tfoot thead "
        "title tr ul",
    )
)
_MAIN = frozenset(("main", "article", "h1"))
"""Stands outside navigation: where one begins inside, somebody forgot to close the ``nav``."""

_VOID = frozenset(re.findall(r"\w+", "area base br col embed hr img input link meta param source track wbr"))
_TAG = re.compile(r"<(?:!doctype html|html|head|body|title|table|div|p|h[1-6]|meta|a |br)\b", re.IGNORECASE)


class BlockTarget:
    """Collects blocks from a parser's events. ``take`` hands over those that are complete."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.blocks: list[Block] = []
        self.text: list[str] = []
        self.skipped = 0
        self.in_navigation = False
        self.level = 0
        self.row: list[str] | None = None
        self.in_title = False
        self.listed = False
        self.verbatim = 0

    def start(self, tag: str | bytes, attrib: Mapping[str | bytes, str | bytes]) -> None:
        """An element begins."""
        name = _name(tag)
        attributes = {str(key): str(value) for key, value in attrib.items()}
        if self.in_navigation and name in _MAIN:
            self.skipped, self.in_navigation = 0, False
        navigates = name == "nav" or attributes.get("role") == "navigation"
        if self.skipped or name in _SKIPPED or navigates or "hidden" in attributes:
            self.in_navigation |= navigates and not self.skipped
            self.skipped += name not in _VOID
            return
        if name == "br":
            self.text.append("\n")
        elif name in _BLOCKS:
            self._start_block(name, attributes)
        else:
            self._start_inline(name, attributes)

    def _start_inline(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "meta":
            self._meta(attributes)
        elif name in ("td", "th") and self.row is not None:
            self.text.append("\x1f")
        elif name == "img" and attributes.get("alt"):
            self.text.append(attributes["alt"])

    def _start_block(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "html" and attributes.get("lang"):
            self.facts.language = attributes["lang"].split("-")[0].lower()
        self._end_block()
        self.in_title = name == "title"
        self.listed = name == "li"
        self.verbatim += name == "pre"
        self.level = int(name[1]) if re.fullmatch("h[1-6]", name) else 0
        if name == "tr":
            self.row = []

    def end(self, tag: str | bytes) -> None:
        """An element ends."""
        name = _name(tag)
        if self.skipped:
            self.skipped -= name not in _VOID
            self.in_navigation &= bool(self.skipped)
            return
        if name not in _BLOCKS or name == "br":
            return
        self._end_block(closes_row=name == "tr")
        self.verbatim = max(self.verbatim - (name == "pre"), 0)  # it may have begun in what was skipped
        self.in_title = False
        self.level = 0
        if name == "tr":
            self.row = None
        elif name in ("table", "ul", "ol"):
            self.blocks.append(Block(""))

    def data(self, data: str | bytes) -> None:
        """Text, in pieces of any size."""
        text = str(data)
        if not self.skipped:
            self.text.append(text if self.verbatim else re.sub(r"\s+", " ", text))

    def comment(self, data: str | bytes) -> None:
        """Comments are not shown."""

    def close(self) -> None:
        """The document ends."""
        self._end_block()

    def take(self) -> Iterator[Block]:
        """The blocks so far."""
        blocks, self.blocks = self.blocks, []
        yield from blocks

    def _end_block(self, closes_row: bool = False) -> None:
        text = "".join(self.text).strip()
        if self.row is not None and not closes_row:
            self.text = [text, " "] if text else []  # blocks inside a cell stay in their row
            return
        self.text = []
        if self.row is not None:
            cells = (" ".join(cell.split()) for cell in text.split("\x1f"))
            text = " | ".join(cell for cell in cells if cell)
        if not text:
            return
        if self.in_title:
            self.facts.title = self.facts.title or " ".join(text.split())
            return
        listed = self.listed and not self.level
        self.blocks.append(Block(("- " if listed else "") + text, self.level, tight=listed or self.row is not None))
        self.listed = False

    def _meta(self, attributes: Mapping[str, str]) -> None:
        name = (attributes.get("name") or attributes.get("property") or "").lower()
        content = attributes.get("content", "").strip()
        if not content:
            return
        if name in ("author", "dc.creator", "article:author"):
            self.facts.author = self.facts.author or content
        elif name in ("date", "dc.date", "article:published_time", "dcterms.created"):
            self.facts.created = self.facts.created or content
        elif name in ("article:modified_time", "dcterms.modified"):
            self.facts.modified = self.facts.modified or content


def _name(tag: str | bytes) -> str:
    return str(tag).rpartition("}")[2].lower()


def html_blocks(pieces: Iterator[str], facts: Facts) -> Iterator[Block]:
    """The blocks of an HTML text that comes in pieces."""
    target = BlockTarget(facts)
    parser = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=False, no_network=True)
    for piece in pieces:
        parser.feed(re.sub("[\x00\ud800-\udfff]", "\ufffd", piece).encode("utf-8"))
        yield from target.take()
    try:
        parser.close()
    except etree.XMLSyntaxError:  # an empty document has no root
        target.close()
    yield from target.take()


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    yield from stretches(html_blocks(decoded(path, facts), facts))


def _recognise(sample: Sample) -> int:
    if sample.text is None:
        return 0
    start = re.sub(r"<!--.*?-->|<\?xml[^>]*\?>|\ufeff", "", sample.text[:8192], flags=re.DOTALL).lstrip()
    if re.match(r"<(?:!doctype html|html)\b", start, re.IGNORECASE):
        return 60
    tags = len(_TAG.findall(sample.text))
    if start.startswith("<") and tags > 3:
        return 45
    return 30 if sample.suffix in ("html", "htm", "xhtml") and tags else 0


FORMATS = (Format("html", "text/html", ("html", "htm", "xhtml"), "lxml", _recognise, _extract),)
