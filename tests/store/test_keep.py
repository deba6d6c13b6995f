import os
import sqlite3
import stat

import pytest

from indexer.errors import LibraryError, LibraryNotFoundError
from indexer.store import FILE_NAME, Store
from tests.building import recipe


def test_create_open_and_refuse(tmp_path):
    with Store.create(tmp_path / "a", recipe()) as store:
        assert store.recipe == recipe()
        assert store.generation() == 0
    with pytest.raises(LibraryError, match="already"):
        Store.create(tmp_path / "a", recipe())
    with pytest.raises(LibraryNotFoundError, match="longdoc add"):
        Store.open(tmp_path / "b")
    with Store.open(tmp_path / "a", readonly=True) as store:
        assert store.recipe == recipe()
        with pytest.raises(LibraryError, match="cannot be written"):
            store.add_source("/somewhere")


def test_the_files_are_private_to_their_user(tmp_path):
    before = os.umask(0)
    try:
        store = Store.create(tmp_path / "deep" / "library", recipe())
        store.add_source("/x")
        directory = tmp_path / "deep" / "library"
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()} == {0o600}
        assert len(list(directory.iterdir())) == 3
        store.close()
    finally:
        os.umask(before)


def test_a_newer_schema_and_a_foreign_file_are_refused(tmp_path):
    Store.create(tmp_path, recipe()).close()
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(LibraryError, match="update longdoc"):
        Store.open(tmp_path)
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("PRAGMA application_id = 42")
    with pytest.raises(LibraryError, match="another program"):
        Store.open(tmp_path)


def test_meta_values(tmp_path):
    with Store.create(tmp_path, recipe()) as store:
        assert store.meta_get("thing") is None
        store.meta_set("thing", {"a": [1, 2.5, "é"]})
        assert store.meta_get("thing") == {"a": [1, 2.5, "é"]}
        store.meta_set("thing", None)
        assert store.meta_get("thing") is None
