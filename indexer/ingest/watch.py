"""Following the added folders: what changes comes in once it lies still; what happened before is made up for."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.datatypes import RunReport
from indexer.errors import LibraryLockedError
from indexer.ingest.events import ReadFunction
from indexer.ingest.plan import is_under
from indexer.ingest.run import AddOptions, Listener, Run
from indexer.ingest.scan import is_ignored, look_at, scan
from indexer.library import Library

if TYPE_CHECKING:
    from watchfiles import Change

SETTLED_SECONDS = 3.0
"""A file is taken up once its size and time of change have stayed as they are for so long."""

_LOOK_MILLISECONDS = 500

logger = logging.getLogger(__name__)


class Settling:
    """Files that changed lately, and since when each has been lying still."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self._clock = seconds, clock
        self._since: dict[str, tuple[tuple[int, int] | None, float]] = {}

    def noticed(self, paths: Iterable[str]) -> None:
        """Begin to wait for files that changed."""
        for path in paths:
            self._since[path] = (_state(path), self._clock())

    def settled(self) -> set[str]:
        """The files that have lain still long enough; those that have changed again wait anew."""
        now = self._clock()
        for path, (state, _) in list(self._since.items()):
            if (present := _state(path)) != state:
                self._since[path] = (present, now)
        return {path for path, (_, since) in self._since.items() if now - since >= self.seconds}

    def forget(self, paths: Iterable[str]) -> None:
        """Wait no longer for files that are dealt with."""
        for path in paths:
            self._since.pop(path, None)

    @property
    def waiting(self) -> frozenset[str]:
        """The files that are waited for."""
        return frozenset(self._since)


def watch(
    library: Library,
    options: AddOptions,
    listener: Listener,
    finished: Callable[[RunReport], None] = lambda _: None,
    settled_seconds: float = SETTLED_SECONDS,
    read: ReadFunction | None = None,
) -> None:
    """Keep the library at what lies in its sources until ``listener.stopping`` is set.

    Begins by making up for what happened while nobody watched. Sources that come (a disk is mounted, another process
    adds a folder) are followed from then on; one that goes keeps its documents. The writer lock is held only while
    files are brought in; when another process holds it, the files wait.
    """
    follower = _Follower(library, options, listener, finished, read)
    settling = Settling(settled_seconds)
    while not listener.stopping.is_set():
        follower.follow(follower.present(), settling)


class _Follower:
    def __init__(
        self,
        library: Library,
        options: AddOptions,
        listener: Listener,
        finished: Callable[[RunReport], None],
        read: ReadFunction | None,
    ) -> None:
        self._library, self._options, self._listener = library, options, listener
        self._finished, self._read = finished, read

    def present(self) -> tuple[str, ...]:
        """The sources that are there now."""
        return tuple(source.path for source in self._library.store.sources() if Path(source.path).exists())

    def follow(self, roots: tuple[str, ...], settling: Settling) -> None:
        """Take up changes as they settle; returns when the sources are not the same any more, or at the end."""
        if not roots:
            self._listener.stopping.wait(1.0)
            return
        caught_up = False
        for changes in self._changes(roots):
            settling.noticed(path for _, path in changes if self._concerns(path, roots))
            if not caught_up:
                # Only now that changes are heard of: what happens during this look is not missed.
                settling.noticed(_fresh(roots, settling.seconds, self._library))
                caught_up = self.bring_in(roots, settling.waiting)
            elif settled := settling.settled():
                touched = [root for root in roots if any(is_under(path, root) for path in settled)]
                if self.bring_in(touched, settling.waiting - settled):
                    settling.forget(settled)
            if self.present() != roots:
                return

    def _changes(self, roots: tuple[str, ...]) -> Iterator[set[tuple[Change, str]]]:
        """What happens below the roots, until something that cannot be told, such as of a name that is not UTF-8.

        Then these changes end, and whoever follows them looks through everything again.
        """
        from watchfiles import watch as changes_in
        from watchfiles._rust_notify import WatchfilesRustInternalError

        try:
            yield from changes_in(
                *roots,
                stop_event=self._listener.stopping,
                rust_timeout=_LOOK_MILLISECONDS,
                yield_on_timeout=True,
                raise_interrupt=False,
                watch_filter=None,
                ignore_permission_denied=True,
            )
        except WatchfilesRustInternalError as error:
            logger.info("everything is looked through again: %s", error)
            self._listener.stopping.wait(1.0)

    def bring_in(self, roots: Iterable[str], hold: frozenset[str]) -> bool:
        """Bring sources and library together; False when another process is writing, so that it must wait."""
        try:
            with self._library.write_lock(self._options.wait):
                report = Run(self._library, self._options, self._listener, self._read).over(list(roots), hold)
        except LibraryLockedError as error:
            logger.info("%s", error)
            return False
        self._finished(report)
        return True

    def _concerns(self, path: str, roots: Iterable[str]) -> bool:
        around = [root for root in roots if is_under(path, root)]
        own = is_under(path, str(self._library.directory))
        return not own and any(path == root or not is_ignored(path, root) for root in around)


def _fresh(roots: Iterable[str], seconds: float, library: Library) -> list[str]:
    """Files that changed so lately that somebody may still be writing to them."""
    earliest = time.time_ns() - int(seconds * 1e9)
    found = scan(list(roots), [str(library.directory)])
    return [file.path for file in found.files if file.mtime_ns > earliest]


def _state(path: str) -> tuple[int, int] | None:
    try:
        file = look_at(path)
    except OSError:
        return None
    return None if file is None else (file.size, file.mtime_ns)
