"""Rich Text Format, through striprtf, with title and author from its information group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexer.datatypes import Status
from indexer.parse.formats.text import text_stretches
from indexer.parse.model import Facts, Format, RawPage, Sample, UnreadableError
from indexer.parse.options import ReadOptions

_MOST_BYTES = 256 << 20
_PICTURE = re.compile(
    rb"\{\\\*?\\?(?:pict|shppict|nonshppict|objdata|themedata|colorschememapping|datastore)\b[^{}]*\}"
)
_CODE_PAGE = re.compile(rb"\\ansicpg(\d{3,5})")


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    if path.stat().st_size > _MOST_BYTES:
        raise UnreadableError(Status.TOO_LARGE, f"rich text of more than {_MOST_BYTES >> 20} MB")
    content = _PICTURE.sub(b"", path.read_bytes())
    page = _CODE_PAGE.search(content)
    source = content.decode("latin-1")
    facts.title, facts.author = (_information(source, name) for name in ("title", "author"))
    text = _plain(source, f"cp{page[1].decode()}" if page else "cp1252")
    facts.lost_chars = text.count("\ufffd")
    yield from map(RawPage, text_stretches(iter((re.sub(r"\n(?=\S)", "\n\n", text),))))


def _plain(source: str, encoding: str) -> str:
    from striprtf import striprtf

    convert: Any = striprtf.rtf_to_text
    return str(convert(source, encoding=encoding, errors="replace"))


def _information(source: str, name: str) -> str | None:
    match = re.search(r"\{\\info.{0,4000}?\{\\" + name + r" ((?:[^{}]|\\[{}])*)\}", source, re.DOTALL)
    return None if match is None else _plain("{\\rtf1 " + match[1] + "}", "cp1252")


def _recognise(sample: Sample) -> int:
    return 90 if sample.head.lstrip()[:5] == rb"{\rtf" else 0


FORMATS = (Format("rtf", "application/rtf", ("rtf",), "striprtf", _recognise, _extract),)
