"""What people put onto a PDF's pages is read after the page: form fields, comments, and forms for Adobe's viewer."""

from __future__ import annotations

from pathlib import Path

import pypdf
import pytest
from pypdf.annotations import FreeText, Popup, Text
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, TextStringObject
from reportlab.pdfgen.canvas import Canvas

from indexer import locate_text
from indexer.datatypes import Span
from indexer.parse import ReadOptions, unpack
from tests.parse.test_pdf import WORDS, lines, made, read_pdf

TEMPLATE = """<template xmlns="http://www.xfa.org/schema/xfa-template/2.8/"><subform name="form">
<draw><value><text>Application for a pump</text></value></draw>
<field name="who"><caption><value><text>Applicant:</text></value></caption></field>
<field name="secret" presence="hidden"><caption><value><text>Not shown</text></value></caption></field>
<field name="item"><bind ref="$.items.part"/><caption><value><text>Part</text></value></caption></field>
</subform></template>"""
DATASETS = """<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form>
<who>张伟</who><version>17</version><items><part>impeller</part><part>gasket</part></items>
</form></xfa:data></xfa:datasets>"""


def annotated(folder: Path, *annotations: pypdf.generic.DictionaryObject) -> Path:
    path = made(folder, lambda c: lines(c, 700, WORDS))
    writer = pypdf.PdfWriter(clone_from=path)
    for annotation in annotations:
        writer.add_annotation(0, annotation)
    writer.write(path)
    return path


def test_comments_and_free_text_follow_the_page(tmp_path: Path) -> None:
    comment = Text(text="ask the supplier\nabout this", rect=(300, 600, 320, 620))
    path = annotated(tmp_path, comment, FreeText(text="手写批注", rect=(60, 500, 200, 540)), Popup(rect=(0, 0, 9, 9)))
    page = read_pdf(path)[0][0]
    assert page.text.strip() == f"{WORDS}\n\n[ask the supplier about this]\n\n手写批注"
    start = page.text.index("手写")
    (box,) = locate_text(path, 1, page.offsets.to_original(Span(start, start + 4)), ReadOptions(ocr="never"))
    assert (box.left * 600, box.top * 800) == pytest.approx((60, 260), abs=1)


def test_what_a_form_was_filled_in_with_is_read_with_its_label(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        lines(canvas, 700, WORDS)
        form = canvas.acroForm
        form.textfield(name="given", tooltip="Given name", value="Ada Lovelace", x=60, y=600, width=200, height=20)
        form.textfield(name="f1_02[0]", value="Turin", x=60, y=560, width=200, height=20)
        form.textfield(name="empty", tooltip="Nothing", value="", x=60, y=520, width=200, height=20)
        form.textfield(name="pin", tooltip="PIN", value="1234", x=60, y=480, width=99, height=20, fieldFlags="password")
        form.checkbox(name="agree", tooltip="I agree", checked=True, x=60, y=440)
        form.checkbox(name="refuse", tooltip="I refuse", checked=False, x=60, y=400)

    text = read_pdf(made(tmp_path, draw))[0][0].text
    assert text.strip().split("\n\n")[1:] == ["Given name: Ada Lovelace", "Turin", "I agree: Yes"]


def with_form(folder: Path, **packets: str) -> Path:
    """A PDF whose form is kept for Adobe's viewer."""
    path = made(folder, lambda c: lines(c, 700, "Please wait ..."))
    writer = pypdf.PdfWriter(clone_from=path)
    add_form(writer, **packets)
    writer.write(path)
    return path


def add_form(writer: pypdf.PdfWriter, **packets: str) -> None:
    parts = ArrayObject()
    for name, text in packets.items():
        stream = DecodedStreamObject()
        stream.set_data(text.encode())
        parts += [TextStringObject(name), writer._add_object(stream)]
    form = DictionaryObject({NameObject("/Fields"): ArrayObject(), NameObject("/XFA"): parts})
    writer.root_object[NameObject("/AcroForm")] = form
    writer.root_object[NameObject("/NeedsRendering")] = pypdf.generic.BooleanObject(True)


def test_questions_and_answers_of_a_form_for_adobes_viewer_are_read(tmp_path: Path) -> None:
    (page,), document = read_pdf(with_form(tmp_path, template=TEMPLATE, datasets=DATASETS))
    said = ["Please wait ...", "Application for a pump", "Applicant: 张伟", "Part: impeller", "part: gasket"]
    assert page.text.strip().split("\n\n") == said
    assert "its questions and answers were read" in document.remarks[0]


def test_a_form_for_adobes_viewer_without_content_says_so(tmp_path: Path) -> None:
    (page,), document = read_pdf(with_form(tmp_path, template="<broken"))
    assert page.text.strip() == "Please wait ..."
    assert "its fields are not on its pages" in document.remarks[0]


def test_files_attached_to_a_pdf_are_documents_of_their_own(tmp_path: Path) -> None:
    path = made(tmp_path, lambda c: lines(c, 700, WORDS))
    writer = pypdf.PdfWriter(clone_from=path)
    writer.add_attachment("合同.txt", "第一条".encode())
    writer.write(path)
    with unpack(path, ReadOptions(ocr="never")) as members:
        found = {member.name: member.path.read_text() for member in members if member.name and member.path}
    assert found == {"合同.txt": "第一条"}


def test_a_locked_or_broken_pdf_is_listed_once(tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4\nnothing")
    locked = made(tmp_path, lambda c: lines(c, 700, WORDS))
    writer = pypdf.PdfWriter(clone_from=locked)
    writer.encrypt("x", algorithm="RC4-128")
    writer.write(locked)
    for path in (broken, locked):
        with unpack(path, ReadOptions(ocr="never")) as members:
            assert [(member.name, member.status) for member in members] == [(None, None)]
