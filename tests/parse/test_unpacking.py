"""Archives are folders: each file in them comes out under its name, within limits, whatever the archive claims."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import pyzipper

from indexer.datatypes import Status
from indexer.parse import ReadOptions, read, unpack

OPTIONS = ReadOptions(ocr="never", max_inflated_bytes=1 << 20)


def listed(path: Path, options: ReadOptions = OPTIONS) -> dict[str | None, str | Status | None]:
    found: dict[str | None, str | Status | None] = {}
    with unpack(path, options) as members:
        for member in members:
            found[member.name] = member.status if member.path is None else member.path.read_text()
    return found


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def test_a_plain_file_is_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("words")
    assert listed(path) == {None: "words"}


def test_a_zip_in_a_zip_gives_its_files_and_not_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    inner = zipped({"deep/b.txt": b"inner"})
    path.write_bytes(zipped({"a.txt": b"outer", "in.zip": inner, "__MACOSX/x": b"", ".hidden": b""}))
    assert listed(path) == {"a.txt": "outer", "in.zip!/deep/b.txt": "inner"}


def test_members_are_gone_when_the_next_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"a.txt": b"1", "b.txt": b"2"}))
    with unpack(path, OPTIONS) as members:
        first, second = (member.path for member in members)
    assert first is not None
    assert second is not None
    assert not first.exists()
    assert not second.exists()


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_a_tar_is_unpacked_however_it_is_squeezed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.tar{suffix}"
    with tarfile.open(path, f"w:{suffix[1:]}") as archive:
        for name in ("x/a.txt", "../../b.txt"):
            info = tarfile.TarInfo(name)
            info.size = 5
            archive.addfile(info, io.BytesIO(b"words"))
        link = tarfile.TarInfo("link.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert listed(path) == {"x/a.txt": "words", "b.txt": "words"}


def test_a_squeezed_file_has_the_name_without_the_ending(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt.gz"
    path.write_bytes(gzip.compress(b"words"))
    assert listed(path) == {"notes.txt": "words"}


def test_what_comes_out_is_bounded_whatever_the_sizes_say(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    content = bytearray(zipped({"small.txt": b"x", "bomb.txt": b"0" * (64 << 20)}))
    central = content.rindex(b"PK\x01\x02")
    content[central + 24 : central + 28] = (10).to_bytes(4, "little")  # the directory lies about the size
    path.write_bytes(content)
    found = listed(path)
    assert found["small.txt"] == "x"
    assert found["bomb.txt"] in (Status.TOO_LARGE, "0" * 10, Status.FAILED)


def test_a_bomb_that_tells_its_size_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(zipped({"bomb.txt": b"0" * (64 << 20)}))
    assert listed(path)["bomb.txt"] is Status.TOO_LARGE


def test_nesting_is_bounded(tmp_path: Path) -> None:
    content = zipped({"a.txt": b"words"})
    for _ in range(8):
        content = zipped({"z.zip": content})
    path = tmp_path / "deep.zip"
    path.write_bytes(content)
    assert listed(path) == {"z.zip!/z.zip!/z.zip!/z.zip": Status.TOO_LARGE}


def test_a_damaged_archive_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"a.txt": b"words"})[:40])
    assert listed(path) == {None: Status.FAILED}


def test_a_name_packed_on_a_chinese_windows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    name = "合同与会议记录.txt".encode("gbk")
    content = zipped({"x" * len(name): b"words"})
    path.write_bytes(content.replace(b"x" * len(name), name))
    assert listed(path) == {"合同与会议记录.txt": "words"}


def test_an_archive_itself_has_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"a.txt": b"words"}))
    with read(path, OPTIONS) as reading:
        assert not list(reading)
    assert reading.document.status is Status.UNSUPPORTED


def test_a_zip_locked_with_aes_opens_with_its_password(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"open.txt": b"for all"}))
    with pyzipper.AESZipFile(path, "a", compression=pyzipper.ZIP_DEFLATED, encryption=pyzipper.WZ_AES) as archive:
        archive.setpassword("pässwört".encode())
        archive.writestr("合同.txt", "第一条")
    assert listed(path)["合同.txt"] is Status.ENCRYPTED
    assert listed(path, replace(OPTIONS, passwords=("wrong",)))["合同.txt"] is Status.ENCRYPTED
    assert listed(path, replace(OPTIONS, passwords=("wrong", "pässwört"))) == {
        "open.txt": "for all",
        "合同.txt": "第一条",
    }
