"""The sentences and lines of a text as they are compared, and where they stand in it."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from indexer.datatypes import Span
from indexer.duplicates.shingles import comparable
from indexer.sentences import sentences as cut_sentences

_WRAPPED = re.compile(r"(?:(?<=[^\n]{50})|(?<=[^\n\x00-\x7f]{25}))(?<![.!?。！？；;:：])\n(?=[^\s•·\-*\d#|(（])")
"""A line break inside a sentence: after a long line without an end, before one that begins no list."""

_GOES_ON = re.compile(r"(?:\A\s*#*\s*\d+(?:\.\d+)*[.)、]?|\b(?:No|Nos|Nr)\.)[ \t]*\Z")
"""A number alone, or what a number follows."""

_COLUMNS = re.compile(r"\S(?: {3,}|\t)\S|\|")
_SPACED = re.compile(r"(\S+)\s+")
_LONG = 600
_PART = 80


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or line, where it stands, and what it is compared by."""

    text: str
    span: Span
    key: str


def sentences(text: str) -> list[Sentence]:
    """Cut a text in sentences and lines; white space around them and empty ones are left out.

    A number alone ("2." before a heading) goes with what follows it; a piece that never ends is cut at words that are
    chosen by themselves, so that a change in it moves no cut further on.
    """
    found: list[Sentence] = []
    begin: int | None = None
    for piece in cut_sentences(_unwrapped(text)):
        start, end = piece.span.start if begin is None else begin, piece.span.end
        begin = start if _GOES_ON.search(text[start:end]) and end < len(text) else None
        if begin is not None:
            continue
        for first, last in _bounded(text, start, end):
            stripped = text[first:last].strip()
            if key := comparable(stripped):
                first += text[first:last].index(stripped)
                found.append(Sentence(stripped, Span(first, first + len(stripped)), key))
    return found


def _unwrapped(text: str) -> str:
    """The text, as long as it was, without the line breaks inside sentences; those of tables stay."""

    def space(match: re.Match[str]) -> str:
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        return "\n" if _COLUMNS.search(line) else " "

    return _WRAPPED.sub(space, text)


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The piece, in parts when it is very long: cut after words whose checksum says so."""
    if end - start > _LONG:
        first = start
        for word in _SPACED.finditer(text, start, end):
            if word.end() - first >= _PART and zlib.crc32(word[1].encode("utf-8", "replace")) % 8 == 0:
                yield first, word.end()
                first = word.end()
        start = first
    yield start, end
