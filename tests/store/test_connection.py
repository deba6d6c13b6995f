import gc
import sqlite3
import threading

import pytest

from indexer.errors import DamagedError, LibraryError
from indexer.store import Store
from indexer.store.connection import translated
from tests.building import add_text, recipe


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path, recipe()) as opened:
        yield opened


def add_source_and_fail(store):
    store.add_source("/a")
    raise LibraryError("something went wrong")


def test_a_block_that_raises_changes_nothing(store):
    with pytest.raises(LibraryError), store.together():
        add_source_and_fail(store)
    assert store.sources() == []


def test_writing_inside_a_snapshot_is_refused_instead_of_undone(store):
    with store.snapshot(), pytest.raises(RuntimeError, match="snapshot"):
        store.add_source("/a")
    store.add_source("/a")
    assert len(store.sources()) == 1


def test_a_snapshot_is_of_one_moment(store):
    with store.snapshot():
        assert store.sources() == []
        other = threading.Thread(target=store.add_source, args=["/a"])
        other.start()
        other.join()
        assert store.sources() == []
    assert len(store.sources()) == 1


def test_every_thread_has_a_connection_that_ends_with_it(tmp_path, store):
    add_text(store, "Some text. " * 50)
    connections = store._connections
    before = len(connections._open)
    found = []
    threads = [threading.Thread(target=lambda: found.append(id(connections.get()))) for _ in range(5)]
    for thread in threads:
        thread.start()
        thread.join()
    del thread, threads
    gc.collect()
    assert id(connections.get()) not in found
    assert len(connections._open) == before
    store.close()
    with pytest.raises(LibraryError, match="closed"):
        store.generation()


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        ("SQLITE_FULL", LibraryError, "Free some space"),
        ("SQLITE_CORRUPT", DamagedError, "longdoc verify"),
        ("SQLITE_NOTADB", DamagedError, "longdoc restore"),
        ("SQLITE_BUSY", LibraryError, "try again"),
        ("SQLITE_READONLY", LibraryError, "rights"),
        ("SQLITE_IOERR_READ", LibraryError, "check the disk"),
        ("", LibraryError, "unexpected"),
    ],
)
def test_what_sqlite_raises_is_said_with_what_to_do(tmp_path, code, kind, said):
    error = sqlite3.OperationalError("it went wrong")
    error.sqlite_errorname = code
    with pytest.raises(LibraryError, match=said) as raised, translated(tmp_path / "library.sqlite3"):
        raise error
    assert type(raised.value) is kind
