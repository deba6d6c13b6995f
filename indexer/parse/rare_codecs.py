"""Two character sets that Python has no codec for: EUC-TW (old Taiwanese Unix) and TCVN 5712 (old Vietnamese)."""

from __future__ import annotations

import codecs
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

_TCVN_LOWER = (
    "\xb5à\xb6ả\xb7ã\xb8á\xb9ạ\xa8ă\xbbằ\xbcẳ\xbdẵ\xbeắ\xc6ặ\xa9â\xc7ầ\xc8ẩ\xc9ẫ\xcaấ\xcbậ\xaeđ\xccè\xceẻ\xcfẽ\xd0é\xd1ẹ\xaaê"
    "\xd2ề\xd3ể\xd4ễ\xd5ế\xd6ệ\xd7ì\xd8ỉ\xdcĩ\xddí\xdeị\xdfò\xe1ỏ\xe2õ\xe3ó\xe4ọ\xabô\xe5ồ\xe6ổ\xe7ỗ\xe8ố\xe9ộ\xacơ\xeaờ\xebở"
    "\xecỡ\xedớ\xeeợ\xefù\xf1ủ\xf2ũ\xf3ú\xf4ụ\xadư\xf5ừ\xf6ử\xf7ữ\xf8ứ\xf9ự\xfaỳ\xfbỷ\xfcỹ\xfdý\xfeỵ"
    "\xa1Ă\xa2Â\xa7Đ\xa3Ê\xa4Ô\xa5Ơ\xa6Ư"
)
_TCVN = {_TCVN_LOWER[place]: _TCVN_LOWER[place + 1] for place in range(0, len(_TCVN_LOWER), 2)}
_TCVN_TABLE = "".join(_TCVN.get(chr(code), chr(code) if code < 0x80 else "\ufffd") for code in range(256))


class _Tcvn(codecs.IncrementalDecoder):
    def decode(self, input: Buffer, final: bool = False) -> str:  # its name there
        return codecs.charmap_decode(input, self.errors, _TCVN_TABLE)[0]


class _EucTw(codecs.BufferedIncrementalDecoder):
    """CNS 11643 planes 1 and 2 hold Big5's characters in Big5's order, but for a handful."""

    def _buffer_decode(self, input: Buffer, errors: str, final: bool) -> tuple[str, int]:  # its name there
        data = bytes(input)
        pieces: list[bytes] = []
        place = 0
        while place < len(data):
            length = 4 if data[place] == 0x8E else 2 if data[place] >= 0xA1 else 1
            if place + length > len(data) and not final:
                break
            pieces.append(_big5(data[place : place + length]))
            place += length
        return b"".join(pieces).decode("big5hkscs", errors), min(place, len(data))


@lru_cache(maxsize=4096)
def _big5(code: bytes) -> bytes:
    """The Big5 code of an EUC-TW one; 0xFF, which Big5 lacks, where there is none."""
    if len(code) == 1:
        return code if code[0] < 0x80 else b"\xff"
    row, cell = code[-2] - 0xA1, code[-1] - 0xA1
    if len(code) not in (2, 4) or not (0 <= row < 94 and 0 <= cell < 94):
        return b"\xff"
    if len(code) == 4 and code[1] == 0xA2:
        return _at(0xC9, row * 94 + cell)
    if len(code) == 2 and row >= 35:
        return _at(0xA4, (row - 35) * 94 + cell)
    return _at(0xA1, row * 94 + cell) if len(code) == 2 and row < 5 else b"\xff"


def _at(lead: int, index: int) -> bytes:
    trail = index % 157
    return bytes((lead + index // 157, trail + (0x40 if trail < 63 else 0x62)))


def _find(name: str) -> codecs.CodecInfo | None:
    decoders: dict[str, type[codecs.IncrementalDecoder]] = {"tcvn": _Tcvn, "euc_tw": _EucTw}
    if name not in decoders:
        return None

    def decode(data: bytes, errors: str = "strict") -> tuple[str, int]:
        return decoders[name](errors).decode(bytes(data), True), len(data)

    def encode(text: str, errors: str = "strict") -> tuple[bytes, int]:
        raise UnicodeError(f"{name} is only read")

    return codecs.CodecInfo(encode, decode, incrementaldecoder=decoders[name], name=name)  # type: ignore[arg-type]


codecs.register(_find)
