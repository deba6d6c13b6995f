"""E-books (epub): the chapters in the order of the spine, with headings; what an empty chapter hides is not guessed."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from indexer.datatypes import Status
from indexer.parse.blocks import Block, stretches
from indexer.parse.encoding import decode_head
from indexer.parse.formats.html import html_blocks
from indexer.parse.model import Facts, Format, RawPage, Sample, UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.packages import Package, attribute, core_properties

_CONTAINER = "META-INF/container.xml"


def _package_name(package: Package) -> str:
    root = package.tree(_CONTAINER)
    names = [attribute(item, "full-path") for item in root.iter("{*}rootfile")] if root is not None else []
    names += sorted(name for name in package.names if name.endswith(".opf"))
    found = next((name for name in names if name in package.names), None)
    if found is None:
        raise UnreadableError(Status.FAILED, "the book has no table of its parts")
    return found


def _chapters(package: Package, name: str) -> list[str]:
    root = package.tree(name)
    if root is None:
        return []
    folder = posixpath.dirname(name)
    places = {attribute(item, "id"): unquote(attribute(item, "href")) for item in root.iter("{*}item")}
    spine = [places.get(attribute(item, "idref"), "") for item in root.iter("{*}itemref")]
    return [posixpath.normpath(posixpath.join(folder, place)) for place in spine if place]


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    with Package(path, options) as package:
        if "META-INF/rights.xml" in package.names:
            raise UnreadableError(Status.ENCRYPTED, "the book is locked to its shop's reader")
        name = _package_name(package)
        core_properties(package, facts, name)

        def blocks() -> Iterator[Block]:
            for chapter in _chapters(package, name):
                if chapter in package.names:
                    own = Facts("text/html")
                    yield from html_blocks(iter((decode_head(package.read(chapter)) or "",)), own)
                else:
                    facts.remarks.append(f"the part {chapter} is missing in the book")

        yield from stretches(blocks())


def _recognise(sample: Sample) -> int:
    is_epub = sample.head[30:58] == b"mimetypeapplication/epub+zip" or _CONTAINER in sample.zip_names
    return 85 if is_epub and any(name.endswith(".opf") for name in sample.zip_names) else 0


FORMATS = (Format("epub", "application/epub+zip", ("epub",), "lxml", _recognise, _extract),)
