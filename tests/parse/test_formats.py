"""The smaller formats: rich text, books, mails, LaTeX, subtitles, JSON, reStructuredText; told by their content."""

from __future__ import annotations

import json
from email.message import EmailMessage
from pathlib import Path

import pytest

from indexer.datatypes import Document, Page, Status
from indexer.parse import ReadOptions, read, unpack
from indexer.parse.registry import known_formats
from tests.parse.test_office import packed

OPTIONS = ReadOptions(ocr="never", sandbox=False)


def read_text(folder: Path, name: str, content: str | bytes) -> tuple[str, list[Page], Document]:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with read(path, OPTIONS) as reading:
        pages = list(reading)
    return "".join(page.text for page in pages), pages, reading.document


def titles(pages: list[Page]) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for page in pages for heading in page.headings]


def test_rich_text_is_read_with_its_code_page_and_unicode(tmp_path: Path) -> None:
    source = (
        r"{\rtf1\ansi\ansicpg1251{\info{\title Offer}{\author Ann}}\pard \'cf\'f0\'e8\'e2\'e5\'f2 \u20013?\par two\par}"
    )
    text, _, document = read_text(tmp_path, "a.txt", source)
    assert text.split() == ["Привет", "中", "two"]
    assert (document.title, document.author, document.media_type) == ("Offer", "Ann", "application/rtf")


def test_a_book_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    package = (
        '<package xmlns:dc="d"><metadata><dc:title>Book</dc:title><dc:creator>Li</dc:creator>'
        '</metadata><manifest><item id="a" href="t%201.xhtml"/><item id="b" href="b.xhtml"/></manifest>'
        '<spine><itemref idref="b"/><itemref idref="a"/></spine></package>'
    )
    parts = {
        "META-INF/container.xml": '<c><rootfiles><rootfile full-path="O/p.opf"/></rootfiles></c>',
        "O/p.opf": package,
        "O/t 1.xhtml": "<html><body><h1>Second</h1><p>end</p></body></html>",
        "O/b.xhtml": "<html><body><h1>First</h1><p>start</p></body></html>",
    }
    text, pages, document = read_text(tmp_path, "a.epub", packed(parts, "application/epub+zip"))
    assert text == "First\n\nstart\n\nSecond\n\nend\n\n"
    assert titles(pages) == [(1, "First"), (1, "Second")]
    assert (document.title, document.author) == ("Book", "Li")


@pytest.fixture
def mail() -> EmailMessage:
    message = EmailMessage()
    message["Subject"] = "Lieferung verspätet"
    message["From"] = "Anna <a@example.org>"
    message["To"] = "b@example.org"
    message["Date"] = "Mon, 02 Mar 2026 10:00:00 +0100"
    message["Message-ID"] = "<1@example.org>"
    message.set_content("Die Pumpe kommt später.\n\nGruß")
    message.add_attachment(b"a,b\n1,2\n3,4\n", maintype="text", subtype="csv", filename="Preise.csv")
    return message


def test_a_mail_is_read_and_its_attachments_are_documents(tmp_path: Path, mail: EmailMessage) -> None:
    text, _, document = read_text(tmp_path, "a.eml", mail.as_bytes())
    assert "Subject: Lieferung verspätet\n" in text
    assert text.endswith("\n\nDie Pumpe kommt später.\n\nGruß\n\n")
    assert (document.title, document.created) == ("Lieferung verspätet", "2026-03-02T10:00:00")
    with unpack(tmp_path / "a.eml", ReadOptions(ocr="never")) as members:
        found = {m.name: m.path.read_bytes() for m in members if m.path is not None}
    assert found["Preise.csv"] == b"a,b\n1,2\n3,4\n"
    assert set(found) == {None, "Preise.csv"}


def test_a_mail_inside_a_mail_is_a_document(tmp_path: Path, mail: EmailMessage) -> None:
    outer = EmailMessage()
    outer["From"], outer["Date"], outer["Message-ID"] = "x@example.org", mail["Date"], "<2@x>"
    outer.set_content("see below")
    outer.add_attachment(mail)
    path = tmp_path / "outer.eml"
    path.write_bytes(outer.as_bytes())
    with unpack(path, ReadOptions(ocr="never")) as members:
        names = [member.name for member in members]
    assert [str(name).rpartition("!/")[2] for name in names if name and "Preise" in name]
    assert names[0] is None


def test_an_html_mail_is_read_as_html(tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["Date"], message["Subject"], message["Message-ID"] = "a@b.c", "x", "y", "<1@x>"
    message.set_content("<html><body><p>Hello</p><script>no()</script></body></html>", subtype="html")
    assert read_text(tmp_path, "a", message.as_bytes())[0].endswith("Hello\n\n")


def test_a_saved_web_page_is_its_page(tmp_path: Path) -> None:
    source = (
        "From: <Saved by Blink>\r\nSubject: Pumps\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; "
        'type="text/html"; boundary="B"\r\n\r\n--B\r\nContent-Type: text/html; charset=utf-8\r\n'
        "Content-Transfer-Encoding: quoted-printable\r\n\r\n<h1>Pump=\r\ns</h1><p>caf=C3=A9</p>\r\n--B--\r\n"
    )
    text, _, document = read_text(tmp_path, "a.mhtml", source)
    assert text == "Pumps\n\ncafé\n\n"
    assert document.media_type == "multipart/related"


def test_latex_gives_sections_and_plain_text(tmp_path: Path) -> None:
    source = r"""\documentclass{article}\title{On \emph{Pumps}}\author{Ann}
\begin{document}\maketitle
\section{Intro}
A \textbf{bold} claim, see \cite{x}. % a comment
It costs $x^2$.

\subsection{Caf\'e}
Second.
\end{document}"""
    text, pages, document = read_text(tmp_path, "a.tex", source)
    assert "A bold claim" in text
    assert "comment" not in text
    assert "$x^2$" in text or "x^2" in text
    assert titles(pages) == [(2, "Intro"), (3, "Café")]
    assert (document.title, document.author) == ("On Pumps", "Ann")


@pytest.mark.parametrize("head", ["", "WEBVTT\n\n"])
def test_subtitles_give_what_is_said(tmp_path: Path, head: str) -> None:
    mark = "," if not head else "."
    source = (
        f"{head}1\n00:00:01{mark}000 --> 00:00:03{mark}000\n<i>Hello</i> there,\nAnn.\n\n"
        f"2\n00:00:03{mark}500 --> 00:00:05{mark}000\nFine &amp; you?\n\n"
        f"3\n00:01:00{mark}000 --> 00:01:02{mark}000\nLater.\n"
    )
    text, _, document = read_text(tmp_path, "a.txt", source)
    assert text == "Hello there, Ann.\nFine & you?\n\nLater.\n\n"
    assert document.media_type == "text/vtt"


def test_json_gives_its_texts_with_their_names(tmp_path: Path) -> None:
    value = {"title": "Pump", "price": 12.5, "notes": ["first", {"text": "second"}], "empty": None}
    text, _, document = read_text(tmp_path, "a.txt", json.dumps(value))
    assert text == "title: Pump\nprice: 12.5\nnotes: first\nsecond\n\n"
    assert document.media_type == "application/json"


def test_json_lines_are_read_line_by_line_and_bad_lines_kept(tmp_path: Path) -> None:
    text = read_text(tmp_path, "a.jsonl", '{"a": "one"}\nnot json\n{"a": "two"}\n')[0]
    assert text == "a: one\n\nnot json\n\na: two\n\n"


def test_deeply_nested_json_does_not_break_the_reader(tmp_path: Path) -> None:
    document = read_text(tmp_path, "a.json", '{"a":' + "[" * 100_000)[2]
    assert document.status is Status.INDEXED


def test_restructured_text_gives_headings_and_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("stolen")
    source = "Title\n=====\n\nSome *text*.\n\nPart\n----\n\n- one\n- two\n\n"
    source += f".. include:: {tmp_path}/secret\n\n.. raw:: html\n\n   <b>x</b>\n"
    text, pages, _ = read_text(tmp_path, "a.rst", source)
    assert "Some text." in text
    assert "- one\n- two\n" in text
    assert "stolen" not in text
    assert [title for _, title in titles(pages)] == ["Title", "Part"]


def test_text_after_an_unclosed_nav_is_read(tmp_path: Path) -> None:
    source = "<html><body><nav><ul><li><a href=x>Home</a></ul><h1>Pumps</h1><p>They lift water.</p></body></html>"
    assert read_text(tmp_path, "a.html", source)[0] == "Pumps\n\nThey lift water.\n\n"
    closed = source.replace("<h1>", "<h2>News</h2></nav><h1>").replace("<nav>", "<nav><pre>")
    assert read_text(tmp_path, "b.html", closed)[0] == "Pumps\n\nThey lift water.\n\n"


def test_an_unknown_binary_says_what_it_is(tmp_path: Path) -> None:
    document = read_text(tmp_path, "a.db", b"SQLite format 3\x00" + bytes(range(256)))[2]
    assert (document.status, document.reason) == (Status.UNSUPPORTED, "the content is a database")


def test_every_format_has_a_name_a_library_and_a_media_type() -> None:
    formats = known_formats()
    assert len({found.name for found in formats}) == len(formats) > 15
    assert all(found.library and "/" in found.media_type and found.suffixes for found in formats)
