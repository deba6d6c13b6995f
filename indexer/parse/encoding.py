"""Tells the encoding of a text from its bytes."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from indexer.parse import rare_codecs as rare_codecs  # registers them
from indexer.parse.charsets import guess

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "shift_jis_2004": "cp932",
    "shift_jisx0213": "cp932",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "latin_1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-8": "cp1255",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
}
"""What is declared, and what the files that declare it are really written in (WHATWG Encoding Standard)."""

_DECLARATION = re.compile(rb"(?:encoding|charset)\s*=\s*[\"']?\s*([A-Za-z][\w.:-]{2,30})")
_BINARY = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


def detect_encoding(head: bytes) -> str | None:
    """The Python codec that reads these bytes, the beginning of a text; None when they are no text."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    if (escaped := _escaped(head)) is not None:
        return escaped
    if (wide := _wide(head)) is not None:
        return wide
    if len(_BINARY.findall(head)) > len(head) // 100:
        return None
    if _is_utf8(head):
        return "utf-8"
    return _declared(head) or guess(_foreign_part(head)) or _fallback(head)


def _escaped(head: bytes) -> str | None:
    """The encodings that switch character sets by escape sequences and have no byte above 127."""
    if not head.isascii():
        return None
    if re.search(rb"\x1b\$[@B]|\x1b\(J", head):
        return "iso2022_jp_2"
    if b"\x1b$)C" in head:
        return "iso2022_kr"
    if re.search(rb"~\{(?:[\x21-\x7d][\x21-\x7e]){2,}~\}", head):
        return "hz"
    return None


def _declared(head: bytes) -> str | None:
    """What an XML or HTML text says of itself, when that is true of its bytes."""
    match = _DECLARATION.search(head[:4096])
    if match is None:
        return None
    try:
        name = codecs.lookup(match[1].decode("ascii")).name
        name = _SUPERSETS.get(name, name)
        text = codecs.getincrementaldecoder(name)("replace").decode(head)
    except (LookupError, UnicodeDecodeError):
        return None
    foreign = sum(c > "\x7f" for c in text)
    return name if text.count("\ufffd") * 50 <= foreign and name not in ("utf-8", "ascii") else None


def _foreign_part(head: bytes) -> bytes:
    """Enough of the text to judge: up to 32 kB from where it stops being ASCII."""
    match = re.search(rb"[\x80-\xff]", head)
    return head[max(match.start() - 64, 0) if match else 0 :][:32768]


def _fallback(head: bytes) -> str:
    """For the sets that ``guess`` does not know; Western European when nothing fits."""
    from charset_normalizer import from_bytes

    best = from_bytes(head).best()
    return _SUPERSETS.get(best.encoding, best.encoding) if best is not None else "cp1252"


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
    """UTF-8, perhaps cut in its last character, perhaps with a few bytes damaged among many sound characters."""
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(head)
    errors = text.count("\ufffd")
    if not errors:
        return True
    return errors * 100 < sum(c > "\x7f" for c in text)
