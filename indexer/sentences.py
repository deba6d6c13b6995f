"""Where a text may be cut: sentences, lines and paragraphs, in Latin and in CJK punctuation alike.

Nothing here knows of chunks or encoders. The spans tile the text: white space belongs to what it follows.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from indexer.datatypes import Span

LONGEST = 2_000
"""Characters after which a sentence is cut wherever it can be, so that a line of any length stays bounded."""


class Border(IntEnum):
    """How good a place to cut lies between two pieces of text; higher is better."""

    INSIDE = 0
    LINE = 1
    SENTENCE = 2
    CLOSED_LINE = 3
    PARAGRAPH = 4
    HEADING = 5


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or as much of one as is kept together, and the border behind it."""

    span: Span
    border: Border


_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_CLOSERS = "\"'”’»›)\\]}」』】〕）］｝〉》"
_WIDE_STOPS = "。！？｡．؟۔।॥։።"
_BORDER = re.compile(rf"(?P<stop>[.!?…{_WIDE_STOPS}]+)(?P<close>[{_CLOSERS}]*)(?P<space>\s*)|[{_BREAKS}]\s*")
_CLOSED = re.compile(rf"[.!?…:：{_WIDE_STOPS}][{_CLOSERS}]*\s*\Z")
_LAST_WORD = re.compile(r"[^\s\"'“‘«‹(\[（「『]+\Z")
_ITEM = re.compile(rf"(?:^|[{_BREAKS}])[^\S{_BREAKS}]*(?:\d+(?:\.\d+)*|[^\W\d_]|[ivxl]+)\Z", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:，、；：）)\]—–|]\s*|\s[-–]\s")
_SPACE = re.compile(r"\s+")
_WIDE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")

_BEFORE_NAMES = re.compile(
    r"""(?:mr|mrs|ms|mx|dr|prof|st|sr|jr|mt|ft|rev|hon|gen|col|capt|cpt|lt|sgt|maj|mme|mlle|messrs|pres|gov|sen|rep|adm
    |v|vs|cf|viz|approx|ca|resp|incl|esp|al|bzw|vgl|sog|ggf|bspw|hr|fr|dipl|ing
    |jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)""",
    re.VERBOSE,
)
_BEFORE_NUMBERS = re.compile(
    r"""(?:nos?|nr|arts?|secs?|sects?|figs?|eqs?|pp?|vols?|chs?|chaps?|paras?|par|tab|tbl|eds?|abs|exh?|app|cl|regs?|refs?|r
    |ss?|§§?|pts?|ver)""",
    re.VERBOSE,
)


def sentences(text: str) -> Iterator[Sentence]:
    """Cut a text into sentences and lines, none longer than ``LONGEST`` characters; their spans tile the text.

    Abbreviations, initials, decimals and numbered items do not end a sentence; a line break always ends a piece.
    """
    start = 0
    for match in _BORDER.finditer(text):
        border = _border(text, match)
        if border is None or not text[start : match.start()].strip() and match["stop"] is None:
            continue
        yield from _bounded(text, start, match.end(), border)
        start = match.end()
    if start < len(text):
        yield from _bounded(text, start, len(text), Border.INSIDE)


def ends_sentence(text: str) -> bool:
    """Whether a text ends the way a sentence does, closing quotes and brackets aside."""
    return _CLOSED.search(text[-40:]) is not None


def break_point(text: str, low: int, high: int) -> int:
    """The best place in ``low..high`` to cut where no sentence ends: behind a clause, else a word, else a character.

    Among several of a kind the one whose following characters have the lowest checksum is taken: it depends on the
    text around it alone, so an insertion further up leaves it in place.
    """
    for pattern in (_CLAUSE, _SPACE):
        places = [match.end() for match in pattern.finditer(text, low, high)]
        if places:
            return min(places, key=lambda place: (checksum(text[place : place + 16]), place))
    return _whole_character(text, low, high)


def checksum(text: str) -> int:
    """A number that depends on the text alone, equal on every machine and in every run."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _border(text: str, match: re.Match[str]) -> Border | None:
    stop, end = match["stop"], match.end()
    space = match["space"] if stop is not None else match.group()
    breaks = space.count("\n") or sum(space.count(mark) for mark in _BREAKS)
    if breaks:
        if breaks > 1:
            return Border.PARAGRAPH
        closed = stop is not None or ends_sentence(text[max(0, match.start() - 40) : match.start()])
        return Border.CLOSED_LINE if closed else Border.LINE
    return Border.SENTENCE if _ends(text, match, stop, space, end) else None


def _ends(text: str, match: re.Match[str], stop: str, space: str, end: int) -> bool:
    if end == len(text) or any(mark in _WIDE_STOPS for mark in stop):
        return True
    following = text[end]
    if not space:
        # Full-width stops become ASCII ones when a text is cleaned: 吗?我, but neither 3.14 nor example.com.
        before = text[match.start() - 1] if match.start() else ""
        return bool(_WIDE.match(following)) and (stop[0] != "." or bool(_WIDE.match(before)))
    if following.islower():
        return False
    return stop != "." or not _abbreviates(text, match.start(), following)


def _abbreviates(text: str, stop: int, following: str) -> bool:
    window = text[max(0, stop - 24) : stop]
    word = _LAST_WORD.search(window)
    if word is None:
        return False
    if _ITEM.search(window if stop <= 24 else "\0" + window):
        return True
    lowered = word.group().casefold()
    if _BEFORE_NUMBERS.fullmatch(lowered) and (following.isdigit() or following in "([IVX§"):
        return True
    initial = len(lowered) == 1 and word.group().isupper()
    return (
        initial
        or bool(_BEFORE_NAMES.fullmatch(lowered))
        or ("." in lowered and not lowered[-1].isdigit() and len(lowered) < 8)
    )


def _bounded(text: str, start: int, end: int, border: Border) -> Iterator[Sentence]:
    while end - start > LONGEST:
        place = break_point(text, start + LONGEST // 2, start + LONGEST)
        yield Sentence(Span(start, place), Border.INSIDE)
        start = place
    yield Sentence(Span(start, end), border)


def _whole_character(text: str, low: int, high: int) -> int:
    place = high
    while place > low + 1 and place < len(text) and _joins(text[place - 1], text[place]):
        place -= 1
    return place if place > low + 1 else high


def _joins(before: str, after: str) -> bool:
    return "\u200d" in (before, after) or unicodedata.category(after).startswith("M")
