"""Files as they lie in folders, archives and mails: ``unpack`` gives each that is a document of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from indexer.datatypes import Status
from indexer.parse.options import ReadOptions
from indexer.parse.process import WorkerLostError
from indexer.parse.sandbox import Call
from indexer.parse.wire import Message, decode_status

MEMBER_MARK = "!/"
"""Stands between an archive's path and the name of a file inside it."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file to be read: the one asked for (``name`` is None) or one inside it (``inner/name``, ``a.zip!/name``).

    ``path`` is where its bytes lie now, for an inner file only until the next member is taken. It is None when the
    file could not be taken out; ``status`` and ``reason`` say why.
    """

    name: str | None
    path: Path | None
    bytes: int = 0
    modified: str | None = None
    status: Status | None = None
    reason: str | None = None


class Members:
    """The files in a file, taken out one by one. Use it in a ``with``."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._path = path
        self._options = options
        self._stack = ExitStack()

    def __enter__(self) -> Members:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def __iter__(self) -> Iterator[Member]:
        last = False
        left = self._options.seconds
        try:
            call = self._stack.enter_context(Call({"do": "unpack", "path": os.fspath(self._path)}, self._options))
            while not last:
                message, waited = call.answer(left)
                left += 1 - waited
                last = bool(message.get("last"))
                if "member" in message:
                    yield self._member(message["member"])
                    call.go_on()
        except WorkerLostError as lost:
            yield Member(None, None, status=lost.status, reason=lost.reason)

    def _member(self, values: Message) -> Member:
        if values.get("itself"):
            return Member(None, self._path)
        path, status = values.get("path"), values.get("status")
        return Member(
            name=str(values["name"]) or None,
            path=None if path is None else Path(str(path)),
            bytes=int(values["bytes"]),
            modified=None if values["modified"] is None else str(values["modified"]),
            status=None if status is None else decode_status(status),
            reason=None if values["reason"] is None else str(values["reason"]),
        )


def unpack(path: Path, options: ReadOptions) -> Members:
    """The documents in a file: itself, for a plain one; an archive's files; a mail and then its attachments.

    Nothing that a file contains raises: a member that cannot be had comes with its status and reason.
    """
    return Members(path, options)
