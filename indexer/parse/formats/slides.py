"""Slides (pptx): a page for each, with its title, its tables as rows and its notes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from indexer.datatypes import Heading
from indexer.parse.model import Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions
from indexer.parse.packages import Package, attribute, core_properties, local

_TITLES = ("title", "ctrTitle")
_FURNITURE = ("dt", "ftr", "sldNum", "hdr", "sldImg")


def _related(package: Package, part: str) -> dict[str, tuple[str, str]]:
    """A part's relations: id to (kind, name of the other part)."""
    folder, name = posixpath.split(part)
    root = package.tree(f"{folder}/_rels/{name}.rels")
    found = {}
    for relation in root if root is not None else ():
        target = posixpath.normpath(posixpath.join(folder, attribute(relation, "Target"))).lstrip("/")
        found[attribute(relation, "Id")] = (attribute(relation, "Type").rpartition("/")[2], target)
    return found


def _slide_names(package: Package) -> list[str]:
    """The slides in the order in which they are shown."""
    root = package.tree("ppt/presentation.xml")
    relations = _related(package, "ppt/presentation.xml")
    listed = [] if root is None else [_relation_id(item) for item in root.iterfind(".//{*}sldIdLst/{*}sldId")]
    names = [relations[key][1] for key in listed if key in relations and relations[key][1] in package.names]
    if names:
        return names
    found = (re.fullmatch(r"ppt/slides/slide(\d+)\.xml", name) for name in package.names)
    return [match[0] for match in sorted((m for m in found if m), key=lambda match: int(match[1]))]


def _relation_id(item: etree._Element) -> str:
    return next((str(value) for key, value in item.attrib.items() if str(key).endswith("}id")), "")


def _paragraphs(shape: etree._Element) -> str:
    lines = []
    for paragraph in shape.iter("{*}p"):
        pieces = []
        for part in paragraph.iter("{*}t", "{*}br"):
            pieces.append("\n" if local(part) == "br" else part.text or "")
        lines.append("".join(pieces))
    return "\n".join(line for line in lines if line.strip())


def _shapes(root: etree._Element) -> Iterator[tuple[str, str]]:
    """The text of a slide's shapes with the kind of their placeholder."""
    for shape in root.iter("{*}sp", "{*}graphicFrame"):
        placeholder = shape.find(".//{*}nvPr/{*}ph")
        kind = "" if placeholder is None else attribute(placeholder, "type")
        if kind in _FURNITURE:
            continue
        rows = [
            " | ".join(" ".join(_paragraphs(cell).split()) for cell in row.iterchildren("{*}tc"))
            for row in shape.iter("{*}tr")
        ]
        yield kind, "\n".join(rows) or _paragraphs(shape)


def _page(package: Package, name: str, number: int) -> RawPage:
    root = package.tree(name)
    if root is None:
        return RawPage("", number, unread="the slide is damaged")
    title, body = "", []
    for kind, text in _shapes(root):
        if kind in _TITLES and not title:
            title = " ".join(text.split())
        elif text.strip():
            body.append(text)
    for kind, target in _related(package, name).values():
        notes = package.tree(target) if kind == "notesSlide" else None
        if notes is not None:
            body += [text for _, text in _shapes(notes) if text.strip()]
    text = "\n\n".join(([title] if title else []) + body)
    return RawPage(text + "\n\n" if text else "", number, headings=(Heading(1, title, 0),) if title else ())


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    with Package(path, options) as package:
        core_properties(package, facts)
        names = _slide_names(package)
        facts.page_count = len(names)
        for number, name in enumerate(names, 1):
            yield _page(package, name, number)


def _recognise(sample: Sample) -> int:
    return 80 if "ppt/presentation.xml" in sample.zip_names else 0


FORMATS = (
    Format(
        "pptx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        ("pptx", "pptm", "ppsx"),
        "lxml",
        _recognise,
        _extract,
    ),
)
