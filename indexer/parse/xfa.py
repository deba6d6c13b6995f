"""Forms for Adobe's own viewer (XFA): what they ask and what was filled in, from the XML that the PDF carries.

A dynamic form's pages say only "please wait"; its questions lie in the packet ``template`` and its answers in
``datasets`` (XML Forms Architecture specification 3.3, chapters 4 and 5).
"""

from __future__ import annotations

import ctypes
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

import pypdfium2.raw as pdfium_c
from lxml import etree

from indexer.parse.packages import local, safe_parser

_MOST_BYTES = 32 << 20
_UNSEEN = ("hidden", "invisible", "inactive")

Answers = dict[str, deque[str]]


def form_text(pdf: Any) -> str:
    """The questions and answers of a PDF's form, each a paragraph; empty where it has none.

    An answer that no field asks for is the form's own bookkeeping; one more of a kind belongs to a row of a table.
    """
    packets = _packets(pdf)
    answers = _answers(packets.get("datasets"))
    template = packets.get("template")
    said, asked = [], set(answers)
    if template is not None:
        asked = {_name(field) for field in template.iter("{*}field")}
        said = list(_said(template, answers))
    more = [f"{name}: {value}" for name, values in answers.items() if name in asked for value in values]
    return "\n\n".join(dict.fromkeys(line for line in (*said, *more) if line))


def _packets(pdf: Any) -> dict[str, etree._Element]:
    found = {}
    for index in range(max(pdfium_c.FPDF_GetXFAPacketCount(pdf.raw), 0)):
        name = ctypes.create_string_buffer(64)
        pdfium_c.FPDF_GetXFAPacketName(pdf.raw, index, name, len(name))
        size = ctypes.c_ulong()
        pdfium_c.FPDF_GetXFAPacketContent(pdf.raw, index, None, 0, ctypes.byref(size))
        if name.value not in (b"template", b"datasets") or not 0 < size.value <= _MOST_BYTES:
            continue
        content = ctypes.create_string_buffer(size.value)
        pdfium_c.FPDF_GetXFAPacketContent(pdf.raw, index, content, size.value, ctypes.byref(size))
        try:
            root = etree.fromstring(content.raw, safe_parser())
        except etree.XMLSyntaxError:
            continue
        if root is not None:
            found[name.value.decode("ascii")] = root
    return found


def _answers(datasets: etree._Element | None) -> Answers:
    """The values by the name of their element, in their order."""
    answers: Answers = defaultdict(deque)
    data = next((part for part in datasets if local(part) == "data"), datasets) if datasets is not None else None
    for element in data.iter() if data is not None else ():
        text = " ".join((element.text or "").split())
        if text and not len(element):
            answers[local(element)].append(text)
    return answers


def _said(element: etree._Element, answers: Answers) -> Iterator[str]:
    """What a part of the template says on the form, fields with the answers given to them."""
    if element.get("presence") in _UNSEEN:
        return
    kind = local(element)
    if kind == "draw":
        yield _value(element)
    elif kind == "field":
        yield _field(element, answers)
    else:
        for part in element:
            yield from _said(part, answers)


def _field(field: etree._Element, answers: Answers) -> str:
    caption = next((_value(part) for part in field if local(part) == "caption"), "").rstrip(":")
    given = answers.get(_name(field))
    answer = given.popleft() if given else ""
    return f"{caption}: {answer}" if caption and answer else caption or answer


def _name(field: etree._Element) -> str:
    """The name of the data element that a field's answer stands in."""
    bound = next((part.get("ref", "") for part in field if local(part) == "bind"), "")
    return bound.rpartition(".")[2].partition("[")[0] or field.get("name", "")


def _value(element: etree._Element) -> str:
    """The text inside an element's ``value``."""
    value = next((part for part in element if local(part) == "value"), None)
    if value is None or any(local(part) == "image" for part in value):
        return ""
    return " ".join("".join(str(text) + " " for text in value.itertext()).split())
