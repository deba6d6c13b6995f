import json
from dataclasses import replace

import numpy as np
import pytest

from indexer import faults
from indexer.datatypes import Document, Status
from indexer.errors import LibraryError
from indexer.library import Library
from indexer.store import FoundFile, Store
from indexer.upkeep import export_library, import_library
from tests.building import add_text, make_library, recipe, settings
from tests.fakes import FakeEncoder

FOX = "The quick brown fox jumps over the lazy dog and runs away. " * 40
CHINESE = "向量数据库保存长文档，每一段都有出处。" * 60


@pytest.fixture
def library(tmp_path):
    with make_library(tmp_path) as made:
        add_text(made.store, FOX, "/files/a.txt", author="An Author", created="2024-05-06", unread_pages=(3,))
        add_text(made.store, "to be removed " * 40, "/files/c.txt")
        made.store.remove_document(2)
        add_text(made.store, CHINESE, "/files/\udcff.txt", language="zh")
        source = made.store.add_source("/files")
        made.store.link(FoundFile("/files/copy.txt", 9, 8, source), 1)
        made.store.tag([1], ["contract", "合同"])
        made.store.record_failure(
            Document("", Status.ENCRYPTED, reason="locked"), FoundFile("/files/l.pdf", 1, 2), "ab"
        )
        yield made


def told(store):
    """All that a library says of its documents, but for ids and the moment of adding."""
    found = []
    for document in store.documents():
        chunks = list(store.document_chunks(document.id))
        found.append(
            (
                replace(document, id=0, added=""),
                store.text(document.id),
                store.pages(document.id),
                store.headings(document.id),
                [one.chunk for one in chunks],
                store.chunk_embeddings([one.id for one in chunks]).tolist(),
                None if store.document_vector(document.id) is None else store.document_vector(document.id).tolist(),
            )
        )
    files = [(file.path, file.size, file.mtime_ns, file.source_id is None) for file in store.files()]
    return found, files, [source.path for source in store.sources()]


def test_an_export_comes_back_as_the_same_library(tmp_path, library):
    assert export_library(library, tmp_path / "export") == 3
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "export").iterdir()} == {0o600}
    Store.create(tmp_path / "new", recipe()).close()
    with Library.open(tmp_path / "new", settings(tmp_path), write=True, encoder=FakeEncoder()) as new:
        done = import_library(new, tmp_path / "export")
        assert (done.added, done.unchanged) == (3, 0)
        assert told(new.store) == told(library.store)
        again = import_library(new, tmp_path / "export")
        assert (again.added, again.unchanged) == (0, 3)
        assert told(new.store) == told(library.store)


def test_other_programs_can_read_an_export(tmp_path, library):
    export_library(library, tmp_path / "export")
    rows = np.load(tmp_path / "export" / "embeddings.npy")
    chunks = [json.loads(line) for line in (tmp_path / "export" / "chunks.jsonl").open()]
    documents = [json.loads(line) for line in (tmp_path / "export" / "documents.jsonl").open()]
    assert rows.dtype == np.float16
    assert len(rows) == len(chunks) == library.store.counts().chunks
    assert documents[chunks[-1]["document"]]["language"] == "zh"
    assert "".join(chunk["text"] for chunk in chunks if chunk["document"] == 0) == FOX
    assert rows[0].tolist() == library.store.chunk_embeddings([chunks[0]["id"]])[0].tolist()


def test_a_changed_export_or_another_recipe_is_refused(tmp_path, library):
    export_library(library, tmp_path / "export")
    with pytest.raises(LibraryError, match="already"):
        export_library(library, tmp_path / "export")
    Store.create(tmp_path / "other", recipe(chunk_tokens=64)).close()
    with (
        Library.open(tmp_path / "other", settings(tmp_path)) as other,
        pytest.raises(LibraryError, match="other chunking"),
    ):
        import_library(other, tmp_path / "export")
    chunks = tmp_path / "export" / "chunks.jsonl"
    chunks.write_text(chunks.read_text().replace("fox", "cat", 1))
    with pytest.raises(LibraryError, match="not as it was exported"):
        import_library(library, tmp_path / "export")
    (tmp_path / "export" / "manifest.json").write_text("{}")
    with pytest.raises(LibraryError, match="no complete export"):
        import_library(library, tmp_path / "export")


def test_an_empty_library_can_be_exported(tmp_path):
    with make_library(tmp_path) as library:
        assert export_library(library, tmp_path / "export") == 0
        assert import_library(library, tmp_path / "export").added == 0


class Crash(BaseException):
    """What nothing catches, as nothing catches a kill."""


MOMENTS = ("begin", "embeddings", "write", "written", "pages", "finish", "finished", "link", "failure")


@pytest.mark.parametrize("moment", [f"store.{name}" for name in MOMENTS])
def test_an_import_that_was_stopped_anywhere_is_made_whole_by_another(tmp_path, library, moment):
    def stop(name):
        if name == moment:
            raise Crash

    export_library(library, tmp_path / "export")
    Store.create(tmp_path / "new", recipe()).close()
    faults.set_hook(stop)
    try:
        with (
            Library.open(tmp_path / "new", settings(tmp_path), write=True, encoder=FakeEncoder()) as new,
            pytest.raises(Crash),
            new.write_lock(),
        ):
            import_library(new, tmp_path / "export")
    finally:
        faults.set_hook(None)
    with Library.open(tmp_path / "new", settings(tmp_path), write=True, encoder=FakeEncoder()) as new, new.write_lock():
        import_library(new, tmp_path / "export")
        assert told(new.store) == told(library.store)
