from __future__ import annotations

from indexer.ingest.progress import Meter
from indexer.store import FoundFile


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_time_left_goes_by_the_tokens_that_each_kind_of_file_gives() -> None:
    clock = Clock()
    text, scan = FoundFile("a.txt", 1_000, 0), FoundFile("b.pdf", 50_000, 0)
    meter = Meter([text, scan, FoundFile("c.pdf", 100_000, 0)], clock)
    assert meter.progress().seconds_left is None
    clock.now = 100.0
    meter.dealt_with(text, 0, 0)
    clock.now = 120.0
    meter.encoded(250)
    meter.dealt_with(text, 1_000, 250)
    clock.now = 140.0
    meter.encoded(150)
    meter.dealt_with(scan, 50_000, 150)
    progress = meter.progress()
    assert (progress.tokens, progress.tokens_per_second) == (400, 10.0)
    assert progress.seconds_left == 300 / 10
    assert (progress.bytes_done, progress.bytes_total) == (51_000, 151_000)


def test_documents_are_counted() -> None:
    meter = Meter([FoundFile("a.txt", 10, 0), FoundFile("b.txt", 0, 0)], Clock())
    meter.dealt_with(FoundFile("a.txt", 10, 0), 10, 3)
    meter.finished()
    progress = meter.progress()
    assert (progress.documents_done, progress.documents_total, progress.path) == (1, 2, "a.txt")
