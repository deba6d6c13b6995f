"""A document that crashes, hangs or blows up its parser costs that document only, and is told why."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from indexer.datatypes import Document, Status
from indexer.parse import ReadOptions, process, read, sandbox

OPTIONS = ReadOptions(ocr="never", seconds=20, memory_bytes=256 << 20)


@pytest.fixture(autouse=True)
def hostile_pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[sandbox.Pool]:
    pool = sandbox.Pool()
    monkeypatch.setattr(process, "WORKER_MODULE", "tests.parse.hostile")
    monkeypatch.setattr(sandbox, "POOL", pool)
    yield pool
    pool.close()


def perform(folder: Path, deed: str, pages: int = 0, options: ReadOptions = OPTIONS) -> tuple[str, Document]:
    path = folder / f"{deed}.pdf"
    path.write_text(f"HOSTILE {pages} {deed}")
    with read(path, options) as reading:
        text = "".join(page.text for page in reading)
    return text, reading.document


@pytest.mark.parametrize(
    ("deed", "reason"),
    [("crash", "SIGSEGV"), ("exit", "exit code 3"), ("nonsense", "nonsense"), ("raise", "KeyError")],
)
def test_what_ends_the_parser_fails_that_document_with_its_reason(tmp_path: Path, deed: str, reason: str) -> None:
    text, document = perform(tmp_path, deed)
    assert (text, document.status) == ("", Status.FAILED)
    assert reason in str(document.reason)


@pytest.mark.parametrize("deed", ["hang", "sleep"])
def test_a_hang_is_ended_at_the_time_limit(tmp_path: Path, deed: str) -> None:
    began = time.monotonic()
    _, document = perform(tmp_path, deed, options=ReadOptions(ocr="never", seconds=1.5))
    assert document.status is Status.TIMED_OUT
    assert "1.5 s" in str(document.reason)
    assert time.monotonic() - began < 30


def test_memory_is_limited(tmp_path: Path) -> None:
    _, document = perform(tmp_path, "blow up")
    assert document.status is Status.TOO_LARGE
    assert "256 MB" in str(document.reason)


def test_pages_read_before_the_end_are_kept(tmp_path: Path) -> None:
    text, document = perform(tmp_path, "crash", pages=3)
    assert text == "Page 1 is fine.\nPage 2 is fine.\nPage 3 is fine.\n"
    assert (document.status, document.page_count, document.coverage) == (Status.PARTIAL, 4, 0.75)
    assert document.unread_pages == (4,)


def test_the_next_document_gets_a_worker_again(tmp_path: Path) -> None:
    first, _ = perform(tmp_path, "pid")
    again, _ = perform(tmp_path, "pid")
    perform(tmp_path, "crash")
    after, document = perform(tmp_path, "pid")
    assert first == again != after
    assert document.status is Status.INDEXED


def test_an_idle_worker_that_died_is_replaced_without_blame(tmp_path: Path) -> None:
    pid, _ = perform(tmp_path, "pid")
    psutil.Process(int(pid)).kill()
    psutil.wait_procs([psutil.Process(int(pid))] if psutil.pid_exists(int(pid)) else [], timeout=5)
    assert perform(tmp_path, "pid")[1].status is Status.INDEXED


def test_a_reading_given_up_ends_its_worker(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("some words\n\n" * 100_000)
    before = {child.pid for child in psutil.Process().children()}
    with read(path, OPTIONS) as reading:
        next(iter(reading))
        assert {child.pid for child in psutil.Process().children()} - before
    assert not {child.pid for child in psutil.Process().children()} - before


def test_a_slow_consumer_costs_a_document_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "slow.txt"
    path.write_text("some words\n\n" * 30_000)
    away = 0.0
    clock = time.monotonic
    monkeypatch.setattr(process.time, "monotonic", lambda: clock() + away)
    with read(path, ReadOptions(ocr="never", seconds=300)) as reading:
        for _ in reading:
            away += 1000
    assert away > 3000
    assert reading.document.status is Status.INDEXED


def test_no_network_no_programs_no_writing(tmp_path: Path) -> None:
    worker = sandbox.POOL.take(OPTIONS.memory_bytes)
    sandbox.POOL.give_back(worker)
    assert "no network" in perform(tmp_path, "network")[0]
    if "seccomp" in worker.protections:
        assert "fd -1" in perform(tmp_path, "network")[0]
        assert perform(tmp_path, "program")[0] == "no programs\n"
    if "landlock" in worker.protections:
        assert perform(tmp_path, "write")[0] == "no writing\n"


def test_what_a_library_prints_is_not_taken_for_an_answer(tmp_path: Path) -> None:
    assert perform(tmp_path, "print")[1].status is Status.INDEXED


def test_a_path_that_is_not_utf8_is_read(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.txt"))
    path.write_text("some words")
    with read(path, OPTIONS) as reading:
        assert [page.text for page in reading] == ["some words"]


def test_passwords_are_not_shown() -> None:
    assert "secret" not in repr(ReadOptions(passwords=("secret",)))
