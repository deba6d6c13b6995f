"""Old binary Office files (doc, xls, ppt), and new ones behind a password, which lie in the same kind of container.

The old ones are told apart here and read through LibreOffice where that is installed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from indexer.datatypes import Status
from indexer.parse.model import Facts, Format, RawPage, Sample, UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.registry import detect_format

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOCKED = "EncryptedPackage".encode("utf-16-le")
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
        if _is_locked(file):
            reason = "it needs a password, which cannot be given for old Office files: save it without one"
            raise UnreadableError(Status.ENCRYPTED, reason)
    raise UnreadableError(Status.UNSUPPORTED, NEEDS_LIBREOFFICE)
    yield


def _is_locked(file: IO[bytes]) -> bool:
    import msoffcrypto
    from msoffcrypto.exceptions import FileFormatError

    try:
        return bool(msoffcrypto.OfficeFile(file).is_encrypted())
    except (FileFormatError, OSError, ValueError, KeyError, AttributeError, IndexError):  # damaged, or not locked
        return False


def _extract_locked(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    """Unlock a file into the scratch folder, for as long as it is being read."""
    with tempfile.NamedTemporaryFile(suffix=path.suffix) as plain:
        _unlock(path, options.passwords, plain)
        sample = Sample.of(Path(plain.name))
        found = detect_format(sample)
        facts.media_type = found.media_type
        yield from found.extract(sample.path, options, facts)


def _unlock(path: Path, passwords: tuple[str, ...], target: Any) -> None:
    """Write the file without its lock. Raises UnreadableError when no password opens it."""
    if not passwords:
        raise UnreadableError(Status.ENCRYPTED, "it needs a password: give its password with --password")
    import msoffcrypto
    from msoffcrypto.exceptions import DecryptionError, InvalidKeyError

    with path.open("rb") as source:
        locked = msoffcrypto.OfficeFile(source)
        for password in passwords:
            try:
                locked.load_key(password=password, verify_password=True)
                locked.decrypt(target)
            except (InvalidKeyError, DecryptionError):
                continue
            target.flush()
            return
    raise UnreadableError(Status.ENCRYPTED, "it needs a password: none of the passwords given opens it")


def _recogniser(name: str, stream: str) -> Callable[[Sample], int]:
    wanted = stream.encode("utf-16-le")

    def recognise(sample: Sample) -> int:
        if not sample.head.startswith(_OLE):
            return 0
        return 70 if wanted in _directory(sample.path, sample.head[:512]) else 40 if sample.suffix == name else 0

    return recognise


def _recognise_locked(sample: Sample) -> int:
    return 80 if sample.head.startswith(_OLE) and _LOCKED in _directory(sample.path, sample.head[:512]) else 0


FORMATS = (
    *(
        Format(name, kind, (name,), "LibreOffice", _recogniser(name, stream), _extract, needs="LibreOffice")
        for name, kind, stream in _KINDS
    ),
    Format(
        "docx, xlsx, pptx with a password",
        "application/x-ole-storage",
        ("docx", "xlsx", "pptx"),
        "msoffcrypto-tool",
        _recognise_locked,
        _extract_locked,
    ),
)
