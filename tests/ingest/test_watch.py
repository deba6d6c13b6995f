from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from indexer.datatypes import RunReport
from indexer.ingest import Listener, watch
from indexer.ingest.watch import Settling
from indexer.library import Library
from tests.ingest.conftest import OPTIONS, prose


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_file_settles_once_it_stays_as_it_is(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "a.txt"
    path.write_text("one")
    settling = Settling(3.0, clock)
    settling.noticed([str(path)])
    clock.now = 2.0
    assert settling.settled() == set()
    path.write_text("one and two")
    clock.now = 4.0
    assert settling.settled() == set()
    clock.now = 7.0
    assert settling.settled() == {str(path)}
    assert settling.waiting == {str(path)}
    settling.forget([str(path)])
    assert settling.waiting == frozenset()


def test_a_file_that_goes_settles_too(tmp_path: Path) -> None:
    clock = Clock()
    settling = Settling(3.0, clock)
    settling.noticed([str(tmp_path / "gone.txt")])
    clock.now = 3.0
    assert settling.settled() == {str(tmp_path / "gone.txt")}


@contextmanager
def watching(library: Library, settled_seconds: float = 0.3) -> Iterator[list[RunReport]]:
    reports: list[RunReport] = []
    listener = Listener()
    thread = threading.Thread(target=watch, args=(library, OPTIONS, listener, reports.append, settled_seconds))
    thread.start()
    try:
        yield reports
    finally:
        listener.stopping.set()
        thread.join(20)
        assert not thread.is_alive()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 30 seconds"
        time.sleep(0.05)


def names(library: Library) -> set[str]:
    return {Path(path).name for document in library.store.documents() for path in document.paths}


def test_changes_come_in_and_what_happened_before_is_made_up_for(
    run: Callable[..., RunReport], folder: Path, library: Library
) -> None:
    (folder / "old.txt").write_text(prose(1, 2))
    run()
    (folder / "meanwhile.txt").write_text(prose(2, 2))
    with watching(library):
        until(lambda: names(library) == {"old.txt", "meanwhile.txt"})
        (folder / "new.txt").write_text(prose(3, 2))
        (folder / ".hidden.txt").write_text("hidden")
        until(lambda: "new.txt" in names(library))
        (folder / "old.txt").unlink()
        until(lambda: "old.txt" not in names(library))
    assert names(library) == {"meanwhile.txt", "new.txt"}


def test_a_name_that_is_not_utf8_comes_in_and_stops_nothing(
    run: Callable[..., RunReport], folder: Path, library: Library
) -> None:
    run()
    odd = os.fsdecode(b"caf\xe9.txt")
    with watching(library):
        (folder / odd).write_text(prose(1, 2))
        until(lambda: odd in names(library))
        (folder / "plain.txt").write_text(prose(2, 2))
        until(lambda: "plain.txt" in names(library))


def test_a_file_still_being_copied_is_waited_for(run: Callable[..., RunReport], folder: Path, library: Library) -> None:
    (folder / "old.txt").write_text(prose(1, 2))
    run()
    parts = prose(4, 12).split("\n\n")
    with watching(library, settled_seconds=1.0), (folder / "slow.txt").open("w") as file:
        for part in parts:
            file.write(part + "\n\n")
            file.flush()
            time.sleep(0.2)
            assert "slow.txt" not in names(library)
        file.close()
        until(lambda: "slow.txt" in names(library))
    document = next(one for one in library.store.documents() if one.paths[0].endswith("slow.txt"))
    assert document.chars >= len("\n\n".join(parts))


@pytest.mark.parametrize("comes", ["mounted", "added"])
def test_a_source_that_comes_later_is_followed(
    run: Callable[..., RunReport], folder: Path, library: Library, tmp_path: Path, comes: str
) -> None:
    (folder / "a.txt").write_text(prose(1, 2))
    run()
    folder.rename(tmp_path / "away")
    with watching(library):
        if comes == "mounted":
            (tmp_path / "away" / "b.txt").write_text(prose(2, 2))
            (tmp_path / "away").rename(folder)
        else:
            folder.mkdir()
            (folder / "b.txt").write_text(prose(2, 2))
        until(lambda: "b.txt" in names(library))
