"""Tells the encoding of a text from its bytes."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


def detect_encoding(head: bytes) -> str | None:
    """The Python codec that reads these bytes, the beginning of a text; None when they are no text."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    if (wide := _wide(head)) is not None:
        return wide
    if len(_BINARY.findall(head)) > len(head) // 100:
        return None
    if _is_utf8(head):
        return "utf-8"
    from charset_normalizer import from_bytes

    best = from_bytes(head).best()
    return best.encoding if best is not None else "cp1252"


def decode_head(head: bytes) -> str | None:
    """The beginning of a text, decoded; None when it is none."""
    name = detect_encoding(head)
    return None if name is None else codecs.getincrementaldecoder(name)("replace").decode(head)


def file_encoding(path: Path, head_bytes: int = 1 << 18) -> str | None:
    """The encoding of a text file."""
    with path.open("rb") as file:
        return detect_encoding(file.read(head_bytes))


def _wide(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte order mark: zero bytes at every second or at three of four places."""
    sample = head[: len(head) // 4 * 4][:4096]
    if len(sample) < 4:
        return None
    if b"\x00" not in sample or b"\x00" not in sample[:1024]:
        return _wide_cjk(sample)
    zeros = [sample[place::4].count(0) / (len(sample) // 4) for place in range(4)]
    for name, places in (("utf-32-le", (2, 3)), ("utf-32-be", (0, 1))):
        if all(zeros[place] > 0.95 for place in places) and sum(zeros) > 2.3:
            return name
    if zeros[1] > 0.3 and zeros[3] > 0.3 and zeros[0] + zeros[2] < 0.1:
        return "utf-16-le"
    if zeros[0] > 0.3 and zeros[2] > 0.3 and zeros[1] + zeros[3] < 0.1:
        return "utf-16-be"
    return _wide_cjk(sample)


_CJK_UNITS = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff00-\uffef\u0020-\u007e\n\r\t]")
_CJK_MARKS = re.compile("[\u3001\u3002\uff0c \n\u3042-\u3093]")


def _wide_cjk(sample: bytes) -> str | None:
    """UTF-16 of a Chinese, Japanese or Korean text, which has hardly any zero bytes: nearly all units are of those."""
    for name in ("utf-16-le", "utf-16-be"):
        text = sample.decode(name, "replace")
        if len(_CJK_UNITS.findall(text)) > 0.97 * len(text) and len(_CJK_MARKS.findall(text)) * 100 > len(text):
            return None if _is_utf8(sample) else name
    return None


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
