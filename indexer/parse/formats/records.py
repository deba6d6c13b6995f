"""JSON and JSON Lines: the texts in them, each with the names that lead to it; numbers and codes stay beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from indexer.parse.blocks import Block, stretches
from indexer.parse.formats.text import decoded, text_stretches
from indexer.parse.model import Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions

_MOST_CHARS = 64 << 20
_MOST_DEPTH = 60
_LONG = 120


def record_blocks(value: object, name: str = "", depth: int = 0) -> Iterator[Block]:
    """A block for each text or number, ``name: value``; the items of an object stand together."""
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from record_blocks(item, str(key), depth + 1)
        yield Block("")
    elif isinstance(value, list):
        for item in value:
            yield from record_blocks(item, name, depth + 1)
    elif value is not None and value != "":
        text = value if isinstance(value, str) else json.dumps(value)
        yield Block(f"{name}: {text}" if name and name != "text" else text, tight=len(text) < _LONG)


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    pieces = decoded(path, facts)
    if path.stat().st_size <= _MOST_CHARS:
        text = "".join(pieces).removeprefix("\ufeff")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            pieces = iter((text,))
        else:
            yield from stretches(record_blocks(value))
            return
    yield from stretches(_lines(pieces))


def _lines(pieces: Iterator[str]) -> Iterator[Block]:
    """JSON Lines; a line that is no JSON stays as it is."""
    rest = ""
    for piece in text_stretches(pieces):
        *lines, rest = (rest + piece).split("\n")
        for line in lines:
            yield from _line(line)
        if len(rest) > _MOST_CHARS:
            yield Block(rest)
            rest = ""
    yield from _line(rest)


def _line(line: str) -> Iterator[Block]:
    try:
        yield from record_blocks(json.loads(line))
    except (ValueError, RecursionError):
        yield Block(line)


def _recognise(sample: Sample) -> int:
    if sample.text is None:
        return 0
    text = sample.text.removeprefix("\ufeff").lstrip()
    if not re.match(r"[\[{]\s*[\"{\[\d\]}tfn-]", text):
        return 0
    if sample.suffix in ("json", "jsonl", "ndjson", "geojson"):
        return 45
    return 30 if re.match(r"\[?\s*\{\s*\"[^\"\n]+\"\s*:", text) else 0


FORMATS = (Format("json, jsonl", "application/json", ("json", "jsonl"), "json", _recognise, _extract),)
