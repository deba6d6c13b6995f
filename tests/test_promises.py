"""What is promised whatever happens around the program: full disks, missing rights, limits, clocks, other processes."""

import contextlib
import os
import resource
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from indexer.errors import LibraryError
from indexer.ingest import AddOptions, Listener, add
from indexer.library import Library
from indexer.parse import ReadOptions
from indexer.store import connection
from indexer.upkeep import Severity, backup, export_library, verify
from tests import reading
from tests.building import add_text, make_library, settings
from tests.fakes import FakeEncoder

FOX = "The quick brown fox jumps over the lazy dog and runs away. " * 40
OPTIONS = AddOptions(ReadOptions(sandbox=False))


def assert_as_before(tmp_path, directory):
    with Library.open(directory, settings(tmp_path), encoder=FakeEncoder()) as library:
        assert [one for one in verify(library).findings if one.severity is not Severity.NOTE] == []
        assert [document.title for document in library.store.documents()] == ["/a"]
        assert library.store.text(1) == FOX
        assert library.store.lexical("fox", 1)
        assert library.search_vectors(FakeEncoder().encode_query([FOX[:40]]), 1).scores[0, 0] > 0.99


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small file system needs rights that are missing here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def big_text(number):
    return "".join(f"Entry {number} {line} of a long register of parts and prices. " for line in range(9_000))


def test_a_full_disk_is_said_and_loses_nothing(tmp_path, small_disk):
    directory = small_disk / "library"
    with Library.open(directory, settings(tmp_path), create=True, write=True, encoder=FakeEncoder()) as library:
        add_text(library.store, FOX, "/a")
        (small_disk / "something else").write_bytes(b"x" * 900_000)
        (tmp_path / "big.txt").write_text(big_text(1))
        with pytest.raises(LibraryError, match="disk .* is full"):
            add(library, [str(tmp_path / "big.txt")], OPTIONS, Listener())
    assert_as_before(tmp_path, directory)
    (small_disk / "something else").unlink()
    with Library.open(directory, settings(tmp_path), write=True, encoder=FakeEncoder()) as library:
        with library.write_lock():  # what was half written gives its space back to the library
            assert library.store.unfinished() == 0
        second = add_text(library.store, FOX + "Another. ", "/b")
        assert library.store.text(second).endswith("Another. ")


def test_a_full_disk_cuts_no_backup_and_no_export_short(tmp_path, small_disk):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        (small_disk / "filler").write_bytes(b"x" * (shutil.disk_usage(small_disk).free - 8192))
        for write in (backup, export_library):
            with pytest.raises(LibraryError, match="full|No space"):
                write(library, small_disk / "copy")
            assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_an_index_that_cannot_be_saved_stops_nobody(tmp_path, small_disk, caplog):
    directory = small_disk / "library"
    with Library.open(directory, settings(tmp_path), create=True, write=True, encoder=FakeEncoder()) as library:
        add_text(library.store, FOX, "/a")
        free = shutil.disk_usage(small_disk).free
        (small_disk / "filler").write_bytes(b"x" * (free - 8192))
        assert len(library.vectors) == library.store.counts().chunks
    assert "could not be saved" in caplog.text
    assert not list(directory.glob("*.tmp"))
    (small_disk / "filler").unlink()
    assert_as_before(tmp_path, directory)


def test_a_read_only_directory_can_be_searched_and_says_why_it_cannot_be_written(tmp_path):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
    directory = tmp_path / "library"
    fixed = tmp_path / "fixed"
    fixed.mkdir()
    as_root = os.geteuid() == 0
    if as_root:
        for options in (["--bind", directory, fixed], ["-o", "remount,bind,ro", fixed]):
            if subprocess.run(["mount", *options], capture_output=True).returncode:
                pytest.skip("root writes anywhere, and mounting read-only is not allowed here")
    else:
        directory.chmod(0o500)
        fixed = directory
    try:
        assert_as_before(tmp_path, fixed)
        with pytest.raises(LibraryError, match="cannot be written"):
            with_write_lock(fixed, tmp_path)
    finally:
        if as_root:
            subprocess.run(["umount", "-l", fixed], check=True)
        directory.chmod(0o700)
    assert_as_before(tmp_path, directory)


def with_write_lock(directory, tmp_path):
    with Library.open(directory, settings(tmp_path), write=True) as library, library.write_lock():
        pass


def test_no_library_is_made_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LibraryError, match="can be made|cannot be made"):
        Library.open(tmp_path / "file" / "library", settings(tmp_path), create=True, encoder=FakeEncoder())


def test_the_limit_of_open_files_is_a_clear_error(tmp_path):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, limits[1]))
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open("/dev/null", os.O_RDONLY))
        with pytest.raises(LibraryError, match="could not be read"):
            Library.open(tmp_path / "library", settings(tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for one in taken:
            os.close(one)
    assert_as_before(tmp_path, tmp_path / "library")


def test_another_program_that_keeps_the_file_busy_is_waited_for_and_then_named(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.2)
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        other = sqlite3.connect(library.store.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LibraryError, match="stayed busy"):
            library.store.add_source("/x")
        assert library.store.text(1) == FOX
        other.execute("ROLLBACK")
        other.close()
        library.store.add_source("/x")
    assert_as_before(tmp_path, tmp_path / "library")


def test_a_clock_that_jumps_changes_nothing(tmp_path, monkeypatch):
    years = iter(["2030", "1970", "2026", "2026", "1999"])
    monkeypatch.setattr("indexer.store.changes.now", lambda: f"{next(years)}-01-01T00:00:00+00:00")
    with make_library(tmp_path) as library:
        reader = Library.open(tmp_path / "library", settings(tmp_path), encoder=FakeEncoder())
        for number in range(4):
            add_text(library.store, f"Text {number}. " * 50, f"/{number}")
            assert (reader.vectors.ids == library.store.chunk_ids()).all()
        assert [document.title for document in reader.store.documents()] == ["/0", "/1", "/2", "/3"]
        reader.close()


@pytest.mark.slow
def test_readers_beside_a_writer_never_see_a_wrong_or_half_made_document(tmp_path):
    seen, committed = reading.play(tmp_path, seconds=5, readers=4)
    assert [fault for one in seen for fault in one.faults] == []
    assert len(committed) > 3
    for one in seen:
        assert one.searches
        assert max(one.first_seen, default=0) == max(committed), "the last document was not seen"


def test_nothing_in_the_package_unpickles():
    root = Path(__file__).parent.parent
    for path in [*(root / "indexer").rglob("*.py"), *(root / "app").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert "import pickle" not in text, path
        assert "allow_pickle=True" not in text, path
        assert "torch.load" not in text or "weights_only=True" in text, path
