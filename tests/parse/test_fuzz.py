"""Small valid files of each format, damaged at random from a fixed seed: every one ends in a status, none escapes."""

from __future__ import annotations

import io
import os
import random
import tarfile
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path

import openpyxl
import pypdf
import pytest
import pyzipper
from PIL import Image
from pypdf.annotations import Text
from reportlab.pdfgen.canvas import Canvas

from indexer import PageError, locate_text, render_page
from indexer.datatypes import Span, Status
from indexer.parse import ReadOptions, read, unpack
from tests.parse.test_legacy import locked
from tests.parse.test_office import packed, paragraph, word
from tests.parse.test_pdf_notes import DATASETS, TEMPLATE, add_form
from tests.parse.test_unpacking import zipped

ROUNDS = int(os.environ.get("LONGDOC_FUZZ_ROUNDS", "6"))
PASSWORD = "geheim"
OPTIONS = ReadOptions((PASSWORD,), ocr="never", seconds=30, memory_bytes=1 << 30, max_inflated_bytes=64 << 20)


def _pdf() -> bytes:
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=(300, 300), pageCompression=1)
    canvas.drawString(30, 200, "The pump is delivered within thirty days.")
    canvas.bookmarkPage("a")
    canvas.addOutlineEntry("Delivery", "a")
    canvas.save()
    return target.getvalue()


def _form() -> bytes:
    """A PDF with white text, fields, a comment, an attachment and a form for Adobe's viewer."""
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=(300, 300))
    canvas.drawString(30, 200, "The pump is delivered within thirty days.")
    canvas.acroForm.textfield(name="given", tooltip="Given name", value="Ada", x=30, y=100, width=90, height=20)
    canvas.acroForm.checkbox(name="agree", tooltip="I agree", checked=True, x=30, y=60)
    canvas.setFillColorRGB(1, 1, 1)
    canvas.drawString(30, 150, "nobody sees this")
    canvas.save()
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(target.getvalue()))
    writer.add_annotation(0, Text(text="a comment", rect=(200, 100, 220, 120)))
    writer.add_attachment("a.txt", b"words")
    add_form(writer, template=TEMPLATE, datasets=DATASETS)
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def _locked() -> bytes:
    target = io.BytesIO()
    with pyzipper.AESZipFile(target, "w", encryption=pyzipper.WZ_AES) as archive:
        archive.setpassword(PASSWORD.encode())
        archive.writestr("a.txt", "words")
    return target.getvalue()


def _workbook() -> bytes:
    book, target = openpyxl.Workbook(), io.BytesIO()
    book.worksheets[0].append(["part", 12.5, "a text"])
    book.save(target)
    return target.getvalue()


def _mail() -> bytes:
    message = EmailMessage()
    message["From"], message["Date"], message["Message-ID"], message["Subject"] = "a@b.c", "x", "<1@x>", "Größe"
    message.set_content("text")
    message.add_attachment(b"data", maintype="application", subtype="octet-stream", filename="a.bin")
    return message.as_bytes()


def _tar() -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        info = tarfile.TarInfo("a.txt")
        info.size = 5
        archive.addfile(info, io.BytesIO(b"words"))
    return target.getvalue()


def _picture() -> bytes:
    target = io.BytesIO()
    Image.new("RGB", (40, 40), "white").save(target, "TIFF")
    return target.getvalue()


SEEDS: dict[str, bytes] = {
    "pdf": _pdf(),
    "form.pdf": _form(),
    "locked.docx": locked(PASSWORD),
    "locked.zip": _locked(),
    "docx": word(paragraph("some words") * 3),
    "xlsx": _workbook(),
    "pptx": packed({"ppt/presentation.xml": "<p/>", "ppt/slides/slide1.xml": "<s><sp><p><t>Point</t></p></sp></s>"}),
    "odt": packed({"content.xml": "<o><p>some words</p><h>head</h></o>"}, "application/vnd.oasis.opendocument.text"),
    "epub": packed({"META-INF/container.xml": "<c/>", "a.opf": "<p/>", "b.xhtml": "<p>x</p>"}, "application/epub+zip"),
    "rtf": rb"{\rtf1\ansi\ansicpg1252{\info{\title T}}\pard some {\b bold} words\par\u20013?\par}",
    "html": b"<!DOCTYPE html><title>t</title><table><tr><td>a<td>b</table><p>some <b>words</b><pre>x\ny</pre>",
    "md": b"# Head\n\nsome *words*\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "rst": b"Head\n====\n\nsome *words*\n\n.. note:: x\n\n- one\n",
    "tex": rb"\documentclass{article}\begin{document}\section{Head} some \emph{words} $x^2$\end{document}",
    "eml": _mail(),
    "srt": b"1\n00:00:01,000 --> 00:00:02,000\nsome words\n\n2\n00:00:03,000 --> 00:00:04,000\nmore\n",
    "json": b'{"title": "words", "list": [1, 2.5, null, {"a": "b"}]}',
    "csv": b"a;b;c\n1;2;3\n4;5;6\n",
    "txt": "some words, 中文 и кириллица\n".encode() * 4,
    "zip": zipped({"a.txt": b"words", "b.zip": zipped({"c.txt": b"inner"})}),
    "tgz": _tar(),
    "tif": _picture(),
}


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with a few changes: bytes altered, pieces cut, doubled or swapped for interesting numbers."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(data)) if data else 0
        deed = chance.randrange(6)
        if deed == 0 and data:
            data[place] = chance.randrange(256)
        elif deed == 1:
            del data[place : place + chance.randint(1, 64)]
        elif deed == 2:
            data[place:place] = data[place : place + chance.randint(1, 64)] * chance.randint(1, 20)
        elif deed == 3:
            data[place : place + 4] = chance.choice(
                (b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\x00\x00\x00\x00", b"9999")
            )
        elif deed == 4:
            data[place:place] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 32)))
        elif chance.random() < 0.2:
            del data[place:]
    return bytes(data)


def look_at(path: Path) -> None:
    """Draw a page and mark a span on it, as the browser does; it may only say that it cannot."""
    with suppress(PageError):
        render_page(path, 1, 0.5, OPTIONS)
        locate_text(path, 1, Span(0, 40), OPTIONS)


@pytest.mark.parametrize("kind", SEEDS)
def test_damaged_files_end_in_a_status(tmp_path: Path, kind: str) -> None:
    chance = random.Random(f"longdoc {kind}")
    for number in range(ROUNDS):
        path = tmp_path / f"{number}.{kind}"
        path.write_bytes(damaged(SEEDS[kind], chance))
        with read(path, OPTIONS) as reading:
            text = "".join(page.text for page in reading)
        assert reading.document.status in Status
        assert "nonsense" not in str(reading.document.reason)
        assert reading.document.status is Status.INDEXED or reading.document.reason
        text.encode("utf-8")
        if kind.endswith("pdf"):
            look_at(path)
        if kind in ("zip", "tgz", "eml", "form.pdf", "locked.zip"):
            with unpack(path, OPTIONS) as members:
                for member in members:
                    assert member.path is not None or member.reason
        path.unlink()


@pytest.mark.parametrize("kind", SEEDS)
def test_the_undamaged_files_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(SEEDS[kind])
    with read(path, OPTIONS) as reading:
        list(reading)
    archives = dict.fromkeys(("zip", "tgz", "locked.zip"), Status.UNSUPPORTED)
    expected = {"tif": Status.NEEDS_OCR, "epub": Status.EMPTY} | archives
    assert reading.document.status is expected.get(kind, Status.INDEXED), reading.document.reason
