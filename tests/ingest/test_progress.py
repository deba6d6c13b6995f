from __future__ import annotations

from indexer.ingest.events import Task
from indexer.ingest.progress import Meter
from indexer.store import FoundFile


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_time_left_goes_by_the_tokens_that_each_kind_of_file_gives() -> None:
    clock = Clock()
    text, scan = Task(FoundFile("a.txt", 1_000, 0)), Task(FoundFile("b.pdf", 50_000, 0))
    meter = Meter([text.file, scan.file, FoundFile("c.pdf", 100_000, 0)], clock)
    assert meter.progress().seconds_left is None
    clock.now = 100.0
    meter.dealt_with(text, 0, 0)
    clock.now = 120.0
    meter.encoded(250)
    meter.dealt_with(text, 250, 990, 1.0)
    clock.now = 140.0
    meter.encoded(150)
    meter.dealt_with(scan, 150, 600, 1.0)
    progress = meter.progress()
    assert (progress.tokens, progress.tokens_per_second) == (400, 10.0)
    assert progress.seconds_left == 300 / 10
    assert (progress.bytes_done, progress.bytes_total) == (51_000, 151_000)


def test_a_document_whose_end_is_not_known_is_not_done_before_it_is_finished() -> None:
    task = Task(FoundFile("a.txt", 1_000, 0))
    meter = Meter([task.file, FoundFile("b.txt", 0, 0)], Clock())
    meter.dealt_with(task, 3, 400)
    assert meter.progress().bytes_done == 400
    meter.dealt_with(task, 3, 4_000)
    assert meter.progress().bytes_done == 950
    meter.finished(task)
    progress = meter.progress()
    assert (progress.documents_done, progress.documents_total, progress.path) == (1, 2, "a.txt")
    assert progress.bytes_done == 1_000


def test_what_is_encoded_counts_before_its_document_is_complete() -> None:
    clock = Clock()
    task = Task(FoundFile("a.txt", 10_000, 0))
    meter = Meter([task.file, FoundFile("b.txt", 10_000, 0)], clock)
    clock.now = 10.0
    meter.encoded(500)
    first = meter.progress()
    assert first.bytes_done == 2_000
    assert first.seconds_left is None  # nothing is stored yet that tells how much text a byte is
    meter.ready(500)
    assert meter.progress().bytes_done == 4_000
    meter.dealt_with(task, 1_000, 0, 1.0)
    meter.finished(task)
    last = meter.progress()
    assert last.bytes_done == 10_000
    assert last.seconds_left == 10.0
    meter.ready(5_000)
    assert meter.progress().bytes_done < 20_000  # not all, as long as a file is left


def test_the_bar_never_goes_back() -> None:
    task = Task(FoundFile("a.txt", 1_000, 0))
    meter = Meter([task.file, FoundFile("b.txt", 1_000, 0)], Clock())
    meter.encoded(300)
    before = meter.progress().bytes_done
    meter.dealt_with(task, 300, 500)
    assert meter.progress().bytes_done >= before


def test_what_a_run_takes_once_is_told_from_what_each_token_takes() -> None:
    clock = Clock()
    meter = Meter([FoundFile("a.txt", 10_000, 0)], clock)
    clock.now = 10.0
    assert meter.cost() == (0.0, 10.0)
    meter.encoded(100)
    clock.now = 12.0
    meter.encoded(50)
    assert meter.cost() == (0.0, 12.0 / 150)
    clock.now = 14.0
    meter.encoded(150)
    assert meter.cost() == (8.0, 0.02)
