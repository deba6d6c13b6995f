"""Office documents: text in order, headings, tables as rows, notes where they belong; nothing deleted or hidden."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import openpyxl
import pytest

from indexer.datatypes import Document, Page, Status
from indexer.parse import ReadOptions, read

OPTIONS = ReadOptions(ocr="never", sandbox=False, max_inflated_bytes=4 << 20)
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
DUBLIN = 'xmlns:cp="c" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="t"'
ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:'
    'xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
)


def packed(parts: dict[str, str], first: str = "") -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        if first:
            archive.writestr("mimetype", first, zipfile.ZIP_STORED)
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()


def read_bytes(folder: Path, content: bytes, name: str = "a.bin") -> tuple[list[Page], Document]:
    path = folder / name
    path.write_bytes(content)
    with read(path, OPTIONS) as reading:
        pages = list(reading)
    return pages, reading.document


def word(body: str, **parts: str) -> bytes:
    main = f'<w:document {W} xmlns:w14="x"><w:body>{body}</w:body></w:document>'
    return packed({"word/document.xml": main} | {f"word/{name}.xml": content for name, content in parts.items()})


def paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


STYLES = f'<w:styles {W}><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>'


def test_word_gives_headings_paragraphs_rows_and_notes(tmp_path: Path) -> None:
    row = "<w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>"
    body = (
        paragraph("Delivery", "H1")
        + '<w:p><w:r><w:t>Due</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t> soon.</w:t></w:r></w:p>'
        + f"<w:tbl>{row.format(paragraph('Part'), paragraph('Price'))}"
        + f"{row.format(paragraph('A-1'), paragraph('12'))}</w:tbl>"
        + "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>kept</w:t></w:r></w:ins></w:p>"
    )
    notes = f'<w:footnotes {W}><w:footnote w:id="2">{paragraph("Within a week")}</w:footnote></w:footnotes>'
    pages, document = read_bytes(tmp_path, word(body, styles=STYLES, footnotes=notes))
    assert pages[0].text == "Delivery\n\nDue [Within a week] soon.\n\nPart | Price\nA-1 | 12\n\nkept\n\n"
    assert [(h.level, h.title, h.start) for h in pages[0].headings] == [(1, "Delivery", 0)]
    assert (document.title, document.status) == ("Delivery", Status.INDEXED)


def test_word_properties_are_read(tmp_path: Path) -> None:
    core = (
        f"<cp:x {DUBLIN}><dc:title>Contract</dc:title><dc:creator>Ann</dc:creator>"
        "<dcterms:created>2026-01-02T03:04:05Z</dcterms:created></cp:x>"
    )
    content = packed({"word/document.xml": f"<w:document {W}>{paragraph('x')}</w:document>", "docProps/core.xml": core})
    document = read_bytes(tmp_path, content)[1]
    assert (document.title, document.author, document.created) == ("Contract", "Ann", "2026-01-02T03:04:05")


def test_hidden_word_text_is_left_out_and_reported(tmp_path: Path) -> None:
    body = "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:t>seen</w:t></w:r></w:p>"
    pages, document = read_bytes(tmp_path, word(body))
    assert pages[0].text == "seen\n\n"
    assert "6 characters" in document.remarks[0]


def test_a_word_document_named_pdf_is_a_word_document(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, word(paragraph("x")), "a.pdf")[1].media_type.endswith("wordprocessingml.document")


def test_xml_entities_are_not_resolved(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("stolen")
    head = f'<!DOCTYPE d [<!ENTITY x SYSTEM "file://{tmp_path}/secret"><!ENTITY y "{"z" * 100}">]>'
    main = f"{head}<w:document {W}>{paragraph('a&x;b&y;')}</w:document>"
    pages, _ = read_bytes(tmp_path, packed({"word/document.xml": main}))
    assert "stolen" not in "".join(page.text for page in pages)


def test_an_office_archive_that_inflates_too_far_is_too_large(tmp_path: Path) -> None:
    _, document = read_bytes(tmp_path, word(paragraph("x " * (4 << 20))))
    assert document.status in (Status.TOO_LARGE, Status.PARTIAL)
    assert "4 MB" in str(document.reason)


def test_a_workbook_gives_sheets_and_rows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Prices"
    for row in (("Part", "Price", None), ("A-1", 12.5, None), (None, None, None), ("A-2", 7.0, "old")):
        sheet.append(row)
    target = io.BytesIO()
    book.save(target)
    pages, document = read_bytes(tmp_path, target.getvalue())
    assert document.status is Status.INDEXED, document.reason
    assert pages[0].text == "Prices\n\nPart | Price\nA-1 | 12.5\nA-2 | 7 | old\n\n"
    assert [heading.title for heading in pages[0].headings] == ["Prices"]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_delimited_text_gives_rows(tmp_path: Path, mark: str) -> None:
    rows = [["part", "price"], ["A-1", '"12\n30"'], ["A-2", "7"]]
    content = "\n".join(mark.join(row) for row in rows).encode()
    assert read_bytes(tmp_path, content, "a.csv")[0][0].text == "part | price\nA-1 | 12 30\nA-2 | 7\n\n"


def test_open_document_text(tmp_path: Path) -> None:
    body = (
        '<text:h text:outline-level="2">Head</text:h><text:p>One<text:s text:c="2"/>two<text:line-break/>three'
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Note</text:p></text:note-body>"
        "</text:note>.</text:p><text:list><text:list-item><text:p>Item</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell>"
        "<text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    )
    content = f"<office:document-content {ODF}><office:text>{body}</office:text></office:document-content>"
    pages, document = read_bytes(tmp_path, packed({"content.xml": content}, "application/vnd.oasis.opendocument.text"))
    assert pages[0].text == "Head\n\nOne two\nthree [Note].\n\n- Item\n\na | b\n\n"
    assert document.media_type == "application/vnd.oasis.opendocument.text"
    assert pages[0].headings[0].level == 2


def test_slides_are_pages_with_titles_and_notes(tmp_path: Path) -> None:
    names = 'xmlns:a="a" xmlns:p="p" xmlns:r="r"'
    text = "<p:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody>"
    shape = '<p:sp><p:nvSpPr><p:nvPr><p:ph type="{}"/></p:nvPr></p:nvSpPr>' + text + "</p:sp>"
    shapes = shape.format("body", "Point") + shape.format("title", "Plan") + shape.format("sldNum", "7")
    slide = f"<p:sld {names}>{shapes}</p:sld>"
    relation = '<R><r Id="{}" Type="x/{}" Target="{}"/></R>'
    parts = {
        "ppt/presentation.xml": f'<p:x {names}><p:sldIdLst><p:sldId r:id="r1"/></p:sldIdLst></p:x>',
        "ppt/_rels/presentation.xml.rels": relation.format("r1", "slide", "slides/slide9.xml"),
        "ppt/slides/slide9.xml": slide,
        "ppt/slides/_rels/slide9.xml.rels": relation.format("n", "notesSlide", "../notesSlides/n.xml"),
        "ppt/notesSlides/n.xml": f"<p:notes {names}>{shape.format('body', 'Say this')}</p:notes>",
    }
    pages, document = read_bytes(tmp_path, packed(parts))
    assert (pages[0].text, pages[0].number) == ("Plan\n\nPoint\n\nSay this\n\n", 1)
    assert document.page_count == 1
