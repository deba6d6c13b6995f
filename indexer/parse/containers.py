"""Unpacks archives and mails, nested to a limit, one file at a time into a scratch folder; runs in a parser process."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from indexer.datatypes import Status
from indexer.parse.model import Entry, Sample, UnreadableError
from indexer.parse.options import ReadOptions
from indexer.parse.registry import detect_format

MOST_DEPTH = 4
MOST_MEMBERS = 100_000
_PIECE_BYTES = 1 << 18
_JUNK = re.compile(r"(?:^|/)(?:__MACOSX/|\.|Thumbs\.db$|desktop\.ini$)")


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A file taken out of a container, or why it could not be; ``path`` is None then."""

    name: str
    path: Path | None
    bytes: int = 0
    modified: str | None = None
    status: Status | None = None
    reason: str | None = None


@dataclass(slots=True)
class Unpacker:
    """Takes files out of a container and out of containers in it, within one limit on what comes out in all."""

    options: ReadOptions
    folder: Path
    taken: int = 0
    written: int = 0
    _made: list[Path] = field(default_factory=list)

    def unpack(self, path: Path, prefix: str = "", depth: int = 1) -> Iterator[Unpacked]:
        """The files in a container; each is removed again when the next is asked for."""
        try:
            found = detect_format(Sample.of(path))
            if found.members is None:
                return
            if depth > MOST_DEPTH:
                reason = f"archives inside archives are read {MOST_DEPTH} deep"
                yield Unpacked(prefix.removesuffix("!/"), None, status=Status.TOO_LARGE, reason=reason)
                return
            for entry in found.members(path, self.options):
                name = _safe_name(entry.name)
                if name and not _JUNK.search(name):
                    yield from self._take(entry, prefix + name, depth)
        except UnreadableError as error:
            yield Unpacked(prefix.removesuffix("!/"), None, status=error.status, reason=error.reason)
        except MemoryError:
            yield Unpacked(prefix.removesuffix("!/"), None, status=Status.TOO_LARGE, reason="it needs too much memory")
        except Exception as error:  # a library may raise anything over a damaged or hostile file
            reason = f"the archive is damaged or cut off ({str(error)[:200] or type(error).__name__})"
            yield Unpacked(prefix.removesuffix("!/"), None, status=Status.FAILED, reason=reason)

    def _take(self, entry: Entry, name: str, depth: int) -> Iterator[Unpacked]:
        self.taken += 1
        if self.taken > MOST_MEMBERS:
            raise UnreadableError(Status.TOO_LARGE, f"it holds more than {MOST_MEMBERS:,} files")
        target = self.folder / f"{self.taken}{_suffix(name)}"
        try:
            size = self._copy(entry, target)
            if not is_mere_container(target):
                yield Unpacked(name, target, size, entry.modified)
            yield from self.unpack(target, f"{name}!/", depth + 1)
        except UnreadableError as error:
            yield Unpacked(name, None, modified=entry.modified, status=error.status, reason=error.reason)
            if self.written > self.options.max_inflated_bytes:
                raise
        except Exception as error:  # as above, but only this file is damaged
            reason = f"it is damaged inside the archive ({str(error)[:200] or type(error).__name__})"
            yield Unpacked(name, None, modified=entry.modified, status=Status.FAILED, reason=reason)
        finally:
            with suppress(OSError):
                target.unlink()

    def _copy(self, entry: Entry, target: Path) -> int:
        """Unpack a file, counting what really comes out, whatever the archive says of its size."""
        before = self.written
        with entry.open() as source, target.open("wb") as file:
            while piece := source.read(_PIECE_BYTES):
                self.written += len(piece)
                if self.written > self.options.max_inflated_bytes:
                    limit = self.options.max_inflated_bytes >> 20
                    raise UnreadableError(Status.TOO_LARGE, f"the archive unpacks to more than {limit:,} MB")
                file.write(piece)
        return self.written - before


def is_mere_container(path: Path) -> bool:
    """Whether a file has no text of its own: an archive, not a mail."""
    try:
        return detect_format(Sample.of(path)).mere_container
    except (UnreadableError, OSError):
        return False


def _safe_name(name: str) -> str:
    """A name inside a container as a plain relative path, which never leads anywhere."""
    parts = PurePosixPath(name.replace("\\", "/").replace("\x00", "")).parts
    return "/".join(part for part in parts if part not in ("/", "..", "."))[:1000]


def _suffix(name: str) -> str:
    suffix = PurePosixPath(name).suffix
    return suffix if re.fullmatch(r"\.\w{1,10}", suffix, re.ASCII) else ""
