from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.datatypes import Document, FileReport, RunReport, Status
from indexer.ingest import add
from indexer.ingest.failing import STAYS
from indexer.library import Library
from indexer.parse import ReadOptions, read
from indexer.upkeep import verify
from tests.ingest.conftest import OPTIONS, prose

GOOD = "The supplier pays a penalty when the delivery is late."
BROKEN = "broken " + GOOD

Add = Callable[..., RunReport]


@pytest.fixture
def broken(library: Library, folder: Path) -> Add:
    """Add the folder with a reader that has a fault of ours on every text that begins with ``broken``."""

    def reading(path: Path, options: ReadOptions):  # type: ignore[no-untyped-def]  # as indexer.parse.read
        if path.read_bytes().startswith(b"broken"):
            raise ZeroDivisionError("a fault")
        return read(path, options)

    def run(again: frozenset[Status] = frozenset(), *, mended: bool = False) -> RunReport:
        options = OPTIONS if not again else type(OPTIONS)(OPTIONS.reading, again=again)
        return add(library, [str(folder)], options, read=None if mended else reading)

    return run


def only(report: RunReport) -> FileReport:
    (file,) = report.files
    return file


def texts(library: Library) -> set[str]:
    store = library.store
    return {store.text(document.id) for document in store.documents() if document.status.searchable}


def test_the_last_good_version_stays_when_the_newer_one_cannot_be_read(
    library: Library, folder: Path, broken: Add
) -> None:
    path = folder / "a.txt"
    path.write_text(GOOD)
    before = only(broken()).document_id
    path.write_text(BROKEN)
    failed = only(broken())
    assert (failed.status, failed.document_id) == (Status.FAILED, before)
    assert failed.reason is not None
    assert failed.reason.startswith("an internal error")
    assert failed.reason.endswith(STAYS)
    (document,) = library.store.documents()
    assert texts(library) == {GOOD}
    (sentence,) = document.outdated
    assert str(path) in sentence
    assert "internal error" in sentence


def test_an_unread_version_is_left_alone_until_it_is_asked_for_or_changes(
    library: Library, folder: Path, broken: Add
) -> None:
    path = folder / "a.txt"
    path.write_text(GOOD)
    broken()
    path.write_text(BROKEN)
    assert broken().failed == 1
    second = broken()
    assert (second.unchanged, second.failed) == (1, 0)
    assert (only(second).reason or "").startswith("failed: an internal error")
    assert broken(frozenset({Status.ENCRYPTED})).unchanged == 1
    assert broken(frozenset({Status.FAILED})).failed == 1
    assert broken(frozenset({Status.FAILED}), mended=True).updated == 1
    (document,) = library.store.documents()
    assert (document.outdated, texts(library)) == ((), {BROKEN})


def test_the_note_goes_when_the_old_bytes_come_back(library: Library, folder: Path, broken: Add) -> None:
    path = folder / "a.txt"
    path.write_text(GOOD)
    broken()
    path.write_text(BROKEN)
    broken()
    path.write_text(GOOD)
    os.utime(path, (5, 5))
    assert broken().unchanged == 1
    (document,) = library.store.documents()
    assert document.outdated == ()


def test_the_version_before_leaves_with_its_file(library: Library, folder: Path, broken: Add) -> None:
    (folder / "a.txt").write_text(GOOD)
    (folder / "b.txt").write_text(prose(1, 3))
    broken()
    (folder / "a.txt").write_text(BROKEN)
    broken()
    (folder / "a.txt").unlink()
    assert broken().removed == 1
    assert [Path(document.paths[0]).name for document in library.store.documents()] == ["b.txt"]


def test_an_emptied_file_is_a_new_version(library: Library, folder: Path, broken: Add) -> None:
    path = folder / "a.txt"
    path.write_text(GOOD)
    broken()
    path.write_text("")
    assert only(broken()).status is Status.EMPTY
    assert texts(library) == set()


@pytest.mark.parametrize("status", [Status.ENCRYPTED, Status.NEEDS_OCR, Status.TIMED_OUT, Status.UNSUPPORTED])
def test_whatever_kept_the_newer_version_from_being_read(library: Library, folder: Path, status: Status) -> None:
    path = folder / "a.txt"
    path.write_text(GOOD)
    add(library, [str(folder)], OPTIONS)
    path.write_text(BROKEN)

    class Refusing:
        document = Document("application/pdf", status, "a reason", coverage=0.0)

        def __iter__(self) -> Iterator[object]:
            return iter(())

    @contextmanager
    def reading(path: Path, options: ReadOptions) -> Iterator[Refusing]:
        yield Refusing()

    report = add(library, [str(folder)], OPTIONS, read=reading)  # type: ignore[arg-type]  # as far as it is used
    assert only(report).status is status
    assert texts(library) == {GOOD}


def test_copies_that_fail_keep_what_each_had(library: Library, folder: Path, broken: Add) -> None:
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(f"{GOOD} {name}")
    broken()
    for name in ("a.txt", "b.txt", "c.txt"):
        (folder / name).write_text(BROKEN)
    report = broken()
    assert [file.status for file in report.files] == [Status.FAILED] * 3
    assert texts(library) == {f"{GOOD} a.txt", f"{GOOD} b.txt"}
    found = {Path(path).name: document for document in library.store.documents() for path in document.paths}
    assert found["c.txt"].status is Status.FAILED
    assert all(found[name].outdated for name in ("a.txt", "b.txt"))
    assert {Path(file.path).name: file.document_id for file in report.files} == {
        name: document.id for name, document in found.items()
    }


def test_copies_of_a_new_version_leave_no_old_document_behind(library: Library, folder: Path, broken: Add) -> None:
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(f"{GOOD} {name}")
    broken()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(GOOD)
    broken()
    (document,) = library.store.documents()
    assert len(document.paths) == 2


def test_an_archives_member_keeps_its_version_before(library: Library, folder: Path, broken: Add) -> None:
    def pack(text: str) -> None:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("inner.txt", text)
        (folder / "a.zip").write_bytes(held.getvalue())

    pack(GOOD)
    broken()
    pack(BROKEN)
    assert only(broken()).status is Status.FAILED
    assert texts(library) == {GOOD}
    assert only(broken()).status is Status.UNCHANGED
    (document,) = library.store.documents()
    assert document.outdated


def test_verify_and_the_verbs_tell_of_it(library: Library, folder: Path, broken: Add) -> None:
    from indexer.cli import longdoc

    path = folder / "a.txt"
    path.write_text(GOOD)
    broken()
    path.write_text(BROKEN)
    broken()
    assert any("the version before is kept" in finding.what for finding in verify(library).findings)
    at = ["--library", str(library.directory)]
    assert "indexed (outdated)" in CliRunner().invoke(longdoc, [*at, "list"]).output
    assert "outdated" in CliRunner().invoke(longdoc, [*at, "show", "1"]).output
    shown = json.loads(CliRunner().invoke(longdoc, [*at, "show", "1", "--json"]).stdout)
    assert len(shown["documents"][0]["outdated"]) == 1
