from __future__ import annotations

import os
from pathlib import Path

import pytest

from indexer.doctor.machine import (
    cores_finding,
    disk_findings,
    memory_finding,
    processor_finding,
    threads_finding,
)
from indexer.doctor.report import Level
from indexer.machine import Cores, Processor, read_cores, read_processor

GIB = 1 << 30
FOUR = Cores(physical=4, logical=8, allowed=8, quota=None)


def test_the_processor_is_read_from_the_kernels_list(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(
        "processor\t: 0\nmodel name\t: Good Chip 9\nflags\t\t: sse avx2 avx512f amx_tile\n\nmodel name\t: x\n"
    )
    processor = read_processor(cpuinfo)
    assert processor.model == "Good Chip 9"
    assert [processor.has(name) for name in ("AVX2", "AVX-512", "VNNI", "AMX")] == [True, True, False, True]
    assert processor_finding(processor).level is Level.OK


@pytest.mark.parametrize(
    ("flags", "level"), [({"sse2"}, Level.WARN), ({"avx2"}, Level.OK), ({"asimd"}, Level.OK), (set(), Level.OK)]
)
def test_only_a_known_lack_of_avx2_is_a_warning(flags: set[str], level: Level) -> None:
    assert processor_finding(Processor("chip", frozenset(flags))).level is level


def test_a_quota_below_the_cores_is_a_warning_with_the_number_to_set() -> None:
    finding = cores_finding(Cores(4, 8, 8, 2.5))
    assert finding.level is Level.WARN
    assert "LONGDOC_THREADS=2" in finding.advice
    assert cores_finding(FOUR).level is Level.OK
    assert 1 <= read_cores().usable <= (os.cpu_count() or 1)


@pytest.mark.parametrize(
    ("environment", "level"),
    [
        ({}, Level.OK),
        ({"OMP_NUM_THREADS": "4"}, Level.OK),
        ({"OMP_NUM_THREADS": "8"}, Level.WARN),
        ({"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "4"}, Level.WARN),
    ],
)
def test_thread_settings_that_clash_are_named(environment: dict[str, str], level: Level) -> None:
    finding = threads_finding(environment, FOUR)
    assert finding.level is level
    assert all(name in finding.text for name in environment)


@pytest.mark.parametrize(
    ("available", "limit", "level"),
    [(8 * GIB, None, Level.OK), (8 * GIB, GIB, Level.WARN), (GIB, None, Level.WARN), (GIB // 4, None, Level.FAIL)],
)
def test_memory_is_judged_by_what_may_be_used(available: int, limit: int | None, level: Level) -> None:
    assert memory_finding(16 * GIB, available, limit).level is level


def test_the_disk_is_measured_where_the_library_will_lie(tmp_path: Path) -> None:
    space, speed = disk_findings(tmp_path / "not" / "yet")
    assert str(tmp_path) in space.text
    assert "MB/s" in speed.text
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_folder: Path) -> float:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("indexer.doctor.machine.write_speed", refuse)
    *_, speed = disk_findings(tmp_path)
    assert speed.level is Level.FAIL
    assert "Read-only" in speed.text
