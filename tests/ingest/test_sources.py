from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.datatypes import RunReport
from indexer.errors import DocumentNotFoundError, LongdocError
from indexer.ingest import remember, remove
from indexer.library import Library
from tests.ingest.conftest import prose

Run = Callable[..., RunReport]


def test_removing_by_id_and_by_folder(run: Run, folder: Path, library: Library) -> None:
    (folder / "sub").mkdir()
    for name in ("a.txt", "sub/b.txt", "sub/c.txt"):
        (folder / name).write_text(prose(len(name), 3) + name)
    report = run()
    with pytest.raises(DocumentNotFoundError, match="99"):
        remove(library, ["99"])
    first = next(file for file in report.files if file.path.endswith("a.txt"))
    assert [one.path for one in remove(library, [str(first.document_id)])] == [first.path]
    assert len(remove(library, [str(folder)])) == 2
    assert list(library.store.documents()) == []
    assert library.store.sources() == []
    assert (folder / "a.txt").exists()


def test_a_document_that_lies_elsewhere_too_stays_when_a_folder_goes(
    run: Run, folder: Path, library: Library, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for place in (folder, other):
        (place / "a.txt").write_text(prose(1, 3))
    run(folder, other)
    assert remove(library, [str(folder)]) == []
    (document,) = library.store.documents()
    assert document.paths == (str(other / "a.txt"),)
    assert [source.path for source in library.store.sources()] == [str(other)]


def test_a_source_is_remembered_once_and_only_where_something_lies(library: Library, folder: Path) -> None:
    (folder / "sub").mkdir()
    remember(library, [str(folder), str(folder / "sub"), str(folder)])
    assert [source.path for source in library.store.sources()] == [str(folder)]
    with pytest.raises(LongdocError, match="no file or folder"):
        remember(library, [str(folder / "nowhere")])
