"""What a reader of a found chunk looks at: the picture of a PDF's page, and the place of the chunk on it."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from indexer.datatypes import Rectangle, Span
from indexer.errors import PageError
from indexer.parse.options import ReadOptions
from indexer.parse.process import WorkerLostError
from indexer.parse.sandbox import Call
from indexer.parse.wire import Message

_SECONDS = 20.0


def render_page(path: Path, page_number: int, scale: float = 2.0, options: ReadOptions | None = None) -> bytes:
    """A page of a PDF (the first is 1) as a PNG of ``scale`` pixels to a point, at most 12 million pixels.

    Raises PageError when there is no such page, it cannot be drawn, or drawing takes longer than 20 seconds.
    """
    answer = _ask({"do": "draw", "path": os.fspath(path), "number": page_number, "scale": scale}, options)
    return base64.b64decode(str(answer["png"]))


def locate_text(path: Path, page_number: int, span: Span, options: ReadOptions | None = None) -> tuple[Rectangle, ...]:
    """Where a span of a PDF page's original text stands: a rectangle for each line, in reading order.

    ``span`` counts in the original text: ``page.offsets.to_original`` of a span of the cleaned one. Raises PageError.
    """
    message = {"do": "find", "path": os.fspath(path), "number": page_number, "span": [span.start, span.end]}
    found = _ask(message, options)["boxes"]
    if not isinstance(found, Iterable):
        raise PageError(f"The page {page_number} of {path} cannot be searched.")
    return tuple(Rectangle(*(float(value) for value in box)) for box in found)


def _ask(message: Message, options: ReadOptions | None) -> Message:
    options = replace(options or ReadOptions(), seconds=_SECONDS)
    try:
        with Call(message, options) as call:
            answer, _ = call.answer(options.seconds)
    except WorkerLostError as lost:
        answer = {"error": lost.reason}
    if "error" in answer:
        name = message["path"].encode("utf-8", "backslashreplace").decode()
        raise PageError(f"Page {message['number']} of {name} cannot be shown: {answer['error']}.")
    return answer
