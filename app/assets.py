"""Streamlit's scripts, styles and fonts, answered from memory: the first page asks for a hundred small ones.

Streamlit's own way to a file (its middleware, a thread to look for it, a thread to read it) takes longer than anything
else until the first page is drawn. Every file carries a hash of its content in its name, so none ever changes.
"""

from __future__ import annotations

import mimetypes
import re
from functools import cache
from pathlib import Path

import streamlit
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_STATIC = Path(streamlit.__file__).parent / "static" / "static"
_BELOW = "/static/"
_FOLDERS = ("js", "css", "media")
_HEADERS = {"Cache-Control": "public, max-age=31536000, immutable"}
_IMPORTED = re.compile(r"""(?:\bfrom|\bimport)\s*["']\./([\w.-]+\.js)["']""")


@cache
def files() -> dict[str, Path]:
    """Every file of Streamlit's bundle by its address below /static."""
    return {f"{folder}/{file.name}": file for folder in _FOLDERS for file in (_STATIC / folder).glob("*")}


@cache
def content(address: str) -> bytes:
    """A file's bytes, read once. Raises KeyError for what the bundle does not hold."""
    return files()[address].read_bytes()


def needed_by(names: tuple[str, ...]) -> list[str]:
    """The scripts of these elements with all that they import, by their addresses, importers first.

    A name that this version of Streamlit does not have is passed over: it is then loaded when it is first shown.
    """
    open_ones = [address for name in names for address in files() if re.fullmatch(rf"js/{name}\.[\w-]+\.js", address)]
    found: dict[str, None] = {}
    while open_ones:
        address = open_ones.pop(0)
        if address not in found and address in files():
            found[address] = None
            open_ones += [f"js/{name}" for name in _IMPORTED.findall(content(address).decode("utf-8", "replace"))]
    return list(found)


class Assets:
    """ASGI middleware: answers for the files of the bundle and passes everything else on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = scope["path"].removeprefix(_BELOW) if scope["type"] == "http" and scope["method"] == "GET" else ""
        if address in files():
            kind = mimetypes.guess_type(address)[0] or "application/octet-stream"
            await Response(content(address), headers=_HEADERS, media_type=kind)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
