"""Plain text in any encoding, read in bounded stretches however long its lines are."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from indexer.datatypes import Status
from indexer.parse.blocks import cut_place
from indexer.parse.encoding import file_encoding
from indexer.parse.model import STRETCH_CHARS, Facts, Format, RawPage, Sample, UnreadableError
from indexer.parse.options import ReadOptions

_READ_BYTES = 1 << 20


def decoded(path: Path, facts: Facts) -> Iterator[str]:
    """The text of a file in pieces, in whatever encoding it is; what could not be decoded is counted as lost."""
    name = file_encoding(path)
    if name is None:
        raise UnreadableError(Status.UNSUPPORTED, "the content is not text")
    decoder = codecs.getincrementaldecoder(name)("replace")
    with path.open("rb") as file:
        while piece := file.read(_READ_BYTES):
            text = decoder.decode(piece)
            facts.lost_chars += text.count("\ufffd")
            yield text
    yield decoder.decode(b"", final=True)


def text_stretches(pieces: Iterator[str], *, limit: int = STRETCH_CHARS) -> Iterator[str]:
    """Cut a stream of text into stretches of at most ``limit`` characters at paragraph borders where it can be."""
    rest = ""
    for piece in pieces:
        rest += piece.replace("\r\n", "\n")
        start = 0
        while len(rest) - start > limit:
            cut = start + cut_place(rest[start : start + limit], limit)
            yield rest[start:cut]
            start = cut
        rest = rest[start:]
    if rest:
        yield rest


def _is_wrapped(text: str) -> bool:
    """Whether the lines were broken at a width, as in old mails and books, so that they mean nothing.

    Then paragraphs have several lines and nearly all of those but the last are about as long as the longest.
    """
    inner: list[int] = []
    for paragraph in re.split(r"\n[ \t]*\n", text[:20000]):
        lines = [len(line.rstrip()) for line in paragraph.strip().splitlines()]
        if len(lines) > 1:
            inner.extend(lines[:-1])
    if len(inner) < 4:
        return False
    width = sorted(inner)[int(len(inner) * 0.95)]
    return 40 <= width <= 110 and sum(length > width * 0.75 for length in inner) > 0.85 * len(inner)


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    wrapped: bool | None = None
    for text in text_stretches(decoded(path, facts)):
        if wrapped is None:
            wrapped = _is_wrapped(text)
        yield RawPage(text, join_lines=wrapped)


def _recognise(sample: Sample) -> int:
    return 10 if sample.text is not None else 0


FORMATS = (Format("txt", "text/plain", ("txt", "text", "log"), "charset-normalizer", _recognise, _extract),)
