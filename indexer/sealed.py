"""Files that are read only when every byte of them is as it was written: a header, named parts, a checksum."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from indexer.errors import DamagedError
from indexer.files import write_atomically

_KIND = b"longdoc sealed "
_MAGIC = _KIND + b"1\n"
_DIGEST = 16


class OtherFormatError(DamagedError):
    """The file is of another version of this program: nothing is wrong with it, but it is not read."""


def write_sealed(path: Path, told: Mapping[str, Any], parts: Mapping[str, bytes | memoryview]) -> None:
    """Write parts and what is told of them (anything JSON can say), seen whole or not at all. Raises OSError."""
    header = json.dumps({"told": dict(told), "sizes": {name: len(part) for name, part in parts.items()}}).encode()
    body: list[bytes | memoryview] = [struct.pack("<I", len(header)), header, *parts.values()]
    digest = hashlib.blake2b(digest_size=_DIGEST)
    for piece in body:
        digest.update(piece)
    write_atomically(path, [_MAGIC, digest.digest(), *body])


def read_sealed(path: Path) -> tuple[dict[str, Any], dict[str, memoryview]]:
    """What is told of the parts, and the parts.

    Raises DamagedError unless the file has the size and the checksum it was written with (OtherFormatError when it
    says that it is of another version), OSError when it cannot be read at all.
    """
    content = memoryview(path.read_bytes())
    body = content[len(_MAGIC) + _DIGEST :]
    if _is_other_version(bytes(content[: len(_MAGIC) + _DIGEST])):
        raise OtherFormatError(f"The file {path} was written by another version of longdoc.")
    if content[: len(_MAGIC)] != _MAGIC:
        raise DamagedError(f"The file {path} is damaged: it does not begin as such a file does.")
    if hashlib.blake2b(body, digest_size=_DIGEST).digest() != content[len(_MAGIC) : len(_MAGIC) + _DIGEST]:
        raise DamagedError(f"The file {path} is damaged: its checksum is wrong.")
    (length,) = struct.unpack("<I", body[:4])
    header = json.loads(bytes(body[4 : 4 + length]))
    parts: dict[str, memoryview] = {}
    start = 4 + length
    for name, size in header["sizes"].items():
        parts[name] = body[start : start + size]
        start += size
    return header["told"], parts


def _is_other_version(beginning: bytes) -> bool:
    found = re.match(re.escape(_KIND) + rb"\d+\n", beginning)
    return found is not None and found[0] != _MAGIC
