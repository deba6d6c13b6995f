"""Turns extracted text into text people can find, and remembers where every character came from.

One step for compatibility forms (NFKC), Kangxi and CJK radicals, ligatures, soft hyphens and words broken at line ends,
invisible and control characters, lone surrogates, odd spaces and, on request, the line breaks inside a paragraph.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from indexer.datatypes import OffsetMap, Span

_INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff"
)
_JOINERS = "\u200c\u200d"
_SPACES = " \t\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
_BREAKS = "\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_HYPHENS = "-\u2010"
_HYPHENATION = "\xad\ufffe\x02"
"""Soft hyphen, and the two characters PDFium has used for a hyphen that ends a line."""

_WHITE = frozenset(
    re.findall(f"[{_SPACES}{_INVISIBLE}{_BREAKS}]", "".join(map(chr, (*range(0x10000), *range(0xE0000, 0xE1000)))))
)

_KEPT = frozenset("！（），．：；？～…‥¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞↉")
"""Left as they are: NFKC would make Chinese punctuation Latin and glue ``2½`` into ``21⁄2``."""

_ACCENTS = {"¨": "\u0308", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c", "˚": "\u030a"}
_SUSPENDED = re.compile("und|oder|and|or|to|bis|et|ou|y|o")
_JOINING = re.compile("[\u0600-\u08ff\u0900-\u109f\ufb50-\ufefc\u2600-\u27bf\U0001f000-\U0001faff]")
_COMBINING = (
    "\u0300-\u036f\u0653-\u0655\u093c\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57"
    "\u0dca\u0dcf\u0ddf\u3099\u309a\uff9e\uff9f"
)
_JAMO = "\u1100-\u115e\u1161-\u11ff\ua960-\ua97c\ud7b0-\ud7fb"
_SEQUENCE = re.compile(f"[{_COMBINING}{_JAMO}]")
_SPACE_SET = frozenset(re.findall(f"[{_SPACES}]", "".join(map(chr, range(0x3001)))))

_RADICALS = dict(
    zip(
        "⺁⺂⺃⺄⺅⺆⺈⺉⺊⺋⺌⺍⺎⺏⺐⺑⺒⺓⺔⺕⺖⺗⺘⺙⺛⺜⺝⺞⺠⺡⺢⺣⺤⺥⺦⺧⺨⺩⺫⺬⺭⺮⺯⺰⺱⺲⺳⺴⺶⺷⺸⺹⺺⺻⺼⺽⺾⺿⻀⻁⻂⻃⻄⻅⻆⻈⻉⻊⻋⻌⻍⻎⻏⻐⻑⻒⻓⻔⻕⻖⻗⻘⻙⻚⻛⻜⻝⻟⻠⻡⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲",
        "厂乛乚乙亻冂刀刂卜㔾小小尢尣尢尣巳幺彑彐忄㣺扌攵旡日月歺民氵氺灬爫爫丬牛犭王罒示礻竹糹纟罓罒网网羊羊羊耂肀聿肉臼艹艹艹虎衤覀西见角讠贝足车辶辶辶邑钅長镸长门阜阝雨青韦页风飞食飠饣首马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀",
        strict=True,
    )
)
"""CJK radicals supplement to the ordinary character, which NFKC does for two of them only (Unicode's
EquivalentUnifiedIdeograph.txt, left out where the equivalent lies outside the Basic Multilingual Plane)."""


def _compatible(character: str) -> str:
    """What an ordinary text would have instead of this character."""
    if character in _KEPT:
        return character
    if character in _RADICALS:
        return _RADICALS[character]
    plain = unicodedata.normalize("NFKC", character)
    return character if plain[:1] == " " and len(plain) > 1 else plain


class _Replacements(dict[str, str]):
    """The ordinary form of a character, worked out once."""

    def __missing__(self, character: str) -> str:
        self[character] = plain = _compatible(character)
        return plain


_REPLACEMENTS = _Replacements()


@lru_cache(maxsize=2)
def _pattern(close_up: bool) -> re.Pattern[str]:
    """All that may have to change, dispatched on its first character.

    Every alternative begins with a set of characters, which the engine rejects without entering it.
    """
    white = _SPACES + _INVISIBLE + _BREAKS
    odd = white[1:]  # a lone ordinary space stays as it is
    plain = "".join(
        chr(code)
        for first, last in ((0xA1, 0x3400), (0xA640, 0xAB70), (0xF900, 0xFFFE))
        for code in range(first, last)
        if _compatible(chr(code)) != chr(code)
    )
    rare = "\U0001d400-\U0001d7ff\U0001ee00-\U0001eeff\U0001f100-\U0001f2ff\U0001fbf0-\U0001fbf9\U0002f800-\U0002fa1f"
    between = " (?=[\u2e80-\u9fff\uf900-\ufaff])|" if close_up else ""
    return re.compile(
        f"[{odd}][{white}]*| [{white}]+|{between}[{_COMBINING}]+|[{_JAMO}]+|[{''.join(_ACCENTS)}][A-Za-z\u0131\u0237]"
        f"|[{re.escape(plain)}{rare}{_JOINERS}\ud800-\udfff]"
    )


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned text and, for each of its characters, the place in the original."""

    text: str
    offsets: OffsetMap

    def from_original(self, offset: int) -> int:
        """Where the original's character ``offset`` (or the first kept one after it) stands in the cleaned text."""
        best = self.offsets.length
        runs = self.offsets.runs
        for index, (cleaned, original) in enumerate(runs):
            following = runs[index + 1][0] if index + 1 < len(runs) else self.offsets.length
            if original >= offset:
                return min(cleaned, best)
            if offset < original + following - cleaned:
                return cleaned + offset - original
        return best


class _Builder:
    """Collects the cleaned text and the runs of its offset map."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.runs: list[tuple[int, int]] = []
        self.length = 0
        self.last = ""
        self.high = ("", 0)

    def copy(self, text: str, start: int, end: int) -> None:
        """Take over ``text[start:end]`` as it is."""
        if start < end:
            self.run(start)
            self.put(text[start:end])

    def replace(self, start: int, end: int, replacement: str) -> None:
        """Put ``replacement`` in the place of the original characters ``start`` to ``end``."""
        self.run(start)
        for _ in replacement[1:]:
            self.runs.append((self.length + 1, start))
            self.length += 1
        self.length -= max(len(replacement) - 1, 0)
        self.put(replacement)

    def put(self, piece: str) -> None:
        if piece:
            self.pieces.append(piece)
            self.length += len(piece)
            self.last = piece[-1]

    def take_back(self) -> str:
        """Remove the last character again, to make one with what follows."""
        taken = self.last
        self.pieces[-1] = self.pieces[-1][:-1]
        while self.pieces and not self.pieces[-1]:
            self.pieces.pop()
        self.length -= 1
        self.last = self.pieces[-1][-1] if self.pieces else ""
        while self.runs and self.runs[-1][0] > self.length:
            self.runs.pop()
        return taken

    def run(self, original: int) -> None:
        """Begin a run here unless the last one already leads to this place."""
        if self.runs:
            cleaned, start = self.runs[-1]
            if start + self.length - cleaned == original:
                return
        self.runs.append((self.length, original))


def clean(text: str, *, join_lines: bool = False, close_up: bool = False, drop: Sequence[Span] = ()) -> Cleaned:
    """Clean a text, remembering where each character came from.

    ``join_lines`` joins the lines of a paragraph, ``close_up`` takes out the spaces between Chinese characters,
    ``drop`` leaves spans out (ascending, disjoint).
    Whatever is removed or replaced, ``offsets.to_original`` of a cleaned span covers the originals it stands for.
    """
    builder = _Builder()
    pattern = _pattern(close_up)
    position = 0
    for span in (*drop, Span(len(text), len(text))):
        for match in pattern.finditer(text, position, span.start):
            if not join_lines and match.start() > position and match.group() == "\n":
                continue  # after ordinary text and before it: it stays, and is copied with what follows
            builder.copy(text, position, match.start())
            _replace(builder, match, text, join_lines)
            position = match.end()
        builder.copy(text, position, span.start)
        if len(span):
            builder.runs.append((builder.length, span.start))
        position = span.end
    builder.run(len(text))
    return Cleaned("".join(builder.pieces), OffsetMap(tuple(builder.runs) or ((0, 0),), builder.length, len(text)))


def _replace(builder: _Builder, match: re.Match[str], text: str, join_lines: bool) -> None:
    found, start, end = match.group(), match.start(), match.end()
    first = found[0]
    if first in _WHITE:
        start, replacement = _white(builder, match, text, join_lines)
    elif first in _ACCENTS:
        letter = {"\u0131": "i", "\u0237": "j"}.get(found[1:], found[1:])
        replacement = unicodedata.normalize("NFC", letter + _ACCENTS[first])
        replacement = replacement if len(replacement) == 1 else found
    elif first in _JOINERS:
        replacement = first if _JOINING.match(builder.last) else ""
    elif "\ud800" <= first <= "\udfff":
        start, replacement = _surrogate(builder, start, first)
    elif _SEQUENCE.match(first):
        start, replacement = _sequence(builder, start, text, found)
    else:
        replacement = _REPLACEMENTS[first]
    builder.replace(start, end, replacement)


def _surrogate(builder: _Builder, start: int, found: str) -> tuple[int, str]:
    """A lone surrogate becomes U+FFFD; two that belong together become the character they stand for."""
    high, builder.high = builder.high, (found if found < "\udc00" else "", builder.length + 1)
    if found >= "\udc00" and high[0] and high[1] == builder.length:
        builder.take_back()
        return start - 1, (high[0] + found).encode("utf-16", "surrogatepass").decode("utf-16")
    return start, "\ufffd"


def _sequence(builder: _Builder, start: int, text: str, found: str) -> tuple[int, str]:
    """Combining marks are composed with the character before them, Hangul letters with each other."""
    if start and builder.last and _REPLACEMENTS[text[start - 1]][-1:] == builder.last and not builder.last.isspace():
        found = builder.take_back() + found
        start -= 1
    return start, unicodedata.normalize("NFC", "".join(_REPLACEMENTS[c] for c in found))


def _white(builder: _Builder, match: re.Match[str], text: str, join_lines: bool) -> tuple[int, str]:
    """What a run of spaces, line breaks and invisible characters becomes; it may take back the hyphen before it."""
    found, start = match.group(), match.start()
    last, following = builder.last, text[match.end() : match.end() + 1]
    breaks = _count_breaks(found)
    if not last:
        return start, ""
    if breaks < 2 and following.isalnum():
        if any(mark in found for mark in _HYPHENATION) and last.isalnum():
            return start, _hyphenation(text, start, match.end()) if breaks or found[0] in "\ufffe\x02" else ""
        if (
            breaks
            and join_lines
            and last in _HYPHENS
            and text[start - 1 : start] == last
            and text[max(start - 2, 0)].isalnum()
        ):
            builder.take_back()
            return start - 1, _hyphenation(text, start - 1, match.end())
    if breaks and join_lines and breaks < 2:
        return start, "" if _solid(last) and _solid(following) else " "
    if breaks:
        return start, "\n\n" if breaks > 1 else "\n"
    if found == " " and _solid(last) and _solid(following):  # met only when asked to close up
        return start, ""
    return start, " " if last not in "\n " and any(c in _SPACE_SET for c in found) else ""


def _count_breaks(white: str) -> int:
    single = sum(map(white.count, "\n\r\x0b\x1c\x1d\x1e\x85\u2028")) - white.count("\r\n")
    return single + 2 * (white.count("\x0c") + white.count("\u2029"))


def _hyphenation(text: str, start: int, end: int) -> str:
    """A word broken at a line's end is put together; the hyphen of a compound stays.

    Known compounds are those that the text writes with a hyphen elsewhere.
    """
    before = re.search(r"\w+$", text[max(start - 40, 0) : start])
    after = re.match(r"\w+", text[end : end + 40])
    if before is None or after is None:
        return "-"
    first, second = before.group(), after.group()
    if _SUSPENDED.fullmatch(second):
        return "- "
    same_case = first[-1].islower() and second[0].islower() or first.isupper() and second.isupper()
    if not same_case or f"{first}-{second}" in text:
        return "-"
    return ""


def _solid(character: str) -> bool:
    """Whether the script of this character is written without spaces: Chinese, kana and their punctuation."""
    return bool(character) and (
        "\u2e80" <= character <= "\u9fff"
        or "\uf900" <= character <= "\ufaff"
        or "\uff01" <= character <= "\uff65"
        or character >= "\U00020000"
    )
