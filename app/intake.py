"""Which files and folders a person at the browser may bring in: allowed folders, and uploads within limits."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from indexer import LongdocError, Settings


class Upload(Protocol):
    """A file that came through the browser."""

    @property
    def name(self) -> str: ...
    def getbuffer(self) -> memoryview: ...


def roots(settings: Settings) -> list[Path]:
    """The folders below which documents may be added by path.

    Where nobody else can connect, that is the person's home unless the settings name others; else only what they name.
    """
    named = [Path(part).expanduser().resolve() for part in settings.ui_roots.split(os.pathsep) if part.strip()]
    return named or ([Path.home().resolve()] if settings.ui_access == "local" else [])


def checked_path(typed: str, settings: Settings) -> Path:
    """The file or folder that was typed, as a path that is there and below an allowed folder.

    Raises LongdocError. Links are followed before the check, so that none leads out of the allowed folders.
    """
    path = Path(typed.strip().strip("\"'")).expanduser()
    if not path.is_absolute():
        raise LongdocError("Give the whole path, from / or ~ on.")
    path = path.resolve()
    allowed = roots(settings)
    if not any(path.is_relative_to(root) for root in allowed):
        below = " or ".join(str(root) for root in allowed) or "no folder (the setting ui_roots names none)"
        raise LongdocError(f"Documents may be added from {below}. Set ui_roots to allow others.")
    if not path.exists():
        raise LongdocError(f"There is no file or folder {path} on the machine where longdoc runs.")
    return path


def keep_uploads(uploads: Iterable[Upload], library: Path) -> list[Path]:
    """Put uploaded files below the library's own folder ``uploads`` and return where they lie.

    A file that is there with the same bytes is not written again; another one of the same name gets a number.
    """
    folder = library / "uploads"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return [_keep(upload, folder) for upload in uploads]


def _keep(upload: Upload, folder: Path) -> Path:
    name = (
        "".join(c for c in Path(upload.name.replace("\\", "/")).name if c.isprintable()).lstrip(".")[-150:] or "upload"
    )
    content = bytes(upload.getbuffer())
    path, number = folder / name, 2
    while path.exists():
        if path.stat().st_size == len(content) and path.read_bytes() == content:
            return path
        path = folder / f"{Path(name).stem} ({number}){Path(name).suffix}"
        number += 1
    temporary = folder / f".{path.name}.part"
    temporary.write_bytes(content)
    temporary.replace(path)
    return path
