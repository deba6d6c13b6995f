import sqlite3

import numpy as np
import pytest

from indexer.errors import LongdocError
from indexer.library import Library
from indexer.store import FILE_NAME
from indexer.upkeep import Severity, prune, verify
from tests.building import add_text, make_library, settings
from tests.fakes import FakeEncoder

FOX = "The quick brown fox jumps over the lazy dog and runs away. " * 40
PUMP = "The pump must be drained before the winter and checked for leaks. " * 40


@pytest.fixture
def library(tmp_path):
    with make_library(tmp_path) as made:
        add_text(made.store, FOX, "/a")
        add_text(made.store, PUMP, "/b")
        assert len(made.vectors)
        made.vectors.save(made.index_path())
        yield made


def wrong(library):
    """What is wrong, but for remarks (the fake encoder cannot be found by name, the files are made up)."""
    return [one for one in verify(library).findings if one.severity is not Severity.NOTE]


def alter(library, *statements):
    with sqlite3.connect(library.store.path) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_whole_library_has_nothing_wrong(library):
    assert wrong(library) == []
    assert verify(library).sound


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE texts SET text = replace(text, 'fox', 'cat') WHERE document_id = 1",
        "UPDATE texts SET text = substr(text, 2) WHERE document_id = 1",
        "DELETE FROM chunks WHERE id = 3",
        "UPDATE chunks SET start = start + 1 WHERE id = 3",
        "UPDATE chunks SET embedding_id = 999999 WHERE id = 3",
        "UPDATE embeddings SET vector = zeroblob(128) WHERE id = (SELECT embedding_id FROM chunks WHERE id = 3)",
        "UPDATE embeddings SET vector = x'00' WHERE id = (SELECT embedding_id FROM chunks WHERE id = 3)",
        "UPDATE pages SET end = end - 1 WHERE document_id = 1",
        "UPDATE documents SET chars = chars + 1 WHERE id = 1",
    ],
)
def test_damage_to_what_is_kept_names_the_document(library, statement):
    alter(library, statement)
    found = verify(library)
    assert found.affected == (1,)
    assert not found.sound
    assert library.store.text(2) == PUMP


def flip_a_word(library):
    """Another letter in the full-text table, which is as sound to SQLite as before."""
    for key, block in library.store._connections.rows("SELECT id, block FROM lexical_1_data WHERE id > 10"):
        if b"zy" in block:
            connection = library.store._connections.get()
            connection.execute("UPDATE lexical_1_data SET block = ? WHERE id = ?", [block.replace(b"zy", b"zx"), key])
            return
    pytest.fail("no such word")


@pytest.mark.parametrize(
    "break_it",
    [
        flip_a_word,
        lambda library: alter(library, "DELETE FROM lexical_1_docsize WHERE id = 3"),
        lambda library: alter(library, "INSERT INTO lexical_1(rowid, text) VALUES (999, 'ghost')"),
        lambda library: alter(library, "INSERT INTO lexical_1(lexical_1) VALUES ('delete-all')"),
        lambda library: alter(library, "UPDATE recipes SET index_text_version = 'old'"),
        lambda library: alter(library, "UPDATE languages SET chunk_count = 5"),
        lambda library: library.index_path().write_bytes(library.index_path().read_bytes()[:-1]),
    ],
)
def test_what_is_derived_is_found_wrong_and_repaired(library, break_it):
    before = [one.chunk_id for one in library.store.lexical("fox", 99)]
    break_it(library)
    found = verify(library)
    assert found.derived
    assert not found.damaged
    assert not found.sound
    with library.write_lock():
        assert verify(library, repair=True).sound
    assert wrong(library) == []
    assert [one.chunk_id for one in library.store.lexical("fox", 99)] == before


def test_words_of_what_was_removed_are_not_counted(library):
    for _ in range(3):
        again = add_text(library.store, "Owls hunt the fox at night. " * 40, "/owls")
        library.store.remove_document(again)
    assert wrong(library) == []


def test_ids_that_differ_between_index_and_library_are_found(library):
    index = library.vectors
    index.remove(np.array([3]))
    index.save(library.index_path())
    assert any("only in" in one.what for one in wrong(library))


def verification_of(tmp_path):
    """What verify finds, or None when the library is too damaged to be opened (which is said in one sentence)."""
    try:
        with Library.open(tmp_path / "library", settings(tmp_path), encoder=FakeEncoder()) as library:
            return verify(library)
    except LongdocError:
        return None


def test_flipped_bytes_in_sqlite_are_found_and_the_rest_stays_readable(tmp_path):
    random = np.random.default_rng(0)
    with make_library(tmp_path) as library:
        for number in range(12):
            add_text(library.store, f"Document {number} speaks of matter {number}. " * 400, f"/{number}")
    path = tmp_path / "library" / FILE_NAME
    whole = path.read_bytes()
    pages = len(whole) // 4096
    caught = readable = 0
    for place in random.integers(1, pages, 12):
        start = int(place) * 4096
        noise = random.integers(0, 256, 4096, dtype=np.uint8).tobytes()
        path.write_bytes(whole[:start] + noise + whole[start + 4096 :])
        found = verification_of(tmp_path)
        caught += found is None or not found.sound
        if found is not None and found.affected:
            with Library.open(tmp_path / "library", settings(tmp_path)) as library:
                for number in set(range(12)) - {document_id - 1 for document_id in found.affected}:
                    assert library.store.text(number + 1) == f"Document {number} speaks of matter {number}. " * 400
                    readable += 1
    assert caught >= 11  # a page on the free list may be anything
    assert readable


def test_files_that_are_gone_or_changed_are_remarks(tmp_path):
    with make_library(tmp_path) as library:
        here = tmp_path / "here.txt"
        here.write_text("changed since")
        add_text(library.store, FOX, str(here))
        add_text(library.store, PUMP, str(tmp_path / "gone.txt"))
        remarks = [one.what for one in verify(library).findings]
        assert any("here.txt has changed" in one for one in remarks)
        assert any("gone.txt is gone" in one for one in remarks)
        library.store.add_source(str(tmp_path / "unmounted"))
        add_text(library.store, "x" * 900, str(tmp_path / "unmounted" / "c.txt"))
        remarks = [one.what for one in verify(library).findings]
        assert not any("c.txt" in one for one in remarks)
        assert any("unmounted is not there" in one for one in remarks)


def test_after_prune_the_index_goes_on_from_where_it_was(library, monkeypatch):
    library.store.remove_document(1)
    with library.write_lock():
        prune(library)
    add_text(library.store, "Something that came in later. " * 30, "/later")
    monkeypatch.setattr(library.store, "chunk_ids", lambda *_: pytest.fail("made anew"))
    ids = library.vectors.ids
    with Library.open(library.directory, library.settings, encoder=FakeEncoder()) as reader:
        monkeypatch.setattr(reader.store, "chunk_ids", lambda *_: pytest.fail("made anew"))
        assert (reader.vectors.ids == ids).all()


def test_damaged_embeddings_beside_the_index_are_a_remark_and_mended_when_read(tmp_path, monkeypatch):
    monkeypatch.setattr(Library, "flat_limit", 10)
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        ids = library.vectors.ids
        library.vectors.save(library.index_path())
        path = library.index_path().with_suffix(".rows")
        content = bytearray(path.read_bytes())
        content[-40] ^= 1
        path.write_bytes(content)
        assert any("1 embeddings beside the index are damaged" in one.what for one in verify(library).findings)
        assert wrong(library) == []
        library.rows(ids)
        assert library.row_file(library.stamp()).damaged(ids) == 0


def test_prune_drops_what_nothing_needs_and_loses_nothing(tmp_path, library):
    library.store.remove_document(1)
    before = library.store.counts().embeddings
    with library.write_lock():
        pruned = prune(library)
    assert pruned.embeddings == before - library.store.counts().embeddings > 0
    assert wrong(library) == []
    assert library.store.text(2) == PUMP
    assert (library.vectors.ids == library.store.chunk_ids()).all()
    reader = Library.open(library.directory, settings(tmp_path), encoder=FakeEncoder())
    assert (reader.vectors.ids == reader.store.chunk_ids()).all()
    reader.close()
