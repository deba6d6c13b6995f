"""Old Office files: known by what is in them, read where LibreOffice is installed, and said where it is not."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from msoffcrypto.format.ooxml import OOXMLFile

from indexer.datatypes import Document, Status
from indexer.parse import ReadOptions, conversion, read
from tests.parse.test_office import paragraph, word

CONTENT_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def ole(*streams: str) -> bytes:
    """The header of an OLE file and a directory with these streams."""
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 62, 3, 0xFFFE, 9, 6) + bytes(14)
    directory = b"".join(name.encode("utf-16-le").ljust(128, b"\x00") for name in ("Root Entry", *streams))
    return header.ljust(512, b"\x00") + directory


def read_ole(folder: Path, content: bytes, name: str = "a.bin") -> Document:
    path = folder / name
    path.write_bytes(content)
    with read(path, ReadOptions(ocr="never", sandbox=False, seconds=20)) as reading:
        list(reading)
    return reading.document


@pytest.mark.parametrize(
    ("stream", "media_type"),
    [("WordDocument", "msword"), ("Workbook", "ms-excel"), ("PowerPoint Document", "powerpoint")],
)
def test_without_libreoffice_the_hint_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: str, media_type: str
) -> None:
    monkeypatch.setattr("indexer.parse.reading.program", lambda: None)
    document = read_ole(tmp_path, ole(stream))
    assert document.status is Status.UNSUPPORTED
    assert "LibreOffice" in str(document.reason)
    assert media_type in document.media_type


def test_an_encrypted_new_office_file_is_encrypted(tmp_path: Path) -> None:
    assert read_ole(tmp_path, ole("EncryptionInfo", "EncryptedPackage"), "a.docx").status is Status.ENCRYPTED


def locked(password: str) -> bytes:
    """A Word document as Word locks it."""
    plain = io.BytesIO(word(paragraph("secret terms 保密条款")))
    with zipfile.ZipFile(plain, "a") as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        archive.writestr("docProps/thumbnail", bytes(range(256)) * 40)  # Office files are never smaller
    plain.seek(0)
    target = io.BytesIO()
    OOXMLFile(plain).encrypt(password, target)
    return target.getvalue()


@pytest.mark.parametrize("sandbox", [False, True])
def test_a_password_opens_an_encrypted_office_file(tmp_path: Path, sandbox: bool) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(locked("pässwört"))
    for given, status, said in (((), Status.ENCRYPTED, "--password"), (("x",), Status.ENCRYPTED, "none of the")):
        with read(path, ReadOptions(passwords=given, sandbox=sandbox)) as reading:
            assert not list(reading)
        assert reading.document.status is status
        assert said in str(reading.document.reason)
    with read(path, ReadOptions(passwords=("x", "pässwört"), sandbox=sandbox)) as reading:
        assert "".join(page.text for page in reading).strip() == "secret terms 保密条款"
    assert reading.document.media_type.endswith("wordprocessingml.document")


def test_a_locked_file_is_never_handed_to_libreoffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_office(tmp_path, monkeypatch, "exit 1")
    assert read_ole(tmp_path, locked("x"), "a.doc").status is Status.ENCRYPTED


def test_another_programs_file_gets_no_hint_about_libreoffice(tmp_path: Path) -> None:
    document = read_ole(tmp_path, ole("VisioDocument"), "plan.vsd")
    assert document.status is Status.UNSUPPORTED
    assert "LibreOffice" not in str(document.reason)
    assert "own format" in str(document.reason)


def fake_office(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    command = folder / "soffice"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr("indexer.parse.reading.program", lambda: str(command))
    monkeypatch.setattr(conversion, "program", lambda: str(command))


def test_with_libreoffice_it_is_converted_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = tmp_path / "new.docx"
    new.write_bytes(word(paragraph("from the old file")))
    find_out = 'while [ "$1" != --outdir ]; do shift; done; mkdir -p "$2"'
    fake_office(tmp_path, monkeypatch, f'{find_out}; cp "{new}" "$2/document.docx"')
    document = read_ole(tmp_path, ole("WordDocument"), "a.doc")
    assert (document.status, document.chars) == (Status.INDEXED, 17)


@pytest.mark.parametrize(("script", "status"), [("exit 1", Status.FAILED), ("sleep 60", Status.TIMED_OUT)])
def test_a_conversion_that_fails_or_hangs_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, status: Status
) -> None:
    fake_office(tmp_path, monkeypatch, script)
    path = tmp_path / "a.doc"
    path.write_bytes(ole("WordDocument"))
    with read(path, ReadOptions(sandbox=False, seconds=1.0)) as reading:
        assert not list(reading)
    assert reading.document.status is status
