"""A parser process: takes requests on its standard input, answers in frames on its standard output, one at a time."""

from __future__ import annotations

import base64
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from indexer.datatypes import Document, Span
from indexer.parse.confine import confine
from indexer.parse.extract import extract
from indexer.parse.model import UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.wire import HEADER, Message, decode_options, encode_event, pack, unpack


def main() -> None:
    """Serve until the input ends or the parent is gone."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints must not look like an answer
    settings = _next(requests)
    if settings is None:
        return
    scratch = Path(settings["scratch"])
    held = confine(settings["memory_bytes"], scratch)
    threading.Thread(target=_watch_parent, args=(os.getppid(), scratch), daemon=True).start()
    answers.write(pack({"ready": held}))
    while (request := _next(requests)) is not None:
        for answer in _answers(request, scratch):
            answers.write(pack(answer))
            if "member" in answer:  # it lies in the scratch folder until the library has read it
                _next(requests)


def _next(requests: BinaryIO) -> Message | None:
    header = requests.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    return unpack(requests.read(HEADER.unpack(header)[0]))


def _watch_parent(parent: int, scratch: Path) -> None:
    """End with the parent, in whatever loop a document holds us (PR_SET_PDEATHSIG would watch a mere thread of it)."""
    while os.getppid() == parent:
        time.sleep(1)
    for left in scratch.iterdir():
        left.unlink(missing_ok=True)
    os._exit(1)


def _answers(request: Message, scratch: Path) -> Iterator[Message]:
    options = decode_options(request["options"])
    path = Path(request["path"])
    if request["do"] == "unpack":
        yield from _members(path, options, scratch)
        return
    if request["do"] == "read":
        for event in extract(path, options):
            yield encode_event(event) | ({"last": True} if isinstance(event, Document) else {})
        return
    try:
        yield _view(path, request, options) | {"last": True}
    except UnreadableError as error:
        yield {"error": error.reason, "last": True}
    except Exception as error:  # a library may raise anything over a damaged or hostile file
        yield {"error": f"it is damaged ({type(error).__name__})", "last": True}


def _members(path: Path, options: ReadOptions, scratch: Path) -> Iterator[Message]:
    from indexer.parse.containers import Unpacker, is_mere_container

    if not is_mere_container(path):
        yield {"member": {"itself": True}}
    for member in Unpacker(options, scratch).unpack(path):
        yield {"member": {**asdict(member), "path": None if member.path is None else str(member.path)}}
    yield {"last": True}


def _view(path: Path, request: Message, options: ReadOptions) -> Message:
    from indexer.parse.drawing import draw_page, find_span

    if request["do"] == "draw":
        png = draw_page(path, request["number"], request["scale"], options)
        return {"png": base64.b64encode(png).decode("ascii")}
    return {"boxes": find_span(path, request["number"], Span(*request["span"]), options)}


if __name__ == "__main__":
    main()
