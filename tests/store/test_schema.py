import sqlite3

import pytest

from indexer.store import FILE_NAME, Store, schema
from tests.building import add_text, recipe


def at_version(tmp_path, version):
    """A library as the program that knew ``version`` migrations left it, with a document in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "_SCRIPTS", schema._SCRIPTS[:version])
        store = Store.create(tmp_path, recipe())
    add_text(store, "The quick brown fox. " * 30)
    return store


def test_every_older_schema_is_brought_up_to_date_and_loses_nothing(tmp_path):
    for version in range(1, schema.SCHEMA_VERSION):
        directory = tmp_path / str(version)
        old = at_version(directory, version)
        assert old.schema_version == version
        before = old.text(1)
        old.close()
        with Store.open(directory) as store:
            assert store.schema_version == schema.SCHEMA_VERSION
            assert store.text(1) == before
            assert store.lexical("fox", 1)
            assert store.runs() == []


def test_a_migration_that_fails_leaves_the_library_as_it_was(tmp_path):
    at_version(tmp_path, 1).close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            schema, "_SCRIPTS", (*schema._SCRIPTS[:1], "CREATE TABLE runs (id); INSERT INTO nowhere VALUES (1);")
        )
        with pytest.raises(Exception, match="nowhere"):
            Store.open(tmp_path)
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'runs'").fetchone() is None
    with Store.open(tmp_path) as store:
        assert store.schema_version == schema.SCHEMA_VERSION
