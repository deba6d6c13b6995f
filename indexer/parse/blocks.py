"""Paragraphs, headings and table rows of formats without pages, put together to stretches of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from indexer.datatypes import Heading
from indexer.parse.model import STRETCH_CHARS, RawPage


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, or, with a level of 1 to 6, a heading; between ``tight`` blocks (rows, list items) is no empty line.

    An empty block ends a run of tight ones.
    """

    text: str
    level: int = 0
    tight: bool = False


def stretches(blocks: Iterable[Block], limit: int = STRETCH_CHARS) -> Iterator[RawPage]:
    """Put blocks together to raw pages of at most ``limit`` characters, cut between blocks where it can be."""
    pieces: list[str] = []
    headings: list[Heading] = []
    length = 0
    for block in blocks:
        text = block.text.strip()
        if not text:
            if pieces and not pieces[-1].endswith("\n\n"):
                pieces.append("\n")
                length += 1
            continue
        text += "\n" if block.tight else "\n\n"
        if length + len(text) > limit and pieces:
            yield RawPage("".join(pieces), headings=tuple(headings))
            pieces, headings, length = [], [], 0
        if block.level:
            headings.append(Heading(min(block.level, 6), " ".join(block.text.split()), length))
        while len(text) > limit:
            cut = cut_place(text, limit)
            yield RawPage(text[:cut], headings=tuple(headings))
            text, headings = text[cut:], []
        pieces.append(text)
        length += len(text)
    if pieces:
        yield RawPage("".join(pieces), headings=tuple(headings))


def cut_place(text: str, limit: int) -> int:
    """Where to cut so that at most ``limit`` characters come first: at a paragraph, line, sentence, space, anywhere."""
    for border in ("\n\n", "\n", "。", ". ", " "):
        place = text.rfind(border, limit // 2, limit - len(border))
        if place >= 0:
            return place + len(border)
    return limit
