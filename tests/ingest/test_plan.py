from __future__ import annotations

import pytest

from indexer.datatypes import Document, Status
from indexer.ingest.plan import is_under, make_plan, source_of
from indexer.ingest.scan import Scan, Unreadable
from indexer.library import Library
from indexer.store import FoundFile, Source

A, B = FoundFile("/d/a.txt", 10, 1), FoundFile("/d/b.txt", 10, 1)


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("/d", "/d", True),
        ("/d/x", "/d", True),
        ("/d/x", "/d/", True),
        ("/dx", "/d", False),
        ("/x", "/", True),
        ("/d/a.zip!/inner/x", "/d/a.zip", True),
        ("/d/a.zip!/inner/x", "/d", True),
        ("/d/a.zipx", "/d/a.zip", False),
    ],
)
def test_what_lies_under_a_root(path: str, root: str, expected: bool) -> None:
    assert is_under(path, root) is expected


def test_the_innermost_source_is_a_paths_own() -> None:
    sources = [Source(1, "/d", ""), Source(2, "/d/e", ""), Source(3, "/f", "")]
    assert source_of("/d/e/x.txt", sources) == 2
    assert source_of("/d/x.txt", sources) == 1
    assert source_of("/g/x.txt", sources) is None


def record(library: Library, *files: FoundFile, status: Status = Status.FAILED) -> None:
    for number, file in enumerate(files):
        library.store.record_failure(Document("", status, "a reason"), file, f"{number:064x}")


def test_files_are_told_apart_by_size_and_time_of_change(library: Library) -> None:
    record(library, A, B, FoundFile("/d/gone.txt", 1, 1))
    found = Scan((A, FoundFile("/d/b.txt", 11, 1), FoundFile("/d/c.txt", 1, 1)))
    plan = make_plan(library.store, ["/d"], found, frozenset())
    assert [task.file.path for task in plan.tasks] == ["/d/b.txt", "/d/c.txt"]
    assert plan.tasks[0].document_id is not None
    assert plan.tasks[1].document_id is None
    assert [report.path for report in plan.unchanged] == ["/d/a.txt"]
    assert [file.path for file in plan.gone] == ["/d/gone.txt"]
    assert [task.file.path for task in plan.without({"/d/b.txt", "/d/gone.txt"}).tasks] == ["/d/c.txt"]
    assert plan.without({"/d/gone.txt"}).gone == ()


def test_statuses_can_be_taken_up_again(library: Library) -> None:
    record(library, A, status=Status.ENCRYPTED)
    assert not make_plan(library.store, ["/d"], Scan((A,)), frozenset({Status.FAILED})).tasks
    assert make_plan(library.store, ["/d"], Scan((A,)), frozenset({Status.ENCRYPTED})).tasks


def test_nothing_is_gone_below_a_closed_folder_or_in_a_folder_that_is_empty(library: Library) -> None:
    record(library, A, FoundFile("/d/closed/x.txt", 1, 1), FoundFile("/e/y.txt", 1, 1))
    found = Scan((A,), (Unreadable("/d/closed", "permission denied"),))
    plan = make_plan(library.store, ["/d", "/e"], found, frozenset())
    assert plan.gone == ()
    assert "/e is empty now" in plan.warnings[0]


def test_an_archive_is_as_it_was_when_all_its_members_are(library: Library) -> None:
    archive = FoundFile("/d/a.zip", 50, 7)
    record(library, FoundFile("/d/a.zip!/x", 50, 7), FoundFile("/d/a.zip!/y", 50, 7))
    assert not make_plan(library.store, ["/d"], Scan((archive,)), frozenset()).tasks
    record(library, FoundFile("/d/a.zip!/z", 50, 0))
    (task,) = make_plan(library.store, ["/d"], Scan((archive,)), frozenset()).tasks
    assert task.file.path == "/d/a.zip"


def test_a_folder_that_is_named_like_an_archives_inside_is_a_folder(library: Library) -> None:
    file = FoundFile("/d/odd!/x.txt", 5, 5)
    record(library, file)
    plan = make_plan(library.store, ["/d"], Scan((file,)), frozenset())
    assert (plan.tasks, plan.gone) == ((), ())
