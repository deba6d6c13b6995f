"""Subtitles (srt, vtt): what is said, without numbers, times and marks, in one line a cue, a paragraph a pause."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from indexer.parse.blocks import Block, stretches
from indexer.parse.formats.text import decoded
from indexer.parse.model import Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions

_TIME = re.compile(r"(?:(\d+):)?(\d\d):(\d\d)[.,](\d{1,3})\s+-->\s+(?:(\d+):)?(\d\d):(\d\d)[.,](\d{1,3})")
_MARKS = re.compile(r"</?[^>\n]{1,80}>|\{\\[^}]*\}")
_PAUSE_SECONDS = 4.0
_MOST_CUES = 12


def _seconds(hours: str | None, minutes: str, seconds: str, part: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{part}")


def _cues(lines: Iterator[str]) -> Iterator[tuple[float, float, str]]:
    """Start, end and text of each cue."""
    times: tuple[float, float] | None = None
    said: list[str] = []
    for line in lines:
        match = _TIME.search(line)
        if match:
            if times and said:
                yield (*times, " ".join(said))
            values = match.groups()
            times, said = (_seconds(*values[:4]), _seconds(*values[4:])), []
        elif not line.strip():
            if times and said:
                yield (*times, " ".join(said))
            times, said = None, []
        elif times:
            said.append(html.unescape(_MARKS.sub("", line)).strip())
    if times and said:
        yield (*times, " ".join(said))


def _blocks(lines: Iterator[str]) -> Iterator[Block]:
    """Cues that follow one another without a pause make a paragraph."""
    cues: list[str] = []
    last = 0.0
    for start, end, text in _cues(lines):
        if cues and (start - last > _PAUSE_SECONDS or len(cues) >= _MOST_CUES and re.search(r"[.!?。！？]$", cues[-1])):
            yield Block("\n".join(cues))
            cues = []
        cues.append(text)
        last = end
    yield Block("\n".join(cues))


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    lines = (line for piece in _whole_lines(decoded(path, facts)) for line in piece.splitlines())
    yield from stretches(_blocks(lines))


def _whole_lines(pieces: Iterator[str]) -> Iterator[str]:
    rest = ""
    for piece in pieces:
        whole, mark, rest = (rest + piece.replace("\r\n", "\n")).rpartition("\n")
        yield whole + mark
    yield rest


def _recognise(sample: Sample) -> int:
    if sample.text is None:
        return 0
    text = sample.text.removeprefix("\ufeff").lstrip()
    if text.startswith("WEBVTT"):
        return 60
    return 50 if re.match(r"\d+\r?\n" + _TIME.pattern, text) else 0


FORMATS = (Format("srt, vtt", "text/vtt", ("srt", "vtt"), "our own", _recognise, _extract),)
