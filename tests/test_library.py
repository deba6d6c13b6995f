import threading

import numpy as np
import pytest

from indexer.centring import LanguageMeans
from indexer.errors import LibraryLockedError, LibraryNotFoundError
from indexer.library import Library
from indexer.store import schema
from tests.building import add_text, make_library, settings
from tests.fakes import FakeEncoder

FOX = "The quick brown fox jumps over the lazy dog and runs away. " * 40
PUMP = "The pump must be drained before the winter and checked for leaks. " * 40


def found_ids(library, query, k=5):
    ids = library.search_vectors(library.encoder.encode_query([query]), k).ids[0]
    return set(ids[ids >= 0].tolist())


def test_another_reader_notices_what_a_writer_does(tmp_path):
    with (
        make_library(tmp_path) as writer,
        Library.open(tmp_path / "library", settings(tmp_path), encoder=FakeEncoder()) as reader,
    ):
        assert found_ids(reader, "fox") == set()
        with writer.write_lock():
            fox = add_text(writer.store, FOX, "/a")
            pump = add_text(writer.store, PUMP, "/b")
        assert reader.refresh()
        assert not reader.refresh()
        assert found_ids(reader, "fox jumps") <= set(reader.store.chunk_ids([fox]))
        with writer.write_lock():
            writer.store.remove_document(fox)
        assert found_ids(reader, "fox jumps") <= set(reader.store.chunk_ids([pump]))
        assert (reader.vectors.ids == reader.store.chunk_ids()).all()


def test_the_index_is_saved_and_goes_on_from_there(tmp_path, monkeypatch):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        assert len(library.vectors)
    assert (tmp_path / "library" / "vectors-1.index").exists()
    with make_library(tmp_path) as library:
        gone = add_text(library.store, PUMP, "/b")
        add_text(library.store, "Entirely another matter. " * 30, "/c")
        library.store.remove_document(gone)
        monkeypatch.setattr(library.store, "chunk_ids", lambda *_: pytest.fail("made anew"))
        ids = library.vectors.ids
        monkeypatch.undo()
        assert (ids == library.store.chunk_ids()).all()


@pytest.mark.parametrize("damage", [lambda data: data[:-5], lambda data: b"x" + data[1:], lambda data: b""])
def test_a_damaged_index_is_made_anew(tmp_path, damage, caplog):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        wanted = found_ids(library, "fox")
    path = tmp_path / "library" / "vectors-1.index"
    path.write_bytes(damage(path.read_bytes()))
    with make_library(tmp_path) as library:
        assert found_ids(library, "fox") == wanted
        assert "made anew" in caplog.text


def test_an_index_of_another_version_is_made_anew_without_alarm(tmp_path, caplog):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        wanted = found_ids(library, "fox")
    path = tmp_path / "library" / "vectors-1.index"
    path.write_bytes(path.read_bytes().replace(b"sealed 1", b"sealed 0", 1))
    with make_library(tmp_path) as library, caplog.at_level("INFO"):
        assert found_ids(library, "fox") == wanted
    assert [(record.levelname, "another version" in record.message) for record in caplog.records] == [("INFO", True)]
    assert "damaged" not in caplog.text


@pytest.fixture
def large(monkeypatch):
    """Libraries count as large from a few chunks on."""
    monkeypatch.setattr(Library, "flat_limit", 10)


def rows_path(tmp_path):
    return tmp_path / "library" / "vectors-1.rows"


def stored_rows(library, ids):
    return library.means.centre_documents(*library.store.embeddings_and_languages(ids))


def test_a_large_library_reads_embeddings_beside_the_index(tmp_path, large, monkeypatch):
    with make_library(tmp_path) as library:
        fox = add_text(library.store, FOX, "/a")
        add_text(library.store, PUMP, "/b")
        ids = library.vectors.ids
        assert not library.vectors.exact
        wanted = stored_rows(library, ids)
        monkeypatch.setattr(library.store, "embeddings_and_languages", lambda *_: pytest.fail("read from the store"))
        assert np.allclose(library.rows(ids), wanted, atol=1e-3)
        assert found_ids(library, "fox jumps") <= set(library.store.chunk_ids([fox]))
        monkeypatch.undo()


@pytest.mark.parametrize("damage", ["gone", "flipped", "cut", "unwritable"])
def test_embeddings_beside_the_index_are_made_up_from_the_store(tmp_path, large, damage):
    path = rows_path(tmp_path)
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        wanted = library.vectors.ids
        rows = stored_rows(library, wanted)
        if damage == "flipped":
            whole = np.frombuffer(path.read_bytes(), np.uint8).copy()
            whole[::50] ^= 4
            path.write_bytes(whole.tobytes())
        elif damage == "cut":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        else:
            path.unlink()
        if damage == "unwritable":
            path.mkdir()
        for _ in range(2):
            assert np.allclose(library.rows(wanted), rows, atol=1e-3)
        if damage != "unwritable":
            assert library.row_file(library.stamp()).read(wanted)[1].all()


def test_what_is_removed_leaves_the_file_beside_the_index_too(tmp_path, large):
    with make_library(tmp_path) as library:
        fox = add_text(library.store, FOX, "/a")
        add_text(library.store, PUMP, "/b")
        assert len(library.vectors)
        gone = library.store.chunk_ids([fox])
        library.store.remove_document(fox)
        library.refresh()
        there = library.row_file(library.stamp()).read(gone)[1]
        assert not there.any()
        assert library.row_file(library.stamp()).damaged(gone) == 0


def test_what_is_removed_during_a_search_is_there_to_its_end(tmp_path, large, monkeypatch):
    with (
        make_library(tmp_path) as writer,
        Library.open(tmp_path / "library", settings(tmp_path), encoder=FakeEncoder()) as reader,
    ):
        fox = add_text(writer.store, FOX, "/a")
        add_text(writer.store, PUMP, "/b")
        index = reader.vectors
        rows_path(tmp_path).unlink()
        fetch = index._fetch
        monkeypatch.setattr(index, "_fetch", lambda ids: (writer.store.remove_document(fox), fetch(ids))[1])
        assert len(found_ids(reader, "fox jumps")) == 5
        monkeypatch.undo()
        assert found_ids(reader, "fox jumps") <= set(reader.store.chunk_ids())


def test_new_means_make_every_row_beside_the_index_another(tmp_path, large):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        ids = library.vectors.ids
        rows = library.store.chunk_embeddings(ids)
        library.keep_means(LanguageMeans.build({"en": rows.mean(axis=0)}, {"en": len(rows)}))
        assert len(library.vectors)
        assert np.allclose(library.rows(ids), stored_rows(library, ids), atol=1e-3)


def test_an_index_of_another_library_is_not_used(tmp_path):
    with make_library(tmp_path / "one") as one, make_library(tmp_path / "two") as two:
        add_text(one.store, FOX, "/a")
        add_text(two.store, PUMP, "/a")
        assert len(one.vectors)
        one.close()
        stolen = (tmp_path / "one" / "library" / "vectors-1.index").read_bytes()
        (tmp_path / "two" / "library" / "vectors-1.index").write_bytes(stolen)
        assert (two.vectors.ids == two.store.chunk_ids()).all()
        assert np.allclose(two.search_vectors(two.encoder.encode_query([PUMP]), 1).scores, 1, atol=0.2)


def test_new_means_make_the_index_anew(tmp_path):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        ids = library.store.chunk_ids()
        query = library.encoder.encode_query(["fox"])
        plain = library.search_vectors(query, 1).scores
        rows = library.store.chunk_embeddings(ids)
        means = LanguageMeans.build({"en": rows.mean(axis=0)}, {"en": len(rows)})
        library.keep_means(means)
        centred = library.search_vectors(query, 1).scores
        assert centred != plain
        assert np.allclose(centred, (library.rows(ids) @ query[0]).max(), atol=1e-5)
        assert library.means.version == means.version


def test_the_second_writer_is_told_who_holds_the_lock(tmp_path):
    with make_library(tmp_path) as one, Library.open(tmp_path / "library", settings(tmp_path), write=True) as two:
        assert one.writer is None
        with one.write_lock():
            assert two.writer is not None
            with (
                pytest.raises(LibraryLockedError, match=r"process \d+ \(`.*`\) since 20\d\d-"),
                two.write_lock(),
            ):
                pass
        with two.write_lock(wait=5):
            assert two.writer is not None
        assert two.writer is None


def test_no_library_is_an_error_that_says_how_to_make_one(tmp_path):
    with pytest.raises(LibraryNotFoundError, match="longdoc add"):
        Library.open(tmp_path / "nothing", settings(tmp_path))


def test_many_threads_read_one_library(tmp_path):
    with make_library(tmp_path) as library:
        add_text(library.store, FOX, "/a")
        wanted, errors = found_ids(library, "fox"), []

        def work():
            try:
                for _ in range(20):
                    assert found_ids(library, "fox") == wanted
                    assert library.store.lexical("fox", 3)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []


@pytest.mark.parametrize("write", [False, True])
def test_a_library_of_an_older_program_is_brought_up_to_date_when_opened(tmp_path, write):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "_SCRIPTS", schema._SCRIPTS[:1])
        make_library(tmp_path).close()
    with Library.open(tmp_path / "library", settings(tmp_path), write=write) as library:
        assert library.store.schema_version == schema.SCHEMA_VERSION
        assert library.writer is None
