"""Which files lie under the paths a person names: hidden and ignored ones left out, loops and closed doors survived."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from indexer.store import FoundFile

IGNORE_FILE = ".longdocignore"

LEFTOVERS = ("~$*", "*.part", "*.crdownload", "*.tmp", "Thumbs.db", "desktop.ini", "__MACOSX/", "__pycache__/")
"""Ignored everywhere unless an ignore file takes them back with ``!``: what programs leave beside documents."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A folder or file that could not be looked at, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan found, sorted by path; nothing below an ``unreadable`` path is known to be gone."""

    files: tuple[FoundFile, ...]
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(slots=True)
class _Walk:
    root: str
    exclude: frozenset[str]
    unreadable: list[Unreadable]
    seen: set[tuple[int, int]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Ignoring:
    """The ignore files in force in a folder, outermost first, each with the folder it speaks of."""

    specs: tuple[tuple[str, GitIgnoreSpec], ...]

    def __call__(self, path: str, *, is_folder: bool) -> bool:
        for folder, spec in reversed(self.specs):
            relative = os.path.relpath(path, folder) + ("/" if is_folder else "")
            if (included := spec.check_file(relative).include) is not None:
                return included
        return False

    def within(self, folder: str, unreadable: list[Unreadable]) -> _Ignoring:
        path = Path(folder, IGNORE_FILE)
        try:
            lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
            return _Ignoring((*self.specs, (folder, GitIgnoreSpec.from_lines(lines))))
        except FileNotFoundError:
            return self
        except (OSError, ValueError) as error:
            unreadable.append(Unreadable(str(path), _why(error)))
            return self


def scan(roots: Sequence[str], exclude: Sequence[str] = ()) -> Scan:
    """Every regular file under the roots, once each.

    A root that is a file is taken whatever its name. Folders reached twice (by links, or by roots inside each other)
    are walked once. ``exclude`` names folders to leave out, the library's own among them.
    """
    found: dict[str, FoundFile] = {}
    unreadable: list[Unreadable] = []
    excluded = frozenset(os.path.realpath(path) for path in exclude)
    for root in sorted({absolute(root) for root in roots}):
        walk = _Walk(root, excluded, unreadable)
        for file in _files(walk):
            found.setdefault(file.path, file)
    return Scan(tuple(found[path] for path in sorted(found)), tuple(unreadable))


def absolute(path: str) -> str:
    """The path from the root, without ``..``, and with its links as the person named them."""
    return os.path.abspath(path)  # noqa: PTH100  # Path.resolve would follow the links


def look_at(path: str) -> FoundFile | None:
    """The file at a path as it is now; None when nothing or no regular file is there. Raises OSError."""
    try:
        status = Path(path).stat()
    except FileNotFoundError:
        return None
    return FoundFile(path, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def is_ignored(path: str, root: str) -> bool:
    """Whether a scan of ``root`` leaves out the file at ``path``, by its name or by an ignore file."""
    ignoring, folder = _Ignoring(((root, GitIgnoreSpec.from_lines(LEFTOVERS)),)), root
    parts = Path(path).relative_to(root).parts
    for depth, name in enumerate(parts):
        ignoring = ignoring.within(folder, [])
        folder = str(Path(folder, name))
        if name.startswith(".") or ignoring(folder, is_folder=depth < len(parts) - 1):
            return True
    return False


def _files(walk: _Walk) -> Iterator[FoundFile]:
    try:
        if (file := look_at(walk.root)) is not None:
            yield file
            return
        if not Path(walk.root).is_dir():
            walk.unreadable.append(Unreadable(walk.root, "it is neither a file nor a folder"))
            return
    except OSError as error:
        walk.unreadable.append(Unreadable(walk.root, _why(error)))
        return
    pending = [(walk.root, _Ignoring(((walk.root, GitIgnoreSpec.from_lines(LEFTOVERS)),)))]
    while pending:
        folder, ignoring = pending.pop()
        entries = _entries(folder, walk)
        ignoring = ignoring.within(folder, walk.unreadable)
        for entry in entries:
            try:
                is_folder = entry.is_dir()
                if entry.name.startswith(".") or ignoring(entry.path, is_folder=is_folder):
                    continue
                if is_folder:
                    pending.append((entry.path, ignoring))
                elif (file := look_at(entry.path)) is not None:
                    yield file
            except OSError as error:
                walk.unreadable.append(Unreadable(entry.path, _why(error)))


def _entries(folder: str, walk: _Walk) -> list[os.DirEntry[str]]:
    try:
        status = Path(folder).stat()
        identity = (status.st_dev, status.st_ino)
        if identity in walk.seen or os.path.realpath(folder) in walk.exclude:
            return []
        walk.seen.add(identity)
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        walk.unreadable.append(Unreadable(folder, _why(error)))
        return []


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).lower()
