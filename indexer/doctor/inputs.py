"""The input of one document's examination: its bytes, its characters, and what the reader made of it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from indexer.datatypes import Document
from indexer.doctor.report import Finding, Level, judge
from indexer.parse.encoding import file_encoding

_ZERO_WIDTH = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ODD_BREAK = re.compile("\r(?!\n)|[\u000b\u000c\u0085\u2028\u2029]")
_PEEK_BYTES = 1 << 22


def raw_findings(path: Path) -> Iterator[Finding]:
    """Whether the file is there, can be opened and holds anything."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        advice = "Check the path and your rights to read it."
        yield Finding("input", "file", Level.FAIL, f"{path}: {error.strerror}", advice)
        return
    yield judge("input", "file", f"{size:,} bytes", fail="The file is empty." if not size else "")


def encoding_findings(path: Path) -> Iterator[Finding]:
    """What the first megabytes of a text file show before anything is cleaned."""
    encoding = file_encoding(path)
    if encoding is None:
        yield judge("input", "encoding", "none known to us", fail="These bytes are no text: is the file damaged?")
        return
    with path.open("rb") as file:
        raw = file.read(_PEEK_BYTES)
        cut = bool(file.read(1))
    decoded = codecs.getincrementaldecoder(encoding)(errors="replace").decode(raw, final=not cut)
    part = f", looked at in the first {_PEEK_BYTES >> 20} MB" if cut else ""
    yield judge("input", "encoding", f"{encoding}{part}")
    yield from text_findings(decoded)


def text_findings(text: str) -> Iterator[Finding]:
    """Hidden characters, odd line breaks, blank lines and lengths of a text as it lies in the file."""
    hidden, control = len(_ZERO_WIDTH.findall(text)), len(_CONTROL.findall(text))
    replaced = text.count("\ufffd")
    bad = (
        "Characters were lost before this file was written: look for a better copy."
        if replaced > len(text) / 100
        else ""
    )
    words = f"{hidden:,} invisible, {control:,} control (cleaned away), {replaced:,} replacement characters (lost)"
    words = words if hidden or control or replaced else "none"
    yield judge("input", "hidden characters", words, warn=bad)
    odd = len(_ODD_BREAK.findall(text))
    words = f"{text.count(chr(10)):,} usual" + (f", {odd:,} odd, read as line breaks all the same" if odd else "")
    yield judge("input", "line breaks", words)
    lines = text.splitlines() or [""]
    blank = sum(not line.strip() for line in lines)
    longest = max(map(len, lines))
    long = "A single line of this length is no prose: is this data rather than text?" if longest > 200_000 else ""
    yield judge(
        "input",
        "lines",
        f"{len(lines):,}, {blank / len(lines):.0%} of them blank, longest {longest:,} characters",
        warn=long,
    )


def read_findings(document: Document, seconds: float) -> Iterator[Finding]:
    """What the reader made of it."""
    language = "unknown" if document.language == "und" else document.language
    text = f"{document.status.value}: {document.media_type}, language {language}"
    text += f", {document.page_count} page{'s' if document.page_count > 1 else ''}" if document.page_count else ""
    reason = document.reason or ""
    advice = f"{reason[:1].upper()}{reason[1:]}." if reason else "See the status."
    yield judge("input", "reading", text, fail=advice if not document.status.searchable else "")
    unread = (
        f"Pages without readable text: {document.unread_pages[:10]}." if document.unread_pages else "Parts are missing."
    )
    pace = f"{document.chars:,} characters in {seconds:.2f} s, {document.coverage:.0%} of it readable"
    yield judge("input", "text", pace, warn=unread if 0 < document.coverage < 1 else "")
