"""Archives (zip, tar, gzip, bzip2, xz): folders whose files are documents of their own."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, cast

from indexer.datatypes import Status
from indexer.parse.encoding import detect_encoding
from indexer.parse.model import Entry, Facts, Format, RawPage, Sample, UnreadableError
from indexer.parse.options import ReadOptions

_SQUEEZED = ((b"\x1f\x8b\x08", gzip.GzipFile), (b"BZh", bz2.BZ2File), (b"\xfd7zXZ\x00", lzma.LZMAFile))


_AES = 99
"""The compression method that entries encrypted with AES claim (APPNOTE.TXT, 4.4.5)."""


def _zip_entries(path: Path, options: ReadOptions) -> Iterator[Entry]:
    with ExitStack() as stack:
        archive = stack.enter_context(zipfile.ZipFile(path))
        strong = archive
        if any(info.compress_type == _AES for info in archive.infolist()):
            import pyzipper

            strong = stack.enter_context(pyzipper.AESZipFile(path))
        names = _zip_names(archive.infolist())
        for info, strong_info, name in zip(archive.infolist(), strong.infolist(), names, strict=True):
            if info.is_dir():
                continue
            year, month, day, hour, minute, second = info.date_time
            modified = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
            opener = (strong, strong_info) if info.compress_type == _AES else (archive, info)
            yield Entry(name, _opener(*opener, options.passwords), modified)


def _zip_names(entries: list[zipfile.ZipInfo]) -> list[str]:
    """Names in the encoding of the system that packed them, which zip does not say unless it is UTF-8."""
    unsaid = [info.filename for info in entries if not info.flag_bits & 0x800 and not info.filename.isascii()]
    if not unsaid:
        return [info.filename for info in entries]
    raw = "\n".join(unsaid).encode("cp437", "replace")
    encoding = detect_encoding(raw) or "cp437"
    return [
        info.filename
        if info.filename not in unsaid
        else info.filename.encode("cp437", "replace").decode(encoding, "replace")
        for info in entries
    ]


def _opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo, passwords: tuple[str, ...]) -> Callable[[], IO[bytes]]:
    def open_entry() -> IO[bytes]:
        try:
            if not info.flag_bits & 1:
                return archive.open(info)
            for password in passwords:
                with suppress(RuntimeError):  # zipfile's word for a wrong password
                    return archive.open(info, pwd=password.encode())
        except NotImplementedError as error:
            reason = f"it is packed in a way that cannot be unpacked here ({error})"
            raise UnreadableError(Status.UNSUPPORTED, reason) from error
        wrong = "none of the passwords given opens it" if passwords else "give its password with --password"
        raise UnreadableError(Status.ENCRYPTED, f"it needs a password: {wrong}")

    return open_entry


def _tar_entries(path: Path, options: ReadOptions) -> Iterator[Entry]:
    with tarfile.open(path, "r:*") as archive:
        for info in archive:
            if not info.isreg():
                continue
            modified = datetime.fromtimestamp(max(info.mtime, 0), UTC).strftime("%Y-%m-%dT%H:%M:%S")

            def open_entry(info: tarfile.TarInfo = info) -> IO[bytes]:
                return archive.extractfile(info) or io.BytesIO()

            yield Entry(info.name, open_entry, modified)
            archive.members = []  # type: ignore[attr-defined]  # tarfile would keep every entry for random access


def _squeezed_entries(path: Path, options: ReadOptions) -> Iterator[Entry]:
    """One file, squeezed; or a tar, which is unpacked here as well."""
    with _unsqueezed(path) as file:
        is_tar = file.read(512)[257:262] == b"ustar"
    if is_tar:
        yield from _tar_entries(path, options)
    else:
        yield Entry(path.stem or "content", lambda: _unsqueezed(path))


def _unsqueezed(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        head = file.read(8)
    opener = next(opener for mark, opener in _SQUEEZED if head.startswith(mark))
    return cast("IO[bytes]", opener(path))


def _no_text(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    raise UnreadableError(Status.UNSUPPORTED, "an archive: its files are documents of their own")
    yield


def _recognise_zip(sample: Sample) -> int:
    return 20 if sample.head.startswith((b"PK\x03\x04", b"PK\x05\x06")) else 0


def _recognise_tar(sample: Sample) -> int:
    return 70 if sample.head[257:262] == b"ustar" else 0


def _recognise_squeezed(sample: Sample) -> int:
    return 20 if any(sample.head.startswith(mark) for mark, _ in _SQUEEZED) else 0


FORMATS = (
    Format(
        "zip",
        "application/zip",
        ("zip",),
        "zipfile",
        _recognise_zip,
        _no_text,
        members=_zip_entries,
        mere_container=True,
    ),
    Format(
        "tar",
        "application/x-tar",
        ("tar",),
        "tarfile",
        _recognise_tar,
        _no_text,
        members=_tar_entries,
        mere_container=True,
    ),
    Format(
        "gz, bz2, xz",
        "application/gzip",
        ("gz", "tgz", "bz2", "xz"),
        "gzip",
        _recognise_squeezed,
        _no_text,
        members=_squeezed_entries,
        mere_container=True,
    ),
)
