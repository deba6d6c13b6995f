import sqlite3

import pytest

from indexer.errors import DamagedError, LibraryError
from indexer.library import Library
from indexer.store import FILE_NAME
from indexer.upkeep import backup, restore
from tests.building import add_text, make_library, settings
from tests.fakes import FakeEncoder

FOX = "The quick brown fox jumps over the lazy dog and runs away. " * 40
PUMP = "The pump must be drained before the winter and checked for leaks. " * 40


def contents(directory, tmp_path):
    with Library.open(directory, settings(tmp_path), encoder=FakeEncoder()) as library:
        return {document.title: library.store.text(document.id) for document in library.store.documents()}


def test_a_backup_comes_back_in_an_empty_place(tmp_path):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        library.store.tag([1], ["x"])
        assert backup(library, tmp_path / "file.backup") == (tmp_path / "file.backup").stat().st_size
        ids = library.vectors.ids
        with pytest.raises(LibraryError, match="already"):
            backup(library, tmp_path / "file.backup")
        backup(library, tmp_path / "file.backup", overwrite=True)
    assert (tmp_path / "file.backup").stat().st_mode & 0o777 == 0o600
    restore(tmp_path / "file.backup", tmp_path / "new" / "library")
    with Library.open(tmp_path / "new" / "library", settings(tmp_path), encoder=FakeEncoder()) as again:
        assert again.store.document(1).tags == ("x",)
        assert again.store.text(1) == FOX
        assert (again.vectors.ids == ids).all()
        assert again.store.lexical("fox", 3)
        assert (again.store.path.stat().st_mode & 0o777) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.backup", "library", "new"]


def test_a_backup_with_other_letters_in_it_replaces_nothing_and_is_named_damaged(tmp_path, caplog):
    """SQLite has no checksums: a flipped letter is sound to it."""
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        add_text(library.store, PUMP, "/b")
        backup(library, tmp_path / "file.backup")
    content = (tmp_path / "file.backup").read_bytes()
    assert content.count(b"brown fox") >= 40
    (tmp_path / "file.backup").write_bytes(content.replace(b"brown fox", b"brawn fox", 1))
    with pytest.raises(DamagedError, match="1 documents .* nothing was replaced.*empty directory"):
        restore(tmp_path / "file.backup", tmp_path / "library", replace=True)
    assert contents(tmp_path / "library", tmp_path) == {"/a": FOX, "/b": PUMP}
    restore(tmp_path / "file.backup", tmp_path / "new")
    assert "1 documents in the backup are damaged" in caplog.text
    assert contents(tmp_path / "new", tmp_path)["/b"] == PUMP


def test_a_backup_replaces_a_library_while_it_is_being_read(tmp_path):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        backup(library, tmp_path / "file.backup")
        add_text(library.store, PUMP, "/b")
        library.store.remove_document(1)
        assert len(library.vectors)
        reader = Library.open(library.directory, settings(tmp_path), encoder=FakeEncoder())
        assert len(reader.vectors)
        with pytest.raises(LibraryError, match="--replace"):
            restore(tmp_path / "file.backup", library.directory)
        restore(tmp_path / "file.backup", library.directory, replace=True)
        assert [document.title for document in reader.store.documents()] == ["/a"]
        assert (reader.vectors.ids == reader.store.chunk_ids()).all()
        # Ids start again from the backup's: an index of before must not be taken for one of now.
        assert reader.search_vectors(FakeEncoder().encode_query([FOX]), 1).scores[0, 0] > 0.8
        reader.close()
    assert contents(tmp_path / "library", tmp_path) == {"/a": FOX}


def test_a_library_restored_and_added_to_is_not_searched_by_an_index_of_before(tmp_path):
    """The ids and the number of changes are the same again, the texts are not."""
    owls = "Owls hunt at night and sleep by day in hollow trees. " * 40
    with (
        make_library(tmp_path) as library,
        Library.open(library.directory, settings(tmp_path), encoder=FakeEncoder()) as reader,
    ):
        add_text(library.store, FOX, "/a")
        backup(library, tmp_path / "file.backup")
        add_text(library.store, PUMP, "/b")
        before = reader.vectors.ids
        restore(tmp_path / "file.backup", library.directory, replace=True)
        add_text(library.store, owls, "/c")
        assert set(reader.store.chunk_ids()) & set(before) - set(reader.store.chunk_ids([1]))
        assert reader.search_vectors(FakeEncoder().encode_query([owls]), 1).scores[0, 0] > 0.8


def test_a_damaged_backup_replaces_nothing(tmp_path):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        backup(library, tmp_path / "file.backup")
    whole = (tmp_path / "file.backup").read_bytes()
    middle = len(whole) // 2
    for broken in (
        whole[:middle],
        b"",
        b"not a library" * 100,
        whole[:middle] + b"\xff" * 8192 + whole[middle + 8192 :],
    ):
        (tmp_path / "file.backup").write_bytes(broken)
        with pytest.raises((DamagedError, LibraryError)):
            restore(tmp_path / "file.backup", tmp_path / "library", replace=True)
        with pytest.raises((DamagedError, LibraryError)):
            restore(tmp_path / "file.backup", tmp_path / "empty")
    assert contents(tmp_path / "library", tmp_path) == {"/a": FOX}
    assert not (tmp_path / "empty" / FILE_NAME).exists()
    with pytest.raises(LibraryError, match="no backup file"):
        restore(tmp_path / "nothing", tmp_path / "empty")


def test_a_library_too_damaged_to_open_is_moved_aside(tmp_path):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        backup(library, tmp_path / "file.backup")
    (tmp_path / "library" / FILE_NAME).write_bytes(b"\0" * 50_000)
    restore(tmp_path / "file.backup", tmp_path / "library", replace=True)
    assert contents(tmp_path / "library", tmp_path) == {"/a": FOX}
    (aside,) = (tmp_path / "library").glob("damaged-*")
    assert (aside / FILE_NAME).read_bytes() == b"\0" * 50_000


def test_a_database_of_another_program_is_no_backup(tmp_path):
    with sqlite3.connect(tmp_path / "other") as connection:
        connection.execute("CREATE TABLE t (x)")
    with pytest.raises(LibraryError, match="not a backup"):
        restore(tmp_path / "other", tmp_path / "library")
