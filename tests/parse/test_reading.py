"""Reading files of the first formats: pages, status, reason and what is known of the document."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.datatypes import Document, Page, Status
from indexer.parse import ReadOptions, read

OPTIONS = ReadOptions(ocr="never", sandbox=False)


def read_all(path: Path, options: ReadOptions = OPTIONS) -> tuple[list[Page], Document]:
    with read(path, options) as reading:
        pages = list(reading)
    return pages, reading.document


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030"])
def test_a_chinese_text_is_read_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    text = "本合同由甲乙双方于二〇二六年签订，双方应当遵守下列条款。\n" * 20
    pages, document = read_all(written(tmp_path, "合同.txt", text.encode(encoding)))
    assert "".join(page.text for page in pages) == text.strip() + "\n"
    assert (document.status, document.language) == (Status.INDEXED, "zh")


def test_a_long_line_comes_in_bounded_stretches(tmp_path: Path) -> None:
    pages, document = read_all(written(tmp_path, "log", b"0123456789abcdef" * 40_000))
    assert max(len(page.text) for page in pages) <= 1 << 16
    assert document.chars == 640_000


def test_an_empty_file_is_empty(tmp_path: Path) -> None:
    assert read_all(written(tmp_path, "a.txt", b""))[1].status is Status.EMPTY


def test_a_missing_file_is_failed_with_a_reason(tmp_path: Path) -> None:
    document = read_all(tmp_path / "none.txt")[1]
    assert document.status is Status.FAILED
    assert "No such file" in str(document.reason)


def test_a_program_is_unsupported(tmp_path: Path) -> None:
    document = read_all(written(tmp_path, "a.txt", b"\x7fELF" + bytes(range(256)) * 8))[1]
    assert (document.status, document.reason) == (Status.UNSUPPORTED, "the content is a program")


def test_html_named_txt_is_read_as_html(tmp_path: Path) -> None:
    page = b"<!DOCTYPE html><title>T</title><script>evil()</script><h1>One</h1><p>First &amp; <b>second</b>.</p>"
    pages, document = read_all(written(tmp_path, "page.txt", page))
    assert pages[0].text == "One\n\nFirst & second.\n\n"
    assert (document.media_type, document.title) == ("text/html", "T")
    assert [heading.title for heading in pages[0].headings] == ["One"]


def test_html_tables_become_rows(tmp_path: Path) -> None:
    page = b"<html><table><tr><th>Part</th><th>Price</th></tr><tr><td><p>A-1</p></td><td>12</td></tr></table></html>"
    assert read_all(written(tmp_path, "a.html", page))[0][0].text == "Part | Price\nA-1 | 12\n\n"


def test_markdown_gives_headings_and_plain_text(tmp_path: Path) -> None:
    source = b"---\ntitle: Manual\n---\n# Safety\n\nRead *this* [first](http://x).\n\n- one\n- two\n\n"
    source += b"| a | b |\n|---|---|\n| 1 | 2 |\n"
    pages, document = read_all(written(tmp_path, "m.md", source))
    assert pages[0].text == "Safety\n\nRead this first.\n\n- one\n- two\n\na | b\n1 | 2\n\n"
    assert document.title == "Manual"
    assert [(heading.level, heading.title, heading.start) for heading in pages[0].headings] == [(1, "Safety", 0)]


def test_a_damaged_pdf_is_failed_and_says_so(tmp_path: Path) -> None:
    document = read_all(written(tmp_path, "a.pdf", b"%PDF-1.4\n%%EOF\n"))[1]
    assert document.status is Status.FAILED
    assert "PDF" in str(document.reason)


def test_text_hard_wrapped_is_joined(tmp_path: Path) -> None:
    line = "a line of some words that is broken at a fixed width by an old mail"
    text = "\n\n".join("\n".join([line] * 5 + ["end."]) for _ in range(5))
    pages, _ = read_all(written(tmp_path, "mail.txt", text.encode()))
    assert pages[0].text.split("\n\n")[0] == " ".join([line] * 5 + ["end."])
