"""Documents that are zip archives of XML (docx, pptx, odt, epub): opened with real limits, parsed without entities."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from lxml import etree

from indexer.datatypes import Status
from indexer.parse.model import Facts, UnreadableError
from indexer.parse.options import ReadOptions

_PIECE_BYTES = 1 << 16
_ENCRYPTED = 1


class Package:
    """A zip archive whose parts are read as streams, with one limit on what they inflate to in all."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        try:
            self._archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError) as error:
            raise UnreadableError(Status.FAILED, f"its archive is damaged ({error})") from error
        self._limit = options.max_inflated_bytes
        self._inflated = 0
        self.names = set(self._archive.namelist())

    def __enter__(self) -> Package:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def stream(self, name: str) -> IO[bytes]:
        """A part as a stream that counts what it really inflates to. Raises UnreadableError."""
        info = self._archive.getinfo(name)
        if info.flag_bits & _ENCRYPTED:
            raise UnreadableError(
                Status.ENCRYPTED, "it is encrypted; take off the password in the program that made it"
            )
        return _Counted(self, self._archive.open(info))  # type: ignore[return-value]  # read is all that lxml asks

    def read(self, name: str) -> bytes:
        """A whole part."""
        with self.stream(name) as part:
            return part.read()

    def count(self, inflated: int) -> None:
        """Add what has come out of the archive. Raises UnreadableError beyond the limit."""
        self._inflated += inflated
        if self._inflated > self._limit:
            raise UnreadableError(Status.TOO_LARGE, f"its archive inflates to more than {self._limit >> 20:,} MB")

    def tree(self, name: str) -> etree._Element | None:
        """A part that is small by nature (relations, metadata) as a tree; None when it is missing or no XML."""
        if name not in self.names:
            return None
        try:
            return etree.fromstring(self.read(name), safe_parser())
        except etree.XMLSyntaxError:
            return None

    def events(self, name: str, tags: tuple[str, ...] | None = None) -> Iterator[tuple[str, etree._Element]]:
        """The start and end events of a part's elements, parsed as a stream, damaged XML as far as it goes."""
        with self.stream(name) as part:
            yield from etree.iterparse(
                part,
                events=("start", "end"),
                tag=tags,
                resolve_entities=False,
                no_network=True,
                load_dtd=False,
                huge_tree=False,
                recover=True,
            )


class _Counted:
    def __init__(self, package: Package, part: IO[bytes]) -> None:
        self._package = package
        self._part = part

    def __enter__(self) -> _Counted:
        return self

    def __exit__(self, *_: object) -> None:
        self._part.close()

    def read(self, size: int = -1) -> bytes:
        if size >= 0:
            piece = self._part.read(min(size, _PIECE_BYTES))
            self._package.count(len(piece))
            return piece
        pieces = []
        while piece := self._part.read(_PIECE_BYTES):
            self._package.count(len(piece))
            pieces.append(piece)
        return b"".join(pieces)


def safe_parser() -> etree.XMLParser:
    """A parser that resolves no entities, loads nothing and puts up with damage."""
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)


def local(element: etree._Element) -> str:
    """An element's name without its namespace; empty for comments and the like."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: etree._Element, name: str) -> str:
    """An attribute by its name without a namespace."""
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def forget(element: etree._Element) -> None:
    """Free an element that has been read, and its elder siblings, so that a stream stays small."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def core_properties(package: Package, facts: Facts, name: str = "docProps/core.xml") -> None:
    """Title, author and dates from an Office package's core properties (or OpenDocument's, or EPUB's: Dublin Core)."""
    root = package.tree(name)
    if root is None:
        return
    found: dict[str, str] = {}
    for element in root.iter():
        text = (element.text or "").strip()
        if text:
            found.setdefault(local(element), text)
    facts.title = facts.title or found.get("title")
    facts.author = facts.author or found.get("creator") or found.get("initial-creator")
    facts.created = facts.created or found.get("created") or found.get("creation-date") or found.get("date")
    facts.modified = facts.modified or found.get("modified")
    if facts.language is None and found.get("language"):
        facts.language = found["language"].split("-")[0].lower()
