"""Old binary Office files (doc, xls, ppt): told apart here; read through LibreOffice where that is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from indexer.datatypes import Status
from indexer.parse.model import Facts, Format, RawPage, Sample, UnreadableError
from indexer.parse.options import ReadOptions

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_KINDS = (
    ("doc", "application/msword", "WordDocument"),
    ("xls", "application/vnd.ms-excel", "Workbook"),
    ("ppt", "application/vnd.ms-powerpoint", "PowerPoint Document"),
)
NEEDS_LIBREOFFICE = "an old Office file: install LibreOffice (its command soffice) to have it read"


def _directory(path: Path, head: bytes) -> bytes:
    """The bytes that hold an OLE file's directory, whose names are UTF-16: where its header says, and what follows."""
    sector = 1 << int.from_bytes(head[30:32], "little") if head[30:32] in (b"\x09\x00", b"\x0c\x00") else 512
    start = (int.from_bytes(head[48:52], "little") + 1) * sector
    with path.open("rb") as file:
        file.seek(min(start, max(path.stat().st_size - sector, 0)))
        return file.read(1 << 14) + head


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    with path.open("rb") as file:
        head = file.read(512)
    if _ENCRYPTED in _directory(path, head):
        reason = "it is encrypted; take off the password in the program that made it"
        raise UnreadableError(Status.ENCRYPTED, reason)
    raise UnreadableError(Status.UNSUPPORTED, NEEDS_LIBREOFFICE)
    yield


def _recogniser(name: str, stream: str) -> Callable[[Sample], int]:
    wanted = stream.encode("utf-16-le")

    def recognise(sample: Sample) -> int:
        if not sample.head.startswith(_OLE):
            return 0
        directory = _directory(sample.path, sample.head[:512])
        return 70 if wanted in directory else 40 if sample.suffix == name else 30 if _ENCRYPTED in directory else 5

    return recognise


FORMATS = tuple(
    Format(name, kind, (name,), "LibreOffice", _recogniser(name, stream), _extract, needs="LibreOffice")
    for name, kind, stream in _KINDS
)
