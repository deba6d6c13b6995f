"""Folding: the form in which texts and queries are compared, with the way back to the characters that are shown.

Full and half width, ligatures and compatibility forms (NFKC), case (casefold, so that a German sharp s equals ss),
accents of Latin, Greek and Cyrillic letters, Arabic and Hebrew vowel points, Traditional and Simplified Chinese,
Japanese shinjitai, hiragana and katakana, and characters that take no room. What is stored and shown stays as it was.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from indexer.datatypes import Span

_CLUSTER = re.compile(
    r"[\x00-\x7f]+(?![\u0300-\u036f])"  # plain ASCII, as long as it goes
    r"|[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]+"  # conjoining jamo: composed together
    r"|[\uff65-\uff9d][\uff9e\uff9f]?"  # half-width katakana with its voicing mark
    r"|.[\u0300-\u036f\u3099\u309a]*",  # a character with its combining marks
    re.DOTALL,
)
_MARKS = re.compile(r"[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]")
# Letters that decomposition leaves alone.
_LETTERS = str.maketrans(
    {
        "ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i", "ŋ": "n",
        "ŧ": "t", "ς": "σ", "‐": "-", "‑": "-", "–": "-", "—": "-", "−": "-", "’": "'", "‘": "'", "ʼ": "'",
    }
)  # fmt: skip
_KATAKANA = {code: code - 0x60 for code in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)}
_HAN = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x323B0))


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text and, for each of its characters, the original range that became it."""

    text: str
    _starts: tuple[int, ...]
    _origins: tuple[int, ...]
    _direct: tuple[bool, ...]
    _ends: tuple[int, ...]

    def to_original(self, span: Span) -> Span:
        """The smallest range of the original text whose folded form covers ``span``."""
        if not len(span):
            return Span(self._position(span.start, end=False), self._position(span.start, end=False))
        return Span(self._position(span.start, end=False), self._position(span.end - 1, end=True))

    def _position(self, offset: int, *, end: bool) -> int:
        piece = max(bisect_right(self._starts, offset) - 1, 0)
        if not self._starts:
            return 0
        if self._direct[piece]:
            return self._origins[piece] + offset - self._starts[piece] + end
        return self._ends[piece] if end else self._origins[piece]


def fold(text: str) -> str:
    """The form of ``text`` that is compared."""
    if text.isascii():
        return text.lower()
    return "".join(_fold_cluster(cluster) for cluster in _CLUSTER.findall(text))


def fold_with_offsets(text: str) -> Folded:
    """The form of ``text`` that is compared, able to say where each character came from."""
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    direct: list[bool] = []
    ends: list[int] = []
    length = 0
    for match in _CLUSTER.finditer(text):
        piece = _fold_cluster(match.group())
        if not piece:
            continue
        pieces.append(piece)
        starts.append(length)
        origins.append(match.start())
        ends.append(match.end())
        direct.append(match.group().isascii())
        length += len(piece)
    return Folded("".join(pieces), tuple(starts), tuple(origins), tuple(direct), tuple(ends))


def _fold_cluster(cluster: str) -> str:
    return cluster.lower() if cluster.isascii() else _fold_other(cluster)


@lru_cache(maxsize=65536)
def _fold_other(cluster: str) -> str:
    if len(cluster) == 1 and unicodedata.category(cluster) == "Cf":
        return ""  # zero-width characters, soft hyphens, direction marks
    text = unicodedata.normalize("NFKC", cluster).casefold().translate(_LETTERS)
    text = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text)))
    if any(_is_han(character) for character in text):
        return text.translate(_han_forms())
    return text.translate(_KATAKANA)


def _is_han(character: str) -> bool:
    return any(first <= ord(character) < last for first, last in _HAN)


@lru_cache(maxsize=1)
def _han_forms() -> dict[int, str]:
    """Each variant character's simplified form, from OpenCC's character tables.

    Character by character on purpose: texts and queries fold alike whatever stands beside the character, and offsets
    stay. A shinjitai is folded only where it is no ordinary Chinese character, so that 欠 and 缺 stay two words.
    """
    import opencc  # loaded with the first Chinese or Japanese character

    characters = [chr(code) for first, last in _HAN for code in range(first, last)]
    simplified = opencc.OpenCC("t2s")
    forms: dict[int, str] = {}
    traditional = opencc.OpenCC("jp2t").convert("\n".join(characters)).split("\n")
    from_chinese = simplified.convert("\n".join(characters)).split("\n")
    from_japanese = simplified.convert("\n".join(traditional)).split("\n")
    for character, chinese, japanese in zip(characters, from_chinese, from_japanese, strict=True):
        form = chinese if chinese != character or _is_chinese(character) else japanese
        if form != character and len(form) == 1:
            forms[ord(character)] = form
    return forms


def _is_chinese(character: str) -> bool:
    for encoding in ("gb2312", "big5"):
        try:
            character.encode(encoding)
        except UnicodeEncodeError:
            continue
        return True
    return False
