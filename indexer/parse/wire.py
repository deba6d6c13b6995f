"""What passes between the library and its parser processes: framed JSON, checked on arrival, never pickle.

A frame is four bytes of length, big endian, and that many bytes of JSON. What arrives from a parser process has gone
through hostile hands, so every value is checked; anything unexpected is a WireError and ends that process.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from indexer.datatypes import Document, Heading, OffsetMap, Page, Status
from indexer.parse.events import Event, Opened
from indexer.parse.options import ReadOptions

HEADER = struct.Struct(">I")
MOST_FRAME_BYTES = 64 << 20

Message = dict[str, Any]


class WireError(Exception):
    """A frame is not what was agreed."""


def pack(message: Message) -> bytes:
    """A message as a frame. Lone surrogates (of paths that are not UTF-8) survive as JSON escapes."""
    try:
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        body = json.dumps(message, separators=(",", ":")).encode()
    return HEADER.pack(len(body)) + body


def unpack(body: bytes) -> Message:
    """The message of a frame's body."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise WireError("a frame is not JSON") from error
    if not isinstance(message, dict):
        raise WireError("a frame is not an object")
    return message


def encode_event(event: Event) -> Message:
    """An event as a message."""
    if isinstance(event, Page):
        headings = [[heading.level, heading.title, heading.start] for heading in event.headings]
        offsets = [event.offsets.original_length, *(value for run in event.offsets.runs for value in run)]
        message: Message = {"page": event.text, "offsets": offsets, "language": event.language}
        extra: Message = {"number": event.number, "label": event.label, "headings": headings, "unread": event.unread}
        extra["recognised"] = event.recognised
        return message | {key: value for key, value in extra.items() if value}
    if isinstance(event, Opened):
        return {"opened": event.media_type, "page_count": event.page_count}
    return {"document": asdict(event)}


def decode_event(message: Message) -> Event:
    """The event of a message. Raises WireError when it is none."""
    try:
        if "page" in message:
            return _page(message)
        if "document" in message:
            return _document(message["document"])
        if "opened" in message:
            return Opened(_text(message["opened"]), _count(message["page_count"]))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise WireError(f"a frame is not an event: {error}") from error
    raise WireError("a frame is not an event")


def encode_options(options: ReadOptions) -> Message:
    """Options as a message."""
    return {field.name: getattr(options, field.name) for field in fields(options)}


def decode_options(message: Mapping[str, Any]) -> ReadOptions:
    """The options of a message from the library, which is trusted."""
    return ReadOptions(**{**message, "passwords": tuple(message["passwords"])})


def decode_status(value: object) -> Status:
    """A status by its name. Raises WireError."""
    try:
        return Status(str(value))
    except ValueError as error:
        raise WireError("a status is unknown") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise WireError("a text is not a string")
    return value


def _optional(value: object) -> str | None:
    return None if value is None else _text(value)


def _count(value: object) -> int | None:
    if value is not None and (type(value) is not int or value < 0):
        raise WireError("a number is not a count")
    return value


def _page(message: Message) -> Page:
    text = _text(message["page"])
    original, *flat = message["offsets"]
    if any(type(value) is not int or value < 0 for value in (original, *flat)) or not flat or len(flat) % 2:
        raise WireError("offsets are not counts")
    runs = tuple(zip(flat[::2], flat[1::2], strict=True))
    if any(a[0] > b[0] or a[1] > b[1] for a, b in zip(runs, runs[1:], strict=False)):
        raise WireError("offsets do not ascend")
    headings = tuple(
        Heading(min(max(int(level), 1), 6), _text(title), min(max(int(start), 0), len(text)))
        for level, title, start in message.get("headings", ())
    )
    return Page(
        text,
        OffsetMap(runs, len(text), original),
        _count(message.get("number")),
        _optional(message.get("label")),
        headings,
        _text(message["language"]),
        _optional(message.get("unread")),
        message.get("recognised") is True,
    )


def _document(values: Message) -> Document:
    texts = ("reason", "title", "author", "created", "modified")
    coverage = float(values["coverage"])
    return Document(
        media_type=_text(values["media_type"]),
        status=Status(values["status"]),
        language=_text(values["language"]),
        page_count=_count(values["page_count"]),
        chars=_count(values["chars"]) or 0,
        coverage=min(max(coverage, 0.0), 1.0),
        unread_pages=tuple(_count(number) or 0 for number in values["unread_pages"]),
        remarks=tuple(map(_text, values["remarks"])),
        **{name: _optional(values[name]) for name in texts},
    )
