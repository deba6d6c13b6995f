from __future__ import annotations

import pytest

from indexer.datatypes import FileReport, Status
from indexer.ingest.sample import choose, extrapolate
from indexer.store import FoundFile

FILES = [FoundFile(f"/{number:03}.{'pdf' if number % 4 else 'txt'}", 100 * number + 100, 0) for number in range(200)]


def test_a_sample_is_spread_over_types_and_sizes_and_always_the_same() -> None:
    chosen = choose(FILES, 20)
    assert chosen == choose(list(reversed(FILES)), 20)
    assert len(set(chosen)) == 20
    assert sum(file.path.endswith("txt") for file in chosen) == 5
    sizes = [file.size for file in chosen if file.path.endswith("pdf")]
    assert min(sizes) < 2_000
    assert max(sizes) > 18_000


def test_a_sample_larger_than_the_folder_is_the_folder() -> None:
    assert choose(FILES[:3], 10) == tuple(FILES[:3])


def test_the_whole_is_told_from_the_sample_by_the_bytes_of_each_type() -> None:
    reports = [
        FileReport(file.path, Status.INDEXED, tokens=file.size // (10 if file.path.endswith("pdf") else 2))
        for file in choose(FILES, 20)
    ]
    estimate = extrapolate(FILES, reports, 0.001, 5.0)
    expected = sum(file.size / (10 if file.path.endswith("pdf") else 2) for file in FILES)
    assert estimate.tokens == pytest.approx(expected, rel=0.001)
    assert estimate.seconds == pytest.approx(expected / 1000, rel=0.001)
    assert estimate.disk_bytes == pytest.approx(expected * 5, rel=0.001)
    assert (estimate.files, estimate.bytes) == (200, sum(file.size for file in FILES))


def test_a_type_the_sample_lacks_goes_by_the_others() -> None:
    files = [FoundFile("/a.txt", 1_000, 0), FoundFile("/b.odd", 500, 0)]
    estimate = extrapolate(files, [FileReport("/a.txt", Status.INDEXED, tokens=100)], 1.0, 1.0)
    assert estimate.tokens == 150
